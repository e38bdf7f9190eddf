"""What setting columns does in networks of levels: the probability of each level of an outcome, by exact sums.

Given a graph and its parameters (level_tables.py), columns that are set are cut off from their parents, columns that
are not ancestors of the outcome are left out, exogenous ones are set to each of their combinations in turn
(combinations.py), and all others are summed out one after the other (factors.py):

    P(y | do(W)) = sum over all other columns of the product of P(node | parents) over nodes that are not set.

The direct part is the difference of two such sums in which all columns follow the second value of the cause, but the
family of the outcome itself sees the first, or the second. The part through a mediator sets the cause to the first
value; the mediator has, in place of its family, its distribution under the first, or the second value, given the
columns that the cause does not act on: its own sum over the columns between cause and mediator.

Time: for each graph, and each combination of exogenous levels behind the outcome, that of the sums.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.causal.combinations import Combinations, combinations_of, tell_apart
from dagpost.causal.factors import WORK, Factors, add_family, begin, larger_work, room_for, sum_out, value_at
from dagpost.causal.level_tables import LevelTables, level_tables
from dagpost.causal.mechanisms import World
from dagpost.features import ancestors
from dagpost.prediction.background import Background
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.scores import DirichletPrior

#: Columns behind a mediator are summed out before all others.
_STAGES = 2


class Asked(NamedTuple):
    """One question about levels; -1 stands for none.

    `set_to` has the level of each column; the family of the outcome sees `seen_by_outcome` of the cause instead, the
    mechanism of the mediator `seen_by_mediator`.
    """

    outcome: int
    set_to: Integers
    cause: int = -1
    seen_by_outcome: int = -1
    mediator: int = -1
    seen_by_mediator: int = -1


class LevelMechanisms:
    """Networks of levels, one for each graph."""

    def __init__(self, tables: LevelTables, background: Background, exclusive: Flags) -> None:
        self.graphs, self._tables, self._background = tables.graphs, tables, background
        columns = np.arange(tables.graphs.shape[1])
        self._combinations = combinations_of(background)
        self.exogenous = np.isin(columns, background.exogenous)
        self._exclusive, self._factors, self._work = exclusive, room_for(len(columns)), np.empty(WORK)

    @cached_property
    def above(self) -> Masks:
        """The ancestors of every column."""
        return ancestors(self.graphs)

    def outcome(self, outcome: int, world: World) -> Floats:
        """The probability of each level of the outcome when some columns are set."""
        return self._answer(Asked(outcome, self._levels(world)), np.arange(len(self.graphs)))

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The change of these along the edge alone."""
        result = np.zeros((len(self.graphs), int(self._tables.arities[outcome])))
        rows = np.flatnonzero(self.graphs[:, outcome] >> np.uint64(cause) & np.uint64(1))
        set_to = self._levels({cause: values[1]})
        first, second = (
            self._answer(Asked(outcome, set_to, cause, seen_by_outcome=int(value)), rows) for value in values
        )
        result[rows] = first - second
        return result

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """The change that passes through the mediator."""
        result = np.zeros((len(self.graphs), int(self._tables.arities[outcome])))
        rows = np.flatnonzero(_on_the_way(self.above, cause, outcome, mediator))
        set_to = self._levels({cause: values[0]})
        first, second = (
            self._answer(Asked(outcome, set_to, cause, mediator=mediator, seen_by_mediator=int(value)), rows)
            for value in values
        )
        result[rows] = first - second
        return result

    def some(self, rows: Integers) -> LevelMechanisms:
        """Some of the graphs, with the same parameters."""
        return LevelMechanisms(self._tables.some(rows), self._background, self._exclusive)

    def _levels(self, world: World) -> Integers:
        return _levels_set(world, len(self.exogenous), self._exclusive)

    def _answer(self, asked: Asked, rows: Integers) -> Floats:
        # Graphs with the same exogenous columns behind the outcome come one after the other.
        exogenous = np.uint64(sum(1 << int(column) for column in np.flatnonzero(self.exogenous)))
        order = np.argsort(self.above[rows, asked.outcome] & exogenous, kind="stable") if exogenous else None
        ordered = rows if order is None else rows[order]
        result = np.zeros((len(rows), int(self._tables.arities[asked.outcome])))
        about = self._tables, self.above, ordered, exogenous, asked, self._combinations, self._factors
        done = 0
        while (done := _answer_all(*about, done, self._work, result)) < len(rows):
            self._work = larger_work(self._factors)
        if order is None:
            return result
        restored = np.empty_like(result)
        restored[order] = result
        return restored


def drawn(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator
) -> LevelMechanisms:
    """One draw of the parameters of each graph."""
    return _mechanisms(statistics, prior, graphs, background, generator)


def expected(
    statistics: Any, prior: Any, graphs: Masks, background: Background, weights: Floats | None = None
) -> LevelMechanisms:
    """The posterior means of the parameters of each graph, whatever it weighs."""
    del weights
    return _mechanisms(statistics, prior, graphs, background, None)


def _mechanisms(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator | None
) -> LevelMechanisms:
    assert isinstance(statistics, DiscreteStatistics)
    assert isinstance(prior, DirichletPrior)
    graphs = np.ascontiguousarray(graphs, dtype=np.uint64)
    tables = level_tables(statistics, prior, graphs, background.exogenous, generator)
    return LevelMechanisms(tables, background, statistics.exclusive)


