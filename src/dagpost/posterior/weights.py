"""What each drawn graph contributes to an estimate under the structure-modular posterior, and how far to trust it.

Four ways to weigh `N` independent draws. `p(G)` is the posterior of a graph with each graph counted once, `q(G)` the
probability that one draw is `G`, `pi(G) = 1 - (1 - q(G))^N` the chance that it is drawn at all:

- "counting": every draw the same. For draws from the posterior itself (`q = p`).
- "iw": each distinct graph by `p(G)` (IW-DDS of He, Tian & Wu 2016). If the evidence is known, so is the mass `Delta`
  that the drawn graphs cover, and what the others could change is bounded: the interval is certain.
- "linear-extensions": each draw by `1 / (number of orders the graph fits)`, for draws from the order-modular
  posterior. Needs no evidence. Not normalised (both evidences known): over its known mean, unbiased, able to exceed
  1.
- "distinct": each distinct graph by `p(G) / pi(G)`, over the sum of these (Hájek 1971). Needs `q`, and `p` up to a
  factor. Not normalised (evidence known): Horvitz & Thompson (1952), unbiased, able to exceed 1.

Effective samples: as many plain draws would give frequencies as exact, for a statement that has nothing to do with
the weights. That is `(sum w)^2 / sum w^2` over the draws (Kish 1965), repeats sharing the weight of their graph. For
"distinct" it is `(sum p/pi)^2 / sum (1 - pi) (p/pi)^2` over the distinct graphs, which tends to Kish's when every
graph is rare and grows without end as the draws come to cover everything; but at most `N Q / P^2`, where `P` and `Q`
are what the graphs that were not drawn have of `p` and of `q`: with their expectations, `P^2 / (N Q)` bounds the
variance from below (Cauchy and Schwarz).

Intervals. "counting": Clopper & Pearson (1934). "linear-extensions": that of Clopper & Pearson for as many draws as
have the variance of the weighted share (the delta method), at most the effective number (Korn & Graubard 1998); so a
share of 0 or 1 keeps a width. "distinct": a statement has the probability

    (mass of the drawn graphs with it + T u) / (mass of the drawn graphs + T)

where `T` is the mass of the graphs that were not drawn and `u` the share of those with the statement. A drawn graph
stands for the mass `p (1 - pi) / pi` among them, which gives `u` and its interval by the rule of Korn & Graubard. If
every graph with (without) the statement may have been drawn already, as it is with a probability of `prod pi` over
those that were, `u` may be 0 (1). `T` is `1 - Delta` where the evidence is known; else it is the sum of what the
drawn graphs stand for, within Garwood's (1936) interval for as many counts as have its variance. With the evidence
known the interval never leaves the certain one, and it shrinks to a point as `Delta` tends to 1. The inclusions of
graphs are taken as independent; those of draws with replacement are negatively correlated, so that the variance errs
on the wide side. A value that is not normalised has the interval of the normalised one, widened to hold it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.posterior.estimate import Estimate, check_confidence, clopper_pearson, counted_estimate

Flags = NDArray[np.bool_]

ESTIMATORS = ("counting", "iw", "linear-extensions", "distinct")

_NEVER = "the condition never occurred"
# Log of a probability so small that 1 - (1 - q)^N is N q to the last digit, for any N that one draws.
_RARE = -80.0
# Fewer effective draws than this say nothing.
_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class WeightedSample:
    """Weights for the draws of a sample, repeats sharing the weight of their graph.

    They sum to 1 unless `normalised` is False. `covered` is the posterior mass of all drawn graphs together (nan if
    the evidence is not known), `rule` what an interval rests on. The rest is for "iw" and "distinct": `rows` says
    where each distinct graph stands first; `masses`, `stands_for` and `missed` are its `p`, `p / pi` and `1 - pi`;
    `most_left` is the most that the graphs that were not drawn may have of the mass. Masses are up to a common factor
    if the evidence is not known.
    """

    estimator: str
    weights: Floats
    effective_samples: float
    covered: float
    rule: str
    normalised: bool
    rows: Integers
    masses: Floats
    stands_for: Floats
    missed: Floats
    most_left: float


def weigh(
    estimator: str,
    parents: NDArray[Any],
    *,
    log_joint: Floats | None = None,
    log_proposal: Floats | None = None,
    log_extensions: Floats | None = None,
    log_evidence: float = math.nan,
    log_order_evidence: float = math.nan,
    normalised: bool = True,
) -> WeightedSample:
    """Weights of independent draws.

    Parameters
    ----------
    estimator
        "counting", "iw", "linear-extensions" or "distinct".
    parents
        One graph a row, one mask a node.
    log_joint, log_proposal, log_extensions
        For each row log p(graph, data), the log probability that one draw is this graph, and the log of the number of
        orders it fits: "iw" needs the first, "linear-extensions" the last, "distinct" the first two.
    log_evidence, log_order_evidence
        Log of the sum of p(graph, data) over all graphs, and over all pairs of an order and a graph, where known.
    normalised
        False: the unbiased forms of "distinct" and "linear-extensions", which need the evidence, or both.

    >>> graphs = np.array([[0, 0], [0, 1], [0, 0]], dtype=np.uint8)
    >>> weigh("linear-extensions", graphs, log_extensions=np.log([2.0, 1.0, 2.0])).weights
    array([0.25, 0.5 , 0.25])
    >>> half_and_half = np.log([0.5, 0.5, 0.5])
    >>> weigh("distinct", graphs, log_joint=half_and_half, log_proposal=half_and_half, log_evidence=0.0).covered
    1.0
    """
    draws = len(parents)
    if draws == 0:
        raise InputError("There is no graph to weigh. Draw at least one.")
    if estimator == "counting":
        return _sample(estimator, np.full(draws, 1.0 / draws), "Clopper-Pearson")
    if estimator == "linear-extensions":
        logs = _needed(estimator, "log_extensions", log_extensions, draws)
        return _by_extensions(logs, 0.0 if normalised else log_order_evidence - log_evidence, normalised)
    if estimator not in ESTIMATORS:
        raise InputError(f"The estimator must be one of {', '.join(map(repr, ESTIMATORS))}. Got {estimator!r} instead.")
    rows, member = distinct_rows(parents)
    joint = _needed(estimator, "log_joint", log_joint, draws)[rows]
    if estimator == "iw":
        return _by_mass(rows, member, joint, log_evidence)
    proposal = _needed(estimator, "log_proposal", log_proposal, draws)[rows]
    return _by_inclusion(rows, member, joint, proposal, log_evidence, normalised)


def weighted_estimate(
    sample: WeightedSample,
    hit: Flags,
    given: Flags | None = None,
    *,
    confidence: float = 0.95,
    modularity: str = "structure",
) -> Estimate:
    """The probability of a statement that holds in the rows of `hit`, among those of `given` if that is there.

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
    value = float(sample.weights[hit & condition].sum())
    if sample.normalised or given is not None:
        value /= total
    effective = sample.effective_samples if given is None else _effective_within(sample, condition)
    if sample.estimator == "distinct":
        lower, upper = _interval_beyond(sample, hit, condition, certain_condition=given is None, confidence=confidence)
        if sample.normalised:
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


