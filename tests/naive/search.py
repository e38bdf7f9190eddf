"""Slow, obvious twins of the search for one graph, and of averages under one order.

Graphs are tuples of parent masks; weights come as in naive.py. Hill climbing weighs every neighbour of a graph from
scratch and looks for cycles in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

#: A change must gain more than the best so far by this much.
TOLERANCE = 1e-9


# Hill climbing


def has_cycle(graph: naive.Dag) -> bool:
    """Take nodes without parents away until none is left, or none can be taken."""
    left = set(range(len(graph)))
    while left:
        free = {node for node in left if not any(graph[node] >> other & 1 for other in left)}
        if not free:
            return True
        left -= free
    return False


def log_weight(by_mask: naive.Logs, graph: naive.Dag) -> float:
    """The log weight of a graph; minus infinity for one with a cycle."""
    if has_cycle(graph):
        return -np.inf
    return float(sum(by_mask[node, mask] for node, mask in enumerate(graph)))


def neighbours(graph: naive.Dag) -> Iterator[naive.Dag]:
    """All graphs one change away, cyclic ones too: by child, then by parent, turned round after deleted."""
    for child, parent in product(range(len(graph)), repeat=2):
        if child == parent:
            continue
        changed = list(graph)
        changed[child] ^= 1 << parent
        yield tuple(changed)
        if graph[child] >> parent & 1:
            changed[parent] |= 1 << child
            yield tuple(changed)


def climb(log_weights: naive.Logs, max_parents: int, start: naive.Dag) -> tuple[naive.Dag, float]:
    """From one graph to the best of its neighbours, and on, until none is better."""
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    graph = start
    while True:
        here = log_weight(by_mask, graph)
        best, best_gain = None, 0.0
        for neighbour in neighbours(graph):
            gain = log_weight(by_mask, neighbour) - here
            if gain > best_gain + TOLERANCE:
                best, best_gain = neighbour, gain
        if best is None:
            return graph, here
        graph = best


# One order


def graphs_of_order(order: Sequence[int]) -> list[naive.Dag]:
    """Every graph in which parents come before their children."""
    choices: list[list[int]] = [[] for _ in order]
    for place, node in enumerate(order):
        choices[node] = [naive.mask_of(members) for members in naive.all_subsets(tuple(order[:place]))]
    return list(product(*choices))


def log_joint_of_order(log_weights: naive.Logs, max_parents: int, order: Sequence[int]) -> naive.Logs:
    """The log weight of each graph of an order."""
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    return np.array([sum(by_mask[node, mask] for node, mask in enumerate(g)) for g in graphs_of_order(order)])


def given_order_by_enumeration(
    log_weights: naive.Logs, max_parents: int, order: Sequence[int]
) -> tuple[float, NDArray[np.float64]] | None:
    """Log evidence and edges [parent, child]; None if no graph has any weight."""
    log_joint = log_joint_of_order(log_weights, max_parents, order)
    log_evidence = naive.log_sum(log_joint)
    if log_evidence == -np.inf:
        return None
    nodes = len(order)
    edges = np.zeros((nodes, nodes))
    for graph, probability in zip(graphs_of_order(order), np.exp(log_joint - log_evidence).tolist(), strict=True):
        for parent, child in product(range(nodes), repeat=2):
            edges[parent, child] += probability * (graph[child] >> parent & 1)
    return log_evidence, edges
