"""What is measured of the structure-modular posterior: one case a process, so that its peak memory is its own.

    python -m benchmarks.bench_structure '{"what": "posterior", "table": "child_m100", "threads": 2}'

prints one line of JSON, as bench_order.py does. Weights, and for the samplers tables, are made before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks import plain, textbook
from benchmarks.bench_order import MAX_PARENTS, load, random_table
from benchmarks.bench_sampling import edge_shares, weights_of
from benchmarks.measuring import measure_here

from dagpost.engines import ThreadEngine
from dagpost.exact.order import edge_probabilities
from dagpost.exact.structure import structure_evidence, structure_posterior
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.sampling.dags import rank_families
from dagpost.sampling.layers import sample_layers

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measuring import Ready
    from numpy.typing import NDArray


def evidence(table: str, threads: int) -> Ready:
    """The sum over all graphs of every set of nodes: the 3^n table."""
    engine = ThreadEngine(threads)
    weights, small = weights_of(load(table), threads), weights_of(random_table(6, 50), threads)

    def run() -> dict[str, Any]:
        return {"log_evidence": structure_evidence(weights, MAX_PARENTS, engine=engine), "nodes": len(weights)}

    return run, lambda: structure_evidence(small, MAX_PARENTS, engine=engine)


def posterior(table: str, threads: int) -> Ready:
    """Both 3^n tables, with the probabilities of all families, edges and paths."""
    engine = ThreadEngine(threads)

    def all_of_it(weights: NDArray[np.float64]) -> dict[str, Any]:
        found = structure_posterior(weights, MAX_PARENTS, engine=engine)
        edges = edge_probabilities(found.families, MAX_PARENTS)
        return {
            "nodes": len(weights),
            "log_evidence": found.tables.log_evidence,
            "error_bound": found.tables.error_bound,
            "largest_error_of_a_sum": float(np.abs(found.families.sum(axis=1) - 1).max()),
            "edges_of_first": [round(float(edge), 4) for edge in edges[0]],
            "expected_paths": float(found.paths.sum()),
        }

    weights, small = weights_of(load(table), threads), weights_of(random_table(6, 50), threads)
    return lambda: all_of_it(weights), lambda: all_of_it(small)


def layers(table: str, count: int, threads: int) -> Ready:
    """Independent graphs from the structure-modular posterior, after its tables: ranking, layers, parents."""
    engine = ThreadEngine(threads)

    def draw(weights: NDArray[np.float64], count: int) -> Callable[[], dict[str, Any]]:
        tables = structure_posterior(weights, MAX_PARENTS, engine=engine).tables

        def run() -> dict[str, Any]:
            started = time.perf_counter()
            ranked = rank_families(weights, MAX_PARENTS)
            ranking = time.perf_counter()
            parents, _ = sample_layers(tables, ranked, count, seed=np.random.SeedSequence(1), engine=engine)
            return {"ranking_seconds": ranking - started, "shares": edge_shares(parents)}

        return run

    return draw(weights_of(load(table), threads), count), draw(weights_of(random_table(6, 50), threads), 10)


def plain_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Log scales of all nodes, and alpha and the sums over all graphs without them."""
    sets = parent_sets(len(weights) - 1, MAX_PARENTS)
    alpha = np.empty((len(weights), 1 << (len(weights) - 1)))
    textbook.fill_alpha(weights, sets, alpha)
    scales = alpha[:, -1].copy()
    np.exp(alpha - scales[:, None], out=alpha)
    return scales, alpha, plain.sum_over_graphs(alpha)


def plain_evidence(table: str, threads: int) -> Ready:
    """The same table by the textbook."""
    assert threads == 1
    weights, small = weights_of(load(table), threads), weights_of(random_table(6, 50), threads)

    def run() -> dict[str, Any]:
        scales, _, completions = plain_table(weights)
        return {"log_evidence": float(np.log(completions[0]) + scales.sum()), "nodes": len(weights)}

    return run, lambda: plain_table(small)


def plain_layers(table: str, count: int, threads: int) -> Ready:
    """The same graphs, one after the other."""
    assert threads == 1

    def draw(weights: NDArray[np.float64], count: int) -> Callable[[], dict[str, Any]]:
        nodes = len(weights)
        scales, alpha, completions = plain_table(weights)
        sets, scaled = parent_sets(nodes - 1, MAX_PARENTS), weights - scales[:, None]

        def run() -> dict[str, Any]:
            graphs = np.empty((count, nodes), dtype=np.uint64)
            uniforms = np.random.default_rng(1).random((count, nodes * (nodes + 1) // 2 + nodes))
            plain.draw_by_layers(alpha, completions, scaled, sets, uniforms, graphs)
            masks = np.stack([unsqueeze_all(graphs[:, node], node) for node in range(nodes)], axis=1)
            return {"shares": edge_shares(masks)}

        return run

    return draw(weights_of(load(table), threads), count), draw(weights_of(random_table(6, 50), threads), 10)


KINDS = {function.__name__: function for function in (evidence, posterior, layers, plain_evidence, plain_layers)}


if __name__ == "__main__":
    measure_here(KINDS, json.loads(sys.argv[1]))
