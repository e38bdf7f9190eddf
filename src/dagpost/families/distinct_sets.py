"""The sets of columns behind listed families: each once, those that begin alike one after the other.

The score of a family is `A(P + i) - B_i(P)`, a difference of two functions of sets of columns
(scores/set_functions.py). In lists of families the same set occurs again and again: behind each of its columns with the
others for parents, and as parents of whoever has them. Here each set is listed once, in the order of a walk that goes
down from a set to those that add columns to it, and each family says which two it takes. Columns that are in many sets
come first: sets then have more in common with those before them. Some columns may come before all others.

Sets are of a *run*, the nodes that are scored from the same rows, and of a *kind*: 0 for `A`, 1 and above for `B`;
where `B` is `A` there is only the one kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Integers
from dagpost.families.considered_sets import Members

#: So many columns, each with 11 bits, stand in a word.
_IN_WORD, _BITS = 5, 11


class DistinctSets(NamedTuple):
    """Sets as rows of columns, the number of columns in the places that are left; `size`, run and kind of each.

    Family `k` takes the set `plus[k]` for `A` and `minus[k]` for `B`.
    """

    members: Members
    size: Integers
    run: Integers
    kind: Integers
    plus: Integers
    minus: Integers


def distinct_sets(
    start: Integers, members: Members, run_of: Integers, kind_of: Integers, leading: Flags | None = None
) -> DistinctSets:
    """The sets behind lists of families, given the run of each node and the kind of its `B`.

    The `leading` columns come first in each set.

    >>> lists = np.array([[2], [1], [2], [0]], dtype=np.int16)
    >>> found = distinct_sets(np.array([0, 2, 4]), lists, np.zeros(2, int), np.zeros(2, int))
    >>> found.members.tolist(), found.plus.tolist(), found.minus.tolist()
    ([[2, 2], [0, 2], [0, 1], [1, 2]], [1, 2, 3, 2], [0, 3, 0, 1])
    """
    nodes, families, width = len(start) - 1, len(members), members.shape[1]
    node = np.repeat(np.arange(nodes), np.diff(start))
    both = np.full((2 * families, width + 1), nodes, dtype=np.int64)
    both[:families, :width], both[families:, :width] = members, members
    both[:families, width] = node
    run = np.tile(run_of[node], 2)
    kind = np.concatenate([np.zeros(families, dtype=np.int64), kind_of[node]])
    used = np.bincount(both.ravel(), minlength=nodes + 1)[:nodes]
    column_at = np.lexsort((-used, np.zeros(nodes, dtype=np.bool_) if leading is None else ~leading))
    rank = np.empty(nodes + 1, dtype=np.int64)
    rank[column_at], rank[nodes] = np.arange(nodes), nodes
    ranked = np.sort(rank[both], axis=1)
    words = _words(ranked, nodes)
    order = np.lexsort((kind, *words[::-1], run))
    fresh: Flags = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.any([own[order[1:]] != own[order[:-1]] for own in (run, kind, *words)], axis=0)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    chosen = order[fresh]
    columns = np.append(column_at, nodes).astype(np.int16)[ranked[chosen]]
    return DistinctSets(
        np.ascontiguousarray(columns),
        (ranked[chosen] < nodes).sum(axis=1),
        run[chosen],
        kind[chosen],
        number[:families],
        number[families:],
    )


def _words(ranked: Integers, nodes: int) -> list[Integers]:
    """Rows of columns as a few numbers that sort like them, a set before those that add columns to it."""
    digits = np.where(ranked < nodes, ranked + 1, 0)
    words = []
    for first in range(0, digits.shape[1], _IN_WORD):
        word = np.zeros(len(digits), dtype=np.int64)
        for place in range(first, first + _IN_WORD):
            word <<= _BITS
            if place < digits.shape[1]:
                word |= digits[:, place]
        words.append(word)
    return words
