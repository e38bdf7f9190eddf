"""What setting columns does in networks of levels and numbers (conditional Gaussian): probabilities and means, exactly.

No number leads to a level, so that levels among themselves are as in discrete.py. Means of numbers are sums over all
levels behind them (mean_sums.py). A cause of numbers may be set to any number: all is linear in it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost.causal.combinations import combinations_of
from dagpost.causal.discrete import Asked, LevelMechanisms, larger_work, levels_set, on_the_way
from dagpost.causal.factors import room_for
from dagpost.causal.level_tables import LevelTables, level_tables
from dagpost.causal.mean_sums import AskedMean, answer_means
from dagpost.causal.mechanisms import World
from dagpost.causal.regression_tables import RegressionTables, regression_tables, room_for_regression
from dagpost.features import ancestors
from dagpost.local.networks import orders_of
from dagpost.prediction.background import Background, no_background
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.mixed_statistics import MixedStatistics, compressed
from dagpost.scores import ConditionalGaussianPrior

_WORK = 2**12


class _Columns(NamedTuple):
    """Which columns are levels, which numbers, and the place of each column among those of its kind."""

    levels: Integers
    numbers: Integers
    exclusive: Flags

    @property
    def place(self) -> Integers:
        found = np.empty(len(self.levels) + len(self.numbers), dtype=np.int64)
        found[self.levels], found[self.numbers] = np.arange(len(self.levels)), np.arange(len(self.numbers))
        return found


class MixedMechanisms:
    """Networks of levels and numbers, one for each graph."""

    def __init__(
        self, graphs: Masks, levels: LevelTables, numbers: RegressionTables, columns: _Columns, background: Background
    ) -> None:
        self.graphs, self._levels, self._numbers, self._columns = graphs, levels, numbers, columns
        self._background, self._place = background, columns.place
        own = background.among(columns.levels) if len(columns.levels) else no_background(1)
        self._of_levels = LevelMechanisms(levels, own, columns.exclusive)
        self._combinations = combinations_of(own, background.means[:, columns.numbers])
        exogenous = np.isin(columns.numbers, background.exogenous)
        self._exogenous = np.uint64(sum(1 << int(place) for place in np.flatnonzero(exogenous)))
        self._factors, self._work = room_for(len(levels.arities)), np.empty(_WORK)
        self._regression = room_for_regression(len(columns.numbers))

    @cached_property
    def above(self) -> Masks:
        """The ancestors of every column."""
        return ancestors(self.graphs)

    @cached_property
    def _orders(self) -> Integers:
        """The columns of numbers of every graph, parents before children."""
        return orders_of(self._numbers.number_parents)

    def some(self, rows: Integers) -> MixedMechanisms:
        """Some of the graphs, with the same parameters."""
        graphs, levels, numbers = self.graphs[rows], self._levels.some(rows), self._numbers.some(rows)
        return MixedMechanisms(graphs, levels, numbers, self._columns, self._background)

    def outcome(self, outcome: int, world: World) -> Floats:
        """The probability of each level of the outcome, or its mean, when some columns are set."""
        if self._is_level(outcome):
            # Numbers do not lead to levels.
            own = {int(self._place[column]): value for column, value in world.items() if self._is_level(column)}
            return self._of_levels.outcome(int(self._place[outcome]), own)
        return self._answer(self._asked(outcome, world), np.arange(len(self.graphs)))

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The change of these along the edge alone."""
        if self._is_level(outcome):
            if not self._is_level(cause):
                return self._no_change(outcome)
            return self._of_levels.direct(int(self._place[cause]), int(self._place[outcome]), values)
        rows = np.flatnonzero(self.graphs[:, outcome] >> np.uint64(cause) & np.uint64(1))
        asked = self._asked(outcome, {cause: values[1]}, cause)
        first, second = (
            asked._replace(levels=asked.levels._replace(seen_by_outcome=int(value)))
            if self._is_level(cause)
            else asked._replace(seen_by_outcome=float(value))
            for value in values
        )
        return self._change(first, second, rows)

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """The change that passes through the mediator."""
        if self._is_level(outcome):
            if not (self._is_level(cause) and self._is_level(mediator)):
                return self._no_change(outcome)
            own = self._place[[cause, outcome, mediator]].tolist()
            return self._of_levels.through(own[0], own[1], own[2], values)
        rows = np.flatnonzero(on_the_way(self.above, cause, outcome, mediator))
        asked = self._asked(outcome, {cause: values[0]}, cause, mediator)
        first, second = (
            asked._replace(levels=asked.levels._replace(seen_by_mediator=int(value)))
            if self._is_level(cause)
            else asked._replace(seen_by_mediator=float(value))
            for value in values
        )
        return self._change(first, second, rows)

    def _is_level(self, column: int) -> bool:
        return bool(np.isin(column, self._columns.levels))

    def _no_change(self, outcome: int) -> Floats:
        return np.zeros((len(self.graphs), int(self._levels.arities[self._place[outcome]])))

    def _asked(self, outcome: int, world: World, cause: int = -1, mediator: int = -1) -> AskedMean:
        """A question about a column of numbers, split by the kind of the columns in it."""
        codes = {int(self._place[column]): value for column, value in world.items() if self._is_level(column)}
        numbers = np.full(len(self._columns.numbers), np.nan)
        for column, value in world.items():
            if not self._is_level(column):
                numbers[self._place[column]] = value
        own = {
            name: (int(self._place[column]), self._is_level(column)) if column >= 0 else (-1, False)
            for name, column in (("cause", cause), ("mediator", mediator))
        }
        set_to = levels_set(codes, len(self._levels.arities), self._columns.exclusive)
        of_levels = Asked(-1, set_to, **{name: place if of_level else -1 for name, (place, of_level) in own.items()})
        of_numbers = {name: -1 if of_level else place for name, (place, of_level) in own.items()}
        return AskedMean(of_levels, int(self._place[outcome]), numbers, **of_numbers)

    def _change(self, first: AskedMean, second: AskedMean, rows: Integers) -> Floats:
        """The difference between the answers to two questions in some graphs, 0 in others."""
        result = np.zeros((len(self.graphs), 1))
        result[rows] = self._answer(first, rows) - self._answer(second, rows)
        return result

    def _answer(self, asked: AskedMean, rows: Integers) -> Floats:
        exogenous = np.uint64(sum(1 << int(column) for column in np.flatnonzero(self._of_levels.exogenous)))
        result = np.zeros(len(rows))
        tables = self._levels, self._numbers, self._of_levels.above, self._orders, rows, exogenous, self._exogenous
        rooms = self._combinations, self._factors, self._regression
        done = 0
        while (done := answer_means(*tables, asked, *rooms, done, self._work, result)) < len(rows):
            self._work = larger_work(self._factors)
        return result[:, np.newaxis]


