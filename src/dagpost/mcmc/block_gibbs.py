"""Block Gibbs: a chain over graphs that redraws the parents of several nodes at once, and never rejects.

A block of nodes is chosen without looking at their present parents (block_choice.py), and all of their parent sets are
drawn anew from their exact distribution given the rest of the graph (block_draw.py). Every graph counts once: this is
the structure-modular posterior. Other chains over graphs change an edge or two at a time and stay where they are when
that makes things worse; here up to ten nodes rearrange themselves at once, which crosses most of the valleys between
good graphs.

Each member draws out of the sets that lead its list and one group of the others (families/set_tables.py), which is
exact and reads few sets where lists have thousands.

One block in four also adds up the exact probabilities of its edges (block_edges.py). A *sweep* is as many blocks as
redraw each node once on average.

Cost: some 5 to 50 microseconds a block, whatever the number of columns; the memory of the lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.errors import NoGraphError
from dagpost.families.family_sums import NO_ORDER
from dagpost.families.set_tables import SetTables
from dagpost.mcmc.block_choice import choose_size, grow_block
from dagpost.mcmc.block_completions import sum_completions
from dagpost.mcmc.block_draw import draw_layers
from dagpost.mcmc.block_edges import add_edge_probabilities
from dagpost.mcmc.block_scratch import BlockContext, BlockScratch, room_for_blocks
from dagpost.mcmc.block_sums import choose_group, find_ancestors, sum_inside
from dagpost.mcmc.records import Round

#: One block in so many adds up the probabilities of its edges.
_BLOCKS_A_LOOK = 4


class BlockState(NamedTuple):
    """A graph: which of its sets, by number in the tables, are the parents of each node."""

    numbers: Integers


#: What chains.py calls it.
State = BlockState


def start(context: BlockContext, generator: np.random.Generator, wanted: Integers | None = None) -> BlockState:
    """A graph that fits an order, a random one if none is wanted, drawn from the posterior given that order."""
    nodes = len(context.tables.start) - 1
    order = generator.permutation(nodes) if wanted is None else wanted
    numbers = np.zeros(nodes, dtype=np.int64)
    if _draw_in_order(context.tables, _after_needed(context.tables, order), generator, numbers) >= 0:
        raise NoGraphError(NO_ORDER)
    return BlockState(numbers)


def _after_needed(tables: SetTables, order: Integers) -> Integers:
    """The order, changed as little as may be so that every node comes after the parents that it cannot do without."""
    nodes = len(order)
    needed: list[list[int]] = []
    for node in range(nodes):
        rows = tables.members[tables.start[node] : tables.start[node + 1]]
        # Most nodes can do without any, and their lists are long.
        possible = [] if (rows[:, 0] == nodes).any() else rows[0].tolist()
        needed.append([other for other in possible if other < nodes and (rows == other).any(axis=1).all()])
    result: dict[int, None] = {}
    for node in order.tolist():
        # Not by recursion: what is needed may be a chain of a thousand nodes.
        waiting = {} if node in result else {node: None}
        while waiting:
            last = next(reversed(waiting))
            ahead = next((other for other in needed[last] if other not in result and other not in waiting), None)
            if ahead is None:
                del waiting[last]
                result[last] = None
            else:
                waiting[ahead] = None
    return np.array(list(result), dtype=np.int64)


@kernel
def _draw_in_order(tables: SetTables, order: Integers, generator: np.random.Generator, numbers: Integers) -> int:
    """Draw the parents of every node out of those before it; the first node that can have none, or -1."""
    nodes, width = len(tables.start) - 1, tables.members.shape[1]
    rank = np.zeros(nodes + 1, dtype=np.int64)
    for place in range(nodes):
        rank[order[place]] = place
    rank[nodes] = -1
    for place in range(nodes):
        node = order[place]
        first = tables.start[node]
        best = -np.inf
        for position in range(first, tables.start[node + 1]):
            fits = True
            for step in range(width):
                fits = fits and rank[tables.members[position, step]] < place
            if fits:
                # The largest of log weights with Gumbel noise is a draw in proportion to the weights.
                noisy = tables.log_weights[position] - np.log(-np.log(1.0 - generator.random()))
                if noisy > best:
                    best, numbers[node] = noisy, position - first
        if best == -np.inf:
            return node
    return -1


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
    unplaced = 0
    for node in range(nodes):
        unplaced += not placed[node]
    return unplaced == 0


def advance(
    context: BlockContext,
    state: BlockState,
    largest: int,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    """One round: as many sweeps as its thinning says before each graph that is kept; blocks of up to `largest`."""
    length, nodes = output.parents.shape[:2]
    # Up to 64 columns a set is one word.
    in_words = output._replace(parents=output.parents.reshape(length, nodes, -1))
    _advance(context, state, largest, generator, in_words, cancel)


@kernel
def _advance(
    context: BlockContext,
    state: BlockState,
    largest: int,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    numbers = state.numbers
    nodes, movable, kept_graphs = len(numbers), len(context.movable), len(output.log_joint)
    largest = min(largest, movable)
    space = room_for_blocks(nodes)
    # Row `i`: what was added up for the parents of node `i`, and how often; the last entry collects the empty places.
    edges = np.zeros((nodes, nodes + 1))
    looks = np.zeros(nodes, dtype=np.int64)
    block = 0
    for kept in range(kept_graphs):
        for _ in range(output.thinning):
            if cancel[0] != 0:
                return
            redrawn = 0
            while redrawn < movable:
                block += 1
                size = choose_size(largest, generator)
                grow_block(context, size, space, generator)
                _sum_block(context, numbers, size, block, space, generator)
                if block % _BLOCKS_A_LOOK == 0:
                    add_edge_probabilities(context.tables, size, space, edges)
                    for place in range(size):
                        looks[space.members[place]] += 1
                output.proposed[0] += 1
                output.accepted[0] += draw_layers(context.tables, size, numbers, space, generator)
                redrawn += size
        _keep(context.tables, numbers, kept, output)
    for node in range(nodes):
        for parent in range(nodes):
            if looks[node] > 0:
                output.edges[parent, node] += kept_graphs * edges[node, parent] / looks[node]
            else:
                word, bit = parent >> 6, np.uint64(1) << np.uint64(parent & 63)
                for kept in range(kept_graphs):
                    output.edges[parent, node] += output.parents[kept, node, word] & bit != np.uint64(0)


@inline_no_refcount
def _sum_block(
    context: BlockContext,
    numbers: Integers,
    size: int,
    block: int,
    space: BlockScratch,
    generator: np.random.Generator,
) -> None:
    """Everything that draws from a block, and the probabilities of its edges, need."""
    find_ancestors(context.tables, context.candidates, numbers, size, block, space)
    for place in range(size):
        choose_group(context.tables, place, numbers[space.members[place]], space, generator)
        sum_inside(context.tables, context.candidates, place, size, space)
    sum_completions(size, space)


@inline_no_refcount
def _keep(tables: SetTables, numbers: Integers, kept: int, output: Round) -> None:
    """Write down a graph; it is the state too."""
    nodes = len(numbers)
    total = 0.0
    for node in range(nodes):
        position = tables.start[node] + numbers[node]
        total += tables.log_weights[position]
        for step in range(tables.members.shape[1]):
            parent = np.int64(tables.members[position, step])
            if parent < nodes:
                output.parents[kept, node, parent >> 6] |= np.uint64(1) << np.uint64(parent & 63)
    output.log_joint[kept] = output.log_state[kept] = total
