"""What is measured of prediction: one case a process, so that its peak memory is its own.

    python -m benchmarks.bench_prediction '{"what": "rows", "table": "child_m100", "graphs": 30000, "count": 10000,
                                            "threads": 2}'
    python -m benchmarks.bench_prediction '{"what": "held_out", "table": "wine", "folds": 10, "threads": 2}'

prints one line of JSON, as bench_order.py does. Graphs are drawn before the clock starts. `held_out` asks whether it
pays to average: the log probability of rows that were kept back, averaged over graphs and under the best graph alone.
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.bench_order import load, random_table
from benchmarks.measuring import measure_here

from dagpost import DagPosterior
from dagpost.data import Table, datasets
from dagpost.engines import ThreadEngine
from dagpost.prediction import log_predictive, predictive_of_target, sufficient_statistics

if TYPE_CHECKING:
    from benchmarks.measuring import Ready

    from dagpost.posterior.sample import DagSample

#: Graphs that the average over structures is taken of, in `held_out`.
_AVERAGED = 10_000


def counts(table: str, graphs: int, threads: int) -> Ready:
    """Counting the cells of all families of a sample."""
    data = load(table)
    sample = _sample(data, graphs, threads)
    engine = ThreadEngine(threads)

    def run() -> dict[str, Any]:
        statistics = sufficient_statistics(data, sample.parents, "bdeu", engine=engine)
        arrays = statistics.arrays().values()
        return {"statistics": repr(statistics), "file_bytes": sum(array.nbytes for array in arrays)}

    small = random_table(6, 50)
    return run, lambda: sufficient_statistics(small, np.zeros((1, 6), dtype=np.uint8), "bdeu", engine=engine)


def rows(table: str, graphs: int, count: int, threads: int) -> Ready:
    """The log probability of new rows, from the counts on."""
    data = load(table)
    sample = _sample(data, graphs, threads)
    new = _new_rows(data, count)
    engine = ThreadEngine(threads)
    statistics = sufficient_statistics(data, sample.parents, "bdeu", engine=engine)

    def predict(some: Table) -> dict[str, Any]:
        log_probability = log_predictive(sample, statistics, "bdeu", some, engine=engine)
        return {"mean": float(log_probability.mean()), **_figures(sample, statistics)}

    return lambda: predict(new), lambda: predict(_new_rows(data, 1))


def target(table: str, graphs: int, count: int, column: int, threads: int) -> Ready:
    """The probabilities of the levels of one column given the others, from the counts on."""
    data = load(table)
    sample = _sample(data, graphs, threads)
    new = _new_rows(data, count)
    engine = ThreadEngine(threads)
    statistics = sufficient_statistics(data, sample.parents, "bdeu", engine=engine)

    def predict(some: Table) -> dict[str, Any]:
        shares = predictive_of_target(sample, statistics, "bdeu", some, data.names[column], engine=engine)
        return {"levels": shares.shape[1], "first": shares[0].round(4).tolist(), **_figures(sample, statistics)}

    return lambda: predict(new), lambda: predict(_new_rows(data, 1))


def held_out(table: str, folds: int, threads: int) -> Ready:
    """Averaging over graphs against the best graph: log score a row by cross-validation, with its standard error."""
    data = datasets.load("coronary") if table == "coronary" else load(table)
    codes = np.repeat(data.codes(), 1 if data.counts is None else data.counts, axis=1)
    order = np.random.default_rng(1).permutation(codes.shape[1])

    def run() -> dict[str, Any]:
        averaged, best, seconds = np.empty(codes.shape[1]), np.empty(codes.shape[1]), 0.0
        for fold in range(folds):
            kept_back = order[fold::folds]
            training = _of_codes(data, np.delete(codes, kept_back, axis=1))
            model = DagPosterior(score="bdeu", threads=threads, seed=1, progress=False).fit(training)
            new = _of_codes(data, codes[:, kept_back])
            started = time.perf_counter()
            for sample, result in ((model.sample(_AVERAGED, seed=1), averaged), (model.best(), best)):
                statistics = sufficient_statistics(training, sample.parents, "bdeu")
                result[kept_back] = log_predictive(sample, statistics, "bdeu", new)
            seconds += time.perf_counter() - started
        gain = averaged - best
        return {
            "rows": codes.shape[1],
            "averaged": float(averaged.mean()),
            "best_graph": float(best.mean()),
            "gain": float(gain.mean()),
            "standard_error_of_gain": float(gain.std(ddof=1) / math.sqrt(len(gain))),
            "standard_error_of_averaged": float(averaged.std(ddof=1) / math.sqrt(len(averaged))),
            "sampling_and_prediction_seconds": seconds,
        }

    return run, lambda: DagPosterior(score="bdeu", threads=threads, progress=False).fit(random_table(6, 50))


def _sample(data: Table, graphs: int, threads: int) -> DagSample:
    return (
        DagPosterior(score="bdeu", modularity="order", threads=threads, progress=False).fit(data).sample(graphs, seed=1)
    )


def _new_rows(data: Table, count: int) -> Table:
    """Rows of the table, a fifth of whose cells come from other rows."""
    generator = np.random.default_rng(7)
    codes = data.codes()
    chosen = generator.integers(0, data.rows, count)
    mixed = [
        np.where(generator.random(count) < 0.2, column[generator.permutation(chosen)], column[chosen])
        for column in codes
    ]
    return _of_codes(data, np.array(mixed))


def _of_codes(data: Table, codes: np.ndarray) -> Table:
    """Rows with the levels of a table, also those that do not occur in them."""
    columns = tuple(part.astype(column.dtype) for part, column in zip(codes, data.columns, strict=True))
    return Table(data.names, columns, data.levels)


def _figures(sample: DagSample, statistics: Any) -> dict[str, Any]:
    return {"nodes": len(sample.names), "distinct_graphs": len(sample.unique()), "families": len(statistics.children)}


KINDS = {function.__name__: function for function in (counts, rows, target, held_out)}


if __name__ == "__main__":
    measure_here(KINDS, json.loads(sys.argv[1]))
