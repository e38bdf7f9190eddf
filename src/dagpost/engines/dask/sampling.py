"""Orders from a forward table on the workers; the same orders as sampling/orders.py gives for a seed.

All samples move together, wave after wave: the samples in one block are one task, on the worker that has the block.
There a sample moves on as long as its uniform number falls on a node that is not a top node, which needs the sums of
that block only; nodes are taken in their order, top nodes last. A sample that leaves the block waits, with alpha of
each top node. The sums that the waiting samples need are then looked up in the blocks around: for each wave, one task
for each block that a sample may go to, with a few numbers per sample as its result. No block moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import kernel
from dagpost._tools.progress import Stage
from dagpost._tools.wide_floats import multiply, ratio, to_logs
from dagpost.engines.dask.blocks import layout_of, nodes_in
from dagpost.engines.dask.cluster import Cluster, large_graphs, no_cancel, writeable
from dagpost.engines.dask.order import ClusterForward, entries
from dagpost.exact.walk import Layout, waves
from dagpost.sampling.orders import OrderSample, draw_chunk


class _Samples(NamedTuple):
    """How far the samples are, a row each."""

    #: Nodes that are not placed yet.
    sets: Integers
    uniforms: Floats
    orders: NDArray[np.uint8]
    alpha: Wide
    #: Sum of the set and alpha of every top node, where a sample is about to leave its block.
    waiting: Wide
    #: The running sum of probabilities of a sample that waits; -1: it does not wait.
    reached: Floats


def _samples(sets: Integers, uniforms: Floats, top: int) -> _Samples:
    """Samples of which nothing is known but their sets."""
    count, nodes = uniforms.shape
    orders, alpha = np.zeros((count, nodes), dtype=np.uint8), np.zeros((count, nodes), dtype=np.int64)
    return _Samples(sets, uniforms, orders, alpha, np.zeros((count, top + 1), dtype=np.int64), np.full(count, -1.0))


def draw_orders(cluster: Cluster, forward: ClusterForward, uniforms: Floats, *, stage: Stage) -> OrderSample:
    """One order for each row of `uniforms`; counts the samples on `stage` once a wave."""
    layout = forward.layout
    count = len(uniforms)
    everything = np.full(count, (1 << layout.nodes) - 1, dtype=np.int64)
    samples = _samples(everything, np.ascontiguousarray(uniforms), layout.top)
    for wave in waves(layout.top)[::-1]:
        # Once, unless rounding left a waiting sample no choice but a node of its own block.
        while _move_wave(cluster, forward, samples, wave):
            pass
        stage.advance(count)
    log_alpha = to_logs(samples.alpha)
    log_alpha += forward.log_scales
    return OrderSample(samples.orders, log_alpha)


def _move_wave(cluster: Cluster, forward: ClusterForward, samples: _Samples, wave: list[int]) -> bool:
    """Move the samples in the blocks of a wave until they are in other blocks; True if there were any."""
    layout = forward.layout
    blocks = samples.sets >> (layout.nodes - layout.top)
    groups = [(block, np.flatnonzero((blocks == block) & (samples.sets > 0))) for block in wave]
    groups = [(block, members) for block, members in groups if len(members)]
    head = (layout.nodes, layout.max_parents, layout.top)
    with large_graphs():
        moved = []
        for block, members in groups:
            tables, own = (forward.weights, forward.sums[block]), (samples.sets[members], samples.uniforms[members])
            moved.append(cluster.submit("draw-orders", _move_block, *head, block, *tables, *own))
    for (_, members), result in zip(groups, cluster.gather(moved), strict=True):
        _take(samples, members, result)
    _leave_blocks(cluster, forward, samples)
    return bool(groups)


def _take(samples: _Samples, members: Integers, result: _Samples) -> None:
    """Copy what a task found to its samples; the task knows only the nodes that it placed."""
    nodes = samples.alpha.shape[1]
    before, after = samples.sets[members], result.sets
    waits = (result.reached >= 0.0)[:, None]
    placed = np.bitwise_count(after).astype(np.int64)[:, None], np.bitwise_count(before).astype(np.int64)[:, None]
    positions = np.arange(nodes)
    # In the place that is still undecided, a sample that waits has the last node that was possible.
    new = (positions >= placed[0] - waits) & (positions < placed[1])
    samples.orders[members] = np.where(new, result.orders, samples.orders[members])
    possible = np.take_along_axis(result.orders, np.maximum(placed[0] - 1, 0), axis=1)
    removed = ((before ^ after)[:, None] >> positions) & 1 != 0
    removed |= waits & (positions == possible) & ((after[:, None] >> positions) & 1 != 0)
    samples.alpha[members] = np.where(removed, result.alpha, samples.alpha[members])
    samples.sets[members] = after
    samples.waiting[members] = result.waiting
    samples.reached[members] = result.reached


def _leave_blocks(cluster: Cluster, forward: ClusterForward, samples: _Samples) -> None:
    """Let the waiting samples choose, with the sums of the blocks that they may go to."""
    layout = forward.layout
    inner = layout.nodes - layout.top
    members = np.flatnonzero(samples.reached >= 0.0)
    if len(members) == 0:
        return
    places = samples.sets[members] & ((1 << inner) - 1)
    blocks = samples.sets[members] >> inner
    wanted: dict[int, list[tuple[int, Integers]]] = {}
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        for node in nodes_in(int(block), layout.top):
            wanted.setdefault(int(block) ^ (1 << node), []).append((node, rows))
    found = [
        cluster.submit("look-up", entries, forward.sums[block], np.concatenate([places[rows] for _, rows in asked]))
        for block, asked in wanted.items()
    ]
    before = np.zeros((len(members), layout.top), dtype=np.int64)
    for asked, values in zip(wanted.values(), cluster.gather(found), strict=True):
        begin = 0
        for node, rows in asked:
            before[rows, node] = values[begin : begin + len(rows)]
            begin += len(rows)
    _choose_top_node(layout, members, before, samples)


@kernel
def _choose_top_node(layout: Layout, members: Integers, before: Wide, samples: _Samples) -> None:
    """Go on where `draw_chunk` stopped: the running sum takes the top nodes, in their order."""
    inner = layout.nodes - layout.top
    for row in range(len(members)):
        sample = members[row]
        whole = samples.sets[sample]
        placed = 0
        for node in range(layout.nodes):
            placed += (whole >> node) & 1
        running = samples.reached[sample]
        chosen = np.int64(samples.orders[sample, placed - 1])
        for top in range(layout.top):
            if (whole >> (inner + top)) & 1:
                product = multiply(samples.waiting[sample, top + 1], before[row, top])
                probability = ratio(product, samples.waiting[sample, 0])
                if probability > 0.0:
                    chosen = np.int64(inner + top)
                    running += probability
                    if running > samples.uniforms[sample, placed - 1]:
                        break
        samples.orders[sample, placed - 1] = chosen
        if chosen >= inner:
            samples.alpha[sample, chosen] = samples.waiting[sample, chosen - inner + 1]
        samples.sets[sample] = whole ^ (np.int64(1) << chosen)
        samples.reached[sample] = -1.0


def _move_block(
    nodes: int, max_parents: int, top: int, block: int, weights: Wide, sums: Wide, sets: Integers, uniforms: Floats
) -> Any:
    """The task: samples of one block, moved as far as its own sums allow."""
    layout = layout_of(nodes, max_parents, top)
    samples = _samples(sets.copy(), writeable(uniforms), top)
    starts = np.full(top + 1, -1, dtype=np.int64)
    starts[top] = 0
    members = np.arange(len(sets))
    draw_chunk(layout, writeable(weights), writeable(sums), starts, block, members, *samples, no_cancel())
    return samples._replace(uniforms=uniforms[:, :0])
