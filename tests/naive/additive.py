"""The additive score from its definitions: one function a definition, every row on its own, no shared work.

Numbers, and levels in an order, become normal scores and splines of them; other levels become contrasts. The evidence
of a regression is the matrix t density of a column's features in all rows at once, that of a set is the mean over the
orders of its columns, and the score of a family is the evidence with the child less that without it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln

from dagpost.data.files import MISSING_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dagpost.data.table import Table

Matrix = NDArray[np.float64]

INTERCEPT = 100.0
NEGLIGIBLE = 1e-6
MOST_EFFECTS, MOST_WITH_TIES = 20, 60


class Features(NamedTuple):
    """What a column says about another: a matrix with a row for each row of the table, for lines and for curves."""

    line: Matrix
    curve: Matrix


@dataclass(frozen=True)
class Prior:
    """The settings of the score."""

    slope: float = 1.0
    curve: float = 0.5


def log_mean(logs: Sequence[float]) -> float:
    """The log of the mean of numbers given by their logs."""
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs) / len(logs))


# Features, from all rows


def normal_scores(values: Sequence[float], times: Sequence[int]) -> Matrix:
    """The normal quantile of the share of smaller values, equal ones counting half; mean 0 and variance 1."""
    total = sum(times)
    if len({value for value, count in zip(values, times, strict=True) if count}) <= 1:
        return np.zeros(len(values))
    own = list(zip(values, times, strict=True))
    result = np.zeros(len(values))
    for row, value in enumerate(values):
        smaller = sum(count for other, count in own if other < value)
        equal = sum(count for other, count in own if other == value)
        # A value that no row with a weight has is never used.
        share = (smaller + equal / 2) / total
        result[row] = NormalDist().inv_cdf(share) if 0 < share < 1 else 0.0
    weights = np.array(times, dtype=float)
    result -= result @ weights / total
    return result / math.sqrt(result**2 @ weights / total)


def quantile(x: Matrix, times: Sequence[int], numerator: int, denominator: int) -> float:
    """The middle between the smallest value up to which at least that share lies, and up to which more than it lies."""
    own = sorted((value, count) for value, count in zip(x.tolist(), times, strict=True) if count)
    shares = [(value, sum(count for other, count in own if other <= value)) for value, _ in own]
    at_least = next(value for value, below in shares if below * denominator >= sum(times) * numerator)
    more_than = next(value for value, below in shares if below * denominator > sum(times) * numerator)
    return (at_least + more_than) / 2


def curve_of(x: Matrix, times: Sequence[int]) -> Matrix:
    """What cubic splines with two knots say beyond a line: orthonormal columns, in the rows with a weight."""
    seen = {value for value, count in zip(x.tolist(), times, strict=True) if count}
    if len(seen) <= 2:
        return np.zeros((len(x), 0))
    roots = np.sqrt(np.array(times, dtype=float) / sum(times))
    knots = [quantile(x, times, 1, 3), quantile(x, times, 2, 3)]
    splines = np.column_stack([x**2, x**3, *(np.maximum(x - knot, 0.0) ** 3 for knot in knots)])
    lines = np.column_stack([np.ones_like(x), x])
    left = splines
    for _ in range(2):
        left = left - lines @ (lines.T @ (roots[:, None] ** 2 * left))
    _, sizes, directions = np.linalg.svd(roots[:, None] * left, full_matrices=False)
    kept = sizes > NEGLIGIBLE * sizes[0]
    return left @ directions[kept].T / sizes[kept]


def contrasts_of(codes: NDArray[np.integer], times: Sequence[int]) -> Matrix:
    """Levels against those before them (Helmert), of length 1 and then times the root of 2, among those that occur.

    Of more than `MOST_EFFECTS`, those that are less frequent than the last of so many are one level; so are those that
    are as frequent as that one, where more than `MOST_WITH_TIES` would be left.
    """
    each: Counter[int] = Counter()
    for code, count in zip(codes.tolist(), times, strict=True):
        each[code] += count
    seen = sorted(code for code, count in each.items() if count)
    rare = sorted((each[code] for code in seen), reverse=True)[MOST_EFFECTS - 1] if len(seen) > MOST_EFFECTS else 0
    if sum(each[code] >= rare for code in seen) > MOST_WITH_TIES:
        rare += 1
    groups = [[code] for code in seen if each[code] >= rare]
    if len(groups) < len(seen):
        groups.append([code for code in seen if each[code] < rare])
    contrasts = np.zeros((len(codes), max(len(groups) - 1, 0)))
    for place in range(1, len(groups)):
        own = np.zeros(len(groups))
        own[:place], own[place] = 1.0, -place
        own *= math.sqrt(2.0) / math.sqrt(place * (place + 1))
        for group, value in zip(groups, own.tolist(), strict=True):
            contrasts[np.isin(codes, group), place - 1] = value
    return contrasts


def features_of(table: Table, column: int) -> Features:
    """Those of a column, by its kind."""
    values, times = table.columns[column], table.weights.tolist()
    levels = table.levels[column]
    seen = {value for value, count in zip(values.tolist(), times, strict=True) if count}
    in_order = len(seen) <= 2 or (table.ordered[column] and MISSING_LEVEL not in (levels or ()))
    if levels is not None and not in_order:
        return Features(contrasts_of(values, times), np.zeros((table.rows, 0)))
    x = normal_scores([float(value) for value in values], times)
    return Features(x[:, None], curve_of(x, times))


# Regressions, from the rows that count


def log_density(ys: Matrix, inputs: Matrix, variances: Sequence[float], times: Sequence[int]) -> float:
    """The log density of some features in all rows, each row so many times: a matrix t density.

    Its matrix between rows is `1 + X V X'`: coefficients have these variances times the covariance of the noise, which
    is inverse Wishart around 1 with a degree of freedom more than there are features. Rows that are alike are one row:
    with both sides times the root of their number, the determinant is theirs.
    """
    used, count, width = np.array(times) > 0, sum(times), ys.shape[1]
    degrees = width + 1
    roots = np.sqrt(np.array(times, dtype=float)[used])[:, None]
    own, of_inputs = roots * ys[used], roots * inputs[used]
    spread = np.eye(len(own)) + of_inputs @ np.diag(variances) @ of_inputs.T
    left = np.eye(width) + own.T @ np.linalg.solve(spread, own)
    return float(
        multigammaln((degrees + count) / 2, width)
        - multigammaln(degrees / 2, width)
        - count * width / 2 * math.log(math.pi)
        - width / 2 * np.linalg.slogdet(spread)[1]
        - (degrees + count) / 2 * np.linalg.slogdet(left)[1]
    )


class Evidence:
    """The evidence of regressions and of sets of columns, in a table."""

    def __init__(self, table: Table, prior: Prior | None = None) -> None:
        self.table, self.prior = table, prior or Prior()
        self.features = [features_of(table, column) for column in range(len(table.names))]
        self._known: dict[tuple[frozenset[int], tuple[int, ...]], float] = {}

    def times(self, child: int) -> tuple[int, ...]:
        """How often each row counts for a column: not at all where it was set."""
        masks = self.table.interventions
        return tuple(
            0 if masks is not None and int(masks[row]) >> child & 1 else int(count)
            for row, count in enumerate(self.table.weights)
        )

    def with_curves(self, child: int, lines: Sequence[int], curves: Sequence[int], times: Sequence[int]) -> float:
        """The evidence of one regression; nothing to explain has evidence 1."""
        if not self.features[child].line.shape[1]:
            return 0.0
        parts = [np.ones((self.table.rows, 1)), *(self.features[column].line for column in lines)]
        bends = [self.features[column].curve for column in curves]
        variances = [INTERCEPT, *[self.prior.slope] * sum(part.shape[1] for part in parts[1:])]
        variances += [self.prior.curve] * sum(bend.shape[1] for bend in bends)
        return log_density(self.features[child].line, np.hstack(parts + bends), variances, times)

    def regression(self, child: int, given: frozenset[int], times: Sequence[int]) -> float:
        """R(c | P): the mean over all choices of the columns that act by a curve."""
        columns = sorted(given)
        bent = [column for column in columns if self.features[column].curve.shape[1]]
        choices = [chosen for size in range(len(bent) + 1) for chosen in combinations(bent, size)]
        return log_mean([self.with_curves(child, columns, chosen, times) for chosen in choices])

    def of_set(self, columns: frozenset[int], times: tuple[int, ...]) -> float:
        """F(S): the mean over which column comes last."""
        if not columns:
            return 0.0
        key = columns, times
        if key not in self._known:
            self._known[key] = log_mean(
                [self.of_set(columns - {c}, times) + self.regression(c, columns - {c}, times) for c in sorted(columns)]
            )
        return self._known[key]

    def score(self, child: int, parents: Sequence[int]) -> float:
        """The score of a family, from the rows in which the child was not set."""
        times, given = self.times(child), frozenset(parents)
        return self.of_set(given | {child}, times) - self.of_set(given, times)


def families(table: Table, max_parents: int) -> Iterator[tuple[int, list[int]]]:
    """Every family of interest, as a child with its parents."""
    indicators = {column for column, name in enumerate(table.names) if name in table.regimes}
    most_others, most_indicators = (max_parents, max_parents) if table.limits is None else table.limits
    for child in set(range(len(table.names))) - indicators:
        others = [column for column in range(len(table.names)) if column != child]
        for size in range(min(max_parents, len(others)) + 1):
            for parents in combinations(others, size):
                changed = len(indicators & set(parents))
                if changed <= most_indicators and size - changed <= most_others:
                    yield child, list(parents)
