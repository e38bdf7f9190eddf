"""One graph for each sampled order: DDS of He, Tian & Wu (2016), section 3.2.

Given an order, the nodes choose their parents independently: node `i` with predecessors `U` takes `P ⊆ U` with
probability `beta_i(P) / alpha_i(U)`. The parent sets of a node are scanned in falling weight, keeping those inside
`U`, until the running sum passes `u alpha_i(U)`: a few steps where the data speak, all parent sets at worst. The
samples that share a node and its predecessors share one scan, which continues only when a sample needs it to.

A pair (order, graph) drawn so has the order-modular posterior, and so has the graph alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.engines import Engine
from dagpost.errors import PrecisionError
from dagpost.families.numbering import parent_sets, unsqueeze_all


@dataclass(frozen=True, eq=False)
class RankedFamilies:
    """The parent sets of every node that have any weight, heaviest first, as masks over all nodes."""

    masks: tuple[Masks, ...]
    log_weights: tuple[Floats, ...]


def rank_families(log_weights: Floats, max_parents: int) -> RankedFamilies:
    """Sort the parent sets of every node by falling weight; ties keep the numbering of families/numbering.py.

    >>> ranked = rank_families(np.log([[1.0, 3.0], [2.0, 1.0]]), 1)
    >>> ranked.masks[0].tolist()  # node 0: with node 1 as its parent first, then without
    [2, 0]
    """
    sets = parent_sets(len(log_weights) - 1, max_parents)
    masks, weights = [], []
    for node, values in enumerate(log_weights):
        falling = np.argsort(-values, kind="stable")
        falling = falling[np.isfinite(values[falling])]
        masks.append(unsqueeze_all(sets[falling], node))
        weights.append(np.ascontiguousarray(values[falling]))
    return RankedFamilies(tuple(masks), tuple(weights))


def draw_dags(
    families: RankedFamilies, orders: NDArray[np.uint8], log_alpha: Floats, uniforms: Floats, *, engine: Engine
) -> tuple[Masks, Floats]:
    """One graph for each order: parent masks (samples, nodes), and the log weight of each graph.

    `log_alpha[s, i]` is the log weight of node `i` over the parent sets inside its predecessors in order `s`;
    `uniforms` has the shape of `orders`.
    """
    predecessors = predecessors_in(orders)
    return draw_parents_in_layers(
        families, predecessors, np.zeros_like(predecessors), log_alpha, uniforms, engine=engine
    )


def draw_parents_in_layers(
    families: RankedFamilies, allowed: Masks, to_meet: Masks, log_total: Floats, uniforms: Floats, *, engine: Engine
) -> tuple[Masks, Floats]:
    """Parents for every node of every sample: inside `allowed[i, s]` and, unless it is empty, meeting `to_meet[i, s]`.

    `log_total[s, i]` is the log weight of all such parent sets, or minus infinity where it must be summed up here.
    """
    nodes, samples = allowed.shape
    parents, log_weights = np.empty((nodes, samples), dtype=np.uint64), np.full((nodes, samples), np.nan)
    numbers, totals = np.ascontiguousarray(uniforms.T), np.ascontiguousarray(log_total.T)

    def choose_parents(node: int, cancel: Integers) -> None:
        ranked = (families.masks[node], families.log_weights[node])
        grouped = np.lexsort((to_meet[node], allowed[node]))
        own = (numbers[node], totals[node], parents[node], log_weights[node])
        _draw_parents(*ranked, allowed[node], to_meet[node], grouped, *own, cancel)

    for _ in engine.run(choose_parents, range(nodes)):
        pass
    if np.isnan(log_weights).any():
        raise PrecisionError("A graph was lost in rounding errors. Draw again with another seed.")
    return np.ascontiguousarray(parents.T), log_weights.sum(axis=0)


@kernel
def predecessors_in(orders: NDArray[np.uint8]) -> Masks:
    """Row `i`: the nodes before node `i` in each order."""
    samples, nodes = orders.shape
    result = np.empty((nodes, samples), dtype=np.uint64)
    for sample in range(samples):
        before = np.uint64(0)
        for position in range(nodes):
            node = orders[sample, position]
            result[node, sample] = before
            before |= np.uint64(1) << np.uint64(node)
    return result


@inlined
def _fits(mask: np.uint64, allowed: np.uint64, to_meet: np.uint64) -> bool:
    return mask & ~allowed == 0 and (to_meet == 0 or mask & to_meet != 0)


@inlined
def _relative_total(
    masks: Masks, log_weights: Floats, allowed: np.uint64, to_meet: np.uint64, heaviest: float
) -> float:
    total = 0.0
    for position in range(len(masks)):
        if _fits(masks[position], allowed, to_meet):
            total += math.exp(log_weights[position] - heaviest)
    return total


@kernel
def _draw_parents(
    masks: Masks,
    log_weights: Floats,
    allowed: Masks,
    to_meet: Masks,
    grouped: Integers,
    uniforms: Floats,
    log_total: Floats,
    parents: Masks,
    log_weight: Floats,
    cancel: Integers,
) -> None:
    """Choose the parents of one node in every sample; `grouped` lists samples with equal conditions together."""
    inside = np.empty(len(masks), dtype=np.int64)
    running = np.empty(len(masks), dtype=np.float64)
    found = 0
    scanned = 0
    heaviest = 0.0
    total = 0.0
    for position in range(len(grouped)):
        if cancel[0]:
            return
        sample = grouped[position]
        within, meeting = allowed[sample], to_meet[sample]
        last = grouped[position - 1]
        if position == 0 or within != allowed[last] or meeting != to_meet[last]:
            scanned = 0
            while scanned < len(masks) and not _fits(masks[scanned], within, meeting):
                scanned += 1
            if scanned == len(masks):
                # Only rounding leads here; the missing weight tells the caller.
                return
            # Weights are taken relative to the heaviest set that fits: those that underflow beside it cannot be drawn.
            heaviest = log_weights[scanned]
            inside[0] = scanned
            running[0] = 1.0
            found = 1
            scanned += 1
            if log_total[sample] == -math.inf:
                total = _relative_total(masks, log_weights, within, meeting, heaviest)
            else:
                total = math.exp(log_total[sample] - heaviest)
        target = uniforms[sample] * total
        while running[found - 1] <= target and scanned < len(masks):
            if _fits(masks[scanned], within, meeting):
                inside[found] = scanned
                running[found] = running[found - 1] + math.exp(log_weights[scanned] - heaviest)
                found += 1
            scanned += 1
        choice = inside[min(np.searchsorted(running[:found], target, side="right"), found - 1)]
        parents[sample] = masks[choice]
        log_weight[sample] = log_weights[choice]
