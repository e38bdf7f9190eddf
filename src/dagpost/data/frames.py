"""Whatever a user has, as named columns of cells: data frames, arrays, files.

Names that are missing or used twice are refused here; what the cells mean is for others to decide. No cell is copied.

The columns of whatever a user has, before anything is decided about them: what a recipe is applied to.

Columns of counts and of interventions are taken out and kept beside the others. No cell is copied.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import either, quoted
from dagpost._tools.text import names_in, nearest, shortened
from dagpost.data import datasets
from dagpost.data.column_kinds import ROW_NUMBERS
from dagpost.data.encoding import Cells, cells_of
from dagpost.data.files import read_frame
from dagpost.data.rows import row_counts
from dagpost.data.table import Table
from dagpost.data.time_columns import series_and_lag
from dagpost.data.unrolled import Unrolled, Unrolling
from dagpost.errors import InputError


def frame_of(path: str | os.PathLike[str]) -> Any:
    """What `read_frame` gives; the name of a bundled data set in place of a file is an error that says so."""
    if os.fspath(path) in datasets.names() and not os.path.exists(path):
        raise InputError(
            f"{path}: there is no such file, but there is a bundled data set of that name: "
            + either(f'dagpost.datasets.load("{path}").', f"dagpost data export {path} -o {path}.csv.")
        )
    return read_frame(path)


def named_cells(data: Any) -> tuple[list[str], list[Any]]:
    """The names and the cells of the columns, in NumPy arrays or narwhals series.

    A first column without a name is called `ROW_NUMBERS`.
    """
    if isinstance(data, np.ndarray):
        return _columns_of_array(data)
    import narwhals as nw

    data = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(data):
        # narwhals refuses names that are not unique strings; ours must be checked, not its message shown.
        names = ["" if _is_missing(name) else str(name) for name in data.columns]
        check_names(names)
        data = data.set_axis(names, axis=1)
    elif nw.dependencies.is_pyarrow_table(data):
        check_names(data.column_names)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        remedy = " Collect it first: data.collect()." if hasattr(data, "collect") else ""
        raise InputError(
            "A table must be a pandas, polars or pyarrow table, a 2-D NumPy array, or the path of a CSV or "
            f"Parquet file. Got {type(data).__module__}.{type(data).__name__} instead.{remedy}"
        ) from None
    names = [ROW_NUMBERS if not place and not name.strip() else name for place, name in enumerate(frame.columns)]
    check_names(names)
    return names, [frame[name] for name in frame.columns]


def _columns_of_array(data: Any) -> tuple[list[str], list[Any]]:
    if data.ndim != 2 or data.dtype.names is not None:
        raise InputError(
            f"An array must have 2 dimensions, rows and columns. Got shape {data.shape}: reshape it, or "
            "give a data frame."
        )
    if data.dtype.kind == "c":
        raise InputError("Complex data not supported: take the real part, or the modulus, of the numbers first.")
    if data.shape[1] == 0:
        raise InputError(
            f"The array has 0 feature(s) (shape={data.shape}) while a minimum of 2 is required: give it columns."
        )
    return [f"V{i}" for i in range(data.shape[1])], list(data.T)


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are used twice, and columns without a name other than the first."""
    for position, name in enumerate(names):
        if position and not name.strip():
            raise no_name(position, len(names))
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        places = [str(position + 1) for position, name in enumerate(names) if name == repeated[0]]
        raise InputError(
            f"Column names must be different. {shortened([repr(name) for name in repeated])} "
            f"{'is' if len(repeated) == 1 else 'are'} used more than once ({repeated[0]!r} by columns "
            f"{', '.join(places)}): rename them (is there a line of names at the top?)."
        )


def no_name(position: int, columns: int) -> InputError:
    """The error for a column without a name."""
    return InputError(
        f"Column {position + 1} of {columns} has no name. Every column needs one: name it, or "
        "leave it out (is it an index that was saved along? then save with index=False)."
    )


def _is_missing(name: object) -> bool:
    return name is None or (isinstance(name, float) and math.isnan(name))


@dataclass(frozen=True)
class Source:
    """Columns as they came, without those of counts and interventions, which are kept beside them."""

    columns: Mapping[str, Any]
    rows: int
    counts: NDArray[np.int64] | None = None
    #: One entry a row.
    targets: Any = None
    #: Whether it is a `Table`, whose columns are what they are.
    is_table: bool = False
    time: Unrolling | None = None
    #: The names of the columns of counts and of interventions, where they were columns.
    beside: Mapping[str, str] = field(default_factory=dict)

    def cells(self, name: str, *, as_text: bool = False) -> Cells:
        """One column."""
        column = self.columns[name]
        return column if isinstance(column, Cells) else cells_of(name, column, as_text=as_text)


def source_of(data: Any, counts: Any, interventions: Any) -> Source:
    """The columns of whatever the user has."""
    if isinstance(data, Table):
        if counts is not None or interventions is not None:
            raise InputError(
                "The data is a Table already, and 'counts' and 'interventions' belong to the making of one: "
                "give them to as_table or read_table, or start again from table.to_pandas()."
            )
        return _source_of_table(data)
    time = None
    if isinstance(data, Unrolled):
        named, rows, time = dict(data.columns), data.rows, data.record
    else:
        names, cells = named_cells(frame_of(data) if isinstance(data, str | os.PathLike) else data)
        named, rows = dict(zip(names, cells, strict=True)), len(cells[0]) if cells else 0
    if rows == 0:
        raise InputError(f"The table is empty: {len(named)} columns and {rows} rows. At least one row is needed.")
    beside = {"counts": counts, "interventions": interventions}
    beside = {what: name for what, name in beside.items() if isinstance(name, str)}
    if isinstance(counts, str):
        counts = _taken_out(named, counts, "counts")
    targets = _taken_out(named, interventions, "interventions") if isinstance(interventions, str) else interventions
    return Source(named, rows, None if counts is None else row_counts(counts, rows), targets, time=time, beside=beside)


def _source_of_table(table: Table) -> Source:
    gaps = np.zeros((len(table.names), 1), dtype=bool) if table.gaps is None else table.gaps
    said = {**dict.fromkeys(table.in_order, True), **dict.fromkeys(table.unordered, False)}
    bounds = table.bounds or (None,) * len(table.names)
    columns = {
        name: Cells("declared", np.where(gap, -1, column.astype(np.intp)), list(levels), said.get(name))
        if levels is not None
        else Cells("decimal", np.where(np.isnan(column), -1, np.arange(len(column))), np.nan_to_num(column), bounds=own)
        for name, column, levels, gap, own in zip(table.names, table.columns, table.levels, gaps, bounds, strict=True)
    }
    masks = table.interventions
    targets = None
    if masks is not None:
        different, place = np.unique(masks, return_inverse=True)
        named = [names_in(int(mask), table.names) for mask in different]
        targets = [named[i] for i in place]
    return Source(columns, table.rows, table.counts, targets, is_table=True, time=table.time, beside=table.beside)


def _taken_out(named: dict[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise InputError(f"{quoted(what)} names the column {name!r}, which is not there.{nearest(name, list(named))}")
    for column in [column for column in named if column != name and series_and_lag(column)[0] == name]:
        del named[column]
    found = named.pop(name)
    return np.array([*found.levels(), None], dtype=object)[found.places] if isinstance(found, Cells) else found
