"""Whatever a user has, as a `Table`: data in memory, or a file.

Everything that can be wrong with data is found here, before any work starts: a thing that cannot be right is an
`InputError`, a thing that looks unintended a `DagpostWarning`. Time and memory are linear in the cells.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either, quoted
from dagpost._tools.text import nearest, shortened
from dagpost.data import datasets
from dagpost.data.encoding import LARGEST_CODE, encode, missing_cells
from dagpost.data.files import read_frame, source_name
from dagpost.data.rows import intervention_masks, row_counts
from dagpost.data.table import Table, columns_are
from dagpost.errors import InputError, warn

MAX_COLUMNS = 64

#: Whatever `as_table` takes; the libraries it comes from need not be installed.
TableLike = Any

_WITHOUT_MISSING = (
    "(data.dropna() in pandas, data.drop_nulls() or drop_nans() in polars) or impute them (for example with "
    "sklearn.impute.SimpleImputer)"
)


def as_table(
    data: TableLike,
    *,
    counts: str | Sequence[int] | NDArray[Any] | None = None,
    interventions: str | Iterable[object] | None = None,
) -> Table:
    """Turn data into a `Table`, or say clearly why that cannot be done.

    Parameters
    ----------
    data
        A Table (handed back as it is); a pandas, polars or pyarrow table; a 2-D NumPy array (columns are
        named V0, V1, ...); the path of a CSV or Parquet file.
    counts
        How many observations each row stands for: the name of a column, or one whole number per row.
    interventions
        Which columns were set by intervention in each row: the name of a column whose cells hold a column
        name, several separated by ";", or nothing; or one entry per row, each None, a name, or several names.

    >>> import pandas
    >>> frame = pandas.DataFrame({"rain": ["no", "yes", "yes"], "wet": [False, False, True], "n": [5, 1, 4]})
    >>> as_table(frame, counts="n")
    Table of 2 columns and 3 rows that stand for 10 observations
      rain  2 levels: no, yes
      wet   2 levels: False, True
    """
    if isinstance(data, Table) and counts is None and interventions is None:
        return data
    table = checked_table(data, counts, interventions)
    warn_about(table)
    return table


def checked_table(data: TableLike, counts: Any = None, interventions: Any = None) -> Table:
    """What `as_table` gives, before its warnings."""
    if isinstance(data, Table):
        if counts is not None or interventions is not None:
            raise InputError(
                "The data is a Table already, and 'counts' and 'interventions' belong to the making of one: "
                "give them to as_table or read_table, or start again from table.to_pandas()."
            )
        return data
    if not isinstance(data, (str, os.PathLike)):
        return _table_from_memory(data, counts, interventions)
    frame = frame_of(data)
    try:
        return _table_from_memory(frame, counts, interventions)
    except InputError as error:
        raise InputError(f"{source_name(data)}: {error.marked}") from None


def frame_of(path: str | os.PathLike[str]) -> Any:
    """What `read_frame` gives; the name of a bundled data set in place of a file is an error that says so."""
    if os.fspath(path) in datasets.names() and not os.path.exists(path):
        raise InputError(
            f"{path}: there is no such file, but there is a bundled data set of that name: "
            + either(f'dagpost.datasets.load("{path}").', f"dagpost data export {path} -o {path}.csv.")
        )
    return read_frame(path)


def warn_about(table: Table) -> None:
    """Warn of columns that look unintended: constants, identifiers, floats that are codes."""
    seen = np.ones(table.rows, dtype=bool) if table.counts is None else table.counts > 0
    columns = list(zip(table.names, table.columns, table.levels, strict=True))
    constant = [name for name, column, _ in columns if bool((column[seen] == column[seen][0]).all())]
    identifiers = [name for name, _, levels in columns if levels and 2 * len(levels) > table.observations]
    coded = [name for name, _, levels in columns if levels and _are_small_whole_floats(levels)]
    if constant:
        warn(f"{columns_are(constant)} constant, so the data say nothing of edges there. Kept.")
    if identifiers:
        warn(
            f"{columns_are(identifiers, 'has', 'have')} more levels than half of "
            f"the {table.observations:,} rows. An identifier? Then leave it out. Numbers? Then discretise "
            f"them: {either(f'discretise(data, columns={identifiers!r})', '--discretise quantile')}."
        )
    # A table of codes only was coded on purpose, as by scikit-learn's encoders and discretisers.
    if coded and len(coded) < len(columns):
        warn(
            f"{columns_are(coded)} of floats that are all whole numbers from 0 to {LARGEST_CODE}: "
            "taken as codes, each value a level. Convert to integers to say so yourself."
        )


def _are_small_whole_floats(levels: tuple[object, ...]) -> bool:
    return all(isinstance(v, float) and v.is_integer() and 0 <= v <= LARGEST_CODE for v in levels)


def _table_from_memory(data: Any, counts: Any, interventions: Any) -> Table:
    names, cells = named_cells(data)
    _check_names(names)
    rows = len(cells[0]) if cells else 0
    if rows == 0:
        raise InputError(f"The table is empty: {len(names)} columns and {rows} rows. At least one row is needed.")
    named = dict(zip(names, cells, strict=True))
    if isinstance(counts, str):
        counts = _taken_out(named, counts, "counts")
    targets = _taken_out(named, interventions, "interventions") if isinstance(interventions, str) else interventions
    _check_number(list(named))
    observed = None if counts is None else row_counts(counts, rows)
    _check_missing(named)
    masks = None if targets is None else intervention_masks(targets, tuple(named), rows)
    encoded = [encode(name, column) for name, column in named.items()]
    return Table(
        names=tuple(named),
        columns=tuple(column for column, _ in encoded),
        levels=tuple(levels for _, levels in encoded),
        counts=observed,
        interventions=masks if masks is not None and masks.any() else None,
    )


def named_cells(data: Any) -> tuple[list[str], list[Any]]:
    """The names and the cells of the columns, in NumPy arrays or narwhals series."""
    if isinstance(data, np.ndarray):
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
    import narwhals as nw

    data = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(data):
        # narwhals refuses names that are not unique strings; ours must be checked, not its message shown.
        names = ["" if _is_missing(name) else str(name) for name in data.columns]
        _check_names(names)
        data = data.set_axis(names, axis=1)
    elif nw.dependencies.is_pyarrow_table(data):
        _check_names(data.column_names)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        remedy = " Collect it first: data.collect()." if hasattr(data, "collect") else ""
        raise InputError(
            "A table must be a pandas, polars or pyarrow table, a 2-D NumPy array, or the path of a CSV or "
            f"Parquet file. Got {type(data).__module__}.{type(data).__name__} instead.{remedy}"
        ) from None
    return list(frame.columns), [frame[name] for name in frame.columns]


def _is_missing(name: object) -> bool:
    return name is None or (isinstance(name, float) and math.isnan(name))


def _check_names(names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        if not name.strip():
            raise InputError(
                f"Column {position + 1} of {len(names)} has no name. Every column needs one: name it, or "
                "leave it out (is it an index that was saved along? then save with index=False)."
            )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        places = [str(position + 1) for position, name in enumerate(names) if name == repeated[0]]
        raise InputError(
            f"Column names must be different. {shortened([repr(name) for name in repeated])} "
            f"{'is' if len(repeated) == 1 else 'are'} used more than once ({repeated[0]!r} by columns "
            f"{', '.join(places)}): rename them (is there a line of names at the top?)."
        )


def _check_number(names: list[str]) -> None:
    if len(names) < 2:
        raise InputError(
            f"The table has only one column{f', {names[0]!r}' if names else ''}: a structure needs at least "
            f"2, not {len(names)} feature(s). (In a text file, columns are separated by commas, semicolons or tabs.)"
        )
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"The table has {len(names)} columns; at most {MAX_COLUMNS} are possible. Choose the columns of "
            f"interest, for example data[names] with a list of at most {MAX_COLUMNS} names."
        )


def _check_missing(named: dict[str, Any]) -> None:
    masks = {name: missing_cells(cells) for name, cells in named.items()}
    incomplete = [
        f"{name!r} has {int(mask.sum()):,} (first in row {int(mask.argmax()) + 1})"
        for name, mask in masks.items()
        if mask.any()
    ]
    if incomplete:
        raise InputError(
            f"Missing values (empty or NaN): {', '.join(incomplete)}; the first row is row 1. Every cell "
            f"must be filled: drop the incomplete rows {either(_WITHOUT_MISSING, 'or fill them in')}."
        )


def _taken_out(named: dict[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise InputError(f"{quoted(what)} names the column {name!r}, which is not there.{nearest(name, list(named))}")
    return named.pop(name)


def read_table(
    path: str | os.PathLike[str],
    *,
    counts: str | Sequence[int] | NDArray[Any] | None = None,
    interventions: str | Iterable[object] | None = None,
) -> Table:
    r"""Read a CSV or Parquet file; "-" reads CSV from standard input.

    `counts` and `interventions` are those of `as_table`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "weather.csv"
    ...     _ = path.write_text("rain,wet,n\nno,no,5\nyes,no,1\nyes,yes,4\n")
    ...     table = read_table(path, counts="n")
    >>> table
    Table of 2 columns and 3 rows that stand for 10 observations
      rain  2 levels: no, yes
      wet   2 levels: no, yes
    """
    if not isinstance(path, (str, os.PathLike)):
        raise refusal(type(path).__name__, "path", "read_table", "a str or a path", "Data in memory goes to as_table.")
    return as_table(path, counts=counts, interventions=interventions)
