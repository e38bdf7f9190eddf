"""Orders drawn from the order-modular posterior, and edges averaged over them: DOS of He, Tian & Wu (2016).

Given an order, the probability of an edge has a closed form: the share of the weight of the child's parent sets inside
its predecessors that holds the parent (their section 3.1). Averaging that over sampled orders has a smaller error than
counting the edges of one graph an order. Each distinct pair of a node and its predecessors is summed once. Time: all
parent sets for every such pair.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost._tools.progress import Stage
from dagpost._tools.uniforms import uniform_rows
from dagpost.engines import Engine
from dagpost.exact.order import ForwardTable
from dagpost.sampling.dags import RankedFamilies, predecessors_in
from dagpost.sampling.orders import OrderSample, draw_orders


def sample_orders(forward: ForwardTable, count: int, *, seed: np.random.SeedSequence, engine: Engine) -> OrderSample:
    """Draw `count` independent orders from their exact posterior."""
    uniforms = uniform_rows(seed, slice(0, count), forward.layout.nodes)
    return draw_orders(forward, uniforms, engine=engine, stage=Stage("", 0))


def edges_of_orders(families: RankedFamilies, sample: OrderSample, *, engine: Engine) -> Floats:
    """Entry [j, i]: the probability that j is a parent of i, averaged over the orders of the sample."""
    nodes = sample.orders.shape[1]
    predecessors = predecessors_in(sample.orders)

    def edges_into(node: int, cancel: Integers) -> Floats:
        sets, first, counts = np.unique(predecessors[node], return_index=True, return_counts=True)
        log_alpha = np.ascontiguousarray(sample.log_alpha[first, node])
        return _edges_into(families.masks[node], families.log_weights[node], sets, counts, log_alpha, nodes, cancel)

    return np.column_stack(list(engine.run(edges_into, range(nodes)))) / len(sample.orders)


@kernel
def _edges_into(
    masks: Masks, log_weights: Floats, sets: Masks, counts: Integers, log_alpha: Floats, nodes: int, cancel: Integers
) -> Floats:
    """Sum over predecessor sets, each as often as it occurs, of the probability of every parent of one node."""
    total = np.zeros(nodes)
    for position in range(len(sets)):
        if cancel[0]:
            break
        for number in range(len(masks)):
            mask = masks[number]
            if mask & ~sets[position] == 0 and mask != 0:
                share = counts[position] * math.exp(log_weights[number] - log_alpha[position])
                for parent in range(nodes):
                    if (mask >> np.uint64(parent)) & np.uint64(1):
                        total[parent] += share
    return total
