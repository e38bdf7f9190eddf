"""What setting columns does, under local models of any kind: people move, and their outcomes are averaged.

An outcome in a graph with drawn parameters is its mean over many people at the likeliest parameters, and two changes
that a few of them tell: what the drawn parameters do to it, and what another draw of the population would (weights of
the Bayesian bootstrap; Rubin 1981). All are the same people in every world, so that differences are far less noisy than
outcomes. Only columns between what is set and the outcome need regressions.

Time: graphs times some dozen people, and distinct ways from cause to outcome times some thousand.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.causal.mechanisms import World
from dagpost.families.masks import distinct_rows
from dagpost.local.models import LocalModels
from dagpost.local.moved_rows import Asked, People, Ways, outcomes, people_of, ways_of
from dagpost.local.networks import Draws, Networks, networks_of
from dagpost.prediction.background import Background

#: People who are moved in graphs with drawn parameters, and distinct ways in which all of them are moved together.
_FEW, _AT_A_TIME = 32, 64
#: People times distinct graphs that are worked on, and people at least.
_WORK, _FEWEST = 2**16, 128
#: Answers that are remembered for the next who asks.
_REMEMBERED = 64
#: Means are of this many draws of graph and parameters, always the same, and at least two of each graph.
_MEANS, _SEED = 2_000, 0


class _Prepared(NamedTuple):
    """What all worlds of one question share: graphs with drawn parameters, and distinct ways with the likeliest."""

    drawn: Networks
    ways: Ways
    known: Networks
    known_ways: Ways
    member: Integers


class MovedMechanisms:
    """Graphs with drawn parameters."""

    def __init__(self, models: LocalModels, draws: Draws, weights: Floats) -> None:
        self.graphs = np.ascontiguousarray(draws.together[draws.rows])
        self._models, self._draws, self._weights = models, draws, weights
        #: What was asked last is asked again, of other values or of the same graphs.
        self._prepared: dict[tuple[Any, ...], _Prepared] = {}
        self._known: dict[bytes, Floats] = {}
        self._some: dict[bytes, MovedMechanisms] = {}

    @cached_property
    def _people(self) -> tuple[People, People]:
        """Those who stand for the population, and the first of them."""
        every = people_of(self._models).first(_enough(self._models, self.graphs))
        return every, every.first(self._weights.shape[1])

    def some(self, rows: Integers) -> MovedMechanisms:
        """Some of the graphs, with the same parameters."""
        key = np.asarray(rows).tobytes()
        if key not in self._some:
            draws = self._draws._replace(rows=self._draws.rows[rows])
            self._some = {key: MovedMechanisms(self._models, draws, self._weights[rows])}
        return self._some[key]

    def outcome(self, outcome: int, world: World) -> Floats:
        """The outcome when some columns are set."""
        return self._answer(Asked(outcome, self._set_to(world)))

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The change along the edge alone."""
        set_to = self._set_to({cause: values[1]})
        first, second = (self._answer(Asked(outcome, set_to, cause, value)) for value in values)
        return first - second

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """The change that passes through the mediator."""
        set_to = self._set_to({cause: values[0]})
        first, second = (
            self._answer(Asked(outcome, set_to, cause, mediator=mediator, other=value)) for value in values
        )
        return first - second

    def _set_to(self, world: World) -> Floats:
        exclusive = self._models.seen.exclusive
        result = np.full(len(exclusive), np.nan)
        if any(exclusive[column] for column in world):
            # Where a regime is set, the others are off.
            result[exclusive] = 0.0
        for column, value in world.items():
            result[column] = value
        return result

    def _prepare(self, asked: Asked) -> _Prepared:
        key = asked.outcome, *np.flatnonzero(~np.isnan(asked.set_to)).tolist()
        if key not in self._prepared:
            ways = ways_of(self.graphs, asked)
            drawn = networks_of(self._models, self.graphs, ways.needed, self._draws)
            first, member = distinct_rows(np.where(ways.needed, self.graphs, np.uint64(0)))
            known_ways = ways_of(self.graphs[first], asked)
            known = networks_of(self._models, self.graphs[first], known_ways.needed)
            self._prepared, self._known = {key: _Prepared(drawn, ways, known, known_ways, member)}, {}
        return self._prepared[key]

    def _answer(self, asked: Asked) -> Floats:
        if not len(self.graphs):
            return np.zeros((0, max(self._models.seen.arities[asked.outcome], 1)))
        if not np.isnan(asked.seen) and asked.seen == asked.set_to[asked.cause]:
            # The outcome sees what the cause is set to anyway.
            asked = Asked(asked.outcome, asked.set_to)
        self._prepare(asked)
        key = b"".join(np.asarray(field, dtype=np.float64).tobytes() for field in asked)
        if key not in self._known:
            self._known[key] = self._averaged(asked, key)
        return self._known[key]

    def _averaged(self, asked: Asked, key: bytes) -> Floats:
        prepared, few = self._prepare(asked), self._people[1]
        levels = self._models.seen.arities[asked.outcome]
        remembered = self._models.remembered
        if len(remembered) > _REMEMBERED:
            remembered.clear()
        # Means and draws of an effect ask the same of the same graphs.
        whole = key, few.values.shape[1], prepared.known.graphs.tobytes()
        known, by_person = remembered.get(whole) or remembered.setdefault(whole, self._by_likeliest(asked, prepared))
        drawn = outcomes(prepared.drawn, prepared.ways, few, asked, levels).mean(axis=1)
        weights, member = self._weights, prepared.member
        reweighted = np.einsum("gr,grl->gl", weights - 1.0, by_person[member]) / weights.shape[1]
        result: Floats = known[member] + (drawn - by_person.mean(axis=1)[member]) + reweighted
        return np.clip(result, 0.0, 1.0) if levels else result

    def _by_likeliest(self, asked: Asked, prepared: _Prepared) -> tuple[Floats, Floats]:
        """The mean over everybody, and what becomes of the first few, at the likeliest parameters."""
        whole, each, (every, few) = [], [], self._people
        for start in range(0, len(prepared.known.graphs), _AT_A_TIME):
            some = np.arange(start, min(start + _AT_A_TIME, len(prepared.known.graphs)))
            ways = Ways(prepared.known_ways.above[some], prepared.known_ways.needed[some])
            levels = self._models.seen.arities[asked.outcome]
            found = outcomes(prepared.known.some(some), ways, every, asked, levels)
            whole.append(found.mean(axis=1))
            each.append(found[:, : few.values.shape[1]])
        return np.concatenate(whole), np.concatenate(each)


