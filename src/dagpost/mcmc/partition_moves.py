"""The moves of Partition MCMC: from one ordered partition to another, by their posterior (see partition.py)."""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount
from dagpost._tools.log_sums import choose
from dagpost.families.family_sums import FamilyTables, bits_of, log_sum_inside
from dagpost.families.graphs import draw_graph
from dagpost.mcmc.parts import (
    NEGLIGIBLE,
    Work,
    all_before,
    confine,
    count_parts,
    find_parts,
    part_before,
    random_member,
    rest_of,
    take,
    total_of,
    weigh,
    weigh_all,
)
from dagpost.mcmc.reversal import all_nodes, reverse_edge

SPLIT_OR_JOIN, SWAP_NEIGHBOURS, SWAP, MOVE, REVERSE = 0, 1, 2, 3, 4
#: How many edges a move of the last kind tries to turn round.
REVERSALS = 10


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
def _split_or_join(tables: FamilyTables, log_sums: Floats, work: Work, generator: np.random.Generator) -> bool:
    """Propose a neighbour, in which some nodes, `moving`, leave a part or join it; returns whether it is accepted."""
    parts, other = work.parts, work.other
    count, neighbours = count_parts(parts), _neighbours(parts)
    pick = generator.random() * neighbours
    copy_into(other, parts)
    if pick < count - 1:
        part = int(pick)
        moving, next_part = parts[part + 1], parts[part + 2]
        allowed, to_meet = all_before(parts, part), part_before(parts, part)
        other[part] |= moving
        for later in range(part + 1, count):
            other[later] = parts[later + 1]
        last = other[part]
    else:
        pick -= count - 1
        part = 0
        for candidate in range(count):
            # Rounding errors must not lead to a part that cannot be split.
            if pick >= 0.0 and _ways_to_split(parts[candidate]) > 0.0:
                part = candidate
                pick -= _ways_to_split(parts[candidate])
        to_meet = _random_share(parts[part], generator)
        moving, next_part = parts[part] ^ to_meet, parts[part + 1]
        allowed = all_before(parts, part) | to_meet
        for later in range(count, part, -1):
            other[later] = parts[later - 1]
        other[part], other[part + 1] = to_meet, moving
        last = moving
    hope = -math.log((1.0 - generator.random()) * _neighbours(other) / neighbours)
    hope += weigh_all(tables, next_part, allowed | last, work.whole) - total_of(moving | next_part, log_sums)
    weigh_all(tables, moving, allowed, work.whole)
    hope = weigh(tables, moving, allowed, to_meet, work.whole, work.fresh, hope)
    if hope >= 0.0:
        hope -= total_of(next_part, work.whole)
        hope = weigh(tables, next_part, allowed | last, last, work.whole, work.fresh, hope)
    if not hope >= 0.0:
        return False
    take(moving | next_part, work.fresh, log_sums)
    copy_into(parts, other)
    return True


@inline_no_refcount
def _swap(
    tables: FamilyTables, log_sums: Floats, work: Work, one: np.uint64, other: np.uint64, generator: np.random.Generator
) -> bool:
    """Propose that two nodes of different parts change places; returns whether that is accepted."""
    parts = work.parts
    first, last = 0, 0
    for part in range(count_parts(parts)):
        first = part if parts[part] & one != np.uint64(0) else first
        last = part if parts[part] & other != np.uint64(0) else last
    if first == last:
        return False
    if first > last:
        first, last, one, other = last, first, other, one
    parts[first] ^= one | other
    parts[last] ^= one | other
    hope = -math.log(1.0 - generator.random())
    # In the first part only the node that is new there must be looked up.
    changed = other
    before = all_before(parts, first)
    hope += weigh_all(tables, other, before, work.whole)
    for part in range(first + 1, last + 2):
        changed |= parts[part]
        before |= parts[part - 1]
        hope += weigh_all(tables, parts[part], before, work.whole)
    hope -= total_of(changed, log_sums)
    before = all_before(parts, first)
    for part in range(first, last + 2):
        if hope >= 0.0:
            members = parts[part] & changed
            hope -= total_of(members, work.whole)
            hope = weigh(tables, members, before, part_before(parts, part), work.whole, work.fresh, hope)
        before |= parts[part]
    if hope >= 0.0:
        take(changed, work.fresh, log_sums)
        return True
    parts[first] ^= one | other
    parts[last] ^= one | other
    return False


# Moving one node


@inline_no_refcount
def _take_out(log_sums: Floats, work: Work, bit: np.uint64) -> int:
    """Write the partition without one node into `other`; the place that the node has."""
    parts, rest = work.parts, work.other
    place = 0
    count = 0
    before = np.uint64(0)
    for part in range(len(parts)):
        if parts[part] & bit != np.uint64(0):
            place = 2 * part + (parts[part] != bit)
        if parts[part] != bit:
            rest[count] = parts[part] & ~bit
            work.before[count] = before
            work.held[count] = total_of(rest[count], log_sums)
            before |= rest[count]
            count += 1
    for part in range(count, len(parts)):
        rest[part] = np.uint64(0)
    return place


