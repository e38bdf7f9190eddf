"""Which edges of a graph have the same direction in all graphs that say the same?

Two DAGs allow the same distributions exactly when they have the same adjacencies and the same v-structures (Verma &
Pearl 1990), so data alone cannot tell them apart. An edge is *compelled* where every DAG of the class has it that way,
reversible elsewhere. More is compelled where some variables were set from outside: an edge between a variable that was
set and one that was not, in the same rows, shows its direction, if only its child was not set in all rows (Hauser &
Bühlmann 2012); parents of a variable that was set in every row are not looked at by any score. More still is compelled
where rules settle the direction of some pairs.

Without rows that were set and without rules the edges are told apart by the algorithm of Chickering (1995): nodes in
topological order, and for each node y one look at its latest parent x. Edges into y are all compelled if x has a
compelled parent that is not a parent of y, or if y has a parent that is neither x nor a parent of x; else just those
from the compelled parents of x are. From there the four rules of Meek (1995) go on, until none applies: they find all
that follows from what is known already, and since the DAG itself is one of the class they can only give an edge the
direction that it has.

Both go along lists of parents (graph_lists.py): as many steps as there are edges, times the parents of a node.
Exogenous nodes, hundreds perhaps, count as joined with each other by edges that nobody directs, but no such edge is
ever listed. Costs, 30,000 DAGs of 20 nodes and 20 to 40 edges on one thread: 0.03 s by Chickering's algorithm, as much
again for each use of Meek's rules. Beside the result, memory for a block of DAGs is needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.graph_lists import GraphLists, add_column, graphs_together, lists_of
from dagpost.families.masks import check_masks, masks_of_matrix
from dagpost.families.parent_lists import words_of

UnsignedMasks = NDArray[np.unsignedinteger[Any]]

_APART, _OPEN, _KNOWN = 0, 1, 2


def compelled_by_data(
    parents: UnsignedMasks, targets: Sequence[int] = (), exogenous: Sequence[int] = ()
) -> UnsignedMasks:
    """The compelled edges of every DAG, as masks of parents.

    `targets` are the sets of nodes, as masks, that were set from outside together in some row; 0 stands for rows in
    which nothing was set, and no sets at all for data that were only observed. `exogenous` are nodes without parents.
    How they depend on each other is not modelled, so that data do not show two of them to be apart: they count as
    joined, and no v-structure has both its parents among them.

    >>> chain, collider = [0, 1, 2], [0, 5, 0]  # A -> B -> C, and A -> B <- C
    >>> graphs = np.array([chain, collider], dtype=np.uint8)
    >>> compelled_by_data(graphs).tolist()
    [[0, 0, 0], [0, 5, 0]]
    >>> compelled_by_data(graphs, targets=[0, 1]).tolist()  # A was set in some rows
    [[0, 1, 2], [0, 5, 0]]

    References
    ----------
    Chickering (1995), A transformational characterization of equivalent Bayesian network structures. UAI 11.
    Hauser & Bühlmann (2012), Characterization and greedy learning of interventional Markov equivalence classes of
    directed acyclic graphs. Journal of Machine Learning Research 13.
    """
    check_masks(parents)
    nodes = parents.shape[1]
    always, apart = _told_apart(targets, nodes)
    unmodelled = np.zeros(nodes, dtype=np.bool_)
    unmodelled[list(exogenous)] = True

    def compelled(graphs: Masks) -> tuple[Masks, int]:
        found = np.zeros_like(graphs)
        cyclic = _compel(graphs, unmodelled, found)
        if cyclic < 0 and (apart.any() or always.any()):
            graphs[:, always & ~unmodelled] = 0
            found[:] = 0
            _compel(graphs, unmodelled, found)
            found |= graphs & apart
            _close_lists(lists_of(graphs)[0], unmodelled, found)
        return found, cyclic

    return _in_blocks(parents, compelled)


def compelled_with_rules(
    parents: UnsignedMasks, by_data: UnsignedMasks, settled: Masks, targets: Sequence[int] = ()
) -> UnsignedMasks:
    """What the data compel and what follows from that together with rules, as masks of parents.

    `by_data` is what `compelled_by_data` found; bit j of `settled[i]` says that a rule leaves `j -> i` as the only
    direction of that pair. The graphs obey the rules.

    >>> chain = np.array([[0, 1, 2]], dtype=np.uint8)  # A -> B -> C
    >>> compelled_with_rules(chain, np.zeros_like(chain), np.array([0, 1, 0], dtype=np.uint64)).tolist()
    [[0, 1, 2]]

    References
    ----------
    Meek (1995), Causal inference and causal explanation with background knowledge. UAI 11.
    """
    check_masks(parents)
    if not settled.any():
        return by_data
    always, _ = _told_apart(targets, parents.shape[1])
    ruled = settled.reshape(len(settled), -1)

    def compelled(graphs: Masks, known: Masks) -> tuple[Masks, int]:
        found = known | (graphs & ruled)
        unseen = found[:, always]
        graphs[:, always] = found[:, always] = 0
        # Rules direct all edges from exogenous nodes, so it does not matter here that they count as joined.
        _close_lists(lists_of(graphs)[0], np.zeros(len(always), dtype=np.bool_), found)
        found[:, always] = unseen
        return found, -1

    return _in_blocks(parents, compelled, by_data)


def patterns_of(parents: UnsignedMasks, compelled: UnsignedMasks) -> UnsignedMasks:
    """Partially directed graphs as masks, from DAGs and those of their edges that are compelled.

    Bit j of entry i says that there is an edge j -> i or an undirected one; it is undirected where bit i of entry j is
    set too.
    """
    check_masks(parents)

    def completed(graphs: Masks, known: Masks) -> tuple[Masks, int]:
        found = graphs.copy()
        _add_turned(lists_of(graphs & ~known)[0], found)
        return found, -1

    return _in_blocks(parents, completed, compelled)


def essential_graphs(parents: UnsignedMasks) -> UnsignedMasks:
    """The essential graph of every DAG (its CPDAG), as masks: equal for DAGs of the same class only.

    Bit j of entry i says that there is an edge j -> i or an undirected one; it is undirected where bit i of entry j is
    set too.

    >>> chain, collider = [0, 1, 2], [0, 5, 0]  # A -> B -> C, and A -> B <- C
    >>> essential_graphs(np.array([chain, collider], dtype=np.uint8)).tolist()
    [[2, 5, 2], [0, 5, 0]]

    References
    ----------
    Chickering (1995), A transformational characterization of equivalent Bayesian network structures. UAI 11.
    """
    return patterns_of(parents, compelled_by_data(parents))


def _in_blocks(parents: UnsignedMasks, work: Callable[..., tuple[Masks, int]], *others: UnsignedMasks) -> UnsignedMasks:
    """What `work` makes of the graphs, block by block; it also says which graph of a block is cyclic, or -1."""
    result = np.empty_like(parents, order="C")
    nodes = parents.shape[1]
    size = graphs_together(nodes, words_of(nodes))

    def write(rows: slice) -> None:
        # Copies in any case: kernels are compiled for words that are in order and may be written to.
        words = (np.array(masks[rows], dtype=np.uint64, order="C") for masks in (parents, *others))
        found, cyclic = work(*(own.reshape(len(own), nodes, -1) for own in words))
        if cyclic >= 0:
            raise InputError(f"The graph number {rows.start + cyclic} has a directed cycle, so it is not a DAG.")
        result[rows] = found.reshape(result[rows].shape)

    deque(over_rows(write, len(parents), size), maxlen=0)
    return result


def _told_apart(targets: Sequence[int], nodes: int) -> tuple[Flags, Masks]:
    """The nodes that were set in every row; and for each node those that were set in rows without it, or without them.

    The first have no parents that data could show, so none are told apart from them.
    """
    always = np.full(nodes, len(targets) > 0)
    # Of every x and y, whether some set holds just one of the two.
    differs = np.zeros((nodes, nodes), dtype=np.bool_)
    for target in dict.fromkeys(targets):
        own = np.array([target >> node & 1 for node in range(nodes)], dtype=np.bool_)
        always &= own
        differs |= own[:, None] != own[None, :]
    return always, masks_of_matrix(differs & ~always).reshape(nodes, -1)


def _compel(parents: Masks, exogenous: Flags, compelled: Masks) -> int:
    """Write the compelled edges of each DAG (Chickering 1995); returns the first graph with a cycle, or -1."""
    lists, cyclic = lists_of(parents)
    if cyclic < 0:
        _compel_lists(lists, exogenous, compelled)
    return cyclic


@kernel
def _compel_lists(lists: GraphLists, exogenous: Flags, result: Masks) -> None:
    nodes, compelled = len(exogenous), np.zeros(len(lists.members), dtype=np.bool_)
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
        _write_edges(lists, graph, compelled, result[graph])


@kernel
def _close_lists(lists: GraphLists, exogenous: Flags, compelled: Masks) -> None:
    """Add to the compelled edges of each DAG all that follow by Meek's rules."""
    known = np.zeros(len(lists.members), dtype=np.bool_)
    for graph in range(len(lists.ordered)):
        _read_edges(lists, graph, compelled[graph], known)
        changed = True
        while changed:
            changed = False
            for place in range(lists.ordered[graph]):
                child = lists.order[graph, place]
                for edge in range(lists.starts[graph, child], lists.starts[graph, child + 1]):
                    if not known[edge] and _follows(lists, graph, lists.members[edge], child, exogenous, known):
                        known[edge] = changed = True
        _write_edges(lists, graph, known, compelled[graph])


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


@inline_no_refcount
def _read_edges(lists: GraphLists, graph: int, sets: Masks, chosen: Flags) -> None:
    """Which of the edges of a graph are in the parent sets (columns, words)."""
    for place in range(lists.ordered[graph]):
        node = lists.order[graph, place]
        for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
            column = np.int64(lists.members[edge])
            chosen[edge] = sets[node, column >> 6] >> np.uint64(column & 63) & np.uint64(1) != 0


@inline_no_refcount
def _write_edges(lists: GraphLists, graph: int, chosen: Flags, sets: Masks) -> None:
    """Add the chosen edges of a graph to the parent sets (columns, words)."""
    for place in range(lists.ordered[graph]):
        node = lists.order[graph, place]
        for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
            if chosen[edge]:
                add_column(sets[node], lists.members[edge])


@kernel
def _add_turned(lists: GraphLists, patterns: Masks) -> None:
    for graph in range(len(lists.ordered)):
        for place in range(lists.ordered[graph]):
            node = lists.order[graph, place]
            for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
                add_column(patterns[graph, lists.members[edge]], node)
