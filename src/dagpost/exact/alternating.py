"""What the two alternating sums over all graphs (graph_sums.py, completions.py) have in common.

Both run over pairs of a set `U` and a set `T` of nodes outside it, with the product of `alpha_i(U)` over `T` in
every term. The sets are cut into leaves as in walk.py, and a leaf into rows of the `ROW_NODES` lowest nodes. For
one set `U_h` of higher nodes, all `U_h ∪ Y_h` that hold it are found once (`fill_places`); then every pair `U_l ⊆
S_l` of sets of lowest nodes is one vector operation over all `Y_h`, with the products over `Y_h` from
`fill_products`.

Tables are cut into pieces of many leaves, and what the leaves of a piece give is added up before it is passed on. Sums
of doubles depend on their order, so the pieces depend on the number of nodes alone and not on that of threads:
`group_top` says how `A` is cut, `block_leaves` how `B` is.

Numbers are doubles in [1, 2) with binary exponents beside them, since doubles alone would underflow.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inlined
from dagpost._tools.wide_floats import FRACTION_BITS
from dagpost.exact.walk import Layout, alpha_at_leaf, level_bases, start_chunk
from dagpost.families.numbering import squeezed

ROW_NODES = 6
# Rows of a table whose lengths are powers of two fall on the same few cache lines; this sets them apart.
PADDING = 8
# The exponent of a set of weight zero: far below any other, and sums of some dozens of it still fit.
NOTHING = -(1 << 25)
SMALLEST_SHIFT = -1000
_ONE_BITS = 1023 << 52
# A group of this many bits takes a tenth of a second, and its vectors are long enough.
_LARGEST_GROUP_BITS = 17


def group_top(nodes: int) -> int:
    """The number of top nodes whose subsets number the groups in which `A` is added up.

    >>> [group_top(nodes) for nodes in (8, 12, 14, 16, 18, 20, 22, 24, 26, 28)]
    [0, 1, 2, 3, 3, 3, 5, 7, 9, 10]
    """
    return max(0, min((nodes - 10) // 2, 3), min(nodes - _LARGEST_GROUP_BITS, 10))


def block_leaves(nodes: int) -> int:
    """How many nodes number the leaves of a block, the unit in which the work on `B` is handed out.

    >>> [block_leaves(nodes) for nodes in (12, 18, 20, 22, 24, 26, 28)]
    [0, 1, 2, 2, 3, 4, 4]
    """
    return max(0, (nodes - 14) // 3)


def leaf_cost(layout: Layout, leaf: int) -> int:
    """How much of the work is in one leaf: as many leaves as hold it. All leaves together: 3^top."""
    return int(1 << (layout.top - leaf.bit_count()))


@inlined
def nodes_outside(inside: int | np.int64, first: int, last: int, outside: Integers) -> int:
    """The nodes from `first` up to but not with `last` that are not in the set `inside`; returns how many."""
    count = 0
    for node in range(first, last):
        if not (inside >> node) & 1:
            outside[count] = node
            count += 1
    return count


@inlined
def fill_places(outside: Integers, count: int, places: Integers) -> None:
    """From `places[0]`, where a set stands, where it stands with every set of the nodes outside added."""
    for position in range(count):
        half = 1 << position
        step = np.int64(1) << outside[position]
        for place in range(half):
            places[half + place] = places[place] + step


@inlined
def split(value: np.int64) -> tuple[float, np.int64]:
    """A wide float as a double in [1, 2) and an exponent."""
    fraction = np.int64(((value & ((1 << FRACTION_BITS) - 1)) << 12) | _ONE_BITS).view(np.float64)
    return fraction, value >> FRACTION_BITS


@inlined
def alphas(
    layout: Layout,
    alpha: Wide,
    outside: Integers,
    count: int,
    low_set: int,
    rows: int,
    doubles: Floats,
    exponents: Integers,
) -> None:
    """Alpha of the nodes outside (first `count`) and of the row nodes (behind them) at the set with these low nodes."""
    for position in range(count + rows):
        node = outside[position] if position < count else position - count
        place = low_set
        if node < layout.low:
            place = squeezed(low_set, node)
        doubles[position], exponents[position] = split(alpha[node, place])


@inlined
def fill_products(count: int, doubles: Floats, exponents: Integers, products: Floats, shifts: Integers) -> None:
    """Products of (-alpha) over every set of the nodes outside, as doubles and exponents."""
    products[0] = 1.0
    shifts[0] = 0
    for position in range(count):
        half = 1 << position
        factor = -doubles[position]
        shift = exponents[position]
        low_products = products[:half]
        high_products = products[half : 2 * half]
        low_shifts = shifts[:half]
        high_shifts = shifts[half : 2 * half]
        for place in range(half):
            high_products[place] = factor * low_products[place]
            high_shifts[place] = shift + low_shifts[place]


@inlined
def fill_row_products(
    row: int, rows: int, doubles: Floats, exponents: Integers, sets: Integers, products: Floats, shifts: Integers
) -> int:
    """Products of (-alpha) over every set of row nodes that are not in `row`, and those sets; returns how many."""
    sets[0] = 0
    products[0] = 1.0
    shifts[0] = 0
    count = 1
    for node in range(rows):
        if not (row >> node) & 1:
            for position in range(count):
                sets[count + position] = sets[position] | (1 << node)
                products[count + position] = -doubles[node] * products[position]
                shifts[count + position] = exponents[node] + shifts[position]
            count *= 2
    return count


@inlined
def leaf_alphas(layout: Layout, weights: Wide, leaf: int) -> tuple[Wide, Wide, Integers]:
    """Alpha of every node that is not in the leaf, for all sets of low nodes; with scratch space of the walk."""
    bases = level_bases(layout)
    arrays = np.empty(bases[-1], dtype=np.int64)
    lanes = np.empty(1 << layout.low, dtype=np.int64)
    alpha = np.empty((layout.nodes, 1 << layout.low), dtype=np.int64)
    start_chunk(layout, weights, leaf, arrays, bases)
    for node in range(layout.nodes):
        bits = layout.low - 1 if node < layout.low else layout.low
        if node < layout.low or not (leaf >> (node - layout.low)) & 1:
            alpha_at_leaf(layout, arrays, bases, 0, node, lanes, alpha[node, : 1 << bits])
    return alpha, arrays, bases
