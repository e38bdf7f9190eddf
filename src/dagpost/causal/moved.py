"""What setting columns does under additive local models: rows of the table move (local/moved_rows.py), and are averaged.

An outcome in a graph with drawn parameters is its mean over many rows at the most probable parameters, and two changes
that some of the rows tell: what the drawn parameters do to it, and what another draw of the population would (weights
of the Bayesian bootstrap; Rubin 1981). All are the same rows in every world, so that differences are far less noisy
than outcomes.

Time: graphs times some hundred rows, and distinct graphs times some thousand.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.causal.mechanisms import World
from dagpost.families.masks import distinct_rows
from dagpost.local.additive import FEWEST_PARTICLES, AdditiveFamilies
from dagpost.local.moved_rows import Asked, Particles, outcomes, particles_of
from dagpost.local.networks import Networks, networks_of
from dagpost.prediction.background import Background

#: Distinct graphs whose rows are moved together: there may be some thousand rows.
_AT_A_TIME = 64


class MovedMechanisms:
    """Graphs with drawn parameters, and the same graphs, each once, with the most probable ones."""

    def __init__(
        self, own: AdditiveFamilies, drawn: Networks, known: Networks, member: Integers, weights: Floats
    ) -> None:
        self.graphs, self._own, self._drawn, self._known = drawn.graphs, own, drawn, known
        self._member, self._weights = member, weights

    @cached_property
    def _particles(self) -> tuple[Particles, Particles]:
        """All rows that stand for the population, and the first of them."""
        every = particles_of(self._own)
        return every, every.first(self._weights.shape[1])

    def some(self, rows: Integers) -> MovedMechanisms:
        """Some of the graphs, with the same parameters."""
        kept, member = np.unique(self._member[rows], return_inverse=True)
        known = self._known.some(kept)
        return MovedMechanisms(self._own, self._drawn.some(rows), known, member.reshape(-1), self._weights[rows])

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
        result = np.full(self.graphs.shape[1], np.nan)
        exclusive = np.isin(np.array(self._own.names, dtype=object), self._own.regimes)
        if any(exclusive[column] for column in world):
            result[exclusive] = 0.0
        for column, value in world.items():
            result[column] = value
        return result

    def _answer(self, asked: Asked) -> Floats:
        every, few = self._particles
        shapes, member = self._own.shapes, self._member
        whole, each = [], []
        for start in range(0, len(self._known.graphs), _AT_A_TIME):
            some = self._known.some(np.arange(start, min(start + _AT_A_TIME, len(self._known.graphs))))
            found = outcomes(shapes, some, every, asked)
            whole.append(found.mean(axis=1))
            each.append(found[:, : len(few.values)])
        known, by_row = np.concatenate(whole), np.concatenate(each)
        drawn = outcomes(shapes, self._drawn, few, asked).mean(axis=1)
        reweighted = np.einsum("gr,grl->gl", self._weights - 1.0, by_row[member]) / self._weights.shape[1]
        result: Floats = known[member] + (drawn - by_row.mean(axis=1)[member]) + reweighted
        return result if result.shape[1] == 1 else np.clip(result, 0.0, 1.0)


def drawn(
    statistics: Any, prior: Any, graphs: Masks, background: Background, generator: np.random.Generator
) -> MovedMechanisms:
    """One draw of the parameters of each graph."""
    del prior, background
    assert isinstance(statistics, AdditiveFamilies)
    graphs = np.ascontiguousarray(graphs, dtype=np.uint64)
    first, member = distinct_rows(graphs)
    rows = min(FEWEST_PARTICLES, len(statistics.particles))
    weights = generator.gamma(statistics.observations / rows, size=(len(graphs), rows))
    weights /= weights.mean(axis=1, keepdims=True)
    known = networks_of(statistics, graphs[first], None)
    return MovedMechanisms(statistics, networks_of(statistics, graphs, generator), known, member, weights)
