"""What is left of every graph where some columns of a row have no value?

Given a graph, the probability of the other columns is the product over its families, summed over the missing values.
In most graphs little of that sum remains to be done:

- a missing node without observed descendants sums to 1 and drops out (nodes that were set count as given, and what
  leads to them only drops out, too);
- a family without a missing member that is left is a factor of its own, as it is without gaps;
- the families of the missing nodes that are left fall into parts that share no missing node: the sum of their product
  is the product of one sum for each part.

A part is known by its families, and graphs share parts as they share families: each distinct one is summed once for
64 rows (elimination.py, integration.py) and then is a column like that of a family.

Time: a pass over the graphs for each pattern of gaps, some 0.3 microseconds a node of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.families.masks import distinct_rows
from dagpost.prediction.family_lists import Families, families_in
from dagpost.prediction.graph_products import Paths, paths_of

#: Room for this many distinct parts is made at first.
_FEWEST_PARTS = 2**10
#: A family that stands for itself, and one that drops out; others are in the part of the node that is named.
_PLAIN, _GONE = -1, -2


class Pattern(NamedTuple):
    """Columns that graphs are products of: families, a column of zeros for some nodes, and parts."""

    #: The numbers of the families that stand for themselves.
    plain: Integers
    #: Nodes that have no factor of their own in some graph: there the log is 0.
    zeros: Integers
    #: One row a part: the number of the family of each node that is in it, -1 for others.
    parts: NDArray[np.int32]
    #: The node of each column; that of a part is its first missing node.
    nodes: Integers
    #: The graphs as rows of columns, and their weights.
    graphs: Paths
    weights: Floats


def pattern_of(families: Families, weights: Floats, gaps: int, given: int) -> Pattern:
    """What is left of some graphs where the nodes in `gaps` are missing and those in `given` are not modelled."""
    numbers = families.numbers
    owner = np.empty(numbers.shape, dtype=np.int8)
    _find_owners(numbers, families.parents, np.uint64(gaps), np.uint64(given), owner)
    columns = np.empty_like(numbers)
    plain = _number_plain(numbers, owner, np.full(len(families.children), -1), columns)
    zeros = np.flatnonzero((columns < 0).any(axis=0))
    total = len(plain) + len(zeros)
    for place, node in enumerate(zeros):
        columns[columns[:, node] < 0, node] = len(plain) + place
    room, first_graph, first_node = _FEWEST_PARTS, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    count = -1
    while count < 0:
        first_graph, first_node = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        slots = np.full(4 * room, -1)
        count = _number_parts(numbers, owner, total, slots, first_graph, first_node, columns)
        room *= 4
    own = first_graph[:count]
    parts = np.where(owner[own] == first_node[:count, np.newaxis], numbers[own], -1).astype(np.int32)
    nodes = np.concatenate([families.children[plain], zeros, first_node[:count]]).astype(np.int64)
    return Pattern(plain, zeros, parts, nodes, paths_of(columns), weights)


def numbered(numbers: NDArray[Any], count: int) -> tuple[Integers, NDArray[np.int32]]:
    """The distinct numbers below `count`, and the place of each entry among them, -1 for -1.

    >>> distinct, places = numbered(np.array([[7, -1], [3, 7]]), 9)
    >>> distinct.tolist(), places.tolist()
    ([3, 7], [[1, -1], [0, 1]])
    """
    # A place more, at the end, for -1.
    occurs = np.zeros(count + 1, dtype=np.bool_)
    occurs[numbers] = True
    occurs[-1] = False
    places = np.append(np.cumsum(occurs[:-1]) - 1, -1).astype(np.int32)
    return np.flatnonzero(occurs), places[numbers]


def sorted_graphs(parents: NDArray[Any], weights: Floats) -> tuple[Families, Floats]:
    """The families of distinct graphs and the weights of these, in an order in which neighbours share most of them.

    The node with the fewest families comes first, whatever the pattern of gaps.
    """
    families = families_in(parents)
    falling = np.argsort(np.bincount(families.children), kind="stable")
    found, member = distinct_rows(families.numbers[:, falling])
    numbers = np.ascontiguousarray(families.numbers[found])
    return families._replace(numbers=numbers), np.bincount(member, weights=weights).astype(np.float64)


@kernel
def _number_plain(
    numbers: NDArray[np.int32], owner: NDArray[np.int8], column_of: Integers, columns: NDArray[np.int32]
) -> Integers:
    """Number families that stand for themselves as they come, in `columns`, -1 for others; returns which these are."""
    plain = np.empty(len(column_of), dtype=np.int64)
    count = 0
    for graph in range(len(numbers)):
        for node in range(numbers.shape[1]):
            columns[graph, node] = -1
            if owner[graph, node] == _PLAIN:
                number = numbers[graph, node]
                if column_of[number] < 0:
                    column_of[number] = count
                    plain[count] = number
                    count += 1
                columns[graph, node] = column_of[number]
    return plain[:count].copy()


@kernel
def _number_parts(
    numbers: NDArray[np.int32],
    owner: NDArray[np.int8],
    total: int,
    slots: Integers,
    first_graph: Integers,
    first_node: Integers,
    columns: NDArray[np.int32],
) -> int:
    """Give each distinct part a column, from `total` on; returns how many there are, or -1 if there is no room.

    `slots` is an open hash table of parts, each known by the first graph that has it and by its first missing node.
    """
    nodes = numbers.shape[1]
    count = 0
    for graph in range(len(numbers)):
        for node in range(nodes):
            if owner[graph, node] != node:
                continue
            mixed = np.uint64(node)
            for other in range(nodes):
                if owner[graph, other] == node:
                    mixed = (mixed ^ np.uint64(numbers[graph, other])) * np.uint64(0x9E3779B97F4A7C15)
                    mixed ^= mixed >> np.uint64(29)
            slot = np.int64(mixed % np.uint64(len(slots)))
            while slots[slot] >= 0:
                part = slots[slot]
                known = first_graph[part]
                same = first_node[part] == node
                for other in range(nodes):
                    here = owner[graph, other] == node
                    there = owner[known, other] == node
                    same = same and here == there and (not here or numbers[graph, other] == numbers[known, other])
                if same:
                    break
                slot = (slot + 1) % len(slots)
            if slots[slot] < 0:
                if count == len(first_graph):
                    return -1
                slots[slot] = count
                first_graph[count] = graph
                first_node[count] = node
                count += 1
            columns[graph, node] = total + slots[slot]
    return count


@kernel
def _find_owners(
    numbers: NDArray[np.int32], parents: Masks, gaps: np.uint64, given: np.uint64, owner: NDArray[np.int8]
) -> None:
    """For every graph and node: the first missing node of the part that its family is in, or `_PLAIN`, or `_GONE`."""
    nodes = numbers.shape[1]
    one = np.uint64(1)
    none = np.uint64(0)
    parts = np.empty(nodes, dtype=np.uint64)
    for graph in range(len(numbers)):
        # Missing nodes with a child that counts: an observed one, or a missing one that is left itself.
        left = none
        for node in range(nodes):
            if (gaps | given) >> np.uint64(node) & one == none:
                left |= parents[numbers[graph, node]] & gaps
        before = none
        while before != left:
            before = left
            for node in range(nodes):
                if left >> np.uint64(node) & one != none:
                    left |= parents[numbers[graph, node]] & gaps
        count = 0
        for node in range(nodes):
            bit = one << np.uint64(node)
            if given & bit != none or gaps & ~left & bit != none:
                owner[graph, node] = _GONE
                continue
            touched = (parents[numbers[graph, node]] | bit) & left
            if touched == none:
                owner[graph, node] = _PLAIN
                continue
            kept = 0
            for place in range(count):
                if parts[place] & touched != none:
                    touched |= parts[place]
                else:
                    parts[kept] = parts[place]
                    kept += 1
            parts[kept] = touched
            count = kept + 1
            owner[graph, node] = 0
        for node in range(nodes):
            if owner[graph, node] != 0:
                continue
            touched = (parents[numbers[graph, node]] | one << np.uint64(node)) & left
            for place in range(count):
                if parts[place] & touched != none:
                    first = 0
                    while parts[place] >> np.uint64(first) & one == none:
                        first += 1
                    owner[graph, node] = first
                    break
