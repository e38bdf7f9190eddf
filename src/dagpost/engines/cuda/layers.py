"""Independent graphs by source layers on a CUDA device: sampling/layers.py, with all samples one layer at a time.

The samples that share their placed nodes and their last layer form a group. Groups with the same number `r` of nodes
left to place are worked on together: each has a tensor of `2^r` completions; then, node by node, every branch of
decisions that some sample has taken splits in two, with half of the tensor each. A decision needs both halves summed
over the nodes that are still undecided (`fold`). Branches never hold more numbers than the tensors they came from, so
memory is bounded by the groups that are begun together.

The uniform numbers are used as on the host, so the layers are those of the host up to rounding; parents are drawn on
the host. Time: a few passes over `2^r` numbers for every group, and at most `log2` of its number of samples more.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Unpack

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Stage
from dagpost._tools.spelling import setting
from dagpost._tools.uniforms import SEED_BLOCK
from dagpost.checkpoints import Tracking
from dagpost.engines.base import Engine
from dagpost.engines.cuda import device
from dagpost.engines.cuda.layout import ANY_THREADS, LEAST_EXPONENT, USUAL_SIZES, WIDE, Sizes
from dagpost.engines.cuda.structure import dense_alpha
from dagpost.exact.structure import StructureTables
from dagpost.sampling.blocks import draw_in_blocks
from dagpost.sampling.dags import RankedFamilies, draw_parents_in_layers

_MOST_BLOCKS = 1 << 16
#: A device takes no more in the second dimension of a grid.
_MOST_GROUPS = 65_535
#: Samples that move together.
_MOVED_TOGETHER = 128 * SEED_BLOCK
_FILES = ("widefloat.cuh", "layers.cu")


def sample_layers(
    tables: StructureTables,
    families: RankedFamilies,
    count: int,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
    sizes: Sizes = USUAL_SIZES,
    **tracking: Unpack[Tracking],
) -> tuple[Masks, Floats]:
    """Draw `count` independent graphs: parent masks (graphs, nodes), and the log weight of each graph."""
    draw = partial(_draw, tables, _LayerTables(tables, sizes), families, engine)
    return draw_in_blocks(draw, count, tables.layout.nodes, _MOVED_TOGETHER, seed=seed, **tracking)


class _LayerTables:
    """What drawing needs on the device: the completions of every set, and alpha of every node there."""

    def __init__(self, tables: StructureTables, sizes: Sizes) -> None:
        cupy = device.load_cupy()
        self.nodes, self.sizes = tables.layout.nodes, sizes
        tensors = 5 * 8 * max(sizes.layer_entries, 1 << self.nodes)
        needed = (self.nodes << (self.nodes + 2)) + (12 << self.nodes) + tensors
        needed += 2 * tables.forward.weights.nbytes
        device.require(
            needed, f"Drawing graphs of {self.nodes} variables by layers", f"use {setting('engine', 'threads')}."
        )
        self.completions = cupy.asarray(tables.completions)
        self.exponents = cupy.asarray(tables.completion_exponents)
        self.alpha = dense_alpha(self.nodes, tables.layout.max_parents, cupy.asarray(tables.forward.weights))
        self.kernels = kernels_for(self.nodes, sizes.folded_nodes)


def _draw(
    tables: StructureTables,
    on_device: _LayerTables,
    families: RankedFamilies,
    engine: Engine,
    uniforms: Floats,
    stage: Stage,
) -> tuple[Masks, Floats]:
    """One graph for each row of `uniforms` (one number a layer, then one a node): parent masks, and log weights."""
    cupy, nodes, samples = device.load_cupy(), on_device.nodes, len(uniforms)
    numbers = cupy.asarray(np.ascontiguousarray(uniforms[:, :nodes]))
    placed = cupy.zeros(samples, dtype=np.uint64)
    last = cupy.zeros(samples, dtype=np.uint64)
    allowed = cupy.zeros((nodes, samples), dtype=np.uint64)
    to_meet = cupy.zeros((nodes, samples), dtype=np.uint64)
    joined_weight = cupy.empty((samples, nodes))
    results = (placed, last, allowed, to_meet, joined_weight)
    everything = np.uint64((1 << nodes) - 1)
    done = 0
    for layer in range(nodes):
        waiting = cupy.flatnonzero(placed != everything)
        stage.advance(samples - len(waiting) - done)
        done = samples - len(waiting)
        if len(waiting) == 0:
            break
        keys = placed[waiting] << np.uint64(nodes) | last[waiting]
        groups, group_of = cupy.unique(keys, return_inverse=True)
        left = nodes - _bit_counts(groups >> np.uint64(nodes))
        for size in sorted(set(left.tolist()), reverse=True):
            own = np.flatnonzero(left == size)
            at_once = min(max(on_device.sizes.layer_entries >> size, 1), _MOST_GROUPS)
            for begin in range(0, len(own), at_once):
                chosen = cupy.asarray(own[begin : begin + at_once])
                _draw_layer(on_device, groups, chosen, group_of, waiting, size, numbers[:, layer], results)
    stage.advance(samples - done)
    log_totals = cupy.asnumpy(joined_weight) + tables.forward.log_scales
    return draw_parents_in_layers(
        families, cupy.asnumpy(allowed), cupy.asnumpy(to_meet), log_totals, uniforms[:, nodes:], engine=engine
    )


def _draw_layer(
    on_device: _LayerTables,
    groups: Any,
    chosen_groups: Any,
    group_of: Any,
    waiting: Any,
    left: int,
    uniforms: Any,
    results: tuple[Any, ...],
) -> None:
    """Draw the next layer of the samples of some groups, all of which have `left` nodes to place."""
    cupy, kernels = device.load_cupy(), on_device.kernels
    number = cupy.full(len(groups), -1, dtype=np.int32)
    number[chosen_groups] = cupy.arange(len(chosen_groups), dtype=np.int32)
    own_group = number[group_of]
    taking_part = cupy.flatnonzero(own_group >= 0)
    members = waiting[taking_part]
    branch_of, left_over = own_group[taking_part], uniforms[members]
    keys, nodes = groups[chosen_groups], np.uint64(on_device.nodes)
    placed, last = keys >> nodes, keys & ((np.uint64(1) << nodes) - np.uint64(1))
    count = len(placed)
    outside = cupy.empty((count, left), dtype=np.int32)
    now, before = cupy.empty((count, left)), cupy.empty((count, left))
    exponents = cupy.empty((count, left), dtype=np.int32)
    about = (np.int32(left), outside, now, before, exponents)
    _launch(kernels, "describe_groups", count, (on_device.alpha, placed, last, np.int32(count), *about))
    largest = cupy.full(count, LEAST_EXPONENT, dtype=np.int32)
    grid = (min(max((1 << left) // ANY_THREADS, 1), 4096), count)
    where = (on_device.exponents, placed, outside, exponents, np.int32(left), largest)
    kernels.get_function("largest_shifts")(grid, (ANY_THREADS,), where)
    tensors = cupy.empty(count << left)
    kernels.get_function("fill_tensors")(grid, (ANY_THREADS,), (on_device.completions, *where, tensors))
    groups_of_branches = cupy.arange(count, dtype=np.int32)
    chosen = cupy.zeros(count, dtype=np.uint64)
    for position in range(left - 1, -1, -1):
        branches = len(chosen)
        parted = cupy.empty(2 * branches << position)
        entries = np.uint64(branches)
        arguments = (tensors, groups_of_branches, now, np.int32(left), np.int32(position), entries, parted)
        _launch(kernels, "part_tensors", branches << position, arguments)
        totals = _folded(on_device, parted, groups_of_branches, before, left, position, branches)
        shared = (groups_of_branches, now, before, chosen, np.int32(left), np.int32(position), np.int32(branches))
        _launch(kernels, "decide", len(members), (totals, *shared, np.int32(len(members)), branch_of, left_over))
        present = cupy.zeros(2 * branches, dtype=np.int32)
        present[branch_of] = 1
        taken = cupy.flatnonzero(present)
        branch_of = (cupy.cumsum(present) - 1)[branch_of].astype(np.int32)
        tensors = cupy.empty(len(taken) << position)
        rows = (parted, taken, np.int32(position), np.uint64(len(taken)), tensors)
        _launch(kernels, "take_branches", len(taken) << position, rows)
        joins = (taken >= branches).astype(np.uint64)
        parents = taken % branches
        chosen = chosen[parents] | joins << np.uint64(position)
        groups_of_branches = groups_of_branches[parents]
    details = (placed, last, outside, now, before, exponents, chosen, groups_of_branches, branch_of, members)
    sizes = (np.int32(left), np.int32(len(members)), np.int64(len(uniforms)))
    _launch(kernels, "place_layer", len(members), (*details, *sizes, *results))
    cupy.cuda.get_current_stream().synchronize()


def _folded(
    on_device: _LayerTables, parted: Any, groups_of_branches: Any, before: Any, left: int, position: int, branches: int
) -> Any:
    """The sum over everything undecided of both halves of every branch."""
    cupy, kernels, rows = device.load_cupy(), on_device.kernels, parted
    while position > on_device.sizes.folded_nodes:
        position -= 1
        smaller = cupy.empty(2 * branches << position)
        arguments = (rows, groups_of_branches, before, np.int32(left), np.int32(position), np.uint64(branches), smaller)
        _launch(kernels, "fold", 2 * branches << position, arguments)
        rows = smaller
    totals = cupy.empty(2 * branches)
    arguments = (rows, groups_of_branches, before, np.int32(left), np.int32(position), np.uint64(branches), totals)
    kernels.get_function("fold_rest")((2 * branches,), (min(1 << max(position - 1, 5), 128),), arguments)
    return totals


def _launch(kernels: Any, name: str, threads: int, arguments: tuple[Any, ...]) -> None:
    blocks = min(max(-(-threads // ANY_THREADS), 1), _MOST_BLOCKS)
    kernels.get_function(name)((blocks,), (ANY_THREADS,), arguments)


def _bit_counts(masks: Any) -> Any:
    return np.bitwise_count(device.load_cupy().asnumpy(masks)).astype(np.int64)


@lru_cache(maxsize=32)
def kernels_for(nodes: int, folded_nodes: int) -> Any:
    """The kernels compiled for a number of nodes, and of nodes that one block of threads sums over."""
    constants = {"NODES": nodes, "FOLDED_NODES": folded_nodes, "LEAST_EXPONENT": LEAST_EXPONENT}
    return device.compiled(_FILES, **WIDE, **constants)
