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
        width = max(own.components[0].shape[1] for own in pieces if own.components is not None)
        padded = [_padded(own.components, width) for own in pieces if own.components is not None]
        logs, means, deviations = (np.concatenate(arrays) for arrays in zip(*padded, strict=True))
        components = logs, means, deviations
    return Drawn(np.concatenate([own.log_weights for own in pieces]), shares, components)


def _padded(components: tuple[Floats, Floats, Floats], width: int) -> tuple[Floats, ...]:
    lacking = ((0, 0), (0, width - components[0].shape[1]))
    return tuple(
        np.pad(own, lacking, constant_values=fill) for own, fill in zip(components, (-np.inf, 0.0, 1.0), strict=True)
    )


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


def number_draws(
    logs: Floats,
    means: Floats,
    covariances: Floats,
    limits: NumberLimits,
    events: Flags,
    generator: np.random.Generator,
) -> Drawn:
    """From log p(lane) of each draw (draws, lanes), and moments of numbers there (draws, lanes, numbers)."""
    from scipy.special import logsumexp

    draws, lanes, count = means.shape
    flat, square = means.reshape(-1, count), covariances.reshape(-1, count, count)
    given = len(limits.evidence)
    # Evidence and target are looked at with the same numbers, so that errors of both are alike.
    shifts = generator.random((len(flat), count))
    if limits.simulated == 1:
        # The middle of even strata of one number is nearer than any other place in them.
        shifts[:, 0] = 0.5
    if limits.both is None:
        found = walked(flat, square, limits.evidence, shifts)
        particles = found.logs.shape[1]
        weights = (logs.reshape(-1, 1) + found.logs - math.log(particles)).reshape(draws, -1)
        deviations = np.repeat(found.spread, particles).reshape(draws, -1)
        return Drawn(logsumexp(weights, axis=1), None, (weights, found.mean.reshape(draws, -1), deviations))
    known = walked(flat[:, :given], square[:, :given, :given], limits.evidence, shifts)
    alone = logs + known.log_total().reshape(draws, lanes)
    if count == given and list(limits.both) == list(limits.evidence):
        return level_draws(alone, events)
    both = logs + walked(flat, square, limits.both, shifts).log_total().reshape(draws, lanes)
    total = logsumexp(alone, axis=1)
    shares = np.exp(logsumexp(np.where(events[0], both, -np.inf), axis=1) - total)[:, np.newaxis]
    return Drawn(total, np.clip(shares, 0.0, 1.0))
