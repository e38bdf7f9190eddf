"""What the graphs that were drawn once say under any condition, at once: those that meet it are counted anew.

For each distinct graph of the model's own sample its ancestors and the edges that the data compel are worked out once;
under a condition only weights change, and what follows from assumed edges. Single values of what the model averages
over change the weight of each graph by how probable these values are given the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats
from dagpost.errors import NoGraphError
from dagpost.explorer.state import Setting
from dagpost.families.essential import compelled_by_data
from dagpost.features import Feature, ancestors, evaluate, weighted_matrix
from dagpost.posterior.condition import FEWEST_EFFECTIVE
from dagpost.posterior.distinct import CompelledShares, compelled_probabilities
from dagpost.posterior.estimate import Estimate, effective_estimate
from dagpost.posterior.knowledge import Knowledge, knowledge_of
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.sample import DagSample
from dagpost.posterior.shares import estimate_share

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted

#: What is worked out for each graph is kept where the graphs themselves take no more than this.
_KEPT_BYTES = 2**26
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Left:
    """The graphs that are left under a condition: which of the distinct ones, and what each weighs (1 in all).

    They are worth as many independent graphs as `worth` says.
    """

    rows: NDArray[np.intp]
    weights: Floats
    worth: float
    of: int

    @property
    def few(self) -> bool:
        """Whether there are too few to trust what they say."""
        return self.worth < FEWEST_EFFECTIVE

    def summary(self) -> dict[str, Any]:
        """How many are left, as the page reads it."""
        return {"left": len(self.rows), "of": self.of, "worth": self.worth}


class DrawnGraphs:
    """The distinct graphs of a model's own sample, and what was worked out about each."""

    def __init__(self, fitted: Fitted, sample: DagSample) -> None:
        self.sample, self._fitted = sample, fitted
        self._known = knowledge_of(fitted)
        self.parents = sample.parents[sample.distinct.rows]
        self._keeps = self.parents.nbytes <= _KEPT_BYTES

    @cached_property
    def _ancestors(self) -> NDArray[Any]:
        return ancestors(self.parents)

    @cached_property
    def _by_data(self) -> NDArray[Any]:
        return compelled_by_data(self.parents, self._known.targets, self._known.exogenous)

    @cached_property
    def _worth_of_one(self) -> float:
        """What a draw is worth: less than 1 where those of a chain resemble each other."""
        sample = self.sample
        return min(sample.effective_samples / len(sample), 1.0) if sample.from_chains else 1.0

    def held(self, feature: Feature) -> Flags:
        """In which of the distinct graphs a statement holds."""
        held: Flags = evaluate([feature], self.parents, self.sample.names)[0]
        return held

    def left(self, feature: Feature | None, setting: Setting = ()) -> Left:
        """The graphs in which a statement holds, under some values of what the model averages over."""
        distinct = self.sample.distinct
        weights = distinct.weights * self._shares_of(setting) if setting else distinct.weights
        rows = np.arange(len(weights)) if feature is None else np.flatnonzero(self.held(feature))
        rows = rows[weights[rows] > 0.0]
        total = float(weights[rows].sum())
        if not total > 0.0:
            raise NoGraphError(f"None of the {len(weights):,} distinct graphs that were drawn meets the conditions.")
        draws = np.bincount(distinct.member, minlength=len(weights))[rows]
        # Of equal draws as many are left; weights that differ are worth less.
        worth = total**2 / float((weights[rows] ** 2 / draws).sum()) * self._worth_of_one
        return Left(rows, weights[rows] / total, worth, len(weights))

    def _shares_of(self, setting: Setting) -> Floats:
        """P(values | graph, data) of every distinct graph."""
        workspace = self._fitted.workspace
        assert isinstance(workspace, MixedWorkspace)
        found: Floats = self._all_shares[list(workspace.grid.chosen(dict(setting)))].sum(axis=0)
        return found

    @cached_property
    def _all_shares(self) -> Floats:
        workspace = self._fitted.workspace
        assert isinstance(workspace, MixedWorkspace)
        return workspace.shares_given(self.parents)

    def share(self, feature: Feature, given: Feature | None = None, setting: Setting = ()) -> Estimate:
        """How probable a statement is by these graphs, with its interval; `given`: among those where another holds."""
        sample, member = self.sample, self.sample.distinct.member
        if setting:
            left = self.left(given, setting)
            value = min(float(left.weights @ self.held(feature)[left.rows]), 1.0)
            return self._weighted(value, left.worth)
        hit = self.held(feature)[member]
        condition = None if given is None else self.held(given)[member]
        both = hit if condition is None else hit & condition
        return estimate_share(sample, both, condition, "auto", _CONFIDENCE).given(sample.exogenous)

    def chance(self, feature: Feature | None, setting: Setting) -> Estimate:
        """How probable it is that a statement holds and settings have these values."""
        if not setting:
            assert feature is not None
            return self.share(feature)
        weights = self.sample.distinct.weights * self._shares_of(setting)
        value = float(weights.sum() if feature is None else weights @ self.held(feature))
        return self._weighted(min(value, 1.0), self.left(None).worth)

    def _weighted(self, value: float, worth: float) -> Estimate:
        sample = self.sample
        found = effective_estimate(value, worth, len(sample), _CONFIDENCE, "Korn-Graubard", sample.target)
        return found.given(sample.exogenous)

    def edges(self, left: Left) -> Floats:
        """How often each edge is there."""
        return np.minimum(weighted_matrix("->", self.parents[left.rows], left.weights), 1.0)

    def paths(self, left: Left) -> Floats:
        """How often a directed path leads from one variable to another."""
        if self._keeps:
            return np.minimum(weighted_matrix("->", self._ancestors[left.rows], left.weights), 1.0)
        return np.minimum(weighted_matrix("~>", self.parents[left.rows], left.weights), 1.0)

    def compelled(self, left: Left, known: Knowledge, edges: Floats) -> tuple[Floats, Floats, Floats]:
        """The probability that an edge is there and compelled by the data, only with rules, and only by the model.

        `edges` has the probabilities of edges; what is compelled are shares of these.
        """
        parents = self.parents[left.rows]
        found = known.compelled(parents, self._by_data[left.rows] if self._keeps else None)
        frequencies = weighted_matrix("->", parents, left.weights)
        by_data = weighted_matrix("->", found.by_data, left.weights)
        ruled = by_data if found.with_rules is found.by_data else weighted_matrix("->", found.with_rules, left.weights)
        same = found.with_model is found.with_rules
        decided = ruled if same else weighted_matrix("->", found.with_model, left.weights)
        none = np.empty((0, 0), dtype=bool)
        shares = CompelledShares(by_data, ruled, decided, none, none)
        by_data, ruled, decided = compelled_probabilities(edges, frequencies, shares, known)
        return by_data, ruled - by_data, decided - ruled
