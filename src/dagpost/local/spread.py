"""How values lie around their prediction, which may differ with the prediction: quantiles of residuals, in bins of it.

A value that moves with its prediction keeps its place among the values of rows with the same prediction: where noise
grows with the mean it moves farther, and at a ceiling it stays below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inline_no_refcount

#: Quantiles in each bin, and bins at most.
_QUANTILES, _MOST_BINS = 32, 16
_TINY = 1e-12


class Spread(NamedTuple):
    """How many bins a regression has, the mean predictions of these, and quantiles of residuals there."""

    bins: int
    centres: Floats
    quantiles: Floats


def no_spread() -> Spread:
    """Of values that are what is predicted."""
    return Spread(1, np.zeros(_MOST_BINS), np.zeros((_MOST_BINS, _QUANTILES)))


def spread_of(residuals: Floats, predicted: Floats, weights: Floats) -> Spread:
    """The quantiles of residuals among rows with about the same prediction; those of each bin have mean 0."""
    found = no_spread()
    values = np.unique(predicted)
    bins = min(_MOST_BINS, max(round(len(residuals) ** (1 / 3)), 1), len(values))
    order = np.argsort(predicted, kind="stable")
    ends = np.linspace(0, len(order), bins + 1).round().astype(np.int64)[1:-1]
    # Rows with one prediction stay together.
    ends = np.unique(np.searchsorted(predicted[order], predicted[order[ends]]))
    parts = [part for part in np.split(order, ends) if len(part)]
    for number, part in enumerate(parts):
        found.centres[number] = np.average(predicted[part], weights=weights[part])
        own = part[np.argsort(residuals[part], kind="stable")]
        shares = (np.cumsum(weights[own]) - weights[own] / 2.0) / weights[own].sum()
        quantiles = np.interp((np.arange(_QUANTILES) + 0.5) / _QUANTILES, shares, residuals[own])
        found.quantiles[number] = quantiles - quantiles.mean()
    return found._replace(bins=len(parts))


@inline_no_refcount
def moved(spread: Spread, value: float, before: float, after: float) -> float:
    """The value that has the same place among those with another prediction."""
    if spread.bins == 1:
        return value + after - before
    residual, last = value - before, spread.quantiles.shape[1] - 1
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if _quantile(spread, before, middle) <= residual:
            low = middle
        else:
            high = middle
    lower, upper = _quantile(spread, before, low), _quantile(spread, before, low + 1)
    share = min(max((residual - lower) / max(upper - lower, _TINY), 0.0), 1.0)
    beyond = residual - (lower + share * (upper - lower))
    lower, upper = _quantile(spread, after, low), _quantile(spread, after, low + 1)
    found: float = after + lower + share * (upper - lower) + beyond
    return found


@inline_no_refcount
def _quantile(spread: Spread, predicted: float, place: int) -> float:
    """One of the quantiles at any prediction, between those of the nearest bins."""
    centres, last = spread.centres, spread.bins - 1
    own = 0
    while own + 1 < last and centres[own + 1] <= predicted:
        own += 1
    low, high = centres[own], centres[own + 1]
    share: float = min(max((predicted - low) / max(high - low, _TINY), 0.0), 1.0)
    left: float = spread.quantiles[own, place]
    right: float = spread.quantiles[own + 1, place]
    return left + share * (right - left)
