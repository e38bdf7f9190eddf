"""R-hat and effective sizes of series as ArviZ has them, for those that vary."""

from __future__ import annotations

import math

import numpy as np
from arviz_stats.base import array_stats  # type: ignore[attr-defined]


def r_hat(series: np.ndarray) -> np.ndarray:
    """Rank-normalised split R-hat of series (chains, draws, quantities); nan where nothing varies."""
    return _of_varying(series, "rhat", "rank", math.nan, math.inf)


def effective_sizes(series: np.ndarray) -> np.ndarray:
    """Effective sample size of the means of series (chains, draws, quantities), at most the draws; nan: constant."""
    chains, draws, _ = series.shape
    return np.minimum(_of_varying(series, "ess", "mean", math.nan, float(chains)), float(chains * draws))


def _of_varying(series: np.ndarray, statistic: str, method: str, constant: float, stuck: float) -> np.ndarray:
    within = (series.max(axis=1) > series.min(axis=1)).any(axis=0)
    between = series[:, 0].max(axis=0) > series[:, 0].min(axis=0)
    result = np.where(between, stuck, constant)
    if within.any():
        # Half a chain in which nothing changes has no variance to divide by.
        with np.errstate(divide="ignore", invalid="ignore"):
            compute = getattr(array_stats, statistic)
            result[within] = compute(series[:, :, within], chain_axis=0, draw_axis=1, method=method)
    return result
