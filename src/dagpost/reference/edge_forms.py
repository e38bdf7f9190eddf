"""Edge probabilities as people have them (a square table, an array, one row a pair), as a matrix in the case's order.

Rows are parents and columns children. A table is matched by its names, in any order; an array has none, so its order
must be that of the case. Sums of many weights may be off by `ROUNDING`; what is further off is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.spelling import setting
from dagpost._tools.text import nearest, shortened, shown
from dagpost.errors import InputError
from dagpost.files.frames import matrix_of_long
from dagpost.files.strengths import matrix_of_strengths

if TYPE_CHECKING:
    import pandas as pd

#: What single precision leaves of a probability that was added up from many weights.
ROUNDING = 1e-6
#: How a message speaks of a row: "edges.csv, line 5", "row 3".
Place = Callable[[int], str]


def edges_of_array(array: NDArray[Any], names: Sequence[str]) -> Floats:
    """A matrix [parent, child] without names, which has to be in the order of the case."""
    nodes = len(names)
    if array.shape != (nodes, nodes) or array.dtype.kind not in "fiub":
        raise InputError(
            f"An array of edge probabilities must hold numbers and have the shape ({nodes}, {nodes}), parents in the "
            f"rows, in the order of the case: {shortened([shown(name) for name in names])}. Got an array of "
            f"{array.dtype} of shape {array.shape}."
        )
    return checked_edges(np.array(array, dtype=np.float64), names)


def edges_of_frame(frame: pd.DataFrame, names: Sequence[str]) -> Floats:
    """A table with parents in the rows and children in the columns, or one with one row a pair."""
    if is_long(list(frame.columns)):
        return edges_of_long(frame.rename(columns=str), names)
    labels = labels_of(frame)
    if labels is None:
        return edges_of_array(frame.to_numpy(), names)
    return edges_of_square(*labels, [list(row) for row in frame.to_numpy(dtype=object)], names, row_number)


def labels_of(frame: pd.DataFrame) -> tuple[list[str], list[str]] | None:
    """The names of the rows and columns of a square table; None if both are only counted, as in an array."""
    columns, rows = [str(column) for column in frame.columns], [str(row) for row in frame.index]
    counted = [str(at) for at in range(len(columns))]
    if rows != counted:
        return rows, columns
    # Rows that are only counted are in the order of the columns.
    return None if columns == counted else (columns, columns)


def put_in_order(
    matrix: NDArray[Any], rows: Sequence[str], columns: Sequence[str], names: Sequence[str]
) -> NDArray[Any]:
    """A matrix whose rows and columns have these names, in the order of the case."""
    check_names(columns, names, "columns")
    check_names(rows, names, "rows")
    row_of, column_of = ({name: at for at, name in enumerate(some)} for some in (rows, columns))
    return matrix[np.ix_([row_of[name] for name in names], [column_of[name] for name in names])]


def is_long(columns: Sequence[Any]) -> bool:
    """Whether these are the columns of a table with one row a pair."""
    return {"from", "to"} <= {str(column) for column in columns}


def edges_of_square(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Any]], names: Sequence[str], place: Place
) -> Floats:
    """A matrix whose rows and columns have names, put into the order of the case."""
    matrix = np.array([numbers(row, "probability", lambda _, at=at: place(at)) for at, row in enumerate(cells)])  # type: ignore[misc]
    return checked_edges(put_in_order(matrix, rows, columns, names), names)


def edges_of_long(table: pd.DataFrame, names: Sequence[str]) -> Floats:
    """A table with one row a pair: from, to and probability, or strength and direction; pairs without a row are 0."""
    strength = "probability" not in table.columns and {"strength", "direction"} <= set(table.columns)
    matrix = matrix_of_strengths(table, names) if strength else matrix_of_long(table, names)
    return checked_edges(matrix.to_numpy(), names)


def checked_edges(matrix: Floats, names: Sequence[str]) -> Floats:
    """The matrix, if its numbers can be probabilities of the edges of graphs without cycles."""
    # Not the other way round: this is true of nan too.
    wrong = ~((matrix >= -ROUNDING) & (matrix <= 1.0 + ROUNDING))
    if wrong.any():
        parent, child = np.argwhere(wrong)[0]
        raise InputError(
            f"A probability must be between 0 and 1. Got {matrix[parent, child]} for {names[parent]} -> "
            f"{names[child]}.{' Fill what is missing, with 0 on the diagonal.' if np.isnan(matrix).any() else ''}"
        )
    loops = np.flatnonzero(np.diag(matrix) > ROUNDING)
    if len(loops):
        name = names[loops[0]]
        raise InputError(
            f"No column is its own parent, so the diagonal must be 0. Got {matrix[loops[0], loops[0]]} for {name} -> "
            f"{name}."
        )
    both = np.triu(matrix + matrix.T, 1)
    if (both > 1.0 + ROUNDING).any():
        one, other = divmod(int(np.argmax(both)), len(names))
        raise InputError(
            f"A graph has at most one of {names[one]} -> {names[other]} and {names[other]} -> {names[one]}, so their "
            f"probabilities sum to at most 1. Got {matrix[one, other]} and {matrix[other, one]}. Graphs with cycles "
            "among those averaged would do this: leave them out first, or give the graphs, with "
            f"{setting('cyclic', 'drop')}."
        )
    result = np.clip(matrix, 0.0, 1.0)
    np.fill_diagonal(result, 0.0)
    return result


def check_names(found: Sequence[str], names: Sequence[str], what: str = "columns") -> None:
    """Refuse names that are not those of the case, whatever their order."""
    extra = [name for name in found if name not in names]
    missing = [name for name in names if name not in found]
    if extra:
        raise InputError(f"The case has no column {shown(extra[0])}, which the {what} name.{nearest(extra[0], names)}")
    if missing:
        raise InputError(
            f"The {what} do not name {shortened([shown(name) for name in missing])}. Give all {len(names)} columns of "
            "the case."
        )
    if len(found) > len(names):
        twice = next(name for name in found if list(found).count(name) > 1)
        raise InputError(f"The {what} name {shown(twice)} more than once. Give every column of the case once.")


def numbers(values: Sequence[Any], what: str, place: Place) -> Floats:
    """Cells as numbers; an error names the first that is not one, and where it stands."""
    try:
        found = np.fromiter(values, dtype=np.float64, count=len(values))
    except (TypeError, ValueError):
        at = next((at for at, value in enumerate(values) if not is_number(value)), 0)
        raise InputError(f"{place(at)}: the {what} must be a number. Got {shown(values[at])} instead.") from None
    if np.isnan(found).any():
        at = int(np.flatnonzero(np.isnan(found))[0])
        raise InputError(f"{place(at)}: the {what} is missing (nan). Give a number.")
    return found


def row_number(at: int) -> str:
    """How a message speaks of a row of a table in memory."""
    return f"Row {at}"


def graph_number(at: int) -> str:
    """How a message speaks of a graph in memory."""
    return f"Graph {at}"


def is_number(value: Any) -> bool:
    """Whether a cell can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
