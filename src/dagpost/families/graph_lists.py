"""Graphs as lists: the parents of each node one by one, and the nodes after their parents.

Graphs of many columns have few edges for the number of pairs, and often hundreds of columns without parents (exogenous
ones, or those of earlier times). So whatever follows edges goes along lists: a graph takes as many steps as it has
edges, not `n^2`. Memory: 2 bytes an edge and 10 bytes a node of each graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel

Columns = NDArray[np.int16]

#: A block of graphs has about as many words, 1 MB: what is made of it stays in the cache of a core.
WORDS_IN_BLOCK = 1 << 17

#: Any six digits in a row of this number are found once.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, dtype=np.int64)
_PLACES[[((1 << place) * int(_DE_BRUIJN) & (1 << 64) - 1) >> 58 for place in range(64)]] = np.arange(64)


class GraphLists(NamedTuple):
    """Some graphs as lists.

    The parents of node `i` in graph `g` are `members[starts[g, i] : starts[g, i + 1]]`, ascending. The nodes that have
    parents are `order[g, : ordered[g]]`, each behind those of its parents that have parents.
    """

    starts: Integers
    members: Columns
    order: Columns
    ordered: Integers


def graphs_together(nodes: int, words: int) -> int:
    """How many graphs make a block."""
    return max(1, WORDS_IN_BLOCK // (nodes * words))


def lists_of(parents: Masks) -> tuple[GraphLists, int]:
    """The lists of graphs (graphs, columns, words), and the first graph with a directed cycle, or -1.

    >>> two_edges = np.zeros((1, 70, 2), dtype=np.uint64)
    >>> two_edges[0, 3] = [1, 2]  # columns 0 and 65 are parents of column 3
    >>> lists, cyclic = lists_of(two_edges)
    >>> lists.members.tolist(), lists.order[0, : lists.ordered[0]].tolist(), cyclic
    ([0, 65], [3], -1)
    """
    count, nodes, _ = parents.shape
    starts = np.empty((count, nodes + 1), dtype=np.int64)
    members = np.empty(int(np.bitwise_count(parents).sum()), dtype=np.int16)
    order = np.empty((count, nodes), dtype=np.int16)
    ordered = np.zeros(count, dtype=np.int64)
    cyclic: int = _fill(parents, starts, members, order, ordered)
    return GraphLists(starts, members, order, ordered), cyclic


@kernel
def _fill(parents: Masks, starts: Integers, members: Columns, order: Columns, ordered: Integers) -> int:
    """Write where the parents of each node begin, what they are, and the order; the first graph with a cycle or -1."""
    count, nodes, words = parents.shape
    # Of each node: 0 not seen, 1 among those that are followed up, 2 in the order.
    state = np.empty(nodes, dtype=np.int64)
    following = np.empty(nodes, dtype=np.int64)
    stack = np.empty(nodes, dtype=np.int64)
    place, cyclic = 0, -1
    for graph in range(count):
        starts[graph, 0] = place
        for node in range(nodes):
            state[node] = 0
            following[node] = place
            for word in range(words):
                rest = parents[graph, node, word]
                while rest != np.uint64(0):
                    bit = rest & (~rest + np.uint64(1))
                    rest ^= bit
                    members[place] = 64 * word + place_of_bit(bit)
                    place += 1
            starts[graph, node + 1] = place
        found = 0
        for node in range(nodes):
            if state[node] != 0 or starts[graph, node] == starts[graph, node + 1]:
                continue
            stack[0], depth = node, 1
            state[node] = 1
            while depth > 0:
                top = stack[depth - 1]
                if following[top] == starts[graph, top + 1]:
                    state[top] = 2
                    order[graph, found] = top
                    found += 1
                    depth -= 1
                    continue
                parent = np.int64(members[following[top]])
                following[top] += 1
                if state[parent] == 1 and cyclic < 0:
                    cyclic = graph
                if state[parent] == 0 and starts[graph, parent] < starts[graph, parent + 1]:
                    state[parent] = 1
                    stack[depth] = parent
                    depth += 1
        ordered[graph] = found
    return cyclic


@kernel
def close_transitively(graphs: Masks) -> int:
    """Replace parents by ancestors, in graphs as words (graphs, nodes, words); the first with a cycle, or -1."""
    count, nodes, words = graphs.shape
    for graph in range(count):
        sets = graphs[graph]
        for middle in range(nodes):
            bit, place = np.uint64(1) << np.uint64(middle & 63), middle >> 6
            for node in range(nodes):
                if sets[node, place] & bit:
                    for word in range(words):
                        sets[node, word] |= sets[middle, word]
        for node in range(nodes):
            if sets[node, node >> 6] >> np.uint64(node & 63) & np.uint64(1):
                return graph
    return -1


@inline_no_refcount
def add_column(words: Masks, column: int) -> None:
    """Put a column into a set that is given as words."""
    words[column >> 6] |= np.uint64(1) << np.uint64(column & 63)


@inline_no_refcount
def first_of(members: np.uint64) -> int:
    """The first column of a set that is not empty."""
    return place_of_bit(members & (~members + np.uint64(1)))


@inline_no_refcount
def place_of_bit(bit: np.uint64) -> int:
    """Which bit is set: the number's product with de Bruijn's has the place in its first six digits, in code."""
    return _PLACES[(bit * _DE_BRUIJN) >> np.uint64(58)]
