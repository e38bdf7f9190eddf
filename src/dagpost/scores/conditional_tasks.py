"""Which sets of columns of levels, and of numbers, does one task see to? The plan of conditional_runs.py.

The sets of columns of levels come depth first (row_groups.py), in tasks of about the same work. Where a single set has
a large share of the work, and most of it in the sets of columns of numbers that go with it, these are shared out as
well, in parts (`tasks_of`, set_functions.py); each task then looks at the rows by itself.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import kernel
from dagpost.scores.row_groups import LevelColumns, next_columns, ordinary_columns
from dagpost.scores.set_functions import Task, tasks_of

#: Tasks that the work is shared out in, about; and nanoseconds below which one is not worth handing out.
SHARES, LEAST = 128, 2e5
#: How much more than looking at the rows the sets of numbers of a task take at least, where they are shared out.
_WORTH_IT = 4.0
#: Nanoseconds that the parts of the work take: a row, and a product of two columns in it; a set of columns of numbers
#: in a group of rows, and writing its sum.
_A_ROW, _A_PRODUCT, _A_DETERMINANT, _A_SUM = 6.0, 0.4, 25.0, 15.0


class Tasks(NamedTuple):
    """Sets of columns of levels that are seen to one after the other: the first one, and how many.

    `first` has the rising positions of the first set, and -1 in the places that are left. The sets of columns of
    numbers that go with it are those of the `parts` from `begin` to before `end`: a top position, with the second from
    one position down to another. If there are none, they are all sets.
    """

    first: Integers
    steps: Integers
    begin: Integers
    end: Integers
    parts: Integers


class _Plan(NamedTuple):
    """The first set of columns of levels of each task, how many there are, and among how many tasks they are shared."""

    first: Integers
    steps: Integers
    shares: Integers


def tasks_for(
    columns: LevelColumns, numbers: int, lowest: int, apart: bool, arities: tuple[int, ...], max_parents: int
) -> Tasks:
    """The tasks for all sets of at most `max_parents + 1` columns, `numbers` of which hold numbers.

    Those from `lowest` on are scored; `apart`: they are never parents of each other.
    """
    own = np.array([arities[node] for node in columns.nodes], dtype=np.float64)
    sets = np.array([_sets_of_numbers(numbers, lowest, apart, most) for most in range(max_parents + 2)])
    pairs = np.array([numbers * (numbers + 1) / 2 if most > 1 else numbers for most in range(max_parents + 2)])
    work = own, sets, pairs.astype(np.float64), max_parents
    room = _Plan(*(np.empty((0, max_parents + 1), np.int64), np.empty(0, np.int64), np.empty(0, np.int64)))
    total, _ = _share_out(columns, *work, np.inf, room)
    share = max(total / SHARES, LEAST)
    _, count = _share_out(columns, *work, share, room)
    plan = _Plan(np.full((count, max_parents + 1), -1, np.int64), np.zeros(count, np.int64), np.ones(count, np.int64))
    _share_out(columns, *work, share, plan)
    chosen, begin, end = [], [], []
    parts: list[Task] = []
    for number, shares in enumerate(plan.shares.tolist()):
        all_parts: list[Task] = []
        if shares > 1:
            size = int((plan.first[number] >= 0).sum())
            ordinary = int((~columns.exclusive[plan.first[number, :size]]).sum())
            most = min(max_parents + 1 - size, int(columns.limits[0]) + 1 - ordinary)
            all_parts = tasks_of(numbers, most, lowest, apart)
        for turn in range(shares):
            own_parts = all_parts[turn::shares]
            if own_parts or shares == 1:
                chosen.append(number)
                begin.append(len(parts))
                parts += own_parts
                end.append(len(parts))
    return Tasks(
        np.ascontiguousarray(plan.first[chosen]),
        plan.steps[chosen],
        np.array(begin, dtype=np.int64),
        np.array(end, dtype=np.int64),
        np.array(parts, dtype=np.int64).reshape(-1, 3),
    )


def seconds_of_sets(
    levels: int, numbers: int, lowest: int, apart: bool, arity: float, rows: int, max_parents: int
) -> float:
    """CPU seconds for all sets of so many columns of levels, `arity` each, and of numbers; for plans."""
    spent = 0.0
    for size in range(min(levels, max_parents) + 1):
        deepest = max_parents + 1 - size
        pairs = numbers * (numbers + 1) / 2 if deepest > 1 else numbers
        groups, sets = min(arity**size, float(rows)), _sets_of_numbers(numbers, lowest, apart, deepest)
        each = rows * (_A_ROW + _A_PRODUCT * pairs) + sets * (groups * _A_DETERMINANT + _A_SUM)
        spent += comb(levels, size) * each * 1e-9
    return spent


def _sets_of_numbers(numbers: int, lowest: int, apart: bool, most: int) -> float:
    """How many sets of at most `most` columns of numbers a walk lists."""
    total = 0
    for top in range(numbers):
        below, sizes = (min(top, lowest) if apart else top), most if top >= lowest else most - 1
        total += sum(comb(below, size) for size in range(sizes))
    return float(total)


@kernel
def _share_out(
    columns: LevelColumns, arities: Floats, sets: Floats, pairs: Floats, max_parents: int, share: float, plan: _Plan
) -> tuple[float, int]:
    """Walk all sets of columns of levels and begin a task where one has its share; the work in all, and how many tasks.

    The plan is written where it has room.
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
        before = rows * (_A_ROW + _A_PRODUCT * pairs[deepest])
        after = sets[deepest] * (groups * _A_DETERMINANT + _A_SUM)
        total += before + after
        shares = max(int(after / max(share, _WORTH_IT * before)), 1) if deepest > 1 and share < np.inf else 1
        if spent + before + after > share or shares > 1:
            if len(plan.steps) > 0:
                for place in range(size):
                    plan.first[tasks, place] = path[place]
                plan.shares[tasks] = shares
            tasks += 1
            spent = 0.0
        if len(plan.steps) > 0:
            plan.steps[tasks - 1] += 1
        spent = np.inf if shares > 1 else spent + before + after
        size = next_columns(path, size, max_parents, columns)
    return total, tasks
