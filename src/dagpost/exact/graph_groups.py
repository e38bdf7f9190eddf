"""`A(S)` of graph_sums.py group by group, for tables too large for one machine: what one group gives to another.

The groups are the subsets of the top nodes of `group_layout`. Sets in them are numbered by their other nodes, and all
arrays here are over the sets of one group. `alphas_of_group` is made once for a group that gives, `give` takes it to
one group that receives. Every product and sum is taken in the order of graph_sums.py, so that results are the same to
the last bit.

Time: `3^g` terms for each pair of groups of `2^g` sets. Memory: some `(g/2 + p) * 2^g` wide floats for the alphas.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dagpost._tools.arrays import Exponents, Floats, Integers, Wide
from dagpost._tools.kernels import inlined, kernel
from dagpost.exact.alternating import (
    PADDING,
    ROW_NODES,
    fill_places,
    fill_products,
    fill_row_products,
    group_top,
    nodes_outside,
    split,
)
from dagpost.exact.graph_sums import push, scatter
from dagpost.exact.walk import (
    Layout,
    alpha_at_leaf,
    in_waves,
    layout_with_top,
    let_in_level,
    level_bases,
    lowest_bit,
    start_chunk,
    waves,
)
from dagpost.families.numbering import squeezed


@lru_cache(maxsize=8)
def group_layout(nodes: int, max_parents: int) -> Layout:
    """The layout whose chunks are the groups."""
    return layout_with_top(nodes, max_parents, group_top(nodes))


@lru_cache(maxsize=8)
def leaf_order(inner: int) -> Integers:
    """The leaves of a group in the order in which they give."""
    return np.array(in_waves(waves(inner)), dtype=np.int64)


@kernel
def alphas_of_group(layout: Layout, weights: Wide, group: int, cancel: Integers) -> Wide:
    """Alpha of the nodes inside a group for all sets without them, then of the top nodes outside for all sets."""
    nodes, low = layout.nodes, layout.low
    bits = nodes - layout.top
    size = 1 << low
    bases = level_bases(layout)
    arrays = np.empty(bases[-1], dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    starts = _starts_of_top(layout, group)
    result = np.empty(starts[layout.top], dtype=np.int64)
    start_chunk(layout, weights, group, arrays, bases)
    for leaf in range(1 << (bits - low)):
        if cancel[0]:
            break
        high = (group << (bits - low)) | leaf
        bit = lowest_bit(leaf) if leaf else -1
        for node in range(nodes):
            inside = node >= low and (high >> (node - low)) & 1
            if bit >= 0 and node != low + bit and not (inside and node > low + bit):
                let_in_level(layout, arrays, bases, leaf, bit, node)
            if node < low:
                begin, width = (node << (bits - 1)) + (leaf << (low - 1)), size >> 1
            elif node < bits:
                begin, width = (node << (bits - 1)) + (squeezed(leaf, node - low) << low), size
            else:
                begin, width = starts[node - bits] + (leaf << low), size
            if not inside:
                alpha_at_leaf(layout, arrays, bases, leaf, node, lanes, result[begin : begin + width])
    return result


@kernel
def give(
    layout: Layout,
    alpha: Wide,
    values: Floats,
    exponents_from: Exponents,
    exponents_to: Exponents,
    group: int,
    target: int,
    leaves: Integers,
    cancel: Integers,
) -> Floats:
    """What the finished sums `values` of a group give to those of a `target` group.

    With the group itself as its target: the finished sums from `values`, which others gave.
    """
    low = layout.low
    bits = layout.nodes - layout.top
    rows = min(low, ROW_NODES)
    row_sets = 1 << rows
    own = target == group
    result = values.copy() if own else np.zeros(1 << bits)
    widest = 1 << (bits - rows)
    given = np.empty((1 << (bits - low), 1 << low))
    outside = np.empty(bits, dtype=np.int64)
    places = np.empty(widest, dtype=np.int64)
    products = np.empty(widest)
    shifts = np.empty(widest, dtype=np.int64)
    targets = np.empty((row_sets, widest + PADDING), dtype=np.int64)
    gathered = np.empty((row_sets, widest + PADDING))
    row_additions = np.empty(row_sets, dtype=np.int64)
    row_products = np.empty(row_sets)
    row_shifts = np.empty(row_sets, dtype=np.int64)
    doubles = np.empty(bits)
    exponents = np.empty(bits, dtype=np.int64)
    starts = _starts_of_top(layout, group)
    for leaf in leaves:
        leaf_count = nodes_outside(leaf << low, low, bits, outside)
        above = 1 << leaf_count
        for number in range(above):
            for place in range(1 << low):
                given[number, place] = 0.0
        if own:
            for place in range(1 << low):
                given[0, place] = result[(leaf << low) + place]
        for mid in range(1 << (low - rows)):
            if cancel[0]:
                break
            count = nodes_outside((leaf << low) | (mid << rows), rows, bits, outside)
            size = 1 << count
            places[0] = (leaf << low) | (mid << rows)
            fill_places(outside, count, places)
            for place in range(size):
                for row in range(row_sets):
                    targets[row, place] = exponents_to[places[place] + row]
                    gathered[row, place] = 0.0
            if own:
                for row in range(row_sets):
                    gathered[row, 0] = given[0, (mid << rows) | row]
            upper_products, upper_shifts = products[:size], shifts[:size]
            for row in range(row_sets):
                whole = places[0] | row
                own_value = gathered[row, 0]
                value = own_value if own else values[whole]
                if not value > 0.0:
                    continue
                for position in range(count + rows):
                    node = outside[position] if position < count else position - count
                    place = (node << (bits - 1)) + squeezed(whole, node)
                    doubles[position], exponents[position] = split(alpha[place])
                fill_products(count, doubles, exponents, products, shifts)
                fraction, exponent = math.frexp(value)
                exponent += exponents_from[whole]
                for node in range(layout.top):
                    if ((group ^ target) >> node) & 1:
                        double, shift = split(alpha[starts[node] + whole])
                        exponent += shift
                        for place in range(size):
                            upper_products[place] = -double * upper_products[place]
                additions = fill_row_products(
                    row, rows, doubles[count:], exponents[count:], row_additions, row_products, row_shifts
                )
                for addition in range(additions):
                    reached = row | row_additions[addition]
                    push(
                        -fraction * row_products[addition],
                        exponent + row_shifts[addition],
                        upper_products,
                        upper_shifts,
                        targets[reached, :size],
                        gathered[reached, :size],
                    )
                if own:
                    gathered[row, 0] = own_value
            scatter(places[:size], gathered, given, row_sets, leaf_count, low, own)
        nodes_outside(leaf << low, low, bits, outside)
        places[0] = leaf << low
        fill_places(outside, leaf_count, places)
        for number in range(above):
            for place in range(1 << low):
                if own and number == 0:
                    result[places[number] + place] = given[number, place]
                else:
                    result[places[number] + place] += given[number, place]
    return result


@inlined
def _starts_of_top(layout: Layout, group: int) -> Integers:
    """Where the alphas of the top nodes outside the group begin, and (last) where they end."""
    bits = layout.nodes - layout.top
    starts = np.full(layout.top + 1, -1, dtype=np.int64)
    begin = bits << (bits - 1)
    for node in range(layout.top):
        if not (group >> node) & 1:
            starts[node] = begin
            begin += 1 << bits
    starts[layout.top] = begin
    return starts
