"""A model under a condition: the same posterior among the graphs in which a statement holds, as a fitted model again.

Where the statement is one on parents, such as edges that are there or not, the families that break it get weight 0, and
everything (edges, paths, parent sets, draws, best graphs) is exact after one more pass over what is left. A statement
that can be true in several ways, such as `A -- B`, adds up one such posterior for each way; they have no graph in
common (features/disjoint.py). The probability of the condition is the ratio of the evidences, in logs: it may be as
small as it likes. A model that averages over a setting of its score mixes what is left under each value, so that
numerator and denominator are averaged before they are divided; conditioning on one of the values is conditioning too.

Any other statement leaves those drawn graphs in which it holds (drawn_condition.py), after whatever part of it can
restrict the weights has done so; where a table is completed by chains, see completed_condition.py.

Time: nothing is summed before somebody asks for an answer. Then it is one pass over what is left for each way, and each
value that the score averages over, as far as these can matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.checks import refusal
from dagpost.errors import InputError, NoGraphError
from dagpost.features import Feature, projected_ways, resolve
from dagpost.features.feature import And
from dagpost.features.statements.path_in_time import PathInTime
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.condition_words import GIVEN_NAME, GIVEN_SETTING, GIVEN_STATEMENTS, assumption_words
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.feasible import has_graph
from dagpost.posterior.mixture import JoinedWorkspace, MixedWorkspace, restricted
from dagpost.posterior.probabilities import probabilities
from dagpost.posterior.results import Results, compute

if TYPE_CHECKING:
    from dagpost.features import Query
    from dagpost.methods.base import Method
    from dagpost.posterior.completed_condition import UnderTables
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.sample import DagSample
    from dagpost.posterior.workspace import SummingWorkspace, Workspace

#: In how many ways a statement may be true and still restrict weights: each is a posterior of its own.
_MOST_WAYS = 8
#: Models under conditions are looked at one after the other, and many may be kept: they share room for tables.
_SHARING = 16
#: A part this improbable is reckoned not to need a sum.
_UNLIKELY = 1e-13
#: A share of a part that is smaller than this does not tell how much it weighs.
_SMALLEST_SHARE = 1e-290


class ImpossibleError(NoGraphError):
    """No graph meets a condition, whatever the data."""


@dataclass(eq=False, repr=False)
class Condition:
    """What a model under a condition takes for true: statements, perhaps one value of what its score averages over.

    `base` is the model without it, `feature` all statements as one. `exact` says whether the weights were restricted,
    so that answers are as exact as those of the model itself; otherwise its drawn graphs were, and `graphs_left` of
    `graphs_of` are left, worth `effective_left` independent ones.
    """

    base: Fitted
    statements: tuple[str, ...]
    feature: Feature | None
    setting: float | None
    exact: bool
    graphs_left: int | None = None
    graphs_of: int | None = None
    effective_left: float | None = None
    #: The model that this is the condition of.
    left: Fitted = field(init=False)

    #: Whether graphs were left out, not weights.
    drawn = False

    @cached_property
    def probability(self) -> Estimate:
        """How probable the condition is, given the data."""
        log_probability = self.log_probability
        if self.exact and math.isfinite(log_probability):
            own = exact_estimate(math.exp(log_probability), self.base.target)
            return own.given(self.base.exogenous)
        assert self.feature is not None
        return probabilities([_asked(self.base, self.feature)], self.base, 0.95)[0]

    @cached_property
    def log_probability(self) -> float:
        """The natural log of it, which knows more of what is all but impossible; nan where no sums say it."""
        if not self.exact:
            return math.nan
        return min(self.left.results.log_evidence - self.base.results.log_evidence, 0.0)

    @property
    def under_tables(self) -> UnderTables | None:
        """What completed tables say under the condition, where a table is completed."""
        return None

    def computed(self, fitted: Fitted) -> Results:
        """Evidence and edges of the model that this is the condition of."""
        return compute(fitted)

    def draw(
        self,
        count: int,
        seed: int | None,
        *,
        method: Method | None,
        guarantee: tuple[float, float] | None,
        resume: DagSample | None,
    ) -> DagSample:
        """Graphs that meet the condition, where weights do not see to that."""
        raise NotImplementedError

    def own_sample(self) -> DagSample:
        """The drawn graphs that are left, where weights do not see to that."""
        raise NotImplementedError

    @property
    def known_probability(self) -> Estimate | None:
        """The probability, where it is known already or known by what the model has computed."""
        known = "probability" in self.__dict__ or (self.exact and self.left.recall("results") is not None)
        return self.probability if known else None

    @property
    def words(self) -> str:
        """The condition as text."""
        setting = {} if self.setting is None else {GIVEN_SETTING: self.setting, GIVEN_NAME: self.setting_name}
        return assumption_words({GIVEN_STATEMENTS: self.statements, **setting})

    @property
    def setting_name(self) -> str:
        """What the score averages over, in words."""
        return setting_name(self.base)

    def __repr__(self) -> str:
        left = "" if self.graphs_left is None else f"; {self.graphs_left:,} of {self.graphs_of:,} drawn graphs are left"
        return f"given {self.words}, with probability {self.probability}{left}"


def conditioned(fitted: Fitted, statements: Sequence[Any], setting: float | None = None) -> Fitted:
    """The model in which all these statements hold, under one value of what its score averages over if that is given.

    Conditions of a model that has some already are added to these.
    """
    base, features = fitted, [_feature(fitted, statement) for statement in statements]
    texts = tuple(map(str, features))
    if fitted.condition is not None:
        before = fitted.condition
        base, texts = before.base, (*before.statements, *(text for text in texts if text not in before.statements))
        features = [before.feature, *features] if before.feature is not None else features
        if None not in (setting, before.setting) and setting != before.setting:
            raise InputError(f"The model is conditioned on {setting_name(base)} {before.setting:g} already.")
        setting = before.setting if setting is None else setting
    feature = None if not features else all_of(features)
    if feature is None and setting is None:
        return base
    value = None if setting is None else _value(base, setting)
    try:
        found = _by_weights(base, feature, value)
        if found is None:
            return _otherwise(base, texts, feature, setting)
    except ImpossibleError:
        raise _no_graph(base, texts) from None
    exact = exact_sums(base) is not None or base.method.modularity is None
    return _under(base, found, Condition(base, texts, feature, setting, exact))


def all_of(features: Sequence[Feature]) -> Feature:
    """All statements as one."""
    return features[0] if len(features) == 1 else And(tuple(features))


def setting_name(base: Fitted) -> str:
    """What the score averages over, in words."""
    return str(base.workspace.mixture.setting) if isinstance(base.workspace, MixedWorkspace) else "setting"


def _under(base: Fitted, workspace: Workspace, condition: Condition) -> Fitted:
    """The model with other weights, if these are, under a condition."""
    left = replace(base, workspace=workspace, condition=condition, _remembered={})
    condition.left = left
    return left


def _feature(fitted: Fitted, statement: Any) -> Feature:
    found: Query = resolve(statement, fitted.names, None, fitted.exogenous)
    if found.given is not None:
        raise InputError(f"The condition {str(statement)!r} has a condition of its own. Join both with &.")
    if isinstance(found.feature, PathInTime) and fitted.settings.get("apart"):
        return found.feature.by_lagged_edges(fitted.names)
    return found.feature


def _asked(fitted: Fitted, feature: Feature) -> Query:
    return resolve(feature, fitted.names, None, fitted.exogenous)


def _value(base: Fitted, setting: float) -> int:
    """The number of one of the values that the score averages over."""
    workspace = base.workspace
    if base.completes:
        raise InputError(
            f"A model is conditioned on a value of its score's setting where sums over all graphs are exact; here "
            f"{base.unknown.done}. Fit a score with that value instead."
        )
    if not isinstance(workspace, MixedWorkspace):
        raise refusal(setting, "setting", None, "None: the score of this model does not average over a setting")
    values = workspace.mixture.values
    if isinstance(setting, bool) or not isinstance(setting, int | float | np.number) or setting not in values:
        allowed = f"one of the values that {workspace.mixture.setting} has, {', '.join(f'{own:g}' for own in values)}"
        raise refusal(setting, "setting", None, allowed)
    return values.index(setting)


def _restrictable(base: Fitted) -> bool:
    """Whether a model with other weights is found as this one was: by sums, or by independent draws."""
    if not base.workspace.parts or base.completes:
        return False
    return exact_sums(base) is not None or (base.method.draws != "chains" and not base.method.needs_rows)


def _by_weights(base: Fitted, feature: Feature | None, value: int | None) -> Workspace | None:
    """The weights that are left; None where they cannot say it."""
    if value is not None and exact_sums(base) is None and base.method.modularity is not None:
        raise InputError("Only a model with exact sums can be conditioned on a value of its score's setting.")
    if not _restrictable(base):
        return None
    workspace = base.workspace
    ways = [{}] if feature is None else _allowed_ways(base, feature)
    if ways is None:
        return None
    chosen = range(len(workspace.parts)) if value is None else [value]
    # Where every graph counts once, what a condition takes apart is summed apart, if the method can draw from that.
    modularity = "structure" if base.modularity == "structure" and base.method.by_components else ""
    parts: list[SummingWorkspace] = []
    for allowed in ways:
        left = list(restricted(workspace, allowed, modularity))
        if _has_graph_of_method(base, left[0]):
            parts += [left[place] for place in chosen]
    if not parts:
        raise ImpossibleError
    times = len(parts) // len(chosen)
    sharing = _SHARING * len(parts)
    if isinstance(workspace, MixedWorkspace):
        value_of = [workspace.value_of[place] for place in chosen] * times
        joined: JoinedWorkspace = MixedWorkspace(
            workspace.mixture, parts, workspace.engine, workspace.reporter, value_of
        )
    elif len(parts) == 1:
        parts[0].sharing = sharing
        return parts[0]
    else:
        labels = [f"way {way + 1} of {times}" for way in range(times)]
        joined = JoinedWorkspace(parts, [0.0] * len(parts), labels, workspace.engine, workspace.reporter)
    for part in parts:
        part.sharing = sharing
    joined.most = tuple(_most(base, place) for place in chosen) * times
    return joined


def _has_graph_of_method(base: Fitted, part: SummingWorkspace) -> bool:
    """Whether some graph is left of those that a method considers, where these are not all."""
    if base.method.modularity is not None:
        return True
    try:
        return math.isfinite(base.method.log_mass(part, base.names))
    except NoGraphError:
        return False


def _most(base: Fitted, place: int) -> float:
    """The log evidence of a part of a model, which that of what is left cannot exceed; infinity where not known."""
    sums = base.results.sums
    if sums is None or sums.shares[place] < _SMALLEST_SHARE:
        return math.inf
    # A little more, for rounding.
    return math.log(sums.shares[place]) + sums.log_evidence - base.workspace.log_priors[place] + 1e-6


def _allowed_ways(base: Fitted, feature: Feature) -> list[dict[int, Any]] | None:
    """For each way in which a statement can be true, which parent sets of which nodes it leaves; None: too many."""
    found = projected_ways(feature, base.names)
    if found is None:
        return None
    part = base.workspace.parts[0]
    ways: list[dict[int, Any]] = []
    for way in found.ways:
        allowed = {node: condition(part.masks_of_sets(node, found.bits)) for node, condition in way.items()}
        possible = all((own & np.isfinite(part.own_weights(node))).any() for node, own in allowed.items())
        if possible and has_graph(part.restricted(allowed), allowed):
            ways.append(allowed)
        if len(ways) > _MOST_WAYS:
            return None
    if not ways:
        raise ImpossibleError
    return ways


def _parts(feature: Feature) -> tuple[Feature, ...]:
    return feature.parts if isinstance(feature, And) else (feature,)


def _no_graph(base: Fitted, texts: Sequence[str]) -> NoGraphError:
    """The error for a condition that cannot be met; it names one statement, if that is to blame alone."""
    which = "graph" if base.method.modularity is not None else f"graph of {base.method.name!r}"
    for text in texts:
        if len(texts) > 1 and _is_impossible(base, text):
            texts = [text]
            break
    together = " together" if len(texts) > 1 else ""
    return NoGraphError(
        f"No {which} that the rules of the model allow has {' and '.join(map(repr, texts))}{together}. "
        "Take a condition back, or fit a model with other rules."
    )


def _is_impossible(base: Fitted, text: str) -> bool:
    try:
        conditioned(base, [text])
    except NoGraphError:
        return True
    return False


def _otherwise(base: Fitted, texts: tuple[str, ...], feature: Feature | None, setting: float | None) -> Fitted:
    """The model by its drawn graphs, after weights have been restricted as far as they can be."""
    from dagpost.posterior.completed_condition import CompletedCondition
    from dagpost.posterior.drawn_condition import DrawnCondition

    assert feature is not None
    kind = CompletedCondition if base.completes else DrawnCondition
    within, rest = _split(base, feature, setting)
    condition = kind(base, texts, feature, setting, False, within=within, rest=rest)
    left = _under(base, within.workspace, condition)
    condition.begin()
    return left


def _split(base: Fitted, feature: Feature, setting: float | None) -> tuple[Fitted, Feature]:
    """The model whose weights were restricted by the parts of a statement that can do so, and what is left to draws."""
    if not _restrictable(base):
        return base, feature
    on_weights: list[Feature] = []
    others: list[Feature] = []
    for part in _parts(feature):
        fits = _allowed_ways(base, all_of([*on_weights, part])) is not None
        (on_weights if fits else others).append(part)
    if not on_weights and setting is None:
        return base, feature
    return conditioned(base, on_weights, setting), all_of(others)


def condition_seconds(fitted: Fitted, feature: Feature | None, setting: float | None = None) -> float:
    """Roughly how long the exact sums under a condition take; infinity where only draws, or completed tables, tell."""
    base = fitted if fitted.condition is None else fitted.condition.base
    if exact_sums(base) is None or not _restrictable(base):
        return math.inf
    left = _by_weights(base, feature, None if setting is None else _value(base, setting))
    if left is None:
        return math.inf
    return seconds_left(left, base.modularity)


def seconds_left(left: Workspace, modularity: str) -> float:
    """Roughly how long the exact sums over what a condition leaves take."""
    parts = left.parts
    if isinstance(left, JoinedWorkspace):
        most = np.add(left.log_priors, left.most)
        # What the condition leaves is not known yet: take a part that is this improbable for one that will not matter.
        parts = tuple(part for part, own in zip(parts, most, strict=True) if own > most.max() + math.log(_UNLIKELY))
    return sum(part.seconds(modularity) for part in parts)
