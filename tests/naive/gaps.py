"""Tables with gaps, cell by cell: what a table shows, and rows written out one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from dagpost.data.table import Table


def cells(table: Table) -> list[tuple[Any, ...]]:
    """The rows of a table as tuples of levels and numbers, None for a gap."""
    rows = []
    for row in range(table.rows):
        found: list[Any] = []
        for place, (column, levels) in enumerate(zip(table.columns, table.levels, strict=True)):
            gap = table.gaps is not None and bool(table.gaps[place, row])
            found.append(None if gap else column[row] if levels is None else levels[column[row]])
        rows.append(tuple(found))
    return rows


def written_out(table: Table) -> list[tuple[tuple[Any, ...], int, int]]:
    """Each row with its count and what was set in it: rows with gaps as often as they count, others once."""
    masks = np.zeros(table.rows, dtype=int) if table.interventions is None else table.interventions.astype(int)
    found: list[tuple[tuple[Any, ...], int, int]] = []
    for row, count, mask in zip(cells(table), table.weights.tolist(), masks.tolist(), strict=True):
        found += [(row, 1, mask)] * count if None in row else [(row, count, mask)] * min(count, 1)
    return found
