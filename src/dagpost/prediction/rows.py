"""New rows in the terms of the training table: the same columns in the same order, codes of the same levels.

Columns are matched by name, whatever their order; those of an array by their position. Time and memory are linear in
the cells.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.checks import one_of
from dagpost._tools.spelling import setting
from dagpost._tools.text import position_of, shortened
from dagpost.data.encoding import Cells, cells_of
from dagpost.data.frames import frame_of, named_cells
from dagpost.data.recipe_reading import source_of
from dagpost.data.recipe_steps import Step
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.prediction.statistics import DiscreteStatistics, Statistics

Unseen = Literal["error", "prior"]

#: Squares of larger values, divided by a small variance, would overflow.
_LARGEST_VALUE = 1e100


class NewRows(NamedTuple):
    """Rows as (columns, rows): codes, where one past the last level stands for a level that is not known, or values.

    Bit i of a mask in `interventions` is set where column i was set from outside in that row.
    """

    cells: NDArray[np.int32] | Floats
    interventions: Masks


def encode_rows(data: Any, statistics: Statistics, *, unseen: Unseen = "error", target: str | None = None) -> NewRows:
    """Bring new rows into the terms of the table that was counted.

    Parameters
    ----------
    data
        Whatever `as_table` takes. All columns of the training table must be there, by name and in any order, and no
        others; the columns of an array are those of the training table in their order.
    unseen
        What to do about a level that the training table does not know: "error", or "prior", which lets prediction go
        by the prior of the parameters.
    target
        The column that is to be predicted: it may be missing, wholly or in some rows, and what it holds is not
        looked at.

    The rows of a `Table` keep its interventions. Its counts are not looked at: there is one answer a row.
    """
    one_of(unseen, "unseen", ("error", "prior"))
    names = statistics.names
    if target is not None:
        position_of(target, names)
    columns, masks = _columns_of(data, names)
    _check_columns(list(columns), names, target)
    first = next(iter(columns.values()))
    rows = len(first.places if isinstance(first, Cells) else first)
    if rows == 0:
        raise InputError("There are no rows to predict: at least one is needed.")
    discrete = isinstance(statistics, DiscreteStatistics)
    cells: Any = np.zeros((len(names), rows), dtype=np.int32 if discrete else np.float64)
    for node, name in enumerate(names):
        if name == target:
            continue
        if isinstance(statistics, DiscreteStatistics):
            step = Step(name, "levels", "", levels=statistics.levels[node])
            cells[node] = _codes(step, _cells(step, columns[name]), unseen)
        else:
            step = Step(name, "number", "")
            cells[node] = _values(step, _cells(step, columns[name]))
    return NewRows(cells, np.zeros(rows, dtype=np.uint64) if masks is None else masks)


def _columns_of(data: Any, names: tuple[str, ...]) -> tuple[dict[str, Any], Masks | None]:
    """The columns by name, those of a table encoded already, and the interventions in the order of `names`."""
    if isinstance(data, Table):
        masks = None
        if data.interventions is not None:
            masks = np.zeros(data.rows, dtype=np.uint64)
            for bit, name in enumerate(data.names):
                if name in names:
                    moved = data.interventions >> np.uint64(bit) & np.uint64(1)
                    masks |= moved << np.uint64(names.index(name))
        return dict(source_of(data, None, None).columns), masks
    if isinstance(data, str | os.PathLike):
        data = frame_of(data)
    found, cells = named_cells(data)
    if isinstance(data, np.ndarray):
        if len(found) != len(names):
            raise InputError(
                f"The columns of an array are taken in the order of the training table, which has {len(names)}. "
                f"Got {len(found)} instead."
            )
        found = list(names)
    repeated = sorted({name for name in found if found.count(name) > 1})
    if repeated:
        raise InputError(f"The new rows have the column {repeated[0]!r} more than once.")
    return dict(zip(found, cells, strict=True)), None


def _check_columns(found: Sequence[str], names: tuple[str, ...], target: str | None) -> None:
    missing = [repr(name) for name in names if name not in found and name != target]
    if missing:
        raise InputError(
            f"The new rows lack {'columns' if len(missing) > 1 else 'the column'} {shortened(missing)} of the training "
            "table. Every column is needed, under the same name."
        )
    extra = [repr(name) for name in found if name not in names]
    if extra:
        raise InputError(
            f"The new rows have {'columns' if len(extra) > 1 else 'the column'} {shortened(extra)}, which the training "
            "table does not. Leave out what is not to be looked at."
        )
    if not found:
        raise InputError("The new rows have no columns.")


def _cells(step: Step, column: Any) -> Cells:
    cells = column if isinstance(column, Cells) else cells_of(step.name, column, as_text=step.as_text)
    missing = cells.missing
    if missing.any():
        raise InputError(
            f"Column {step.name!r} has {int(missing.sum()):,} missing values, the first in row "
            f"{int(missing.argmax()) + 1} (the first row is row 1). Only the column that is predicted may have them: "
            "drop these rows or impute them."
        )
    return cells


def _codes(step: Step, cells: Cells, unseen: Unseen) -> NDArray[np.intp]:
    codes, levels = step.codes(cells), step.levels or ()
    unknown = codes == len(levels)
    if unseen == "error" and unknown.any():
        row = int(unknown.argmax())
        raise InputError(
            f"Column {step.name!r} holds {cells.levels()[cells.places[row]]!r} in row {row + 1} (the first row is row "
            f"1), which is not a level of the training table: there are {shortened([repr(level) for level in levels])}."
            f" Drop such rows, or set {setting('unseen', 'prior')}."
        )
    return codes


def _values(step: Step, cells: Cells) -> Floats:
    values = step.numbers(cells)
    largest = float(np.abs(values).max())
    if largest > _LARGEST_VALUE:
        raise InputError(f"Column {step.name!r} holds a value of size {largest:g}; squares of such values overflow.")
    return values
