"""What setting columns does in networks of levels and numbers, by sums over all levels: the slow, obvious way.

Given all levels, every number is an affine function of numbers before it. A mediator of numbers is drawn anew given
levels and numbers that the cause does not act on; its mean is kept as an affine function of those numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.naive.level_effects import Assignment, Network, mediator_given
from tests.naive.level_effects import _weights as weights_of_levels

#: Constant and coefficients by column.
Affine = tuple[float, dict[int, float]]


class MixedNetwork(NamedTuple):
    """The levels among themselves (columns of numbers have one level and no parents there), and the regressions."""

    levels: Network
    parents: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    #: Intercept and coefficients of a column of numbers, given the levels of all columns.
    regression: Callable[[int, Assignment], Affine]
    #: Exogenous numbers, and the mean of each given the levels of all columns, some of which are set.
    exogenous: tuple[int, ...]
    exogenous_mean: Callable[[int, Assignment, Mapping[int, int]], float]

    def below(self, cause: int) -> set[int]:
        found: set[int] = set()
        while True:
            behind = found | {cause}
            more = {node for node, own in enumerate(self.parents) if behind & set(own)}
            if more == found:
                return found
            found = more


def _affine(network: MixedNetwork, y: int, levels: Assignment, stop: set[int], given: Mapping[int, Affine]) -> Affine:
    """A column of numbers as an affine function of those in `stop`, given all levels; `given` columns are that."""
    if y in stop:
        return 0.0, {y: 1.0}
    if y in given:
        return given[y]
    constant, coefficients = network.regression(y, levels)
    found: dict[int, float] = {}
    for parent, slope in coefficients.items():
        more, parts = _affine(network, parent, levels, stop, given)
        constant += slope * more
        for column, part in parts.items():
            found[column] = found.get(column, 0.0) + slope * part
    return constant, found


def _value(network: MixedNetwork, affine: Affine, levels: Assignment, given: Mapping[int, Affine]) -> float:
    """The mean of an affine function of numbers, given all levels."""
    constant, coefficients = affine
    for column, slope in coefficients.items():
        constant += slope * mean_given_levels(network, column, levels, given)
    return constant


def mean_given_levels(network: MixedNetwork, y: int, levels: Assignment, given: Mapping[int, Affine]) -> float:
    if y in given:
        return given[y][0]
    constant, coefficients = network.regression(y, levels)
    return constant + sum(
        slope * mean_given_levels(network, parent, levels, given) for parent, slope in coefficients.items()
    )


def _split(network: MixedNetwork, world: Mapping[int, float]) -> tuple[dict[int, int], dict[int, Affine]]:
    levels = {column: int(value) for column, value in world.items() if column not in network.numbers}
    numbers: dict[int, Affine] = {
        column: (float(value), {}) for column, value in world.items() if column in network.numbers
    }
    return levels, numbers


def _known(
    network: MixedNetwork, own: Assignment, levels: Mapping[int, int], numbers: Mapping[int, Affine]
) -> dict[int, Affine]:
    """The numbers that are set, and those that are exogenous."""
    means: dict[int, Affine] = {
        column: (network.exogenous_mean(column, own, levels), {}) for column in network.exogenous
    }
    return {**means, **numbers}


def outcome(network: MixedNetwork, y: int, world: Mapping[int, float]) -> float:
    levels, numbers = _split(network, world)
    return sum(
        weight * mean_given_levels(network, y, own, _known(network, own, levels, numbers))
        for own, weight in weights_of_levels(network.levels, levels).items()
    )


def direct(network: MixedNetwork, x: int, y: int, values: tuple[float, float]) -> float:
    if x not in network.parents[y]:
        return 0.0
    levels, numbers = _split(network, {x: values[1]})
    total = 0.0
    for own, weight in weights_of_levels(network.levels, levels).items():
        known, changes = _known(network, own, levels, numbers), []
        for value in values:
            seen = own if x in network.numbers else tuple(int(value) if n == x else c for n, c in enumerate(own))
            constant, coefficients = network.regression(y, seen)
            for parent, slope in coefficients.items():
                constant += slope * (value if parent == x else mean_given_levels(network, parent, own, known))
            changes.append(constant)
        total += weight * (changes[0] - changes[1])
    return total


def through(network: MixedNetwork, x: int, y: int, mediator: int, values: tuple[float, float]) -> float:
    below = network.below(x)
    if mediator not in below or y not in network.below(mediator):
        return 0.0
    levels, numbers = _split(network, {x: values[0]})
    if mediator not in network.numbers:
        chances = [mediator_given(network.levels, x, int(value), mediator) for value in values]
        return sum(
            weight
            * (chances[0](own) - chances[1](own))
            * mean_given_levels(network, y, own, _known(network, own, levels, numbers))
            for own, weight in weights_of_levels(network.levels, levels, but=mediator).items()
        )
    outside = {node for node in network.numbers if node not in below and node != x}
    kept = [node for node in range(len(network.parents)) if node not in network.numbers and node not in below | {x}]
    total = 0.0
    for sign, value in zip((1.0, -1.0), values, strict=True):
        drawn = _drawn_anew(network, {x: value}, mediator, outside, kept)
        for own, weight in weights_of_levels(network.levels, levels).items():
            given = {**numbers, mediator: drawn[tuple(own[node] for node in kept)]}
            affine = _affine(network, y, own, outside, given)
            total += sign * weight * _value(network, affine, own, _known(network, own, levels, numbers))
    return total


def _drawn_anew(
    network: MixedNetwork, world: Mapping[int, float], mediator: int, outside: set[int], kept: list[int]
) -> dict[Assignment, Affine]:
    """The mean of the mediator, by the levels that the cause does not act on, as an affine function of numbers."""
    levels, numbers = _split(network, world)
    sums: dict[Assignment, dict[int, float]] = {}
    for own, weight in weights_of_levels(network.levels, levels).items():
        constant, coefficients = _affine(network, mediator, own, outside, numbers)
        place = sums.setdefault(tuple(own[node] for node in kept), {})
        for column, value in {-1: constant, -2: 1.0, **coefficients}.items():
            place[column] = place.get(column, 0.0) + weight * value
    result = {}
    for given, own_sums in sums.items():
        mass = own_sums.pop(-2) or 1.0
        result[given] = own_sums.pop(-1) / mass, {column: value / mass for column, value in own_sums.items()}
    return result
