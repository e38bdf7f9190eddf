"""Nodes with parameters of their own in each combination of their parents' levels: tables, and regressions.

How they are found is in conditional.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.local.base import LevelModel, NumberModel

#: Shares this near to 0 and 1 have no value.
_LEAST, _LARGEST = 1e-300, 1.0 - 2.0**-53


class Combinations(NamedTuple):
    """Combinations of the levels of some parents: those that rows have, ascending, and `spare` ones for all others."""

    parents: tuple[int, ...]
    arities: tuple[int, ...]
    seen: Integers
    spare: int

    def places(self, values: Floats) -> Integers:
        """The combination that values (all parents, ...) are in."""
        numbers = np.zeros(values.shape[1:], dtype=np.int64)
        for parent, arity in zip(self.parents, self.arities, strict=True):
            numbers = numbers * arity + values[parent].astype(np.int64)
        if not self.spare:
            # Every combination was seen.
            return numbers
        places = np.searchsorted(self.seen, numbers)
        known = np.append(self.seen, -1)[places] == numbers
        found: Integers = np.where(known, places, len(self.seen) + numbers % self.spare)
        return found


class Counted(NamedTuple):
    """Of every combination that rows have its number, and how often each level was seen, or numbers.

    `means` and `scatters` are of the parents of numbers and the node itself; nothing of levels.
    """

    combinations: Integers
    counts: Floats
    means: Floats
    scatters: Floats


class Regressions(NamedTuple):
    """By combination: means, the Cholesky factor of `R`, of the node last; the weight `N + u`, and `v`."""

    means: Floats
    factors: Floats
    weights: Floats
    freedoms: Floats


class _Combined:
    """A model with parameters of its own in each combination of levels."""

    def __init__(self, combinations: Combinations, seen: Counted) -> None:
        self._combinations, self._seen = combinations, seen

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What rows said."""
        seen = self._seen
        return {
            "combinations": seen.combinations[np.newaxis],
            "counts": seen.counts,
            "means": seen.means,
            "scatters": seen.scatters.reshape(seen.means.shape[0] * seen.means.shape[1], seen.means.shape[1]),
        }

    def parameters(self, theta: Floats, places: Integers, width: int) -> Floats:
        """The parameters of some combinations: (draws, rows, width)."""
        combinations = theta.shape[1] // width
        begins = np.arange(len(theta))[:, np.newaxis] * combinations
        found: Floats = np.take(theta.reshape(-1, width), begins + places, axis=0)
        return found


class TableLevel(_Combined, LevelModel):
    """Levels: a Dirichlet distribution in each combination."""

    def __init__(self, combinations: Combinations, seen: Counted, shapes: Floats) -> None:
        super().__init__(combinations, seen)
        self._shapes = shapes

    @property
    def likeliest(self) -> Floats:
        """The means, which are also the probabilities of a new row."""
        means: Floats = (self._shapes / self._shapes.sum(axis=1, keepdims=True)).reshape(-1)
        return means

    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """In logs: numbers with a tiny shape underflow."""
        size = (count, *self._shapes.shape)
        logs = np.log(generator.standard_gamma(self._shapes + 1.0, size))
        logs -= generator.standard_exponential(size) / self._shapes
        drawn = np.exp(logs - logs.max(axis=2, keepdims=True))
        drawn /= drawn.sum(axis=2, keepdims=True)
        result: Floats = np.maximum(drawn, _LEAST).reshape(count, -1)
        return result

    def chances(self, values: Floats, theta: Floats) -> Floats:
        """Those of the combination."""
        return self.parameters(theta, self._combinations.places(values), self._shapes.shape[1])

    def predictive(self, values: Floats) -> Floats:
        """The mean of the posterior."""
        found: Floats = self.chances(values[:, np.newaxis], self.likeliest[np.newaxis])[0]
        return found


class _At(NamedTuple):
    """What is expected of numbers, the scale of what lies around it, and its degrees of freedom: (draws, rows)."""

    expected: Floats
    scale: Floats
    freedom: Floats

    @property
    def is_normal(self) -> bool:
        """Whether parameters were drawn; in the middle of their posterior stands Student's distribution."""
        return bool(np.isinf(self.freedom).all())


