"""How probable is each value of a number around its prediction, and which value has a given share below it?

On the scale on which values move, residuals divided by their usual size at that prediction have one distribution: that
of the table, smoothed with kernels, and beside it a little of Student's with four degrees of freedom, so that no value
is impossible. Residuals are those of rows that the regression did not see (its leverages tell them), so the spread
has what is not known of the coefficients in it. The density is linear between points that are dense in the middle.

Time: a logarithm and some operations a value.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inline_no_refcount

#: Pieces of a density, how dense its points are in the middle, and how far it reaches at least, in usual sizes.
_PIECES, _DENSE, _REACH = 192, 0.5, 60.0
#: Sizes are told apart between so many predictions at most, each with so many rows at least; the size of all rows
#: counts as so many of theirs.
_MOST_SIZES, _ROWS_A_SIZE, _COMMON = 8, 50, 20.0
#: Residuals that a density is smoothed from; what Student's distribution has of it, in rows and in shares.
_MOST_RESIDUALS, _HEAVY_ROWS, _HEAVY_SHARE = 2_000, 5.0, 0.01
#: The log density of what cannot be, as if it were hardly possible: rows with such a value still have a prediction.
IMPOSSIBLE = -690.0


class Density(NamedTuple):
    """Of one regression: predictions with the log of the usual size of residuals there, and density and shares below.

    The last two are at points of `reach`, for residuals divided by their usual size.
    """

    at: Floats
    logs: Floats
    reach: float
    heights: Floats
    below: Floats


def no_density() -> Density:
    """Of values that are what is predicted."""
    nothing, points = np.zeros(1), np.ones(_PIECES + 1)
    return Density(nothing, nothing, _REACH, points, np.linspace(0.0, 1.0, _PIECES + 1))


def density_of(residuals: Floats, predicted: Floats, weights: Floats) -> Density:
    """The density of residuals, each of which counts `weights` times, with the predictions that they are of."""
    at, logs = _sizes(residuals, predicted, weights)
    scaled = residuals / np.exp(np.interp(predicted, at, logs))
    reach = max(_REACH, 1.1 * float(np.abs(scaled).max()))
    points = _points(reach)
    heights, below = shares_of(_smoothed(scaled, weights, points), reach)
    return Density(at, logs, reach, heights, below)


def shares_of(heights: Floats, reach: float) -> tuple[Floats, Floats]:
    """Heights at all points so that their density is one in all, and the shares below the points."""
    areas = np.diff(_points(reach)) * (heights[1:] + heights[:-1]) / 2.0
    below = np.concatenate([[0.0], np.cumsum(areas)])
    return heights / below[-1], below / below[-1]


def _sizes(residuals: Floats, predicted: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Some predictions, ascending, and the log of the usual size of residuals near each."""
    squares, total = weights * residuals**2, float(weights.sum())
    common = max(float(squares.sum()) / total, 1e-300)
    order = np.argsort(predicted, kind="stable")
    count = int(np.clip(len(order) // _ROWS_A_SIZE, 1, _MOST_SIZES))
    bins = [rows for rows in np.array_split(order, count) if len(rows)]
    at = np.array([np.average(predicted[rows], weights=weights[rows]) for rows in bins])
    each = [(squares[rows].sum() + _COMMON * common) / (weights[rows].sum() + _COMMON) for rows in bins]
    logs = 0.5 * np.log(np.array(each))
    distinct = np.concatenate([[True], np.diff(at) > 1e-9])
    return at[distinct], logs[distinct]


def _points(reach: float) -> Floats:
    points: Floats = _DENSE * np.sinh(np.linspace(-1.0, 1.0, _PIECES + 1) * math.asinh(reach / _DENSE))
    return points


def _smoothed(scaled: Floats, weights: Floats, points: Floats) -> Floats:
    """The smoothed density at some points."""
    order = np.argsort(scaled, kind="stable")
    running = np.cumsum(weights[order])
    total = float(running[-1])
    shares = (np.arange(_MOST_RESIDUALS) + 0.5) / _MOST_RESIDUALS
    if len(order) > _MOST_RESIDUALS:
        values, counts = scaled[order][np.searchsorted(running, shares * total)], np.ones(_MOST_RESIDUALS)
    else:
        values, counts = scaled[order], weights[order]
    lower, upper = np.interp([0.25, 0.75], (running - weights[order] / 2.0) / total, scaled[order])
    deviation = math.sqrt(float(np.average(scaled**2, weights=weights)))
    spread = min(deviation, (upper - lower) / 1.34) if upper > lower else deviation
    width = max(0.9 * spread * total**-0.2, 0.02)
    away = (points[:, np.newaxis] - values) / width
    kernels = np.exp(-0.5 * away**2) @ counts / (math.sqrt(2.0 * math.pi) * width * counts.sum())
    student = 0.375 * (1.0 + points**2 / 4.0) ** -2.5
    share = (_HEAVY_ROWS + _HEAVY_SHARE * total) / (2.0 * _HEAVY_ROWS + total)
    found: Floats = (1.0 - share) * kernels + share * student
    return found


@inline_no_refcount
def log_size_at(density: Density, predicted: float) -> float:
    """The log of the usual size of residuals at a prediction."""
    last = len(density.at) - 1
    at, logs = density.at, density.logs
    if last == 0 or predicted <= at[0]:
        first: float = logs[0]
        return first
    if predicted >= at[last]:
        final: float = logs[last]
        return final
    place = 0
    while at[place + 1] < predicted:
        place += 1
    share = (predicted - at[place]) / (at[place + 1] - at[place])
    between: float = logs[place] + share * (logs[place + 1] - logs[place])
    return between


@inline_no_refcount
def log_density_at(density: Density, predicted: float, value: float) -> float:
    """The log density of a value, given its prediction."""
    log_size = log_size_at(density, predicted)
    scaled = (value - predicted) * math.exp(-log_size)
    reach = density.reach
    if abs(scaled) >= reach:
        end: float = density.heights[0 if scaled < 0.0 else _PIECES]
        return math.log(end) - 5.0 * math.log(abs(scaled) / reach) - log_size
    step = math.asinh(reach / _DENSE)
    place = (math.asinh(scaled / _DENSE) / step + 1.0) * (_PIECES / 2.0)
    piece = min(int(place), _PIECES - 1)
    low = _DENSE * math.sinh((2.0 * piece / _PIECES - 1.0) * step)
    high = _DENSE * math.sinh((2.0 * (piece + 1) / _PIECES - 1.0) * step)
    share = (scaled - low) / (high - low)
    first, second = density.heights[piece], density.heights[piece + 1]
    return math.log(first + share * (second - first)) - log_size


@inline_no_refcount
def share_below(density: Density, predicted: float, value: float) -> float:
    """The probability of smaller values."""
    scaled = (value - predicted) * math.exp(-log_size_at(density, predicted))
    reach = density.reach
    if scaled <= -reach:
        return 0.0
    if scaled >= reach:
        return 1.0
    step = math.asinh(reach / _DENSE)
    place = (math.asinh(scaled / _DENSE) / step + 1.0) * (_PIECES / 2.0)
    piece = min(int(place), _PIECES - 1)
    low = _DENSE * math.sinh((2.0 * piece / _PIECES - 1.0) * step)
    high = _DENSE * math.sinh((2.0 * (piece + 1) / _PIECES - 1.0) * step)
    first, second = density.heights[piece], density.heights[piece + 1]
    inside = scaled - low
    slope = (second - first) / (high - low)
    below: float = density.below[piece] + inside * (first + slope * inside / 2.0)
    return below


@inline_no_refcount
def value_with_share(density: Density, predicted: float, share: float) -> float:
    """The value that has a share below it, given its prediction."""
    low, high = 0, _PIECES
    while high - low > 1:
        middle = (low + high) // 2
        if density.below[middle] <= share:
            low = middle
        else:
            high = middle
    step = math.asinh(density.reach / _DENSE)
    left = _DENSE * math.sinh((2.0 * low / _PIECES - 1.0) * step)
    right = _DENSE * math.sinh((2.0 * (low + 1) / _PIECES - 1.0) * step)
    first, second = density.heights[low], density.heights[low + 1]
    # Inside a piece the share grows as a quadratic function: its root, in the form that loses no digits.
    slope, wanted = (second - first) / (right - left), max(share - density.below[low], 0.0)
    root = math.sqrt(max(first * first + 2.0 * slope * wanted, 0.0))
    inside = min(2.0 * wanted / (first + root), right - left)
    found: float = predicted + math.exp(log_size_at(density, predicted)) * (left + inside)
    return found
