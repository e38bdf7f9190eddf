"""Independent orders from the order-modular posterior (He, Tian & Wu 2016, Proposition 1).

An order is drawn from its last node to its first: from the set `S` of nodes not yet placed, node `i` is the last with
probability `L(S - i) alpha_i(S - i) / L(S)`. Removing a node makes the mask of a set a smaller number, so one walk over
the blocks in falling order, the mirror of the forward pass, meets every set after all samples that will ever come to
it have arrived. `alpha` is computed block by block, only where there is a sample, and never stored; each distinct set
is handled once for all the samples in it.

Each sample has its own uniform numbers, drawn from the seed of its block of `SEED_BLOCK` samples: which samples move
together changes nothing but the speed, and the first N of 2N samples are the N samples one gets by asking for N.
Time: at most that of a forward pass for every `MOVED_TOGETHER` samples. Memory: some 20 bytes a sample and node while
they move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Integers, Wide
from dagpost._tools.kernels import copy_into, inlined, kernel
from dagpost._tools.progress import Stage
from dagpost._tools.uniforms import SEED_BLOCK
from dagpost._tools.wide_floats import ZERO, multiply, ratio, to_logs
from dagpost.engines import Engine
from dagpost.exact.order import ForwardTable
from dagpost.exact.walk import (
    Layout,
    alpha_at_leaf,
    let_in_level,
    level_bases,
    start_across,
    start_chunk,
    starts_around,
    waves,
)
from dagpost.families.numbering import squeezed

MOVED_TOGETHER = 64 * SEED_BLOCK


class OrderSample(NamedTuple):
    """Orders, first node first, with what is needed to draw graphs from them.

    `log_alpha[s, i]` is the log of the weight of node `i` over the parent sets inside its predecessors in order `s`.
    """

    orders: NDArray[np.uint8]
    log_alpha: NDArray[np.float64]


def draw_orders(forward: ForwardTable, uniforms: NDArray[np.float64], *, engine: Engine, stage: Stage) -> OrderSample:
    """One order for each row of `uniforms`, all moved together; counts the samples on `stage` once a wave."""
    layout = forward.layout
    samples = len(uniforms)
    orders = np.empty((samples, layout.nodes), dtype=np.uint8)
    alpha = np.empty((samples, layout.nodes), dtype=np.int64)
    sets = np.full(samples, (1 << layout.nodes) - 1, dtype=np.int64)

    nothing_waits = (np.empty((0, 0), dtype=np.int64), np.empty(0))
    moving = (sets, uniforms, orders, alpha, *nothing_waits)

    def block(item: tuple[int, Integers], cancel: Integers) -> None:
        chunk, members = item
        starts = starts_around(layout, chunk)
        draw_chunk(layout, forward.weights, forward.sums, starts, chunk, members, *moving, cancel)

    for wave in waves(layout.top)[::-1]:
        chunks = sets >> (layout.nodes - layout.top)
        items = [(chunk, np.flatnonzero((chunks == chunk) & (sets > 0))) for chunk in wave]
        for _ in engine.run(block, [item for item in items if len(item[1])]):
            pass
        stage.advance(samples)
    log_alpha = to_logs(alpha)
    log_alpha += forward.log_scales
    return OrderSample(orders, log_alpha)


@kernel
def draw_chunk(
    layout: Layout,
    weights: Wide,
    sums: Wide,
    starts: Integers,
    chunk: int,
    members: Integers,
    sets: Integers,
    uniforms: NDArray[np.float64],
    orders: NDArray[np.uint8],
    chosen_alpha: Wide,
    waiting: Wide,
    reached: NDArray[np.float64],
    cancel: Integers,
) -> None:
    """Move the samples whose set has the top nodes of `chunk` on, until they leave the chunk or are complete.

    `starts` says where in `sums` the chunk and those around it begin; -1 means that it is elsewhere. Then a sample
    whose uniform number is not reached by the nodes that stay in the chunk waits: `reached` gets the running sum so
    far, `waiting` the sum of its set and alpha of every top node, and `orders` the last node that was possible.
    """
    nodes, low = layout.nodes, layout.low
    inner = nodes - low - layout.top
    size = 1 << low
    leaf_mask = (1 << inner) - 1
    inner_end = nodes - layout.top
    own = starts[layout.top]
    top_alpha = np.empty(layout.top, dtype=np.int64)
    bases = level_bases(layout)
    arrays = np.empty(bases[-1], dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    high_alpha = np.empty((nodes - low, size), dtype=np.int64)
    low_alpha = np.empty((low, size >> 1), dtype=np.int64)
    probabilities = np.empty(nodes, dtype=np.float64)
    built_for = np.full(inner + 1, -1, dtype=np.int64)
    # Linked lists of samples: those of each leaf of the chunk, and, at a leaf, those of each set of low nodes.
    next_sample = np.full(len(members), -1, dtype=np.int64)
    first_of_leaf = np.full(1 << inner, -1, dtype=np.int64)
    first_of_set = np.full(size, -1, dtype=np.int64)
    for member in range(len(members)):
        leaf = (sets[members[member]] >> low) & leaf_mask
        next_sample[member] = first_of_leaf[leaf]
        first_of_leaf[leaf] = member
    start_chunk(layout, weights, chunk, arrays, bases)
    for leaf in range(leaf_mask, -1, -1):
        if cancel[0]:
            return
        member = first_of_leaf[leaf]
        if member < 0:
            continue
        while member >= 0:
            following = next_sample[member]
            low_set = sets[members[member]] & (size - 1)
            next_sample[member] = first_of_set[low_set]
            first_of_set[low_set] = member
            member = following
        high = (chunk << inner) | leaf
        _build_levels(layout, arrays, bases, leaf, high, built_for)
        for node in range(low, nodes):
            if (high >> (node - low)) & 1:
                alpha_at_leaf(layout, arrays, bases, leaf, node, lanes, high_alpha[node - low])
        for node in range(low):
            alpha_at_leaf(layout, arrays, bases, leaf, node, lanes, low_alpha[node])
        for low_set in range(size - 1, -1, -1):
            member = first_of_set[low_set]
            if member < 0:
                continue
            first_of_set[low_set] = -1
            whole = (high << low) | low_set
            if whole == 0:
                continue
            placed = 0
            elsewhere = False
            total = sums[own + (leaf << low) + low_set]
            top_alpha[:] = ZERO
            for node in range(nodes):
                probabilities[node] = 0.0
                if (whole >> node) & 1:
                    placed += 1
                    alpha = _alpha(high_alpha, low_alpha, low, low_set, node)
                    if node >= inner_end and starts[node - inner_end] < 0:
                        top_alpha[node - inner_end] = alpha
                        elsewhere = True
                        continue
                    begin = own + (leaf << low) + (low_set & ~(1 << node))
                    if node >= low:
                        begin = start_across(layout, starts, leaf, node) + low_set
                    probabilities[node] = ratio(multiply(alpha, sums[begin]), total)
            while member >= 0:
                following = next_sample[member]
                sample = members[member]
                node, running = choose(probabilities, uniforms[sample, placed - 1])
                orders[sample, placed - 1] = node
                # No node may be possible here if all possible ones are elsewhere.
                if (whole >> node) & 1:
                    chosen_alpha[sample, node] = _alpha(high_alpha, low_alpha, low, low_set, node)
                if elsewhere and not running > uniforms[sample, placed - 1]:
                    reached[sample] = running
                    waiting[sample, 0] = total
                    copy_into(waiting[sample, 1:], top_alpha)
                    member = following
                    continue
                remaining = whole ^ (np.int64(1) << np.int64(node))
                sets[sample] = remaining
                if node < low:
                    next_sample[member] = first_of_set[remaining & (size - 1)]
                    first_of_set[remaining & (size - 1)] = member
                elif node < low + inner:
                    new_leaf = (remaining >> low) & leaf_mask
                    next_sample[member] = first_of_leaf[new_leaf]
                    first_of_leaf[new_leaf] = member
                member = following


@inlined
def _build_levels(layout: Layout, arrays: Wide, bases: Integers, leaf: int, high: int, built_for: Integers) -> None:
    """Make the restricted sums of a leaf, keeping the levels that it shares with the leaf before."""
    for bit in range(layout.nodes - layout.low - layout.top - 1, -1, -1):
        if (leaf >> bit) & 1 and built_for[bit] != leaf >> bit:
            built_for[bit] = leaf >> bit
            for node in range(layout.nodes):
                # A high node that is left out is in no set below.
                if node < layout.low + bit or (node > layout.low + bit and (high >> (node - layout.low)) & 1):
                    let_in_level(layout, arrays, bases, leaf, bit, node)


@inlined
def _alpha(high_alpha: Wide, low_alpha: Wide, low: int, low_set: int, node: int) -> np.int64:
    """Alpha of `node` over its set without itself."""
    if node >= low:
        return high_alpha[node - low, low_set]
    return low_alpha[node, squeezed(low_set, node)]


@inlined
def choose(probabilities: NDArray[np.float64], uniform: float) -> tuple[int, float]:
    """The node at which the running sum passes the uniform number (rounding leaves the last possible), and that sum."""
    running = 0.0
    chosen = 0
    for node in range(len(probabilities)):
        if probabilities[node] > 0.0:
            chosen = node
            running += probabilities[node]
            if running > uniform:
                break
    return chosen, running
