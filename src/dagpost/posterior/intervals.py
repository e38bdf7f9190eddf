"""How far a weighted share may be from the probability that it estimates.

"counting": Clopper & Pearson (1934). "linear-extensions": that of Clopper & Pearson for as many draws as have the
variance of the weighted share (the delta method), at most the effective number (Korn & Graubard 1998); so a share of 0
or 1 keeps a width. Where weights differ much, most of the mass is in few draws, and in those that are still to come: a
sample without them looks better than it is, in its variance too. So two more draws count, as heavy as the heaviest,
less a mean weight: without the statement for the lower end, with it for the upper one. This matters where effective
draws are few, and not at all where all weigh the same. "distinct": a statement has the probability

    (mass of the drawn graphs with it + T u) / (mass of the drawn graphs + T)

where `T` is the mass of the graphs that were not drawn and `u` the share of those with the statement. A drawn graph
stands for the mass `p (1 - pi) / pi` among them, which gives `u` and its interval by the rule of Korn & Graubard. If
every graph with (without) the statement may have been drawn already, as it is with a probability of `prod pi` over
those that were, `u` may be 0 (1). `T` is `1 - Delta` where the evidence is known; else it is the sum of what the
drawn graphs stand for, within Garwood's (1936) interval for as many counts as have its variance. With the evidence
known the interval never leaves the certain one, and it shrinks to a point as `Delta` tends to 1. The inclusions of
graphs are taken as independent; those of draws with replacement are negatively correlated, so that the variance errs
on the wide side.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost.errors import InputError
from dagpost.posterior.estimate import Estimate, check_confidence, clopper_pearson, counted_estimate
from dagpost.posterior.weights import WeightedSample

_NEVER = "the condition never occurred"
# Fewer effective draws than this say nothing.
_NOTHING = 1e-6
# So many draws as heavy as the heaviest may have been missed. Among as many draws again one would be expected to weigh
# more; two keep the promise for statements that go with the weights in wider tables too (benchmarks/coverage.py).
_UNSEEN = 2.0

#: Draws: the sum of their weights, and its variance.
Part = tuple[float, float]


def weighted_estimate(
    sample: WeightedSample,
    hit: Flags,
    given: Flags | None = None,
    *,
    confidence: float = 0.95,
    modularity: str = "structure",
) -> Estimate:
    """The probability of a statement that holds in the rows of `hit`, among those of `given` if that is there.

    >>> from dagpost.posterior.weights import weigh
    >>> graphs = np.array([[0, 0], [0, 1], [0, 0]], dtype=np.uint8)
    >>> sample = weigh("iw", graphs, log_joint=np.log([0.2, 0.7, 0.2]), log_evidence=0.0)
    >>> weighted_estimate(sample, graphs[:, 1] == 1)
    0.7778 [0.7000, 0.8000] (covered mass, 100%, 3 graphs; each graph counted once)
    """
    check_confidence(confidence)
    draws = len(sample.weights)
    condition = np.ones(draws, dtype=np.bool_) if given is None else given
    if hit.shape != (draws,) or condition.shape != (draws,):
        raise InputError(
            f"There are {draws} graphs, and answers of shape {hit.shape} under conditions of shape {condition.shape}. "
            "Give one for each graph."
        )
    looked_at = int(condition.sum())
    if sample.estimator == "counting":
        return counted_estimate(int((hit & condition).sum()), looked_at, confidence, modularity)
    total = float(sample.weights[condition].sum())
    if total == 0.0:
        return Estimate(math.nan, 0.0, 1.0, confidence, _NEVER, looked_at, 0.0, modularity)
    value = float(sample.weights[hit & condition].sum()) / total
    effective = sample.effective_samples if given is None else _effective_within(sample, condition)
    if sample.estimator == "distinct":
        lower, upper = _interval_beyond(sample, hit, condition, certain_condition=given is None, confidence=confidence)
        # A share of drawn graphs may contradict what their masses prove.
        certain = _certain_interval(sample, hit, condition)
        value = min(max(value, certain[0]), certain[1])
    elif sample.estimator == "iw":
        lower, upper = _certain_interval(sample, hit, condition)
        confidence = 1.0
    else:
        weights = sample.weights[condition]
        lower, upper = _korn_graubard(weights, weights**2, hit[condition], confidence)
    return Estimate(
        value, min(lower, value), max(upper, value), confidence, sample.rule, looked_at, effective, modularity
    )


def _effective_within(sample: WeightedSample, condition: Flags) -> float:
    """The effective samples of the draws that meet a condition; a part is not worth more than the whole."""
    if sample.estimator != "distinct":
        weights = sample.weights[condition]
        return float(weights.sum() ** 2 / (weights**2).sum())
    chosen = condition[sample.rows]
    stands_for = sample.stands_for[chosen]
    variance = float((sample.missed[chosen] * stands_for**2).sum())
    within = float(stands_for.sum()) ** 2 / variance if variance > 0.0 else math.inf
    return min(within, sample.effective_samples)


def _korn_graubard(weights: Floats, variances: Floats, hit: Flags, confidence: float) -> tuple[float, float]:
    """Interval of a weighted share: Clopper & Pearson's for as many draws as have its variance, and the unseen ones.

    These lack the statement for the lower end and have it for the upper one.
    """
    if float(variances.sum()) <= 0.0:
        return 0.0, 1.0
    having = float(weights[hit].sum()), float(variances[hit].sum())
    lacking = float(weights[~hit].sum()), float(variances[~hit].sum())
    heaviest = int(weights.argmax())
    # Nothing where all weigh the same: one that was not seen would then be like the others.
    excess = max(1.0 - float(weights.mean()) / float(weights[heaviest]), 0.0)
    unseen = _UNSEEN * float(weights[heaviest]) * excess, _UNSEEN * float(variances[heaviest]) * excess**2
    seen = _of_same_variance(having, lacking, confidence)
    lower, _ = _of_same_variance(having, _sum(lacking, unseen), confidence)
    _, upper = _of_same_variance(_sum(having, unseen), lacking, confidence)
    # A few light draws beside a heavy one may look more exact together than it does alone.
    return min(lower, seen[0]), max(upper, seen[1])


def _sum(one: Part, other: Part) -> Part:
    return one[0] + other[0], one[1] + other[1]


def _of_same_variance(having: Part, lacking: Part, confidence: float) -> tuple[float, float]:
    """Clopper & Pearson's interval for as many draws as have the variance of a share, at most the effective number."""
    total, spread = _sum(having, lacking)
    # Not total^2 / spread: both may be near the smallest doubles.
    draws = total * (total / spread)
    value = having[0] / total
    deviation = having[1] * (1.0 - value) ** 2 + lacking[1] * value**2
    if deviation > 0.0:
        draws = min(draws, value * (1.0 - value) * total * (total / deviation))
    return clopper_pearson(value * draws, draws, confidence) if draws >= _NOTHING else (0.0, 1.0)


