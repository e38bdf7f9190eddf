"""An average over completed tables as an estimate: a probability, or a ratio of two, with an interval.

The interval is that of Student's t at the standard error of the mean, with as many degrees of freedom as the series is
worth: with a few dozen sweeps it is wide. A conditional probability is the ratio of the averages of `P(f, g)` and
`P(g)`, never an average of ratios: a table in which the condition is improbable counts for less. Its error is that of
the residuals `P(f, g) - ratio P(g)` (the delta method).
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.mcmc.number_series import averages_of
from dagpost.posterior.estimate import AVERAGED, Estimate
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
