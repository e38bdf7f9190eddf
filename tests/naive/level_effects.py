"""What setting columns of levels does, by sums over the joint distribution of all columns: the slow, obvious way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations, product
from random import Random
from typing import NamedTuple

import numpy as np

Assignment = tuple[int, ...]


class Network(NamedTuple):
    """A graph with its parameters: P(level of a column | levels of all columns), which looks at its parents only."""

    arities: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    probability: Callable[[int, Assignment], float]
    #: Exogenous columns, and the share of each combination of their levels.
    exogenous: tuple[int, ...] = ()
    shares: Mapping[Assignment, float] | None = None

    def assignments(self) -> list[Assignment]:
        return list(product(*(range(arity) for arity in self.arities)))

    def share(self, levels: Assignment, world: Mapping[int, int]) -> float:
        """How often the exogenous columns that are not set have these levels."""
        free = [place for place, column in enumerate(self.exogenous) if column not in world]
        wanted = [levels[self.exogenous[place]] for place in free]
        shares = self.shares or {(): 1.0}
        return sum(share for own, share in shares.items() if [own[place] for place in free] == wanted)

    def descendants(self, cause: int) -> set[int]:
        found: set[int] = set()
        while True:
            more = {
                node
                for node, own in enumerate(self.parents)
                if any(parent == cause or parent in found for parent in own)
            }
            if more == found:
                return found
            found = more


def _weights(network: Network, world: Mapping[int, int], but: int = -1) -> dict[Assignment, float]:
    """The probability of every assignment when columns are set, without the mechanism of one column."""
    result = {}
    for levels in network.assignments():
        if any(levels[column] != level for column, level in world.items()):
            continue
        weight = network.share(levels, world)
        for node in range(len(levels)):
            if node not in world and node not in network.exogenous and node != but:
                weight *= network.probability(node, levels)
        result[levels] = weight
    return result


def outcome(network: Network, y: int, world: Mapping[int, int]) -> np.ndarray:
    result = np.zeros(network.arities[y])
    for levels, weight in _weights(network, world).items():
        result[levels[y]] += weight
    return result


def direct(network: Network, x: int, y: int, values: tuple[int, int]) -> np.ndarray:
    result = np.zeros(network.arities[y])
    if x not in network.parents[y]:
        return result
    for levels, weight in _weights(network, {x: values[1]}, but=y).items():
        first = network.probability(y, tuple(values[0] if node == x else level for node, level in enumerate(levels)))
        result[levels[y]] += weight * (first - network.probability(y, levels))
    return result


def mediator_given(network: Network, x: int, value: int, mediator: int) -> Callable[[Assignment], float]:
    """P(level of the mediator | do(x), levels of all columns that x does not act on)."""
    below = network.descendants(x)
    kept = [node for node in range(len(network.arities)) if node not in below and node != x]
    both: dict[tuple[Assignment, int], float] = {}
    alone: dict[Assignment, float] = {}
    for levels, weight in _weights(network, {x: value}).items():
        given = tuple(levels[node] for node in kept)
        both[given, levels[mediator]] = both.get((given, levels[mediator]), 0.0) + weight
        alone[given] = alone.get(given, 0.0) + weight

    def found(levels: Assignment) -> float:
        given = tuple(levels[node] for node in kept)
        return both[given, levels[mediator]] / alone[given] if alone[given] > 0.0 else 0.0

    return found


def through(network: Network, x: int, y: int, mediator: int, values: tuple[int, int]) -> np.ndarray:
    result = np.zeros(network.arities[y])
    chances = [mediator_given(network, x, value, mediator) for value in values]
    for levels, weight in _weights(network, {x: values[0]}, but=mediator).items():
        result[levels[y]] += weight * (chances[0](levels) - chances[1](levels))
    return result


def columns_to_ask(
    parents: tuple[tuple[int, ...], ...], exogenous: tuple[int, ...], random: Random
) -> tuple[int, int, int]:
    """Cause, outcome and another column: mostly with a column on the way from cause to outcome, where there is one."""
    nodes = range(len(parents))
    triples = [own for own in permutations(nodes, 3) if own[1] not in exogenous]
    through = [own for own in triples if own[0] in parents[own[2]] and own[2] in parents[own[1]]]
    return random.choice(through if through and random.random() < 0.7 else triples)
