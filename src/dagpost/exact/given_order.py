"""Averages over all graphs that fit one given order, exactly, and independent draws of them (Dash & Cooper 2004).

Once the order is known, each node chooses its parents by itself: any allowed set inside its predecessors `U`, with
probability in proportion to its weight. So the evidence is the product over the nodes of the weight of all sets inside
`U`, an edge has the probability that the parents of its child include it, and a graph is drawn node by node.

Where not all other nodes are candidates (families/family_sums.py, from 22 nodes on), sets that hold less than 1e-8 of a
node's weight together are not considered; draws leave them out at any size.

Time: one look-up of a sum for each pair of nodes; for draws one scan of the parent sets of each node, and one search in
it for each draw, for every `DRAWN_TOGETHER` draws (sampling/given_order.py). Memory: some 50 bytes a node for each of
those.

Dash & Cooper, "Model averaging for prediction with discrete Bayesian networks", JMLR 5 (2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost._tools.text import shown
from dagpost.errors import InputError, NoGraphError
from dagpost.families.family_sums import FamilyTables, log_sum_inside
from dagpost.families.graphs import add_edge_probabilities


@dataclass(frozen=True, eq=False)
class GivenOrderPosterior:
    """The posterior over the graphs that fit `order`, first node first.

    `edges[j, i]` is the probability that node `j` is a parent of node `i`; `log_evidence` the natural log of the sum
    over all graphs. `log_sums[i]` is the log weight of the parent sets of node `i` inside its predecessors, relative to
    its heaviest set.
    """

    order: Integers
    log_sums: Floats
    log_evidence: float
    edges: Floats


def given_order_posterior(
    families: FamilyTables, order: Sequence[int] | NDArray[np.integer], *, names: Sequence[str] | None = None
) -> GivenOrderPosterior:
    """Evidence and edges of all graphs in which parents come before their children in `order`.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.mcmc.candidates import weights_of_all
    >>> from dagpost.families.family_sums import family_tables
    >>> families = family_tables(weights_of_all(np.log([[1.0, 3.0], [1.0, 2.0]]), 1), engine=ThreadEngine(1))
    >>> posterior = given_order_posterior(families, [1, 0])
    >>> round(math.exp(posterior.log_evidence), 9), posterior.edges.round(9).tolist()
    (4.0, [[0.0, 0.0], [0.75, 0.0]])

    (No edge: 1 · 1; 1 -> 0: 3 · 1.)
    """
    nodes = len(families.candidates)
    places = _checked(order, nodes)
    log_sums, edges = np.empty(nodes), np.zeros((nodes, nodes))
    failed = _look_up(families, places, log_sums, edges)
    if failed >= 0:
        node = int(places[failed])
        which = f"column {node} (counted from 0; " if names is None else f"{names[node]!r} ("
        raise NoGraphError(
            f"The order leaves {which}number {failed + 1} in the order) without an allowed parent set: every set "
            "inside the columns before it has weight 0. Move it further back, or relax its required and forbidden "
            "edges."
        )
    return GivenOrderPosterior(places, log_sums, float((log_sums + families.heaviest).sum()), edges)


def _checked(order: Sequence[int] | NDArray[np.integer], nodes: int) -> Integers:
    given = np.asarray(order)
    if given.dtype.kind not in "iu" or given.shape != (nodes,) or (np.sort(given) != np.arange(nodes)).any():
        raise InputError(
            f"An order must hold the number of each column once, 0 to {nodes - 1}. Got {shown(given.tolist())} instead."
        )
    return given.astype(np.int64)


@kernel
def _look_up(tables: FamilyTables, order: Integers, log_sums: Floats, edges: Floats) -> int:
    """Fill in the sums and the edges; the place in the order of the first node without a parent set, or -1."""
    nodes = len(order)
    allowed: Masks = np.zeros(nodes, dtype=np.uint64)
    to_meet: Masks = np.zeros(nodes, dtype=np.uint64)
    before = np.uint64(0)
    for place in range(nodes):
        node = order[place]
        allowed[node] = before
        log_sums[node] = log_sum_inside(tables, node, before)
        if log_sums[node] == -math.inf:
            return place
        before |= np.uint64(1) << np.uint64(node)
    add_edge_probabilities(tables, allowed, to_meet, log_sums, edges)
    return -1
