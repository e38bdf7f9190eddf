"""A share of a sample with its interval: by the rule that fits how its graphs were found.

Statements that no graph can satisfy because the model behind a score does not have all edges.

Columns of numbers never lead to columns of levels in the conditional Gaussian model (Lauritzen 1992). A probability of
0 is then a statement of the model, not a finding, and is said to be that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import one_of
from dagpost._tools.spelling import setting
from dagpost.errors import InputError
from dagpost.features import Query, evaluate
from dagpost.features.feature import And, Feature
from dagpost.features.statements.edge import Edge
from dagpost.features.statements.path import Path
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.estimate import RULED_OUT, Estimate, chain_estimate, hoeffding_estimate
from dagpost.posterior.intervals import weighted_estimate
from dagpost.posterior.weights import ESTIMATORS, Kept, WeightedSample, weigh

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample


#: Rows picked by hand, or distinct graphs: their weights are all there is.
GIVEN = "given weights"


def check_estimator(estimator: object) -> None:
    """Refuse what is not the name of an estimator; a sample has one of its own where it says "auto"."""
    one_of(estimator, "estimator", ("auto", *ESTIMATORS))


def weigh_sample(sample: DagSample, estimator: str, log_evidence: float) -> WeightedSample:
    """The weights of a sample by one of the estimators; those that sum to 1 do not depend on the evidence."""
    check_estimator(estimator)
    if sample.estimator == GIVEN and estimator != "iw":
        raise InputError(
            "These graphs were picked from a sample, so they cannot be weighed as one. Use estimator='auto', or "
            "the sample they come from."
        )
    if sample.target != STRUCTURE and estimator != "counting":
        raise InputError(
            f"The estimator {estimator!r} is for the posterior in which every graph counts once; here it is "
            f"{sample.target.words}. Use estimator='counting', or a model with {setting('modularity', 'structure')}."
        )
    if estimator == "counting" and sample.draws in ("weighted", "listed"):
        raise InputError(
            f"The graphs of {sample.method!r} are not draws from this posterior: counting them would be biased. "
            "Use estimator='auto'."
        )
    return weigh(
        estimator,
        sample.parents,
        log_joint=sample.log_joint,
        log_proposal=sample.log_proposal,
        log_extensions=sample.log_extensions,
        log_evidence=log_evidence,
        kept=Kept(**sample.provenance["kept"]) if "kept" in sample.provenance else None,
    )


def estimate_share(
    sample: DagSample, hit: NDArray[np.bool_], condition: NDArray[np.bool_] | None, estimator: str, confidence: float
) -> Estimate:
    """The share of the graphs in which a statement holds, among those that meet a condition, with its interval."""
    if not isinstance(estimator, str) or estimator != sample.estimator:
        check_estimator(estimator)
    if sample.guarantee is not None and condition is None and estimator == "auto":
        return hoeffding_estimate(int(hit.sum()), len(hit), *sample.guarantee, sample.target)
    if sample.estimator == GIVEN and estimator == "auto":
        return _given_estimate(sample, hit, condition, confidence)
    if sample.from_chains and estimator in ("auto", "counting"):
        return chain_estimate(
            hit,
            condition,
            sample.chain_lengths,
            confidence,
            sample.target,
            usual_share=sample.diagnosed.smallest_effective / len(sample),
        )
    weighed = (
        sample.own_weights
        if estimator in ("auto", sample.estimator)
        else weigh_sample(sample, estimator, sample.log_evidence)
    )
    return weighted_estimate(weighed, hit, condition, confidence=confidence, modularity=sample.target)


def _given_estimate(
    sample: DagSample, hit: NDArray[np.bool_], condition: NDArray[np.bool_] | None, confidence: float
) -> Estimate:
    weights = sample.weights if condition is None else sample.weights * condition
    total = float(weights.sum())
    value = float(weights[hit].sum()) / total if total > 0.0 else math.nan
    effective = total**2 / float((weights**2).sum()) if total > 0.0 else 0.0
    return Estimate(value, 0.0, 1.0, confidence, "weights as given", len(sample), effective, sample.target)


def left_out_by_model(query: Query, sinks: Collection[str]) -> bool:
    """Whether a statement holds in no graph because columns (the `sinks` of a model) lead only to each other.

    >>> from dagpost.features import parse
    >>> names = ["bmi", "sex"]
    >>> [left_out_by_model(parse(text, names), {"bmi"}) for text in ("bmi -> sex", "bmi ~> sex", "sex -> bmi")]
    [True, True, False]
    """
    return bool(sinks) and query.given is None and _holds_nowhere(query.feature, sinks)


def _holds_nowhere(feature: Feature, sinks: Collection[str]) -> bool:
    if isinstance(feature, And):
        return any(_holds_nowhere(part, sinks) for part in feature.parts)
    if isinstance(feature, Edge):
        return feature.parent in sinks and feature.child not in sinks
    return isinstance(feature, Path) and feature.source in sinks and feature.target not in sinks


def ruled_out(modularity: str) -> Estimate:
    """The answer to such a statement."""
    return Estimate(0.0, 0.0, 0.0, 1.0, RULED_OUT, 0, float("inf"), modularity)


def answers_of_sample(sample: DagSample, queries: Sequence[Query], estimator: str, confidence: float) -> list[Estimate]:
    """How probable statements are among the graphs of a sample, where the model leaves them open."""

    def others(asked: Sequence[Query]) -> list[Estimate]:
        conditions = [query.given for query in asked if query.given is not None]
        held = evaluate([*(query.feature for query in asked), *conditions], sample.parents, sample.names)
        conditions_held = iter(held[len(asked) :])
        return [
            estimate_share(sample, hit, None if query.given is None else next(conditions_held), estimator, confidence)
            for query, hit in zip(asked, held, strict=False)
        ]

    return with_left_out(queries, sample.provenance.get("sinks", ()), sample.target, others)


def with_left_out(
    queries: Sequence[Query],
    sinks: Collection[str],
    modularity: str,
    others: Callable[[Sequence[Query]], list[Estimate]],
) -> list[Estimate]:
    """Answers in the order of the queries; `others` gives those that the model leaves open."""
    barred = [left_out_by_model(query, sinks) for query in queries]
    open_ones = [query for query, out in zip(queries, barred, strict=True) if not out]
    found = iter(others(open_ones) if open_ones else [])
    return [ruled_out(modularity) if out else next(found) for out in barred]
