"""The moves of Partition MCMC: from one ordered partition to another, by their posterior (see partition.py)."""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount
from dagpost._tools.log_sums import choose
from dagpost.families.family_sums import FamilyTables, bits_of, log_sum_bound, log_sum_scanned
from dagpost.families.graph_lists import first_of
from dagpost.families.graphs import draw_graph
from dagpost.mcmc.parts import (
    Work,
    all_before,
    confine,
    count_parts,
    find_parts,
    part_before,
    random_member,
    rest_of,
    take_other,
    weigh_other,
)
from dagpost.mcmc.reversal import all_nodes, reverse_edge

SPLIT_OR_JOIN, SWAP_NEIGHBOURS, SWAP, MOVE, REVERSE = 0, 1, 2, 3, 4
#: How many edges a move of the last kind tries to turn round.
REVERSALS = 10
#: A place this many nats behind the present one is skipped: it would be chosen once in 10^10 steps.
_NEGLIGIBLE = 25.0
# Where a part stands when a node is put back: before its place, right behind it where it stands alone, right behind the
# part that it joins, or further behind.
_BEFORE, _AFTER_NODE, _AFTER_PART, _BEHIND = 0, 1, 2, 3


# Splitting, joining, swapping


@inline_no_refcount
def _ways_to_split(part: np.uint64) -> float:
    return math.ldexp(1.0, bits_of(part)) - 2.0


@inline_no_refcount
def _neighbours(parts: Masks) -> float:
    count = count_parts(parts)
    total = count - 1.0
    for part in range(count):
        total += _ways_to_split(parts[part])
    return total


@inline_no_refcount
def _random_share(members: np.uint64, generator: np.random.Generator) -> np.uint64:
    """Any subset, neither empty nor everything, with equal chances."""
    share = np.uint64(0)
    while share == np.uint64(0) or share == members:
        share = np.uint64(0)
        left = members
        while left != np.uint64(0):
            if generator.random() < 0.5:
                share |= left & (~left + np.uint64(1))
            left = rest_of(left)
    return share


@inline_no_refcount
def _accept(tables: FamilyTables, log_sums: Floats, work: Work, hope: float) -> bool:
    """Go on from the partition in `other` if its gain and `hope` are not negative together; returns whether."""
    if not weigh_other(tables, log_sums, work, hope) >= 0.0:
        return False
    take_other(work, log_sums)
    return True


@inline_no_refcount
def _split_or_join(tables: FamilyTables, log_sums: Floats, work: Work, generator: np.random.Generator) -> bool:
    """Propose a neighbour, in which a part is split or joined with the next; returns whether it is accepted."""
    parts, other = work.parts, work.other
    count, neighbours = count_parts(parts), _neighbours(parts)
    pick = generator.random() * neighbours
    copy_into(other, parts)
    if pick < count - 1:
        part = int(pick)
        other[part] |= parts[part + 1]
        for later in range(part + 1, count):
            other[later] = parts[later + 1]
    else:
        pick -= count - 1
        part = 0
        for candidate in range(count):
            # Rounding errors must not lead to a part that cannot be split.
            if pick >= 0.0 and _ways_to_split(parts[candidate]) > 0.0:
                part = candidate
                pick -= _ways_to_split(parts[candidate])
        for later in range(count, part, -1):
            other[later] = parts[later - 1]
        other[part] = _random_share(parts[part], generator)
        other[part + 1] = parts[part] ^ other[part]
    return _accept(tables, log_sums, work, -math.log((1.0 - generator.random()) * _neighbours(other) / neighbours))


@inline_no_refcount
def _swap(
    tables: FamilyTables, log_sums: Floats, work: Work, one: np.uint64, other: np.uint64, generator: np.random.Generator
) -> bool:
    """Propose that two nodes of different parts change places; returns whether that is accepted."""
    same = True
    for part in range(len(work.parts)):
        members = work.parts[part]
        alone = (members & one != np.uint64(0)) != (members & other != np.uint64(0))
        work.other[part] = members ^ (one | other) if alone else members
        same = same and not alone
    return not same and _accept(tables, log_sums, work, -math.log(1.0 - generator.random()))


