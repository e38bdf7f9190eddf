"""What is measured of the samplers: one case a process, so that the peak memory of a case is its own.

    python -m benchmarks.bench_sampling '{"what": "dds", "table": "child_m100", "count": 20000, "threads": 2}'

prints one line of JSON, as bench_order.py does. Tables are made before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks import plain, textbook
from benchmarks.bench_order import MAX_PARENTS, load, random_table
from benchmarks.measuring import measure_here
from benchmarks.sampled_orders import sample_orders

from dagpost import DagPosterior
from dagpost.data import Table
from dagpost.engines import ThreadEngine
from dagpost.exact.order import forward_table
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.sampling.dags import draw_dags, rank_families
from dagpost.sampling.linear_extensions import log_linear_extensions
from dagpost.scores import local_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measuring import Ready
    from numpy.typing import NDArray


def weights_of(table: Table, threads: int) -> NDArray[np.float64]:
    """Log weights of all families: BDeu, uniform prior."""
    return local_scores(table, "bdeu", MAX_PARENTS, engine=ThreadEngine(threads)).values


def edge_shares(parents: NDArray[Any]) -> list[float]:
    """Share of the graphs in which node 0 is a parent, for every other node: to check one sampler by another."""
    return [round(float(share), 4) for share in (parents & 1 != 0).mean(axis=0)]


def dds(table: str, count: int, threads: int) -> Ready:
    """Graphs from the order-modular posterior, after its table: families are ranked, orders and graphs drawn."""
    engine = ThreadEngine(threads)

    def draw(weights: NDArray[np.float64]) -> Callable[[], dict[str, Any]]:
        began = time.perf_counter()
        forward = forward_table(weights, MAX_PARENTS, engine=engine)
        table_seconds = time.perf_counter() - began

        def run() -> dict[str, Any]:
            started = time.perf_counter()
            ranked = rank_families(weights, MAX_PARENTS)
            ranking = time.perf_counter()
            orders = sample_orders(forward, count, seed=np.random.SeedSequence(1), engine=engine)
            ordered = time.perf_counter()
            uniforms = np.random.default_rng(2).random(orders.orders.shape)
            parents, _ = draw_dags(ranked, orders.orders, orders.log_alpha, uniforms, engine=engine)
            return {
                "table_seconds": table_seconds,
                "ranking_seconds": ranking - started,
                "orders_seconds": ordered - ranking,
                "graphs_seconds": time.perf_counter() - ordered,
                "shares": edge_shares(parents),
            }

        return run

    # The small one first: its kernels are compiled or loaded when the large table is made.
    draw(weights_of(random_table(8, 50), threads))()
    return draw(weights_of(load(table), threads)), dict


def plain_dds(table: str, count: int, threads: int) -> Ready:
    """The same, one sample after the other."""
    assert threads == 1

    def draw(weights: NDArray[np.float64]) -> Callable[[], dict[str, Any]]:
        nodes = len(weights)
        sets = parent_sets(nodes - 1, MAX_PARENTS)
        began = time.perf_counter()
        alpha, forward = textbook.forward_table(weights, sets)
        table_seconds = time.perf_counter() - began

        def run() -> dict[str, Any]:
            graphs = np.empty((count, nodes), dtype=np.uint64)
            uniforms = np.random.default_rng(1).random((count, 2 * nodes))
            plain.draw_graphs(alpha, forward, weights, sets, uniforms, graphs)
            masks = np.stack([unsqueeze_all(graphs[:, node], node) for node in range(nodes)], axis=1)
            return {"table_seconds": table_seconds, "shares": edge_shares(masks)}

        return run

    draw(weights_of(random_table(6, 50), threads))()
    return draw(weights_of(load(table), threads)), dict


def fitted(table: str, threads: int, **settings: Any) -> DagPosterior:
    """A model of a table, by the front door."""
    return DagPosterior(
        threads=threads, max_parents=MAX_PARENTS, progress=False, **{"prior": "uniform", "score": "bdeu", **settings}
    ).fit(load(table))


def million(table: str, count: int, threads: int) -> Ready:
    """Very many graphs by the front door, for their memory."""
    model = fitted(table, threads, modularity="order")

    def run() -> dict[str, Any]:
        sample = model.sample(count, seed=1)
        return {"graphs": len(sample), "result_bytes": sample.parents.nbytes + 4 * sample.weights.nbytes}

    return run, lambda: model.sample(10, seed=1)


def paths(table: str, count: int, threads: int) -> Ready:
    """The probability of a directed path for all pairs of nodes, from graphs that are there."""
    sample = fitted(table, threads, modularity="order").sample(count, seed=1)

    def run() -> dict[str, Any]:
        return {"sum": float(sample.probability_matrix("~>").to_numpy().sum())}

    return run, lambda: sample[:10].probability_matrix("~>")


def path_statements(table: str, count: int, threads: int) -> Ready:
    """The same, each pair as a statement with its own interval."""
    sample = fitted(table, threads, modularity="order").sample(count, seed=1)
    names = [f'"{name}"' for name in sample.names]
    statements = [f"{one} ~> {other}" for one in names for other in names if one != other]

    def run() -> dict[str, Any]:
        return {"sum": sum(float(estimate) for estimate in sample.probability(statements))}

    return run, lambda: sample[:10].probability(statements)


def extensions(table: str, count: int, threads: int) -> Ready:
    """How many orders each of the sampled graphs fits."""
    parents = fitted(table, threads, modularity="order").sample(count, seed=1).parents
    engine = ThreadEngine(threads)

    def run() -> dict[str, Any]:
        logs = log_linear_extensions(parents, engine=engine)
        return {"mean_log_of_first_20": float(logs[:20].mean())}

    return run, lambda: log_linear_extensions(parents[:10], engine=engine)


def plain_extensions(table: str, count: int, threads: int) -> Ready:
    """The same, one graph after the other, in Python."""
    graphs = fitted(table, threads, modularity="order").sample(30_000, seed=1).parents[:count].tolist()

    def run() -> dict[str, Any]:
        counts = [plain.linear_extensions(graph) for graph in graphs]
        return {"mean_log_of_first_20": float(np.mean([np.log(float(one)) for one in counts[:20]]))}

    return run, lambda: plain.linear_extensions([0, 1, 2])


KINDS = {
    function.__name__: function
    for function in (dds, plain_dds, million, paths, path_statements, extensions, plain_extensions)
}


if __name__ == "__main__":
    measure_here(KINDS, json.loads(sys.argv[1]))
