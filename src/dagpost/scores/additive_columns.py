"""What a column brings to the regressions of the additive score: features, and the sums of their products over rows.

A column of numbers, of two levels, or of more in an order brings its normal score (of the middle of the ranks that
equal values share) as a line, and up to four curves: cubic splines with knots at its tertiles, freed of constant and
line and made orthonormal. A column of levels in no order brings contrasts of its levels. Numbers are seen through their
ranks only, so that no unit and no monotone change of scale matters. As a child, a column is its lines.

Everything that a regression needs is in the sums of products, which are made once; afterwards no row is looked at.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.table import Table

#: A level in no order has an effect of its own, with the variance of this many slopes: two levels are then as far from
#: each other beforehand as the halves of a column of numbers.
_LEVEL_SCALE = math.sqrt(2.0)
#: Levels in no order that are rarer than this many others share an effect; of those that tie for the last place, all
#: have their own, as long as there are not too many then.
_MOST_EFFECTS, _MOST_WITH_TIES = 20, 60
#: Curves that are this much smaller than the largest are what rounding left of nothing.
_NO_CURVE = 1e-6
_ROWS_AT_A_TIME = 50_000


class Features(NamedTuple):
    """What each column brings: the values of its features for each of its codes, or distinct values."""

    #: The place of each row's value in the rows of `lines` and `curves`.
    codes: tuple[NDArray[np.int64], ...]
    lines: tuple[Floats, ...]
    curves: tuple[Floats, ...]


class Design(NamedTuple):
    """Sums over the rows that count, of one run.

    Feature 0 is the intercept; column `j` has `lines[j]` lines from `first[j]` on, and `curves[j]` curves after them.
    `constants[j]` is what the number of rows alone adds to the log evidence of a regression of it.
    """

    gram: Floats
    first: Integers
    lines: Integers
    curves: Integers
    constants: Floats
    observations: float


def features_of(table: Table) -> Features:
    """The features of every column of a table, over all rows that count."""
    weights = table.weights.astype(np.float64)
    found = [
        features_of_column(column, levels, ordered, weights)
        for column, levels, ordered in zip(table.columns, table.levels, table.ordered, strict=True)
    ]
    codes, lines, curves = zip(*found, strict=True)
    return Features(codes, lines, curves)


def features_of_column(
    column: NDArray[np.generic], levels: tuple[Any, ...] | None, ordered: bool, weights: Floats
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The place of each row among the distinct values, and the lines and curves of these."""
    values, codes = np.unique(column, return_inverse=True)
    each: Floats = np.bincount(codes, weights=weights, minlength=len(values)).astype(np.float64)
    occurring = np.flatnonzero(each > 0)
    # Where no value is a level of its own, it has no place among the others.
    in_order = levels is None or (ordered and MISSING_LEVEL not in levels)
    if not in_order and len(occurring) > 2:
        own = contrasts_of(each[occurring])
        lines = np.zeros((len(values), own.shape[1]))
        lines[occurring] = own
        return codes, lines, np.zeros((len(values), 0))
    lines, curves = np.zeros((len(values), 1)), np.zeros((len(values), 0))
    if len(occurring) > 1:
        lines[occurring, 0], own = _line_and_curves(each[occurring])
        curves = np.zeros((len(values), own.shape[1]))
        curves[occurring] = own
    return codes, lines, curves


def contrasts_of(each: Floats) -> Floats:
    """The features of levels that occur so often, such that every one has an effect of the same variance."""
    limit = np.sort(each)[-_MOST_EFFECTS] if len(each) > _MOST_EFFECTS else 0.0
    # Levels that are as rare as each other are treated alike, whatever they are called.
    apart = each >= limit if (each >= limit).sum() <= _MOST_WITH_TIES else each > limit
    effect = np.where(apart, np.cumsum(apart) - 1, int(apart.sum()))
    count = int(effect.max(initial=0)) + 1
    # An orthonormal basis of all contrasts (Helmert's).
    basis = np.zeros((count, count - 1))
    for place in range(count - 1):
        basis[: place + 1, place] = 1.0
        basis[place + 1, place] = -(place + 1.0)
        basis[:, place] /= math.sqrt((place + 1.0) * (place + 2.0))
    return _LEVEL_SCALE * basis[effect]


def normal_scores(each: Floats) -> Floats:
    """The normal scores of ascending values that occur so often, of mean 0 and variance 1; zeros for one value."""
    from scipy.special import ndtri

    total = each.sum()
    score: Floats = ndtri((np.cumsum(each) - each / 2.0) / total)
    score -= each @ score / total
    return score / max(math.sqrt(each @ score**2 / total), np.finfo(float).tiny)


def _line_and_curves(each: Floats) -> tuple[Floats, Floats]:
    """The normal scores of ascending values that occur so often, and their curves."""
    line, total, below = normal_scores(each), each.sum(), np.cumsum(each)
    # Where a share ends between two values, the middle: a scale that is turned round has the same curves.
    shares = np.array([[1.0], [2.0]]) / 3.0 * total * (1.0 + 1e-12 * np.array([-1.0, 1.0]))
    knots = line[np.searchsorted(below, shares)].mean(axis=1).tolist()
    bends = np.column_stack([line**2, line**3, *(np.maximum(line - knot, 0.0) ** 3 for knot in knots)])
    root = np.sqrt(each / total)[:, np.newaxis]
    straight, _ = np.linalg.qr(root * np.column_stack([np.ones(len(line)), line]))
    bends *= root
    # Twice, so that nothing of a line is left.
    for _ in range(2):
        bends -= straight @ (straight.T @ bends)
    bends /= np.maximum(np.sqrt((bends**2).sum(axis=0)), np.finfo(float).tiny)
    own, sizes, _ = np.linalg.svd(bends, full_matrices=False)
    kept = min(int((sizes > _NO_CURVE * sizes[0]).sum()), max(len(each) - 2, 0))
    return line, own[:, :kept] / root


def design_of(table: Table, features: Features, used: Flags) -> Design:
    """The sums over the rows that are used."""
    rows = np.flatnonzero(used & (table.weights > 0))
    weights = table.weights[rows]
    lines = np.array([own.shape[1] for own in features.lines], dtype=np.int64)
    curves = np.array([own.shape[1] for own in features.curves], dtype=np.int64)
    ends = 1 + np.cumsum(lines + curves)
    first, observations = ends - lines - curves, float(weights.sum())
    at_a_time = min(_ROWS_AT_A_TIME, len(rows))
    memory.require(16 * int(ends[-1]) * at_a_time, "The features of some rows", "Leave out columns.")
    gram = np.zeros((int(ends[-1]),) * 2)
    both = [np.hstack(own) for own in zip(features.lines, features.curves, strict=True)]
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        some = slice(start, start + at_a_time)
        matrix = np.ones((len(rows[some]), len(gram)))
        for codes, at, own in zip(features.codes, first, both, strict=True):
            matrix[:, at : at + own.shape[1]] = own[codes[rows[some]]]
        gram += (matrix * weights[some, np.newaxis]).T @ matrix
    constants = np.array([evidence_of_rows(observations, own) for own in lines.tolist()])
    return Design(gram, first, lines, curves, constants, observations)


def evidence_of_rows(observations: float, width: int) -> float:
    """What the number of rows alone adds to the log evidence of a regression of so many features together."""
    degrees = width + 1.0
    total = -observations * width / 2.0 * math.log(math.pi)
    for own in range(width):
        total += math.lgamma((degrees + observations - own) / 2.0) - math.lgamma((degrees - own) / 2.0)
    return total
