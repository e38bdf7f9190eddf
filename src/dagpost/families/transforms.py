"""Sums over subsets and supersets of nodes, on sparse arrays of parent sets and on dense tables, with transposes.

The nodes are split into `low` ones (the first few, whose subsets are handled as dense tables inside a block) and
high ones, whose subsets `H` number the blocks. For a set `H`, node `i` has the *restricted sums*

    F_i(X) = sum of beta_i(P ∪ X) over P ⊆ H,     X a set of undecided nodes, |X| <= max_parents

numbered as in numbering.py, so that deciding a node is an operation on contiguous slices: leaving it out is taking a
prefix of the sets of each size (no work at all), letting it in is one addition per set that remains (`let_in`).
A node's own decision leaves its sums alone. At a leaf of the walk all that is left is a sparse array over the low
nodes, which `to_dense` spreads out and `subset_sums` turns into alpha_i(H ∪ T) for all sets T of low nodes at once.

Every step has its transpose, for the derivative of the evidence with respect to every weight: `superset_sums`,
`from_dense`, `let_in_transposed`.

Dense tables come in two layouts. Sums over the three lowest bits would touch neighbours inside one vector register,
which is seven times slower than the rest; in the *lane layout* those three bits are the highest of the index instead.
So sparse arrays are spread out in lane layout, summed over the three lane bits, and only then transposed.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Integers, Wide
from dagpost._tools.kernels import copy_into, fill, inlined
from dagpost._tools.wide_floats import ZERO, add
from dagpost.families.numbering import parent_sets

LANE_BITS = 3


def lane_positions(bits: int, max_parents: int) -> Integers:
    """Where each parent set over `bits` low nodes stands in a dense table in lane layout."""
    masks = parent_sets(bits, max_parents).astype(np.int64)
    if bits < LANE_BITS:
        return masks
    lane = masks & ((1 << LANE_BITS) - 1)
    return (lane << (bits - LANE_BITS)) | (masks >> LANE_BITS)


@inlined
def let_in(
    source: Wide,
    source_universe: int,
    element: int,
    target: Wide,
    max_parents: int,
    binomial: Integers,
    offset: Integers,
) -> None:
    """Restricted sums over the elements below `element`, once `element` may be a parent."""
    for size in range(min(max_parents, element) + 1):
        count = binomial[element, size]
        start = offset[source_universe, size]
        without = source[start : start + count]
        result = target[offset[element, size] : offset[element, size] + count]
        if size < max_parents:
            start = offset[source_universe, size + 1] + binomial[element, size + 1]
            with_element = source[start : start + count]
            for rank in range(count):
                result[rank] = add(without[rank], with_element[rank])
        else:
            for rank in range(count):
                result[rank] = without[rank]


@inlined
def let_in_transposed(
    source: Wide,
    source_universe: int,
    element: int,
    target: Wide,
    max_parents: int,
    binomial: Integers,
    offset: Integers,
) -> None:
    """Transpose of `let_in`: give back to `source` what was gathered in `target`."""
    for size in range(min(max_parents, element) + 1):
        count = binomial[element, size]
        start = offset[source_universe, size]
        without = source[start : start + count]
        result = target[offset[element, size] : offset[element, size] + count]
        for rank in range(count):
            without[rank] = add(without[rank], result[rank])
        if size < max_parents:
            start = offset[source_universe, size + 1] + binomial[element, size + 1]
            with_element = source[start : start + count]
            for rank in range(count):
                with_element[rank] = add(with_element[rank], result[rank])


@inlined
def to_dense(
    source: Wide,
    universe: int,
    positions: Integers,
    dense: Wide,
    bits: int,
    max_parents: int,
    binomial: Integers,
    offset: Integers,
) -> None:
    """Spread the restricted sums over the low nodes out into a dense table in lane layout."""
    fill(dense, ZERO)
    for size in range(min(max_parents, bits) + 1):
        count = binomial[bits, size]
        values = source[offset[universe, size] : offset[universe, size] + count]
        places = positions[offset[bits, size] : offset[bits, size] + count]
        for rank in range(count):
            dense[places[rank]] = values[rank]


@inlined
def from_dense(
    source: Wide,
    universe: int,
    positions: Integers,
    dense: Wide,
    bits: int,
    max_parents: int,
    binomial: Integers,
    offset: Integers,
) -> None:
    """Transpose of `to_dense`: add the entries of the dense table to the sparse array."""
    for size in range(min(max_parents, bits) + 1):
        count = binomial[bits, size]
        values = source[offset[universe, size] : offset[universe, size] + count]
        places = positions[offset[bits, size] : offset[bits, size] + count]
        for rank in range(count):
            values[rank] = add(values[rank], dense[places[rank]])


@inlined
def _leave_lane_layout(lanes: Wide, table: Wide) -> None:
    eighth = len(table) >> LANE_BITS
    for place in range(eighth):
        row = table[8 * place : 8 * place + 8]
        for lane in range(8):
            row[lane] = lanes[lane * eighth + place]


@inlined
def _enter_lane_layout(table: Wide, lanes: Wide) -> None:
    eighth = len(table) >> LANE_BITS
    for lane in range(8):
        row = lanes[lane * eighth : (lane + 1) * eighth]
        column = table[lane:]
        for place in range(eighth):
            row[place] = column[8 * place]


@inlined
def _add_subsets(table: Wide, first_bit: int, last_bit: int) -> None:
    """Add to the entries with a bit those without it, for the bits from `first_bit` up to but not with `last_bit`."""
    for bit in range(first_bit, last_bit):
        half = 1 << bit
        for start in range(0, len(table), 2 * half):
            without = table[start : start + half]
            with_bit = table[start + half : start + 2 * half]
            for place in range(half):
                with_bit[place] = add(with_bit[place], without[place])


@inlined
def _add_supersets(table: Wide, first_bit: int, last_bit: int) -> None:
    """Transpose of `_add_subsets`: add to the entries without a bit those with it."""
    for bit in range(first_bit, last_bit):
        half = 1 << bit
        for start in range(0, len(table), 2 * half):
            without = table[start : start + half]
            with_bit = table[start + half : start + 2 * half]
            for place in range(half):
                without[place] = add(without[place], with_bit[place])


@inlined
def subset_sums(lanes: Wide, table: Wide, bits: int) -> None:
    """`table[S]` = sum of the entries of `lanes`, a table in lane layout, over the subsets of S. Destroys `lanes`."""
    if bits < LANE_BITS:
        copy_into(table, lanes)
        _add_subsets(table, 0, bits)
    else:
        _add_subsets(lanes, bits - LANE_BITS, bits)
        _leave_lane_layout(lanes, table)
        _add_subsets(table, LANE_BITS, bits)


@inlined
def superset_sums(table: Wide, lanes: Wide, bits: int) -> None:
    """`lanes[X]`, in lane layout, = sum of `table` over the supersets of X. Destroys `table`."""
    if bits < LANE_BITS:
        copy_into(lanes, table)
        _add_supersets(lanes, 0, bits)
    else:
        _add_supersets(table, LANE_BITS, bits)
        _enter_lane_layout(table, lanes)
        _add_supersets(lanes, bits - LANE_BITS, bits)
