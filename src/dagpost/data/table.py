"""The table all computations start from: codes with levels, or continuous values, under column names.

`as_table` makes a `Table` from data in memory, `read_table` from a file (conversion.py). Rows may carry counts, so that
a contingency table is data too, and intervention targets: a node's score leaves out the rows in which that node was set
(Cooper & Yoo, Causal discovery from a mixture of experimental and observational data, UAI 1999).
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either
from dagpost._tools.text import names_in, printable, shortened, shortened_rows
from dagpost.data.encoding import code_type, is_number
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.number_words import with_limit_texts
from dagpost.data.suitable import refuse_other_than
from dagpost.errors import InputError

if TYPE_CHECKING:
    import pandas

    from dagpost.data.recipe import Recipe
    from dagpost.data.unrolled import Unrolling


#: Which columns a score takes: levels, numbers, both, or both where levels are in an order.
Columns = Literal["discrete", "continuous", "mixed", "ordered"]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of equal length, each of codes with levels or of continuous values; make one with `as_table`.

    >>> from dagpost.data import as_table
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
    #: What was done with each column to make it; None: it was made as it is.
    recipe: Recipe | None = None
    #: The numbers that columns were cut from, None for other columns; empty where no column was cut.
    numbers: tuple[NDArray[np.float64] | None, ...] = ()
    #: How it was unrolled, where it has present and earlier values.
    time: Unrolling | None = None
    #: The columns that are indicators of regimes: at most one of them is 1 in a row (regimes.py).
    regimes: tuple[str, ...] = ()
    #: How many other columns, and how many indicators, a parent set of interest has at most: others need no score.
    limits: tuple[int, int] | None = None
    #: Where a cell has no value (columns, rows), with the code 0, or nan, in its place; None: nowhere.
    gaps: NDArray[np.bool_] | None = None
    #: Which row of the data each row is, from 0 on, where some were left out or repeated; None: one after the other.
    row_numbers: NDArray[np.intp] | None = None
    #: Of gaps in columns of numbers, between which numbers (rows, 2) they lie, infinite where nothing is known:
    #: censored cells such as "<0.05"; kept with the numbers of columns that were cut. None for a column without any;
    #: empty where no column has any.
    bounds: tuple[NDArray[np.float64] | None, ...] = ()
    #: Of gaps in columns of numbers, ranks (-1: none): a number is larger than all in its column of a lower rank. None
    #: for a column without any; empty where no column has any.
    ranks: tuple[NDArray[np.int32] | None, ...] = ()
    #: The columns of levels that were declared to be in order, lowest first; `ordered` has those that are by nature.
    in_order: tuple[str, ...] = ()
    #: The columns of levels that were declared to be in no order, although they are numbers.
    unordered: tuple[str, ...] = ()
    #: The names of the columns of "counts" and of "interventions" in the data, where they were columns.
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows, each counted once."""
        return len(self.columns[0])

    @property
    def observations(self) -> int:
        """Number of observations: the sum of the counts."""
        return int(self.weights.sum())

    @property
    def weights(self) -> NDArray[np.int64]:
        """How many observations each row stands for."""
        return np.ones(self.rows, dtype=np.int64) if self.counts is None else self.counts

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column; 0 for a continuous one."""
        return tuple(0 if levels is None else len(levels) for levels in self.levels)

    @property
    def exclusive(self) -> NDArray[np.bool_]:
        """Of every column, whether it is an indicator of a regime."""
        return np.isin(np.array(self.names, dtype=object), self.regimes)

    @property
    def discrete(self) -> bool:
        """Whether every column has levels, so that `codes` works where there are no gaps."""
        return None not in self.levels

    @property
    def continuous(self) -> bool:
        """Whether every column holds numbers, or levels that are numbers: `values` works where there are no gaps."""
        return not self.not_numeric() and not self.with_gap_levels()

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Of every column, whether its values are in an order: numbers, two levels, or levels declared to be so.

        Levels that are numbers are not if they were declared to be codes (`unordered`).

        >>> from dagpost.data import as_table
        >>> rows = [["a", 1, "x"], ["b", 2, "y"], ["c", 3, "x"]] * 2
        >>> as_table(np.array(rows, dtype=object)).ordered
        (False, True, True)
        """
        values = [[level for level in own or () if level != MISSING_LEVEL] for own in self.levels]
        return tuple(
            own is None
            or len(known) <= 2
            or name in self.in_order
            or (name not in self.unordered and all(map(is_number, known)))
            for name, own, known in zip(self.names, self.levels, values, strict=True)
        )

    @property
    def gap_count(self) -> int:
        """How many cells have no value."""
        return 0 if self.gaps is None else int(self.gaps.sum())

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Where all that is known of a number is that it lies below or above a limit (columns, rows)."""
        found = np.zeros((len(self.names), self.rows), dtype=bool)
        for place, own in enumerate(self.bounds):
            if own is not None and self.gaps is not None:
                found[place] = self.gaps[place] & np.isfinite(own).any(axis=1)
        return found

    def filled(self, cells: NDArray[np.float64]) -> Table:
        """The completed table: gaps filled with codes or numbers, column by column and then row by row.

        >>> from dagpost.data import as_table
        >>> table = as_table(np.array([[0, 1], [1, 1], [0, 0], [1, 0]]))
        >>> gaps = np.zeros((2, 4), dtype=bool); gaps[1, 2] = True
        >>> replace(table, gaps=gaps).filled(np.array([1.0])).codes()[1].tolist()
        [1, 1, 1, 0]
        """
        whole = isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu" and cells.shape == (self.gap_count,)
        if not whole or not np.isfinite(cells).all():
            raise refusal(cells, "cells", "filled", f"an array of {self.gap_count:,} finite numbers")
        if self.gaps is None:
            return self
        columns, places = list(self.columns), np.cumsum([0, *self.gaps.sum(axis=1)])
        for column in np.flatnonzero(np.diff(places)):
            columns[column] = columns[column].copy()
            columns[column][self.gaps[column]] = cells[places[column] : places[column + 1]]
        return replace(self, columns=tuple(columns), gaps=None)

    def codes(self) -> NDArray[Any]:
        """All codes as a (columns, rows) array of the smallest unsigned type that fits them all."""
        self.refuse_other_than("discrete")
        self._refuse_gaps()
        return np.ascontiguousarray(np.stack(self.columns), dtype=code_type(max(self.arities)))

    def values(self) -> NDArray[np.float64]:
        """All values as a (rows, columns) array of floats."""
        self.refuse_other_than("continuous")
        self._refuse_gaps()
        columns = [
            column if levels is None else np.array(levels, dtype=np.float64)[column]
            for column, levels in zip(self.columns, self.levels, strict=True)
        ]
        return np.ascontiguousarray(np.column_stack(columns))

    def refuse_other_than(self, kind: Columns) -> None:
        """Refuse columns that a score of this kind cannot take."""
        refuse_other_than(self, kind)

    def with_number_columns(self) -> Table:
        """The table whose columns with gaps are numbers where their levels are: a gap may hold any, not only a level.

        >>> from dagpost.data import as_table
        >>> as_table(np.array([[1, 5], [2, np.nan], [1, 7.5]])).with_number_columns().columns[1].tolist()
        [5.0, nan, 7.5]
        """
        if self.gaps is None or not self.continuous:
            return self
        columns, levels = list(self.columns), list(self.levels)
        for place in np.flatnonzero(self.gaps.any(axis=1)).tolist():
            own, levels[place] = levels[place], None
            if own is not None:
                numbers = np.array(own, dtype=np.float64)[columns[place]]
                columns[place] = np.where(self.gaps[place], np.nan, numbers)
        recipe = self.recipe
        if recipe is not None:
            now = {name for name, own in zip(self.names, levels, strict=True) if own is None}
            steps = [
                replace(s, use="number", levels=None, ordered=None) if s.name in now else s
                for s in recipe.uncut().steps_
            ]
            recipe = recipe.with_steps(tuple(steps))
        return replace(self, columns=tuple(columns), levels=tuple(levels), recipe=recipe)

    def _refuse_gaps(self) -> None:
        """Refuse to hand out cells as if each had a value."""
        if self.gaps is None or not self.gap_count:
            return
        own = zip(self.names, self.gaps.sum(axis=1).tolist(), strict=True)
        listed = shortened([f"{name!r} ({count:,})" for name, count in own if count])
        raise InputError(
            f"The table has gaps: {listed}. Drop the incomplete rows ({_recipe('drop')}), give gaps a level of their "
            f"own ({_recipe('level')}), or {either('fit a DagPosterior', 'use dagpost fit')}, which completes them."
        )

    def not_numeric(self) -> list[str]:
        """The columns that are not numbers, nor levels that are."""
        return [
            name
            for name, levels in zip(self.names, self.levels, strict=True)
            if levels is not None and not all(is_number(level) for level in levels if level != MISSING_LEVEL)
        ]

    def with_gap_levels(self) -> list[str]:
        """The columns of numbers in which gaps are a level of their own."""
        return [
            name
            for name, column, levels in zip(self.names, self.columns, self.levels, strict=True)
            if (MISSING_LEVEL in levels if levels is not None else self.gaps is None and bool(np.isnan(column).any()))
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
        if self.gap_count:
            digest.update(b"gaps" + np.packbits(np.asarray(self.gaps), axis=1).tobytes())
        for what, known in (("bounds", self.bounds), ("ranks", self.ranks)):
            for name, own in zip(self.names, known, strict=False):
                if own is not None:
                    digest.update(repr((what, name)).encode() + own.astype(own.dtype.newbyteorder("<")).tobytes())
        for what, names in (("in order", self.in_order), ("unordered", self.unordered)):
            if names:
                digest.update(repr((what, names)).encode())
        if self.regimes:
            digest.update(repr(("regimes", self.regimes)).encode())
        return digest.hexdigest()

    def with_counts(self, counts: NDArray[np.int64]) -> Table:
        """The rows with other counts, without those that stand for nothing."""
        whole = isinstance(counts, np.ndarray) and counts.dtype.kind in "iu" and counts.shape == (self.rows,)
        if not whole or (counts < 0).any():
            raise refusal(counts, "counts", "with_counts", f"an array of {self.rows} whole numbers of at least 0")
        kept = np.flatnonzero(counts)
        return replace(self.of_rows(kept), counts=counts[kept])

    def of_rows(self, rows: NDArray[np.intp]) -> Table:
        """Some of the rows, in the order of their numbers, each as often as it is named.

        >>> from dagpost.data import as_table
        >>> as_table(np.array([[0, 1], [1, 1], [0, 0]])).of_rows(np.array([2, 0, 0])).columns[1].tolist()
        [0, 1, 1]
        """
        numbers = isinstance(rows, np.ndarray) and rows.dtype.kind in "iu" and rows.ndim == 1
        if not numbers or (len(rows) and not 0 <= rows.min() <= rows.max() < self.rows):
            raise refusal(rows, "rows", "of_rows", f"an array of whole numbers from 0 to {self.rows - 1}")
        gaps = None if self.gaps is None else self.gaps[:, rows]
        return replace(
            self,
            columns=tuple(column[rows] for column in self.columns),
            counts=None if self.counts is None else self.counts[rows],
            interventions=None if self.interventions is None else self.interventions[rows],
            gaps=gaps if gaps is not None and gaps.any() else None,
            numbers=tuple(None if numbers is None else numbers[rows] for numbers in self.numbers),
            row_numbers=np.asarray(rows) if self.row_numbers is None else self.row_numbers[rows],
            bounds=tuple(None if own is None else own[rows] for own in self.bounds),
            ranks=tuple(None if own is None else own[rows] for own in self.ranks),
        )

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame of categories and floats, gaps being missing; counts and interventions come last, if any.

        Columns with censored cells hold objects: floats, and text such as "<0.05".
        """
        import pandas

        gaps = np.zeros((len(self.names), 1), dtype=bool) if self.gaps is None else self.gaps
        bounds = self.bounds or (None,) * len(self.names)
        data: dict[str, Any] = {
            name: with_limit_texts(column, own)
            if levels is None
            else pandas.Categorical.from_codes(
                np.where(gap, -1, column.astype(np.int64)), pandas.Index(levels), ordered=name in self.in_order
            )
            for name, column, levels, gap, own in zip(self.names, self.columns, self.levels, gaps, bounds, strict=True)
        }
        if self.counts is not None:
            data[self._free_name("counts")] = self.counts
        if self.interventions is not None:
            masks, position = np.unique(self.interventions, return_inverse=True)
            targets = [";".join(names_in(int(mask), self.names)) for mask in masks]
            data[self._free_name("interventions")] = np.array(targets, dtype=object)[position]
        return pandas.DataFrame(data)

    def _free_name(self, name: str) -> str:
        while name in self.names:
            name += "_"
        return name

    def summary(self) -> str:
        """How large it is, in one line."""
        counted = "" if self.counts is None else f" that stand for {self.observations:,} observations"
        summary = f"Table of {len(self.names):,} columns and {self.rows:,} rows{counted}"
        if self.interventions is not None:
            summary += f", {int((self.interventions != 0).sum()):,} of them with interventions"
        if self.gaps is not None and self.gap_count:
            gaps, censored = self.gaps & ~self.censored, int(self.censored.sum())
            count, incomplete = int(gaps.sum()), int(gaps.any(axis=0).sum())
            cells = "cell" if count == 1 else "cells"
            summary += f"; {count:,} {cells} without a value, in {incomplete:,} of the rows" if count else ""
            summary += f"; {censored:,} censored" if censored else ""
        return summary

    def descriptions(self) -> list[str]:
        """What each column holds, in a few words."""
        limits = self.censored.sum(axis=1)
        counts = (np.zeros(len(self.names), dtype=int) if self.gaps is None else self.gaps.sum(axis=1)) - limits
        gaps = [f"; {count:,} gap{'' if count == 1 else 's'}" if count else "" for count in counts.tolist()]
        gaps = [own + (f"; {count:,} censored" if count else "") for own, count in zip(gaps, limits, strict=True)]
        return [
            (_range_of(column) if levels is None else f"{len(levels)} levels: {shortened([*map(str, levels)])}") + own
            for column, levels, own in zip(self.columns, self.levels, gaps, strict=True)
        ]

    def __repr__(self) -> str:
        names = [printable(name) for name in self.names]
        width = max(len(name) for name in names)
        lines = [f"{n:<{width}}  {printable(d)}" for n, d in zip(names, self.descriptions(), strict=True)]
        return "\n".join([self.summary(), *(f"  {line}" for line in shortened_rows(lines))])

    def _repr_html_(self) -> str:
        rows = [
            f"<th>{html.escape(name)}</th><td>{html.escape(description)}</td>"
            for name, description in zip(self.names, self.descriptions(), strict=True)
        ]
        body = "".join(f"<tr>{row if row[0] == '<' else f'<td>{row}</td>'}</tr>" for row in shortened_rows(rows))
        return f"<table><caption>{html.escape(self.summary())}</caption>{body}</table>"


def _recipe(missing: str) -> str:
    """How tables are read that have gaps, wherever they are read."""
    return either(f"recipe=Recipe(missing={missing!r}) of as_table", f"--missing {missing}")


def _range_of(column: NDArray[np.float64]) -> str:
    if np.isnan(column).all():
        return "continuous, no value"
    return f"continuous, {np.nanmin(column):.4g} to {np.nanmax(column):.4g}"
