"""Which values may missing cells have, of levels and of numbers on any scale, given a graph or nothing?

Every column with gaps in turn is drawn given the others (chained equations; van Buuren, Flexible imputation of missing
data, 2018): all others at the start, and then its Markov blanket in a graph. A column of numbers is regressed on these,
each along a line and curves, in normal scores; a column of levels by logistic regressions, one for each level among the
rows that have none before it. How far lines and curves of each column are shrunk is learned, and parameters are drawn
from their posterior. A missing number is one of the observed ones, that of a row with about the same prediction
(predictive mean matching; Little 1988), so that it may have any distribution, whole numbers and bounds included.

The regressions of two columns need not agree with one joint distribution, and in what is left out of them the score
may differ: for columns that follow the score what is found is close to its posterior, and by benchmarks/erased.py it is
nearer to what complete tables say than cells drawn under models that columns do not follow.

Every value that a cell can get was observed in its column, so features are made once and looked up by code.

Time: for each column with gaps and each round, rows times the square of the features of its blanket.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.additive_columns import features_of_column
from dagpost.scores.columns import check_written_out

#: Rounds over all columns from cells drawn at random, before there is a graph.
_ROUNDS = 6
#: A missing number is that of one of so many observed rows with the nearest predictions, or that tie with these.
_DONORS = 5
#: Prior variances of intercepts, lines and curves before anything is learned, in units of the noise; how many
#: coefficients that is worth; in how many steps it is learned.
_INTERCEPT, _LINE, _CURVE, _FIRM, _STEPS = 1e4, 1.0, 0.1, 1.0, 6
#: The farthest that log odds move in a step.
_FARTHEST = 3.0


class _Column(NamedTuple):
    """What was observed of a column: its distinct values, ascending, and the features of each, lines before curves."""

    values: Floats
    features: Floats
    lines: int
    is_number: bool
    gaps: Integers
    #: The rows that its regression is learned from: those where it was not set from outside.
    used: Integers
    weights: Floats


class _Regression(NamedTuple):
    """Prior variances of its coefficients before they are learned, and which of them are learned together."""

    start: Floats
    groups: Integers


class ChainedCompleter:
    """Draws missing cells of any kind by regressions of each column on others."""

    def __init__(self, table: Table) -> None:
        check_written_out(table)
        assert table.gaps is not None
        weights, nodes = table.weights.astype(np.float64), len(table.names)
        self._codes, self._columns = np.zeros((nodes, table.rows), dtype=np.int64), []
        for node, gaps in enumerate(table.gaps):
            column, levels = table.columns[node], table.levels[node]
            known = np.flatnonzero(~gaps & (weights > 0))
            codes, lines, curves = features_of_column(column[known], levels, table.ordered[node], weights[known])
            self._codes[node, known] = codes
            values, features = np.unique(column[known]).astype(np.float64), np.hstack([lines, curves])
            free = known[~_was_set(table, node)[known]]
            # Where a column was set whenever it has a value, there is nothing else to go by.
            used = free if len(free) else known
            self._columns.append(
                _Column(values, features, lines.shape[1], levels is None, np.flatnonzero(gaps), used, weights[used])
            )
        counts = [len(column.gaps) for column in self._columns]
        # What is known best comes first.
        self._order: list[int] = [node for node in np.argsort(counts, kind="stable").tolist() if counts[node]]

    def begin(self, generator: np.random.Generator) -> Floats:
        """Cells drawn by regressions on all other columns, from observed values at random."""
        codes = self._codes.copy()
        for node in self._order:
            column = self._columns[node]
            chances = np.bincount(codes[node, column.used], column.weights, len(column.values))
            drawn = generator.choice(len(chances), len(column.gaps), p=chances / chances.sum())
            codes[node, column.gaps] = drawn
        everyone = list(range(len(codes)))
        for _ in range(_ROUNDS):
            for node in self._order:
                self._redraw_column(node, [other for other in everyone if other != node], codes, generator)
        return self._cells(codes)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round over all columns, each given its Markov blanket in the graph."""
        codes, blankets, used = self._codes.copy(), _blankets(families), 0
        for column, own in zip(self._columns, codes, strict=True):
            own[column.gaps] = np.searchsorted(column.values[:-1], cells[used : used + len(column.gaps)])
            used += len(column.gaps)
        for node in self._order:
            if cancel[0]:
                return
            self._redraw_column(node, np.flatnonzero(blankets[node]).tolist(), codes, generator)
        cells[:] = self._cells(codes)

    def _cells(self, codes: NDArray[np.int64]) -> Floats:
        """The cells of the gaps, as tables are filled with them."""
        pairs = zip(self._columns, codes, strict=True)
        return np.concatenate([column.values[own[column.gaps]] for column, own in pairs])

    def _redraw_column(
        self, node: int, others: list[int], codes: NDArray[np.int64], generator: np.random.Generator
    ) -> None:
        column = self._columns[node]
        if len(column.values) == 1:
            return
        looked_up = [self._columns[other].features[codes[other]] for other in others]
        matrix = np.hstack([np.ones((codes.shape[1], 1)), *looked_up])
        seen, missing = matrix[column.used], matrix[column.gaps]
        own, regression = codes[node, column.used], self._regression(others)
        if column.is_number:
            middle, drawn = _number_regression(column.features[own, 0], seen, column.weights, regression, generator)
            donors = _matched(seen @ middle, missing @ drawn, column.weights, generator)
            codes[node, column.gaps] = own[donors]
            return
        uniforms, left = generator.random(len(missing)), np.ones(len(missing))
        found = np.full(len(missing), len(column.values) - 1)
        for level in range(len(column.values) - 1):
            rows = own >= level
            drawn = _level_regression(own[rows] == level, seen[rows], column.weights[rows], regression, generator)
            left *= 1.0 - _chances(missing @ drawn)
            # Where less is left than was drawn, an earlier level has it already, or this one gets it.
            found = np.where((1.0 - uniforms > left) & (found > level), level, found)
        codes[node, column.gaps] = found

    def _regression(self, others: list[int]) -> _Regression:
        start, groups = [np.full(1, _INTERCEPT)], [np.zeros(1, dtype=np.int64)]
        for number, other in enumerate(others):
            lines, features = self._columns[other].lines, self._columns[other].features.shape[1]
            start += [np.full(lines, _LINE), np.full(features - lines, _CURVE)]
            groups += [np.full(lines, 2 * number + 1), np.full(features - lines, 2 * number + 2)]
        return _Regression(np.concatenate(start), np.concatenate(groups))