class RegressedNumber(_Combined, NumberModel):
    """A number: a regression in each combination.

    Its parameters there: the mean where all parents have theirs, the slopes, the scale, and the degrees of freedom.
    """

    def __init__(self, combinations: Combinations, seen: Counted, posterior: Regressions) -> None:
        super().__init__(combinations, seen)
        self._posterior = posterior
        self._slopes = posterior.means.shape[1] - 1

    @property
    def likeliest(self) -> Floats:
        """Those of a new row, but for how far it is from others."""
        means, factors, weights, freedoms = self._posterior
        slopes = self._solved(factors[np.newaxis, :, -1, :-1])[0]
        scales = factors[:, -1, -1] * np.sqrt((weights + 1.0) / weights / freedoms)
        return np.column_stack([means[:, -1], slopes, scales, freedoms]).reshape(-1)

    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """Variance, mean, and slopes given the variance."""
        means, factors, weights, freedoms = self._posterior
        size, slopes = len(means), self._slopes
        spreads = factors[:, -1, -1] / np.sqrt(generator.chisquare(freedoms, (count, size)))
        noise = spreads[:, :, np.newaxis] * generator.standard_normal((count, size, slopes + 1))
        result = np.empty((count, size, slopes + 3))
        result[:, :, 0] = means[:, -1] + noise[:, :, 0] / np.sqrt(weights)
        result[:, :, 1:-2] = self._solved(factors[:, -1, :-1] + noise[:, :, 1:])
        result[:, :, -2], result[:, :, -1] = spreads, np.inf
        return result.reshape(count, -1)

    def _solved(self, right: Floats) -> Floats:
        """What the Cholesky factor of the parents, transposed, makes these: (draws, combinations, slopes)."""
        factors, result = self._posterior.factors, np.empty(right.shape)
        for place in range(self._slopes - 1, -1, -1):
            later = (factors[:, place + 1 : -1, place] * result[:, :, place + 1 :]).sum(axis=2)
            result[:, :, place] = (right[:, :, place] - later) / factors[:, place, place]
        return result

    def _at(self, values: Floats, theta: Floats) -> _At:
        places = self._combinations.places(values)
        own = self.parameters(theta, places, self._slopes + 3)
        others = [place for place in range(len(values)) if place not in self._combinations.parents]
        away = [values[node] - self._posterior.means[places, place] for place, node in enumerate(others)]
        expected = own[:, :, 0] + sum(own[:, :, 1 + place] * far for place, far in enumerate(away))
        found = _At(expected, own[:, :, -2], own[:, :, -1])
        return found if found.is_normal else found._replace(scale=found.scale * self._widening(away, places))

    def _widening(self, away: list[Floats], places: Integers) -> Floats:
        """How much less is known of a row whose parents have values that are `away` from their means."""
        factors, weights = self._posterior.factors, self._posterior.weights
        standard: list[Floats] = []
        for place, far in enumerate(away):
            known = sum(factors[places, place, before] * own for before, own in enumerate(standard))
            standard.append((far - known) / factors[places, place, place])
        shrinkage = (weights / (weights + 1.0))[places]
        widening: Floats = np.sqrt(1.0 + shrinkage * sum((own**2 for own in standard), np.zeros(places.shape)))
        return widening

    def expected(self, values: Floats, theta: Floats) -> Floats:
        """On the line."""
        return self._at(values, theta).expected

    def log_density(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """Normal, or Student's."""
        from scipy.special import betaln

        at = self._at(values, theta)
        away = (numbers - at.expected) / at.scale
        if at.is_normal:
            found: Floats = -0.5 * away**2 - np.log(at.scale) - 0.5 * math.log(2.0 * math.pi)
            return found
        found = -np.log(at.scale) - 0.5 * np.log(at.freedom) - betaln(at.freedom / 2.0, 0.5)
        found -= (at.freedom + 1.0) / 2.0 * np.log1p(away**2 / at.freedom)
        return found

    def below(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """The share of the distribution."""
        from scipy.special import ndtr, stdtr

        at = self._at(values, theta)
        away = (numbers - at.expected) / at.scale
        found: Floats = ndtr(away) if at.is_normal else stdtr(at.freedom, away)
        return found

    def with_share(self, values: Floats, theta: Floats, shares: Floats) -> Floats:
        """Quantiles of the distribution."""
        from scipy.special import ndtri, stdtrit

        at = self._at(values, theta)
        shares = np.clip(shares, _LEAST, _LARGEST)
        away = ndtri(shares) if at.is_normal else stdtrit(at.freedom, shares)
        found: Floats = at.expected + at.scale * away
        return found

    def standing(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """What is expected, and the scale of what lies around it."""
        del numbers
        at = self._at(values, theta)
        return np.stack([at.expected, at.scale])

    def moved(self, standing: Floats, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """Numbers stay as many deviations from what is expected."""
        (expected, scale), at = standing, self._at(values, theta)
        moved: Floats = at.expected + at.scale * (numbers - expected) / scale
        return moved

    def log_predictive(self, values: Floats, numbers: Floats) -> Floats:
        """The parameters in the middle stand for a new row."""
        found: Floats = self.log_density(values[:, np.newaxis], self.likeliest[np.newaxis], numbers[np.newaxis])[0]
        return found
