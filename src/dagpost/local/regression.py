"""Regressions with coefficients that are shrunk by parts, and a covariance that does not rest on equal noise.

A coefficient of part `b` is normal with variance `v_b`, in units of the noise where there is one. Lines have a wide
prior; how far curves and products are shrunk is learned from the data (expectation maximisation). Numbers have a
closed posterior, levels a Laplace approximation. The spread around either is that of the sandwich (White 1980; the
prior counts as if it were data), which holds where the noise is larger in some places than in others, or the curve is
not quite one of ours; residuals are enlarged for what the fit took of each (HC3: MacKinnon & White 1985).

Time: some passes over rows times the square of the features. How far levels shrink is learned from some thousand rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost.local.layout import Part

#: Prior variances: of intercepts, lines, and, before learning, of curves and products; how many coefficients that start
#: is worth.
_INTERCEPT, _LINE, _START, _FIRM = 1e4, 4.0, 0.03, 2.0
#: Rounds of learning at most, and how little variances change in the last one; steps of Newton's method, and the
#: farthest that log odds move in one.
_ROUNDS, _SETTLED, _STEPS, _FARTHEST = 40, 0.02, 4, 3.0
#: Residuals are enlarged by this factor at most.
_MOST_ENLARGED = 10.0

#: The features of some rows, the places of these rows, and their weights; again and again.
Pieces = Callable[[], Iterator[tuple[Floats, Integers, Floats]]]


class Posterior(NamedTuple):
    """Coefficients, and a matrix whose product with its transpose is their covariance.

    `freedom`: draws of numbers have heavier tails where few rows are left, those of a t distribution.
    """

    coefficients: Floats
    factor: Floats
    freedom: float = np.inf


class Shrunken(NamedTuple):
    """A regression before its covariance is known."""

    coefficients: Floats
    inverse: Floats
    variances: Floats
    noise: float
    log_evidence: float


def _priors(parts: Sequence[Part]) -> tuple[Floats, Integers]:
    """The prior variance of each coefficient, and the number of the part that it is learned with, or -1."""
    variances, learned = [_INTERCEPT], [-1]
    for number, part in enumerate(parts):
        variances += [_LINE] * part.free + [_START] * (part.features - part.free)
        learned += [-1] * part.free + [number] * (part.features - part.free)
    return np.array(variances), np.array(learned, dtype=np.int64)


def _learned(variances: Floats, learned: Integers, squares: Floats) -> tuple[Floats, bool]:
    """New variances, given the expected squares of the coefficients; and whether they hardly changed."""
    own = learned >= 0
    if not own.any():
        return variances, True
    sums, counts = np.bincount(learned[own], weights=squares[own]), np.bincount(learned[own])
    result = variances.copy()
    result[own] = ((_FIRM * _START + sums) / (_FIRM + counts))[learned[own]]
    # A variance below that of any effect worth a word does not keep the others waiting.
    settled = np.abs(result - variances) <= _SETTLED * variances + 1e-4
    return result, bool(settled.all())


class Sums(NamedTuple):
    """Sums over rows: products of features, with targets (features, targets), the targets' squares, and weights."""

    gram: Floats
    cross: Floats
    squares: Floats
    total: float


def sums_of(pieces: Pieces, targets: Floats, width: int) -> Sums:
    """The sums for some targets, (rows, targets)."""
    gram, cross = np.zeros((width, width)), np.zeros((width, targets.shape[1]))
    squares, total = np.zeros(targets.shape[1]), 0.0
    for matrix, rows, weights in pieces():
        weighted = matrix * weights[:, np.newaxis]
        gram += weighted.T @ matrix
        cross += weighted.T @ targets[rows]
        squares += weights @ targets[rows] ** 2
        total += float(weights.sum())
    return Sums(gram, cross, squares, total)


def shrunken(sums: Sums, target: int, parts: Sequence[Part]) -> Shrunken:
    """The regression of one of the targets, a number of about mean 0 and variance 1."""
    cross, square = sums.cross[:, target], float(sums.squares[target])
    variances, learned = _priors(parts)
    for _ in range(_ROUNDS):
        precision = sums.gram + np.diag(1.0 / variances)
        inverse: Floats = np.linalg.inv(precision).astype(np.float64)
        coefficients = inverse @ cross
        left = max(square - float(cross @ coefficients), 0.0) + 1.0
        noise, used = left / (sums.total + 1.0), variances
        variances, settled = _learned(variances, learned, coefficients**2 / noise + np.diag(inverse))
        if settled:
            break
    log_determinants = float(np.linalg.slogdet(precision)[1] + np.log(used).sum())
    log_evidence = -0.5 * (log_determinants + (sums.total + 1.0) * float(np.log(left)))
    return Shrunken(coefficients, inverse, used, noise, log_evidence)


