"""The table all computations start from: codes with levels, or continuous values, under column names.

A `Table` is made by `as_table` from data in memory (or by `read_table` from a file), and everything that can
be wrong with data is found there, before any work starts: a thing that cannot be right is an `InputError`, a
thing that looks unintended a `DagpostWarning`. Rows may carry counts, so that a contingency table is data
too, and intervention targets: a node's score leaves out the rows in which that node was set (Cooper & Yoo,
Causal discovery from a mixture of experimental and observational data, UAI 1999). Time and memory are linear
in the cells.
"""

from __future__ import annotations

import hashlib
import html
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.spelling import either, quoted, setting
from dagpost._tools.text import nearest, shortened
from dagpost.data.encoding import LARGEST_CODE, code_type, encode, missing_cells
from dagpost.data.rows import intervention_masks, row_counts
from dagpost.errors import InputError, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas
    from numpy.typing import NDArray

MAX_COLUMNS = 64

#: Whatever `as_table` takes; the libraries it comes from need not be installed.
TableLike = Any


_DISCRETISE = 'discretise(data, bins=3, strategy="quantile"), or --discretise quantile on the command line'
_WITHOUT_MISSING = (
    "(data.dropna() in pandas, data.drop_nulls() or drop_nans() in polars) or impute them (for example with "
    "sklearn.impute.SimpleImputer)"
)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of equal length, each of codes with levels or of continuous values; make one with `as_table`.

    >>> table = as_table(np.array([[0, 1], [1, 1], [0, 0], [1, 0]]))
    >>> table.names, table.arities, table.rows
    (('V0', 'V1'), (2, 2), 4)
    """

    names: tuple[str, ...]
    #: One array a column: unsigned codes (the smallest type that fits), or float64 for a continuous column.
    columns: tuple[NDArray[Any], ...]
    #: What the codes stand for; None for a continuous column.
    levels: tuple[tuple[object, ...] | None, ...]
    #: How many observations each row stands for; None: one.
    counts: NDArray[np.int64] | None = None
    #: Bit i of a row's mask is set where column i was set by intervention in that row; None: nowhere.
    interventions: NDArray[np.uint64] | None = None

    @property
    def rows(self) -> int:
        """Number of rows, each counted once."""
        return len(self.columns[0])

    @property
    def observations(self) -> int:
        """Number of observations: the sum of the counts."""
        return self.rows if self.counts is None else int(self.counts.sum())

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column; 0 for a continuous one."""
        return tuple(0 if levels is None else len(levels) for levels in self.levels)

    @property
    def discrete(self) -> bool:
        """Whether every column has levels, so that `codes` works."""
        return None not in self.levels

    @property
    def continuous(self) -> bool:
        """Whether every column holds floats (also those taken for codes), so that `values` works."""
        return not self._not_numeric()

    def codes(self) -> NDArray[Any]:
        """All codes as a (columns, rows) array of the smallest unsigned type that fits them all."""
        continuous = [name for name, levels in zip(self.names, self.levels, strict=True) if levels is None]
        if continuous:
            raise InputError(
                f"{_columns(continuous)} {_are(continuous)} continuous, and a discrete score needs levels. "
                f"Discretise first: {either(_DISCRETISE, '--discretise quantile')}; or, if all columns are continuous, "
                f"use {setting('score', 'bge')}."
            )
        return np.ascontiguousarray(np.stack(self.columns), dtype=code_type(max(self.arities)))

    def values(self) -> NDArray[np.float64]:
        """All values as a (rows, columns) array of floats."""
        discrete = self._not_numeric()
        if discrete:
            convert = f"convert them: data[{discrete[0]!r}].astype(float)"
            raise InputError(
                f"{_columns(discrete)} {_are(discrete)} discrete, and a score for continuous data needs "
                f"floats. If the values are numbers, {either(convert, 'write them with a decimal point')}; otherwise use "
                f"a discrete score such as {setting('score', 'bdeu')}."
            )
        columns = [
            column if levels is None else np.array(levels, dtype=np.float64)[column]
            for column, levels in zip(self.columns, self.levels, strict=True)
        ]
        return np.ascontiguousarray(np.column_stack(columns))

    def _not_numeric(self) -> list[str]:
        return [
            name
            for name, levels in zip(self.names, self.levels, strict=True)
            if levels is not None and not all(isinstance(level, float) for level in levels)
        ]

    def fingerprint(self) -> str:
        """A SHA-256 of all that matters: the same for the same data, whatever library it came from."""
        digest = hashlib.sha256(b"dagpost table 1\n")
        for name, column, levels in zip(self.names, self.columns, self.levels, strict=True):
            kinds = None if levels is None else [(type(level).__name__, level) for level in levels]
            digest.update(repr((name, kinds, len(column))).encode())
            digest.update(column.astype(column.dtype.newbyteorder("<")).tobytes())
        # A table with counts that are all 1 is the table without counts; likewise without interventions.
        if self.counts is not None and bool((self.counts != 1).any()):
            digest.update(b"counts" + self.counts.astype("<i8").tobytes())
        if self.interventions is not None and bool(self.interventions.any()):
            digest.update(b"interventions" + self.interventions.astype("<u8").tobytes())
        return digest.hexdigest()

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of categories and floats; counts and interventions are its last columns, if any."""
        import pandas

        data: dict[str, Any] = {
            name: column
            if levels is None
            else pandas.Categorical.from_codes(column.astype(np.int64), pandas.Index(levels))
            for name, column, levels in zip(self.names, self.columns, self.levels, strict=True)
        }
        if self.counts is not None:
            data[self._free_name("counts")] = self.counts
        if self.interventions is not None:
            masks, position = np.unique(self.interventions, return_inverse=True)
            targets = [";".join(self._names_in(int(mask))) for mask in masks]
            data[self._free_name("interventions")] = np.array(targets, dtype=object)[position]
        return pandas.DataFrame(data)

    def _free_name(self, name: str) -> str:
        while name in self.names:
            name += "_"
        return name

    def _names_in(self, mask: int) -> list[str]:
        return [name for position, name in enumerate(self.names) if mask >> position & 1]

    def summary(self) -> str:
        counted = "" if self.counts is None else f" that stand for {self.observations:,} observations"
        summary = f"Table of {len(self.names)} columns and {self.rows:,} rows{counted}"
        if self.interventions is not None:
            summary += f", {int((self.interventions != 0).sum()):,} of them with interventions"
        return summary

    def descriptions(self) -> list[str]:
        return [
            f"continuous, {column.min():.4g} to {column.max():.4g}"
            if levels is None
            else f"{len(levels)} levels: {shortened([str(level) for level in levels])}"
            for column, levels in zip(self.columns, self.levels, strict=True)
        ]

    def __repr__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [f"  {n:<{width}}  {d}" for n, d in zip(self.names, self.descriptions(), strict=True)]
        return "\n".join([self.summary(), *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(description)}</td></tr>"
            for name, description in zip(self.names, self.descriptions(), strict=True)
        )
        return f"<table><caption>{html.escape(self.summary())}</caption>{rows}</table>"


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
    from dagpost.data.files import read_frame, source_name

    frame = read_frame(data)
    try:
        return _table_from_memory(frame, counts, interventions)
    except InputError as error:
        raise InputError(f"{source_name(data)}: {error.marked}") from None


def warn_about(table: Table) -> None:
    """Warn of columns that look unintended: constants, identifiers, floats that are codes."""
    seen = np.ones(table.rows, dtype=bool) if table.counts is None else table.counts > 0
    columns = list(zip(table.names, table.columns, table.levels, strict=True))
    constant = [name for name, column, _ in columns if bool((column[seen] == column[seen][0]).all())]
    identifiers = [name for name, _, levels in columns if levels and 2 * len(levels) > table.observations]
    coded = [name for name, _, levels in columns if levels and _are_small_whole_floats(levels)]
    if constant:
        warn(f"{_columns(constant)} {_are(constant)} constant, so the data say nothing of edges there. Kept.")
    if identifiers:
        warn(
            f"{_columns(identifiers)} {'has' if len(identifiers) == 1 else 'have'} more levels than half of "
            f"the {table.observations:,} rows. An identifier? Then leave it out. Numbers? Then discretise "
            f"them: {either(f'discretise(data, columns={identifiers!r})', '--discretise quantile')}."
        )
    # A table of codes only was coded on purpose, as by scikit-learn's encoders and discretisers.
    if coded and len(coded) < len(columns):
        warn(
            f"{_columns(coded)} {_are(coded)} of floats that are all whole numbers from 0 to {LARGEST_CODE}: "
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


def _columns(names: list[str]) -> str:
    return f"{'Column' if len(names) == 1 else 'Columns'} {shortened([repr(name) for name in names])}"


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
