"""The next source layer of samples that have placed the same nodes, decision by decision (layers.py has the weights).

The decisions are taken depth first, the last node first, so that samples share the tensors of the decisions that they
have in common.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks, Wide
from dagpost._tools.kernels import inlined, summing_kernel
from dagpost.exact.alternating import SMALLEST_SHIFT, fill_places, nodes_outside, split
from dagpost.exact.walk import Layout
from dagpost.families.numbering import squeezed


class Samples(NamedTuple):
    """The samples on their way, one a row (`allowed` and `to_meet`: one a column).

    `placed` and `last_layer` are sets of nodes, `layers` says how many there are so far. For every node: `alpha_before`
    is its alpha at the set before the last layer; once it has joined, `allowed` is the set its parents come from,
    `to_meet` the layer they must meet, and `joined_weight` the log weight of all such parent sets.
    """

    uniforms: Floats
    placed: Integers
    last_layer: Integers
    layers: Integers
    alpha_before: Wide
    joined_weight: Floats
    allowed: Masks
    to_meet: Masks


class Scratch(NamedTuple):
    """Space for one layer: the nodes not placed, where their sets stand, and the tensors of the decisions."""

    outside: Integers
    places: Integers
    shifts: Integers
    tensors: Floats
    folded: Floats


@inlined
def draw_layer(
    layout: Layout,
    alpha: Wide,
    completions: Floats,
    completion_exponents: NDArray[np.int32],
    whole: np.int64,
    layer: np.int64,
    members: Integers,
    group: Integers,
    samples: Samples,
    space: Scratch,
) -> None:
    """Draw the next layer of all samples of `group`, which share the placed nodes `whole` and their last layer."""
    outside, places, shifts, tensors, folded = space
    uniforms, layers, alpha_before = samples.uniforms, samples.layers, samples.alpha_before
    count = nodes_outside(whole, 0, layout.nodes, outside)
    # alpha at the placed set, as doubles in [1, 2) times a power of two that goes into the tensor; alpha before the
    # last layer on the same scale.
    now = np.empty(count)
    before = np.empty(count)
    exponents = np.empty(count, dtype=np.int64)
    first = members[group[0]]
    for position in range(count):
        node = outside[position]
        now[position], exponents[position] = split(alpha[node, _alpha_place(layout, whole, node)])
        fraction, exponent = split(alpha_before[first, node])
        before[position] = min(math.ldexp(fraction, max(exponent - exponents[position], SMALLEST_SHIFT)), now[position])
        if layer == 0:
            before[position] = 0.0
    size = 1 << count
    places[0] = whole
    shifts[0] = 0
    fill_places(outside, count, places)
    for position in range(count):
        half = 1 << position
        for place in range(half):
            shifts[half + place] = shifts[place] + exponents[position]
    largest = np.int64(-(1 << 40))
    for place in range(1, size):
        shifts[place] += completion_exponents[places[place]]
        largest = max(largest, shifts[place])
    shifts[0] = completion_exponents[places[0]]
    largest = max(largest, shifts[0])
    tensor = tensors[:size]
    for place in range(size):
        # The exponent of a double is moved by adding to its bits, which no call of `ldexp` can match.
        shift = max(shifts[place] - largest, SMALLEST_SHIFT)
        bits = np.float64(completions[places[place]]).view(np.int64) + (shift << 52)
        tensor[place] = np.int64(bits).view(np.float64)
    # Depth first over the decisions, last node first. `remaining[d]` is the tensor before decision d; `bounds` are the
    # samples that come to it, which each decision parts into those that join and those that stay out.
    starts = np.zeros(count + 1, dtype=np.int64)
    for depth in range(count):
        starts[depth + 1] = starts[depth] + (size >> depth)
    begins = np.zeros(count + 1, dtype=np.int64)
    middles = np.zeros(count + 1, dtype=np.int64)
    ends = np.zeros(count + 1, dtype=np.int64)
    visits = np.zeros(count + 1, dtype=np.int64)
    chosen = np.zeros(count + 1, dtype=np.int64)
    left = np.empty(len(group))
    for position in range(len(group)):
        sample = members[group[position]]
        left[position] = uniforms[sample, layers[sample]]
    ends[0] = len(group)
    depth = 0
    while depth >= 0:
        if depth == count:
            for position in range(begins[depth], ends[depth]):
                _place(layout, alpha, whole, layer, chosen[depth], members[group[position]], samples)
            depth -= 1
            continue
        position = count - 1 - depth
        half = 1 << position
        without = tensors[starts[depth] : starts[depth] + half]
        with_node = tensors[starts[depth] + half : starts[depth] + 2 * half]
        if visits[depth] == 0:
            joining = (now[position] - before[position]) * _contract(with_node, before, position, folded)
            staying = _contract_difference(without, with_node, now[position], before, position, folded)
            joining = max(joining, 0.0)
            staying = max(staying, 0.0)
            if position == 0 and chosen[depth] == 0:
                # A layer is never empty; what is left of its weight is rounding error.
                staying = 0.0
                joining = 1.0
            middles[depth] = _part(joining, staying, left, group, begins[depth], ends[depth])
        visits[depth] += 1
        if visits[depth] == 1:
            if middles[depth] > begins[depth]:
                target = tensors[starts[depth + 1] : starts[depth + 1] + half]
                for place in range(half):
                    target[place] = with_node[place]
                chosen[depth + 1] = chosen[depth] | (np.int64(1) << outside[position])
                begins[depth + 1], ends[depth + 1], visits[depth + 1] = begins[depth], middles[depth], 0
                depth += 1
        elif visits[depth] == 2:
            if ends[depth] > middles[depth]:
                target = tensors[starts[depth + 1] : starts[depth + 1] + half]
                for place in range(half):
                    target[place] = without[place] - now[position] * with_node[place]
                chosen[depth + 1] = chosen[depth]
                begins[depth + 1], ends[depth + 1], visits[depth + 1] = middles[depth], ends[depth], 0
                depth += 1
        else:
            depth -= 1


@inlined
def _alpha_place(layout: Layout, whole: np.int64, node: int) -> np.int64:
    low_set = whole & ((1 << layout.low) - 1)
    if node >= layout.low:
        return low_set
    return squeezed(low_set, node)


@summing_kernel
def _contract(tensor: Floats, before: Floats, count: int, scratch: Floats) -> float:
    """Sum the tensor over the decisions that are left: without minus `before` times with, node by node."""
    if count == 0:
        return tensor[0]
    half = 1 << (count - 1)
    for place in range(half):
        scratch[place] = tensor[place] - before[count - 1] * tensor[half + place]
    for position in range(count - 2, -1, -1):
        half = 1 << position
        for place in range(half):
            scratch[place] -= before[position] * scratch[half + place]
    return scratch[0]


@summing_kernel
def _contract_difference(
    without: Floats, with_node: Floats, alpha: float, before: Floats, count: int, scratch: Floats
) -> float:
    """`_contract` of without minus alpha times with."""
    for place in range(1 << count):
        scratch[place] = without[place] - alpha * with_node[place]
    for position in range(count - 1, -1, -1):
        half = 1 << position
        for place in range(half):
            scratch[place] -= before[position] * scratch[half + place]
    return scratch[0]


@inlined
def _part(joining: float, staying: float, left: Floats, group: Integers, begin: int, end: int) -> int:
    """Bring the samples that join to the front; what is left of their uniform numbers is uniform again."""
    chance = joining / (joining + staying) if joining + staying > 0.0 else 0.5
    middle = begin
    for position in range(begin, end):
        if left[position] < chance:
            left[position] = left[position] / chance
            left[position], left[middle] = left[middle], left[position]
            group[position], group[middle] = group[middle], group[position]
            middle += 1
        else:
            left[position] = (left[position] - chance) / (1.0 - chance)
    return middle


@inlined
def _place(
    layout: Layout, alpha: Wide, whole: np.int64, layer: np.int64, chosen: np.int64, sample: int, samples: Samples
) -> None:
    """Give a sample its next layer."""
    for node in range(layout.nodes):
        if (whole >> node) & 1:
            continue
        value = alpha[node, _alpha_place(layout, whole, node)]
        if (chosen >> node) & 1:
            samples.allowed[node, sample] = np.uint64(whole)
            samples.to_meet[node, sample] = np.uint64(layer)
            fraction, exponent = split(value)
            ratio = 0.0
            if layer != 0:
                old_fraction, old_exponent = split(samples.alpha_before[sample, node])
                shift = max(old_exponent - exponent, np.int64(SMALLEST_SHIFT))
                ratio = math.ldexp(old_fraction / fraction, int(shift))
            # The weight of the parent sets that meet the last layer; -inf where the difference keeps too few digits.
            if ratio > 1.0 - 1e-6:
                samples.joined_weight[sample, node] = -math.inf
            else:
                samples.joined_weight[sample, node] = math.log(fraction) + exponent * math.log(2.0) + math.log1p(-ratio)
        else:
            samples.alpha_before[sample, node] = value
    samples.placed[sample] = whole | chosen
    samples.last_layer[sample] = chosen
    samples.layers[sample] += 1
