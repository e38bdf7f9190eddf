"""Regressions with curves, evaluated: numbers and levels given their parents, at many values and draws at once.

What a regression is made of is in layout.py; how values lie around what is predicted in spread.py and density.py.

Time: some 10 ns for each draw, row, and parent, and 1 ns for each product of two or three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.local.base import LevelModel, NumberModel
from dagpost.local.density import IMPOSSIBLE, Density, log_density_at, share_below, value_with_share
from dagpost.local.layout import Form, predict
from dagpost.local.margins import Margins
from dagpost.local.regression import Posterior
from dagpost.local.scales import LOG, OWN, from_scale, to_scale
from dagpost.local.spread import Spread, moved

#: Chances of a new row are averaged over log odds so many deviations from the middle: for smooth functions like these
#: equal steps miss less than 1e-4 of the mean where the deviation is at most 10, and far less where rows are many.
_AWAY = np.linspace(-6.0, 6.0, 65)
_WEIGHTS = np.exp(-0.5 * _AWAY**2) / np.exp(-0.5 * _AWAY**2).sum()
#: The share of a covariance that a file keeps; a freedom that is as good as none.
_KEPT, _NO_LIMIT = 0.9999, 1e9


class Moving(NamedTuple):
    """The scale on which values of a column move: where it is centred, its unit, and what it stays between."""

    kind: int
    place: float
    unit: float
    centre: float
    size: float
    least: float
    most: float


class _Curved:
    """Some regressions on the same parents, one after the other in the parameters."""

    def __init__(self, form: Form, margins: Margins, posteriors: Sequence[Posterior], turn: Floats) -> None:
        self._form, self._margins, self._of_features = form, margins, posteriors
        # The posterior of the numbers from which a regression is evaluated, instead of its features' coefficients.
        self._posteriors = [
            posterior._replace(coefficients=turn @ posterior.coefficients, factor=turn @ posterior.factor)
            for posterior in posteriors
        ]
        self._begins = np.cumsum([0] + [len(own.coefficients) for own in self._posteriors])

    @property
    def likeliest(self) -> Floats:
        """The coefficients in the middle."""
        return np.concatenate([own.coefficients for own in self._posteriors] or [np.zeros(0)])

    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """Each regression by itself."""
        result = np.empty((count, int(self._begins[-1])))
        for posterior, begin in zip(self._posteriors, self._begins, strict=False):
            noise = generator.standard_normal((count, posterior.factor.shape[1]))
            if np.isfinite(posterior.freedom):
                noise *= np.sqrt(posterior.freedom / generator.chisquare(posterior.freedom, count))[:, np.newaxis]
            result[:, begin : begin + len(posterior.coefficients)] = posterior.coefficients + noise @ posterior.factor.T
        return result

    def balanced(self, generator: np.random.Generator, count: int) -> Floats:
        """Pairs of draws on opposite sides of the middle."""
        drawn = self.drawn(generator, (count + 1) // 2)
        pairs = np.stack([drawn, 2.0 * self.likeliest - drawn], axis=1)
        found: Floats = np.ascontiguousarray(pairs.reshape(-1, drawn.shape[1])[:count])
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The coefficients of all regressions, and of their covariances what matters."""
        width = len(self._of_features[0].coefficients) if self._of_features else 0
        factors = [_leading(posterior.factor) for posterior in self._of_features]
        most = max((factor.shape[1] for factor in factors), default=0)
        padded = [np.pad(factor, ((0, 0), (0, most - factor.shape[1]))) for factor in factors]
        return {
            "coefficients": np.array([own.coefficients for own in self._of_features]).reshape(-1, width),
            "factors": np.concatenate([np.zeros((0, most)), *padded]).astype(np.float32),
            "freedoms": np.array([[min(own.freedom, _NO_LIMIT) for own in self._of_features]]),
        }

    def predictors(self, regression: int, values: Floats, theta: Floats) -> Floats:
        """What one of the regressions predicts: (draws, rows)."""
        draws, rows = max(values.shape[1], len(theta)), values.shape[2]
        result = np.empty((draws, rows))
        predict(self._form, self._margins, values, theta, int(self._begins[regression]), result)
        return result


