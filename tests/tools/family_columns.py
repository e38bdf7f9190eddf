"""The predictive log probability of single families in new rows, which prediction adds up over the nodes of a graph."""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.prediction.averaging import column_filler
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import Statistics
from dagpost.prediction.strips import LANES, Wanted, strip_of
from dagpost.scores import Score


def family_log_predictive(
    statistics: Statistics, score: str | Score, children: Integers, parents: Masks, rows: NewRows
) -> Floats:
    """The log probability of each node given its parents in each row, as (families, rows)."""
    fill = column_filler(statistics, score, Wanted(children, parents, np.full(len(children), -1)), target=-1)
    count = rows.cells.shape[1]
    result = np.empty((len(children), count))
    block = np.empty((len(children), LANES))
    for start in range(0, count, LANES):
        fill(*strip_of(rows, start), block)
        width = min(LANES, count - start)
        result[:, start : start + width] = block[:, :width]
    return result
