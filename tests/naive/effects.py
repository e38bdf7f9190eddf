"""What setting columns does in one network, by listing: all combinations of levels, and all directed paths of numbers.

A network is a graph, a tuple of parent masks, with a mechanism for each node. Columns of levels have only columns of
levels for parents, so within one combination of all levels the means of the numbers follow from the slopes of all
directed paths. Columns that are not modelled take the values of one row of the table after another (`Row`), unless they
are set themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from tests.naive.causal import has_path, members

Codes = tuple[int, ...]
World = Mapping[int, float]


@dataclass(frozen=True)
class Levels:
    """The probabilities of the levels of a column, for each combination of the levels of its parents, ascending."""

    shares: Mapping[Codes, np.ndarray]


@dataclass(frozen=True)
class Number:
    """Intercept and slopes of the numeric parents, for each combination of the levels of the others, ascending.

    Means need nothing else; what is drawn also has the deviation of what is left.
    """

    lines: Mapping[Codes, tuple[float, Mapping[int, float]]]
    deviations: Mapping[Codes, float] | None = None


@dataclass(frozen=True)
class Row:
    """The values of the columns that are not modelled in some rows of the table, and the share of these rows."""

    values: Mapping[int, float]
    share: float


@dataclass(frozen=True)
class Network:
    """A graph, the number of levels of each column (0 for numbers), and how each node follows from its parents."""

    graph: Sequence[int]
    arities: Sequence[int]
    mechanisms: Sequence[Levels | Number | None]
    rows: Sequence[Row] = (Row({}, 1.0),)

    @property
    def nodes(self) -> range:
        return range(len(self.graph))

    def level_parents(self, node: int) -> list[int]:
        return [parent for parent in members(self.graph[node]) if self.arities[parent]]

    def share_of(self, node: int, code: int, levels: Mapping[int, int]) -> float:
        """The probability of a level of a node, given the levels of all columns."""
        mechanism = self.mechanisms[node]
        assert isinstance(mechanism, Levels)
        return float(mechanism.shares[tuple(levels[parent] for parent in self.level_parents(node))][code])

    def line(self, node: int, levels: Mapping[int, int]) -> tuple[float, Mapping[int, float]]:
        mechanism = self.mechanisms[node]
        assert isinstance(mechanism, Number)
        return mechanism.lines[tuple(levels[parent] for parent in self.level_parents(node))]

    def descendants(self, node: int) -> set[int]:
        return {other for other in self.nodes if other != node and has_path(self.graph, node, other)}


def all_levels(network: Network) -> Iterator[dict[int, int]]:
    """Every combination of the levels of all columns of levels."""
    columns = [node for node in network.nodes if network.arities[node]]
    for codes in product(*(range(network.arities[node]) for node in columns)):
        yield dict(zip(columns, codes, strict=True))


def joint(network: Network, world: World) -> dict[Codes, float]:
    """The probability of every combination of levels where the columns of `world` are set: the product of the rest."""
    result = {}
    for levels in all_levels(network):
        probability = 1.0
        for node, code in levels.items():
            probability *= code == world[node] if node in world else network.share_of(node, code, levels)
        result[tuple(levels.values())] = probability
    return result


def mean_of(network: Network, node: int, levels: Mapping[int, int], world: World) -> float:
    """The mean of a number, in one combination of levels: from the means of its parents, and theirs in turn."""
    if node in world:
        return world[node]
    intercept, slopes = network.line(node, levels)
    return intercept + sum(slope * mean_of(network, parent, levels, world) for parent, slope in slopes.items())


def distribution(network: Network, outcome: int, world: World) -> np.ndarray:
    """The probabilities of the outcome's levels, or its mean, when columns are set: the truncated factorisation."""
    result = np.zeros(max(1, network.arities[outcome]))
    for row in network.rows:
        setting = {**row.values, **world}
        shares = joint(network, setting)
        for levels in all_levels(network):
            share = row.share * shares[tuple(levels.values())]
            if network.arities[outcome]:
                result[levels[outcome]] += share
            elif share:
                result[0] += share * mean_of(network, outcome, levels, setting)
    return result


def direct(network: Network, cause: int, outcome: int, values: tuple[float, float]) -> np.ndarray:
    """The outcome's other parents stay as under the second value, and the outcome itself sees the first."""
    result = np.zeros(max(1, network.arities[outcome]))
    if not network.graph[outcome] >> cause & 1:
        return result
    for row in network.rows:
        setting = {**row.values, cause: values[1]}
        shares = joint(network, setting)
        for levels in all_levels(network):
            share = row.share * shares[tuple(levels.values())]
            if share == 0.0:
                continue
            for value, sign in zip(values, (1.0, -1.0), strict=True):
                seen = {**levels, cause: int(value)} if network.arities[cause] else levels
                if network.arities[outcome]:
                    for code in range(network.arities[outcome]):
                        result[code] += sign * share * network.share_of(outcome, code, seen)
                    continue
                intercept, slopes = network.line(outcome, seen)
                result[0] += sign * share * intercept
                for parent, slope in slopes.items():
                    at = value if parent == cause else mean_of(network, parent, levels, setting)
                    result[0] += sign * share * slope * at
    return result


def through(network: Network, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> np.ndarray:
    """The cause at its first value, the mediator drawn anew as under the first, less the same as under the second."""
    if mediator in (cause, outcome) or mediator not in network.descendants(cause):
        return np.zeros(max(1, network.arities[outcome]))
    first, second = (with_mediator_redrawn(network, cause, outcome, mediator, values[0], value) for value in values)
    return first - second


def with_mediator_redrawn(
    network: Network, cause: int, outcome: int, mediator: int, value: float, drawn_under: float
) -> np.ndarray:
    """The outcome with the cause at one value and the mediator drawn as under another, given what the cause leaves be.

    Given the columns that do not descend from the cause, the draw says nothing of any other column.
    """
    below = network.descendants(cause)
    result = np.zeros(max(1, network.arities[outcome]))
    for row in network.rows:
        setting, other = {**row.values, cause: value}, {**row.values, cause: drawn_under}
        redrawn = _redrawn(network, mediator, below, other)
        for levels in all_levels(network):
            share = row.share
            for node, code in levels.items():
                if node in setting:
                    share *= code == setting[node]
                elif node == mediator:
                    share *= redrawn(levels)[code]
                else:
                    share *= network.share_of(node, code, levels)
            if share == 0.0:
                continue
            if network.arities[outcome]:
                result[levels[outcome]] += share
                continue
            held = setting if network.arities[mediator] else {**setting, mediator: redrawn(levels)[0]}
            result[0] += share * mean_of(network, outcome, levels, held)
    return result


def _redrawn(
    network: Network, mediator: int, below: set[int], world: World
) -> Callable[[Mapping[int, int]], np.ndarray]:
    """The probabilities of the mediator's levels, or its mean, given the levels of columns that do not descend."""
    shares = joint(network, world)

    def given(levels: Mapping[int, int]) -> np.ndarray:
        found, total = np.zeros(max(1, network.arities[mediator])), 0.0
        for other in all_levels(network):
            if any(other[node] != levels[node] for node in levels if node not in below and node not in world):
                continue
            share = shares[tuple(other.values())]
            total += share
            if network.arities[mediator]:
                found[other[mediator]] += share
            elif share:
                found[0] += share * mean_of(network, mediator, other, world)
        # What cannot happen has no share in any sum.
        return found / total if total else found

    return given
