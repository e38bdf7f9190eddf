"""An ordered partition of the variables as a chain holds it, and what it weighs (see partition.py).

Parts are masks, the first part first; zeros follow. The log weight of a partition is the sum of those of its nodes,
each over the parent sets that lie before its part and meet the part right before. For a proposed one the nodes whose
parents are confined otherwise than now are looked up, first as a bound (`log_sum_bound`), and set by set only while the
partition may still be accepted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount, inlined
from dagpost.families.family_sums import FamilyTables, bits_of, log_sum_bound, log_sum_scanned
from dagpost.families.graph_lists import first_of
from dagpost.mcmc.reversal import all_nodes


class Work(NamedTuple):
    """Where the chain stands, and room for one step."""

    #: The nodes of each part. The parents of each node lie inside `allowed` and include a node of `to_meet`.
    parts: Masks
    allowed: Masks
    to_meet: Masks
    #: The same of a partition that is proposed, with the log weights of its nodes.
    other: Masks
    other_allowed: Masks
    other_to_meet: Masks
    fresh: Floats
    #: A graph of the partition.
    parents: Masks
    # For a node that is put back, and where its place may be for another one (partition_moves.py):
    #: the log weights of the others, row by row, those of them that are only bounds, and what each part then gains;
    values: Floats
    vague: Masks
    gains: Floats
    #: the log weight of the node itself right after each part, and that of each of its places.
    log_own: Floats
    log_place: Floats


@inlined
def room_for(nodes: int) -> Work:
    """Room for a chain over this many nodes."""
    return Work(
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros((4, nodes)),
        np.zeros(4, dtype=np.uint64),
        np.zeros((4, nodes)),
        np.zeros(nodes + 1),
        np.zeros(2 * nodes + 2),
    )


@inline_no_refcount
def rest_of(members: np.uint64) -> np.uint64:
    """All but the first."""
    return members & (members - np.uint64(1))


@inline_no_refcount
def random_member(members: np.uint64, generator: np.random.Generator) -> np.uint64:
    """Any member of a set, with equal chances, as a set of its own."""
    for _ in range(int(generator.random() * bits_of(members))):
        members = rest_of(members)
    return members & (~members + np.uint64(1))


@inline_no_refcount
def count_parts(parts: Masks) -> int:
    """How many parts there are."""
    count = 0
    while parts[count] != np.uint64(0):
        count += 1
    return count


@inline_no_refcount
def part_before(parts: Masks, part: int) -> np.uint64:
    """The part right before one; nothing before the first."""
    return parts[part - 1] if part > 0 else np.uint64(0)


@inline_no_refcount
def all_before(parts: Masks, part: int) -> np.uint64:
    """All nodes of the parts before one."""
    mask = np.uint64(0)
    for earlier in range(part):
        mask |= parts[earlier]
    return mask


@inline_no_refcount
def find_parts(parents: Masks, parts: Masks) -> None:
    """The partition of a graph."""
    left = all_nodes(len(parents))
    for part in range(len(parts)):
        parts[part] = np.uint64(0)
        members = left
        while members != np.uint64(0):
            if parents[first_of(members)] & left == np.uint64(0):
                parts[part] |= members & (~members + np.uint64(1))
            members = rest_of(members)
        left &= ~parts[part]


@inline_no_refcount
def confine(parts: Masks, allowed: Masks, to_meet: Masks) -> None:
    """Fill in where the parents of every node lie, and what they meet."""
    before = np.uint64(0)
    for part in range(count_parts(parts)):
        members = parts[part]
        while members != np.uint64(0):
            allowed[first_of(members)], to_meet[first_of(members)] = before, part_before(parts, part)
            members = rest_of(members)
        before |= parts[part]


@inline_no_refcount
def weigh_other(tables: FamilyTables, log_sums: Floats, work: Work, hope: float) -> float:
    """Fill in `fresh` for the partition in `other`: `hope` plus what it gains, or a bound on that below zero."""
    confine(work.other, work.other_allowed, work.other_to_meet)
    vague = np.uint64(0)
    for node in range(len(log_sums)):
        allowed, to_meet = work.other_allowed[node], work.other_to_meet[node]
        work.fresh[node] = log_sums[node]
        if allowed != work.allowed[node] or to_meet != work.to_meet[node]:
            work.fresh[node], is_vague = log_sum_bound(tables, node, allowed, to_meet)
            hope += work.fresh[node] - log_sums[node]
            if is_vague:
                vague |= np.uint64(1) << np.uint64(node)
    while vague != np.uint64(0) and hope >= 0.0:
        node = first_of(vague)
        vague = rest_of(vague)
        hope -= work.fresh[node]
        allowed, to_meet = work.other_allowed[node], work.other_to_meet[node]
        work.fresh[node] = log_sum_scanned(tables, node, allowed, to_meet, -hope)
        hope += work.fresh[node]
    return hope


@inline_no_refcount
def take_other(work: Work, log_sums: Floats) -> None:
    """Go on from the partition in `other`, whose weights are in `fresh`."""
    copy_into(work.parts, work.other)
    copy_into(work.allowed, work.other_allowed)
    copy_into(work.to_meet, work.other_to_meet)
    copy_into(log_sums, work.fresh)


@inline_no_refcount
def read_parts(part_of: Integers, parts: Masks) -> None:
    """The parts, from the number of the part of every node."""
    for node in range(len(part_of)):
        parts[part_of[node]] |= np.uint64(1) << np.uint64(node)


@inline_no_refcount
def write_parts(work: Work, part_of: Integers) -> None:
    """Write down the number of the part of every node."""
    for part in range(count_parts(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            part_of[first_of(members)] = part
            members = rest_of(members)
