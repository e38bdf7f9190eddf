"""A graph of large weight, by greedy steps: which single edge to add, delete or turn round next?

From a starting graph, the one of these changes that gains most is made, again and again, until none gains anything: a
local optimum (hill climbing, as in Heckerman, Geiger & Chickering, "Learning Bayesian networks", Machine Learning 20,
1995). What each node gains by taking in or letting go each other node as a parent is kept in a table, of which a step
changes one row, or two where an edge is turned round. Sets of descendants tell which changes would close a cycle.

Changes are looked at in one order: by child, then by parent, turning round after deleting. A later one is preferred
only if it gains more than rounding could pretend, so that ties are broken in the same way every time.

Time of a step: `n` or `2 n` look-ups and `n^2` comparisons. Memory: `n^2` numbers.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.errors import InputError
from dagpost.exact.kbest import tie_tolerance
from dagpost.families.family_sums import FamilyTables, log_weight_of
from dagpost.families.graph_lists import close_transitively
from dagpost.mcmc import structure
from dagpost.mcmc.reversal import find_descendants


def climb(families: FamilyTables, start: Masks | None = None) -> tuple[Masks, float]:
    """Climb from `start`, parent masks of a graph, to a local optimum: its parent masks and its log weight.

    Without a `start` the climb begins at the graph without edges or, where that is not allowed, at a graph drawn along
    a random order, always the same one.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.mcmc.candidates import weights_of_all
    >>> from dagpost.families.family_sums import family_tables
    >>> families = family_tables(weights_of_all(np.log([[1.0, 3.0], [1.0, 2.0]]), 1), engine=ThreadEngine(1))
    >>> parents, log_weight = climb(families)
    >>> parents.tolist(), round(math.exp(log_weight), 9)
    ([2, 0], 3.0)
    """
    parents = starting_graph(families) if start is None else _checked(families, start)
    return parents, _climb(families, parents, tie_tolerance(families.heaviest[:, None]))


def starting_graph(families: FamilyTables) -> Masks:
    """The graph without edges if it is allowed, otherwise one drawn along a random order, always the same."""
    parents = np.zeros(len(families.candidates), dtype=np.uint64)
    if log_weights_of_graphs(families, parents[None])[0] > -math.inf:
        return parents
    return structure.start(families, np.random.Generator(np.random.PCG64(0))).parents


def log_weights_of_graphs(families: FamilyTables, parents: Masks) -> Floats:
    """Log weights of graphs given as parent masks (graphs, nodes); minus infinity where a family is not considered."""
    result = np.empty(len(parents))
    _weigh(families, np.array(parents, dtype=np.uint64, order="C"), result)
    return result


def _checked(families: FamilyTables, start: Masks) -> Masks:
    """A copy of the starting graph; refuses what is not an acyclic graph, and graphs that are not allowed."""
    nodes = len(families.candidates)
    parents = np.array(start, dtype=np.uint64)
    if parents.shape != (nodes,):
        raise InputError(
            f"A starting graph has one mask of parents for each of {nodes} nodes. Got shape {parents.shape} instead."
        )
    if any(mask >> nodes for mask in parents.tolist()) or close_transitively(parents.copy()[None, :, None]) >= 0:
        raise InputError(
            f"The starting graph {parents.tolist()} has a cycle, or parents that are not there. Masks of parents have "
            f"bits 0 to {nodes - 1}, and no node may be its own ancestor."
        )
    if log_weights_of_graphs(families, parents[None])[0] == -math.inf:
        raise InputError(
            f"The starting graph {parents.tolist()} has weight 0: a constraint or max_parents does not allow it. Start "
            "from another, or from none."
        )
    return parents


@kernel
def _weigh(tables: FamilyTables, parents: Masks, log_weights: Floats) -> None:
    for graph in range(len(parents)):
        total = 0.0
        for node in range(parents.shape[1]):
            total += log_weight_of(tables, node, parents[graph, node])
        log_weights[graph] = total


@inlined
def _find_gains(tables: FamilyTables, node: int, parents: np.uint64, gains: Floats) -> float:
    """What `node` gains by taking in, or letting go, each other node; its log weight now."""
    own = log_weight_of(tables, node, parents)
    for other in range(len(gains)):
        if other != node:
            gains[other] = log_weight_of(tables, node, parents ^ (np.uint64(1) << np.uint64(other))) - own
    return own


@kernel
def _climb(tables: FamilyTables, parents: Masks, tolerance: float) -> float:
    """Change `parents` until nothing gains; the log weight then."""
    nodes = len(parents)
    one = np.uint64(1)
    descendants: Masks = np.zeros(nodes, dtype=np.uint64)
    own, gains = np.empty(nodes), np.zeros((nodes, nodes))
    for node in range(nodes):
        own[node] = _find_gains(tables, node, parents[node], gains[node])
    while True:
        find_descendants(parents, descendants)
        best, child, parent, turn = tolerance, -1, -1, False
        for node in range(nodes):
            for other in range(nodes):
                bit = one << np.uint64(other)
                gain = gains[node, other]
                if other == node:
                    continue
                if parents[node] & bit:
                    if gain > best:
                        best, child, parent, turn = gain + tolerance, node, other, False
                    gain += gains[other, node]
                    # Turned round, it closes a cycle with any other way from `other` to `node`.
                    if gain > best and descendants[other] & (parents[node] ^ bit) == 0:
                        best, child, parent, turn = gain + tolerance, node, other, True
                elif gain > best and descendants[node] & bit == 0:
                    best, child, parent, turn = gain + tolerance, node, other, False
        if child < 0:
            return float(own.sum())
        parents[child] ^= one << np.uint64(parent)
        own[child] = _find_gains(tables, child, parents[child], gains[child])
        if turn:
            parents[parent] ^= one << np.uint64(child)
            own[parent] = _find_gains(tables, parent, parents[parent], gains[parent])
