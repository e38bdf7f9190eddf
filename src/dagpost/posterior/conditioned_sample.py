"""A sample of graphs under a condition: those of its graphs in which statements hold.

The weights of the graphs that are left are scaled to sum to 1. Independent draws of equal weight stay what they are, a
sample of the posterior under the condition. Of other samples the graphs that are left have no interval of their own:
ask the whole sample with `given`, which `asked_under` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.text import printable
from dagpost.errors import InputError, NoGraphError
from dagpost.features import And, Feature, Query, evaluate, resolve
from dagpost.posterior.condition_words import (
    GIVEN_FROM,
    GIVEN_PROBABILITY,
    GIVEN_SETTING,
    GIVEN_STATEMENTS,
    provenance_of,
)

if TYPE_CHECKING:
    from dagpost.posterior.estimate import Estimate
    from dagpost.posterior.sample import DagSample


def condition_of(statements: Sequence[Any], names: Sequence[str], exogenous: Sequence[str] = ()) -> Feature:
    """One statement that says what all of these say; refused where one of them has a condition of its own."""
    features = [stated_feature(statement, names, exogenous) for statement in statements]
    return features[0] if len(features) == 1 else And(tuple(features))


def stated_feature(statement: Any, names: Sequence[str], exogenous: Sequence[str] = ()) -> Feature:
    """What a statement says that is taken for true; refused where it has a condition of its own."""
    query = resolve(statement, names, None, tuple(exogenous))
    if query.given is not None:
        raise InputError(f"The condition {str(statement)!r} has a condition of its own. Join both with &.")
    return query.feature


def sample_under(sample: DagSample, statements: Sequence[Any]) -> DagSample:
    """The graphs of a sample in which all statements hold; its provenance says so, and how probable that is."""
    feature = condition_of(statements, sample.names, sample.exogenous)
    (probability,) = sample.probability([feature])
    before = tuple(sample.provenance.get(GIVEN_STATEMENTS, ()))
    said = provenance_of((*before, *map(str, statements)), probability, sample.provenance.get(GIVEN_SETTING, {}))
    if before:
        # Of all conditions together only the product of two estimates is known.
        said[GIVEN_PROBABILITY] = None
    said[GIVEN_FROM] = sample.provenance.get(GIVEN_FROM, [len(sample), len(before)])
    return replace(graphs_under(sample, feature), provenance={**sample.provenance, **said})


def graphs_under(sample: DagSample, feature: Feature) -> DagSample:
    """The graphs of a sample in which a statement holds, with their weights scaled to sum to 1."""
    held = evaluate([feature], sample.parents, sample.names)[0]
    rows = np.flatnonzero(held & (sample.weights > 0.0))
    if not len(rows):
        raise NoGraphError(
            f"In none of the {len(sample):,} graphs of the sample does {printable(str(feature))} hold, so that nothing "
            "can be said given that. Draw more graphs, take a weaker condition, or ask the model itself."
        )
    # The evidence of what is left is that of the data times the probability of the condition, which is an estimate.
    left = replace(sample[rows], log_evidence=math.nan)
    equal = sample.independent and sample.estimator == "counting"
    return replace(left, estimator="counting") if equal else left


def asked_under(sample: DagSample, statements: Sequence[Any], feature: Feature, confidence: float) -> list[Estimate]:
    """Answers among the graphs of a sample in which a statement holds, with their intervals."""
    asked = []
    for statement in statements:
        query = resolve(statement, sample.names, None, sample.exogenous)
        asked.append(Query(query.feature, feature if query.given is None else query.given & feature))
    return sample.probability(asked, confidence=confidence)
