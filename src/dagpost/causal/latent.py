"""What setting columns does where they are images of latent numbers, which follow a linear network.

Setting a column to a number sets its latent number; setting it to a level sets the mean of the latent numbers of that
level in the completed table. The latent outcome is then normal: its mean passes along the edges (gaussian.py), and its
variance adds up the noise of all columns, each times what one unit of it does to the outcome. It is taken back through
its image: the mean of a column of numbers is an average over equally probable points of its distribution, the
probability of a level what lies between the cut points around it. Exogenous columns have the means and the covariance
of their latent numbers in the table.

Under the redrawn mediator of `through` the noise of columns that the cause acts on counts twice: as far as it passes by
the mediator, and, drawn anew, as far as it passes through it. Time: some passes over the edges, and some points a draw.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.causal.columns import rows_with
from dagpost.causal.gaussian import means_of
from dagpost.causal.kinds import Kind
from dagpost.causal.mechanisms import Mechanisms, World
from dagpost.data.table import Table
from dagpost.local.networks import orders_of
from dagpost.prediction.background import Background
from dagpost.prediction.completed_parts import Part
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.parameter_draws import DrawnNetworks, drawn_networks
from dagpost.scores import NormalWishartPrior, standard_deviations
from dagpost.scores.latent_columns import ranks_of
from dagpost.scores.latent_images import Images

#: Equally probable points of a normal distribution at which an image is averaged.
_POINTS = 64
_ASSUMPTION = (
    "Behind every column are latent numbers, each a linear function of those of its causes with normal noise; the "
    "column rises with them."
)
_BY_RANKS = (
    "Columns of numbers enter by their ranks: relations are taken as linear between normal numbers of the same ranks. "
    "Where they are linear in the numbers themselves, sizes between two such columns may be off: fit with "
    "the score latent-gaussian:margins=raw."
)


def kind_of(images: Images, part: Part, exogenous: Integers) -> Kind:
    """How mechanisms are made for the latent numbers of one completed table."""
    assert part.table is not None
    return Kind(partial(_drawn, images, part.table, exogenous), None, _assumption(images), standardised=_standardised)


def _assumption(images: Images) -> str:
    if images.margins == "raw" or all(images.table.levels):
        return _ASSUMPTION
    return f"{_ASSUMPTION} {_BY_RANKS}"


def _drawn(
    images: Images,
    table: Callable[[], Table],
    exogenous: Integers,
    statistics: Any,
    prior: Any,
    graphs: Masks,
    background: Background,
    generator: np.random.Generator,
) -> LatentMechanisms:
    del background
    assert isinstance(statistics, GaussianStatistics)
    assert isinstance(prior, NormalWishartPrior)
    networks = drawn_networks(statistics, prior, graphs, generator)
    return LatentMechanisms(graphs, networks, images, table(), exogenous, generator)


def _standardised(mechanisms: Mechanisms, outcome: int, world: World, other: World) -> Floats:
    """The change of the latent outcome, in its standard deviations."""
    assert isinstance(mechanisms, LatentMechanisms)
    return mechanisms.standardised(outcome, world, other)


class LatentMechanisms:
    """Linear networks of latent numbers, one for each graph, and the images that are seen of them."""

    def __init__(
        self,
        graphs: Masks,
        networks: DrawnNetworks,
        images: Images,
        table: Table,
        exogenous: Integers,
        generator: np.random.Generator,
    ) -> None:
        self.graphs, self.networks = graphs, networks
        self._images, self._table, self._exogenous, self._generator = images, table, exogenous, generator
        self._orders = orders_of(graphs)
        self._borders: dict[int, Floats] = {}

    @cached_property
    def _background(self) -> tuple[Floats, Floats]:
        """Means and covariance of the latent numbers of the exogenous columns."""
        weights = self._table.weights.astype(np.float64)
        rows = np.stack([self._table.columns[column] for column in self._exogenous.tolist()], axis=1)
        means = np.average(rows, axis=0, weights=weights)
        centred = rows - means
        return means, (centred * weights[:, np.newaxis]).T @ centred / weights.sum()

    @cached_property
    def _intercepts(self) -> Floats:
        if not len(self._exogenous):
            return self.networks.intercepts
        intercepts = self.networks.intercepts.copy()
        intercepts[:, self._exogenous] = self._background[0]
        return intercepts

    def some(self, rows: Integers) -> LatentMechanisms:
        """Some of the graphs; the cut points stay as they were drawn."""
        given = self._images, self._table, self._exogenous, self._generator
        taken = LatentMechanisms(self.graphs[rows], self.networks.some(rows), *given)
        taken._borders = self._borders
        return taken

    def outcome(self, outcome: int, world: World) -> Floats:
        """What is seen of the outcome when some columns are set."""
        latent = self._latent(world)
        return self._seen(outcome, self._mean(outcome, latent), self._spread(outcome, latent))

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The latent outcome moves by the coefficient of the edge, times the change of the latent cause."""
        first, second = (self._value(cause, value) for value in values)
        own = self.networks.parents[:, outcome] == cause
        slope = np.where(own, self.networks.coefficients[:, outcome], 0.0).sum(axis=1)
        mean, spread = self._mean(outcome, {cause: second}), self._spread(outcome, {cause: second})
        moved = mean + slope * (first - second)
        return self._seen(outcome, moved, spread) - self._seen(outcome, mean, spread)

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """The latent outcome moves by what passes through the mediator, which is drawn anew."""
        first, second = (self._value(cause, value) for value in values)
        none: Integers = np.array([cause])
        beyond, before = self._passed(outcome, none), self._passed(mediator, none)
        later = beyond[:, mediator]
        # Below the cause, noise passes by the mediator, or through a draw of it that is independent.
        below = self._below(cause)
        by_it = beyond - before * later[:, np.newaxis]
        by_it[:, mediator] = 0.0
        ways = np.where(below, np.hypot(by_it, before * later[:, np.newaxis]), beyond)
        spread = self._spread_of(ways, none)
        mean = self._mean(outcome, {cause: first})
        other = mean - before[:, cause] * later * (first - second)
        return self._seen(outcome, mean, spread) - self._seen(outcome, other, spread)

    def standardised(self, outcome: int, world: World, other: World) -> Floats:
        """The change of the latent outcome from one world to another, in its standard deviations."""
        weights = self._table.weights.astype(np.float64)
        unit = float(standard_deviations(self._table.columns[outcome][:, np.newaxis], weights)[0])
        first, second = (self._mean(outcome, self._latent(own)) for own in (world, other))
        changed: Floats = (first - second) / unit
        return changed

    def _latent(self, world: World) -> dict[int, float]:
        return {column: self._value(column, value) for column, value in world.items()}

    def _value(self, column: int, value: float) -> float:
        """The latent number that a column is set to."""
        if not self._images.table.levels[column]:
            return float(self._images.margin(column).latent(np.array([value]))[0])
        rows = rows_with(self._images, column, int(value))
        return float(np.average(self._table.columns[column][rows], weights=self._table.weights[rows]))

    def _mean(self, outcome: int, latent: World) -> Floats:
        given = np.full(self.graphs.shape[1], np.nan)
        for column, value in latent.items():
            given[column] = value
        return means_of(self.networks, self._orders, self._intercepts, given)[:, outcome]

    def _spread(self, outcome: int, latent: World) -> Floats:
        columns = np.array(sorted(latent), dtype=np.int64)
        return self._spread_of(self._passed(outcome, columns), columns)

    def _passed(self, outcome: int, columns: Integers) -> Floats:
        """What one unit of every column does to the outcome when some columns are set, (graphs, columns)."""
        result = np.zeros(self.graphs.shape)
        is_set = np.isin(np.arange(self.graphs.shape[1]), columns)
        _pass_back(self.networks.parents, self.networks.coefficients, self._orders, is_set, outcome, result)
        return result

    def _below(self, cause: int) -> Flags:
        """Which columns the cause acts on, in each graph."""
        given = np.full(self.graphs.shape[1], np.nan)
        given[cause] = 1.0
        zeros = np.zeros_like(self.networks.intercepts)
        # Coefficients are drawn from continuous distributions: none is zero, nor is any sum over paths.
        changed: Flags = means_of(self.networks, self._orders, zeros, given) != 0.0
        changed[:, cause] = False
        return changed

    def _spread_of(self, ways: Floats, columns: Integers) -> Floats:
        """The deviation of the latent outcome that noise has these ways to."""
        own = ways.copy()
        own[:, columns] = 0.0
        variance = np.zeros(len(own))
        if len(self._exogenous):
            outside = own[:, self._exogenous]
            variance += np.einsum("gi,ij,gj->g", outside, self._background[1], outside)
            own[:, self._exogenous] = 0.0
        spread: Floats = np.sqrt(variance + ((own * self.networks.spreads) ** 2).sum(axis=1))
        return spread

    def _seen(self, outcome: int, means: Floats, spreads: Floats) -> Floats:
        """The image of normal latent outcomes: the probabilities of levels, or the mean of numbers."""
        from scipy.special import ndtr, ndtri

        if self._images.table.levels[outcome]:
            borders = self._level_borders(outcome)
            chances: Floats = np.diff(ndtr((borders - means[:, np.newaxis, np.newaxis]) / spreads[:, None, None]))
            return chances[:, :, 0]
        points = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
        latent = means[:, np.newaxis] + spreads[:, np.newaxis] * points
        numbers: Floats = self._images.number_image(outcome).of(latent).mean(axis=1, keepdims=True)
        return numbers

    def _level_borders(self, column: int) -> Floats:
        """The cut points below and above each level, (levels, 2), drawn once for the table."""
        if column not in self._borders:
            gaps, levels = self._images.latent.gaps, self._images.table.levels[column]
            assert gaps is not None
            assert levels is not None
            cells = self._table.columns[column][gaps[column]][np.newaxis]
            cuts = self._images.cuts(column, cells, self._generator)
            borders = np.concatenate([[-np.inf], cuts.points[0], [np.inf]])
            ranks = ranks_of(levels)
            places = np.minimum(np.searchsorted(cuts.ranks, ranks), len(cuts.ranks) - 1)
            there = cuts.ranks[places] == ranks
            self._borders[column] = np.stack([borders[places], borders[places + there]], axis=1)
        return self._borders[column]


@kernel
def _pass_back(
    parents: Integers, coefficients: Floats, orders: Integers, is_set: Flags, outcome: int, result: Floats
) -> None:
    graphs, nodes = orders.shape
    most = parents.shape[2]
    for graph in range(graphs):
        result[graph, outcome] = 1.0
        for place in range(nodes - 1, -1, -1):
            node = orders[graph, place]
            passed = result[graph, node]
            if passed == 0.0 or is_set[node]:
                continue
            for number in range(most):
                parent = parents[graph, node, number]
                if parent < 0:
                    break
                result[graph, parent] += coefficients[graph, node, number] * passed
