"""Hybrid MCMC: a chain over graphs whose proposals come from exact edge probabilities (Eaton & Murphy 2007).

The sums over all orders give the exact probability of every edge when a graph counts once for every order it fits
(exact/order.py). A global step draws a whole new graph from them, pair by pair: the edge i -> j with its probability
p_ij, j -> i with p_ji, none otherwise. What has a cycle or too many parents is rejected, else G' takes the place of G
with probability min(1, weight(G') q(G) / (weight(G) q(G'))), where `q` is the product of the chances of all pairs. So
the order-modular sums serve a chain in which every graph counts once, the structure-modular posterior. A share of the
steps are those of structure MCMC, which look around where the chain is.

A pair that is certain to have an edge, or none, would never be proposed otherwise: graphs that differ there could be
left by other steps only. So q mixes the three outcomes of each pair with `_FLOOR` of each. Any fixed `q` is right; this
one gives every graph a chance.

Cost: the exact sums, n^2 2^n operations and 16 bytes times 2^n, once; one random number for each pair, and n look-ups,
a global step.

Eaton & Murphy, "Bayesian structure learning using dynamic programming and MCMC", UAI 23 (2007).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount, kernel
from dagpost.families.family_sums import FamilyTables, bits_of
from dagpost.families.graph_lists import first_of
from dagpost.mcmc import structure
from dagpost.mcmc.records import Round
from dagpost.mcmc.reversal import is_acyclic
from dagpost.mcmc.structure import GraphState, keep, local_step, no_surroundings, survey, weigh

_GLOBAL = 3
#: The least chance of an edge, of its reverse and of none in a proposed graph.
_FLOOR = 1e-6


class HybridContext(NamedTuple):
    """The weights of the families, and the chances of the pairs in a proposed graph.

    `chances[i, j]` is that of the edge i -> j; `log_odds[i, j]` compares it with no edge between the two.
    """

    families: FamilyTables
    chances: Floats
    log_odds: Floats


State = GraphState


def start(context: HybridContext, generator: np.random.Generator, wanted: Integers | None = None) -> GraphState:
    """A graph that fits an order, a random one if none is wanted."""
    return structure.start(context.families, generator, wanted)


def is_possible(context: HybridContext, state: GraphState) -> bool:
    """Whether no node has too many parents, or parents that it must not have."""
    return structure.is_possible(context.families, state)


def proposal_of(edges: Floats) -> tuple[Floats, Floats]:
    """The chance of every edge (parent, child) in a proposed graph, and its log odds against no edge at all.

    >>> chances, log_odds = proposal_of(np.array([[0.0, 0.75], [0.25, 0.0]]))
    >>> chances.round(4).tolist(), log_odds.round(1).tolist()
    ([[0.0, 0.75], [0.25, 0.0]], [[0.0, 13.5], [12.4, 0.0]])
    """
    either = edges + edges.T
    # Rounding may take the sum of two exact probabilities above 1.
    edges = edges / np.maximum(either, 1.0)
    none = 1.0 - np.minimum(either, 1.0)
    chances = (1.0 - 3.0 * _FLOOR) * edges + _FLOOR
    log_odds = np.log(chances) - np.log((1.0 - 3.0 * _FLOOR) * none + _FLOOR)
    np.fill_diagonal(chances, 0.0)
    np.fill_diagonal(log_odds, 0.0)
    return np.ascontiguousarray(chances), np.ascontiguousarray(log_odds)


@inline_no_refcount
def _log_proposal(log_odds: Floats, parents: Masks) -> float:
    """Log chance of proposing a graph, relative to the graph without edges."""
    total = 0.0
    for child in range(len(parents)):
        rest = parents[child]
        while rest != np.uint64(0):
            total += log_odds[first_of(rest), child]
            rest &= rest - np.uint64(1)
    return total


@inline_no_refcount
def _propose(chances: Floats, max_parents: int, generator: np.random.Generator, proposed: Masks) -> bool:
    """Draw what is between the nodes of every pair; False if a node has too many parents then."""
    for first in range(len(proposed)):
        proposed[first] = np.uint64(0)
        first_bit = np.uint64(1) << np.uint64(first)
        for second in range(first):
            uniform = generator.random()
            if uniform < chances[second, first]:
                proposed[first] |= np.uint64(1) << np.uint64(second)
            elif uniform < chances[second, first] + chances[first, second]:
                proposed[second] |= first_bit
    most = 0
    for node in range(len(proposed)):
        most = max(most, bits_of(proposed[node]))
    return most <= max_parents


@inline_no_refcount
def _global_step(
    context: HybridContext,
    parents: Masks,
    log_weights: Floats,
    proposed: Masks,
    proposed_log_weights: Floats,
    generator: np.random.Generator,
) -> bool:
    """Propose a whole new graph; whether it was accepted. `log_weights` are those of the families of `parents`."""
    tables, chances, log_odds = context
    if not (_propose(chances, tables.max_parents, generator, proposed) and is_acyclic(proposed)):
        return False
    weigh(tables, proposed, proposed_log_weights)
    change = proposed_log_weights.sum() - log_weights.sum()
    change += _log_proposal(log_odds, parents) - _log_proposal(log_odds, proposed)
    if generator.random() >= math.exp(min(change, 0.0)):
        return False
    copy_into(parents, proposed)
    copy_into(log_weights, proposed_log_weights)
    return True


@kernel
def advance(
    context: HybridContext,
    state: GraphState,
    local: float,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    """One round: a share `local` of the steps change one edge, the others propose a whole graph."""
    tables = context.families
    parents = state.parents
    nodes = len(parents)
    here, there = no_surroundings(nodes), no_surroundings(nodes)
    proposed: Masks = np.zeros(nodes, dtype=np.uint64)
    weigh(tables, parents, here.log_weights)
    surveyed = False
    for kept in range(len(output.log_joint)):
        for _ in range(output.thinning):
            if cancel[0] != 0:
                return
            if generator.random() < local:
                if not surveyed:
                    survey(tables.max_parents, parents, here)
                    surveyed = True
                move, moved = local_step(tables, parents, here, there, generator)
            else:
                move = _GLOBAL
                moved = _global_step(context, parents, here.log_weights, proposed, there.log_weights, generator)
                surveyed = surveyed and not moved
            if move >= 0:
                output.proposed[move] += 1
                output.accepted[move] += moved
        keep(parents, here.log_weights, output, kept)
