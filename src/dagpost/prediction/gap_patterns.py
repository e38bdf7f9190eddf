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

Time: a pass over the graphs for each pattern of gaps, and sorting what it finds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.families.masks import distinct_rows
from dagpost.prediction.graph_products import Paths, paths_of
from dagpost.prediction.statistics import Families

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
    #: The distinct graphs as rows of columns, and their weights.
    graphs: Paths
    weights: Floats


def pattern_of(families: Families, weights: Floats, gaps: int, given: int) -> Pattern:
    """What is left of some graphs where the nodes in `gaps` are missing and those in `given` are not modelled."""
    numbers = families.numbers
    owner = np.empty(numbers.shape, dtype=np.int8)
    _find_owners(numbers, families.parents, np.uint64(gaps), np.uint64(given), owner)
    plain, columns = numbered(np.where(owner == _PLAIN, numbers, -1))
    zeros = np.flatnonzero((owner != _PLAIN).any(axis=0))
    for place, node in enumerate(zeros):
        columns[owner[:, node] != _PLAIN, node] = len(plain) + place
    parts, first_nodes = [np.empty((0, numbers.shape[1]), dtype=np.int32)], []
    total = len(plain) + len(zeros)
    for node in zeros:
        here = np.flatnonzero(owner[:, node] == node)
        if len(here):
            rows = np.where(owner[here] == node, numbers[here], -1).astype(np.int32)
            found, member = distinct_rows(rows)
            parts.append(rows[found])
            first_nodes.append(np.full(len(found), node))
            columns[here, node] = total + member
            total += len(found)
    nodes = np.concatenate([families.children[plain], zeros, *first_nodes]).astype(np.int64)
    return Pattern(plain, zeros, np.concatenate(parts), nodes, *_shared(columns, weights))


def numbered(numbers: NDArray[Any]) -> tuple[Integers, NDArray[np.int32]]:
    """The distinct numbers but for -1, and the place of each entry among them, -1 for -1.

    >>> distinct, places = numbered(np.array([[7, -1], [3, 7]]))
    >>> distinct.tolist(), places.tolist()
    ([3, 7], [[1, -1], [0, 1]])
    """
    distinct, places = np.unique(numbers, return_inverse=True)
    absent = int(len(distinct) > 0 and distinct[0] == -1)
    return distinct[absent:].astype(np.int64), (places.reshape(numbers.shape) - absent).astype(np.int32)


def _shared(columns: NDArray[np.int32], weights: Floats) -> tuple[Paths, Floats]:
    """Graphs that have become the same put together, in an order in which neighbours share their beginnings."""
    widths = [len(np.unique(column)) for column in columns.T]
    columns = np.ascontiguousarray(columns[:, np.argsort(widths, kind="stable")])
    found, member = distinct_rows(columns)
    return paths_of(columns[found]), np.bincount(member, weights=weights).astype(np.float64)


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
