"""A share of a sample with its interval: by the rule that fits how its graphs were found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import one_of
from dagpost._tools.spelling import setting
from dagpost.errors import InputError
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.averaged_estimate import chain_estimate
from dagpost.posterior.estimate import Estimate, hoeffding_estimate
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