def _parts(sample: WeightedSample, hit: Flags, condition: Flags) -> tuple[float, float]:
    """Mass of the drawn graphs with statement and condition, and of those with the condition."""
    chosen = condition[sample.rows]
    return float(sample.masses[chosen & hit[sample.rows]].sum()), float(sample.masses[chosen].sum())


def _certain_interval(sample: WeightedSample, hit: Flags, condition: Flags) -> tuple[float, float]:
    """What the probability must lie between, whatever the graphs that were not drawn are like."""
    if math.isnan(sample.covered):
        return 0.0, 1.0
    with_both, with_condition = _parts(sample, hit, condition)
    left = 1.0 - sample.covered
    return with_both / (with_condition + left), min((with_both + left) / (with_condition + left), 1.0)


def _interval_beyond(
    sample: WeightedSample, hit: Flags, condition: Flags, *, certain_condition: bool, confidence: float
) -> tuple[float, float]:
    """The masses of the drawn graphs as they are, with an interval for what the others add.

    Unless the mass of the others is known there are two unknowns, that mass and the share in it. The share, which
    matters more, takes four fifths of the risk; the result is the widest that the two intervals allow.
    """
    known = certain_condition and not math.isnan(sample.covered)
    risk = 1.0 - confidence
    lowest, highest = _share_beyond(sample, hit, condition, confidence if known else 1.0 - 0.8 * risk)
    left = (1.0 - sample.covered,) * 2 if known else _mass_beyond(sample, condition, 1.0 - 0.2 * risk)
    with_both, with_condition = _parts(sample, hit, condition)
    lower = min((with_both + mass * lowest) / (with_condition + mass) for mass in left)
    upper = max((with_both + mass * highest) / (with_condition + mass) for mass in left)
    return lower, min(upper, 1.0)


def _share_beyond(sample: WeightedSample, hit: Flags, condition: Flags, confidence: float) -> tuple[float, float]:
    """Interval of the share of a statement among the graphs that meet the condition and were not drawn."""
    chosen = condition[sample.rows]
    here = hit[sample.rows][chosen]
    missed, stands_for = sample.missed[chosen], sample.stands_for[chosen]
    lower, upper = _korn_graubard(missed * stands_for, missed * stands_for**2, here, confidence)
    tail = (1.0 - confidence) / 2.0
    return 0.0 if _may_be_all(missed[here], tail) else lower, 1.0 if _may_be_all(missed[~here], tail) else upper


def _may_be_all(missed: Floats, tail: float) -> bool:
    """Whether there may be no graphs but these: all of them would then be drawn with more than a negligible chance."""
    return float(np.prod(1.0 - missed)) > tail


def _mass_beyond(sample: WeightedSample, condition: Flags, confidence: float) -> tuple[float, float]:
    """Interval of the mass of the graphs that meet the condition and were not drawn: Garwood's, for as many counts."""
    from scipy.special import gammaincinv

    chosen = condition[sample.rows]
    missed, stands_for = sample.missed[chosen], sample.stands_for[chosen]
    total, spread = float((missed * stands_for).sum()), float((missed * stands_for**2).sum())
    counts = total * (total / spread) if spread > 0.0 else 0.0
    if counts < _NOTHING:
        return 0.0, sample.most_left
    tail = (1.0 - confidence) / 2.0
    lower = total * float(gammaincinv(counts, tail)) / counts
    upper = total * float(gammaincinv(counts + 1.0, 1.0 - tail)) / counts
    return 0.0 if _may_be_all(missed, tail) else min(lower, sample.most_left), min(upper, sample.most_left)
