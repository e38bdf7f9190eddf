"""Graphs of more nodes than a word has bits, as lists of their edges: from words, back, and whether there is a cycle.

A set of nodes is a row of words, node `j` being bit `j % 64` of word `j // 64`, and graphs are an array (graphs, nodes,
words). Most words of such an array are zero, so what has to be looked at or kept is its edges. Time and memory: one
pass over the words, then some passes over the edges, one for each edge of the longest path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 64
#: Words that are looked at together, so that lists of edges stay small beside the graphs.
_TOGETHER = 1 << 22

Places = NDArray[np.int64]


def blocks_of_graphs(parents: NDArray[Any]) -> Iterator[slice]:
    """The graphs, some at a time."""
    step = max(1, _TOGETHER // max(1, parents[0].size)) if len(parents) else 1
    return (slice(start, start + step) for start in range(0, len(parents), step))


def edges_in_words(parents: NDArray[Any]) -> tuple[Places, Places, Places]:
    """The graph, the child and the parent of every edge, in that order of sorting.

    >>> parents = np.zeros((1, 70, 2), dtype=np.uint64)
    >>> parents[0, 3] = [6, 1]
    >>> [places.tolist() for places in edges_in_words(parents)]
    [[0, 0, 0], [3, 3, 3], [1, 2, 64]]
    """
    flat = np.flatnonzero(parents)
    left = parents.reshape(-1)[flat].astype(np.uint64)
    members = np.bitwise_count(left).astype(np.int64)
    starts = np.cumsum(members) - members
    bits = np.empty(int(members.sum()), dtype=np.int64)
    places, rank = np.arange(len(flat)), 0
    while len(places):
        lowest = left[places] & -left[places]
        bits[starts[places] + rank] = np.bitwise_count(lowest - np.uint64(1))
        left[places] ^= lowest
        places, rank = places[left[places] != 0], rank + 1
    rows, word = np.divmod(np.repeat(flat, members), parents.shape[2])
    graph, child = np.divmod(rows, parents.shape[1])
    return graph, child, WORD * word + bits


def words_of_edges(graph: Places, child: Places, parent: Places, graphs: int, nodes: int) -> NDArray[np.uint64]:
    """The graphs that have these edges, which are sorted as `edges_in_words` sorts them.

    >>> words_of_edges(np.array([0, 0]), np.array([3, 3]), np.array([1, 64]), 1, 70)[0, 3].tolist()
    [2, 1]
    """
    words = -(-nodes // WORD)
    parents = np.zeros(graphs * nodes * words, dtype=np.uint64)
    place = (graph * nodes + child) * words + parent // WORD
    first = np.flatnonzero(np.diff(place, prepend=-1))
    if len(first):
        bits = np.left_shift(np.uint64(1), (parent % WORD).astype(np.uint64))
        parents[place[first]] = np.bitwise_or.reduceat(bits, first)
    return parents.reshape(graphs, nodes, words)


def graphs_with_cycles(graph: Places, child: Places, parent: Places, nodes: int) -> Places:
    """The graphs in which some of these edges form a cycle.

    An edge whose parent has no edge left that leads to it is on no cycle and is taken away, until none is.
    """
    entered = np.zeros((int(graph.max(initial=-1)) + 1) * nodes, dtype=bool)
    ends, starts = graph * nodes + child, graph * nodes + parent
    left = np.arange(len(graph))
    while len(left):
        entered[ends[left]] = True
        stays = entered[starts[left]]
        entered[ends[left]] = False
        if stays.all():
            break
        left = left[stays]
    return np.unique(graph[left])
