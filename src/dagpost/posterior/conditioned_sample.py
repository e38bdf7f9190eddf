"""A sample of graphs under a condition: those of its graphs in which statements hold.

The weights of the graphs that are left are scaled to sum to 1. Independent draws of equal weight stay what they are, a
sample of the posterior under the condition. Of other samples the graphs that are left have no interval of their own:
ask the whole sample with `given`, which `asked_under` does.

Which samples may be joined, and where the joined one comes from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.text import printable, shown
from dagpost.errors import InputError, NoGraphError
from dagpost.features import And, Feature, Query, evaluate, resolve
from dagpost.posterior.condition_words import (
    GIVEN_FROM,
    GIVEN_PROBABILITY,
    GIVEN_SETTING,
    GIVEN_STATEMENTS,
    provenance_of,
)
from dagpost.posterior.shares import GIVEN

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


def joined_provenance(one: DagSample, other: DagSample) -> dict[str, Any]:
    """The provenance of both samples together; refused where they are not of the same posterior, or may repeat."""
    kinds = [(s.names, s.target, s.method, s.estimator) for s in (one, other)]
    if kinds[0] != kinds[1] or one.estimator == GIVEN:
        raise InputError(f"Only samples of the same kind can be joined. Got {shown(one)} and {other!r}.")
    if one.provenance.get("data_fingerprint") != other.provenance.get("data_fingerprint"):
        raise InputError("These samples come from different data; they cannot be joined.")
    # How probable a condition is may be an estimate, or computed elsewhere: what it is decides.
    beside = {"engine", "seed", "seeds", "targets", GIVEN_PROBABILITY}
    for key in sorted((one.provenance.keys() | other.provenance.keys()) - beside):
        values = [s.provenance.get(key) for s in (one, other)]
        if values[0] != values[1]:
            raise InputError(
                f"These samples are of different posteriors: {key} is {values[0]!r} in one and {values[1]!r} in "
                "the other. They cannot be joined."
            )
    twice = [seed for seed in _seeds(one) if seed is not None and seed in _seeds(other)]
    if twice:
        raise InputError(f"Both samples were drawn with seed {twice[0]}: the second would repeat the first.")
    provenance = {**one.provenance, "seed": None, "seeds": [*_seeds(one), *_seeds(other)]}
    engines = {s.provenance["engine"] for s in (one, other) if "engine" in s.provenance}
    if len(engines) > 1:
        provenance["engine"] = " and ".join(sorted(engines))
    return provenance


def _seeds(sample: DagSample) -> list[Any]:
    return list(sample.provenance.get("seeds", [sample.provenance.get("seed")]))
