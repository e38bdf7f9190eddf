"""Rows with gaps written out: each observation with a gap has a value of its own there, which is not known.

Two people with the same answers and the same question left open would not have answered it alike. Rows without gaps
keep their counts. Time and memory are linear in the cells of the result, and memory is checked before it is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagpost._tools.memory import require
from dagpost._tools.spelling import setting
from dagpost.data.table import Table


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
