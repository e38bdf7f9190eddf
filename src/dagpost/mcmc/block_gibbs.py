"""Block Gibbs: a chain over graphs that redraws the parents of several nodes at once, and never rejects.

A block of nodes is chosen without looking at their present parents, and all of their parent sets are drawn anew from
their exact distribution given the rest of the graph (block_draw.py). Every graph counts once: this is the
structure-modular posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.considered_sets import ConsideredSets, SetTables, set_tables
from dagpost.mcmc.block_draw import BlockScratch, draw_block, room_for_blocks
from dagpost.mcmc.chains import Round


class BlockState(NamedTuple):
    """A graph: which of its considered sets, by number, are the parents of each node."""

    numbers: Integers


#: What chains.py calls it.
State = BlockState


class BlockContext(NamedTuple):
    """What all chains read."""

    tables: SetTables
    #: The columns that occur in the sets of each node.
    candidate_start: Integers
    candidates: Integers
    #: For each node the others in some order, and the cumulative chance of each to be asked into a block after it.
    partner_start: Integers
    partners: Integers
    partner_chances: Floats


def block_context(considered: ConsideredSets, power: float = 1.0) -> BlockContext:
    """What chains over these sets read."""
    tables = set_tables(considered, power)
    nodes = considered.nodes
    strength = np.zeros((nodes, nodes))
    _edge_shares(tables, strength)
    strength = strength + strength.T
    candidates, partners, chances = [], [], []
    for node in range(nodes):
        own = np.unique(considered.members[considered.start[node] : considered.start[node + 1]])
        candidates.append(own[own < nodes].astype(np.int64))
        near = np.flatnonzero(strength[node] > 1e-3)
        partners.append(near)
        chances.append(np.cumsum(strength[node, near]) / max(strength[node, near].sum(), 1e-300))
    start = np.concatenate([[0], np.cumsum([len(own) for own in candidates])])
    partner_start = np.concatenate([[0], np.cumsum([len(own) for own in partners])])
    return BlockContext(
        tables, start, np.concatenate(candidates), partner_start, np.concatenate(partners), np.concatenate(chances)
    )


@kernel
def _edge_shares(tables: SetTables, strength: Floats) -> None:
    """Share of each edge (parent, child) in the weight of all sets of the child."""
    nodes, width = len(tables.start) - 1, tables.members.shape[1]
    for node in range(nodes):
        first = tables.start[node]
        total = 0.0
        for position in range(first, tables.start[node + 1]):
            weight = np.exp(tables.log_weights[position] - tables.log_weights[first])
            total += weight
            for step in range(width):
                parent = tables.members[position, step]
                if parent < nodes:
                    strength[parent, node] += weight
        for parent in range(nodes):
            strength[parent, node] /= total


def start(context: BlockContext, generator: np.random.Generator, wanted: Integers | None = None) -> BlockState:
    """A graph that fits an order, a random one if none is wanted, drawn from the posterior given that order."""
    nodes = len(context.tables.start) - 1
    order = generator.permutation(nodes) if wanted is None else wanted
    numbers = np.zeros(nodes, dtype=np.int64)
    _draw_in_order(context.tables, order.astype(np.int64), generator, numbers)
    return BlockState(numbers)


@kernel
def _draw_in_order(tables: SetTables, order: Integers, generator: np.random.Generator, numbers: Integers) -> None:
    nodes, width = len(tables.start) - 1, tables.members.shape[1]
    rank = np.zeros(nodes + 1, dtype=np.int64)
    for place in range(nodes):
        rank[order[place]] = place
    rank[nodes] = -1
    for node in range(nodes):
        first = tables.start[node]
        best = -np.inf
        numbers[node] = -1
        for position in range(first, tables.start[node + 1]):
            fits = True
            for step in range(width):
                fits = fits and rank[tables.members[position, step]] < rank[node]
            if fits:
                # The largest of weights times exponential noise is a draw in proportion to the weights.
                noisy = tables.log_weights[position] - np.log(-np.log(1.0 - generator.random()))
                if noisy > best:
                    best, numbers[node] = noisy, position - first


@inline_no_refcount
def grow_block(context: BlockContext, size: int, space: BlockScratch, generator: np.random.Generator) -> None:
    """Choose the members of a block."""
    nodes = len(context.tables.start) - 1
    members = space.members
    members[0] = int(generator.random() * nodes)
    count = 1
    tries = 0
    while count < size:
        node = members[int(generator.random() * count)]
        low, high = context.partner_start[node], context.partner_start[node + 1]
        other = np.int64(0)
        tries += 1
        if low < high and tries < 4 * size and generator.random() < 0.9:
            chance = generator.random()
            while low < high - 1 and context.partner_chances[low] <= chance:
                low += 1
            other = context.partners[low]
        else:
            other = np.int64(generator.random() * nodes)
        fresh = True
        for place in range(count):
            fresh = fresh and members[place] != other
        if fresh:
            members[count] = other
            count += 1


def advance(
    context: BlockContext,
    state: BlockState,
    size: int,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    """One round: as many sweeps as its thinning says before each graph that is kept."""
    length, nodes = output.parents.shape[:2]
    # Up to 64 columns a set is one word.
    in_words = output._replace(parents=output.parents.reshape(length, nodes, -1))
    _advance(context, state, size, generator, in_words, cancel)


@kernel
def is_possible(context: BlockContext, state: BlockState) -> bool:
    """Whether every number is that of a considered set, and the graph has no cycle."""
    tables, numbers = context.tables, state.numbers
    nodes, width = len(numbers), tables.members.shape[1]
    for node in range(nodes):
        if not 0 <= numbers[node] < tables.start[node + 1] - tables.start[node]:
            return False
    placed = np.zeros(nodes + 1, dtype=np.bool_)
    placed[nodes] = True
    found = True
    while found:
        found = False
        for node in range(nodes):
            free = not placed[node]
            for step in range(width):
                free = free and placed[tables.members[tables.start[node] + numbers[node], step]]
            if free:
                placed[node] = found = True
    return placed.all()


@kernel
def _advance(
    context: BlockContext,
    state: BlockState,
    size: int,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    tables = context.tables
    numbers = state.numbers
    nodes, width = len(numbers), tables.members.shape[1]
    longest = 1
    for node in range(nodes):
        longest = max(longest, tables.start[node + 1] - tables.start[node])
    space = room_for_blocks(nodes, longest)
    candidates = (context.candidate_start, context.candidates)
    block = 0
    for kept in range(len(output.log_joint)):
        for _ in range(output.thinning):
            if cancel[0] != 0:
                return
            redrawn = 0
            while redrawn < nodes:
                own = min(size, nodes)
                block += 1
                grow_block(context, own, space, generator)
                output.proposed[0] += 1
                output.accepted[0] += draw_block(tables, candidates, numbers, own, block, space, generator)
                redrawn += own
        total = 0.0
        for node in range(nodes):
            position = tables.start[node] + numbers[node]
            total += tables.log_weights[position]
            for step in range(width):
                parent = np.int64(tables.members[position, step])
                if parent < nodes:
                    output.parents[kept, node, parent >> 6] |= np.uint64(1) << np.uint64(parent & 63)
        output.log_joint[kept] = output.log_state[kept] = total
