"""Orders and graphs on a CUDA device: DDS of He, Tian & Wu (2016) from forward sums that never leave it.

All samples lose their last node together, one node a step, so at every step their sets have the same size. Equal sets
are worked out once: alpha of each node is summed over the parent sets inside the set (no table of alpha is kept), and
every sample of the set chooses with its own uniform number. Then every node of every sample draws its parents among its
predecessors, by the running sum over the parent sets in their numbering.

The uniform numbers are those of sampling/orders.py, and so are the orders, up to rounding; parents are drawn in another
sequence, so the graphs are other draws from the same posterior. Time: for a set of `s` nodes, `s` times the parent sets
among them; all steps of a sample together visit some 5e7 parent sets at 33 nodes, at worst.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Stage
from dagpost.engines.cuda import device
from dagpost.engines.cuda.layout import SAMPLING_THREADS, WIDE
from dagpost.engines.cuda.order import DeviceForward
from dagpost.families.numbering import binomials, family_count

_FILES = ("widefloat.cuh", "sampling.cu")


def draw_dags(forward: DeviceForward, uniforms: Floats, *, stage: Stage) -> tuple[Masks, Floats]:
    """One graph for each row of `uniforms` (one number a node for the order, then one a node for its parents).

    Returns parent masks (samples, nodes) and the log weight of each graph.
    """
    cupy = device.load_cupy()
    nodes, samples = forward.layout.nodes, len(uniforms)
    module = kernels_for(nodes, forward.layout.max_parents)
    numbers = cupy.asarray(np.ascontiguousarray(uniforms))
    sets_of_samples = cupy.full(samples, (1 << nodes) - 1, dtype=np.uint64)
    predecessors = cupy.zeros((samples, nodes), dtype=np.uint64)
    chosen_alpha = cupy.zeros((samples, nodes), dtype=np.int64)
    alphas_of_sets, choose_last = module.get_function("alphas_of_sets"), module.get_function("choose_last")
    blocks = (-(-samples // SAMPLING_THREADS),)
    for placed in range(nodes, 0, -1):
        sets, group = cupy.unique(sets_of_samples, return_inverse=True)
        alphas = cupy.empty((len(sets), nodes), dtype=np.int64)
        alphas_of_sets((len(sets), nodes), (SAMPLING_THREADS,), (forward.weights, sets, alphas))
        arguments = (forward.sums, sets, group.astype(np.int64), alphas, numbers, np.int32(samples), np.int32(placed))
        choose_last(blocks, (SAMPLING_THREADS,), (*arguments, sets_of_samples, predecessors, chosen_alpha))
        cupy.cuda.get_current_stream().synchronize()
        stage.advance(samples)
    parents = cupy.empty((samples, nodes), dtype=np.uint64)
    families = cupy.empty((samples, nodes), dtype=np.int32)
    module.get_function("draw_parents")(
        (samples, nodes), (SAMPLING_THREADS,), (forward.weights, predecessors, chosen_alpha, numbers, parents, families)
    )
    chosen = cupy.asnumpy(families)
    log_joint = forward.log_weights[np.arange(nodes), chosen].sum(axis=1)
    stage.advance(samples)
    return cupy.asnumpy(parents), log_joint


@lru_cache(maxsize=32)
def kernels_for(nodes: int, max_parents: int) -> Any:
    """The kernels compiled for a number of nodes and parents, with the binomials that they look up."""
    families = family_count(nodes - 1, max_parents)
    sizes = {"THREADS": SAMPLING_THREADS, "NODES": nodes, "MAX_PARENTS": max_parents, "FAMILIES": families}
    module = device.compiled(_FILES, **WIDE, **sizes)
    table = np.ascontiguousarray(binomials(max_parents)[: nodes + 1, : max_parents + 2]).astype(np.int32)
    device.set_global(module, "binomial", table)
    return module