def drawn(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator
) -> MixedMechanisms:
    """One draw of the parameters of each graph."""
    return _mechanisms(statistics, prior, graphs, background, generator)


def expected(statistics: Any, prior: Any, graphs: Masks, background: Background) -> MixedMechanisms:
    """The posterior means of the parameters of each graph."""
    return _mechanisms(statistics, prior, graphs, background, None)


def _mechanisms(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator | None
) -> MixedMechanisms:
    assert isinstance(statistics, MixedStatistics)
    assert isinstance(prior, ConditionalGaussianPrior)
    graphs = np.ascontiguousarray(graphs, dtype=np.uint64)
    levels, numbers = statistics.level_columns, statistics.number_columns
    # Kernels are of tables with a column of levels: one without any gets one that has one level and no edges.
    discrete = statistics.discrete if len(levels) else _one_level()
    among_levels = compressed(graphs[:, levels], levels) if len(levels) else np.zeros((len(graphs), 1), dtype=np.uint64)
    exogenous = background.exogenous
    of_levels = level_tables(
        discrete, prior.dirichlet, among_levels, np.flatnonzero(np.isin(levels, exogenous)), generator
    )
    of_numbers = regression_tables(statistics, prior, graphs, of_levels.arities, exogenous, generator)
    columns = _Columns(levels, numbers, discrete.exclusive)
    return MixedMechanisms(graphs, of_levels, of_numbers, columns, background)


def _one_level() -> DiscreteStatistics:
    none = np.empty(0, dtype=np.int64)
    family = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint64), np.zeros(2, dtype=np.int64)
    return DiscreteStatistics(("",), (("",),), *family, none, none)
