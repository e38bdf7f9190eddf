"""An average over completed tables as an estimate: a probability, or a ratio of two, with an interval.

The interval is that of Student's t at the standard error of the mean, with as many degrees of freedom as the series is
worth: with a few dozen sweeps it is wide. A conditional probability is the ratio of the averages of `P(f, g)` and
`P(g)`, never an average of ratios: a table in which the condition is improbable counts for less. Its error is that of
the residuals `P(f, g) - ratio P(g)` (the delta method).

A share among the graphs of chains, with an interval for as many independent draws as they are worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost.mcmc.diagnostics import by_chain, effective_sizes
from dagpost.mcmc.edge_series import effective_sizes_of_edges
from dagpost.mcmc.number_series import averages_of
from dagpost.posterior.estimate import AVERAGED, Estimate, effective_estimate
from dagpost.scores import Score

#: What tables are called, unless a score has another name for them.
COMPLETED = Score.tables


def averaged_estimate(
    series: Floats, confidence: float, modularity: str, tables: int, called: str = COMPLETED
) -> Estimate:
    """The estimate from a probability given each of as many completed tables, as (chains, sweeps).

    >>> series = np.random.default_rng(1).beta(2.0, 2.0, size=(4, 250))
    >>> averaged_estimate(series, 0.95, "structure", 1000)
    0.5115 [0.4975, 0.5255] (averaged over 1,000 completed tables, 95%; each graph counted once)
    """
    found = averages_of(series[:, :, None])
    worth = float(np.nan_to_num(found.effective[0], nan=float(tables)))
    return _estimate(float(found.means[0]), float(found.errors[0]), worth, confidence, modularity, tables, called)


def summed_estimate(
    value: float,
    series: Floats,
    worth: float,
    confidence: float,
    modularity: str,
    tables: int,
    called: str = COMPLETED,
) -> Estimate:
    """The estimate where an average over all tables is known and `series` shows, for some, how much they differ.

    `worth`: how many independent tables all of them are worth.
    """
    spread = float(averages_of(series[:, :, None]).spreads[0])
    return _estimate(value, spread / math.sqrt(worth), worth, confidence, modularity, tables, called)


def ratio_estimate(
    both: Floats, condition: Floats, confidence: float, modularity: str, tables: int, called: str = COMPLETED
) -> Estimate:
    """The estimate of a conditional probability, from `P(f, g)` and `P(g)` given each completed table.

    >>> condition = np.random.default_rng(1).beta(2.0, 2.0, size=(4, 250))
    >>> ratio_estimate(0.25 * condition, condition, 0.95, "structure", 1000)
    0.2500 [0.2500, 0.2500] (averaged over 1,000 completed tables, 95%; each graph counted once)
    """
    weight = float(condition.mean())
    value = float(both.mean()) / weight
    found = averages_of(((both - value * condition) / weight)[:, :, None])
    # A condition that holds in a few tables only leaves no more than these.
    heavy = float(condition.sum() ** 2 / (condition**2).sum())
    worth = min(float(np.nan_to_num(found.effective[0], nan=heavy)), heavy)
    return _estimate(value, float(found.errors[0]), worth, confidence, modularity, tables, called)


def _estimate(
    value: float, error: float, worth: float, confidence: float, modularity: str, tables: int, called: str
) -> Estimate:
    from scipy.special import stdtrit

    clipped = min(max(value, 0.0), 1.0)
    reach = float(stdtrit(max(worth - 1.0, 1.0), 0.5 + confidence / 2.0)) * error
    rule = f"{AVERAGED} {tables:,} {called if tables != 1 else called.replace('tables', 'table')}"
    lower, upper = max(clipped - reach, 0.0), min(clipped + reach, 1.0)
    return Estimate(clipped, lower, upper, confidence, rule, tables, worth, modularity)


def chain_estimate(
    hit: NDArray[np.bool_],
    condition: NDArray[np.bool_] | None,
    lengths: Sequence[int],
    confidence: float,
    modularity: str,
    usual_share: float,
) -> Estimate:
    """The frequency of a statement among graphs of chains, with an interval for what they are worth.

    The worth is that of the statement itself (its own autocorrelation, and how far the chains are apart). A statement
    that always or never holds has none: then the chains are taken to be worth `usual_share` of their graphs.
    """
    given = np.ones(len(hit), dtype=bool) if condition is None else condition
    draws = int(given.sum())
    if draws == 0:
        return Estimate(math.nan, 0.0, 1.0, confidence, "the condition never occurred", 0, 0.0, modularity)
    value = float((hit & given).sum()) / draws
    # The share is a ratio of two means; the residuals are what its error hangs on (the delta method).
    if condition is None:
        series = by_chain(hit, lengths)
        size, variance = _effective_size(series), float(series.var())
    else:
        residuals = by_chain(np.where(given, hit - value, 0.0), lengths)
        size, variance = float(effective_sizes(residuals[:, :, None])[0]), float(residuals.var())
    if math.isnan(size):
        worth = usual_share * draws
    else:
        worth = value * (1.0 - value) * (draws / len(hit)) ** 2 / (variance / size)
    return effective_estimate(value, min(worth, float(draws)), len(hit), confidence, "effective draws", modularity)


def _effective_size(series: NDArray[np.bool_]) -> float:
    """The effective sample size of yes and no (chains, draws): a graph of one node, with or without an edge."""
    if (series == series[:, :1]).all():
        return math.nan if (series == series[0, 0]).all() else float(len(series))
    return float(effective_sizes_of_edges(series[:, :, None].astype(np.uint8), np.zeros((1, 2), dtype=np.int64))[0])