def _enough(models: LocalModels, graphs: Masks) -> int:
    """How many people stand for the population: fewer where graphs are many."""
    distinct = len(distinct_rows(graphs)[0])
    return min(int(models.seen.people.shape[1]), max(_WORK // max(distinct, 1), _FEWEST))


def drawn(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator
) -> MovedMechanisms:
    """One draw of the parameters of each graph."""
    del prior, background
    assert isinstance(statistics, LocalModels)
    everyone, rows = _enough(statistics, graphs), statistics.seen.observations
    few = min(_FEW, everyone)
    # Where some of the rows stand for all, that they were these and not others is one more thing that is not known.
    size = rows if rows <= everyone else 1.0 / (1.0 / rows + 1.0 / everyone)
    weights = generator.gamma(size / few, size=(len(graphs), few))
    weights /= weights.mean(axis=1, keepdims=True)
    together = np.ascontiguousarray(graphs, dtype=np.uint64)
    draws = Draws(int(generator.integers(2**62)), together, np.arange(len(graphs)))
    return MovedMechanisms(statistics, draws, weights)


class _Means:
    """Graphs, of each of which some draws, side by side, are averaged."""

    def __init__(self, mechanisms: MovedMechanisms, graphs: Masks, counts: Integers) -> None:
        self.graphs, self._mechanisms, self._counts = graphs, mechanisms, counts
        self._starts = np.cumsum(counts) - counts

    def some(self, rows: Integers) -> _Means:
        """Some of the graphs, with the same draws."""
        places = [
            np.arange(start, start + count) for start, count in zip(self._starts[rows], self._counts[rows], strict=True)
        ]
        every = np.concatenate([np.zeros(0, dtype=np.int64), *places])
        return _Means(self._mechanisms.some(every), self.graphs[rows], self._counts[rows])

    def outcome(self, outcome: int, world: World) -> Floats:
        """The outcome when some columns are set."""
        return self._mean(self._mechanisms.outcome(outcome, world))

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The change along the edge alone."""
        return self._mean(self._mechanisms.direct(cause, outcome, values))

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """The change that passes through the mediator."""
        return self._mean(self._mechanisms.through(cause, outcome, mediator, values))

    def _mean(self, found: Floats) -> Floats:
        if not len(self.graphs):
            return found
        means: Floats = np.add.reduceat(found, self._starts, axis=0) / self._counts[:, np.newaxis]
        return means


def expected(statistics: Any, prior: Any, graphs: Masks, background: Background, weights: Floats) -> _Means:
    """Means over draws that every question shares, so that whoever asks the same hears the same."""
    del prior, background
    assert isinstance(statistics, LocalModels)
    graphs = np.ascontiguousarray(graphs, dtype=np.uint64)
    counts = 2 * np.maximum(np.ceil(_MEANS / 2 * weights / max(weights.sum(), 1e-300)), 1.0).astype(np.int64)
    together = np.repeat(graphs, counts, axis=0)
    few = min(_FEW, statistics.seen.people.shape[1])
    draws = Draws(_SEED, together, np.arange(len(together)), balanced=True)
    return _Means(MovedMechanisms(statistics, draws, np.ones((len(together), few))), graphs, counts)