def with_covariance(own: Shrunken, pieces: Pieces, target: Floats) -> tuple[Posterior, Floats, Floats]:
    """The same with its covariance; for each row its prediction, and its residual if the fit had not seen it.

    Both are nan for rows that do not count.
    """
    meat, total = np.diag(own.noise / own.variances), 0.0
    predicted, unseen = np.full((2, len(target)), np.nan)
    for matrix, rows, weights in pieces():
        predicted[rows] = matrix @ own.coefficients
        unseen[rows] = _enlarged(matrix, target[rows] - predicted[rows], np.ones(len(rows)), own.inverse)
        meat += _meat(matrix, unseen[rows], weights)
        total += float(weights.sum())
    taken = len(own.variances) - float((np.diag(own.inverse) / own.variances).sum())
    factor = own.inverse @ np.linalg.cholesky(meat)
    return Posterior(own.coefficients, factor, max(total - taken, 3.0)), predicted, unseen


def _enlarged(matrix: Floats, residuals: Floats, curvature: Floats, inverse: Floats) -> Floats:
    """Residuals with what the fit took of each put back."""
    leverage = curvature * np.einsum("ij,ij->i", matrix @ inverse, matrix)
    found: Floats = residuals / np.maximum(1.0 - leverage, 1.0 / _MOST_ENLARGED)
    return found


def _meat(matrix: Floats, residuals: Floats, weights: Floats) -> Floats:
    """Sums of products of features and residuals, each of which a row has as often as it counts."""
    scaled = matrix * (np.sqrt(weights) * residuals)[:, np.newaxis]
    product: Floats = scaled.T @ scaled
    return product


def logistic(pieces: Pieces, first: Pieces, target: Floats, parts: Sequence[Part]) -> Posterior:
    """The logistic regression of a target that is 0 or 1; `first` has some rows in one piece, to learn from.

    The weights of these should sum to those of all rows.
    """
    variances, learned = _priors(parts)
    coefficients = np.zeros(len(variances))
    matrix, rows, weights = next(first())
    share = (float(weights @ target[rows]) + 0.5) / (float(weights.sum()) + 1.0)
    coefficients[0] = np.log(share / (1.0 - share))
    for number in range(_ROUNDS):
        coefficients, inverse = _step([(matrix, rows, weights)], target, coefficients, variances)
        if number >= 2:
            variances, settled = _learned(variances, learned, coefficients**2 + np.diag(inverse))
            if settled:
                break
    for _ in range(_STEPS):
        coefficients, inverse = _step(pieces(), target, coefficients, variances)
    meat = np.diag(1.0 / variances)
    for matrix, rows, weights in pieces():
        chances = _chances(matrix @ coefficients)
        curvature = weights * chances * (1.0 - chances)
        meat += _meat(matrix, _enlarged(matrix, target[rows] - chances, curvature, inverse), weights)
    return Posterior(coefficients, inverse @ np.linalg.cholesky(meat))


def _chances(odds: Floats) -> Floats:
    found: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -500.0, 500.0)))
    return found


def _step(
    pieces: Iterator[tuple[Floats, Integers, Floats]] | list[tuple[Floats, Integers, Floats]],
    target: Floats,
    coefficients: Floats,
    variances: Floats,
) -> tuple[Floats, Floats]:
    """A step of Newton's method, and the inverse of the curvature before it."""
    curvature, slope = np.diag(1.0 / variances), -coefficients / variances
    largest = np.zeros(len(coefficients))
    for matrix, rows, weights in pieces:
        chances = _chances(matrix @ coefficients)
        curvature += (matrix * (weights * chances * (1.0 - chances))[:, np.newaxis]).T @ matrix
        slope += matrix.T @ (weights * (target[rows] - chances))
        largest = np.maximum(largest, np.abs(matrix).max(axis=0, initial=0.0))
    inverse: Floats = np.linalg.inv(curvature).astype(np.float64)
    step = inverse @ slope
    # No row's log odds move farther than this.
    reach = float(largest @ np.abs(step))
    return coefficients + step * min(1.0, max(_FARTHEST / max(reach, 1e-300), 0.1)), inverse
