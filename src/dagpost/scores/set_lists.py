"""All sets of columns that a score needs, listed once, so that scoring them again and again is one loop.

The sets come depth first, largest position first and then rising, so that every subset of a set comes before it: what a
set is made from is there when its turn comes. Sets of columns without gaps, which have the low positions, come before
all others: they are scored once. For each member of a set the list knows the number of the set without it, and where
the score of the member, with the others for its parents, belongs. Memory: 16 bytes a family.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.numbering import binomials, family_count, size_offsets


class SetList(NamedTuple):
    """The sets after the empty one, in their order.

    `last` is the lowest position of a set: the others are those of the set of one less that came before. `number` is
    that of the set over all positions. From `start` on, a member each from the highest position down: `without` has the
    number of the other members, `place` the entry of the flat result, or -1 where the member is not scored.
    """

    size: Integers
    last: Integers
    number: Integers
    start: Integers
    without: Integers
    place: Integers
    #: How many of the members are indicators of which at most one is 1 in a row.
    indicators: Integers
    max_size: int


class _Listing(NamedTuple):
    """What the sets are picked by and numbered with."""

    order: Integers
    wanted: Flags
    exclusive: Flags
    limits: Integers
    binomial: Integers
    set_offset: Integers
    parent_offset: Integers
    families: int


def list_sets(
    order: list[int],
    max_parents: int,
    wanted: tuple[int, ...],
    exclusive: Flags | None = None,
    limits: tuple[int, int] | None = None,
) -> SetList:
    """The sets of at most `max_parents + 1` columns that the scores of the `wanted` ones need; `order` by position."""
    nodes, offsets = len(order), size_offsets(max_parents)
    listing = _Listing(
        order=np.array(order, dtype=np.int64),
        wanted=np.isin(np.array(order), np.array(wanted)),
        exclusive=np.zeros(nodes, dtype=np.bool_) if exclusive is None else exclusive[order],
        # One more than parents: the column whose parents they are.
        limits=np.array([nodes, nodes] if limits is None else [limits[0] + 1, limits[1]], dtype=np.int64),
        binomial=binomials(max_parents),
        set_offset=offsets[nodes],
        parent_offset=offsets[nodes - 1],
        families=family_count(nodes - 1, max_parents),
    )
    none, levels = np.empty(0, dtype=np.int64), max_parents + 1
    sets, members = _fill_list(listing, SetList(none, none, none, none, none, none, none, levels), False)
    size, last, number, start, indicators = (np.empty(sets, dtype=np.int64) for _ in range(5))
    without, place = (np.empty(members, dtype=np.int64) for _ in range(2))
    found = SetList(size, last, number, start, without, place, indicators, levels)
    _fill_list(listing, found, True)
    return found


def first_with(position: int, sets: SetList) -> int:
    """The first set with this position, or a higher one, on top."""
    found = np.flatnonzero((sets.size == 1) & (sets.last >= position))
    return int(found[0]) if len(found) else len(sets.size)


@kernel
def _fill_list(listing: _Listing, sets: SetList, write: bool) -> tuple[int, int]:
    """Walk all sets, and write them if asked to; how many sets and members there are."""
    nodes, max_size = listing.order.size, sets.max_size
    path = np.zeros(max_size + 1, dtype=np.int64)
    ordinary = np.zeros(max_size + 1, dtype=np.int64)
    has_wanted = np.zeros(max_size + 1, dtype=np.bool_)
    size = 1
    count = 0
    members = 0
    while size > 0:
        position = path[size]
        if position >= (nodes if size == 1 else path[size - 1]):
            size -= 1
            path[size] += 1
            continue
        one = listing.exclusive[position]
        ordinary[size] = ordinary[size - 1] + (0 if one else 1)
        has_wanted[size] = has_wanted[size - 1] or listing.wanted[position]
        indicators = size - ordinary[size]
        too_many = indicators > listing.limits[1] if one else ordinary[size] > listing.limits[0]
        if too_many or (size == max_size and not has_wanted[size]):
            path[size] += 1
            continue
        if write:
            sets.size[count], sets.last[count], sets.start[count] = size, position, members
            sets.indicators[count] = indicators
            sets.number[count] = _number_without(path, size, 0, listing)
            for member in range(size):
                sets.without[members + member] = _number_without(path, size, member + 1, listing)
                sets.place[members + member] = _place_of(path, size, member + 1, listing)
        count += 1
        members += size
        if size < max_size and position > 0:
            size += 1
            path[size] = 0
        else:
            path[size] += 1
    return count, members


@inline_no_refcount
def _number_without(path: Integers, size: int, left_out: int, listing: _Listing) -> np.int64:
    """The number of the set on the path, whose members count from 1, without one of them; 0 leaves out none."""
    rank = 0
    number = 0
    for member in range(size, 0, -1):
        if member != left_out:
            rank += 1
            number += listing.binomial[path[member], rank]
    result: np.int64 = listing.set_offset[rank] + number
    return result


@inline_no_refcount
def _place_of(path: Integers, size: int, child: int, listing: _Listing) -> np.int64:
    """Where the score of a member, with the others for its parents, belongs; -1 where it is not wanted."""
    if not listing.wanted[path[child]]:
        return np.int64(-1)
    node = listing.order[path[child]]
    number = listing.parent_offset[size - 1]
    for member in range(1, size + 1):
        other = listing.order[path[member]]
        rank = 1
        for lower in range(1, size + 1):
            between = listing.order[path[lower]]
            rank += 1 if between < other and between != node else 0
        if other != node:
            number += listing.binomial[other - 1 if other > node else other, rank]
    place: np.int64 = node * listing.families + number
    return place
