"""The rows of a table in groups of equal levels, for one set of columns of levels after the other.

The sets are walked depth first: a set comes right before those that add a higher column to it. Each level of the walk
keeps the rows in the order of their groups, so that one more column splits every group by itself. A split takes a few
passes over the rows, however many levels a column has or combinations there could be; groups of one row stay as they
are. Memory: 8 bytes a row and level of the walk.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Counts, Flags, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.data.table import Table
from dagpost.scores.rows import check_countable

#: Bytes of all rooms for the groups of the same rows.
_ROOM_BYTES = 120 * 2**20


class LevelColumns(NamedTuple):
    """Columns of levels, a row each; `nodes` are their numbers in the table.

    Indicators of regimes are `exclusive`. A parent set has at most `limits` other columns, and indicators.
    """

    codes: Codes
    nodes: Integers
    exclusive: Flags
    limits: Integers


class RowGroups(NamedTuple):
    """Rows by group: at each level of the walk their `order`, and where each group begins, after the last one too.

    `found` counts the groups of each level. `seen` and `place`, one entry a level of a column, are left zero.
    """

    order: Counts
    begin: Counts
    found: Integers
    seen: Counts
    place: Counts


class GroupRooms:
    """Working memory for the groups of some rows, which threads take and give back.

    It is made when it is first needed. There is a limit to it: further threads wait their turn.
    """

    def __init__(self, table: Table, used: Flags, levels: int, workers: int) -> None:
        self._rows, self._levels, self._codes = np.flatnonzero(used), levels, max((1, *table.arities))
        self._free: queue.SimpleQueue[RowGroups | None] = queue.SimpleQueue()
        for _ in range(max(1, min(workers, _ROOM_BYTES // (8 * (len(self._rows) + 1) * (levels + 1))))):
            self._free.put(None)

    @contextmanager
    def room(self) -> Iterator[RowGroups]:
        """Room for sets of at most `levels` columns; at first all rows are one group, none if there are none."""
        room = self._free.get()
        try:
            if room is None:
                room = self._new_room()
            yield room
        finally:
            self._free.put(room)

    def _new_room(self) -> RowGroups:
        rows, depth = len(self._rows), self._levels + 1
        order, begin = np.empty((depth, rows), dtype=np.uint32), np.zeros((depth, rows + 1), dtype=np.uint32)
        order[0], begin[0, 1:2] = self._rows, rows
        seen, place = (np.zeros(self._codes, dtype=np.uint32) for _ in range(2))
        return RowGroups(order, begin, np.full(depth, min(rows, 1), dtype=np.int64), seen, place)


def level_columns(table: Table, columns: list[int]) -> LevelColumns:
    """Some columns of levels of a table; one with more levels than are counted is an error."""
    check_countable(tuple(table.names[own] for own in columns), tuple(table.arities[own] for own in columns), 0)
    codes = np.empty((len(columns), table.rows), dtype=np.uint16)
    for place, column in enumerate(columns):
        codes[place] = table.columns[column]
    most = len(table.names)
    return LevelColumns(
        codes,
        np.array(columns, dtype=np.int64),
        table.exclusive[columns],
        np.array((most, most) if table.limits is None else table.limits, dtype=np.int64),
    )


@inline_no_refcount
def split_groups(level: int, column: Codes, groups: RowGroups) -> None:
    """The groups of the next level: those of this one, each split by the codes of a column, in the order they occur."""
    order, begin, seen, place = groups.order[level], groups.begin[level], groups.seen, groups.place
    new_order, new_begin = groups.order[level + 1], groups.begin[level + 1]
    found = 0
    for group in range(groups.found[level]):
        first, end = begin[group], begin[group + 1]
        if end - first == 1:
            new_order[first] = order[first]
            new_begin[found] = first
            found += 1
            continue
        for row in range(first, end):
            seen[column[order[row]]] += np.uint32(1)
        position = first
        for row in range(first, end):
            code = column[order[row]]
            if seen[code] > 0:
                new_begin[found] = position
                place[code] = position
                position += seen[code]
                seen[code] = 0
                found += 1
            new_order[place[code]] = order[row]
            place[code] += np.uint32(1)
    new_begin[found] = begin[groups.found[level]]
    groups.found[level + 1] = found


@inline_no_refcount
def next_columns(path: Integers, size: int, most: int, columns: LevelColumns) -> int:
    """The size of the next set of at most `most` columns of interest, whose rising positions go to `path`; -1: none.

    What the sets have in common stays in its place.
    """
    universe = columns.codes.shape[0]
    position = 0 if size == 0 else path[size - 1] + 1
    while True:
        ordinary = 0
        for place in range(size):
            ordinary += 0 if columns.exclusive[path[place]] else 1
        while size < most and position < universe:
            one = columns.exclusive[position]
            if (size - ordinary < columns.limits[1]) if one else (ordinary < columns.limits[0]):
                path[size] = position
                return size + 1
            position += 1
        if size == 0:
            return -1
        size -= 1
        position = path[size] + 1


@inline_no_refcount
def ordinary_columns(path: Integers, size: int, columns: LevelColumns) -> int:
    """How many columns of a set are not indicators."""
    ordinary = 0
    for place in range(size):
        ordinary += 0 if columns.exclusive[path[place]] else 1
    return ordinary
