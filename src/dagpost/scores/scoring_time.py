"""How long will it take to score the families that rules allow? For plans; measured, not derived.

A set of columns takes some time for itself, for the cells whose terms are added up, and for the observations: by bits
or row by row, whichever is quicker (bitmaps.py). It serves all of its nodes that are wanted, so that a table without
rules has fewer sets than families, and one node with many candidates nearly twice as many.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost.data.table import Table
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import ParentLists
from dagpost.scores.additive import Additive
from dagpost.scores.allowed_scores import Group, groups_of
from dagpost.scores.base import Score

#: CPU seconds that a set takes for itself, by the kind of columns.
_OF_LEVELS, _OF_NUMBERS = 130e-9, 85e-9
#: CPU seconds for each cell of a set, each word of bits of each configuration of its other columns, and each row.
_A_CELL, _A_WORD, _A_ROW = 4e-9, 0.5e-9, 0.8e-9
#: CPU seconds that a row of both kinds of columns takes, and a product of two numbers in it; a set of columns of
#: numbers in a group of rows, and writing its sum.
_A_MIXED_ROW, _A_PRODUCT, _A_DETERMINANT, _A_SUM = 20e-9, 0.4e-9, 25e-9, 15e-9
#: CPU seconds for a family, whose score is written once and changed once; before the first family of a group; and for
#: each value of its columns.
_A_FAMILY, _A_GROUP, _A_VALUE = 6e-9, 9e-3, 40e-9
#: CPU seconds of a regression of the additive score, on a set of parents with some of their curves.
_A_REGRESSION = 1.2e-6
#: CPU seconds before the first family of a table that is scored again, and for each of its numbers.
_AGAIN, _VALUE_AGAIN = 0.3e-3, 20e-9


def seconds_of_scoring(
    lists: ParentLists,
    rows: int,
    score: Score,
    workers: int,
    *,
    levels: float = 2.0,
    modelled: Flags | None = None,
    numbers: Flags | None = None,
) -> float:
    """Seconds that `score_allowed` takes on `workers` free cores; within a factor of two where it was measured.

    `levels` is the typical number of levels of a column; `numbers` says which columns have none, where a score takes
    both kinds.

    >>> from dagpost.families.parent_lists import all_others
    >>> from dagpost.scores import BDeu
    >>> 0.01 < seconds_of_scoring(all_others(40, 3), 1000, BDeu(), 1) < 1.0
    True
    """
    scored = np.ones(lists.nodes, dtype=np.bool_) if modelled is None else modelled
    groups = groups_of(lists, scored)
    before = sum(_A_GROUP + _A_VALUE * rows * len(group.columns) for group in groups)
    spent = (_seconds_of_group(group, lists.max_parents, rows, score, levels, numbers) for group in groups)
    return (before + sum(spent)) / workers


def _seconds_of_group(
    group: Group, max_parents: int, rows: int, score: Score, levels: float, numbers: Flags | None
) -> float:
    limit = min(max_parents, group.candidates)
    spent = len(group.wanted) * family_count(group.candidates, limit) * _A_FAMILY
    if isinstance(score, Additive):
        return spent + regressions_of_group(group, limit) * _A_REGRESSION
    if score.columns == "mixed" and numbers is not None:
        return spent + _seconds_of_both(group, limit, rows, levels, numbers)
    return spent + _sets(group, limit) * _seconds_a_set(limit + 1, rows, score, levels)


def regressions_of_group(group: Group, max_parents: int) -> int:
    """How many regressions the additive score makes for a group; columns that stand apart are scored one by one."""
    among = regressions_among(group.candidates + 1, max_parents)
    return len(group.wanted) * among if group.apart else among


def regressions_among(columns: int, max_parents: int) -> int:
    """How many regressions it makes for so many columns: on every set of parents, the curve of each there or not.

    >>> regressions_among(3, 2)
    19
    """
    return sum(math.comb(columns, size) << size for size in range(max_parents + 1))


def _seconds_of_both(group: Group, limit: int, rows: int, levels: float, numbers: Flags) -> float:
    """The time of the sets of a group with columns of levels and of numbers."""
    own = numbers[list(group.columns)]
    wanted = own[list(group.wanted)]
    spent = 0.0
    if not wanted.all():
        # Columns of levels are scored among themselves.
        columns = [column for column, number in zip(group.columns, own, strict=True) if not number]
        scored = tuple(place for place, column in enumerate(columns) if column in group.nodes)
        of_levels = Group(tuple(columns), scored, group.apart)
        size = min(limit, of_levels.candidates)
        spent += _sets(of_levels, size) * _seconds_of_counting(size + 1, rows, levels)
    if wanted.any():
        scored_levels = int((~wanted).sum()) if group.apart else 0
        of_levels_left, scored_numbers = int((~own).sum()) - scored_levels, int(wanted.sum())
        count = int(own.sum())
        of_numbers = Group(tuple(range(count)), tuple(range(count - scored_numbers, count)), group.apart)
        for size in range(min(of_levels_left, limit) + 1):
            pairs = count * (count + 1) / 2 if size < limit else count
            groups, sets = min(levels**size, float(rows)), _sets(of_numbers, limit - size)
            each = rows * (_A_MIXED_ROW + _A_PRODUCT * pairs) + sets * (groups * _A_DETERMINANT + _A_SUM)
            spent += math.comb(of_levels_left, size) * each
    return spent


def _sets(group: Group, limit: int) -> int:
    """How many sets a walk visits: all parent sets, and the larger ones with a node that is wanted."""
    if group.apart:
        return (1 + len(group.wanted)) * family_count(group.candidates, limit)
    others = len(group.columns) - len(group.wanted)
    return family_count(len(group.columns), limit + 1) - math.comb(others, limit + 1)


def _seconds_a_set(size: int, rows: int, score: Score, levels: float) -> float:
    """The time of a set of the largest size, which nearly all of them have."""
    if score.columns in ("continuous", "ordered"):
        return _OF_NUMBERS
    return _seconds_of_counting(size, rows, levels)


def _seconds_of_counting(size: int, rows: int, levels: float) -> float:
    configurations = min(levels ** (size - 1), float(rows))
    by_bits = configurations * max(levels - 1.0, 1.0) * math.ceil(rows / 64) * _A_WORD
    return _OF_LEVELS + min(configurations * levels, float(rows)) * _A_CELL + min(by_bits, rows * _A_ROW)


def seconds_of_rescoring(table: Table, max_parents: int, score: Score, *, levels: float = 2.0) -> float:
    """CPU seconds that a `Score.rescorer` takes for all families of a table with gaps, given their cells.

    >>> from dataclasses import replace
    >>> from dagpost.data import as_table
    >>> from dagpost.scores import BDeu
    >>> table = as_table(np.arange(2000).reshape(200, 10) % 3 % 2)
    >>> seconds_of_rescoring(replace(table, gaps=np.arange(2000).reshape(10, 200) % 9 == 0), 5, BDeu()) < 2e-3
    True
    """
    if table.gaps is None:
        return 0.0
    everyone = tuple(range(len(table.names)))
    numbers = np.array([own is None for own in table.levels])
    values = int(numbers.sum()) * table.rows
    group = Group(everyone, everyone, apart=False)
    return _AGAIN + _VALUE_AGAIN * values + _seconds_of_group(group, max_parents, table.rows, score, levels, numbers)
