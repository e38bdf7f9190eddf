"""An order of variables with parents before children, as far as the directions of a posterior have no cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Edge = tuple[int, int]


def acyclic_orientation(edges: Any, pairs: Sequence[Edge]) -> list[Edge]:
    """Each pair as (parent, child), so that no cycle is left.

    The more probable direction of each pair, those that are most decided first; one that would close a cycle is turned.

    >>> import numpy as np
    >>> acyclic_orientation(np.array([[0.0, 0.9, 0.1], [0.0, 0.0, 0.8], [0.3, 0.0, 0.0]]), [(0, 1), (1, 2), (0, 2)])
    [(0, 1), (1, 2), (0, 2)]
    """
    count = len(edges)
    below = [0] * count
    decided = sorted(pairs, key=lambda pair: (-abs(edges[pair] - edges[pair[::-1]]), pair))
    turned = {}
    for pair in decided:
        parent, child = pair if edges[pair] >= edges[pair[::-1]] else pair[::-1]
        if below[child] >> parent & 1:
            parent, child = child, parent
        turned[pair] = (parent, child)
        gained = below[child] | 1 << child
        for node in range(count):
            if node == parent or below[node] >> parent & 1:
                below[node] |= gained
    return [turned[pair] for pair in pairs]


def topological_order(count: int, edges: Sequence[Edge]) -> list[int]:
    """The nodes, parents before children; of those that could come next, the first."""
    import networkx as nx

    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(count))
    return list(nx.lexicographical_topological_sort(graph))
