"""An ordered partition of the variables as a chain holds it, and what the parts of it weigh (see partition.py).

The nodes of a part are a mask. A node of part `p` has its parents in the parts before, at least one of them in part
`p - 1`, so the sum over its parent sets is the difference of two look-ups. Where the two are so close that the sum must
be taken set by set, the difference is still an upper bound, which is nearly always enough to reject a move.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, inlined
from dagpost.families.family_sums import FamilyTables, bits_of, log_sum_inside, log_sum_meeting
from dagpost.mcmc.reversal import all_nodes, node_of

#: A place this many nats behind the best one is skipped: it would be chosen once in 10^10 steps.
NEGLIGIBLE = 25.0
#: A difference of two sums that is less than this share of them is used as a bound only, with this error added.
_CANCELLED = 1e-5
_ERROR = 1e-9


class Work(NamedTuple):
    """Where the chain stands, and room for one step."""

    #: The nodes of each part; zeros follow.
    parts: Masks
    #: The parents of each node lie inside `allowed` and include a node of `to_meet`; `parents` is a graph.
    allowed: Masks
    to_meet: Masks
    parents: Masks
    #: Another partition, or this one without one node. For each of its parts: all nodes before it, the present log
    #: weight of its nodes, and how much they could gain at most.
    other: Masks
    before: Masks
    held: Floats
    slack: Floats
    #: Log weights of nodes: over all parent sets inside `allowed`, and over those of them that meet `to_meet`.
    whole: Floats
    fresh: Floats
    #: Log weights of nodes if the node that is put back goes behind their part, right before it as a part of its own,
    #: into the part before theirs, or further to the front.
    behind: Floats
    alone: Floats
    joined: Floats
    passed: Floats
    #: Places for that node, alone before part p (2 p) or inside it (2 p + 1): its own log weight there, and the log
    #: weight of everything that changes.
    log_own: Floats
    log_place: Floats


@inlined
def room_for(nodes: int) -> Work:
    """Room for a chain over this many nodes."""
    return Work(
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2),
        np.zeros(nodes + 2),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(2 * nodes + 2),
        np.zeros(2 * nodes + 2),
    )


@inline_no_refcount
def first_of(members: np.uint64) -> int:
    """The first node of a set that is not empty."""
    return node_of(members & (~members + np.uint64(1)))


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


# Weights


@inline_no_refcount
def total_of(members: np.uint64, values: Floats) -> float:
    """The sum of the values of some nodes."""
    total = 0.0
    while members != np.uint64(0):
        total += values[first_of(members)]
        members = rest_of(members)
    return total


@inline_no_refcount
def take(members: np.uint64, values: Floats, log_sums: Floats) -> None:
    """Take over the values of some nodes as their log weights."""
    while members != np.uint64(0):
        log_sums[first_of(members)] = values[first_of(members)]
        members = rest_of(members)


@inline_no_refcount
def weigh_all(tables: FamilyTables, members: np.uint64, allowed: np.uint64, whole: Floats) -> float:
    """Log weights of all parent sets inside `allowed`, for some nodes; their total."""
    total = 0.0
    while members != np.uint64(0):
        node = first_of(members)
        whole[node] = log_sum_inside(tables, node, allowed)
        total += whole[node]
        members = rest_of(members)
    return total


@inline_no_refcount
def weigh(
    tables: FamilyTables,
    members: np.uint64,
    allowed: np.uint64,
    to_meet: np.uint64,
    whole: Floats,
    result: Floats,
    hope: float,
) -> float:
    """Log weights of the parent sets inside `allowed` that meet `to_meet`, for some nodes; their sum plus `hope`.

    If that is below 0, the log weights may be upper bounds only. `whole` is the result of `weigh_all`.
    """
    bounds = np.uint64(0)
    while members != np.uint64(0):
        node = first_of(members)
        result[node] = whole[node]
        if to_meet != np.uint64(0) and whole[node] > -math.inf:
            share = -math.expm1(log_sum_inside(tables, node, allowed & ~to_meet) - whole[node])
            if share < _CANCELLED:
                bounds |= np.uint64(1) << np.uint64(node)
                share = max(share, 0.0) + _ERROR
            result[node] += math.log(share)
        hope += result[node]
        members = rest_of(members)
    while bounds != np.uint64(0) and hope >= 0.0:
        node = first_of(bounds)
        hope -= result[node]
        result[node] = log_sum_above(tables, node, allowed, to_meet, -hope)
        hope += result[node]
        bounds = rest_of(bounds)
    return hope


@inline_no_refcount
def log_sum_above(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64, floor: float) -> float:
    """`log_sum_meeting`, set by set; terms below `floor` may be missing."""
    total = 0.0
    heaviest = -math.inf
    limit = floor - NEGLIGIBLE
    for position in range(tables.ranked_start[node], tables.ranked_start[node + 1]):
        if tables.ranked_tails[position] < limit:
            break
        parents = tables.ranked_masks[position]
        if parents & ~allowed == np.uint64(0) and parents & to_meet != np.uint64(0):
            if total == 0.0:
                heaviest = tables.ranked_logs[position]
                limit = max(limit, heaviest - NEGLIGIBLE)
            total += math.exp(tables.ranked_logs[position] - heaviest)
    return heaviest + math.log(total) if total > 0.0 else -math.inf


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
def confine(work: Work, tables: FamilyTables, log_sums: Floats, look_up: bool) -> None:
    """Fill in `allowed` and `to_meet` of every node; with `look_up`, also the weights where these have changed."""
    before, previous = np.uint64(0), np.uint64(0)
    for part in range(count_parts(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            node = first_of(members)
            if look_up and (work.allowed[node] != before or work.to_meet[node] != previous):
                log_sums[node] = log_sum_meeting(tables, node, before, previous)
            work.allowed[node], work.to_meet[node] = before, previous
            members = rest_of(members)
        previous = work.parts[part]
        before |= previous


@inline_no_refcount
def write_parts(work: Work, part_of: Integers) -> None:
    """Write down the number of the part of every node."""
    for part in range(count_parts(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            part_of[first_of(members)] = part
            members = rest_of(members)
