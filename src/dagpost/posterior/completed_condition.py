"""A condition on the graphs of a table with gaps: averages over completed tables of what holds together with it.

Given a completed table, a condition on parents restricts its weights, and `P(C)` and `P(edge, C)` are exact. The answer
is the ratio of their averages over tables, never an average of ratios: a table in which the condition is improbable
counts for less. Its standard error is that of the residuals `P(edge, C) - ratio P(C)` (the delta method). The tables
are spread evenly over all chains, as many as are reckoned to take `PATIENCE_SECONDS`. Where the drawn graphs that meet
the condition say more, as where it is probable and tables differ, they speak, and for any other condition too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.errors import NoGraphError, PrecisionError, ResourceError
from dagpost.mcmc.number_series import averages_of
from dagpost.posterior.condition import DrawnCondition
from dagpost.posterior.probabilities import PATIENCE_SECONDS, reckoned_tables, some_completed, weighed_table
from dagpost.posterior.results import Results
from dagpost.posterior.ways_left import restricted_part, ways_to_restrict

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace

#: In how many ways a statement may be true and still restrict weights.
_MOST_WAYS = 4


class UnderTables(NamedTuple):
    """What completed tables say under a condition: ratios of averages, with their standard errors."""

    edges: Floats
    edge_errors: Floats
    paths: Floats | None
    path_errors: Floats | None
    families: Floats
    shares: tuple[float, ...]
    tables: int


class _OneTable(NamedTuple):
    log_weight: float
    edges: Floats
    paths: Floats | None
    families: Floats


@dataclass(eq=False, repr=False)
class CompletedCondition(DrawnCondition):
    """A condition on the graphs of a table that chains complete."""

    patience: float = field(default=PATIENCE_SECONDS, kw_only=True)

    @cached_property
    def under_tables(self) -> UnderTables | None:
        """What completed tables say; None where they cannot, or not in time."""
        base = self.base
        augmented = base.augmented
        ways = self._ways
        count = reckoned_tables(base, self.patience)
        if augmented is None or not ways or not count:
            return None
        numbers = augmented.spread(count)
        try:
            found = [self._one(int(number), ways) for number in numbers.reshape(-1)]
        except (NoGraphError, PrecisionError, ResourceError):
            return None
        logs = np.array([one.log_weight for one in found])
        weights = np.exp(logs - logs.max()).reshape(numbers.shape)
        edges, edge_errors = _ratio(np.array([one.edges for one in found]), weights)
        paths = path_errors = None
        if all(one.paths is not None and not np.isnan(one.paths).any() for one in found):
            paths, path_errors = _ratio(np.array([one.paths for one in found]), weights)
        families = sum(weight * one.families for weight, one in zip(weights.flat, found, strict=True)) / weights.sum()
        values = np.bincount(
            augmented.value_of[numbers.reshape(-1)], weights=weights.reshape(-1), minlength=len(augmented.shares)
        )
        shares = tuple((values / values.sum()).tolist())
        return UnderTables(edges, edge_errors, paths, path_errors, families, shares, numbers.size)

    def computed(self, fitted: Fitted) -> Results:
        """Edges by completed tables, or as frequencies among the graphs that are left: what is known better."""
        found = self.under_tables
        drawn = super().computed(fitted) if found is None or self.graphs_left else None
        if found is None:
            assert drawn is not None
            return drawn
        verdict, engine = self.base.results.verdict, self.base.results.engine
        averaged = (found.shares, found.tables, found.edge_errors)
        averages = Results(math.nan, found.edges, False, None, engine, verdict, *averaged)
        if drawn is None or self.effective_left is None:
            return averages
        errors = np.sqrt(np.clip(drawn.edges * (1.0 - drawn.edges), 0.0, None) / max(self.effective_left, 1.0))
        return drawn if errors.mean() < found.edge_errors.mean() else averages

    @property
    def by_tables(self) -> bool:
        """Whether completed tables answer, so that few drawn graphs do no harm."""
        return bool(self._ways and reckoned_tables(self.base, self.patience))

    @cached_property
    def _ways(self) -> list[dict[int, Any]] | None:
        """For each way in which the condition can be true, which parent sets of which nodes it leaves."""
        augmented = self.base.augmented
        if augmented is None or not augmented.exact_given_table:
            return None
        return ways_to_restrict(self.rest, self.base.names, some_completed(self.base), _MOST_WAYS)

    def _one(self, number: int, ways: list[dict[int, Any]]) -> _OneTable:
        """What one completed table says, given the condition, and the log of how probable that makes the condition."""
        part, modularity = weighed_table(self.base, number), self.base.modularity
        lefts: list[SummingWorkspace] = [restricted_part(part, way, modularity) for way in ways]
        sums = [left.summed(modularity) for left in lefts]
        logs = np.array([own.log_evidence for own in sums])
        log_left = float(np.logaddexp.reduce(logs))
        shares = np.exp(logs - log_left)

        def mixed(arrays: list[Any]) -> Floats:
            total: Floats = sum(share * array for share, array in zip(shares, arrays, strict=True))
            return total

        whole = [left.paths(self.patience) if own.paths is not None and np.isnan(own.paths).any() else own.paths
                 for left, own in zip(lefts, sums, strict=True)]  # fmt: skip
        return _OneTable(
            log_left - part.log_evidence(modularity),
            mixed([own.edges for own in sums]),
            None if any(own is None for own in whole) else mixed(whole),
            mixed([np.concatenate([np.asarray(one) for one in own.families]) for own in sums]),
        )


def _ratio(given: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The ratio of averages and its standard error, from what holds given each table and the weights of these."""
    given = given.reshape(*weights.shape, *given.shape[1:])
    condition = weights.reshape(*weights.shape, *(1,) * (given.ndim - 2))
    mean = float(weights.mean())
    value = (condition * given).mean(axis=(0, 1)) / mean
    return value, averages_of(condition * (given - value) / mean).errors
