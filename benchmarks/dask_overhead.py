"""What does the cluster cost where it is not needed? One table on two worker processes and on two threads.

    python -m benchmarks.dask_overhead [nodes]

Both run by turns, several times each, and the best of each counts: the machine may have other things to do. The time of
the processor, of all processes together, is shown beside the time by the clock for the same reason.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import psutil

WORKERS = 2
TURNS = 6
STEPS = "forward table", "all families"
LIMIT, LEAST_NODES = 1.5, 20


def main() -> int:
    """Print the times and whether the limit is kept."""
    from distributed import Client

    from dagpost.engines import ThreadEngine
    from dagpost.engines.dask import DaskEngine
    from dagpost.engines.dask.backend import DaskBackend
    from dagpost.engines.dask.cluster import local_cluster
    from dagpost.engines.host.backend import HostBackend
    from dagpost.families.numbering import family_count

    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 22
    weights = np.random.default_rng(1).normal(size=(nodes, family_count(nodes - 1, 5)))

    def steps(sums: Any) -> list[Callable[[], Any]]:
        made = []
        return [
            lambda: made.append(sums.forward_table(weights, 5)),
            lambda: sums.family_probabilities(made.pop(), keep_forward=False),
        ]

    with local_cluster(WORKERS) as local, Client(local) as client:
        processes = [psutil.Process(pid) for pid in (os.getpid(), *client.run(os.getpid).values())]
        threads, cluster = HostBackend(ThreadEngine(WORKERS)), DaskBackend(DaskEngine(client, threads=WORKERS))
        print(f"{nodes} variables, 5 parents; load {os.getloadavg()[0]:.1f}; the first turn compiles or loads kernels")
        kept: dict[str, list[list[float]]] = {"threads": [], "cluster": []}
        for _ in range(TURNS):
            for name, sums in (("threads", threads), ("cluster", cluster)):
                kept[name].append([figure for step in steps(sums) for figure in timed(step, processes)])
    best = {name: np.min(rows[1:], axis=0) for name, rows in kept.items()}
    for name, (first, first_cpu, second, second_cpu) in best.items():
        print(
            f"{name}: {STEPS[0]} {first:.3f} s ({first_cpu:.2f} s of processors), {STEPS[1]} "
            f"{second:.3f} s ({second_cpu:.2f} s); together {first + second:.3f} s"
        )
    clock = sum(best["cluster"][[0, 2]]) / sum(best["threads"][[0, 2]])
    processors = sum(best["cluster"][[1, 3]]) / sum(best["threads"][[1, 3]])
    print(f"cluster over threads: {clock:.2f} by the clock, {processors:.2f} in time of processors; limit {LIMIT}")
    # Smaller sums are over before the cluster has begun.
    return int(clock > LIMIT and nodes >= LEAST_NODES)


def timed(step: Callable[[], Any], processes: list[psutil.Process]) -> tuple[float, float]:
    """Seconds by the clock, and of all processors, that a step takes."""
    before, started = used(processes), time.perf_counter()
    step()
    return time.perf_counter() - started, used(processes) - before


def used(processes: list[psutil.Process]) -> float:
    """Seconds of processors that the processes have used."""
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))


if __name__ == "__main__":
    sys.exit(main())
