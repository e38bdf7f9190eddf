"""Slow, obvious twins of chains over orders: explicit orders, and the chance of every step from each to each.

An order is a tuple of nodes, first node first; parent sets are as in naive_families.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray
from tests.naive import families as naive_families
from tests.naive import posterior as naive

Order = tuple[int, ...]
Matrix = NDArray[np.float64]


def weights_given_predecessors(sets: tuple[naive_families.Sets, ...], order: Order, before: int = 0) -> list[float]:
    """For each node of an order, in turn, the log weight of its parent sets inside `before` and what precedes it."""
    logs = []
    for node in order:
        logs.append(naive_families.log_sum(naive_families.fitting(sets[node], before).values()))
        before |= 1 << node
    return logs


def log_weight(sets: tuple[naive_families.Sets, ...], order: Order, before: int = 0) -> float:
    """The log weight of an order of some nodes that come after `before`."""
    return float(sum(weights_given_predecessors(sets, order, before)))


def possible_orders(sets: tuple[naive_families.Sets, ...]) -> dict[Order, float]:
    """All orders that some graph fits, with their log weights."""
    weights = {order: log_weight(sets, order) for order in permutations(range(len(sets)))}
    return {order: weight for order, weight in weights.items() if weight > -np.inf}


def swapped(order: Order, first: int, second: int) -> Order:
    """Two positions exchanged."""
    moved = list(order)
    moved[first], moved[second] = order[second], order[first]
    return tuple(moved)


def with_node_elsewhere(order: Order, node: int) -> list[Order]:
    """All orders in which the other nodes stand as they do."""
    rest = tuple(other for other in order if other != node)
    return [(*rest[:place], node, *rest[place:]) for place in range(len(order))]


def accept_or_stay(
    states: list[Order], log_weights: list[float], proposals: Callable[[Order], list[tuple[Order, float]]]
) -> Matrix:
    """A Metropolis step with proposals as likely one way as the other; states of weight zero are not in `states`."""
    place = {state: number for number, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for number, state in enumerate(states):
        for moved, chance in proposals(state):
            if moved in place:
                share = min(1.0, float(np.exp(log_weights[place[moved]] - log_weights[number])))
                matrix[number, place[moved]] += chance * share
                matrix[number, number] += chance * (1.0 - share)
            else:
                matrix[number, number] += chance
    return matrix


def in_proportion(
    states: list[Order], log_weights: list[float], choices: Callable[[Order], list[tuple[list[Order], float]]]
) -> Matrix:
    """A step to one of some orders, in proportion to their weights; which orders is chosen with the given chances."""
    place = {state: number for number, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for number, state in enumerate(states):
        for orders, chance in choices(state):
            possible = [place[order] for order in orders if order in place]
            logs = np.array([log_weights[other] for other in possible])
            matrix[number, possible] += chance * np.exp(logs - naive.log_sum(logs))
    return matrix


def swap_neighbours(states: list[Order], log_weights: list[float]) -> Matrix:
    """Two neighbours change places."""
    count = len(states[0]) - 1
    return accept_or_stay(
        states,
        log_weights,
        lambda order: [(swapped(order, first, first + 1), 1.0 / count) for first in range(count)],
    )


def swap_any(states: list[Order], log_weights: list[float]) -> Matrix:
    """Any two nodes change places."""
    pairs = list(combinations(range(len(states[0])), 2))
    return accept_or_stay(
        states, log_weights, lambda order: [(swapped(order, *pair), 1.0 / len(pairs)) for pair in pairs]
    )


def shift_one(states: list[Order], log_weights: list[float]) -> Matrix:
    """One node is put back anywhere."""
    return in_proportion(
        states, log_weights, lambda order: [(with_node_elsewhere(order, node), 1.0 / len(order)) for node in order]
    )