def evidence_ratio(log_extensions: Floats) -> tuple[float, float]:
    """Log of the structure-modular over the order-modular evidence, and the standard error of the ratio relative to it.

    For draws from the order-modular posterior, whose mean of `1 / (number of orders)` is that ratio.

    >>> ratio, error = evidence_ratio(np.log([2.0, 1.0, 2.0, 1.0]))
    >>> round(math.exp(ratio), 9), round(error, 9)
    (0.75, 0.19245009)
    """
    smallest = float(log_extensions.min())
    weights = np.exp(smallest - log_extensions)
    mean = float(weights.mean())
    spread = float(weights.std(ddof=1)) if len(weights) > 1 else math.inf
    return math.log(mean) - smallest, spread / mean / math.sqrt(len(weights))


def _needed(estimator: str, name: str, values: Floats | None, draws: int) -> Floats:
    if values is None or np.shape(values) != (draws,) or bool(np.isnan(values).any()):
        came = "nothing" if values is None else f"an array of shape {np.shape(values)}"
        if values is not None and np.shape(values) == (draws,):
            came = f"nan for {int(np.isnan(values).sum())} of them"
        raise InputError(
            f"The estimator {estimator!r} needs the {name} of all {draws} graphs. Got {came}. "
            "Use estimator='counting', or a method that knows them."
        )
    return values


def _sample(
    estimator: str,
    weights: Floats,
    rule: str,
    *,
    effective: float | None = None,
    covered: float = math.nan,
    normalised: bool = True,
    rows: Integers | None = None,
    masses: Floats | None = None,
    stands_for: Floats | None = None,
    missed: Floats | None = None,
    most_left: float = math.nan,
) -> WeightedSample:
    nothing = np.empty(0)
    return WeightedSample(
        estimator,
        weights,
        float(weights.sum() ** 2 / (weights**2).sum()) if effective is None else effective,
        covered,
        rule,
        normalised,
        np.empty(0, dtype=np.int64) if rows is None else rows,
        nothing if masses is None else masses,
        nothing if stands_for is None else stands_for,
        nothing if missed is None else missed,
        most_left,
    )


