"""Which block of subsets comes when, and what every node's weights sum to there.

The nodes are split into `low` ones, whose subsets are the entries of a block, and high ones, whose subsets number the
blocks; the last `top` of the high ones number the *chunks*, the units of work. Within a chunk, the blocks are the
leaves of a depth-first walk over the other high nodes. Level `l` of the walk holds the restricted sums
(families/transforms.py) of all nodes once node `low + l` is let in; the nodes below it are undecided. Leaving a node
out costs nothing, so a level is filled only for the nodes that are in. A chunk starts at the level one past the last,
with its top nodes decided.

Memory: the levels of one walk hold `n` times the parent sets over ever fewer nodes, some 20 MB at 25 nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inlined
from dagpost.families.numbering import binomials, size_offsets
from dagpost.families.transforms import lane_positions, let_in, subset_sums, to_dense

Entry = TypeVar("Entry", bound=np.generic)


class Split(NamedTuple):
    """How many nodes go into a block (`low`), at least into a chunk (`chunk`), and at most across chunks (`most_top`).

    Another split may be slower; the results are the same but for roundings.
    """

    low: int = 11
    chunk: int = 16
    most_top: int = 7

    def low_of(self, nodes: int) -> int:
        """How many of `nodes` nodes are inside a block."""
        return min(nodes, self.low)

    def top_of(self, nodes: int) -> int:
        """How many of `nodes` nodes number the chunks."""
        return min(max(nodes - self.chunk, 0), self.most_top, nodes - self.low_of(nodes))


#: What is fastest on machines of today.
SPLIT = Split()


class Layout(NamedTuple):
    """How `nodes` nodes are split: the first `low` inside a block, the last `top` across chunks."""

    nodes: int
    max_parents: int
    low: int
    top: int
    binomial: Integers
    offset: Integers
    positions: Integers
    own_positions: Integers


def make_layout(nodes: int, max_parents: int, split: Split = SPLIT) -> Layout:
    """The layout of `nodes` nodes, which does not depend on the engine."""
    return layout_with_top(nodes, max_parents, split.top_of(nodes), split)


def leaf_layout(nodes: int, max_parents: int, split: Split = SPLIT) -> Layout:
    """The layout in which every block is a chunk of its own, for work that is heavy within a block."""
    return layout_with_top(nodes, max_parents, nodes, split)


@lru_cache(maxsize=64)
def layout_with_top(nodes: int, max_parents: int, top: int, split: Split = SPLIT) -> Layout:
    """The layout with `top` top nodes, or as many as there are above a block.

    Tables are the same to the last bit for any `top`; sums gathered over chunks are the same but for roundings.
    """
    low = split.low_of(nodes)
    numbering = binomials(max_parents), size_offsets(max_parents)
    positions = lane_positions(low, max_parents), lane_positions(low - 1, max_parents)
    return Layout(nodes, max_parents, low, min(top, nodes - low), *numbering, *positions)


def waves(top: int) -> list[list[int]]:
    """Chunks by number of top nodes: within a wave they are independent, and need only the wave before."""
    return [[chunk for chunk in range(1 << top) if chunk.bit_count() == size] for size in range(top + 1)]


def nested_waves(top: int, inner: int) -> list[list[int]]:
    """Chunks by blocks of 2^inner: the waves of the blocks, and within each the waves of the chunks inside."""
    return [
        [(block << inner) | chunk for block in blocks for chunk in within]
        for blocks in waves(top - inner)
        for within in waves(inner)
    ]


def in_waves(all_waves: Iterable[list[int]]) -> list[int]:
    """All chunks, wave after wave."""
    return [chunk for wave in all_waves for chunk in wave]


def entries_of(layout: Layout, table: NDArray[Entry], chunk: int) -> NDArray[Entry]:
    """The part of a table over all sets that belongs to a chunk."""
    size = 1 << (layout.nodes - layout.top)
    return table[chunk * size : (chunk + 1) * size]


def starts_around(layout: Layout, chunk: int) -> Integers:
    """Where in a table over all sets the chunks begin that differ from this one in one top node, and (last) itself.

    Kernels find what they pull by these, so that a table may also be one in which only some chunks stand.
    """
    numbers = [chunk ^ (1 << top) for top in range(layout.top)] + [chunk]
    return np.array(numbers, dtype=np.int64) << np.int64(layout.nodes - layout.top)


def by_complement(by_rest: Floats, node: int) -> Floats:
    """By a set of the other nodes than `node`, what `by_rest` has by its complement among them, `node` squeezed out.

    Entries of sets with `node` in them are 0.
    """
    result = np.zeros((len(by_rest) >> node, 2, 1 << node))
    # The complements of all sets are the same sets from the last to the first.
    result[:, 0, :] = by_rest[::-1].reshape(-1, 1 << node)
    return result.reshape(-1)


@inlined
def start_across(layout: Layout, starts: Integers, leaf: int, node: int) -> int:
    """Where the block begins that differs from that of `leaf` in one high node."""
    inner = layout.nodes - layout.top
    if node < inner:
        return starts[layout.top] + ((leaf ^ (1 << (node - layout.low))) << layout.low)
    return starts[node - inner] + (leaf << layout.low)


@inlined
def lowest_bit(mask: int) -> int:
    """The lowest node of a set that is not empty."""
    bit = 0
    while not (mask >> bit) & 1:
        bit += 1
    return bit


@inlined
def level_above(layout: Layout, leaf: int, bit: int, node: int) -> int:
    """The level that holds the restricted sums of `node` just before `low + bit` is decided (`bit` -1: at the leaf)."""
    decided = leaf
    if bit >= 0:
        decided &= ~((2 << bit) - 1)
    if node >= layout.low:
        decided &= ~(1 << (node - layout.low))
    if decided == 0:
        return layout.nodes - layout.low - layout.top
    return lowest_bit(decided)


@inlined
def universe_at(layout: Layout, level: int, node: int) -> int:
    """How many undecided nodes other than `node` there are at a level."""
    below = layout.low + level
    return below - 1 if node < below else below


@inlined
def level_row(layout: Layout, arrays: Wide, bases: Integers, level: int, node: int) -> Wide:
    """The restricted sums of a node at a level."""
    width = layout.offset[layout.low + level, layout.max_parents + 1]
    start = bases[level] + node * width
    return arrays[start : start + width]


@inlined
def level_bases(layout: Layout) -> Integers:
    """Where the restricted sums of every level begin; the last entry is where they end."""
    levels = layout.nodes - layout.low - layout.top + 1
    bases = np.zeros(levels + 1, dtype=np.int64)
    for level in range(levels):
        width = layout.offset[layout.low + level, layout.max_parents + 1]
        bases[level + 1] = bases[level] + layout.nodes * width
    return bases


@inlined
def start_chunk(layout: Layout, weights: Wide, chunk: int, arrays: Wide, bases: Integers) -> None:
    """Decide the top nodes: fill the level where the walk of a chunk begins."""
    nodes, max_parents = layout.nodes, layout.max_parents
    start = nodes - layout.low - layout.top
    scratch = np.empty((2, weights.shape[1]), dtype=np.int64)
    for node in range(nodes):
        source = weights[node]
        universe = nodes - 1
        turn = 0
        for other in range(nodes - 1, nodes - layout.top - 1, -1):
            if other != node and (chunk >> (other - nodes + layout.top)) & 1:
                element = other - 1 if node < other else other
                let_in(source, universe, element, scratch[turn], max_parents, layout.binomial, layout.offset)
                source = scratch[turn]
                universe = element
                turn = 1 - turn
        target = level_row(layout, arrays, bases, start, node)
        target_universe = universe_at(layout, start, node)
        for size in range(min(max_parents, target_universe) + 1):
            count = layout.binomial[target_universe, size]
            begin = layout.offset[universe, size]
            into = layout.offset[target_universe, size]
            for rank in range(count):
                target[into + rank] = source[begin + rank]


@inlined
def let_in_level(layout: Layout, arrays: Wide, bases: Integers, leaf: int, bit: int, node: int) -> None:
    """Fill a level for one node from the level above it."""
    level = level_above(layout, leaf, bit, node)
    source, target = level_row(layout, arrays, bases, level, node), level_row(layout, arrays, bases, bit, node)
    universe, element = universe_at(layout, level, node), universe_at(layout, bit, node)
    let_in(source, universe, element, target, layout.max_parents, layout.binomial, layout.offset)


@inlined
def alpha_at_leaf(
    layout: Layout, arrays: Wide, bases: Integers, leaf: int, node: int, lanes: Wide, alpha: Wide
) -> None:
    """Alpha of `node` for every set of low nodes, itself squeezed out, beside the high nodes of the leaf."""
    level = level_above(layout, leaf, -1, node)
    bits = layout.low - 1 if node < layout.low else layout.low
    dense = lanes[: 1 << bits]
    source, universe = level_row(layout, arrays, bases, level, node), universe_at(layout, level, node)
    positions = layout.own_positions if node < layout.low else layout.positions
    to_dense(source, universe, positions, dense, bits, layout.max_parents, layout.binomial, layout.offset)
    subset_sums(dense, alpha, bits)