def _was_set(table: Table, node: int) -> Flags:
    """The rows in which a column was set from outside."""
    if table.interventions is None:
        return np.zeros(table.rows, dtype=np.bool_)
    result: Flags = table.interventions >> np.uint64(node) & np.uint64(1) == 1
    return result


def _blankets(families: Members) -> Flags:
    """For each node, which others are its parents, children, or parents of its children; none is its own."""
    nodes = len(families)
    parents = np.zeros((nodes, nodes + 1), dtype=np.bool_)
    np.put_along_axis(parents, families.astype(np.int64), True, axis=1)
    parents = parents[:, :nodes]
    result: Flags = parents | parents.T | (parents.T @ parents)
    np.fill_diagonal(result, False)
    return result


def _learned(regression: _Regression, squares: Floats) -> Floats:
    """Prior variances of the lines and of the curves of each column, given the expected squares of coefficients."""
    groups = regression.groups
    sums, counts = np.bincount(groups, squares), np.bincount(groups)
    result: Floats = (_FIRM * regression.start + sums[groups]) / (_FIRM + counts[groups])
    result[0] = _INTERCEPT
    return result


def _number_regression(
    target: Floats, seen: Floats, weights: Floats, regression: _Regression, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """The middle of the posterior of its coefficients, and a draw."""
    weighted = seen * weights[:, np.newaxis]
    gram, cross = weighted.T @ seen, weighted.T @ target
    square, total, variances = float(weights @ target**2), float(weights.sum()), regression.start
    for _ in range(_STEPS):
        root = _root(gram, variances)
        middle = root.T @ (root @ cross)
        left = max(square - float(cross @ middle), 0.0) + 1.0
        variances = _learned(regression, middle**2 * (total + 1.0) / left + (root**2).sum(axis=0))
    deviation = np.sqrt(left / generator.chisquare(total + 1.0))
    return middle, middle + deviation * (root.T @ generator.standard_normal(len(middle)))


def _level_regression(
    target: Flags, seen: Floats, weights: Floats, regression: _Regression, generator: np.random.Generator
) -> Floats:
    """A draw from the posterior of its coefficients, as normal as it is at its top."""
    variances, middle = regression.start, np.zeros(len(regression.start))
    share = (float(weights @ target) + 0.5) / (float(weights.sum()) + 1.0)
    middle[0] = np.log(share / (1.0 - share))
    for _ in range(_STEPS):
        chances = _chances(seen @ middle)
        curvature = weights * chances * (1.0 - chances)
        root = _root((seen * curvature[:, np.newaxis]).T @ seen, variances)
        step = root.T @ (root @ (seen.T @ (weights * (target - chances)) - middle / variances))
        middle = middle + step * min(1.0, _FARTHEST / max(float(np.abs(seen @ step).max()), _FARTHEST))
        variances = _learned(regression, middle**2 + (root**2).sum(axis=0))
    drawn: Floats = middle + root.T @ generator.standard_normal(len(middle))
    return drawn


def _root(gram: Floats, variances: Floats) -> Floats:
    """A matrix whose transpose times itself is the covariance of coefficients, but for the noise."""
    factor = np.linalg.cholesky(gram + np.diag(1.0 / variances))
    root: Floats = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return root


def _chances(odds: Floats) -> Floats:
    chances: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -500.0, 500.0)))
    return chances


def _matched(known: Floats, wanted: Floats, weights: Floats, generator: np.random.Generator) -> Integers:
    """For each wanted prediction one of the rows with the nearest known ones, drawn by their weights."""
    order = np.argsort(known, kind="stable")
    known, ends = known[order], np.cumsum(weights[order])
    count = min(_DONORS, len(known))
    after = np.searchsorted(known, wanted)
    first, nearest = np.zeros(len(wanted), dtype=np.int64), np.full(len(wanted), np.inf)
    for shift in range(count + 1):
        start = np.clip(after - shift, 0, len(known) - count)
        farthest = np.maximum(np.abs(wanted - known[start]), np.abs(known[start + count - 1] - wanted))
        first = np.where(farthest < nearest, start, first)
        nearest = np.minimum(farthest, nearest)
    # Rows that tie with one of the nearest are as near.
    lowest = np.searchsorted(known, known[first])
    highest = np.searchsorted(known, known[first + count - 1], side="right")
    below = np.concatenate([[0.0], ends])
    at = below[lowest] + generator.random(len(wanted)) * (below[highest] - below[lowest])
    found: Integers = order[np.minimum(np.searchsorted(ends, at, side="right"), len(order) - 1)]
    return found
