"""Answers of draws of graph and parameters: how probable each makes the evidence, and what it says of the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost.values.normals import Limits, walked


class Drawn(NamedTuple):
    """By draw: log of its weight times p(evidence), and the shares of the events; or what a number is mixed of.

    `components` are log weight, mean and deviation, each (draws, components).
    """

    log_weights: Floats
    shares: Floats | None
    components: tuple[Floats, Floats, Floats] | None = None

    def weighted(self, log_weight: float) -> Drawn:
        """The same where every draw weighs this much."""
        parts = self.components
        own = None if parts is None else (parts[0] + log_weight, parts[1], parts[2])
        return Drawn(self.log_weights + log_weight, self.shares, own)


def joined_draws(pieces: Sequence[Drawn]) -> Drawn:
    """All draws together."""
    shares = None if pieces[0].shares is None else np.concatenate([own.shares for own in pieces])
    components = None
    if pieces[0].components is not None:
        parts = zip(*(own.components for own in pieces if own.components is not None), strict=True)
        logs, means, deviations = (np.concatenate(arrays) for arrays in parts)
        components = logs, means, deviations
    return Drawn(np.concatenate([own.log_weights for own in pieces]), shares, components)


def level_draws(logs: Floats, events: Flags) -> Drawn:
    """From log p(lane) of each draw, (draws, lanes)."""
    from scipy.special import logsumexp

    total = logsumexp(logs, axis=1)
    with np.errstate(divide="ignore"):
        shares = np.exp(logs - total[:, np.newaxis]) @ events.T
    return Drawn(total, np.clip(shares, 0.0, 1.0))


class NumberLimits(NamedTuple):
    """What is said of numbers, in the order of their moments: evidence, and evidence with the target."""

    evidence: Sequence[Limits]
    #: None: the last number is asked for itself.
    both: Sequence[Limits] | None

    @property
    def simulated(self) -> int:
        """How many numbers are drawn within their limits before others are looked at."""
        intervals = sum(not own.is_point for own in (self.evidence if self.both is None else self.both))
        return max(intervals - (0 if self.both is None else 1), 0)


def number_draws(means: Floats, covariances: Floats, limits: NumberLimits, generator: np.random.Generator) -> Drawn:
    """From the moments of numbers in each draw: (draws, numbers)."""
    from scipy.special import logsumexp

    count, given = means.shape[1], len(limits.evidence)
    # Evidence and target are looked at with the same numbers, so that errors of both are alike.
    shifts = generator.random((len(means), count))
    if limits.simulated == 1:
        # The middle of even strata of one number is nearer than any other place in them.
        shifts[:, 0] = 0.5
    if limits.both is None:
        found = walked(means, covariances, limits.evidence, shifts)
        particles = found.logs.shape[1]
        weights = found.logs - math.log(particles)
        deviations = np.repeat(found.spread, particles).reshape(-1, particles)
        return Drawn(logsumexp(weights, axis=1), None, (weights, found.mean, deviations))
    known = walked(means[:, :given], covariances[:, :given, :given], limits.evidence, shifts)
    alone = known.log_total()
    if count == given and list(limits.both) == list(limits.evidence):
        return Drawn(alone, np.ones((len(means), 1)))
    both = walked(means, covariances, limits.both, shifts).log_total()
    with np.errstate(invalid="ignore"):
        shares = np.exp(both - alone)[:, np.newaxis]
    return Drawn(alone, np.clip(shares, 0.0, 1.0))