class CurvedNumber(_Curved, NumberModel):
    """A number: the first regression is of its mean, the last one on the scale on which its values move."""

    def __init__(
        self,
        form: Form,
        margins: Margins,
        posteriors: Sequence[Posterior],
        turn: Floats,
        own: tuple[float, float],
        moving: Moving,
        spread: Spread,
        density: Density,
    ) -> None:
        super().__init__(form, margins, posteriors, turn)
        self._centre, self._size = own
        self._moving, self._spread, self._density = moving, spread, density

    def expected(self, values: Floats, theta: Floats) -> Floats:
        """On the column's own scale."""
        return self._centre + self._size * self.predictors(0, values, theta)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Also the scale, and how values lie around what is predicted."""
        bins = self._spread.bins
        return {
            **super().arrays(),
            "facts": np.array([[self._centre, self._size, *self._moving]]),
            "centres": self._spread.centres[np.newaxis, :bins],
            "quantiles": self._spread.quantiles[:bins].astype(np.float32),
            "at": self._density.at[np.newaxis],
            "logs": self._density.logs[np.newaxis],
            "reach": np.array([[self._density.reach]]),
            "heights": self._density.heights[np.newaxis].astype(np.float32),
        }

    def _moving_predictors(self, values: Floats, theta: Floats) -> Floats:
        return self.predictors(len(self._posteriors) - 1, values, theta)

    def log_density(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """That of the residual on the scale on which values move, and how steep that scale is."""
        predicted, numbers = _together(self._moving_predictors(values, theta), numbers)
        result = np.empty(predicted.shape)
        _find_log_densities(self._moving, self._density, predicted, numbers, result)
        return result

    def below(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """The share of residuals below."""
        predicted, numbers = _together(self._moving_predictors(values, theta), numbers)
        result = np.empty(predicted.shape)
        _find_shares(self._moving, self._density, predicted, numbers, result)
        return result

    def with_share(self, values: Floats, theta: Floats, shares: Floats) -> Floats:
        """Found among the residuals."""
        predicted, shares = _together(self._moving_predictors(values, theta), shares)
        result = np.empty(predicted.shape)
        _find_values(self._moving, self._density, predicted, shares, result)
        return result

    def standing(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """What is predicted of them."""
        del numbers
        return self._moving_predictors(values, theta)[np.newaxis]

    def moved(self, standing: Floats, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """Numbers keep their place among the residuals of rows with about the same prediction."""
        first, second, numbers = _together(standing[0], self._moving_predictors(values, theta), numbers)
        result = np.empty(second.shape)
        _move(self._moving, self._spread, first, second, numbers, result)
        return result

    def log_predictive(self, values: Floats, numbers: Floats) -> Floats:
        """At the likeliest parameters: residuals are those of rows that the regression did not see."""
        theta = self.likeliest[np.newaxis]
        found: Floats = self.log_density(np.ascontiguousarray(values[:, np.newaxis]), theta, numbers[np.newaxis])[0]
        return found


class CurvedLevel(_Curved, LevelModel):
    """Levels: a regression for each but the last, among the rows that have none before it."""

    def chances(self, values: Floats, theta: Floats) -> Floats:
        """One level after the other takes its part of what is left."""
        draws, rows, count = max(values.shape[1], len(theta)), values.shape[2], len(self._posteriors)
        result = np.empty((draws, rows, count + 1))
        left = np.ones((draws, rows))
        for level in range(count):
            odds = np.clip(self.predictors(level, values, theta), -500.0, 500.0)
            result[..., level] = left / (1.0 + np.exp(-odds))
            left = left - result[..., level]
        result[..., count] = np.maximum(left, 0.0)
        return result

    def predictive(self, values: Floats) -> Floats:
        """Predictors of a row are normal, and those of different levels know nothing of each other."""
        values = np.ascontiguousarray(values[:, np.newaxis])
        result = np.empty((values.shape[2], len(self._posteriors) + 1))
        left = np.ones(len(result))
        for level, begin in enumerate(self._begins[:-1]):
            posterior = self._posteriors[level]
            theta = np.zeros((1 + posterior.factor.shape[1], int(self._begins[-1])))
            ways = np.vstack([posterior.coefficients, posterior.factor.T])
            theta[:, begin : begin + ways.shape[1]] = ways
            predicted = self.predictors(level, values, theta)
            chances = _average_chances(predicted[0], np.sqrt((predicted[1:] ** 2).sum(axis=0)))
            result[:, level] = left * chances
            left *= 1.0 - chances
        result[:, -1] = left
        return result


def _average_chances(middle: Floats, deviation: Floats) -> Floats:
    """The mean of the chances whose log odds are normal."""
    total = np.zeros(len(middle))
    for away, weight in zip(_AWAY, _WEIGHTS, strict=True):
        total += weight / (1.0 + np.exp(-np.clip(middle + away * deviation, -500.0, 500.0)))
    return total


def _leading(factor: Floats) -> Floats:
    """A factor of all but a ten-thousandth of a covariance, with as few columns as that takes."""
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    shares = np.cumsum(sizes**2)
    count = int(np.searchsorted(shares, _KEPT * shares[-1])) + 1
    found: Floats = vectors[:, :count] * sizes[:count]
    return found


def _together(*arrays: Floats) -> list[Floats]:
    """Arrays of one shape, as kernels read them."""
    return [np.ascontiguousarray(array) for array in np.broadcast_arrays(*arrays)]


@inline_no_refcount
def _shown(moving: Moving, number: float) -> float:
    found: float = (to_scale(moving.kind, moving.place, moving.unit, number) - moving.centre) / moving.size
    return found


@inline_no_refcount
def _outside(moving: Moving, number: float) -> bool:
    return moving.kind == LOG and number + moving.place <= 0.0


@kernel
def _find_log_densities(moving: Moving, density: Density, predicted: Floats, numbers: Floats, result: Floats) -> None:
    for draw in range(predicted.shape[0]):
        for row in range(predicted.shape[1]):
            number = numbers[draw, row]
            if _outside(moving, number):
                result[draw, row] = IMPOSSIBLE
                continue
            log_slope = -math.log(moving.size)
            if moving.kind == LOG:
                log_slope -= math.log(number + moving.place)
            elif moving.kind != OWN:
                away = (number - moving.place) / moving.unit
                log_slope -= 0.5 * math.log1p(away * away) + math.log(moving.unit)
            found = log_density_at(density, predicted[draw, row], _shown(moving, number))
            result[draw, row] = max(found + log_slope, IMPOSSIBLE)


@kernel
def _find_shares(moving: Moving, density: Density, predicted: Floats, numbers: Floats, result: Floats) -> None:
    for draw in range(predicted.shape[0]):
        for row in range(predicted.shape[1]):
            number = numbers[draw, row]
            if number == math.inf:
                result[draw, row] = 1.0
            elif number == -math.inf or _outside(moving, number):
                result[draw, row] = 0.0
            else:
                result[draw, row] = share_below(density, predicted[draw, row], _shown(moving, number))


@inline_no_refcount
def _back(moving: Moving, shown: float) -> float:
    number = from_scale(moving.kind, moving.place, moving.unit, moving.centre + moving.size * shown)
    return min(max(number, moving.least), moving.most)


@kernel
def _find_values(moving: Moving, density: Density, predicted: Floats, shares: Floats, result: Floats) -> None:
    for draw in range(predicted.shape[0]):
        for row in range(predicted.shape[1]):
            result[draw, row] = _back(moving, value_with_share(density, predicted[draw, row], shares[draw, row]))


@kernel
def _move(moving: Moving, spread: Spread, before: Floats, after: Floats, numbers: Floats, result: Floats) -> None:
    for draw in range(before.shape[0]):
        for row in range(before.shape[1]):
            shown = _shown(moving, numbers[draw, row])
            result[draw, row] = _back(moving, moved(spread, shown, before[draw, row], after[draw, row]))
