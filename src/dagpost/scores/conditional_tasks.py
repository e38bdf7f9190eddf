"""Which sets of columns of levels, and of numbers, does one task see to? The plan of conditional_runs.py.

The sets of columns of levels come depth first (row_groups.py), in tasks of about the same work. A set that takes more
than a share by itself is a task for each part of the sets of columns of numbers (`tasks_of`, set_functions.py).
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import kernel
from dagpost.scores.row_groups import LevelColumns, next_columns, ordinary_columns
from dagpost.scores.set_functions import tasks_of

#: Tasks that the work is shared out in, about.
SHARES = 128
#: Nanoseconds that the parts of the work take: a row, and a product of two columns in it; a set of columns of numbers
#: in a group of rows, and writing its sum.
_A_ROW, _A_PRODUCT, _A_DETERMINANT, _A_SUM = 6.0, 0.4, 25.0, 15.0


class Tasks(NamedTuple):
    """Sets of columns of levels that are seen to one after the other: the first one, and how many.

    `first` has the rising positions of the first set, and -1 in the places that are left. Of the sets of columns of
    numbers, those are walked whose top is `top`, with the second from `second` down to `last`; all, if `top` is -1.
    """

    first: Integers
    steps: Integers
    top: Integers
    second: Integers
    last: Integers


def tasks_for(
    columns: LevelColumns, numbers: int, lowest: int, apart: bool, arities: tuple[int, ...], max_parents: int
) -> Tasks:
    """The tasks for all sets of at most `max_parents + 1` columns, `numbers` of which hold numbers.

    Those from `lowest` on are scored; `apart`: they are never parents of each other.
    """
    own = np.array([arities[node] for node in columns.nodes], dtype=np.float64)
    sets = np.array([_sets_of_numbers(numbers, lowest, apart, most) for most in range(max_parents + 2)])
    pairs = np.array([numbers * (numbers + 1) / 2 if most > 1 else numbers for most in range(max_parents + 2)])
    nothing = np.empty((0, max_parents + 1), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    work = own, sets, pairs.astype(np.float64), max_parents
    total, _ = _share_out(columns, *work, np.inf, *nothing)
    _, count = _share_out(columns, *work, total / SHARES, *nothing)
    first, counts = np.full((count, max_parents + 1), -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    large = np.zeros(count, dtype=np.bool_)
    _share_out(columns, *work, total / SHARES, first, counts, large)
    parts: list[tuple[int, tuple[int, int, int]]] = []
    for number in range(count):
        own_parts = [(-1, 0, 0)]
        if large[number]:
            size = int((first[number] >= 0).sum())
            ordinary = int((~columns.exclusive[first[number, :size]]).sum())
            most = min(max_parents + 1 - size, int(columns.limits[0]) + 1 - ordinary)
            own_parts = tasks_of(numbers, most, lowest, apart)
        parts += [(number, part) for part in own_parts]
    chosen = np.array([number for number, _ in parts], dtype=np.int64)
    top, second, last = np.array([part for _, part in parts], dtype=np.int64).reshape(-1, 3).T.copy()
    return Tasks(np.ascontiguousarray(first[chosen]), counts[chosen], top, second, last)


def _sets_of_numbers(numbers: int, lowest: int, apart: bool, most: int) -> float:
    """How many sets of at most `most` columns of numbers a walk lists."""
    total = 0
    for top in range(numbers):
        below, sizes = (min(top, lowest) if apart else top), most if top >= lowest else most - 1
        total += sum(comb(below, size) for size in range(sizes))
    return float(total)


@kernel
def _share_out(
    columns: LevelColumns,
    arities: Floats,
    sets: Floats,
    pairs: Floats,
    max_parents: int,
    share: float,
    first: Integers,
    counts: Integers,
    large: Flags,
) -> tuple[float, int]:
    """Walk all sets of columns of levels and begin a task where one has its share; the work in all, and how many tasks.

    `first`, `counts` and `large`, for tasks of a single set with more than a share, are written where there is room.
    """
    rows = float(columns.codes.shape[1])
    path = np.full(max_parents + 1, -1, dtype=np.int64)
    total, spent = 0.0, np.inf
    tasks = 0
    size = 0
    while size >= 0:
        groups = 1.0
        for place in range(size):
            groups = min(groups * arities[path[place]], rows)
        deepest = min(max_parents + 1 - size, columns.limits[0] + 1 - ordinary_columns(path, size, columns))
        work = rows * (_A_ROW + _A_PRODUCT * pairs[deepest]) + sets[deepest] * (groups * _A_DETERMINANT + _A_SUM)
        total += work
        too_large = work > share and deepest > 1
        if spent + work > share or too_large:
            if len(counts) > 0:
                for place in range(size):
                    first[tasks, place] = path[place]
                large[tasks] = too_large
            tasks += 1
            spent = 0.0
        if len(counts) > 0:
            counts[tasks - 1] += 1
        spent = np.inf if too_large else spent + work
        size = next_columns(path, size, max_parents, columns)
    return total, tasks
