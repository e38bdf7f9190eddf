"""What of a table is not known, in words: gaps, censored cells, and the latent numbers behind levels in an order.

Rows with gaps written out: each observation with a gap has a value of its own there, which is not known.

Two people with the same answers and the same question left open would not have answered it alike. Rows without gaps
keep their counts. Time and memory are linear in the cells of the result, and memory is checked before it is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dagpost._tools.memory import require
from dagpost._tools.spelling import either, setting
from dagpost._tools.text import shortened
from dagpost.data.table import Table


class UnknownCells(NamedTuple):
    """The columns of which only the ranks of latent numbers are known, and how many other cells have no value.

    `latent`: whether the table is one of latent numbers at all.
    """

    ranked: tuple[str, ...] = ()
    censored: int = 0
    missing: int = 0
    latent: bool = False

    @classmethod
    def of(cls, table: Table) -> UnknownCells:
        """Those of a table, or of the table of latent numbers that a score makes of it.

        >>> from dagpost.data import as_table
        >>> from dagpost.scores.latent_columns import latent_table
        >>> table = as_table(np.array([["no", 1.5], ["yes", 2.5], [None, 7.5], ["no", None]], dtype=object))
        >>> UnknownCells.of(table).words, UnknownCells.of(latent_table(table, "raw")).words
        ('2 gaps', "the latent numbers of 'V0', and 2 gaps")
        """
        if table.gaps is None:
            return cls(latent=bool(table.ranks))
        ranked, censored, missing = [], 0, 0
        for place, (name, gaps) in enumerate(zip(table.names, table.gaps, strict=True)):
            ranks = table.ranks[place] if table.ranks else None
            bounds = table.bounds[place] if table.bounds else None
            ranked += [] if ranks is None else [name]
            empty = gaps if ranks is None else ranks < 0
            between = 0 if bounds is None else int(np.isfinite(bounds[gaps]).any(axis=1).sum())
            censored, missing = censored + between, missing + int(empty.sum()) - between
        return cls(tuple(ranked), censored, missing, bool(table.ranks))

    @property
    def words(self) -> str:
        """All of it, as the subject of a sentence."""
        cells = _counted(self.censored, "censored cell"), _counted(self.missing, "gap")
        said = " and ".join(filter(None, cells))
        if not self.ranked:
            return said
        return f"the latent numbers of {shortened([repr(name) for name in self.ranked])}{said and f', and {said}'}"

    @property
    def brief(self) -> str:
        """All of it, with columns counted and not named.

        >>> UnknownCells(("a", "b"), 1, 2, True).brief, UnknownCells(missing=2_000).brief
        ('latent numbers of 2 columns, 1 censored cell and 2 gaps', '2,000 gaps')
        """
        ranked = f"latent numbers of {_counted(len(self.ranked), 'column')}" if self.ranked else ""
        cells = _counted(self.censored, "censored cell"), _counted(self.missing, "gap")
        *before, last = [*filter(None, (ranked, *cells))] or [""]
        return " and ".join(filter(None, (", ".join(before), last)))

    @property
    def done(self) -> str:
        """That chains have drawn all of it, as a sentence begins."""
        return f"chains {'drew' if self.latent else 'completed'} {self.words}"

    @property
    def ways_out(self) -> str:
        """How to fit a model in which nothing has to be completed: the end of a sentence."""
        if self.ranked and self.censored:
            return (
                f"use a score for levels, such as {setting('score', 'bdeu')}, with all numbers cut, those with "
                f"censored cells at their limits ({either('Recipe(cut={...})', '--cut')})"
            )
        if self.ranked:
            return (
                f"use a score without latent numbers: {setting('score', 'conditional-gaussian')}, or one for levels, "
                f"such as {setting('score', 'bdeu')}, with all numbers cut"
            )
        if self.censored:
            # To leave such rows out would pick rows by their values.
            cut = either("Recipe(cut={...})", "--cut")
            return f"cut the columns with censored cells at their limits ({cut}), for a score for levels"
        drop = f"drop the incomplete rows ({setting('missing', 'drop')})"
        return drop if self.latent else f"{drop}, or give gaps a level of their own ({setting('missing', 'level')})"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}" if count else ""


def written_out(table: Table) -> Table:
    """The table in which every row with gaps stands for one observation; rows that stand for none are left out.

    >>> from dagpost.data import as_table
    >>> rows = np.array([["a", "x"], ["b", None], ["b", "y"]], dtype=object)
    >>> done = written_out(as_table(rows, counts=[4, 2, 3]))
    >>> done.weights.tolist(), done.gaps[1].tolist()
    ([4, 1, 1, 3], [False, True, True, False])
    """
    return written_out_like(table, table)


def written_out_like(table: Table, other: Table) -> Table:
    """A table whose rows are written out as those of another one, with the same rows and gaps of its own."""
    if other.gaps is None or other.counts is None:
        return table
    incomplete = other.gaps.any(axis=0)
    times = np.where(incomplete, other.counts, np.minimum(other.counts, 1))
    _require_memory(table, size_written_out(other)[0])
    # Of a complete row there is at most one, with the count that it had.
    counts = np.repeat(np.where(incomplete, 1, other.counts), times)
    result = table.of_rows(np.repeat(np.arange(table.rows), times))
    return replace(result, counts=None if (counts == 1).all() else counts)


def size_written_out(table: Table) -> tuple[int, int]:
    """How many rows the table has once it is written out, and how many of its cells have no value."""
    if table.gaps is None or table.counts is None:
        return table.rows, table.gap_count
    incomplete = table.gaps.any(axis=0)
    rows = int(np.where(incomplete, table.counts, np.minimum(table.counts, 1)).sum())
    return rows, int(table.gaps.sum(axis=0) @ table.counts)


def _require_memory(table: Table, rows: int) -> None:
    # Gaps take a byte a cell, places and counts 8 bytes a row each, and masks as many.
    row = sum(column.itemsize + 1 for column in table.columns) + 24
    row += sum(numbers.itemsize for numbers in table.numbers if numbers is not None)
    require(
        rows * row,
        f"A table of {rows:,} rows, each row with gaps written out as often as it counts,",
        f"Drop the incomplete rows ({setting('missing', 'drop')}), or give gaps a level of their own "
        f"({setting('missing', 'level')}).",
    )
