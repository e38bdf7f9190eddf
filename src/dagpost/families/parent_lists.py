"""Where rules leave each node few parents to choose from: its parent sets are numbered over these alone.

A node's *candidates* are the columns that may be its parents, ascending. Its parent sets of at most `limit` members are
numbered over them as in numbering.py, position `p` standing for candidate `p`. So nothing is scored, weighed or stored
for a set that no graph can have, and there may be more columns than a word has bits: sets are lists of members here.
A node that is not modelled (an exogenous column) has no candidates, and the empty set for its only parent set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.families.numbering import family_count

#: The most columns that a table may have where rules keep the exact sums small.
MOST_COLUMNS = 1024
#: Members of parent sets, as positions among the candidates; -1 where a set has fewer.
Members = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class ParentLists:
    """Which columns may be parents of each node, and how many at once.

    >>> lists = ParentLists.of_matrix(np.array([[False, True, True], [True, False, False], [False, False, False]]), 2)
    >>> [own.tolist() for own in lists.candidates], lists.counts.tolist()
    ([[1, 2], [0], []], [4, 2, 1])
    >>> lists.number(0, [2]), lists.parents(0, 3)
    (2, (1, 2))
    """

    #: For each node the columns that may be its parents, ascending.
    candidates: tuple[Integers, ...]
    max_parents: int

    @classmethod
    def of_matrix(cls, allowed: Flags, max_parents: int) -> ParentLists:
        """The lists of a square matrix that says of (child, parent) whether that edge is allowed."""
        rows = (np.flatnonzero(row).astype(np.int64) for row in allowed)
        return cls(tuple(rows), max_parents)

    @property
    def nodes(self) -> int:
        """Number of columns, those that are not modelled included."""
        return len(self.candidates)

    def limit(self, node: int) -> int:
        """The most parents of a node."""
        return min(self.max_parents, len(self.candidates[node]))

    @property
    def counts(self) -> Integers:
        """How many parent sets each node has."""
        return np.array([family_count(len(own), self.max_parents) for own in self.candidates], dtype=np.int64)

    @property
    def matrix(self) -> Flags:
        """Of every (child, parent), whether that edge is allowed."""
        result = np.zeros((self.nodes, self.nodes), dtype=np.bool_)
        for node, own in enumerate(self.candidates):
            result[node, own] = True
        return result

    def members(self, node: int) -> Members:
        """All parent sets of a node in their numbering, a row each, as positions among its candidates."""
        return members_of_sets(len(self.candidates[node]), self.limit(node))

    def number(self, node: int, parents: Iterable[int]) -> int:
        """The number of the parent set with these columns; -1 if the node cannot have it."""
        own = self.candidates[node]
        chosen = np.unique(np.array(list(parents), dtype=np.int64))
        places = np.searchsorted(own, chosen)
        inside = len(chosen) <= self.max_parents and bool((places < len(own)).all())
        if not inside or not np.array_equal(own[places], chosen):
            return -1
        smaller = sum(comb(len(own), size) for size in range(len(chosen)))
        return smaller + sum(comb(place, rank + 1) for rank, place in enumerate(places.tolist()))

    def parents(self, node: int, number: int) -> tuple[int, ...]:
        """The columns of the parent set that has this number."""
        own, left = self.candidates[node], number
        size = 0
        while left >= comb(len(own), size):
            left -= comb(len(own), size)
            size += 1
        places: list[int] = []
        for rank in range(size, 0, -1):
            place = rank - 1
            while comb(place + 1, rank) <= left:
                place += 1
            left -= comb(place, rank)
            places.append(place)
        return tuple(int(own[place]) for place in sorted(places))

    def masks(self, node: int, bits: Masks) -> Masks:
        """All parent sets of a node as masks, in which column `j` has the bit `bits[j]`; several may share one.

        >>> lists = ParentLists.of_matrix(~np.eye(3, dtype=bool), 2)
        >>> lists.masks(1, np.array([1, 2, 4], dtype=np.uint64)).tolist()
        [0, 1, 4, 5]
        """
        result = np.zeros(family_count(len(self.candidates[node]), self.max_parents), dtype=np.uint64)
        _fill_masks(self.members(node), bits[self.candidates[node]], result)
        return result


def all_others(nodes: int, max_parents: int) -> ParentLists:
    """The lists without any rule: everyone else may be a parent, and sets have the numbers of numbering.py."""
    return ParentLists.of_matrix(~np.eye(nodes, dtype=np.bool_), max_parents)


def words_of(columns: int) -> int:
    """How many words of 64 bits hold a set of columns."""
    return max(1, -(-columns // 64))


def columns_of(mask: Sequence[int] | NDArray[np.unsignedinteger]) -> tuple[int, ...]:
    """The columns of a set that is given as words.

    >>> columns_of([2, 1])
    (1, 64)
    """
    whole = sum(int(word) << 64 * place for place, word in enumerate(mask))
    return tuple(bit for bit in range(whole.bit_length()) if whole >> bit & 1)


@lru_cache(maxsize=4)
def members_of_sets(universe: int, limit: int) -> Members:
    """The sets of at most `limit` out of `universe` positions in their numbering, read-only, a row each.

    A row is ascending, with -1 in the places that are left.

    >>> members_of_sets(3, 2).tolist()
    [[-1, -1], [0, -1], [1, -1], [2, -1], [0, 1], [0, 2], [1, 2]]
    """
    limit = min(limit, universe)
    result = np.full((family_count(universe, limit), limit), -1, dtype=np.int16)
    before, end = 0, 1
    for size in range(1, limit + 1):
        first = end
        for highest in range(size - 1, universe):
            # Sets among the positions below it, of one member less, come first of their size.
            begin, end = end, end + comb(highest, size - 1)
            result[begin:end, : size - 1] = result[before : before + end - begin, : size - 1]
            result[begin:end, size - 1] = highest
        before = first
    result.flags.writeable = False
    return result


@kernel
def _fill_masks(members: Members, bits: Masks, result: Masks) -> None:
    for number in range(len(members)):
        for place in range(members.shape[1]):
            member = members[number, place]
            if member < 0:
                break
            result[number] |= bits[member]
