"""A model under a condition: the same posterior among the graphs in which a statement holds, as a fitted model again.

Where the statement is one on parents, such as edges that are there or not, the families that break it get weight 0, and
everything (edges, paths, parent sets, draws) is exact after one more pass over what is left. The probability of the
condition is the ratio of the evidences. Any other statement leaves those graphs of the model's own sample in which it
holds. A model that averages over a setting of its score mixes what is left under each value, so that numerator and
denominator are averaged before they are divided; conditioning on one of the values is conditioning too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dagpost.errors import InputError, NoGraphError
from dagpost.features import Feature, evaluate, projected_conditions, resolve
from dagpost.features.feature import And
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.mixture import MixedWorkspace, restricted
from dagpost.posterior.probabilities import probabilities
from dagpost.posterior.results import Results

if TYPE_CHECKING:
    from dagpost.features import Query
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import Workspace


@dataclass(frozen=True, eq=False)
class Condition:
    """What a conditioned model takes for true: statements, perhaps one value of what the score averages over.

    `base` is the model without it, `exact` says whether the weights were restricted or the drawn graphs.
    """

    base: Fitted
    statements: tuple[str, ...]
    feature: Feature | None
    setting: float | None
    probability: Estimate
    exact: bool


def conditioned(fitted: Fitted, statements: Sequence[Any], setting: float | None = None) -> Fitted:
    """The model in which all these statements hold, under one value of what its score averages over if that is given.

    Conditions of a model that has some already are added to these.
    """
    base, texts = fitted, tuple(map(str, statements))
    features = [_feature(base, statement) for statement in statements]
    if fitted.condition is not None:
        before = fitted.condition
        base, texts = before.base, (*before.statements, *texts)
        features = [before.feature, *features] if before.feature is not None else features
        setting = before.setting if setting is None else setting
    feature = None if not features else features[0] if len(features) == 1 else And(tuple(features))
    if feature is None and setting is None:
        return base
    found = _by_weights(base, feature, setting)
    if found is None:
        return _by_draws(base, texts, feature, setting)
    workspace, probability = found
    condition = Condition(base, texts, feature, setting, probability, exact=True)
    return replace(base, workspace=workspace, condition=condition, _remembered={})


def _feature(fitted: Fitted, statement: Any) -> Feature:
    found: Query = resolve(statement, fitted.names, None, fitted.exogenous)
    if found.given is not None:
        raise InputError(f"The condition {str(statement)!r} has a condition of its own. Join both with &.")
    return found.feature


def _by_weights(base: Fitted, feature: Feature | None, setting: float | None) -> tuple[Workspace, Estimate] | None:
    """The weights that are left, and the probability of the condition; None where the weights cannot say it."""
    if exact_sums(base) is None:
        return None
    workspace, log_evidence = base.workspace, base.results.log_evidence
    parts, log_priors = list(workspace.parts), list(workspace.log_priors)
    if feature is not None:
        found = projected_conditions(feature, base.names)
        if found is None or found.conditions.constant or [term.sign for term in found.conditions.terms] != [1]:
            return None
        allowed = {
            node: condition(parts[0].masks_of_sets(node, found.bits))
            for node, condition in found.conditions.terms[0].conditions.items()
        }
        parts = list(restricted(workspace, allowed, base.modularity))
    if isinstance(workspace, MixedWorkspace) and setting is None:
        left: Workspace = MixedWorkspace(workspace.mixture, parts, workspace.engine, workspace.reporter)
        log_left = left.log_sum([part.summed(base.modularity).log_evidence for part in parts])  # type: ignore[attr-defined]
    else:
        place = 0 if setting is None else _place(workspace, setting)
        left = parts[place]
        log_left = log_priors[place] + left.summed(base.modularity).log_evidence
    return left, exact_estimate(min(math.exp(log_left - log_evidence), 1.0), base.target)


def _place(workspace: Workspace, setting: float) -> int:
    if not isinstance(workspace, MixedWorkspace) or setting not in workspace.mixture.values:
        raise InputError(f"{setting!r} is not one of the values that the score of this model averages over.")
    return workspace.mixture.values.index(setting)


def _by_draws(base: Fitted, texts: tuple[str, ...], feature: Feature | None, setting: float | None) -> Fitted:
    if setting is not None or feature is None:
        raise InputError("Only a model with exact sums can be conditioned on a value of its setting.")
    sample = base.own_sample()
    held = evaluate([feature], sample.parents, base.names)[0]
    if not held.any():
        raise NoGraphError("No graph of the model's own sample meets the condition.")
    (probability,) = probabilities([resolve(feature, base.names, None, base.exogenous)], base, 0.95)
    condition = Condition(base, texts, feature, setting, probability, exact=False)
    left = replace(base, condition=condition, _remembered={})
    own = sample[held.nonzero()[0]]
    left.remember("sample", own)
    left.remember("results", Results(math.nan, own.edge_frequencies().to_numpy(), False, engine=base.results.engine))
    return left
