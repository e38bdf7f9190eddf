"""New rows of a table with time: raw panels are unrolled as the training table was, and every row keeps its place.

A row without all of its earlier ones has nothing to be predicted from: all of its cells are gaps, those of earlier
columns too, which are given and not modelled.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import either
from dagpost.data.frames import frame_of, named_cells
from dagpost.data.table import Table
from dagpost.data.time_columns import series_and_lag
from dagpost.data.unroll import unroll
from dagpost.data.unrolled import Unrolled, Unrolling
from dagpost.errors import InputError, warn
from dagpost.local.models import LocalModels
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.rows import NewRows, encode_rows
from dagpost.prediction.statistics import Statistics


def encode_new_rows(fitted: Fitted, data: Any, statistics: Statistics | Table | LocalModels, **how: Any) -> NewRows:
    """New rows in the terms of the training table, one for each that was given."""
    if isinstance(data, str | os.PathLike):
        data = frame_of(data)
    time = fitted.data.time
    if time is None or isinstance(data, Unrolled | Table | NewRows | np.ndarray) or not _is_panel(data, time):
        return encode_rows(data, statistics, recipe=fitted.data.recipe, **how)
    unrolled = _unrolled_as_before(data, time)
    found = encode_rows(unrolled, statistics, recipe=fitted.data.recipe, **how)
    return _in_place(found, unrolled.positions, _length(data))


def _is_panel(data: Any, time: Unrolling) -> bool:
    """Whether the rows have times and no columns of earlier values; rows with neither are refused."""
    names, _ = named_cells(data)
    if any(series_and_lag(name)[1] for name in names):
        return False
    if time.wide:
        raise InputError(
            "This model was fitted to a table with one row a subject. Unroll new rows in the same way, "
            + either("and give the result: unroll(rows, wide=...).", "in Python: unroll(rows, wide=...).")
        )
    absent = [name for name in (time.time, time.subject) if name is not None and name not in names]
    if absent:
        raise InputError(
            f"This model was fitted to a table with time, and the new rows lack its column {absent[0]!r}. Give rows "
            f"with it, {either('or unroll(rows, ...)', 'or columns')} with earlier values such as 'X[t-1]'."
        )
    return True


def _unrolled_as_before(data: Any, time: Unrolling) -> Unrolled:
    step: Any = None
    if time.time is not None:
        try:
            step = float(time.step.replace(",", ""))
        except ValueError:
            step = time.step
    return unroll(data, time=time.time, subject=time.subject, lags=time.lags, static=time.static, step=step)


def _length(data: Any) -> int:
    return len(named_cells(data)[1][0])


def _in_place(found: NewRows, positions: NDArray[np.int64], rows: int) -> NewRows:
    """The rows where they were given; all others are gaps."""
    cells = np.zeros((len(found.cells), rows), dtype=found.cells.dtype)
    cells[:, positions] = found.cells
    interventions = np.zeros((rows, *found.interventions.shape[1:]), dtype=found.interventions.dtype)
    interventions[positions] = found.interventions
    gaps = np.ones(cells.shape, dtype=np.bool_)
    gaps[:, positions] = found.gaps
    without = rows - len(positions)
    if without:
        warn(f"{without:,} of {rows:,} rows do not have all earlier values; they get no prediction (nan).")
    return NewRows(cells, interventions, gaps)
