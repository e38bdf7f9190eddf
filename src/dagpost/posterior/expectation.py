"""The expected value of a number that belongs to each graph, such as its number of edges, and how far to trust it.

The value is the mean under the weights of a sample, whichever way its graphs were found; what differs is its standard
error. With weights `w` that sum to 1, values `x` and the mean `m` it is the root of

- `sum w^2 (x - m)^2` for draws, weighted or not (the delta method; for equal weights the usual `s^2 / N`);
- `sum (1 - pi) w^2 (x - m)^2` over distinct graphs that are drawn with a known probability `pi` (Hájek 1971): it
  vanishes as they come to be all graphs;
- the variance over the effective number of draws for chains, from the autocorrelation of `x` itself and the distances
  between the chains.

Under a condition, graphs that do not meet it have the weight 0 (and, in a chain, the residual 0). The interval is the
value plus and minus as many standard errors as Student's distribution says for the number of effective draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost.mcmc.diagnostics import by_chain
from dagpost.mcmc.number_series import averages_of
from dagpost.posterior.estimate import Estimated
from dagpost.posterior.shares import GIVEN, weigh_sample
from dagpost.posterior.weights import ESTIMATES_MEANS, WeightedSample

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample


@dataclass(frozen=True, repr=False, eq=False)
class Expectation(Estimated):
    """The expected value of a number under a posterior over graphs: a float with a standard error and an interval.

    `rule` says where the standard error comes from:

    - "independent draws", "weighted draws", "distinct graphs", "chains": how the graphs were found. That of chains
      means nothing where they have not found the whole posterior.
    - "every graph agrees": all graphs that were looked at have the same number; rarer ones may differ.
    - "graphs listed", "weights as given": there is no interval, since nothing is known of the other graphs.
    - "the condition never occurred": nothing is known.
    """

    standard_error: float


def expected(sample: DagSample, values: Floats, condition: Flags | None, confidence: float) -> Expectation:
    """The mean of `values`, one for each graph of a sample, among those that meet a condition."""
    given = np.ones(len(values), dtype=np.bool_) if condition is None else condition
    weighed = _weighed(sample)
    weights = (sample.weights if weighed is None else weighed.weights) * given
    total, looked_at = float(weights.sum()), int(given.sum())
    if total == 0.0:
        return _made(sample, math.nan, math.nan, 0.0, confidence, "the condition never occurred", looked_at)
    weights /= total
    mean = float(weights @ values)
    residuals = np.where(given, values - mean, 0.0)
    effective = 1.0 / float((weights**2).sum())
    if weighed is None and not sample.from_chains:
        rule = "weights as given" if sample.estimator == GIVEN else "graphs listed"
        return _made(sample, mean, math.nan, effective, confidence, rule, looked_at)
    if looked_at > 1 and values[given].min() == values[given].max():
        mean = float(values[given][0])
        return _made(sample, mean, 0.0, effective, confidence, "every graph agrees", looked_at)
    if weighed is None:
        rule = "chains"
        error, effective = _error_of_chains(sample, residuals, float(given.mean()))
    elif weighed.estimator == "distinct":
        rule = "distinct graphs"
        error, effective = _error_of_distinct(weighed, residuals, given)
    else:
        rule = f"{'independent' if sample.independent else 'weighted'} draws"
        error = math.sqrt(float((weights**2 * residuals**2).sum()) * looked_at / max(looked_at - 1, 1))
    return _made(sample, mean, error, effective, confidence, rule, looked_at)


def _weighed(sample: DagSample) -> WeightedSample | None:
    """Weights whose means estimate means over all graphs; None for chains, and where there are none."""
    if sample.from_chains or sample.estimator == GIVEN:
        return None
    if sample.estimator in ESTIMATES_MEANS:
        return sample.own_weights
    if np.isnan(sample.log_proposal).any():
        return None
    return weigh_sample(sample, "distinct", sample.log_evidence)


def _error_of_chains(sample: DagSample, residuals: Floats, share: float) -> tuple[float, float]:
    """The standard error of a mean over chains, and how many independent draws it is worth.

    A mean under a condition is a ratio of two means; its error is that of the residuals over the share of the condition
    (the delta method).
    """
    series = by_chain(residuals, sample.chain_lengths)
    size = float(averages_of(series[:, :, None]).effective[0])
    if math.isnan(size):
        return math.nan, 0.0
    return math.sqrt(float(series.var()) / size) / share, min(size, float(len(residuals))) * share


def _error_of_distinct(weighed: WeightedSample, residuals: Floats, given: Flags) -> tuple[float, float]:
    chosen = given[weighed.rows]
    stands_for, missed = weighed.stands_for[chosen], weighed.missed[chosen]
    total = float(stands_for.sum())
    error = math.sqrt(float((missed * (stands_for * residuals[weighed.rows][chosen]) ** 2).sum())) / total
    spread = float((missed * stands_for**2).sum())
    return error, total**2 / spread if spread > 0.0 else math.inf


def _made(
    sample: DagSample, mean: float, error: float, effective: float, confidence: float, rule: str, looked_at: int
) -> Expectation:
    if looked_at < 2:
        # One graph does not show how much graphs differ.
        error = math.nan
    half = _half_width(error, effective, confidence)
    return Expectation(
        mean,
        mean - half if math.isfinite(half) else -math.inf,
        mean + half if math.isfinite(half) else math.inf,
        confidence,
        rule,
        looked_at,
        effective,
        sample.target,
        error,
    )


def _half_width(error: float, effective: float, confidence: float) -> float:
    """Half the interval; without end where there is no standard error, or not two draws to get one from."""
    from scipy.special import ndtri, stdtrit

    if error == 0.0:
        return 0.0
    if math.isnan(error) or effective <= 1.0:
        return math.inf
    tail = 0.5 + 0.5 * confidence
    return error * float(ndtri(tail) if math.isinf(effective) else stdtrit(effective - 1.0, tail))
