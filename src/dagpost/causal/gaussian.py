"""What setting columns does in linear networks of numbers: means pass along the edges, changes add up over all paths.

With the coefficients `b` and intercepts `a` of a graph, the mean of every column that is not set is
`a + sum over parents of b times their means`. One unit more of a column changes another by the sum over all directed
paths between them of the product of the coefficients on the way. Exogenous columns have the means of the table.

Time: one pass over the edges of a graph for each question; memory: some numbers an edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.causal.mechanisms import Mechanisms, World
from dagpost.local.networks import orders_of
from dagpost.prediction.background import Background
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.parameter_draws import DrawnNetworks, drawn_networks, expected_networks
from dagpost.scores import NormalWishartPrior

#: Worlds whose means are remembered: all pairs of columns are asked cause by cause.
_WORLDS = 2


class LinearMechanisms:
    """Linear networks, one for each graph."""

    def __init__(self, graphs: Masks, networks: DrawnNetworks, background: Background) -> None:
        self.graphs, self.networks = graphs, networks
        self._orders = orders_of(graphs)
        means = background.shares @ background.means
        exogenous = ~np.isnan(means)
        self._intercepts = np.where(exogenous, means, networks.intercepts)
        self._changes: dict[int, Floats] = {}
        self._background = background
        # The means in the worlds that were last asked for, and the changes by the steps that were.
        self._worlds: dict[tuple[bool, tuple[tuple[int, float], ...]], Floats] = {}

    def some(self, rows: Integers) -> LinearMechanisms:
        """Some of the graphs."""
        return LinearMechanisms(self.graphs[rows], self.networks.some(rows), self._background)

    def outcome(self, outcome: int, world: World) -> Floats:
        """The mean of the outcome when some columns are set."""
        means: Floats = self._passed_on(world, as_steps=False)[outcome]
        return means[:, np.newaxis]

    def change(self, outcome: int, steps: World) -> Floats:
        """By how much the outcome changes with columns that are set, each by its step: nothing large is subtracted."""
        changes: Floats = self._passed_on(steps, as_steps=True)[outcome]
        return changes[:, np.newaxis]

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The coefficient of the edge, times the change of the cause."""
        own = self.networks.parents[:, outcome] == cause
        coefficients: Floats = np.where(own, self.networks.coefficients[:, outcome], 0.0).sum(axis=1)
        return coefficients[:, np.newaxis] * (values[0] - values[1])

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """What the cause does to the mediator, times what one unit of that does to the outcome."""
        change = self.changes(cause)[:, mediator] * self.changes(mediator)[:, outcome]
        return change[:, np.newaxis] * (values[0] - values[1])

    def _passed_on(self, world: World, *, as_steps: bool) -> Floats:
        """The means of all columns, (columns, graphs), when some are set; or their changes by steps of these."""
        key = as_steps, tuple(sorted(world.items()))
        if key not in self._worlds:
            if len(self._worlds) >= _WORLDS:
                del self._worlds[next(iter(self._worlds))]
            given = np.full(self.graphs.shape[1], np.nan)
            for column, value in world.items():
                given[column] = value
            intercepts = np.zeros_like(self._intercepts) if as_steps else self._intercepts
            found = means_of(self.networks, self._orders, intercepts, given)
            self._worlds[key] = np.ascontiguousarray(found.T)
        return self._worlds[key]

    def changes(self, cause: int) -> Floats:
        """By how much one unit more of a column changes every one, (graphs, columns)."""
        if cause not in self._changes:
            given = np.full(self.graphs.shape[1], np.nan)
            given[cause] = 1.0
            nothing = np.zeros_like(self._intercepts)
            self._changes[cause] = means_of(self.networks, self._orders, nothing, given)
        return self._changes[cause]


def change(mechanisms: Mechanisms, outcome: int, steps: World) -> Floats:
    """By how much the outcome changes with columns that are set, each by its step."""
    assert isinstance(mechanisms, LinearMechanisms)
    return mechanisms.change(outcome, steps)


def drawn(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator
) -> LinearMechanisms:
    """One draw of the parameters of each graph."""
    assert isinstance(statistics, GaussianStatistics)
    assert isinstance(prior, NormalWishartPrior)
    return LinearMechanisms(graphs, drawn_networks(statistics, prior, graphs, generator), background)


def expected(
    statistics: Any, prior: Any, graphs: Masks, background: Background, weights: Floats | None = None
) -> LinearMechanisms:
    """The posterior means of the parameters of each graph, whatever it weighs."""
    del weights
    assert isinstance(statistics, GaussianStatistics)
    assert isinstance(prior, NormalWishartPrior)
    return LinearMechanisms(graphs, expected_networks(statistics, prior, graphs), background)


def means_of(networks: DrawnNetworks, orders: Integers, intercepts: Floats, given: Floats) -> Floats:
    """The means of all columns when some are given, nan for others."""
    result = np.empty(intercepts.shape)
    _pass_on(networks.parents, networks.coefficients, orders, intercepts, given, result)
    return result


@kernel
def _pass_on(
    parents: Integers, coefficients: Floats, orders: Integers, intercepts: Floats, given: Floats, result: Floats
) -> None:
    graphs, nodes = orders.shape
    most = parents.shape[2]
    for graph in range(graphs):
        for place in range(nodes):
            node = orders[graph, place]
            if not np.isnan(given[node]):
                result[graph, node] = given[node]
                continue
            value = intercepts[graph, node]
            for number in range(most):
                parent = parents[graph, node, number]
                if parent < 0:
                    break
                value += coefficients[graph, node, number] * result[graph, parent]
            result[graph, node] = value
