"""What a model under a condition takes for true, and how probable that is. given.py makes such models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dagpost._tools.mixture import Value
from dagpost.features import Feature, Query
from dagpost.posterior.condition_words import GIVEN_SETTING, GIVEN_STATEMENTS, assumption_words
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.probabilities import probabilities
from dagpost.posterior.results import Results, compute

if TYPE_CHECKING:
    from dagpost.posterior.completed_condition import UnderTables
    from dagpost.posterior.drawn_condition import DrawnCondition
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import Workspace


@dataclass(eq=False, repr=False)
class Condition:
    """What a model under a condition takes for true: statements, perhaps values of what it averages over.

    `base` is the model without it, `feature` all statements as one. `exact` says whether the weights were restricted,
    so that answers are as exact as those of the model itself; otherwise its drawn graphs were, and `graphs_left` of
    `graphs_of` are left, worth `effective_left` independent ones.
    """

    base: Fitted
    statements: tuple[str, ...]
    feature: Feature | None
    #: The values of settings that the model averages over, where some are given.
    setting: Mapping[str, Value]
    exact: bool
    graphs_left: int | None = None
    graphs_of: int | None = None
    effective_left: float | None = None
    #: The weights that are left, and what the model that has this condition remembers: the model refers to its
    #: condition, and a reference back would keep both in memory.
    workspace: Workspace = field(init=False)
    remembered: dict[str, Any] = field(init=False, default_factory=dict)

    @property
    def left(self) -> Fitted:
        """The model that this is the condition of."""
        return replace(self.base, workspace=self.workspace, condition=self, _remembered=self.remembered)

    @cached_property
    def probability(self) -> Estimate:
        """How probable the condition is, given the data."""
        log_probability = self.log_probability
        if self.exact and math.isfinite(log_probability):
            own = exact_estimate(math.exp(log_probability), self.base.target)
            return own.given(self.base.exogenous)
        assert self.feature is not None
        return probabilities([Query(self.feature, None)], self.base, 0.95)[0]

    @cached_property
    def log_probability(self) -> float:
        """The natural log of it, which knows more of what is all but impossible; nan where no sums say it."""
        if not self.exact:
            return math.nan
        return min(self.left.results.log_evidence - self.base.results.log_evidence, 0.0)

    @property
    def drawn(self) -> DrawnCondition | None:
        """Itself, where graphs were left out and not weights: then it draws and answers."""
        return None

    @property
    def under_tables(self) -> UnderTables | None:
        """What completed tables say under the condition, where a table is completed."""
        return None

    def computed(self, fitted: Fitted) -> Results:
        """Evidence and edges of the model that this is the condition of."""
        return compute(fitted)

    @property
    def known_probability(self) -> Estimate | None:
        """The probability, where it is known already or known by what the model has computed."""
        known = "probability" in self.__dict__ or (self.exact and "results" in self.remembered)
        return self.probability if known else None

    @property
    def words(self) -> str:
        """The condition as text."""
        return assumption_words({GIVEN_STATEMENTS: self.statements, GIVEN_SETTING: self.setting})

    def __repr__(self) -> str:
        left = "" if self.graphs_left is None else f"; {self.graphs_left:,} of {self.graphs_of:,} drawn graphs are left"
        return f"given {self.words}, with probability {self.probability}{left}"
