"""How long will it take to score the families that rules allow? For plans; measured, not derived.

A set of columns takes some time for itself, for the cells whose terms are added up, and for the observations: by bits
or row by row, whichever is quicker (bitmaps.py). It serves all of its nodes that are wanted, so that a table without
rules has fewer sets than families, and one node with many candidates nearly twice as many.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import ParentLists
from dagpost.scores.allowed_scores import Group, groups_of
from dagpost.scores.base import Score

#: CPU seconds that a set takes for itself, by the kind of columns.
_OF_LEVELS, _OF_NUMBERS = 130e-9, 85e-9
#: CPU seconds for each cell of a set, each word of bits of each configuration of its other columns, and each row.
_A_CELL, _A_WORD, _A_ROW = 4e-9, 0.5e-9, 0.8e-9
#: CPU seconds for a family, whose score is written once and changed once; before the first family of a group; and for
#: each value of its columns.
_A_FAMILY, _A_GROUP, _A_VALUE = 6e-9, 9e-3, 40e-9


def seconds_of_scoring(
    lists: ParentLists, rows: int, score: Score, workers: int, *, levels: float = 2.0, modelled: Flags | None = None
) -> float:
    """Seconds that `score_allowed` takes on `workers` free cores; within a factor of two where it was measured.

    `levels` is the typical number of levels of a column.

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
        spent += _sets(group, limit) * _seconds_a_set(limit + 1, rows, score, levels)
        spent += len(group.wanted) * family_count(group.candidates, limit) * _A_FAMILY
    return spent / workers


def _sets(group: Group, limit: int) -> int:
    """How many sets a walk visits: all parent sets, and the larger ones with a node that is wanted."""
    if group.apart:
        return (1 + len(group.wanted)) * family_count(group.candidates, limit)
    others = len(group.columns) - len(group.wanted)
    return family_count(len(group.columns), limit + 1) - math.comb(others, limit + 1)


def _seconds_a_set(size: int, rows: int, score: Score, levels: float) -> float:
    """The time of a set of the largest size, which nearly all of them have."""
    if score.columns == "continuous":
        return _OF_NUMBERS
    configurations = min(levels ** (size - 1), float(rows))
    by_bits = configurations * max(levels - 1.0, 1.0) * math.ceil(rows / 64) * _A_WORD
    return _OF_LEVELS + min(configurations * levels, float(rows)) * _A_CELL + min(by_bits, rows * _A_ROW)
