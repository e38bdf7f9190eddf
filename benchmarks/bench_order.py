"""What is measured: one case a process, so that the peak memory of a case is its own.

    python -m benchmarks.bench_order '{"what": "forward", "nodes": 20, "threads": 1, "repeats": 3}'

prints one line of JSON: the seconds of each repetition, the peak memory of the process, and figures to check.
The kernels are compiled or loaded by a small run of the same kind first, which is not counted.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks import textbook
from benchmarks.measuring import SHARED, measure_here

from dagpost._tools.wide_floats import to_logs
from dagpost.data import Table, as_table, read_table
from dagpost.engines import ThreadEngine
from dagpost.exact.order import edge_probabilities, family_probabilities, forward_table
from dagpost.families.numbering import family_count, parent_sets
from dagpost.priors import log_prior
from dagpost.scores import local_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measuring import Ready
    from numpy.typing import NDArray

MAX_PARENTS = 5


def random_weights(nodes: int) -> NDArray[np.float64]:
    """Log weights whose sizes are those of moderate data; the exact tables take as long for any others."""
    shape = (nodes, family_count(nodes - 1, MAX_PARENTS))
    return np.random.default_rng(nodes).normal(scale=20.0, size=shape)


def random_table(nodes: int, rows: int) -> Table:
    """Rows drawn from a random network: up to three parents and two to four levels a node."""
    rng = np.random.default_rng(20)
    arities = rng.integers(2, 5, size=nodes)
    codes = np.zeros((rows, nodes), dtype=np.int64)
    for node in range(nodes):
        parents = rng.choice(node, size=min(node, int(rng.integers(0, 4))), replace=False) if node else []
        configuration = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            configuration = configuration * arities[parent] + codes[:, parent]
        chances = rng.dirichlet(np.ones(arities[node]), size=int(configuration.max()) + 1).cumsum(axis=1)
        codes[:, node] = (rng.random(rows)[:, None] > chances[configuration, :-1]).sum(axis=1)
    return as_table(codes)


def nothing(threads: int) -> Ready:
    """The memory of the interpreter with everything imported and the kernels loaded."""
    _, small = families(4, threads)
    return dict, small


def forward(nodes: int, threads: int) -> Ready:
    """The forward table."""
    engine = ThreadEngine(threads)
    weights = random_weights(nodes)

    def run() -> dict[str, Any]:
        return {"log_evidence": forward_table(weights, MAX_PARENTS, engine=engine).log_evidence}

    return run, lambda: forward_table(random_weights(6), MAX_PARENTS, engine=engine)


def families(nodes: int, threads: int) -> Ready:
    """Forward, backward and all families, as a fit does it: the backward table overwrites the forward one."""
    engine = ThreadEngine(threads)

    def all_of_it(weights: NDArray[np.float64]) -> dict[str, Any]:
        table = forward_table(weights, MAX_PARENTS, engine=engine)
        probabilities = family_probabilities(table, engine=engine, keep_forward=False)
        return {
            "log_evidence": table.log_evidence,
            "largest_error_of_a_sum": float(np.abs(probabilities.sum(axis=1) - 1).max()),
        }

    weights = random_weights(nodes)
    return lambda: all_of_it(weights), lambda: all_of_it(random_weights(6))


def textbook_forward(nodes: int, threads: int) -> Ready:
    """The same by the textbook, on one thread."""
    assert threads == 1

    def run(nodes: int) -> dict[str, Any]:
        _, logs = textbook.forward_table(random_weights(nodes), parent_sets(nodes - 1, MAX_PARENTS))
        return {"log_evidence": float(logs[-1])}

    return lambda: run(nodes), lambda: run(6)


def textbook_families(nodes: int, threads: int) -> Ready:
    """The same by the textbook, on one thread."""
    assert threads == 1

    def run(nodes: int) -> dict[str, Any]:
        sets = parent_sets(nodes - 1, MAX_PARENTS)
        logs, _ = textbook.family_probabilities(random_weights(nodes), sets)
        return {"log_evidence": float(logs[-1])}

    return lambda: run(nodes), lambda: run(6)


def agreement(nodes: int, threads: int) -> Ready:
    """The largest difference between both methods, over the whole forward table and all families."""

    def run() -> dict[str, Any]:
        weights = random_weights(nodes)
        engine = ThreadEngine(threads)
        table = forward_table(weights, MAX_PARENTS, engine=engine)
        logs, probabilities = textbook.family_probabilities(weights, parent_sets(nodes - 1, MAX_PARENTS))
        masks = np.arange(1 << nodes)
        scales = sum(np.where(masks >> node & 1, table.log_scales[node], 0.0) for node in range(nodes))
        found = family_probabilities(table, engine=engine)
        return {
            "of_log_forward": float(np.abs(to_logs(table.sums) + scales - logs).max()),
            "of_families": float(np.abs(found - probabilities).max()),
        }

    return run, run


def scoring(table: str, threads: int) -> Ready:
    """Local scores (BDeu) of a table that is in memory already."""
    engine = ThreadEngine(threads)
    loaded = load(table)

    def run() -> dict[str, Any]:
        values = local_scores(loaded, "bdeu", MAX_PARENTS, engine=engine).values
        return {"families": values.size, "mean_score": float(values.mean())}

    return run, lambda: local_scores(random_table(6, 50), "bdeu", MAX_PARENTS, engine=engine)


def end_to_end(table: str, threads: int) -> Ready:
    """From the file to the probability of every edge."""
    engine = ThreadEngine(threads)

    def all_of_it(loaded: Table) -> dict[str, Any]:
        scores = local_scores(loaded, "bdeu", MAX_PARENTS, engine=engine)
        weights = scores.values + log_prior(loaded.names, scores.max_parents)
        sums = forward_table(weights, scores.max_parents, engine=engine)
        probabilities = family_probabilities(sums, engine=engine, keep_forward=False)
        edges = edge_probabilities(probabilities, scores.max_parents)
        return {"log_evidence": sums.log_evidence, "expected_edges": float(edges.sum())}

    return lambda: all_of_it(load(table)), lambda: all_of_it(random_table(6, 50))


def load(table: str) -> Table:
    """A table by name: "random-20-5000" or one of the reference data."""
    if table.startswith("random-"):
        _, nodes, rows = table.split("-")
        return random_table(int(nodes), int(rows))
    return read_table(SHARED / f"{table}.csv")


KINDS: dict[str, Callable[..., Ready]] = {
    function.__name__: function
    for function in (
        nothing,
        forward,
        families,
        textbook_forward,
        textbook_families,
        agreement,
        scoring,
        end_to_end,
    )
}


if __name__ == "__main__":
    measure_here(KINDS, json.loads(sys.argv[1]))
