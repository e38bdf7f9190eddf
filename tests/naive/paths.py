"""Slow, obvious twins of the exact path probabilities under the order-modular prior.

Both give, for one node, the probability of every possible set of its descendants: entry `D` of the result is the
probability that they are just the members of the mask `D`. *Enumeration* lists all graphs and counts the orders
that each of them fits; it ends at five nodes. The *dictionary* form places the nodes one by one and keeps the log
weight of every pair (placed nodes, descendants among them); it is affordable up to eight. It never subtracts: the
weight of a node that becomes a descendant is the sum over the parent sets that say so.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

Probabilities = NDArray[np.float64]


def descendants_in(dag: naive.Dag, node: int) -> int:
    """The mask of the proper descendants of a node: take in children until nothing changes."""
    found = 1 << node
    while True:
        children = naive.mask_of([child for child, parents in enumerate(dag) if parents & found])
        if children | found == found:
            return found ^ (1 << node)
        found |= children


@cache
def descendants_in_every_dag(nodes: int, node: int) -> NDArray[np.int64]:
    """The mask of the proper descendants of a node in each graph, in the order of `naive.all_dags`."""
    return np.array([descendants_in(dag, node) for dag in naive.all_dags(nodes)])


def descendant_sets_by_enumeration(log_weights: naive.Logs, max_parents: int, node: int) -> Probabilities:
    """The distribution of the descendants of a node, from all graphs."""
    nodes = len(log_weights)
    counts = naive.orders_of_every_dag(nodes)
    log_joint = naive.log_joint_of_every_dag(log_weights, max_parents) + np.log(list(counts.values()))
    probabilities = np.exp(log_joint - naive.log_sum(log_joint))
    result = np.zeros(1 << nodes)
    np.add.at(result, descendants_in_every_dag(nodes, node), probabilities)
    return result


def descendant_sets_by_dictionary(log_weights: naive.Logs, max_parents: int, node: int) -> Probabilities:
    """The distribution of the descendants of a node, from all orders, node by node."""
    nodes = len(log_weights)
    # States: the nodes placed so far, and which of them are the node itself or its descendants.
    states: dict[tuple[int, int], float] = {(0, 0): 0.0}
    for _ in range(nodes):
        following: dict[tuple[int, int], list[float]] = {}
        for (placed, reached), log_weight in states.items():
            for new in range(nodes):
                if not placed >> new & 1:
                    joins, stays = _log_weights_of_branches(log_weights, max_parents, new, placed, reached)
                    if new == node:
                        branches = [(reached | 1 << new, stays)]
                    else:
                        branches = [(reached | 1 << new, joins), (reached, stays)]
                    for then_reached, factor in branches:
                        if factor > -np.inf:
                            terms = following.setdefault((placed | 1 << new, then_reached), [])
                            terms.append(log_weight + factor)
        states = {state: naive.log_sum(np.array(terms)) for state, terms in following.items()}
    log_evidence = naive.log_sum(np.array(list(states.values())))
    result = np.zeros(1 << nodes)
    for (_, reached), log_weight in states.items():
        result[reached ^ (1 << node)] = np.exp(log_weight - log_evidence)
    return result


def _log_weights_of_branches(
    log_weights: naive.Logs, max_parents: int, node: int, placed: int, reached: int
) -> tuple[float, float]:
    """Log of the sums over the parent sets among the placed nodes that meet the reached ones, and that do not."""
    masks = np.array(naive.parent_masks(node, len(log_weights), max_parents))
    inside = masks & ~placed == 0
    meets = masks & reached != 0
    return _log_sum_or_nothing(log_weights[node, inside & meets]), _log_sum_or_nothing(
        log_weights[node, inside & ~meets]
    )


def _log_sum_or_nothing(logs: naive.Logs) -> float:
    return naive.log_sum(logs) if len(logs) else -np.inf


def paths_from_descendant_sets(distributions: list[Probabilities]) -> Probabilities:
    """Entry [x, y]: the probability that y is among the descendants of x."""
    nodes = len(distributions)
    masks = np.arange(1 << nodes)
    return np.array(
        [[distribution[masks >> other & 1 == 1].sum() for other in range(nodes)] for distribution in distributions]
    )
