"""How long will it take to score the families that rules allow? For plans; measured, not derived.

A set of columns takes some time for itself, for the cells whose terms are added up, and for the observations: by bits
or row by row, whichever is quicker (bitmaps.py). It serves all of its nodes that are wanted, so that a table without
rules has fewer sets than families, and one node with many candidates nearly twice as many. Scored again with other
cells in its gaps (rescoring.py), a table takes less: only incomplete rows are counted, and only sets with gaps.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost.data.table import Table
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import ParentLists, all_others
from dagpost.scores.allowed_scores import Group, groups_of
from dagpost.scores.base import Score
from dagpost.scores.conditional_tasks import seconds_of_sets

#: CPU seconds that a set takes for itself, by the kind of columns.
_OF_LEVELS, _OF_NUMBERS = 130e-9, 85e-9
#: CPU seconds for each cell of a set, each word of bits of each configuration of its other columns, and each row.
_A_CELL, _A_WORD, _A_ROW = 4e-9, 0.5e-9, 0.8e-9
#: CPU seconds for a family, whose score is written once and changed once; before the first family of a group; and for
#: each value of its columns.
_A_FAMILY, _A_GROUP, _A_VALUE = 6e-9, 9e-3, 40e-9
#: CPU seconds of a set that is scored again: for itself, each cell of its table, each word of each of its patterns, or,
#: where these are many, each row; and for each number of the table, which is standardised again.
_AGAIN, _CELL_AGAIN, _WORD_AGAIN, _ROW_AGAIN, _VALUE_AGAIN = 70e-9, 1.0e-9, 0.8e-9, 2.3e-9, 20e-9


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
    spent = sum(_A_GROUP + _A_VALUE * rows * len(group.columns) for group in groups)
    for group in groups:
        limit = min(lists.max_parents, group.candidates)
        spent += len(group.wanted) * family_count(group.candidates, limit) * _A_FAMILY
        if score.columns == "mixed" and numbers is not None:
            spent += _seconds_of_both(group, limit, rows, levels, numbers)
            continue
        spent += _sets(group, limit) * _seconds_a_set(limit + 1, rows, score, levels)
    return spent / workers


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
        count, of_levels_left = int(own.sum()), int((~own).sum()) - scored_levels
        lowest = count - int(wanted.sum())
        spent += seconds_of_sets(of_levels_left, count, lowest, group.apart, levels, rows, limit)
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
    >>> seconds_of_rescoring(replace(table, gaps=np.arange(2000).reshape(10, 200) % 9 == 0), 5, BDeu()) < 1e-3
    True
    """
    if table.gaps is None:
        return 0.0
    if score.columns == "mixed":
        numbers = np.array([own is None for own in table.levels])
        everyone = all_others(len(table.names), min(max_parents, len(table.names) - 1))
        return seconds_of_scoring(everyone, table.rows, score, 1, levels=levels, numbers=numbers)
    nodes, with_gaps, incomplete = (
        len(table.names),
        int(table.gaps.any(axis=1).sum()),
        int(table.gaps.any(axis=0).sum()),
    )
    spent = 0.0
    for size in range(1, min(max_parents + 1, nodes) + 1):
        each = _AGAIN
        if score.columns == "discrete":
            patterns = max(levels - 1.0, 1.0) ** size * math.ceil(incomplete / 64)
            each += min(levels**size * _CELL_AGAIN + patterns * _WORD_AGAIN, table.rows * _ROW_AGAIN)
        spent += (math.comb(nodes, size) - math.comb(nodes - with_gaps, size)) * each
    if score.columns != "discrete":
        spent += nodes * table.rows * _VALUE_AGAIN
    return spent