@inline_no_refcount
def _try_places(tables: FamilyTables, log_sums: Floats, work: Work, node: int, part: int, gained: float) -> None:
    """Log weights of the two places right before `part`: inside the part before it, and alone.

    `gained` is what the nodes of all other parts then weigh more than now.
    """
    rest = work.other
    bit = np.uint64(1) << np.uint64(node)
    before, previous = work.before[part], part_before(rest, part)
    hope = NEGLIGIBLE + gained - log_sums[node]
    most = log_sum_inside(tables, node, before)
    if hope + most + work.slack[part] < 0.0:
        return
    hope += most - work.held[part]
    hope = weigh(tables, rest[part], before | bit, previous | bit, work.whole, work.joined, hope)
    if not hope >= 0.0:
        return
    hope -= most
    for place in range(max(2 * part - 1, 0), 2 * part + 1):
        own_before, own_previous = work.before[place // 2], part_before(rest, place // 2)
        weigh_all(tables, bit, own_before, work.whole)
        here = weigh(tables, bit, own_before, own_previous, work.whole, work.fresh, hope)
        work.log_own[place] = work.fresh[node]
        if place == 2 * part and here >= 0.0:
            here -= total_of(rest[part], work.joined)
            here = weigh(tables, rest[part], before | bit, bit, work.whole, work.alone, here)
        if here >= 0.0:
            work.log_place[place] = here - NEGLIGIBLE


@inline_no_refcount
def _move(tables: FamilyTables, log_sums: Floats, work: Work, node: int, generator: np.random.Generator) -> bool:
    """Take one node out and put it back with the probability of each partition that this can lead to.

    Log weights are relative to now. From where the node is they are worked out part by part in both directions, until
    the nodes that it has passed lose more than can be gained behind them.
    """
    parts, rest = work.parts, work.other
    bit = np.uint64(1) << np.uint64(node)
    now = _take_out(log_sums, work, bit)
    count, next_part = count_parts(rest), (now + 1) // 2
    largest_slack, earlier_slack = 0.0, 0.0
    for part in range(count + 1):
        work.slack[part] = weigh_all(tables, rest[part], work.before[part] | bit, work.whole) - work.held[part]
        largest_slack = max(largest_slack, work.slack[part])
        earlier_slack += work.slack[part] if part < next_part else 0.0
    for place in range(2 * count + 1):
        work.log_place[place] = -math.inf
    _try_places(tables, log_sums, work, node, next_part, 0.0)
    most = NEGLIGIBLE + log_sum_inside(tables, node, work.before[count]) - log_sums[node] + largest_slack
    gained = 0.0
    for part in range(next_part, count):
        before = work.before[part]
        weigh_all(tables, rest[part], before, work.fresh)
        hope = gained + most - work.held[part]
        hope = weigh(tables, rest[part], before, part_before(rest, part), work.fresh, work.behind, hope)
        if not hope >= 0.0:
            break
        gained = hope - most
        _try_places(tables, log_sums, work, node, part + 1, gained)
    gained = 0.0
    for part in range(next_part, 0, -1):
        most = NEGLIGIBLE + log_sum_inside(tables, node, work.before[part - 1]) - log_sums[node] + earlier_slack
        hope = gained + most - work.held[part]
        hope = weigh(tables, rest[part], work.before[part] | bit, rest[part - 1], work.whole, work.passed, hope)
        if not hope >= 0.0:
            break
        gained = hope - most
        earlier_slack -= work.slack[part - 1]
        _try_places(tables, log_sums, work, node, part - 1, gained)
    work.log_place[now] = 0.0
    chosen = choose(2 * count + 1, generator.random(), work.log_place)
    if chosen == now:
        return False
    own_part, following = chosen // 2, (chosen + 1) // 2
    log_sums[node] = work.log_own[chosen]
    for part in range(next_part, following):
        take(rest[part], work.behind, log_sums)
    for part in range(following + 1, next_part + 1):
        take(rest[part], work.passed, log_sums)
    copy_into(parts, rest)
    if own_part < following:
        take(rest[following], work.joined, log_sums)
        parts[own_part] |= bit
    else:
        take(rest[following], work.alone, log_sums)
        for part in range(count, own_part, -1):
            parts[part] = rest[part - 1]
        parts[own_part] = bit
    return True


@inline_no_refcount
def _reverse_edges(tables: FamilyTables, log_sums: Floats, work: Work, generator: np.random.Generator) -> int:
    """Draw a graph, try to turn edges of it round and take its partition; how many turned."""
    confine(work, tables, log_sums, False)
    draw_graph(tables, work.allowed, work.to_meet, log_sums, generator, work.parents)
    turned = 0
    for _ in range(REVERSALS):
        turned += reverse_edge(tables, work.parents, generator)
    if turned > 0:
        find_parts(work.parents, work.parts)
        confine(work, tables, log_sums, True)
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
