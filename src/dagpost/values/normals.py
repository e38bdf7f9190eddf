"""The probability that normal numbers lie at points and between limits, and what that says of one more number.

With `C` the Cholesky factor of the covariance, each number is normal given those before it: points come first, then
intervals, within which numbers are drawn before the next is looked at (GHK: Geweke 1991, Hajivassiliou & McFadden 1998,
Keane 1994). With one interval, the last, nothing is drawn and the result is exact; beyond that the draws are points of
a lattice, shifted at random for each network (Cranley & Patterson 1976): the probability is right on average, so that
errors of single networks average out over them. Time: a Cholesky factor for each network, and a normal probability for
each interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.prediction.parameter_draws import DrawnNetworks

#: Draws of numbers within their intervals, for each network.
_PARTICLES = 32
#: Fractional parts of square roots of primes: multiples of them fill the unit cube evenly.
_STEPS = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0]) % 1.0

#: Intervals have at least this probability where numbers are drawn: beyond it normal probabilities have no digits.
_LEAST = 1e-290


class Limits(NamedTuple):
    """Between which numbers one lies; a point where both are the same."""

    lower: float
    upper: float
    is_point: bool = False


class Walked(NamedTuple):
    """Log probability (networks, draws); mean (networks, draws) and deviation (networks) of the number that is left."""

    logs: Floats
    mean: Floats
    spread: Floats

    def log_total(self) -> Floats:
        """Log of the average over draws."""
        from scipy.special import logsumexp

        found: Floats = logsumexp(self.logs, axis=-1) - math.log(self.logs.shape[-1])
        return found


def gaussian_moments(
    networks: DrawnNetworks, fixed: Mapping[int, float], wanted: Sequence[int]
) -> tuple[Floats, Floats]:
    """Means (graphs, wanted) and covariances of some columns of networks, in which others are set."""
    matrices, intercepts, spreads = networks.matrices(), networks.intercepts.copy(), networks.spreads.copy()
    for node, value in fixed.items():
        matrices[:, node], intercepts[:, node], spreads[:, node] = 0.0, value, 0.0
    nodes = intercepts.shape[1]
    right = np.concatenate([intercepts[:, :, np.newaxis], spreads[:, :, np.newaxis] * np.eye(nodes)], axis=2)
    solved = np.linalg.solve(np.eye(nodes) - matrices, right)[:, list(wanted)]
    ways = solved[:, :, 1:]
    return solved[:, :, 0], ways @ ways.transpose(0, 2, 1)


def walked(mean: Floats, covariance: Floats, limits: Sequence[Limits], shifts: Floats) -> Walked:
    """Walk over the first numbers, points before intervals; where one number is left, say how it is distributed.

    `shifts` (networks, numbers) are between 0 and 1; the same shifts give the same draws.
    """
    count, numbers = mean.shape
    intervals = sum(not own.is_point for own in limits)
    drawn = intervals - 1 if len(limits) == numbers else intervals
    particles = _PARTICLES if drawn > 0 else 1
    points = np.arange(particles)
    factor: Floats = np.zeros(covariance.shape)
    if numbers:
        factor[:] = np.linalg.cholesky(covariance)
    noise = np.zeros((count, numbers, particles))
    logs = np.zeros((count, particles))
    seen = 0
    for place, own in enumerate(limits):
        spread: Any = factor[:, place, place][:, np.newaxis]
        centre = _centre(mean, factor, noise, place)
        if own.is_point:
            noise[:, place] = (own.lower - centre) / spread
            logs -= 0.5 * noise[:, place] ** 2 + np.log(spread) + 0.5 * math.log(2.0 * math.pi)
            continue
        ends = np.stack([np.full(centre.shape, own.lower), np.full(centre.shape, own.upper)])
        start, share = _between(ends, centre, spread)
        logs += _log_share(ends, centre, spread) if own.upper > own.lower else -np.inf
        if seen < drawn:
            step = _STEPS[(seen - 1) % len(_STEPS)]
            shift = shifts[:, [seen]]
            uniforms = (points + shift) / particles if seen == 0 else (points * step + shift) % 1.0
            inside = _within(ends, centre, spread, start, share, uniforms)
            # Any number will do where there is none.
            noise[:, place] = np.where(np.isfinite(inside), inside, 0.0)
        seen += 1
    if len(limits) == numbers:
        return Walked(logs, np.zeros_like(logs), np.ones(count))
    return Walked(logs, _centre(mean, factor, noise, len(limits)), factor[:, len(limits), len(limits)])


def _between(ends: Floats, mean: Floats, spread: float) -> tuple[Floats, Floats]:
    """The probability below an interval, or above it where that is the smaller tail, and of the interval itself."""
    from scipy.special import ndtr

    low, high = (ends[0] - mean) / spread, (ends[1] - mean) / spread
    upper = low > 0.0
    start = np.where(upper, ndtr(-high), ndtr(low))
    share = np.where(upper, ndtr(-low), ndtr(high)) - start
    return start, np.where(np.isnan(share), 0.0, np.maximum(share, _LEAST))


def _within(ends: Floats, mean: Floats, spread: float, start: Floats, share: Floats, uniforms: Floats) -> Floats:
    """Standard normal numbers within an interval, by the same tail."""
    from scipy.special import ndtri

    upper = (ends[0] - mean) / spread > 0.0
    drawn = ndtri(np.clip(start + uniforms * share, 1e-300, 1.0 - 1e-16))
    found: Floats = np.where(upper, -drawn, drawn)
    return np.clip(found, (ends[0] - mean) / spread, (ends[1] - mean) / spread)


def _log_share(ends: Floats, centre: Floats, spread: Any) -> Floats:
    """Log of the probability of an interval, however far out it lies: taken from the nearer tail."""
    from scipy.special import log_ndtr

    low, high = (ends[0] - centre) / spread, (ends[1] - centre) / spread
    above = low > 0.0
    larger, smaller = log_ndtr(np.where(above, -low, high)), log_ndtr(np.where(above, -high, low))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = larger + np.log1p(-np.exp(smaller - larger))
    # Nothing lies beyond the last number.
    return np.where(larger == -np.inf, -np.inf, found)


def _centre(mean: Floats, factor: Floats, noise: Floats, place: int) -> Floats:
    centre: Floats = mean[:, place][:, np.newaxis] + np.einsum("bj,bjp->bp", factor[:, place, :place], noise[:, :place])
    return centre
