"""What a chunk of blocks computes for the order-modular posterior: the kernels under order.py.

Forward, a block pulls `alpha_i L` from the blocks with one high node fewer, then its low nodes finish it in place.
Backward, it pulls `alpha_i R` from those with one more; with its own forward sums it then gives every weight what is
multiplied with it, up the levels of the walk (walk.py) to where its chunk starts, and from there to the weights.

`starts` says where in `sums` the chunks around a chunk begin: in one table with it, or fetched from elsewhere.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Integers, Wide
from dagpost._tools.kernels import copy_into, fill, inlined, kernel
from dagpost._tools.wide_floats import ONE, ZERO, add, multiply
from dagpost.exact.walk import (
    Layout,
    alpha_at_leaf,
    let_in_level,
    level_above,
    level_bases,
    level_row,
    lowest_bit,
    start_across,
    start_chunk,
    universe_at,
)
from dagpost.families.transforms import from_dense, let_in_transposed, superset_sums


@kernel
def forward_chunk(layout: Layout, weights: Wide, sums: Wide, starts: Integers, chunk: int, cancel: Integers) -> None:
    """Fill the forward sums of a chunk; `starts` says where in `sums` it and those that it pulls from begin."""
    nodes, low = layout.nodes, layout.low
    inner = nodes - low - layout.top
    size = 1 << low
    bases = level_bases(layout)
    arrays = np.empty(bases[-1], dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    alpha = np.empty(size, dtype=np.int64)
    low_alpha = np.empty((low, size >> 1), dtype=np.int64)
    start_chunk(layout, weights, chunk, arrays, bases)
    for leaf in range(1 << inner):
        if cancel[0]:
            return
        high = (chunk << inner) | leaf
        if leaf:
            bit = lowest_bit(leaf)
            for node in range(nodes):
                # A high node that is left out pulls nothing in any block below.
                left_out = node > low + bit and not (high >> (node - low)) & 1
                if node != low + bit and not left_out:
                    let_in_level(layout, arrays, bases, leaf, bit, node)
        _fill_block(layout, sums, starts, high, leaf, arrays, bases, alpha, low_alpha, lanes, False)


@inlined
def _fill_block(
    layout: Layout,
    sums: Wide,
    starts: Integers,
    high: int,
    leaf: int,
    arrays: Wide,
    bases: Integers,
    alpha: Wide,
    low_alpha: Wide,
    lanes: Wide,
    backward: bool,
) -> None:
    """The sums of one block: what it pulls from the blocks with one high node fewer, or more, then the low nodes."""
    low, size = layout.low, 1 << layout.low
    begin = starts[layout.top] + (leaf << low)
    block = sums[begin : begin + size]
    fill(block, ZERO)
    if high == ((1 << (layout.nodes - low)) - 1 if backward else 0):
        block[size - 1 if backward else 0] = ONE
    for node in range(low, layout.nodes):
        if ((high >> (node - low)) & 1 == 0) == backward:
            alpha_at_leaf(layout, arrays, bases, leaf, node, lanes, alpha)
            begin = start_across(layout, starts, leaf, node)
            pulled = sums[begin : begin + size]
            for place in range(size):
                block[place] = add(block[place], multiply(alpha[place], pulled[place]))
    for node in range(low):
        alpha_at_leaf(layout, arrays, bases, leaf, node, lanes, low_alpha[node])
    sum_within(block, low_alpha, backward)


@inlined
def sum_within(block: Wide, alpha: Wide, backward: bool) -> None:
    """Finish the sums over all sets of some nodes, `alpha` by node and set of the others, from what they start with.

    Once the last set without node v (and any lower ones) is done, so are all sets without v in its run, and the run
    with v takes its share in one go; backward, the other way round.
    """
    for number in range(1, len(block)):
        first = len(block) - number if backward else number
        node = lowest_bit(first)
        run = 1 << node
        without, with_node = block[first - run : first], block[first : first + run]
        place = ((first - run) >> (node + 1)) << node
        own_alpha = alpha[node, place : place + run]
        source, target = (with_node, without) if backward else (without, with_node)
        for step in range(run):
            target[step] = add(target[step], multiply(own_alpha[step], source[step]))


@kernel
def backward_chunk(
    layout: Layout,
    weights: Wide,
    forward: Wide,
    backward: Wide,
    starts: Integers,
    chunk: int,
    gather: bool,
    cancel: Integers,
) -> Wide:
    """Fill the backward sums of a chunk; returns what its blocks give to each weight, at the level where it starts.

    `forward` has the sums of this chunk alone; `starts` says where in `backward` it and those that it pulls from begin.
    Without `gather`, `forward` is not read and the result is empty; `gather_chunk` fills it later.
    """
    nodes, low = layout.nodes, layout.low
    inner = nodes - low - layout.top
    size = 1 << low
    bases = level_bases(layout)
    arrays = np.empty(bases[-1], dtype=np.int64)
    gathered = np.full(bases[-1], ZERO, dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    alpha = np.empty(size, dtype=np.int64)
    own_forward = np.empty(size, dtype=np.int64)
    low_alpha = np.empty((low, size >> 1), dtype=np.int64)
    start_chunk(layout, weights, chunk, arrays, bases)
    changed = inner
    for leaf in range((1 << inner) - 1, -1, -1):
        if cancel[0]:
            break
        high = (chunk << inner) | leaf
        for bit in range(changed - 1, -1, -1):
            for node in range(nodes):
                # A high node that is already in contributes nothing to any block below.
                if node < low + bit or (node > low + bit and not (high >> (node - low)) & 1):
                    let_in_level(layout, arrays, bases, leaf, bit, node)
        if gather:
            copy_into(own_forward, forward[leaf << low : (leaf + 1) << low])
        _fill_block(layout, backward, starts, high, leaf, arrays, bases, alpha, low_alpha, lanes, True)
        if gather:
            _gather_leaf(layout, own_forward, backward, starts, high, leaf, 0, nodes, gathered, bases, alpha, lanes)
        if leaf:
            changed = lowest_bit(leaf)
    # A copy: a view would keep the levels of the whole walk alive as long as the result.
    return gathered[bases[inner] :].copy()


@kernel
def gather_chunk(
    layout: Layout, forward: Wide, backward: Wide, starts: Integers, chunk: int, first: int, last: int, cancel: Integers
) -> Wide:
    """What a chunk gives to the weights of the nodes from `first` up to `last`, once its backward sums are there.

    The same sums in the same order as `backward_chunk` takes them; those of different nodes never meet.
    """
    low = layout.low
    inner = layout.nodes - low - layout.top
    size = 1 << low
    bases = level_bases(layout)
    gathered = np.full(bases[-1], ZERO, dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    products = np.empty(size, dtype=np.int64)
    for leaf in range((1 << inner) - 1, -1, -1):
        if cancel[0]:
            break
        own_forward = forward[leaf << low : (leaf + 1) << low]
        high = (chunk << inner) | leaf
        _gather_leaf(layout, own_forward, backward, starts, high, leaf, first, last, gathered, bases, products, lanes)
    width = layout.offset[low + inner, layout.max_parents + 1]
    return gathered[bases[inner] + first * width : bases[inner] + last * width].copy()


@inlined
def _gather_leaf(
    layout: Layout,
    own_forward: Wide,
    backward: Wide,
    starts: Integers,
    high: int,
    leaf: int,
    first: int,
    last: int,
    gathered: Wide,
    bases: Integers,
    products: Wide,
    lanes: Wide,
) -> None:
    """Add, for nodes that may come next, forward times backward over all supersets of each parent set.

    What is gathered at levels that the walk leaves here goes to the levels above.
    """
    low = layout.low
    size = 1 << low
    own_begin = starts[layout.top] + (leaf << low)
    block = backward[own_begin : own_begin + size]
    for node in range(first, last):
        bits = low
        if node >= low:
            if (high >> (node - low)) & 1:
                continue
            begin = start_across(layout, starts, leaf, node)
            onward = backward[begin : begin + size]
            for place in range(size):
                products[place] = multiply(own_forward[place], onward[place])
        else:
            bits = low - 1
            run = 1 << node
            for begin in range(0, size, 2 * run):
                product = products[begin >> 1 : (begin >> 1) + run]
                before = own_forward[begin : begin + run]
                onward = block[begin + run : begin + 2 * run]
                for step in range(run):
                    product[step] = multiply(before[step], onward[step])
        superset_sums(products[: 1 << bits], lanes[: 1 << bits], bits)
        level = level_above(layout, leaf, -1, node)
        into, universe = level_row(layout, gathered, bases, level, node), universe_at(layout, level, node)
        positions = layout.positions if bits == low else layout.own_positions
        from_dense(into, universe, positions, lanes, bits, layout.max_parents, layout.binomial, layout.offset)
        if leaf:
            _give_back_level(layout, gathered, bases, leaf, lowest_bit(leaf), node)


@inlined
def _give_back_level(layout: Layout, gathered: Wide, bases: Integers, leaf: int, bit: int, node: int) -> None:
    """Transpose of `let_in_level`; leaves the level empty for its next use."""
    level = level_above(layout, leaf, bit, node)
    into, filled = level_row(layout, gathered, bases, level, node), level_row(layout, gathered, bases, bit, node)
    universe, element = universe_at(layout, level, node), universe_at(layout, bit, node)
    let_in_transposed(into, universe, element, filled, layout.max_parents, layout.binomial, layout.offset)
    fill(filled, ZERO)


@kernel
def give_back_chunk(layout: Layout, contribution: Wide, gathered: Wide, chunk: int) -> None:
    """Transpose of `start_chunk`: add a chunk's contribution to that of every weight."""
    give_back_nodes(layout, contribution, gathered, chunk, 0)


