"""How regressions see a column that is a parent: a number by its normal score, along a line and a curve; levels.

The normal score of a number is that of the middle of the ranks that equal values share. Its curve is a cubic spline on
that score with evenly spaced knots, more of them the more rows there are; coefficients are such that their squares
measure how much the curve bends (Eilers & Marx, Flexible smoothing with B-splines and penalties, Statistical Science
1996). Levels in an order have a normal score too, and what each departs from the line by; levels in no order have a
contrast each. All features have a variance of about 1 over the rows of the table.

What is kept of a column (`Margins`) is enough to find the features of any value: of a number, 400 quantiles at most.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.table import Table
from dagpost.scores.additive_columns import contrasts_of, normal_scores

NUMBER, IN_ORDER, UNORDERED = 0, 1, 2
#: Quantiles that are kept of a number, and pieces of splines at least and at most.
_QUANTILES, _FEWEST_PIECES, _MOST_PIECES = 400, 4, 16
#: Splines bend between these shares of the rows, and are straight beyond.
_BENDING = (0.015, 0.985)
#: Curves that vary this much less than the largest are what rounding left of nothing.
_NO_CURVE = 1e-6
#: Beyond the ends a number's score goes on as steeply as between these shares of the rows.
_BETWEEN = (0.1, 0.9)


class Margins(NamedTuple):
    """What kernels need of every column; `begins` says where each has its `values` and `scores`.

    Of a number these are quantiles and their normal scores, of levels in an order the score of each code. A spline
    begins at `lowest` and has `pieces` pieces of the width `steps`.
    """

    kinds: Integers
    arities: Integers
    begins: Integers
    values: Floats
    scores: Floats
    slopes: Floats
    lowest: Floats
    steps: Floats
    pieces: int


class Features(NamedTuple):
    """The features of one column as a parent: of each of its distinct values, and how functions follow from them.

    `lines` come first and are hardly shrunk. `basis` (coefficients or levels, features) takes what features have for
    coefficients to the coefficients of a spline, or to what each level adds; without lines for pairs of levels.
    """

    codes: NDArray[np.int64]
    matrix: Floats
    lines: int
    basis: Floats


#: Kind, values and scores, the slope beyond the ends, where splines begin and the width of their pieces, and features.
_Column = tuple[int, Floats, Floats, tuple[float, float, float], Features]


def margins_of(table: Table) -> tuple[Margins, list[Features]]:
    """What is kept of each column of a complete table, and its features, in rows that count."""
    used = np.flatnonzero(table.weights > 0)
    weights = table.weights[used].astype(np.float64)
    pieces = int(np.clip(round(1.2 * weights.sum() ** 0.25), _FEWEST_PIECES, _MOST_PIECES))
    found = [_of_column(table, place, used, weights, pieces) for place in range(len(table.names))]
    sizes = [len(values) for _, values, *_ in found]
    slopes, lowest, steps = (np.array([own[3][place] for own in found]) for place in range(3))
    margins = Margins(
        np.array([own[0] for own in found], dtype=np.int64),
        np.array(table.arities, dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([own[1] for own in found]),
        np.concatenate([own[2] for own in found]),
        slopes,
        lowest,
        steps,
        pieces,
    )
    return margins, [own[4] for own in found]


def _of_column(table: Table, place: int, used: Integers, weights: Floats, pieces: int) -> _Column:
    column, levels = table.columns[place][used], table.levels[place]
    if levels is None:
        values, codes = np.unique(column, return_inverse=True)
        return _numbers(codes, values, np.bincount(codes, weights=weights).astype(np.float64), pieces)
    codes = column.astype(np.int64)
    each: Floats = np.bincount(codes, weights=weights, minlength=len(levels)).astype(np.float64)
    in_order = table.ordered[place] and MISSING_LEVEL not in levels
    return (_in_order if in_order else _unordered)(codes, each)


def _numbers(codes: NDArray[np.int64], values: Floats, each: Floats, pieces: int) -> _Column:
    score = normal_scores(each)
    first, last = score[np.searchsorted(np.cumsum(each) / each.sum(), _BENDING)]
    if last - first < 1.0:
        first, last = score[0], max(score[-1], score[0] + 1.0)
    lowest, width = float(first), float(last - first) / pieces
    coefficients = pieces + 3
    # A line has these coefficients (Greville's abscissae).
    line: Floats = lowest + (np.arange(coefficients, dtype=np.float64) - 1.0) * width
    spline = spline_matrix(score, lowest, width, pieces)
    bends = np.diff(np.eye(coefficients), 2, axis=0)
    basis = bends.T @ np.linalg.inv(bends @ bends.T)
    curves, basis = _freed(spline @ basis, basis, score, each, np.ones(coefficients), line)
    matrix = np.column_stack([score, curves])
    kept = _quantiles(values, score, each)
    lower, upper = np.searchsorted(np.cumsum(each) / each.sum(), _BETWEEN)
    rise = float(values[upper] - values[lower]) if upper > lower else 0.0
    slope = float(score[upper] - score[lower]) / rise if rise > 0.0 else 0.0
    features = Features(codes, matrix, 1, np.column_stack([line, basis]))
    return NUMBER, values[kept].astype(np.float64), score[kept], (slope, lowest, width), features


def _quantiles(values: Floats, score: Floats, each: Floats) -> Integers:
    """The places of evenly spaced quantiles, both ends among them; all where there are few."""
    if len(values) <= _QUANTILES:
        return np.arange(len(values))
    # Evenly among rows, and in the score too, so that the ends are well described.
    shares = (np.cumsum(each) - each / 2.0) / each.sum()
    half = _QUANTILES // 2
    wanted = np.searchsorted(shares, (np.arange(half) + 0.5) / half)
    ends = np.searchsorted(score, np.linspace(score[0], score[-1], half))
    last = len(values) - 1
    return np.unique(np.minimum(np.concatenate([[0, last], wanted, ends]), last))


def _in_order(codes: NDArray[np.int64], each: Floats) -> _Column:
    occurring = np.flatnonzero(each > 0)
    score = np.zeros(len(each))
    score[occurring] = normal_scores(each[occurring])
    start = np.eye(len(each))[:, occurring]
    curves, _ = _freed(start[occurring], start, score[occurring], each[occurring], None, None)
    full = np.zeros((len(each), curves.shape[1]))
    full[occurring] = curves
    matrix = np.column_stack([score, full])
    return IN_ORDER, np.arange(len(each), dtype=np.float64), score, (0.0, 0.0, 1.0), Features(codes, matrix, 1, matrix)


def _unordered(codes: NDArray[np.int64], each: Floats) -> _Column:
    occurring = np.flatnonzero(each > 0)
    own = contrasts_of(each[occurring])
    matrix = np.zeros((len(each), own.shape[1]))
    matrix[occurring] = own
    features = Features(codes, matrix, own.shape[1], matrix)
    return UNORDERED, np.arange(len(each), dtype=np.float64), np.zeros(len(each)), (0.0, 0.0, 1.0), features


def _freed(
    curves: Floats, basis: Floats, score: Floats, each: Floats, constant: Floats | None, line: Floats | None
) -> tuple[Floats, Floats]:
    """Curves freed of constant and line over the rows, the leading ones, with a variance of 1 in all."""
    root = np.sqrt(each / each.sum())[:, np.newaxis]
    straight = np.column_stack([np.ones(len(score)), score])
    shares, *_ = np.linalg.lstsq(root * straight, root * curves, rcond=None)
    curves = curves - straight @ shares
    if constant is not None and line is not None:
        basis = basis - np.outer(constant, shares[0]) - np.outer(line, shares[1])
    _, sizes, directions = np.linalg.svd(root * curves, full_matrices=False)
    kept = int((sizes > _NO_CURVE * max(float(sizes[0]), 1e-300)).sum()) if len(sizes) else 0
    kept = min(kept, max(len(score) - 2, 0))
    turned = directions[:kept].T / math.sqrt(float((sizes[:kept] ** 2).sum())) if kept else directions[:0].T
    return curves @ turned, basis @ turned


def spline_matrix(score: Floats, lowest: float, width: float, pieces: int) -> Floats:
    """The B-splines of each score, straight beyond the ends: (scores, coefficients)."""
    result = np.zeros((len(score), pieces + 3))
    place = (score - lowest) / width
    inside = np.clip(place, 0.0, float(pieces))
    piece = np.minimum(inside.astype(np.int64), pieces - 1)
    t, beyond, rows = inside - piece, place - inside, np.arange(len(score))
    heights = (1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3
    slopes = -3 * (1 - t) ** 2, 9 * t**2 - 12 * t, -9 * t**2 + 6 * t + 3, 3 * t**2
    for own, (height, slope) in enumerate(zip(heights, slopes, strict=True)):
        result[rows, piece + own] = (height + beyond * slope) / 6.0
    return result


@inline_no_refcount
def score_at(margins: Margins, column: int, value: float) -> float:
    """The normal score of any number, or of the code of a level."""
    first, last = margins.begins[column], margins.begins[column + 1] - 1
    if margins.kinds[column] != NUMBER:
        found: float = margins.scores[first + int(value)]
        return found
    if value <= margins.values[first]:
        below: float = margins.scores[first] + margins.slopes[column] * (value - margins.values[first])
        return below
    if value >= margins.values[last]:
        above: float = margins.scores[last] + margins.slopes[column] * (value - margins.values[last])
        return above
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if margins.values[middle] <= value:
            low = middle
        else:
            high = middle
    share = (value - margins.values[low]) / (margins.values[high] - margins.values[low])
    between: float = margins.scores[low] + share * (margins.scores[high] - margins.scores[low])
    return between


@inline_no_refcount
def spline_at(margins: Margins, column: int, score: float, coefficients: Floats, begin: int) -> float:
    """The value of a spline at a score; beyond its ends it goes on straight."""
    pieces, width = margins.pieces, margins.steps[column]
    place = (score - margins.lowest[column]) / width
    beyond = 0.0
    if place < 0.0:
        beyond, place = place, 0.0
    elif place > pieces:
        beyond, place = place - pieces, float(pieces)
    piece = min(int(place), pieces - 1)
    t = place - piece
    at = begin + piece
    a, b, c, d = coefficients[at], coefficients[at + 1], coefficients[at + 2], coefficients[at + 3]
    left = 1.0 - t
    value: float = (
        left * left * left * a
        + (3.0 * t * t * t - 6.0 * t * t + 4.0) * b
        + (-3.0 * t * t * t + 3.0 * t * t + 3.0 * t + 1.0) * c
        + t * t * t * d
    ) / 6.0
    if beyond != 0.0:
        value += beyond * (left * left * (b - a) + (1.0 + 2.0 * t - 2.0 * t * t) * (c - b) + t * t * (d - c)) / 2.0
    return value