# Moving one node


@inline_no_refcount
def _take_out(parts: Masks, bit: np.uint64, rest: Masks) -> int:
    """Write the partition without a node into `rest`; its place: alone before part p (2 p), or inside it (2 p + 1)."""
    place = 0
    count = 0
    for part in range(len(parts)):
        rest[part] = np.uint64(0)
        if parts[part] & bit != np.uint64(0):
            place = 2 * part + (parts[part] != bit)
        if parts[part] != bit:
            rest[count] = parts[part] & ~bit
            count += 1
    return place


@inline_no_refcount
def _put_back(rest: Masks, bit: np.uint64, place: int) -> None:
    """The node in its new place."""
    part = place // 2
    if place & 1 == 0:
        for later in range(count_parts(rest), part, -1):
            rest[later] = rest[later - 1]
        rest[part] = np.uint64(0)
    rest[part] |= bit


@inline_no_refcount
def _standing(part: int, place: int) -> int:
    """How a part stands to a node in a place."""
    next_part = (place + 1) // 2
    if part == next_part:
        return _AFTER_NODE + (place & 1)
    return _BEFORE if part < next_part else _BEHIND


@inline_no_refcount
def _confined(rest: Masks, part: int, standing: int, bit: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Where the parents of the nodes of a part lie then, and what they meet."""
    before, previous = all_before(rest, part), part_before(rest, part)
    if standing == _BEFORE:
        return before, previous
    if standing == _AFTER_NODE:
        return before | bit, bit
    return before | bit, previous | bit if standing == _AFTER_PART else previous


@inline_no_refcount
def _weigh_parts(tables: FamilyTables, log_sums: Floats, work: Work, node: int, now: int) -> np.uint64:
    """What each part gains in every standing, and the weight of the node after each part; those that are bounds."""
    rest, bit = work.other, np.uint64(1) << np.uint64(node)
    count = count_parts(rest)
    vague_own = np.uint64(0)
    for standing in range(4):
        work.vague[standing] = np.uint64(0)
    for part in range(count + 1):
        work.log_own[part] = log_sums[node]
        if part != now // 2:
            allowed, to_meet = _confined(rest, part, _BEFORE, bit)
            work.log_own[part], is_vague = log_sum_bound(tables, node, allowed, to_meet)
            vague_own |= np.uint64(is_vague) << np.uint64(part)
        for standing in range(4 if part < count else 0):
            allowed, to_meet = _confined(rest, part, standing, bit)
            work.gains[standing, part] = 0.0
            members = rest[part]
            while members != np.uint64(0) and standing != _standing(part, now):
                other = first_of(members)
                members = rest_of(members)
                work.values[standing, other], is_vague = log_sum_bound(tables, other, allowed, to_meet)
                work.gains[standing, part] += work.values[standing, other] - log_sums[other]
                work.vague[standing] |= np.uint64(is_vague) << np.uint64(other)
    return vague_own


@inline_no_refcount
def _gain(work: Work, count: int, place: int) -> float:
    """What all nodes but the one that is moved gain if it goes to a place."""
    gain = 0.0
    for part in range(count):
        gain += work.gains[_standing(part, place), part]
    return gain


@inline_no_refcount
def _look_up(tables: FamilyTables, log_sums: Floats, work: Work, bit: np.uint64, place: int) -> None:
    """Put what the other nodes weigh exactly in the place of bounds, for one place of the node."""
    for part in range(count_parts(work.other)):
        standing = _standing(part, place)
        bounds = work.other[part] & work.vague[standing]
        if bounds != np.uint64(0):
            work.vague[standing] ^= bounds
            allowed, to_meet = _confined(work.other, part, standing, bit)
            while bounds != np.uint64(0):
                node = first_of(bounds)
                bounds = rest_of(bounds)
                work.values[standing, node] = log_sum_scanned(tables, node, allowed, to_meet, -math.inf)
            members, gain = work.other[part], 0.0
            while members != np.uint64(0):
                gain += work.values[standing, first_of(members)] - log_sums[first_of(members)]
                members = rest_of(members)
            work.gains[standing, part] = gain


@inline_no_refcount
def _move(tables: FamilyTables, log_sums: Floats, work: Work, node: int, generator: np.random.Generator) -> bool:
    """Take one node out and put it back with the probability of each partition that this can lead to.

    Both directions go through the same partition without the node, so there is nothing to accept. Weights are bounds at
    first, looked up set by set for the places that still are not negligible; all are relative to the present place.
    """
    rest, bit = work.other, np.uint64(1) << np.uint64(node)
    now = _take_out(work.parts, bit, rest)
    count, vague_own = count_parts(rest), _weigh_parts(tables, log_sums, work, node, now)
    for place in range(2 * count + 1):
        part = place // 2
        least = log_sums[node] - _NEGLIGIBLE
        if _gain(work, count, place) + work.log_own[part] >= least:
            _look_up(tables, log_sums, work, bit, place)
            if (vague_own >> np.uint64(part)) & np.uint64(1):
                vague_own ^= np.uint64(1) << np.uint64(part)
                allowed, to_meet = _confined(rest, part, _BEFORE, bit)
                work.log_own[part] = log_sum_scanned(tables, node, allowed, to_meet, -math.inf)
        log_weight = _gain(work, count, place) + work.log_own[part]
        work.log_place[place] = log_weight if log_weight >= least else -math.inf
    chosen = choose(2 * count + 1, generator.random(), work.log_place)
    if chosen == now:
        return False
    log_sums[node] = work.log_own[chosen // 2]
    for part in range(count):
        standing, members = _standing(part, chosen), rest[part]
        while members != np.uint64(0) and standing != _standing(part, now):
            log_sums[first_of(members)] = work.values[standing, first_of(members)]
            members = rest_of(members)
    _put_back(rest, bit, chosen)
    copy_into(work.parts, rest)
    confine(work.parts, work.allowed, work.to_meet)
    return True


@inline_no_refcount
def _reverse_edges(tables: FamilyTables, log_sums: Floats, work: Work, generator: np.random.Generator) -> int:
    """Draw a graph, try to turn edges of it round and take its partition; how many turned."""
    draw_graph(tables, work.allowed, work.to_meet, log_sums, generator, work.parents)
    turned = 0
    for _ in range(REVERSALS):
        turned += reverse_edge(tables, work.parents, generator)
    if turned > 0:
        find_parts(work.parents, work.other)
        _accept(tables, log_sums, work, math.inf)
    return turned


@inline_no_refcount
def step(tables: FamilyTables, log_sums: Floats, work: Work, kind: int, generator: np.random.Generator) -> int:
    """One step of this kind; how many moves were accepted."""
    nodes, count = len(log_sums), count_parts(work.parts)
    if kind == SPLIT_OR_JOIN:
        return int(_split_or_join(tables, log_sums, work, generator))
    if kind == SWAP_NEIGHBOURS:
        part = int(generator.random() * (count - 1))
        one = random_member(work.parts[part], generator)
        # Where there is one part only, a node swaps with itself.
        other = random_member(work.parts[part + (count > 1)], generator)
        return int(_swap(tables, log_sums, work, one, other, generator))
    if kind == SWAP:
        one = random_member(all_nodes(nodes), generator)
        other = random_member(all_nodes(nodes) ^ one, generator)
        return int(_swap(tables, log_sums, work, one, other, generator))
    if kind == MOVE:
        return int(_move(tables, log_sums, work, int(generator.random() * nodes), generator))
    return _reverse_edges(tables, log_sums, work, generator)
