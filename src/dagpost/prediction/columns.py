"""The predictive log probability of families in new rows: the parameters are integrated out, the graph is given.

One column a family (discrete.py, gaussian.py), and a graph is a sum of columns (averaging.py).
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.prediction.discrete import discrete_filler
from dagpost.prediction.gaussian import gaussian_filler
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import DiscreteStatistics, GaussianStatistics, Statistics, prior_for
from dagpost.prediction.strips import LANES, Fill, Wanted, strip_of
from dagpost.scores import DirichletPrior, Score


def family_log_predictive(
    statistics: Statistics, score: str | Score, children: Integers, parents: Masks, rows: NewRows
) -> Floats:
    """The log probability of each node given its parents in each row, as (families, rows).

    >>> from dagpost.data import datasets
    >>> from dagpost.prediction import encode_rows, sufficient_statistics
    >>> table = datasets.load("coronary")
    >>> statistics = sufficient_statistics(table, np.zeros((1, 6), dtype=np.uint8), "k2")
    >>> smoking, no_parents = np.array([0]), np.zeros(1, dtype=np.uint64)
    >>> column = family_log_predictive(statistics, "k2", smoking, no_parents, encode_rows(table, statistics))
    >>> round(float(np.exp(column[0, 0])), 3)
    0.522
    """
    wanted = Wanted(children, parents, np.full(len(children), -1))
    fill = column_filler(statistics, score, wanted, target=-1)
    count = rows.cells.shape[1]
    result = np.empty((len(children), count))
    block = np.empty((len(children), LANES))
    for start in range(0, count, LANES):
        fill(*strip_of(rows, start), block)
        width = min(LANES, count - start)
        result[:, start : start + width] = block[:, :width]
    return result


def column_filler(statistics: Statistics, score: str | Score, wanted: Wanted, target: int) -> Fill:
    """Make ready what all rows share; in the result, `target` has the level that a column asks for."""
    prior = prior_for(statistics, score)
    if isinstance(prior, DirichletPrior):
        assert isinstance(statistics, DiscreteStatistics)
        return discrete_filler(statistics, prior, wanted, target)
    assert isinstance(statistics, GaussianStatistics)
    return gaussian_filler(statistics, prior, wanted)
