"""Independent graphs from the structure-modular posterior itself, by source layers.

A graph splits uniquely into layers: its sources, the sources of what is left, and so on. Let `U` be the nodes
placed so far and `Q` the last layer. A node joins the next layer with weight `alpha_i(U) - alpha_i(U - Q)`, since
it must have a parent in `Q`; the completions after layer `Q'` weigh `sum over X of prod over i in X of
(-alpha_i(U)) * B(U ∪ Q' ∪ X)`, since no later source may have all its parents in `U`. So the next layer is drawn
node by node from the tensor `c(Y) = B(U ∪ Y)` over the nodes not placed yet (next_layer.py):

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

from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks, Wide
from dagpost._tools.kernels import fill, kernel
from dagpost._tools.progress import Stage
from dagpost._tools.wide_floats import ZERO
from dagpost.checkpoints import Tracking
from dagpost.engines import Engine
from dagpost.exact.alternating import leaf_alphas
from dagpost.exact.structure import StructureTables, widest_wave
from dagpost.exact.walk import Layout, waves
from dagpost.sampling.blocks import draw_in_blocks
from dagpost.sampling.dags import RankedFamilies, draw_parents_in_layers
from dagpost.sampling.next_layer import Samples, Scratch, draw_layer

_MOVED_TOGETHER = 32 * 1024


def sample_layers(
    tables: StructureTables,
    families: RankedFamilies,
    count: int,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
    **tracking: Unpack[Tracking],
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
        "Use fewer threads, or a method that draws orders.",
    )
    draw = partial(_draw, tables, families, engine)
    return draw_in_blocks(draw, count, layout.nodes, _MOVED_TOGETHER, seed=seed, units=layout.top + 1, **tracking)


def _draw(
    tables: StructureTables, families: RankedFamilies, engine: Engine, uniforms: Floats, stage: Stage
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
        sums = (tables.forward.weights, tables.completions, tables.completion_exponents)
        _draw_leaf(layout, *sums, *item, samples, cancel)

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
    next_sample = np.empty(len(members), dtype=np.int64)
    first_of_set = np.empty(size, dtype=np.int64)
    fill(first_of_set, -1)
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
        begin = 0
        while begin < count:
            if cancel[0]:
                return
            # Samples of one set with the same last layer share everything; they come to the front.
            layer = last_layer[members[group[begin]]]
            end = begin + 1
            for position in range(begin + 1, count):
                if last_layer[members[group[position]]] == layer:
                    group[position], group[end] = group[end], group[position]
                    end += 1
            same = group[begin:end]
            draw_layer(layout, alpha, completions, completion_exponents, whole, layer, members, same, samples, space)
            for position in range(begin, end):
                member = group[position]
                now = placed[members[member]]
                if now >> low == leaf and now != everything:
                    next_sample[member] = first_of_set[now & (size - 1)]
                    first_of_set[now & (size - 1)] = member
            begin = end
