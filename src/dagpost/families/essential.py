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
from the compelled parents of x are. On masks that is some n^2 steps a DAG. From there the four rules of Meek (1995) go
on, until none applies: they find all that follows from what is known already, and since the DAG itself is one of the
class they can only give an edge the direction that it has.

Costs, 30,000 DAGs of 20 nodes and 20 to 40 edges on one thread: 0.03 s by Chickering's algorithm, as much again for
each use of Meek's rules. Beside the result, memory for a block of 65,536 DAGs is needed. DAGs of more than 64 nodes,
whose masks are rows of words, are worked on as lists, in smaller blocks (wide_essential.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Masks
from dagpost._tools.checks import whole_number
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.graph_lists import graphs_together
from dagpost.families.masks import check_masks, masks_of_matrix
from dagpost.families.wide_essential import add_turned_wide, close_wide, compel_wide

UnsignedMasks = NDArray[np.unsignedinteger[Any]]

#: So many graphs are copied together.
_AT_A_TIME = 65_536


def compelled_by_data(
    parents: UnsignedMasks,
    targets: Sequence[int] = (),
    exogenous: Sequence[int] = (),
    *,
    at_a_time: int = _AT_A_TIME,
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
    # Where sets are numbers, exogenous nodes are joined by edges from the first to the last, which no rule will direct.
    among = masks_of_matrix(np.triu(np.outer(unmodelled, unmodelled), 1) & (parents.ndim == 2))
    joins = bool(among.any())

    def compelled(graphs: Masks) -> tuple[Masks, int]:
        if joins:
            graphs |= among
        found = np.zeros_like(graphs)
        cyclic = _compel(graphs, unmodelled, found)
        if cyclic < 0 and (apart.any() or always.any()):
            graphs[:, always & ~unmodelled] = 0
            found[:] = 0
            _compel(graphs, unmodelled, found)
            found |= graphs & apart & ~among
            _close(graphs, unmodelled, found)
        return found & ~among if joins else found, cyclic

    return _in_blocks(parents, compelled, at_a_time)


def compelled_with_rules(
    parents: UnsignedMasks,
    by_data: UnsignedMasks,
    settled: Masks,
    targets: Sequence[int] = (),
    *,
    at_a_time: int = _AT_A_TIME,
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

    def compelled(graphs: Masks, known: Masks) -> tuple[Masks, int]:
        found = known | (graphs & settled)
        unseen = found[:, always]
        graphs[:, always] = found[:, always] = 0
        # Rules direct all edges from exogenous nodes, so it does not matter here that they count as joined.
        _close(graphs, np.zeros(len(always), dtype=np.bool_), found)
        found[:, always] = unseen
        return found, -1

    return _in_blocks(parents, compelled, at_a_time, by_data)


def patterns_of(parents: UnsignedMasks, compelled: UnsignedMasks) -> UnsignedMasks:
    """Partially directed graphs as masks, from DAGs and those of their edges that are compelled.

    Bit j of entry i says that there is an edge j -> i or an undirected one; it is undirected where bit i of entry j is
    set too.
    """
    check_masks(parents)

    def completed(graphs: Masks, known: Masks) -> tuple[Masks, int]:
        found = graphs.copy()
        _add_turned(graphs & ~known, found)
        return found, -1

    return _in_blocks(parents, completed, _AT_A_TIME, compelled)


def essential_graphs(parents: UnsignedMasks, *, at_a_time: int = _AT_A_TIME) -> UnsignedMasks:
    """The essential graph of every DAG (its CPDAG), as masks: equal for DAGs of the same class only.

    Bit j of entry i says that there is an edge j -> i or an undirected one; it is undirected where bit i of entry j is
    set too. `at_a_time` graphs are copied together.

    >>> chain, collider = [0, 1, 2], [0, 5, 0]  # A -> B -> C, and A -> B <- C
    >>> essential_graphs(np.array([chain, collider], dtype=np.uint8)).tolist()
    [[2, 5, 2], [0, 5, 0]]

    References
    ----------
    Chickering (1995), A transformational characterization of equivalent Bayesian network structures. UAI 11.
    """
    return patterns_of(parents, compelled_by_data(parents, at_a_time=at_a_time))


def _in_blocks(
    parents: UnsignedMasks, work: Callable[..., tuple[Masks, int]], at_a_time: int, *others: UnsignedMasks
) -> UnsignedMasks:
    """What `work` makes of the graphs, block by block; it also says which graph of a block is cyclic, or -1."""
    result = np.empty_like(parents, order="C")
    whole_number(at_a_time, "at_a_time")
    if parents.ndim == 3:
        at_a_time = min(at_a_time, graphs_together(*parents.shape[1:]))

    def write(rows: slice) -> None:
        # Copies in any case: kernels are compiled for arrays that are in order and may be written to.
        found, cyclic = work(*(np.array(masks[rows], dtype=np.uint64, order="C") for masks in (parents, *others)))
        if cyclic >= 0:
            raise InputError(f"The graph number {rows.start + cyclic} has a directed cycle, so it is not a DAG.")
        result[rows] = found

    deque(over_rows(write, len(parents), at_a_time), maxlen=0)
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
    return always, masks_of_matrix(differs & ~always)


def _compel(parents: Masks, exogenous: Flags, compelled: Masks) -> int:
    """Write the compelled edges of each DAG (Chickering 1995); returns the first graph with a cycle, or -1."""
    return compel_wide(parents, exogenous, compelled) if parents.ndim == 3 else _compel_masks(parents, compelled)


def _close(parents: Masks, exogenous: Flags, compelled: Masks) -> None:
    """Add to the compelled edges of each DAG all that follow by Meek's rules."""
    if parents.ndim == 3:
        close_wide(parents, exogenous, compelled)
    else:
        _close_masks(parents, compelled)


def _add_turned(reversible: Masks, patterns: Masks) -> None:
    """Add the other direction of every reversible edge."""
    (add_turned_wide if reversible.ndim == 3 else _add_turned_masks)(reversible, patterns)


@kernel
def _compel_masks(parents: Masks, compelled: Masks) -> int:
    count, nodes = parents.shape
    one, none = np.uint64(1), np.uint64(0)
    place = np.empty(nodes, dtype=np.int64)
    for graph in range(count):
        placed = none
        rank = 0
        while rank < nodes:
            before = rank
            for node in range(nodes):
                above = parents[graph, node]
                if placed >> np.uint64(node) & one or above & ~placed != none:
                    continue
                placed |= one << np.uint64(node)
                place[node] = rank
                rank += 1
                if above == none:
                    continue
                latest = -1
                for other in range(nodes):
                    if above >> np.uint64(other) & one and (latest < 0 or place[other] > place[latest]):
                        latest = other
                further = above & ~(one << np.uint64(latest))
                forced = compelled[graph, latest]
                if forced & ~above != none or further & ~parents[graph, latest] != none:
                    forced = above
                compelled[graph, node] = forced
            if rank == before:
                return graph
    return -1


@kernel
def _add_turned_masks(reversible: Masks, patterns: Masks) -> None:
    count, nodes = reversible.shape
    one = np.uint64(1)
    for graph in range(count):
        for child in range(nodes):
            for parent in range(nodes):
                if reversible[graph, child] >> np.uint64(parent) & one:
                    patterns[graph, parent] |= one << np.uint64(child)


@kernel
def _close_masks(parents: Masks, compelled: Masks) -> None:
    count, nodes = parents.shape
    one, none = np.uint64(1), np.uint64(0)
    joined = np.empty(nodes, dtype=np.uint64)
    # Of each node: its children by compelled edges, and its neighbours by edges that are still open.
    below = np.empty(nodes, dtype=np.uint64)
    open_to = np.empty(nodes, dtype=np.uint64)
    for graph in range(count):
        above = parents[graph]
        known = compelled[graph]
        for node in range(nodes):
            joined[node], below[node], open_to[node] = above[node], none, above[node] & ~known[node]
        for child in range(nodes):
            bit = one << np.uint64(child)
            for parent in range(nodes):
                if above[child] >> np.uint64(parent) & one:
                    joined[parent] |= bit
                    if known[child] >> np.uint64(parent) & one:
                        below[parent] |= bit
                    else:
                        open_to[parent] |= bit
        changed = True
        while changed:
            changed = False
            for child in range(nodes):
                for parent in range(nodes):
                    if not (above[child] & ~known[child]) >> np.uint64(parent) & one:
                        continue
                    if _follows(parent, child, joined, known, below, open_to):
                        bit, other = one << np.uint64(child), one << np.uint64(parent)
                        known[child] |= other
                        below[parent] |= bit
                        open_to[parent] &= ~bit
                        open_to[child] &= ~other
                        changed = True


@inline_no_refcount
def _follows(x: int, y: int, joined: Masks, known: Masks, below: Masks, open_to: Masks) -> bool:
    """Whether one of the rules turns `x - y` into `x -> y`.

    1: some `z -> x` where z is not joined to y. 2: some `x -> z -> y`. 3: `x - z -> y` for two z that are not joined.
    4: `x - w -> z -> y` where w is not joined to y, and z is joined to x.
    """
    one, none = np.uint64(1), np.uint64(0)
    if known[x] & ~joined[y] != none or below[x] & known[y] != none:
        return True
    either = open_to[x] & known[y]
    through = joined[x] & known[y]
    beyond = open_to[x] & ~joined[y] & ~(one << np.uint64(y))
    for z in range(len(joined)):
        bit = one << np.uint64(z)
        if either & bit != none and either & ~joined[z] & ~bit != none:
            return True
        if through & bit != none and known[z] & beyond != none:
            return True
    return False
