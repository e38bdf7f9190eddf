"""The weight of all ways to complete every set of nodes, and who takes part: `B(U)` and `G_i(U)` of structure.py.

    B(U) = sum over nonempty T ⊆ V-U of (-1)^(|T|+1) prod over i in T of alpha_i(U) * B(U ∪ T),    B(V) = 1

The terms with node `i` in `T`, divided by `-alpha_i(U)`, sum to the second factor of `G_i(U)`: the same pass that
fills `B` gives, with `A` known, the weight of every family and of every descendant set. A leaf reads the leaves
above it and writes only itself. The scale of `B(U)` is set by its terms with one node, between whose maximum and
sum it lies. Time `3^n`; memory 12 bytes a set.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Exponents, Floats, Integers, Wide
from dagpost._tools.kernels import fill, inlined, kernel, summing_kernel
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO, ZERO_LIMIT
from dagpost.exact.alternating import (
    NOTHING,
    PADDING,
    ROW_NODES,
    SMALLEST_SHIFT,
    alphas,
    fill_places,
    fill_products,
    fill_row_products,
    leaf_alphas,
    nodes_outside,
)
from dagpost.exact.walk import Layout, level_row, universe_at
from dagpost.families.numbering import squeezed
from dagpost.families.transforms import from_dense, superset_sums

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@kernel
def completions_of_leaf(
    layout: Layout,
    weights: Wide,
    sums: Wide,
    graphs: Floats,
    completions: Floats,
    completion_exponents: Exponents,
    leaf: int,
    watched: int,
    distribution: Floats,
    cancel: Integers,
) -> tuple[Wide, Floats, float]:
    """Fill `B` of a leaf; returns what it gives to each weight, to each path, and to the bound on the error.

    For a `watched` node, `distribution[U]` becomes the probability that it and its descendants are all nodes but `U`.
    """
    nodes, low = layout.nodes, layout.low
    everything = (np.int64(1) << nodes) - 1
    rows = min(low, ROW_NODES)
    row_sets = 1 << rows
    alpha, arrays, bases = leaf_alphas(layout, weights, leaf)
    # The sums G of a node replace its alpha once that has been used.
    outside = np.empty(nodes, dtype=np.int64)
    widest = 1 << nodes_outside(leaf << low, rows, nodes, outside)
    places = np.empty(widest, dtype=np.int64)
    products = np.empty(widest)
    shifts = np.empty(widest, dtype=np.int64)
    even = np.empty(widest)
    odd = np.empty(widest)
    values = np.empty((row_sets, widest + PADDING))
    scales = np.empty((row_sets, widest + PADDING), dtype=np.int64)
    doubles = np.empty(nodes)
    exponents = np.empty(nodes, dtype=np.int64)
    row_additions = np.empty(row_sets, dtype=np.int64)
    row_products = np.empty(row_sets)
    row_shifts = np.empty(row_sets, dtype=np.int64)
    parts = np.empty(row_sets)
    shares = np.empty(nodes)
    paths = np.zeros((nodes, nodes))
    error = 0.0
    evidence = graphs[everything]
    evidence_exponent = sums[everything] >> FRACTION_BITS
    for mid in range((1 << (low - rows)) - 1, -1, -1):
        if cancel[0]:
            break
        count = nodes_outside((leaf << low) | (mid << rows), rows, nodes, outside)
        size = 1 << count
        places[0] = (leaf << low) | (mid << rows)
        fill_places(outside, count, places)
        for place in range(1, size):
            for row in range(row_sets):
                values[row, place] = completions[places[place] + row]
                scales[row, place] = completion_exponents[places[place] + row]
        upper_products, upper_shifts = products[:size], shifts[:size]
        even_terms, odd_terms = even[:size], odd[:size]
        for row in range(row_sets - 1, -1, -1):
            low_set = (mid << rows) | row
            whole = (leaf << low) | low_set
            if whole == everything:
                values[row, 0], scales[row, 0] = 1.0, 0
                completions[whole], completion_exponents[whole] = 1.0, 0
                continue
            alphas(layout, alpha, outside, count, low_set, rows, doubles, exponents)
            fill_products(count, doubles, exponents, products, shifts)
            values[row, 0], scales[row, 0] = 1.0, NOTHING
            scale = np.int64(NOTHING)
            for position in range(count):
                scale = max(scale, exponents[position] + scales[row, 1 << position])
            for node in range(rows):
                if not (row >> node) & 1:
                    scale = max(scale, exponents[count + node] + scales[row | (1 << node), 0])
            total = 0.0
            for node in range(nodes):
                shares[node] = 0.0
            for place in range(size):
                even_terms[place] = 0.0
                odd_terms[place] = 0.0
            additions = fill_row_products(
                row, rows, doubles[count:], exponents[count:], row_additions, row_products, row_shifts
            )
            for addition in range(additions):
                factor, shift = row_products[addition], row_shifts[addition] - scale
                reached = row | row_additions[addition]
                above, above_scales = values[reached, :size], scales[reached, :size]
                terms = even_terms if factor > 0.0 else odd_terms
                part = factor * _pull(abs(factor), shift, upper_products, upper_shifts, above, above_scales, terms)
                total += part
                parts[addition] = part
            _share_out_rows(row, rows, additions, parts, shares)
            magnitude = _share_out(upper_products, even_terms, odd_terms, count, outside, shares)
            completion = -total
            if scale <= NOTHING // 2 or not completion > 0.0:
                values[row, 0], scales[row, 0] = 1.0, NOTHING
            else:
                fraction, exponent = math.frexp(completion)
                values[row, 0], scales[row, 0] = 2.0 * fraction, exponent - 1 + scale
            completions[whole], completion_exponents[whole] = values[row, 0], scales[row, 0]
            # Probabilities: what `A` of the set and the shares of the nodes outside make of the evidence.
            graph_exponent = sums[whole] >> FRACTION_BITS
            outer = max(graph_exponent + scale - evidence_exponent, np.int64(SMALLEST_SHIFT))
            unit = math.ldexp(graphs[whole] / evidence, outer)
            error += unit * magnitude
            for position in range(count + rows):
                node = outside[position] if position < count else position - count
                if position >= count and (row >> node) & 1:
                    continue
                place = squeezed(low_set, node) if node < low else low_set
                share = -shares[node]
                if share > 0.0 and graphs[whole] > 0.0:
                    exponent = graph_exponent + scale - exponents[position]
                    alpha[node, place] = scaled(graphs[whole] * share / doubles[position], exponent)
                    probability = unit * share
                    if node == watched:
                        distribution[whole] = probability
                    for other in range(nodes):
                        if not (whole >> other) & 1:
                            paths[node, other] += probability
                else:
                    alpha[node, place] = ZERO
    _gather(layout, alpha, leaf, arrays, bases)
    return arrays, paths, error


@inlined
def _share_out_rows(row: int, rows: int, additions: int, parts: Floats, shares: Floats) -> None:
    """Give each row node outside the sum of the terms it is in. Destroys `parts`."""
    half = additions
    for node in range(rows - 1, -1, -1):
        if not (row >> node) & 1:
            half >>= 1
            share = 0.0
            for position in range(half):
                share += parts[half + position]
                parts[position] += parts[half + position]
            shares[node] = share


@inlined
def scaled(double: float, exponent: np.int64) -> np.int64:
    """`double * 2^exponent` as a wide float.

    Below the normal range of doubles the result is zero: a share so small beside the terms whose difference it is
    consists of rounding error alone.
    """
    if double < _SMALLEST_NORMAL:
        return ZERO
    fraction, own_exponent = math.frexp(double)
    exponent += own_exponent - 1
    if exponent <= ZERO_LIMIT >> FRACTION_BITS:
        return ZERO
    return (np.int64(exponent) << FRACTION_BITS) + np.int64(round((2.0 * fraction - 1.0) * (1 << FRACTION_BITS)))


@summing_kernel
def _pull(
    factor: float, shift: np.int64, products: Floats, shifts: Integers, values: Floats, scales: Integers, result: Floats
) -> float:
    """Add the terms of one pair of row sets to `result`; returns their sum with the products put in."""
    total = 0.0
    for place in range(len(products)):
        exponent = max(shifts[place] + scales[place] + shift, SMALLEST_SHIFT)
        term = np.int64(np.float64(values[place]).view(np.int64) + (exponent << 52)).view(np.float64)
        result[place] += factor * term
        total += products[place] * term
    return total


@summing_kernel
def _share_out(products: Floats, even: Floats, odd: Floats, count: int, outside: Integers, shares: Floats) -> float:
    """Give each node outside the sum of the terms it is in; returns the sum of the absolute terms. Destroys `even`."""
    magnitude = 0.0
    for place in range(len(products)):
        magnitude += abs(products[place]) * (even[place] + odd[place])
        even[place] = products[place] * (even[place] - odd[place])
    for position in range(count - 1, -1, -1):
        half = 1 << position
        without = even[:half]
        with_node = even[half : 2 * half]
        share = 0.0
        for place in range(half):
            share += with_node[place]
            without[place] += with_node[place]
        shares[outside[position]] = share
    return magnitude


@inlined
def _gather(layout: Layout, sums: Wide, leaf: int, arrays: Wide, bases: Integers) -> None:
    """Sum over supersets and leave, in the start level of the walk, what the leaf gives to each weight."""
    lanes = np.empty(1 << layout.low, dtype=np.int64)
    fill(arrays, ZERO)
    for node in range(layout.nodes):
        if node >= layout.low and (leaf >> (node - layout.low)) & 1:
            continue
        bits = layout.low - 1 if node < layout.low else layout.low
        superset_sums(sums[node, : 1 << bits], lanes[: 1 << bits], bits)
        into, universe = level_row(layout, arrays, bases, 0, node), universe_at(layout, 0, node)
        positions = layout.own_positions if node < layout.low else layout.positions
        from_dense(into, universe, positions, lanes, bits, layout.max_parents, layout.binomial, layout.offset)
