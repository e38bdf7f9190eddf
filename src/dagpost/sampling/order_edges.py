"""Edge probabilities averaged over sampled orders: DOS of He, Tian & Wu (2016), section 3.1.

Given an order, the probability of an edge has a closed form: the share of the weight of the child's parent sets inside
its predecessors that holds the parent. Averaging that over sampled orders has a smaller error than counting the edges
of one graph an order. Each distinct pair of a node and its predecessors is summed once. Time: all parent sets for every
such pair.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.engines import Engine
from dagpost.sampling.dags import RankedFamilies, predecessors_in
from dagpost.sampling.orders import OrderSample


def edges_of_orders(
    families: RankedFamilies, sample: OrderSample, *, engine: Engine, reporter: Reporter = NO_PROGRESS
) -> Floats:
    """Entry [j, i]: the probability that j is a parent of i, averaged over the orders of the sample.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.exact.order import forward_table
    >>> from dagpost.sampling.dags import rank_families
    >>> from dagpost.sampling.orders import sample_orders
    >>> weights = np.log([[1.0, 3.0], [2.0, 1.0]])
    >>> engine = ThreadEngine(1)
    >>> table = forward_table(weights, 1, engine=engine)
    >>> orders = sample_orders(table, 1000, seed=np.random.SeedSequence(1), engine=engine)
    >>> bool(abs(edges_of_orders(rank_families(weights, 1), orders, engine=engine)[1, 0] - 6 / 11) < 0.05)
    True
    """
    nodes = sample.orders.shape[1]
    predecessors = predecessors_in(sample.orders)
    edges = np.zeros((nodes, nodes))

    def edges_into(node: int, cancel: Integers) -> Floats:
        sets, first, counts = np.unique(predecessors[node], return_index=True, return_counts=True)
        log_alpha = np.ascontiguousarray(sample.log_alpha[first, node])
        return _edges_into(families.masks[node], families.log_weights[node], sets, counts, log_alpha, nodes, cancel)

    with reporter.stage("edges of orders", nodes) as stage:
        for node, column in enumerate(engine.run(edges_into, range(nodes))):
            stage.advance(1)
            edges[:, node] = column / len(sample.orders)
    return edges


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
