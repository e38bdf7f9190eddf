"""Which values may missing cells have, of levels and of numbers on any scale, given a graph or nothing?

At the start every column with gaps is drawn in turn given all others, some rounds from random values (chained
equations; van Buuren, Flexible imputation of missing data, 2018). Given a graph, parameters of every family are drawn
first, and then each cell given the parents and children of its column. A column of numbers is regressed on its parents,
each along a line and curves, in normal scores; a column of levels by logistic regressions, one for each level among the
rows that have none before it. How far the lines and curves of each parent are shrunk is learned.

A missing level is drawn by the chances of all levels. A missing number is one of those observed: proposals are the
prediction and the residual of a row with about the same prediction, so that noise may have any shape and be wider in
some places; which of them, or the cell as it is, is drawn by how well they suit the children (iterated sampling and
resampling: Andrieu, Lee & Vihola 2018), which may be bent. So a cause is drawn right whose effect is the same at both
ends.

These regressions are not those that the score integrates over: the distribution of cells is close to that of its
posterior, not equal. Which way is nearer to what complete tables say is measured by benchmarks/erased.py.

Every value that a cell can get was observed in its column, so features are made once and looked up by code.

Time: for each family and round, rows times the square of its features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.additive_columns import features_of_column
from dagpost.scores.columns import check_written_out

#: Rounds over all columns from cells drawn at random, before there is a graph.
_ROUNDS = 6
#: The residual of a number is that of one of so many observations with the nearest predictions; proposals for a cell.
_DONORS, _PROPOSALS = 30.0, 20
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
    #: Where it was set from outside: nothing that led there says why.
    was_set: Flags
    #: The rows that its regression is learned from: those where it was not set from outside.
    used: Integers
    weights: Floats


class _Family(NamedTuple):
    """A column given some others, with drawn coefficients: of numbers, or of each level but the last.

    `residuals` of the rows that numbers were learned from are in the order of `predictions`, with the sums of their
    weights; `deviation` is their size.
    """

    others: list[int]
    coefficients: Floats
    predictions: Floats
    residuals: Floats
    ends: Floats
    deviation: float


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
            was_set = _was_set(table, node)
            free = known[~was_set[known]]
            # Where a column was set whenever it has a value, there is nothing else to go by.
            used = free if len(free) else known
            self._columns.append(
                _Column(
                    values, features, lines.shape[1], levels is None, np.flatnonzero(gaps), was_set, used, weights[used]
                )
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
            codes[node, column.gaps] = generator.choice(len(chances), len(column.gaps), p=chances / chances.sum())
        for _ in range(_ROUNDS):
            for node in self._order:
                every_other = [other for other in range(len(codes)) if other != node]
                self._draw_cells(node, self._family(node, every_other, codes, generator), {}, codes, generator)
        return self._cells(codes)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """Parameters of all families, given all cells, and then each cell given the others."""
        codes, used = self._codes.copy(), 0
        for column, own in zip(self._columns, codes, strict=True):
            own[column.gaps] = np.searchsorted(column.values[:-1], cells[used : used + len(column.gaps)])
            used += len(column.gaps)
        parents = [[other for other in own if other < len(codes)] for own in families.tolist()]
        drawn: dict[int, _Family] = {}
        for node, above in enumerate(parents):
            if cancel[0]:
                return
            if len(self._columns[node].values) > 1 and any(len(self._columns[other].gaps) for other in [node, *above]):
                drawn[node] = self._family(node, above, codes, generator)
        for node in self._order:
            if node in drawn:
                children = {child: family for child, family in drawn.items() if node in family.others}
                self._draw_cells(node, drawn[node], children, codes, generator)
        cells[:] = self._cells(codes)

    def _cells(self, codes: NDArray[np.int64]) -> Floats:
        """The cells of the gaps, as tables are filled with them."""
        pairs = zip(self._columns, codes, strict=True)
        return np.concatenate([column.values[own[column.gaps]] for column, own in pairs])

    def _matrix(self, others: list[int], codes: NDArray[np.int64]) -> Floats:
        """The features of some columns at some rows, intercept first."""
        looked_up = [self._columns[other].features[codes[other]] for other in others]
        return np.hstack([np.ones((codes.shape[1], 1)), *looked_up])

    def _family(
        self, node: int, others: list[int], codes: NDArray[np.int64], generator: np.random.Generator
    ) -> _Family:
        """The regression of a column on some others, with coefficients drawn from their posterior."""
        column, start, groups = self._columns[node], [np.full(1, _INTERCEPT)], [np.zeros(1, dtype=np.int64)]
        for number, other in enumerate(others):
            lines, features = self._columns[other].lines, self._columns[other].features.shape[1]
            start += [np.full(lines, _LINE), np.full(features - lines, _CURVE)]
            groups += [np.full(lines, 2 * number + 1), np.full(features - lines, 2 * number + 2)]
        prior = _Prior(np.concatenate(start), np.concatenate(groups))
        own, seen = codes[node, column.used], self._matrix(others, codes[:, column.used])
        if column.is_number:
            target = column.features[own, 0]
            middle, drawn, deviation = _number_regression(target, seen, column.weights, prior, generator)
            predictions = seen @ middle
            # Rows that tie are in no order that means anything.
            shuffled = generator.permutation(len(predictions))
            order = shuffled[np.argsort(predictions[shuffled], kind="stable")]
            ends = np.cumsum(column.weights[order])
            return _Family(
                others, drawn[np.newaxis], predictions[order], (target - predictions)[order], ends, deviation
            )
        every = [
            _level_regression(own[rows] == level, seen[rows], column.weights[rows], prior, generator)
            for level in range(len(column.values) - 1) for rows in [own >= level]
        ]  # fmt: skip
        nothing = np.zeros(0)
        return _Family(others, np.array(every), nothing, nothing, nothing, 1.0)

    def _draw_cells(
        self,
        node: int,
        family: _Family,
        children: dict[int, _Family],
        codes: NDArray[np.int64],
        generator: np.random.Generator,
    ) -> None:
        """The missing cells of a column, given its family and those of its children."""
        column = self._columns[node]
        rows = column.gaps
        predicted = self._matrix(family.others, codes[:, rows]) @ family.coefficients.T
        if column.is_number:
            proposed = _proposals(column, family, predicted[:, 0], _PROPOSALS if children else 1, generator)
            candidates = np.vstack([codes[node, rows][np.newaxis], proposed]) if children else proposed
            logs = np.zeros(candidates.shape)
        else:
            candidates = np.tile(np.arange(len(column.values))[:, np.newaxis], len(rows))
            logs = _log_chances(predicted).T
        for child, own in children.items():
            likelihood = self._log_likelihood(child, own, node, candidates, codes[:, rows])
            logs = logs + np.where(self._columns[child].was_set[rows], 0.0, likelihood)
        # The largest after Gumbel noise is a draw in proportion to the exponentials.
        chosen = (logs + generator.gumbel(size=logs.shape)).argmax(axis=0)
        codes[node, rows] = candidates[chosen, np.arange(len(rows))]

    def _log_likelihood(
        self, child: int, family: _Family, node: int, candidates: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> Floats:
        """What each candidate for a cell makes of the child in the same row: (candidates, rows)."""
        column, at = self._columns[child], 1
        predicted = np.zeros((1, codes.shape[1], len(family.coefficients))) + family.coefficients[:, 0]
        for other in family.others:
            features = self._columns[other].features
            ways = features @ family.coefficients[:, at : at + features.shape[1]].T
            predicted = predicted + ways[candidates if other == node else codes[other][np.newaxis]]
            at += features.shape[1]
        if column.is_number:
            away = (column.features[codes[child], 0] - predicted[:, :, 0]) / family.deviation
            found: Floats = -0.5 * away**2
            return found
        logs = _log_chances(predicted.reshape(-1, predicted.shape[2])).reshape(*predicted.shape[:2], -1)
        return np.take_along_axis(logs, codes[child][np.newaxis, :, np.newaxis], axis=2)[:, :, 0]


class _Prior(NamedTuple):
    """Prior variances of coefficients before they are learned, and which of them are learned together."""

    start: Floats
    groups: Integers


def _was_set(table: Table, node: int) -> Flags:
    """The rows in which a column was set from outside."""
    if table.interventions is None:
        return np.zeros(table.rows, dtype=np.bool_)
    result: Flags = table.interventions >> np.uint64(node) & np.uint64(1) == 1
    return result


def _learned(prior: _Prior, squares: Floats) -> Floats:
    """Prior variances of the lines and of the curves of each column, given the expected squares of coefficients."""
    groups = prior.groups
    sums, counts = np.bincount(groups, squares), np.bincount(groups)
    result: Floats = (_FIRM * prior.start + sums[groups]) / (_FIRM + counts[groups])
    result[0] = _INTERCEPT
    return result


def _number_regression(
    target: Floats, seen: Floats, weights: Floats, prior: _Prior, generator: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """The middle of the posterior of its coefficients, a draw, and a draw of the deviation of the noise."""
    weighted = seen * weights[:, np.newaxis]
    gram, cross = weighted.T @ seen, weighted.T @ target
    square, total, variances = float(weights @ target**2), float(weights.sum()), prior.start
    for _ in range(_STEPS):
        root = _root(gram, variances)
        middle = root.T @ (root @ cross)
        left = max(square - float(cross @ middle), 0.0) + 1.0
        variances = _learned(prior, middle**2 * (total + 1.0) / left + (root**2).sum(axis=0))
    deviation = float(np.sqrt(left / generator.chisquare(total + 1.0)))
    return middle, middle + deviation * (root.T @ generator.standard_normal(len(middle))), deviation


def _level_regression(
    target: Flags, seen: Floats, weights: Floats, prior: _Prior, generator: np.random.Generator
) -> Floats:
    """A draw from the posterior of its coefficients, as normal as it is at its top."""
    variances, middle = prior.start, np.zeros(len(prior.start))
    share = (float(weights @ target) + 0.5) / (float(weights.sum()) + 1.0)
    middle[0] = np.log(share / (1.0 - share))
    for _ in range(_STEPS):
        chances = _chances(seen @ middle)
        curvature = weights * chances * (1.0 - chances)
        root = _root((seen * curvature[:, np.newaxis]).T @ seen, variances)
        step = root.T @ (root @ (seen.T @ (weights * (target - chances)) - middle / variances))
        middle = middle + step * min(1.0, _FARTHEST / max(float(np.abs(seen @ step).max()), _FARTHEST))
        variances = _learned(prior, middle**2 + (root**2).sum(axis=0))
    drawn: Floats = middle + root.T @ generator.standard_normal(len(middle))
    return drawn


def _root(gram: Floats, variances: Floats) -> Floats:
    """A matrix whose transpose times itself is the covariance of coefficients, but for the noise."""
    from scipy.linalg import solve_triangular

    factor = np.linalg.cholesky(gram + np.diag(1.0 / variances))
    root: Floats = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return root


def _chances(odds: Floats) -> Floats:
    chances: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -500.0, 500.0)))
    return chances


def _log_chances(odds: Floats) -> Floats:
    """The log chances of all levels, given the log odds of each but the last among those that are left: a row each."""
    taken, left = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
    before = np.hstack([np.zeros((len(odds), 1)), np.cumsum(left, axis=1)])
    before[:, :-1] += taken
    return before


def _proposals(
    column: _Column, family: _Family, predicted: Floats, count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Codes of numbers that the parents speak for: (proposals, cells)."""
    ends = family.ends
    half = min(_DONORS, ends[-1]) / 2.0
    middle = np.concatenate([[0.0], ends])[np.searchsorted(family.predictions, predicted)]
    at = np.clip(middle, half, ends[-1] - half) + half * generator.uniform(-1.0, 1.0, (count, len(predicted)))
    rows = np.minimum(np.searchsorted(ends, at, side="right"), len(ends) - 1)
    scores = column.features[:, 0]
    found: NDArray[np.int64] = np.searchsorted((scores[1:] + scores[:-1]) / 2.0, predicted + family.residuals[rows])
    return found
