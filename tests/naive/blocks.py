"""Slow, obvious twin of block draws: every choice of parent sets for a block, each whole graph checked for cycles.

A graph is a tuple with the number of the parent set of each node; `sets[i]` lists the parents of node `i` by number,
and `log_weights[i]` their log weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Sets = Sequence[Sequence[tuple[int, ...]]]
Numbers = tuple[int, ...]


def is_acyclic(sets: Sets, numbers: Numbers) -> bool:
    """Whether these parent sets make a graph without a directed cycle."""
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(range(len(sets)))
    graph.add_edges_from((parent, node) for node, number in enumerate(numbers) for parent in sets[node][number])
    return nx.is_directed_acyclic_graph(graph)


def given_rest(
    sets: Sets, log_weights: Sequence[Sequence[float]], numbers: Numbers, choices: Sequence[Sequence[int]]
) -> tuple[dict[Numbers, float], float]:
    """The probability of every graph in which each node has one of its `choices`, and the log of what they weigh.

    A node that is not in the block has a single choice.
    """
    found = {
        graph: sum(log_weights[node][number] for node, number in enumerate(graph))
        for graph in product(*choices)
        if is_acyclic(sets, graph)
    }
    assert numbers in found
    total = float(np.logaddexp.reduce(list(found.values())))
    return {graph: float(np.exp(weight - total)) for graph, weight in found.items()}, total


def edges_of(sets: Sets, graphs: dict[Numbers, float]) -> NDArray[np.float64]:
    """The probability of every edge (child, parent) in graphs with their probabilities."""
    edges = np.zeros((len(sets), len(sets)))
    for graph, probability in graphs.items():
        for node, number in enumerate(graph):
            for parent in sets[node][number]:
                edges[node, parent] += probability
    return edges
