"""Worlds of latent numbers with known effects: a linear network, a table that shows its images, and what setting does.

Setting a column of levels sets the mean of the latent numbers of that level in the table. The latent outcome is normal;
its mean and variance are sums over all directed paths, and what is asked is the mean of its image.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from tests.naive.causal import Generator, members
from tests.naive.effects import Network, Number

from dagpost.data.table import Table


@dataclass(frozen=True)
class Image:
    """What a table shows of latent numbers: numbers that rise with them, or levels between cut points."""

    shown: Callable[[float], float] | None = None
    cuts: tuple[float, ...] = ()

    def mean(self, centre: float, variance: float, level: int) -> float:
        """The probability of a level, or the mean of the numbers, where latent numbers are normal."""
        deviation = math.sqrt(variance)
        if self.shown is None:
            bounds = (-math.inf, *self.cuts, math.inf)
            low, high = ((bound - centre) / deviation for bound in bounds[level : level + 2])
            return float(norm.cdf(high) - norm.cdf(low))
        points, weights = np.polynomial.hermite_e.hermegauss(60)
        values = [self.shown(centre + deviation * point) for point in points.tolist()]
        return float(np.dot(weights, values) / math.sqrt(2 * math.pi))


@dataclass(frozen=True)
class LatentWorld:
    """A network of numbers, the table that is seen, and how its columns show latent numbers."""

    network: Network
    table: Table
    images: tuple[Image, ...]
    latent: np.ndarray

    def set_to(self, column: int, value: float) -> float:
        """The latent number that a column is set to: of a level, the mean of its latent numbers in the table."""
        if self.table.levels[column] is None:
            return float(np.interp(value, *np.sort([self.table.columns[column], self.latent[:, column]], axis=1)))
        return float(self.latent[self.table.columns[column] == value, column].mean())

    # What setting columns does

    def total(self, x: int, y: int, values: Sequence[float], level: int) -> float:
        """The change of the outcome's image."""
        first, second = (self.images[y].mean(*self._moments(y, {x: self.set_to(x, value)}), level) for value in values)
        return first - second

    def direct(self, x: int, y: int, values: Sequence[float], level: int) -> float:
        """The other parents of the outcome stay as under the second value."""
        first, second = (self.set_to(x, value) for value in values)
        mean, variance = self._moments(y, {x: second})
        moved = mean + slope(self.network, x, y) * (first - second)
        return self.images[y].mean(moved, variance, level) - self.images[y].mean(mean, variance, level)

    def through(self, x: int, y: int, m: int, values: Sequence[float], level: int) -> float:
        """The cause at its first value; the mediator drawn anew as under the first, less that as under the second."""
        network = self.network
        first, second = (self.set_to(x, value) for value in values)
        onward, below = path_sum(network, m, y, {x}), network.descendants(x)
        if m not in below or onward == 0.0:
            return 0.0
        mean, _ = self._moments(y, {x: first})
        variance = 0.0
        for node in network.nodes:
            if node == x:
                continue
            # Along paths past the mediator, and along those through it: there noise below the cause is drawn anew.
            past = path_sum(network, node, y, {x, m}) if node != m else 0.0
            via = path_sum(network, node, m, {x}) * onward
            own = (past**2 + via**2) if node in below else (past + via) ** 2
            variance += own * deviation(network, node) ** 2
        moved = mean - onward * path_sum(network, x, m, set()) * (first - second)
        return self.images[y].mean(mean, variance, level) - self.images[y].mean(moved, variance, level)

    def _moments(self, y: int, world: dict[int, float]) -> tuple[float, float]:
        """Mean and variance of a latent number when others are set."""
        mean = _mean(self.network, y, world)
        variance = sum(
            (path_sum(self.network, node, y, set(world)) * deviation(self.network, node)) ** 2
            for node in self.network.nodes
            if node not in world
        )
        return mean, variance


def _line(network: Network, node: int) -> tuple[float, dict[int, float]]:
    mechanism = network.mechanisms[node]
    assert isinstance(mechanism, Number)
    intercept, slopes = mechanism.lines[()]
    return intercept, dict(slopes)


def slope(network: Network, parent: int, child: int) -> float:
    """The slope along an edge, 0 without one."""
    return _line(network, child)[1].get(parent, 0.0)


def deviation(network: Network, node: int) -> float:
    """The noise of a node."""
    mechanism = network.mechanisms[node]
    assert isinstance(mechanism, Number)
    assert mechanism.deviations is not None
    return mechanism.deviations[()]


def path_sum(network: Network, source: int, target: int, cut: set[int]) -> float:
    """The sum over all directed paths of the products of their slopes; none enters a node of `cut`. 1 to itself."""
    if source == target:
        return 1.0
    if target in cut:
        return 0.0
    return sum(
        slope(network, parent, target) * path_sum(network, source, parent, cut)
        for parent in members(network.graph[target])
    )


def _mean(network: Network, node: int, world: dict[int, float]) -> float:
    if node in world:
        return world[node]
    intercept, slopes = _line(network, node)
    return intercept + sum(own * _mean(network, parent, world) for parent, own in slopes.items())


def shown(
    network: Network, latent: Table, levels: Sequence[int], image: Callable[[float], float], generator: Generator
) -> LatentWorld:
    """Latent numbers as a table shows them: levels of counts as equal as can be, or (0 levels) the image of each."""
    values, rows = latent.values(), latent.rows
    columns: list[np.ndarray] = []
    images: list[Image] = []
    for own, count in zip(values.T, levels, strict=True):
        if not count:
            columns.append(np.array([image(number) for number in own.tolist()]))
            images.append(Image(image))
            continue
        codes = np.zeros(rows, dtype=np.uint8)
        codes[np.argsort(own)] = np.arange(rows) * count // rows
        columns.append(codes)
        # Any point between the levels divides them.
        cuts = [generator.uniform(own[codes == code].max(), own[codes == code + 1].min()) for code in range(count - 1)]
        images.append(Image(cuts=tuple(cuts)))
    kinds = tuple(tuple(range(count)) if count else None for count in levels)
    return LatentWorld(network, Table(latent.names, tuple(columns), kinds), tuple(images), values)
