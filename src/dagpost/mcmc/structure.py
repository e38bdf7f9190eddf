"""Structure MCMC: a chain over graphs that changes one edge at a time (Madigan & York 1995).

A step proposes, with equal chances, any of the graphs that one added, deleted or reversed edge makes of this one
without a cycle and without more than `max_parents` parents. With N of them here and N' around the proposed graph, the
step is accepted with probability min(1, weight' / weight * N / N'). Every graph counts once: this is the
structure-modular posterior. Steps are small, and the chain easily stays where it started; a share of new edge
reversals (reversal.py), each of which draws all parents of two nodes anew, makes it far more mobile.

The neighbours are counted with masks, from the descendants of every node: j may become a parent of i unless it is one
or descends from i; the edge j -> i may be turned round unless another parent of i descends from j. Those of the
proposed graph are counted only if its weight does not rule it out already, which it mostly does. A step then costs one
or two look-ups; with the count, n^2 operations on masks more. Memory: a few masks a node.

Madigan & York, "Bayesian graphical models for discrete data", International Statistical Review 63 (1995).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount, inlined, kernel
from dagpost.families.family_sums import FamilyTables, bits_of, log_weight_of
from dagpost.families.graph_lists import place_of_bit
from dagpost.families.graphs import draw_graph
from dagpost.mcmc import order as orders
from dagpost.mcmc.records import Round
from dagpost.mcmc.reversal import all_nodes, find_descendants, nth_member, reverse_edge

_ADD, _DELETE, _REVERSE, _NEW_EDGE_REVERSAL = 0, 1, 2, 3


class GraphState(NamedTuple):
    """A graph: the parents of every node."""

    parents: Masks


#: What chains.py calls it.
State = GraphState


def start(tables: FamilyTables, generator: np.random.Generator, wanted: Integers | None = None) -> GraphState:
    """A graph drawn from the posterior given an order, a random one if none is wanted: not like others, nor absurd."""
    order, log_sums = orders.start(tables, generator, wanted)
    parents = np.zeros(len(order), dtype=np.uint64)
    _draw_in_order(tables, order, log_sums, generator, parents)
    return GraphState(parents)


@kernel
def _draw_in_order(
    tables: FamilyTables, order: Integers, log_sums: Floats, generator: np.random.Generator, parents: Masks
) -> None:
    allowed: Masks = np.zeros(len(order), dtype=np.uint64)
    before = np.uint64(0)
    for node in order:
        allowed[node] = before
        before |= np.uint64(1) << np.uint64(node)
    draw_graph(tables, allowed, np.zeros_like(allowed), log_sums, generator, parents)


@kernel
def is_possible(tables: FamilyTables, state: GraphState) -> bool:
    """Whether no node has too many parents, or parents that it must not have."""
    for node in range(len(state.parents)):
        if bits_of(state.parents[node]) > tables.max_parents:
            return False
        if log_weight_of(tables, node, state.parents[node]) == -math.inf:
            return False
    return True


class Surroundings(NamedTuple):
    """What can be done to a graph in one step, and what its families weigh.

    `addable[i]`: the nodes that can become parents of node `i`; `reversible[i]`: its parents that can become its
    children. `counts`: how many additions, deletions and reversals there are.
    """

    descendants: Masks
    addable: Masks
    reversible: Masks
    counts: Integers
    log_weights: Floats


@inlined
def no_surroundings(nodes: int) -> Surroundings:
    """Room for the surroundings of a graph."""
    return Surroundings(
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(3, dtype=np.int64),
        np.zeros(nodes),
    )


@inline_no_refcount
def survey(max_parents: int, parents: Masks, around: Surroundings) -> None:
    """Find all that can be done to a graph; the weights are left alone."""
    nodes = len(parents)
    descendants, addable, reversible, counts, _ = around
    find_descendants(parents, descendants)
    everyone = all_nodes(nodes)
    for kind in range(3):
        counts[kind] = 0
    for node in range(nodes):
        own = parents[node]
        size = bits_of(own)
        may_be = everyone & ~(descendants[node] | own | (np.uint64(1) << np.uint64(node)))
        addable[node] = may_be if size < max_parents else np.uint64(0)
        turning = np.uint64(0)
        rest = own
        while rest != np.uint64(0):
            bit = rest & (~rest + np.uint64(1))
            rest ^= bit
            parent = place_of_bit(bit)
            if descendants[parent] & own == np.uint64(0) and bits_of(parents[parent]) < max_parents:
                turning |= bit
        reversible[node] = turning
        counts[_ADD] += bits_of(addable[node])
        counts[_DELETE] += size
        counts[_REVERSE] += bits_of(turning)


@inline_no_refcount
def weigh(tables: FamilyTables, parents: Masks, log_weights: Floats) -> None:
    """Look up the weight of every family of a graph."""
    for node in range(len(parents)):
        log_weights[node] = log_weight_of(tables, node, parents[node])


@inline_no_refcount
def local_step(
    tables: FamilyTables, parents: Masks, here: Surroundings, there: Surroundings, generator: np.random.Generator
) -> tuple[int, bool]:
    """Propose one of the neighbours of a graph: what kind it was (-1 if there is none), and whether it was accepted.

    `here` are the surroundings of `parents`, before the step and after it; `there` is scratch.
    """
    neighbours = here.counts.sum()
    if neighbours == 0:
        return -1, False
    number = int(generator.random() * neighbours)
    edges = here.counts[_DELETE]
    if number < here.counts[_ADD]:
        kind = _ADD
        child, bit = nth_member(here.addable, number)
        edges += 1
    elif number < here.counts[_ADD] + edges:
        kind = _DELETE
        child, bit = nth_member(parents, number - here.counts[_ADD])
        edges -= 1
    else:
        kind = _REVERSE
        child, bit = nth_member(here.reversible, number - here.counts[_ADD] - edges)
    new_child = parents[child] ^ bit
    log_child = log_weight_of(tables, child, new_child)
    change = log_child - here.log_weights[child]
    parent = place_of_bit(bit)
    new_parent, log_parent = parents[parent], here.log_weights[parent]
    if kind == _REVERSE:
        new_parent |= np.uint64(1) << np.uint64(child)
        log_parent = log_weight_of(tables, parent, new_parent)
        change += log_parent - here.log_weights[parent]
    # More neighbours than this around the proposed graph and it is rejected; each of its edges can be deleted.
    most_neighbours = neighbours * math.exp(min(change, 700.0)) / (1.0 - generator.random())
    if max(edges, 1) >= most_neighbours:
        return kind, False
    old_child, old_parent = parents[child], parents[parent]
    parents[child], parents[parent] = new_child, new_parent
    survey(tables.max_parents, parents, there)
    if there.counts.sum() >= most_neighbours:
        parents[child], parents[parent] = old_child, old_parent
        return kind, False
    copy_into(here.descendants, there.descendants)
    copy_into(here.addable, there.addable)
    copy_into(here.reversible, there.reversible)
    copy_into(here.counts, there.counts)
    here.log_weights[child], here.log_weights[parent] = log_child, log_parent
    return kind, True


@kernel
def advance(
    tables: FamilyTables,
    state: GraphState,
    reversals: float,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    """One round: changes of one edge, and a share of new edge reversals."""
    parents = state.parents
    nodes = len(parents)
    here, there = no_surroundings(nodes), no_surroundings(nodes)
    survey(tables.max_parents, parents, here)
    weigh(tables, parents, here.log_weights)
    for kept in range(len(output.log_joint)):
        for _ in range(output.thinning):
            if cancel[0] != 0:
                return
            if generator.random() < reversals:
                move, moved = _NEW_EDGE_REVERSAL, reverse_edge(tables, parents, generator)
                if moved:
                    survey(tables.max_parents, parents, here)
                    weigh(tables, parents, here.log_weights)
            else:
                move, moved = local_step(tables, parents, here, there, generator)
            if move >= 0:
                output.proposed[move] += 1
                output.accepted[move] += moved
        keep(parents, here.log_weights, output, kept)


@inline_no_refcount
def keep(parents: Masks, log_weights: Floats, output: Round, kept: int) -> None:
    """Write down a graph; it is the state too."""
    copy_into(output.parents[kept], parents)
    output.log_joint[kept] = output.log_state[kept] = log_weights.sum()
