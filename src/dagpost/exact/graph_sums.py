"""The weight of all graphs on every set of nodes alone: `A(S)` of structure.py.

    A(S) = sum over nonempty T ⊆ S of (-1)^(|T|+1) prod over i in T of alpha_i(S-T) * A(S - T),   A(∅) = 1

`alpha` depends on the set that gives, so sets give to their supersets rather than take from their subsets. A leaf
returns what it gives, and the leaves are added up in one order, whatever ran them: to the leaves above in its own group
at once, for every other group in a sum of its own, which goes there when the group is done. Everything is kept relative
to the binary exponent of the order-modular sum `L(S)`, which no term of `A(S)` exceeds. Time `3^n`; memory 8 bytes a
set, as much again for the sums of groups, and for the contributions under way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inlined, kernel
from dagpost._tools.wide_floats import FRACTION_BITS
from dagpost.checkpoints import Tracking, tracked
from dagpost.engines import Engine
from dagpost.exact.alternating import (
    PADDING,
    ROW_NODES,
    SMALLEST_SHIFT,
    alphas,
    fill_places,
    fill_products,
    fill_row_products,
    group_top,
    leaf_alphas,
    leaf_cost,
    nodes_outside,
)
from dagpost.exact.order import ForwardTable
from dagpost.exact.walk import Layout, waves


def sum_over_graphs(
    forward: ForwardTable,
    layout: Layout,
    engine: Engine,
    known: Floats | None = None,
    sink: int = -1,
    **tracking: Unpack[Tracking],
) -> Floats:
    """`A(S)` for every set, relative to the exponent of `L(S)`.

    With `known` sums and a `sink`: only the terms in which the sink is in `T`.
    """
    graphs = np.zeros(1 << layout.nodes)
    sources = graphs if known is None else known
    inner = layout.top - group_top(layout.nodes)

    def block(leaf: int, cancel: Integers) -> Floats:
        return graphs_of_leaf(layout, forward.weights, forward.sums, graphs, sources, sink, leaf, cancel)

    def pairs_of(groups: list[int]) -> int:
        return sum(leaf_cost(layout, leaf) for leaf in _leaves(groups, range(1 << inner), inner))

    # Every group adds to all groups above it, so the table changes as a whole.
    with tracked(
        "sums over graphs",
        _batches(layout.top - inner),
        running=lambda: [graphs],
        units=3**layout.top,
        units_of=pairs_of,
        kept_as="sums over graphs by groups",
        **tracking,
    ) as (saved, stage):
        for groups in saved:
            # What the first group gives is all that the others have so far, and goes straight to their places.
            given = {group: np.zeros(1 << (layout.nodes - group.bit_count())) if group else graphs for group in groups}
            for within in waves(inner):
                leaves = _leaves(groups, within, inner)
                for leaf, contribution in zip(leaves, engine.run(block, leaves), strict=True):
                    stage.advance(leaf_cost(layout, leaf))
                    _add_leaf(layout, inner, contribution, graphs, given[leaf >> inner], leaf)
            for group in groups:
                if group:
                    _add_group(layout, inner, given.pop(group), graphs, group)
    return graphs


def _batches(top: int) -> list[list[int]]:
    """Groups that run at the same time: groups of one wave, as many as have room for their sums beside the table."""
    return [
        wave[first : first + step]
        for wave in waves(top)
        for step in [1 << wave[0].bit_count()]
        for first in range(0, len(wave), step)
    ]


def _leaves(groups: Sequence[int], within: Iterable[int], inner: int) -> list[int]:
    return [(group << inner) | leaf for leaf in within for group in groups]


@kernel
def graphs_of_leaf(
    layout: Layout, weights: Wide, sums: Wide, graphs: Floats, known: Floats, sink: int, leaf: int, cancel: Integers
) -> Floats:
    """Finish `A` of a leaf, and return what its sets give to each leaf above it (row 0: the leaf itself).

    All numbers are relative to the exponent of the order-modular sum of the set they belong to. With a `sink`, only the
    sets without it give, and what they give is taken from `known`.
    """
    nodes, low = layout.nodes, layout.low
    rows = min(low, ROW_NODES)
    row_sets = 1 << rows
    alpha, _, _ = leaf_alphas(layout, weights, leaf)
    outside = np.empty(nodes, dtype=np.int64)
    leaf_count = nodes_outside(leaf << low, low, nodes, outside)
    widest = 1 << (leaf_count + low - rows)
    given = np.zeros((1 << leaf_count, 1 << low))
    own = given[0]
    for place in range(1 << low):
        own[place] = graphs[(leaf << low) + place]
    if leaf == 0 and sink < 0:
        own[0] = 1.0
    places = np.empty(widest, dtype=np.int64)
    products = np.empty(widest)
    shifts = np.empty(widest, dtype=np.int64)
    targets = np.empty((row_sets, widest + PADDING), dtype=np.int64)
    gathered = np.empty((row_sets, widest + PADDING))
    row_additions = np.empty(row_sets, dtype=np.int64)
    row_products = np.empty(row_sets)
    row_shifts = np.empty(row_sets, dtype=np.int64)
    doubles = np.empty(nodes)
    exponents = np.empty(nodes, dtype=np.int64)
    for mid in range(1 << (low - rows)):
        if cancel[0]:
            break
        count = nodes_outside((leaf << low) | (mid << rows), rows, nodes, outside)
        size = 1 << count
        places[0] = (leaf << low) | (mid << rows)
        fill_places(outside, count, places)
        for place in range(size):
            for row in range(row_sets):
                targets[row, place] = sums[places[place] + row] >> FRACTION_BITS
                gathered[row, place] = 0.0
        for row in range(row_sets):
            gathered[row, 0] = own[(mid << rows) | row]
        upper_products, upper_shifts = products[:size], shifts[:size]
        for row in range(row_sets):
            low_set = (mid << rows) | row
            whole = (np.int64(leaf) << low) | low_set
            own_value = gathered[row, 0]
            value = own_value if sink < 0 else known[whole]
            if not value > 0.0 or (sink >= 0 and (whole >> sink) & 1):
                continue
            alphas(layout, alpha, outside, count, low_set, rows, doubles, exponents)
            fill_products(count, doubles, exponents, products, shifts)
            fraction, exponent = math.frexp(value)
            exponent += targets[row, 0]
            additions = fill_row_products(
                row, rows, doubles[count:], exponents[count:], row_additions, row_products, row_shifts
            )
            for addition in range(additions):
                reached = row | row_additions[addition]
                _push(
                    -fraction * row_products[addition],
                    exponent + row_shifts[addition],
                    upper_products,
                    upper_shifts,
                    targets[reached, :size],
                    gathered[reached, :size],
                )
            # The empty addition is not a term of the sum.
            gathered[row, 0] = own_value
        _scatter(places[:size], gathered, given, row_sets, leaf_count, low)
    return given


@inlined
def _push(
    factor: float, shift: np.int64, products: Floats, shifts: Integers, targets: Integers, result: Floats
) -> None:
    """Add the terms of one pair of row sets to `result`."""
    for place in range(len(products)):
        exponent = min(max(shifts[place] + shift - targets[place], SMALLEST_SHIFT), 64)
        scale = np.int64((exponent + 1023) << 52).view(np.float64)
        result[place] += factor * products[place] * scale


@inlined
def _scatter(places: Integers, gathered: Floats, given: Floats, row_sets: int, leaf_count: int, low: int) -> None:
    """Bring what was gathered for one set of mid nodes to where it belongs; its own sums are replaced, not added to."""
    inside = (1 << low) - 1
    per_leaf = len(places) >> leaf_count
    for place in range(len(places)):
        target = given[place // per_leaf]
        begin = places[place] & inside
        for row in range(row_sets):
            if place == 0:
                target[begin + row] = gathered[row, place]
            else:
                target[begin + row] += gathered[row, place]


@kernel
def _add_leaf(layout: Layout, inner: int, contribution: Floats, graphs: Floats, given: Floats, leaf: int) -> None:
    """Add what a leaf gives to the leaves above it, those of other groups in `given`; its own sums are final."""
    size = 1 << layout.low
    outside = np.empty(layout.nodes, dtype=np.int64)
    count = nodes_outside(leaf << layout.low, layout.low, layout.nodes, outside)
    places = np.empty(1 << count, dtype=np.int64)
    places[0] = leaf << layout.low
    fill_places(outside, count, places)
    within = 0
    while within < count and outside[within] < layout.low + inner:
        within += 1
    for above in range(1 << count):
        group = above >> within
        place_in_group = places[above] & ((size << inner) - 1)
        if group == 0:
            block = graphs[places[above] : places[above] + size]
        else:
            begin = group * (size << inner) + place_in_group
            block = given[begin : begin + size]
        values = contribution[above]
        for place in range(size):
            block[place] = values[place] if above == 0 else block[place] + values[place]


@kernel
def _add_group(layout: Layout, inner: int, given: Floats, graphs: Floats, group: int) -> None:
    """Add what a group gives to the groups above it."""
    size = 1 << (layout.low + inner)
    outside = np.empty(layout.nodes, dtype=np.int64)
    count = nodes_outside(group * size, layout.low + inner, layout.nodes, outside)
    places = np.empty(1 << count, dtype=np.int64)
    places[0] = group * size
    fill_places(outside, count, places)
    for above in range(1, 1 << count):
        block = graphs[places[above] : places[above] + size]
        values = given[above * size : (above + 1) * size]
        for place in range(size):
            block[place] += values[place]