def _levels_set(world: World, columns: int, exclusive: Flags) -> Integers:
    """The level that every column is set to, -1 for none; where a regime is set, the others are off."""
    result = np.full(columns, -1, dtype=np.int64)
    if any(exclusive[column] for column in world):
        result[exclusive] = 0
    for column, value in world.items():
        result[column] = int(value)
    return result


def _on_the_way(above: Masks, cause: int, outcome: int, mediator: int) -> Flags:
    """In which graphs a column is between two others."""
    found: Flags = (above[:, mediator] >> np.uint64(cause)) & (above[:, outcome] >> np.uint64(mediator)) & 1 == 1
    return found


@kernel
def _answer_all(
    own: LevelTables,
    above: Masks,
    rows: Integers,
    exogenous: np.uint64,
    asked: Asked,
    combinations: Combinations,
    factors: Factors,
    first: int,
    work: Floats,
    result: Floats,
) -> int:
    """Answer for graph after graph; returns the first place that is left because the work space is too small."""
    one, nodes = np.uint64(1), own.graphs.shape[1]
    set_to = np.empty(nodes, dtype=np.int64)
    fixed = _set_columns(asked.set_to) | exogenous
    mediator = one << np.uint64(asked.mediator) if asked.mediator >= 0 else np.uint64(0)
    for place in range(first, len(rows)):
        graph = rows[place]
        between, behind = _acted_on(own, above, graph, mediator, asked.cause, fixed)
        relevant = _relevant_columns(own, graph, one << np.uint64(asked.outcome), fixed, asked.mediator, behind)
        count = tell_apart(combinations, relevant & exogenous & ~_set_columns(asked.set_to))
        for level in range(result.shape[1]):
            result[place, level] = 0.0
        for number in range(count):
            _choose_levels(asked, combinations, combinations.examples[number], exogenous, set_to)
            share = combinations.totals[number]
            if fixed >> np.uint64(asked.outcome) & one:
                result[place, set_to[asked.outcome]] += share
                continue
            begin(factors)
            for stage in range(_STAGES):
                members, kept, seen = relevant & ~fixed & ~mediator, one << np.uint64(asked.outcome), -1
                if stage == 0:
                    if not mediator & relevant:
                        continue
                    members, kept, seen = between, ~between | mediator, asked.seen_by_mediator
                if not _sum_columns(own, graph, asked, members, kept, seen, set_to, factors, work):
                    return place
            for level in range(result.shape[1]):
                result[place, level] += share * value_at(own, asked.outcome, level, factors, work)
    return len(rows)


@inline_no_refcount
def _set_columns(set_to: Integers) -> np.uint64:
    """The columns that are set, as a mask."""
    mask = np.uint64(0)
    for column in range(len(set_to)):
        if set_to[column] >= 0:
            mask |= np.uint64(1) << np.uint64(column)
    return mask


@inline_no_refcount
def _choose_levels(
    asked: Asked, combinations: Combinations, example: int, exogenous: np.uint64, set_to: Integers
) -> None:
    """Set the exogenous columns to a combination, except those that the question sets."""
    for column in range(len(set_to)):
        set_to[column] = asked.set_to[column]
        if set_to[column] < 0 and exogenous >> np.uint64(column) & np.uint64(1):
            set_to[column] = combinations.levels[example, column]


@inline_no_refcount
def _acted_on(
    own: LevelTables, above: Masks, graph: int, wanted: np.uint64, cause: int, fixed: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Of some columns and those behind them: which the cause acts on, and on which others these rest."""
    one, between, behind, todo = np.uint64(1), np.uint64(0), np.uint64(0), wanted
    while todo:
        for node in range(own.graphs.shape[1]):
            bit = one << np.uint64(node)
            if not todo & bit:
                continue
            todo &= ~bit
            if node == cause:
                continue
            if cause >= 0 and above[graph, node] >> np.uint64(cause) & one and not fixed & bit:
                between |= bit
                todo |= own.graphs[graph, node] & ~(between | behind)
            else:
                behind |= bit
    return between, behind


@inline_no_refcount
def _relevant_columns(
    own: LevelTables, graph: int, wanted: np.uint64, fixed: np.uint64, mediator: int, behind: np.uint64
) -> np.uint64:
    """Some columns and their ancestors, where columns that are fixed have none, and the mediator those behind it."""
    one, found, todo = np.uint64(1), np.uint64(0), wanted
    while todo:
        for node in range(own.graphs.shape[1]):
            bit = one << np.uint64(node)
            if not todo & bit:
                continue
            todo &= ~bit
            found |= bit
            if not fixed & bit:
                todo |= (behind if node == mediator else own.graphs[graph, node]) & ~found
    return found


@inline_no_refcount
def _sum_columns(
    own: LevelTables,
    graph: int,
    asked: Asked,
    members: np.uint64,
    kept: np.uint64,
    seen: int,
    set_to: Integers,
    factors: Factors,
    work: Floats,
) -> bool:
    """Take in the families of some columns, which see `seen` of the cause if that is a level, and sum them out.

    Says whether there was room.
    """
    as_set = set_to[asked.cause] if asked.cause >= 0 else -1
    for node in range(len(own.arities)):
        if not members >> np.uint64(node) & np.uint64(1):
            continue
        if asked.cause >= 0:
            level = asked.seen_by_outcome if node == asked.outcome and asked.seen_by_outcome >= 0 else seen
            set_to[asked.cause] = level if level >= 0 else as_set
        if not add_family(own, graph, node, set_to, factors, work):
            return False
    if asked.cause >= 0:
        set_to[asked.cause] = as_set
    return sum_out(own, kept, factors, work)
