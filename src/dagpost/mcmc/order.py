"""Order MCMC: a chain over orders of the variables (Friedman & Koller 2003).

The weight of an order is the product over its nodes of the weight of all parent sets inside their predecessors, so
that the sum over all graphs that fit an order takes one look-up a node. The chain visits orders in proportion to their
weight; from each kept order one graph is drawn. A graph is reached by every order that it fits: this is the
order-modular posterior.

Moves: two neighbours swap places; any two nodes swap places; one node is taken out and put back where it may, anywhere,
with the probability that the order then has (it is never rejected). Only the nodes whose predecessors change are looked
up again. A step costs from two look-ups to two for every node.

Friedman & Koller, "Being Bayesian about network structure", Machine Learning 50 (2003).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, inlined, kernel
from dagpost._tools.log_sums import choose
from dagpost.errors import NoGraphError
from dagpost.families.family_sums import NO_ORDER, FamilyTables, log_sum_inside
from dagpost.families.graphs import add_edge_probabilities, draw_graph
from dagpost.mcmc.records import Round

_NEIGHBOURS, _SWAP, _SHIFT = 0, 1, 2


class OrderState(NamedTuple):
    """An order, first node first, and the log weight of each node given its predecessors."""

    order: Integers
    log_sums: Floats


#: What chains.py calls it.
State = OrderState


def start(tables: FamilyTables, generator: np.random.Generator, wanted: Integers | None = None) -> OrderState:
    """An order that some graph fits: as near as may be to the one that is wanted, or else to a random one."""
    nodes = len(tables.candidates)
    state = OrderState(np.zeros(nodes, dtype=np.int64), np.zeros(nodes))
    if not possible_order(tables, generator.permutation(nodes) if wanted is None else wanted, *state):
        raise NoGraphError(NO_ORDER)
    return state


@kernel
def possible_order(tables: FamilyTables, wanted: Integers, order: Integers, log_sums: Floats) -> bool:
    """Fill `order` with the first of the nodes `wanted` that has a parent set there; False if there is no such order.

    A node that may come next may also come later, so that no choice leads into a dead end.
    """
    placed = np.uint64(0)
    for position in range(len(order)):
        found = False
        for node in wanted:
            if not found and placed >> np.uint64(node) & np.uint64(1) == 0:
                log_sum = log_sum_inside(tables, node, placed)
                if log_sum > -math.inf:
                    found = True
                    order[position] = node
                    log_sums[node] = log_sum
        if not found:
            return False
        placed |= np.uint64(1) << np.uint64(order[position])
    return True


@kernel
def is_possible(tables: FamilyTables, state: OrderState) -> bool:
    """Whether the weights of a state are those of its order, and none is zero."""
    before = np.uint64(0)
    for node in state.order:
        log_sum = log_sum_inside(tables, node, before)
        if log_sum == -math.inf or not is_close(state.log_sums[node], log_sum):
            return False
        before |= np.uint64(1) << np.uint64(node)
    return True


@inlined
def is_close(first: float, second: float) -> bool:
    """Whether two log weights are the same but for rounding."""
    return abs(first - second) <= 1e-6 * max(1.0, abs(second))


@inline_no_refcount
def _predecessors(order: Integers, position: int) -> np.uint64:
    mask = np.uint64(0)
    for place in range(position):
        mask |= np.uint64(1) << np.uint64(order[place])
    return mask


@inline_no_refcount
def _swap(
    tables: FamilyTables, state: OrderState, first: int, last: int, generator: np.random.Generator, fresh: Floats
) -> bool:
    """Propose that the nodes at two positions change places; whether it was accepted."""
    order, log_sums = state
    order[first], order[last] = order[last], order[first]
    before = _predecessors(order, first)
    change = 0.0
    for position in range(first, last + 1):
        node = order[position]
        fresh[node] = log_sum_inside(tables, node, before)
        change += fresh[node] - log_sums[node]
        before |= np.uint64(1) << np.uint64(node)
        if change == -math.inf:
            break
    if generator.random() < math.exp(min(change, 0.0)):
        for position in range(first, last + 1):
            log_sums[order[position]] = fresh[order[position]]
        return True
    order[first], order[last] = order[last], order[first]
    return False


@inline_no_refcount
def shift(
    tables: FamilyTables,
    state: OrderState,
    start: int,
    generator: np.random.Generator,
    log_place: Floats,
    log_own: Floats,
    log_other: Floats,
) -> bool:
    """Take one node out and put it back with the probability of each order that this can lead to.

    `log_place[p]` is the log weight of the order with the node at position `p`, relative to now; `log_own[p]` what the
    node itself weighs there, `log_other[p]` the weight there of the node that now is at `p`, once it is passed.
    """
    order, log_sums = state
    nodes = len(order)
    node = order[start]
    bit = np.uint64(1) << np.uint64(node)
    before = _predecessors(order, start)
    log_place[start], log_own[start] = 0.0, log_sums[node]
    passed = 0.0
    behind = before
    for position in range(start - 1, -1, -1):
        other = order[position]
        behind &= ~(np.uint64(1) << np.uint64(other))
        log_other[position] = log_sum_inside(tables, other, behind | bit)
        log_own[position] = log_sum_inside(tables, node, behind)
        passed += log_other[position] - log_sums[other]
        log_place[position] = passed + log_own[position] - log_sums[node]
    passed = 0.0
    ahead = before
    for position in range(start + 1, nodes):
        other = order[position]
        log_other[position] = log_sum_inside(tables, other, ahead)
        ahead |= np.uint64(1) << np.uint64(other)
        log_own[position] = log_sum_inside(tables, node, ahead)
        passed += log_other[position] - log_sums[other]
        log_place[position] = passed + log_own[position] - log_sums[node]
    chosen = choose(nodes, generator.random(), log_place)
    step = 1 if chosen > start else -1
    position = start
    while position != chosen:
        other = order[position + step]
        order[position] = other
        log_sums[other] = log_other[position + step]
        position += step
    order[chosen] = node
    log_sums[node] = log_own[chosen]
    return chosen != start


@kernel
def advance(
    tables: FamilyTables, state: OrderState, generator: np.random.Generator, output: Round, cancel: Integers
) -> None:
    """One round: swaps of neighbours, swaps of any two nodes, and shifts of one node."""
    nodes = len(state.order)
    fresh, log_place, log_own = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    allowed: Masks = np.zeros(nodes, dtype=np.uint64)
    to_meet: Masks = np.zeros(nodes, dtype=np.uint64)
    for kept in range(len(output.log_joint)):
        if cancel[0] != 0:
            return
        for _ in range(output.thinning if nodes > 1 else 0):
            kind = generator.random()
            if kind < 0.4:
                move = _NEIGHBOURS
                first = int(generator.random() * (nodes - 1))
                moved = _swap(tables, state, first, first + 1, generator, fresh)
            elif kind < 0.7:
                move = _SWAP
                first = int(generator.random() * nodes)
                last = int(generator.random() * (nodes - 1))
                last += last >= first
                moved = _swap(tables, state, min(first, last), max(first, last), generator, fresh)
            else:
                move = _SHIFT
                node = int(generator.random() * nodes)
                moved = shift(tables, state, node, generator, log_place, log_own, fresh)
            output.proposed[move] += 1
            output.accepted[move] += moved
        before = np.uint64(0)
        for position in range(nodes):
            allowed[state.order[position]] = before
            before |= np.uint64(1) << np.uint64(state.order[position])
        output.log_joint[kept] = draw_graph(tables, allowed, to_meet, state.log_sums, generator, output.parents[kept])
        output.log_state[kept] = state.log_sums.sum() + tables.heaviest.sum()
        add_edge_probabilities(tables, allowed, to_meet, state.log_sums, output.edges)
