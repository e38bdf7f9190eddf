"""Independent graphs from the structure-modular posterior itself, by source layers.

A graph splits uniquely into layers: its sources, the sources of what is left, and so on. Let `U` be the nodes
placed so far and `Q` the last layer. A node joins the next layer with weight `alpha_i(U) - alpha_i(U - Q)`, since
it must have a parent in `Q`; the completions after layer `Q'` weigh `sum over X of prod over i in X of
(-alpha_i(U)) * B(U ∪ Q' ∪ X)`, since no later source may have all its parents in `U`. So the next layer is drawn
node by node from the tensor `c(Y) = B(U ∪ Y)` over the nodes
not placed yet:

    joins:       (alpha_i(U) - alpha_i(U - Q)) * c[with i]
    stays out:   c[without i] - alpha_i(U) * c[with i]
    undecided:   c[without i] - alpha_i(U - Q) * c[with i]         (the sum of the two)

and then each new node draws its parents inside `U`, not wholly inside `U - Q`. (In the first layer there is no `Q`, and
`alpha_i(U - Q)` reads 0.) No weight is left to correct: the graphs are independent draws from the posterior.

A layer of `r` nodes not placed costs some `2^r` operations, once for all samples that share their decisions. Adding
a layer makes the mask of a set a larger number, so one walk over the leaves in rising order meets each set after
all the samples that will come to it. Each sample has its own uniform numbers: one a layer, used up by the decisions
of the layer one after the other, and one a node for its parents.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks, Wide
from dagpost._tools.kernels import inlined, kernel, summing_kernel
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.uniforms import row_blocks, uniform_rows
from dagpost._tools.wide_floats import ZERO
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine
from dagpost.exact.alternating import SMALLEST_SHIFT, fill_places, leaf_alphas, split
from dagpost.exact.structure import StructureTables, widest_wave
from dagpost.exact.walk import Layout, waves
from dagpost.families.numbering import squeezed
from dagpost.sampling.dags import RankedFamilies, draw_parents_in_layers

_MOVED_TOGETHER = 32 * 1024


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


def sample_layers(
    tables: StructureTables,
    families: RankedFamilies,
    count: int,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> tuple[Masks, Floats]:
    """Draw `count` independent graphs: parent masks (graphs, nodes), and the log weight of each graph.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.exact.structure import structure_posterior
    >>> from dagpost.sampling.dags import rank_families
    >>> weights = np.log([[1.0, 3.0], [2.0, 1.0]])  # no edge: 2; 2 -> 1: 6; 1 -> 2: 1
    >>> tables = structure_posterior(weights, 1, engine=ThreadEngine(1)).tables
    >>> parents, _ = sample_layers(
    ...     tables, rank_families(weights, 1), 9_000, seed=np.random.SeedSequence(1), engine=ThreadEngine(1)
    ... )
    >>> bool(abs((parents[:, 0] == 2).mean() - 6 / 9) < 0.02)
    True
    """
    layout = tables.layout
    memory.require(
        widest_wave(layout.nodes, engine.workers, 40),
        f"Drawing graphs of {layout.nodes} variables by layers",
        "Use fewer threads, or method='linear-extensions'.",
    )
    parents, log_joint = np.empty((count, layout.nodes), dtype=np.uint64), np.empty(count)
    blocks = row_blocks(count, _MOVED_TOGETHER)
    saved = checkpoint.stage("graphs", blocks, lambda rows: [parents[rows], log_joint[rows]])
    with reporter.stage("graphs", count * (layout.top + 1)) as stage:
        for rows in saved.finished:
            stage.advance((rows.stop - rows.start) * (layout.top + 1))
        for rows in saved:
            uniforms = uniform_rows(seed, rows, 2 * layout.nodes)
            parents[rows], log_joint[rows] = _draw(tables, families, uniforms, engine, stage)
    return parents, log_joint


def _draw(
    tables: StructureTables, families: RankedFamilies, uniforms: Floats, engine: Engine, stage: Stage
) -> tuple[Masks, Floats]:
    """One graph for each row of `uniforms`, all moved together; counts the samples on `stage` once a wave."""
    layout = tables.layout
    count, nodes = len(uniforms), layout.nodes
    samples = Samples(
        uniforms,
        placed=np.zeros(count, dtype=np.int64),
        last_layer=np.zeros(count, dtype=np.int64),
        layers=np.zeros(count, dtype=np.int64),
        alpha_before=np.full((count, nodes), ZERO, dtype=np.int64),
        joined_weight=np.empty((count, nodes)),
        allowed=np.zeros((nodes, count), dtype=np.uint64),
        to_meet=np.zeros((nodes, count), dtype=np.uint64),
    )

    def block(item: tuple[int, Integers], cancel: Integers) -> None:
        leaf, members = item
        _draw_leaf(
            layout,
            tables.forward.weights,
            tables.completions,
            tables.completion_exponents,
            leaf,
            members,
            samples,
            cancel,
        )

    everything = (1 << nodes) - 1
    for wave in waves(layout.top):
        leaves = samples.placed >> layout.low
        waiting = np.flatnonzero(samples.placed != everything)
        by_leaf = waiting[np.argsort(leaves[waiting], kind="stable")]
        starts = np.searchsorted(leaves[by_leaf], wave)
        ends = np.searchsorted(leaves[by_leaf], wave, side="right")
        items = [(leaf, by_leaf[start:end]) for leaf, start, end in zip(wave, starts, ends, strict=True) if end > start]
        for _ in engine.run(block, items):
            pass
        stage.advance(count)
    log_totals = samples.joined_weight + tables.forward.log_scales
    return draw_parents_in_layers(
        families, samples.allowed, samples.to_meet, log_totals, uniforms[:, nodes:], engine=engine
    )


@kernel
def _draw_leaf(
    layout: Layout,
    weights: Wide,
    completions: Floats,
    completion_exponents: NDArray[np.int32],
    leaf: int,
    members: Integers,
    samples: Samples,
    cancel: Integers,
) -> None:
    """Move the samples whose placed nodes are in this leaf on, until they leave it or are complete."""
    nodes, low = layout.nodes, layout.low
    everything = (np.int64(1) << nodes) - 1
    size = 1 << low
    alpha, _, _ = leaf_alphas(layout, weights, leaf)
    next_sample = np.full(len(members), -1, dtype=np.int64)
    first_of_set = np.full(size, -1, dtype=np.int64)
    # The widest tensor of the leaf, and one of half the size for every decision that is left.
    free = 0
    for node in range(nodes):
        free += node < low or not (leaf >> (node - low)) & 1
    space = Scratch(
        np.empty(nodes, dtype=np.int64),
        np.empty(1 << free, dtype=np.int64),
        np.empty(1 << free, dtype=np.int64),
        np.empty(2 << free),
        np.empty(1 << free),
    )
    placed, last_layer = samples.placed, samples.last_layer
    group = np.empty(len(members), dtype=np.int64)
    for member in range(len(members)):
        low_set = placed[members[member]] & (size - 1)
        next_sample[member] = first_of_set[low_set]
        first_of_set[low_set] = member
    for low_set in range(size):
        count = 0
        member = first_of_set[low_set]
        while member >= 0:
            group[count] = member
            count += 1
            member = next_sample[member]
        if count == 0:
            continue
        whole = (np.int64(leaf) << low) | low_set
        if whole == everything:
            continue
        # Samples of one set with the same last layer share everything.
        by_layer = group[:count][np.argsort(last_layer[members[group[:count]]], kind="mergesort")]
        begin = 0
        while begin < count:
            if cancel[0]:
                return
            layer = last_layer[members[by_layer[begin]]]
            end = begin + 1
            while end < count and last_layer[members[by_layer[end]]] == layer:
                end += 1
            _draw_layer(
                layout,
                alpha,
                completions,
                completion_exponents,
                whole,
                layer,
                members,
                by_layer[begin:end],
                samples,
                space,
            )
            for position in range(begin, end):
                member = by_layer[position]
                now = placed[members[member]]
                if now >> low == leaf and now != everything:
                    next_sample[member] = first_of_set[now & (size - 1)]
                    first_of_set[now & (size - 1)] = member
            begin = end


@inlined
def _alpha_place(layout: Layout, whole: np.int64, node: int) -> np.int64:
    low_set = whole & ((1 << layout.low) - 1)
    if node >= layout.low:
        return low_set
    return squeezed(low_set, node)


@inlined
def _draw_layer(
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
    nodes = layout.nodes
    outside, places, shifts, tensors, folded = space
    uniforms, layers, alpha_before = samples.uniforms, samples.layers, samples.alpha_before
    count = 0
    for node in range(nodes):
        if not (whole >> node) & 1:
            outside[count] = node
            count += 1
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
    layout: Layout,
    alpha: Wide,
    whole: np.int64,
    layer: np.int64,
    chosen: np.int64,
    sample: int,
    samples: Samples,
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
