"""What essential.py does with masks of up to 64 nodes, for graphs of more: along lists of parents.

Chickering's algorithm takes as many steps as there are edges, times the parents of a node; Meek's rules some times more
for each edge that is still open. Exogenous nodes, hundreds perhaps, count as joined with each other by edges that
nobody directs, but no such edge is ever listed.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Flags, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.graph_lists import GraphLists, add_column, lists_of, masks_of_lists

_APART, _OPEN, _KNOWN = 0, 1, 2


def compel_wide(parents: Masks, exogenous: Flags, compelled: Masks) -> int:
    """Write the compelled edges of each DAG (Chickering 1995); returns the first graph with a cycle, or -1."""
    lists, cyclic = lists_of(parents)
    if cyclic < 0:
        chosen = np.zeros(len(lists.members), dtype=np.bool_)
        _compel(lists, exogenous, chosen)
        masks_of_lists(lists, chosen, compelled)
    return cyclic


def close_wide(parents: Masks, exogenous: Flags, compelled: Masks) -> None:
    """Add to the compelled edges of each DAG all that follow by Meek's rules."""
    lists, _ = lists_of(parents)
    chosen = np.empty(len(lists.members), dtype=np.bool_)
    _read_chosen(lists, compelled, chosen)
    _close(lists, exogenous, chosen)
    masks_of_lists(lists, chosen, compelled)


def add_turned_wide(reversible: Masks, patterns: Masks) -> None:
    """Add the other direction of every reversible edge."""
    lists, _ = lists_of(reversible)
    _add_turned(lists, patterns)


@kernel
def _compel(lists: GraphLists, exogenous: Flags, compelled: Flags) -> None:
    nodes = len(exogenous)
    # Where each node stands in an order of all; those without parents come first.
    rank = np.empty(nodes, dtype=np.int64)
    # The nodes of the set that was marked last have its number.
    marked = np.zeros(nodes, dtype=np.int64)
    mark = 0
    for graph in range(len(lists.ordered)):
        for node in range(nodes):
            rank[node] = node - nodes
        for place in range(lists.ordered[graph]):
            rank[lists.order[graph, place]] = place
        for place in range(lists.ordered[graph]):
            node = lists.order[graph, place]
            start, stop = lists.starts[graph, node], lists.starts[graph, node + 1]
            latest = lists.members[start]
            mark += 1
            # Parents of the latest one that are parents of the node too; all earlier exogenous ones are, of that one.
            shared = 0
            for edge in range(start, stop):
                parent = lists.members[edge]
                marked[parent] = mark
                shared += exogenous[parent]
                if rank[parent] > rank[latest]:
                    latest = parent
            shared = shared - 1 if exogenous[latest] else 0
            first, last = lists.starts[graph, latest], lists.starts[graph, latest + 1]
            forced = False
            for edge in range(first, last):
                if marked[lists.members[edge]] == mark:
                    shared += 1
                elif compelled[edge]:
                    forced = True
            # All parents but the latest must be parents of that one.
            forced |= shared < stop - start - 1
            mark += 1
            for edge in range(first, last):
                if compelled[edge]:
                    marked[lists.members[edge]] = mark
            for edge in range(start, stop):
                compelled[edge] = forced or marked[lists.members[edge]] == mark


@kernel
def _close(lists: GraphLists, exogenous: Flags, known: Flags) -> None:
    for graph in range(len(lists.ordered)):
        changed = True
        while changed:
            changed = False
            for place in range(lists.ordered[graph]):
                child = lists.order[graph, place]
                for edge in range(lists.starts[graph, child], lists.starts[graph, child + 1]):
                    if not known[edge] and _follows(lists, graph, lists.members[edge], child, exogenous, known):
                        known[edge] = changed = True


@inline_no_refcount
def _follows(lists: GraphLists, graph: int, x: int, y: int, exogenous: Flags, known: Flags) -> bool:
    """Whether one of the rules turns `x - y` into `x -> y`; essential.py says which they are."""
    for edge in range(lists.starts[graph, x], lists.starts[graph, x + 1]):
        if known[edge] and _state(lists, graph, lists.members[edge], y, exogenous, known) == _APART:
            return True
    start, stop = lists.starts[graph, y], lists.starts[graph, y + 1]
    for edge in range(start, stop):
        z = lists.members[edge]
        if not known[edge] or z == x:
            continue
        state = _state(lists, graph, x, z, exogenous, known)
        if state == _APART:
            continue
        if state == _KNOWN and _edge_of(lists, graph, x, z) >= 0:
            return True
        if state == _OPEN:
            for other in range(start, edge):
                w = lists.members[other]
                if (
                    known[other]
                    and _state(lists, graph, x, w, exogenous, known) == _OPEN
                    and _state(lists, graph, w, z, exogenous, known) == _APART
                ):
                    return True
        for above in range(lists.starts[graph, z], lists.starts[graph, z + 1]):
            w = lists.members[above]
            if (
                known[above]
                and w != y
                and _state(lists, graph, x, w, exogenous, known) == _OPEN
                and _state(lists, graph, w, y, exogenous, known) == _APART
            ):
                return True
    return False


@inline_no_refcount
def _state(lists: GraphLists, graph: int, one: int, other: int, exogenous: Flags, known: Flags) -> int:
    """Whether two nodes are not joined, joined by an edge that is open, or by one whose direction is known."""
    if exogenous[one] and exogenous[other]:
        return _OPEN
    edge = _edge_of(lists, graph, one, other)
    if edge < 0:
        edge = _edge_of(lists, graph, other, one)
    if edge < 0:
        return _APART
    return _KNOWN if known[edge] else _OPEN


@inline_no_refcount
def _edge_of(lists: GraphLists, graph: int, parent: int, child: int) -> int:
    """The number of an edge, or -1 if it is not there."""
    for edge in range(lists.starts[graph, child], lists.starts[graph, child + 1]):
        if lists.members[edge] == parent:
            return edge
    return -1


@kernel
def _read_chosen(lists: GraphLists, masks: Masks, chosen: Flags) -> None:
    """Which of the edges are in the masks."""
    for graph in range(len(lists.ordered)):
        for place in range(lists.ordered[graph]):
            node = lists.order[graph, place]
            for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
                column = np.int64(lists.members[edge])
                chosen[edge] = masks[graph, node, column >> 6] >> np.uint64(column & 63) & np.uint64(1) != 0


@kernel
def _add_turned(lists: GraphLists, patterns: Masks) -> None:
    for graph in range(len(lists.ordered)):
        for place in range(lists.ordered[graph]):
            node = lists.order[graph, place]
            for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
                add_column(patterns[graph, lists.members[edge]], node)