@inlined
def give_back_nodes(layout: Layout, contribution: Wide, gathered: Wide, chunk: int, first: int) -> None:
    """The same for the nodes from `first` on, as many as `gathered` has rows."""
    nodes, max_parents, top = layout.nodes, layout.max_parents, layout.top
    below = nodes - top
    width = layout.offset[below, max_parents + 1]
    scratch = np.empty((2, gathered.shape[1]), dtype=np.int64)
    universes = np.empty(top + 1, dtype=np.int64)
    for row in range(len(gathered)):
        node = first + row
        if node >= below and (chunk >> (node - below)) & 1:
            continue
        source = contribution[row * width : (row + 1) * width]
        source_universe = below - 1 if node < below else below
        # From the last top node that was let in to the first; the sums before the first are the weights themselves.
        steps = 0
        for other in range(below, nodes):
            if other != node and (chunk >> (other - below)) & 1:
                universes[steps] = other - 1 if node < other else other
                steps += 1
        universes[steps] = nodes - 1
        for step in range(steps + 1):
            universe = universes[step]
            target = gathered[row] if step == steps else scratch[step & 1]
            if step < steps:
                fill(target, ZERO)
            if step == 0:
                for size in range(min(max_parents, source_universe) + 1):
                    count = layout.binomial[source_universe, size]
                    begin = layout.offset[universe, size]
                    into = target[begin : begin + count]
                    values = source[layout.offset[source_universe, size] :]
                    for rank in range(count):
                        into[rank] = add(into[rank], values[rank])
            else:
                let_in_transposed(
                    target, universe, source_universe, source, max_parents, layout.binomial, layout.offset
                )
            source = target
            source_universe = universe
