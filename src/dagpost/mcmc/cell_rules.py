"""What can fill the gaps of a table: codes of levels, numbers, or numbers in the order of ranks and within bounds.

Chains ask it of cells that come from a file, and before they make room for those that they keep. Latent numbers are
kept with seven digits, and fewer tables of them: of each there are about as many as the user's table has cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Integers
from dagpost.data.encoding import code_type
from dagpost.data.table import Table

#: The completed tables that a chain keeps take no more than this in a round; and those of latent numbers.
_BYTES_A_ROUND, _LATENT_BYTES_A_ROUND = 2**20, 2**18


class CellRules:
    """How many gaps a table has, the type that they are kept in, and what can fill them.

    `count`: how many there are once the table is written out, where it is not yet.
    """

    def __init__(self, table: Table, count: int | None = None) -> None:
        self._table, self.count = table, table.gap_count if count is None else count
        numbers = np.float32 if table.ranks else np.float64
        self.kept_as: Any = code_type(max(table.arities)) if table.discrete else numbers

    @property
    def size(self) -> int:
        """Bytes of what is kept of one completed table."""
        return max(self.count * np.dtype(self.kept_as).itemsize, 1)

    def kept_every(self, sweeps: int) -> int:
        """Of a round of sweeps, whether every table is kept, every second, every fifth, or the first."""
        most = _LATENT_BYTES_A_ROUND if self._table.ranks else _BYTES_A_ROUND
        return next((every for every in (1, 2, 5, sweeps) if sweeps // every * self.size <= most), sweeps)

    def hold(self, cells: NDArray[Any]) -> bool:
        """Whether these, or each row of them, can fill the gaps; as `Table.filled` takes them.

        >>> from dataclasses import replace
        >>> from dagpost.data import as_table
        >>> table, gaps = as_table(np.array([[1.5, 2], [2.5, 7.5]])), np.array([[True, True], [False, False]])
        >>> rules = CellRules(replace(table, gaps=gaps, ranks=(np.array([1, 0]), None)))
        >>> rules.hold(np.array([0.5, 0.25])), rules.hold(np.array([0.25, 0.5]))
        (True, False)
        """
        if cells.shape[-1:] != (self.count,) or (cells.dtype.kind == "f" and not np.isfinite(cells).all()):
            return False
        gaps = np.zeros((1, 0), dtype=np.bool_) if self._table.gaps is None else self._table.gaps
        places = np.cumsum([0, *gaps.sum(axis=1)])
        return all(
            self._holds_in_column(column, gaps[column], cells[..., places[column] : places[column + 1]])
            for column in np.flatnonzero(np.diff(places)).tolist()
        )

    def _holds_in_column(self, column: int, gaps: Flags, cells: NDArray[Any]) -> bool:
        table, levels = self._table, self._table.arities[column]
        if levels:
            return bool(((cells >= 0) & (cells < levels) & (cells == np.floor(cells))).all())
        bounds, ranks = table.bounds[column] if table.bounds else None, table.ranks[column] if table.ranks else None
        if bounds is not None:
            # Rounding keeps the order, so rounded cells lie between rounded bounds.
            low, high = bounds[gaps].astype(cells.dtype).T
            if not ((cells >= low) & (cells <= high)).all():
                return False
        return ranks is None or _in_order(cells, ranks[gaps])


def _in_order(cells: NDArray[Any], ranks: NDArray[Any]) -> bool:
    """Whether no cell is above one of a higher rank; -1 is no rank."""
    order: Integers = np.argsort(ranks, kind="stable")
    order = order[np.searchsorted(ranks[order], 0) :]
    if not len(order):
        return True
    starts = np.flatnonzero(np.diff(ranks[order], prepend=-1))
    own = cells[..., order]
    lowest, highest = np.minimum.reduceat(own, starts, axis=-1), np.maximum.reduceat(own, starts, axis=-1)
    return bool((highest[..., :-1] <= lowest[..., 1:]).all())
