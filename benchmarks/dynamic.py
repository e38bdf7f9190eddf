"""A dynamic network, exactly, beside what a chain makes of the same rows as ordinary columns.

    python -m benchmarks.dynamic DATA.csv TRUTH.csv

DATA is a table with one row a subject and columns `v1`, `v1.2`, `v1.3`, ... for the times of each series; all other
columns are static. TRUTH is the adjacency matrix (parents in the rows) over the static columns and the first two times,
as the package BiDAG has it for its simulated dynamic network. Compared are the edges into the second time: how well
their probabilities rank the true ones above the others (area under the precision-recall curve, as average precision).

*exact*: the table is unrolled, one step back; earlier and static columns are exogenous. *chain*: the same rows, all
columns alike, no rules, by partition MCMC. Times are CPU seconds of all threads, kernels compiled before.

The scale of the Gaussian score's prior is 1, as in BiDAG, unless `--prior-scale` says otherwise. The series of this
network grow: their standard deviations over all times, which `BGe()` takes, are hundreds of times what is new at each
time, and hide small effects. The first row shows what that does.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dagpost import BGe, DagPosterior, PartitionMCMC, unroll
from dagpost.data.time_columns import series_and_lag
from dagpost.errors import DagpostWarning

_PATTERN = "{series}.{time}"


def average_precision(probabilities: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """Area under the precision-recall curve; edges of equal probability come in one step.

    >>> average_precision(np.array([0.9, 0.8, 0.1]), np.array([True, False, True])).round(3)
    0.833
    """
    area, found, looked_at = 0.0, 0, 0
    for level in np.unique(probabilities)[::-1]:
        at = probabilities == level
        hits = int(truth[at].sum())
        found, looked_at = found + hits, looked_at + int(at.sum())
        area += hits * found / looked_at
    return area / int(truth.sum())


def true_edges(truth: pd.DataFrame, names: tuple[str, ...], present: tuple[str, ...]) -> NDArray[np.bool_]:
    """The true edges of an unrolled table, (parent, child), for present children."""

    def column(name: str) -> str:
        series, lag = series_and_lag(name)
        return f"{series}.2" if lag == 0 and name in present else series

    return np.array([[truth.loc[column(parent), column(child)] != 0 for child in present] for parent in names])


def scored(model: DagPosterior, truth: pd.DataFrame, present: tuple[str, ...]) -> dict[str, float]:
    """Average precision over all edges into the present, and over lagged and contemporaneous ones alone."""
    names, edges = model.names_, model.edge_probabilities_
    right = true_edges(truth, names, present)
    found = edges[list(present)].to_numpy()
    possible = np.array([[parent != child for child in present] for parent in names])
    now = np.array([name in present for name in names])
    parts = {"all": np.ones(len(names), dtype=bool), "lagged": ~now, "now": now}
    return {
        part: average_precision(found[rows][possible[rows]], right[rows][possible[rows]])
        for part, rows in parts.items()
    }


def fitted(model: DagPosterior, data: Any) -> tuple[DagPosterior, float]:
    """A model with its edges, and the CPU seconds that these took."""
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        model.fit(data)
        _ = model.edge_probabilities_
    return model, time.process_time() - before


def main() -> None:
    """Print a table of all ways."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("data")
    parser.add_argument("truth")
    parser.add_argument("--max-parents", type=int, default=5)
    parser.add_argument("--prior-scale", type=float, default=1.0)
    parser.add_argument("--graphs", type=int, default=4_000, help="graphs of the chains")
    parser.add_argument("--seeds", type=int, default=2, help="how many times the chains are run")
    asked = parser.parse_args()
    unrolled = unroll(asked.data, wide=_PATTERN, lags=1)
    truth = pd.read_csv(asked.truth, index_col=0)
    print("\n".join(unrolled.report))
    number = int(true_edges(truth, unrolled.names, unrolled.series).sum())
    print(f"{number} true edges into the present of {len(unrolled.series)} series")
    score, limit = BGe(prior_scale=asked.prior_scale), asked.max_parents
    runs: list[tuple[str, DagPosterior, Any]] = [
        ("exact, BGe()", DagPosterior("bge", prior="uniform", max_parents=limit), unrolled),
        ("exact", DagPosterior(score, prior="uniform", max_parents=limit), unrolled),
    ]
    for seed in range(1, asked.seeds + 1):
        chain = DagPosterior(
            score, prior="uniform", max_parents=limit, method=PartitionMCMC(), samples=asked.graphs, seed=seed
        )
        runs.append((f"chain, no rules, seed {seed}", chain, unrolled.to_pandas()))
    fitted(
        DagPosterior(score, prior="uniform", max_parents=2, method=PartitionMCMC(), samples=100), unrolled.to_pandas()
    )
    fitted(DagPosterior(score, prior="uniform", max_parents=2), unrolled)
    print(f"{'way':24} {'all':>6} {'lagged':>7} {'now':>6} {'CPU s':>7}")
    for way, unfitted, data in runs:
        model, seconds = fitted(unfitted, data)
        areas = scored(model, truth, unrolled.series)
        print(f"{way:24} {areas['all']:6.3f} {areas['lagged']:7.3f} {areas['now']:6.3f} {seconds:7.2f}", flush=True)
        if model.verdict_:
            print(f"{'':24} {model.verdict_}", flush=True)


if __name__ == "__main__":
    main()
