"""Which nodes are redrawn together: blocks that grow along strong associations.

Redrawing nodes together helps where their parents depend on each other, and that is where one is a likely parent of the
other. So a block begins with a random node and grows: a random member asks one of its partners in, mostly one that is
strongly associated. The strength of a pair is the share of the weight of a node's parent sets that hold the other one,
both ways added, and a partner is asked in proportion to it. Now and then any node at all is asked, so that
every block is possible. Everything is fixed before the chain starts: a choice that looked at the present parents of the
block would change what the chain converges to.

Small blocks are cheap and large ones cross valleys. The largest size and the two below it get about the same time each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.wide_floats import check_range
from dagpost.families.considered_sets import ConsideredSets, Members, columns_of_sets
from dagpost.families.set_tables import IN_GROUP, set_tables
from dagpost.mcmc.block_scratch import MOST_IN_BLOCK, BlockContext, BlockScratch

#: How often any node is asked into a block, not a partner.
_ANYONE = 0.1
#: Partners that a node cannot find after so many tries a member are no longer asked.
_TRIES = 4
#: A pair with less in common than this are not partners.
_LEAST_STRENGTH = 1e-3
#: How much smaller than the largest blocks the smallest are.
_SMALLER = 2
#: How much longer a block takes for each node more.
_COST_RATIO = 1.8


class Partners(NamedTuple):
    """Who is redrawn with whom, as `BlockContext` has it."""

    movable: Integers
    partner_start: Integers
    partners: Integers
    partner_chances: Floats


def block_context(considered: ConsideredSets, in_group: int = IN_GROUP) -> BlockContext:
    """What chains over these sets read; see `set_tables` for the size of groups."""
    check_spans(considered)
    tables = set_tables(considered, in_group)
    candidates = columns_of_sets(considered.start, considered.members)
    return BlockContext(tables, candidates, *partners_of(edge_shares(considered), considered.counts))


def edge_shares(considered: ConsideredSets) -> Floats:
    """The share of each edge (parent, child) in the weight of all sets of the child."""
    shares = np.zeros((considered.nodes, considered.nodes))
    _add_shares(considered.start, considered.members, considered.log_weights, shares)
    return shares


def partners_of(shares: Floats, counts: Integers) -> Partners:
    """Which nodes are redrawn together, by the shares of edges and by how many sets each node has."""
    strength = shares + shares.T
    movable = np.flatnonzero(counts > 1)
    weights = np.where(strength > _LEAST_STRENGTH, strength, 0.0)[:, movable]
    partner_start, places = _joined([np.flatnonzero(row) for row in weights])
    chances = [np.cumsum(row[row > 0.0]) / max(row.sum(), 1e-300) for row in weights]
    return Partners(movable.astype(np.int64), partner_start, movable[places].astype(np.int64), np.concatenate(chances))


def check_spans(considered: ConsideredSets) -> None:
    """Refuse weights whose products over a block could leave the range of wide floats."""
    logs, first = considered.log_weights, considered.start[:-1]
    spans = np.maximum.reduceat(logs, first) - np.minimum.reduceat(logs, first)
    # No block has more than the widest of them together.
    spans[np.argsort(-spans, kind="stable")[MOST_IN_BLOCK:]] = 0.0
    check_range(spans)


def _joined(rows: list[Integers]) -> tuple[Integers, Integers]:
    """Where each row begins, and all of them one after another."""
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return start.astype(np.int64), np.concatenate(rows).astype(np.int64)


@kernel
def _add_shares(start: Integers, members: Members, log_weights: Floats, shares: Floats) -> None:
    nodes, width = len(start) - 1, members.shape[1]
    for node in range(nodes):
        first = start[node]
        total = 0.0
        for position in range(first, start[node + 1]):
            weight = np.exp(log_weights[position] - log_weights[first])
            total += weight
            for step in range(width):
                parent = members[position, step]
                if parent < nodes:
                    shares[parent, node] += weight
        for parent in range(nodes):
            shares[parent, node] /= total


@inline_no_refcount
def choose_size(largest: int, generator: np.random.Generator) -> int:
    """How many nodes the next block has: larger ones are rarer, as they take longer."""
    size = max(largest - _SMALLER, min(largest, 1))
    whole = 0.0
    for more in range(largest - size + 1):
        whole += _COST_RATIO**-more
    left = generator.random() * whole - 1.0
    chance = 1.0
    while left > 0.0 and size < largest:
        size += 1
        chance /= _COST_RATIO
        left -= chance
    return size


@inline_no_refcount
def grow_block(context: BlockContext, size: int, space: BlockScratch, generator: np.random.Generator) -> None:
    """Choose the members of a block; there must be as many movable nodes."""
    members, movable = space.members, context.movable
    members[0] = movable[int(generator.random() * len(movable))]
    count = 1
    tries = 0
    while count < size:
        node = members[int(generator.random() * count)]
        low, high = context.partner_start[node], context.partner_start[node + 1]
        other = np.int64(0)
        tries += 1
        if low < high and tries < _TRIES * size and generator.random() > _ANYONE:
            chance = generator.random()
            while low < high - 1 and context.partner_chances[low] <= chance:
                low += 1
            other = context.partners[low]
        else:
            other = movable[int(generator.random() * len(movable))]
        fresh = True
        for place in range(count):
            fresh = fresh and members[place] != other
        if fresh:
            members[count] = other
            count += 1