def _by_mass(rows: Integers, member: Integers, log_joint: Floats, log_evidence: float) -> WeightedSample:
    masses, covered = _masses(log_joint, log_evidence)
    rule = "covered mass unknown" if math.isnan(covered) else "covered mass"
    shares = np.exp(log_joint - log_joint.max())
    return _sample("iw", _shared(shares / shares.sum(), member), rule, covered=covered, rows=rows, masses=masses)


def _by_extensions(log_extensions: Floats, log_ratio: float, normalised: bool) -> WeightedSample:
    if math.isnan(log_ratio):
        raise InputError(
            "Weights by linear extensions that are not normalised need both evidences, log_evidence and "
            "log_order_evidence. Give them, or leave normalised=True."
        )
    if normalised:
        weights = np.exp(log_extensions.min() - log_extensions)
        weights /= weights.sum()
    else:
        weights = np.exp(log_ratio - log_extensions) / len(log_extensions)
    return _sample("linear-extensions", weights, "Korn-Graubard", normalised=normalised)


def _by_inclusion(
    rows: Integers, member: Integers, log_joint: Floats, log_proposal: Floats, log_evidence: float, normalised: bool
) -> WeightedSample:
    known = not math.isnan(log_evidence)
    if not normalised and not known:
        raise InputError("Horvitz-Thompson weights need the log_evidence. Give it, or leave normalised=True.")
    draws = len(member)
    log_inclusions, missed = _inclusions(log_proposal, draws)
    logs = log_joint - log_inclusions
    scale = log_evidence if known else float(logs.max())
    stands_for = np.exp(logs - scale)
    masses = np.exp(log_joint - scale)
    covered = min(float(masses.sum()), 1.0)
    proposal_left = max(1.0 - float(np.exp(log_proposal).sum()), 0.0)
    left = most_left = 1.0 - covered
    if not known:
        # The ratio of mass to chance among the drawn graphs serves for the others: its mean, and the largest at most.
        ratios = log_joint - log_proposal - scale
        mean = np.logaddexp.reduce(log_joint) - np.logaddexp.reduce(log_proposal) - scale
        left, most_left = proposal_left * math.exp(mean), proposal_left * math.exp(ratios.max())
    least_variance = left**2 / (draws * proposal_left) if proposal_left > 0.0 else 0.0
    variance = max(float((missed * stands_for**2).sum()), least_variance)
    total = float(stands_for.sum())
    # Shares do not depend on the evidence, not even in their last digits.
    shares = np.exp(logs - float(logs.max()))
    return _sample(
        "distinct",
        _shared(shares / shares.sum() if normalised else stands_for, member),
        "Korn-Graubard beyond the drawn graphs",
        effective=total**2 / variance if variance > 0.0 else math.inf,
        covered=covered if known else math.nan,
        normalised=normalised,
        rows=rows,
        masses=masses,
        stands_for=stands_for,
        missed=missed,
        most_left=most_left,
    )


def _masses(log_joint: Floats, log_evidence: float) -> tuple[Floats, float]:
    """The posterior probability of each graph and their sum; up to a factor, and nan, if the evidence is not known."""
    if math.isnan(log_evidence):
        return np.exp(log_joint - log_joint.max()), math.nan
    masses = np.exp(log_joint - log_evidence)
    # Rounding may bring the sum of all graphs a little above 1.
    return masses, min(float(masses.sum()), 1.0)


def _inclusions(log_proposal: Floats, draws: int) -> tuple[Floats, Floats]:
    """Log of the chance that each graph is among the draws, and the chance that it is not."""
    logs = np.minimum(log_proposal, 0.0)
    with np.errstate(divide="ignore"):
        log_missed = draws * np.log1p(-np.exp(logs))
        log_inclusions = np.where(logs < _RARE, logs + math.log(draws), np.log(-np.expm1(log_missed)))
    return log_inclusions, np.exp(log_missed)


def _shared(weights: Floats, member: Integers) -> Floats:
    """The weight of each distinct graph, parted among its repeats."""
    shared: Floats = (weights / np.bincount(member, minlength=len(weights)))[member]
    return shared


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
    """Interval of a weighted share: Clopper & Pearson's for as many draws as have its variance."""
    total = float(weights.sum())
    spread = float(variances.sum())
    # Not total^2 / spread: both may be near the smallest doubles.
    draws = total * (total / spread) if spread > 0.0 else 0.0
    if draws < _NOTHING:
        return 0.0, 1.0
    value = float(weights[hit].sum()) / total
    deviation = float((variances * (hit - value) ** 2).sum())
    if deviation > 0.0:
        draws = min(draws, value * (1.0 - value) * total * (total / deviation))
    return clopper_pearson(value * draws, draws, confidence)


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
