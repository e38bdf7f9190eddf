"""The local models of a table: each family is fitted once, when it is asked for; and what questions need of the table.

Effects start from people: rows of the table in which nothing was set, with whatever their columns share that no model
knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import either
from dagpost.data.table import Table
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.base import CancelFlag
from dagpost.errors import InputError
from dagpost.local.base import Fitter, LocalModel, fitter_of, members_of
from dagpost.scores.parameter_priors import LocalPrior

#: People: at least, by repeating rows, and at most.
FEWEST_PEOPLE, _MOST_PEOPLE = 128, 8_192
#: Rows in which nothing was set are enough from this many on.
_ENOUGH = 20


@dataclass(frozen=True, eq=False)
class Seen:
    """What a table says of its columns, each by itself, and some of its rows."""

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...] | None, ...]
    #: Regimes: where one is set, the others are off.
    exclusive: Flags
    #: How often rows count in all.
    observations: float
    #: (columns, people)
    people: Floats
    #: The smallest value, the quartiles, and the largest value: (columns, 4).
    quartiles: Floats
    #: Of levels those of their codes.
    means: Floats

    @property
    def arities(self) -> tuple[int, ...]:
        """How many levels each column has; 0 for numbers."""
        return tuple(0 if own is None else len(own) for own in self.levels)


def seen_in(table: Table) -> Seen:
    """What is seen in the rows that count."""
    counted = np.flatnonzero(table.weights > 0)
    weights = table.weights[counted].astype(np.float64)
    columns = np.stack([column[counted].astype(np.float64) for column in table.columns])
    was_set = np.zeros(len(counted), dtype=bool) if table.interventions is None else table.interventions[counted] != 0
    return Seen(
        table.names,
        table.levels,
        np.asarray(table.exclusive),
        float(weights.sum()),
        _people(columns, weights, was_set),
        _quartiles(columns, weights),
        np.average(columns, axis=1, weights=weights),
    )


def _quartiles(columns: Floats, weights: Floats) -> Floats:
    orders = np.argsort(columns, axis=1, kind="stable")
    running = np.cumsum(weights[orders], axis=1)
    shares = np.array([0.0, 0.25, 0.75, 1.0]) * running[0, -1]
    rows = [order[np.searchsorted(sums, shares)] for sums, order in zip(running, orders, strict=True)]
    return np.stack([column[chosen] for column, chosen in zip(columns, rows, strict=True)])


def _people(columns: Floats, weights: Floats, was_set: Flags) -> Floats:
    """Rows in any order: each as often as it counts, or drawn by that."""
    rows = np.flatnonzero(~was_set)
    if float(weights[rows].sum()) < _ENOUGH:
        rows = np.arange(len(weights))
    generator, total = np.random.default_rng(0), weights[rows].sum()
    if total > _MOST_PEOPLE:
        points = (np.arange(_MOST_PEOPLE) + generator.random()) / _MOST_PEOPLE * total
        chosen = rows[np.searchsorted(np.cumsum(weights[rows]), points)]
    else:
        chosen = np.repeat(rows, weights[rows].astype(np.int64))
        chosen = np.tile(chosen, -(-FEWEST_PEOPLE // len(chosen)))
    return np.ascontiguousarray(columns[:, generator.permutation(chosen)])


class LocalModels:
    """The families of a table; those that are lacking are fitted on the workers of an engine."""

    def __init__(
        self,
        seen: Seen,
        fit: Fitter | None,
        engine: Engine | None = None,
        reporter: Reporter = NO_PROGRESS,
        known: dict[tuple[int, int], LocalModel] | None = None,
    ) -> None:
        self.seen, self.fit, self._engine, self._reporter = seen, fit, engine or ThreadEngine(), reporter
        self._known = {} if known is None else known
        #: What was last asked of the likeliest parameters (causal/moved.py).
        self.remembered: dict[Any, tuple[Floats, Floats]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.seen.names

    @property
    def levels(self) -> tuple[tuple[object, ...] | None, ...]:
        """Their levels; None for numbers."""
        return self.seen.levels

    @cached_property
    def uniforms(self) -> Floats:
        """A number between 0 and 1 for each column of each person, by which levels are drawn in every world alike."""
        return np.random.default_rng(1).random(self.seen.people.shape)

    def families(self, children: Integers, parents: Masks) -> list[LocalModel]:
        """The models of some families."""
        from threadpoolctl import threadpool_limits

        pairs = list(zip(children.tolist(), parents.tolist(), strict=True))
        lacking = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        if not lacking:
            return [self._known[pair] for pair in pairs]

        fitter = self.fit
        if fitter is None:
            child, mask = lacking[0]
            given = " and ".join(repr(self.names[node]) for node in members_of(mask)) or "nothing"
            raise InputError(
                f"The file of this model keeps regressions for the graphs of its own sample, not one of "
                f"{self.names[child]!r} on {given}. Fit the model again, or keep the rows: "
                f"{either('save(path, rows=True)', 'dagpost fit --rows')}."
            )

        def fit(pair: tuple[int, int], cancel: CancelFlag) -> LocalModel | None:
            return None if cancel[0] else fitter(pair[0], members_of(pair[1]))

        # Matrices are so small that threads of the linear algebra would only wait for each other.
        with threadpool_limits(1), self._reporter.stage("regressions", len(lacking)) as stage:
            for pair, model in zip(lacking, self._engine.run(fit, lacking), strict=True):
                assert model is not None
                self._known[pair] = model
                stage.advance(1)
        return [self._known[pair] for pair in pairs]


def models_of(
    table: Table, prior: LocalPrior, engine: Engine | None = None, reporter: Reporter = NO_PROGRESS
) -> LocalModels:
    """The local models of a complete table."""
    return LocalModels(seen_in(table), fitter_of(table, prior), engine, reporter)
