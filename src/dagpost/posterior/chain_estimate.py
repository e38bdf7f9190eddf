"""A share among the graphs of chains, with an interval for as many independent draws as they are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagpost.mcmc.diagnostics import by_chain, effective_sizes
from dagpost.mcmc.edge_series import effective_sizes_of_edges
from dagpost.posterior.estimate import Estimate, effective_estimate


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
