"""What is measured of the list of the best DAGs: one case a process, so that its peak memory is its own.

    python -m benchmarks.bench_kbest '{"what": "best", "table": "child_m100", "count": 100, "threads": 2}'
    python -m benchmarks.bench_kbest '{"what": "best_of_random", "nodes": 20, "count": 1, "threads": 2}'

prints one line of JSON, as bench_order.py does. Weights are made before the clock starts.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.bench_order import MAX_PARENTS, load, random_table, random_weights
from benchmarks.bench_sampling import weights_of
from benchmarks.measuring import measure_here

from dagpost.engines import ThreadEngine
from dagpost.exact.kbest import best_dags

if TYPE_CHECKING:
    import numpy as np
    from benchmarks.measuring import Ready
    from numpy.typing import NDArray


def best(table: str, count: int, threads: int) -> Ready:
    """The best DAGs of a table: BDeu, uniform prior."""
    return _listing(weights_of(load(table), threads), count, threads)


def best_of_random(nodes: int, count: int, threads: int) -> Ready:
    """The best DAGs of random weights, which good DAGs share less of than those of a table."""
    return _listing(random_weights(nodes), count, threads)


def _listing(weights: NDArray[np.float64], count: int, threads: int) -> Ready:
    engine = ThreadEngine(threads)
    small = weights_of(random_table(6, 50), threads)

    def run() -> dict[str, Any]:
        found = best_dags(weights, MAX_PARENTS, count, engine=engine)
        return {
            "nodes": len(weights),
            "found": len(found.log_joint),
            "best_log_joint": float(found.log_joint[0]),
            "last_log_joint": float(found.log_joint[-1]),
            "tied": found.tied,
        }

    return run, lambda: best_dags(small, MAX_PARENTS, 10, engine=engine)


KINDS = {function.__name__: function for function in (best, best_of_random)}


if __name__ == "__main__":
    measure_here(KINDS, json.loads(sys.argv[1]))
