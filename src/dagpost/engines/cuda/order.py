"""The order-modular posterior on a CUDA device: the sums of exact/order.py, cut up as in layout.py.

Forward: for every subset of the top nodes the restricted sums of each node go one step down (`let_in`), then all
subsets of the mid nodes are summed at once in shared memory (`expand`; a set of low parents that leaves room for `d`
more has at most `d` mid nodes, so most additions are known to be with zero and left out). After that, size by size,
one block of threads for each subset of mid and slot nodes: sums over the low nodes in shared memory give alpha, times
the sums of the block with one high node fewer; the low nodes finish the block size by size. Backward likewise, from
the largest sets down, in the place of the forward sums; `gather` then multiplies the two, and `collect` and
`give_back` take the products back up the walk to every weight.

Memory: 8 bytes a set, and a few gigabytes at 34 nodes. The numbers are wide floats with the roundings of the host; sums
are taken in another order, so results differ from the host's in the last digits (below 1e-11) but never between runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Wide
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.wide_floats import ZERO
from dagpost.engines.cuda import device
from dagpost.engines.cuda.layout import (
    ANY_THREADS,
    ORDER,
    ORDER_THREADS,
    USUAL_SIZES,
    WIDE,
    DeviceLayout,
    Sizes,
    make_layout,
    sets_of_size,
)
from dagpost.engines.cuda.walk import backward_walk, forward_walk
from dagpost.exact.order import Forward, ForwardTable, check_weights, log_of_all, posterior_of_families, wide_weights
from dagpost.exact.order import require_memory as require_host_memory
from dagpost.exact.walk import make_layout as make_host_layout
from dagpost.families.numbering import binomials, size_offsets

_FILES = ("widefloat.cuh", "walk.cuh", "order.cu")


@dataclass(frozen=True, eq=False)
class DeviceForward(Forward):
    """The forward sums on the device: `weights` and `sums` are arrays there."""

    layout: DeviceLayout


def forward_table(
    log_weights: Floats, max_parents: int, sizes: Sizes = USUAL_SIZES, reporter: Reporter = NO_PROGRESS
) -> DeviceForward:
    """Sum over all orders of every set of nodes, on the device."""
    cupy = device.load_cupy()
    check_weights(log_weights, max_parents)
    layout = layout_here(len(log_weights), max_parents, sizes)
    require_memory(layout.nodes, layout.max_parents, backward=False, sizes=sizes)
    scales = log_weights.max(axis=1)
    weights = cupy.asarray(wide_weights(log_weights, scales))
    sums = cupy.empty(1 << layout.nodes, dtype=np.int64)
    steps = _Kernels(layout, weights, sums)
    with reporter.stage("forward table", layout.steps) as stage:
        for _ in forward_walk(layout, steps):
            cupy.cuda.get_current_stream().synchronize()
            stage.advance(1)
    log_total = log_of_all(cupy.asnumpy(sums[-1:]), log_weights, max_parents)
    return DeviceForward(layout, log_weights, scales, weights, sums, log_total)


def family_probabilities(
    forward: DeviceForward, *, reporter: Reporter = NO_PROGRESS, keep_forward: bool = True
) -> Floats:
    """Posterior probability of every parent set of every node, shaped like the weights.

    With `keep_forward=False` the backward sums overwrite the forward ones, which halves the memory; `forward` must
    not be used afterwards.
    """
    cupy = device.load_cupy()
    layout = forward.layout
    needed = layout.bytes_needed(backward=True) - (0 if keep_forward else 8 << layout.nodes)
    device.require(needed, f"The backward table of {layout.nodes} variables", "leave columns out.")
    sums = forward.sums.copy() if keep_forward else forward.sums
    steps = _Kernels(layout, forward.weights, sums, backward=True)
    with reporter.stage("edge probabilities", layout.steps) as stage:
        for _ in backward_walk(layout, steps):
            cupy.cuda.get_current_stream().synchronize()
            stage.advance(1)
    gathered: Wide = cupy.asnumpy(steps.gathered)
    return posterior_of_families(gathered, forward.log_weights, forward.log_scales, forward.log_total)


def on_host(forward: DeviceForward) -> ForwardTable:
    """The same table in the memory of the host."""
    cupy = device.load_cupy()
    require_host_memory(forward.layout.nodes, forward.layout.max_parents, tables=1, workers=1)
    layout = make_host_layout(forward.layout.nodes, forward.layout.max_parents)
    weights, sums = cupy.asnumpy(forward.weights), cupy.asnumpy(forward.sums)
    return ForwardTable(layout, forward.log_weights, forward.log_scales, weights, sums, forward.log_total)


def layout_here(nodes: int, max_parents: int, sizes: Sizes = USUAL_SIZES) -> DeviceLayout:
    """The groups that `nodes` nodes get on the device at hand."""
    return make_layout(nodes, max_parents, device.shared_bytes(), sizes)


def require_memory(nodes: int, max_parents: int, *, backward: bool, sizes: Sizes = USUAL_SIZES) -> None:
    """Refuse, with both figures and the largest size that fits, what does not fit on the device."""
    device.require_for_nodes(
        nodes,
        lambda count: layout_here(count, max_parents, sizes).bytes_needed(backward=backward),
        f"The exact table of {nodes} variables",
        "a method without tables: a chain.",
    )


def fits(nodes: int, max_parents: int, sizes: Sizes = USUAL_SIZES) -> bool:
    """Whether the forward table fits on the device now."""
    return layout_here(nodes, max_parents, sizes).bytes_needed(backward=False) <= device.free_bytes()


class _Kernels:
    """The steps of walk.py on the device, with the arrays they work on."""

    def __init__(self, layout: DeviceLayout, weights: Any, sums: Any, *, backward: bool = False) -> None:
        cupy = device.load_cupy()
        self.layout, self.weights, self.sums = layout, weights, sums
        module, _ = kernels_for(layout)
        slots = layout.nodes << layout.slot_bits
        self._rows = cupy.empty((slots << layout.mid) * max(layout.row_sets, 1), dtype=np.int64)
        self._constant = cupy.empty(slots * max(layout.all_sets - layout.row_sets, 1), dtype=np.int64)
        self._levels = cupy.empty(max(int(layout.level_bases[-1]), 1), dtype=np.int64)
        # The blocks of a step with as many of its mid and slot nodes: they do not need each other.
        inner_bits = layout.inner_bits
        self._inners = [cupy.asarray(sets_of_size(inner_bits, size)) for size in range(inner_bits + 1)]
        self._let_in = module.get_function("let_in")
        self._expand = _with_shared(module, "expand", layout.tile_bytes)
        self._forward = _with_shared(module, "forward_blocks", layout.block_bytes)
        self._backward = _with_shared(module, "backward_blocks", layout.block_bytes)
        if backward:
            self._gather = _with_shared(module, "gather", layout.alpha_bytes)
            self._collect = _with_shared(module, "collect", layout.tile_bytes)
            self._give_back = module.get_function("give_back")
            self.gathered = cupy.full(weights.shape, ZERO, dtype=np.int64)
            self._gathered_levels = cupy.full(max(int(layout.level_bases[-1]), 1), ZERO, dtype=np.int64)
            self._given = cupy.empty((slots << layout.mid) * layout.all_sets, dtype=np.int64)
            self._kept = cupy.empty(1 << (layout.low + layout.inner_bits), dtype=np.int64)

    def let_in(self, leaf: int, bit: int, backward: bool) -> None:
        self._let_in(*self._over_level(bit), (self.weights, self._levels, *_ints(leaf, bit, backward)))

    def expand(self, leaf: int, slot: int, backward: bool) -> None:
        grid = (max(-(-self.layout.row_sets // ORDER["TILE"]), 1), self.layout.nodes)
        arguments = (self.weights, self._levels, self._rows, self._constant, *_ints(leaf, slot, backward))
        self._expand[0](grid, (ORDER_THREADS,), arguments, shared_mem=self._expand[1])

    def forward_blocks(self, step: int, size: int) -> None:
        self._blocks(self._forward, step, size)

    def backward_blocks(self, step: int, size: int) -> None:
        self._blocks(self._backward, step, size)

    def keep_forward(self, step: int) -> None:
        self._kept[:] = self.sums[step * len(self._kept) : (step + 1) * len(self._kept)]

    def gather(self, step: int) -> None:
        arguments = (self._kept, self.sums, self._given, *_ints(step))
        self._gather[0]((1 << self.layout.inner_bits,), (ORDER_THREADS,), arguments, shared_mem=self._gather[1])

    def collect(self, leaf: int, slot: int) -> None:
        grid = (-(-self.layout.all_sets // ORDER["TILE"]), self.layout.nodes)
        arguments = (self.gathered, self._gathered_levels, self._given, *_ints(leaf, slot))
        self._collect[0](grid, (ORDER_THREADS,), arguments, shared_mem=self._collect[1])

    def give_back(self, leaf: int, bit: int) -> None:
        self._give_back(*self._over_level(bit), (self.gathered, self._gathered_levels, *_ints(leaf, bit)))

    def _blocks(self, function: tuple[Any, int], step: int, size: int) -> None:
        inners = self._inners[size]
        arguments = (self._rows, self._constant, self.sums, inners, *_ints(step))
        function[0]((len(inners),), (ORDER_THREADS,), arguments, shared_mem=function[1])

    def _over_level(self, bit: int) -> tuple[tuple[int, int], tuple[int]]:
        width = int(size_offsets(self.layout.max_parents)[self.layout.below + bit, self.layout.max_parents + 1])
        return (-(-width // ANY_THREADS), self.layout.nodes), (ANY_THREADS,)


@lru_cache(maxsize=32)
def kernels_for(layout: DeviceLayout) -> tuple[Any, list[Any]]:
    """The kernels compiled for the sizes of a layout, and the small arrays that they look things up in."""
    module = device.compiled(
        _FILES,
        **WIDE,
        **ORDER,
        NODES=layout.nodes,
        LOW=layout.low,
        MID=layout.mid,
        TOP=layout.top,
        SLOT_BITS=layout.slot_bits,
        MAX_PARENTS=layout.max_parents,
        FAMILIES=layout.families,
        ROW_SETS=layout.row_sets,
        CONSTANT_SETS=layout.all_sets - layout.row_sets,
        ALL_SETS=layout.all_sets,
    )
    return module, _fill_tables(module, layout)


def _fill_tables(module: Any, layout: DeviceLayout) -> list[Any]:
    """Put the numbering of the parent sets on the device and tell the kernels where."""
    cupy = device.load_cupy()
    subsets = np.arange(1 << layout.low, dtype=np.uint16)
    sizes = np.bitwise_count(subsets)
    by_size = subsets[np.argsort(sizes, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(sizes, minlength=layout.low + 1))])
    contents = (
        binomials(layout.max_parents).astype(np.int32),
        size_offsets(layout.max_parents).astype(np.int32),
        layout.level_bases,
        layout.places(layout.low),
        layout.places(layout.low - 1),
        by_size,
        starts.astype(np.int32),
    )
    arrays = [cupy.asarray(np.ascontiguousarray(content)) for content in contents]
    pointers = np.array([array.data.ptr for array in arrays], dtype=np.uint64)
    device.set_global(module, "tables", pointers)
    return arrays


def _with_shared(module: Any, name: str, size: int) -> tuple[Any, int]:
    function = module.get_function(name)
    function.max_dynamic_shared_size_bytes = size
    return function, size


def _ints(*values: int) -> tuple[np.int32, ...]:
    return tuple(np.int32(value) for value in values)
