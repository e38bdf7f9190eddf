"""BGe scores of all families of a table with gaps, again and again, each time with other numbers in the gaps.

The prior must not depend on the cells (`BGe.settled`). Then complete rows add the same to the sums and products of the
columns each time, and sets of columns without gaps keep their scores. A call takes one pass over the incomplete rows
for each pair of columns and one Cholesky row for each set with a gap. Several threads may score at the same time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import kernel, summing_kernel
from dagpost.data.table import Table
from dagpost.families.numbering import family_count
from dagpost.scores.determinants import log_pivot
from dagpost.scores.parameter_priors import refuse_lost_digits, refuse_overflow
from dagpost.scores.set_functions import runs_of
from dagpost.scores.set_lists import SetList, first_with, list_sets

if TYPE_CHECKING:
    from dagpost.scores.bge import BGe


class _Standardised(NamedTuple):
    """A table with gaps, a row a column: distances from `means`, in `units`, with 0 in the gaps.

    `numbers` has the number of each cell without a value, -1 elsewhere. `prior` is the distance of the prior mean. In
    these units the prior matrix is the identity.
    """

    distances: Floats
    numbers: Integers
    weights: Floats
    means: Floats
    units: Floats
    prior: Floats


class GaussianRescorer:
    """Scores a table of numbers with a prior that no cell changes."""

    def __init__(self, score: BGe, table: Table, max_parents: int) -> None:
        nodes = len(table.names)
        limit = min(max_parents, nodes - 1)
        own = _standardised(score, table)
        self._levels = _levels(table)
        self._kept = np.zeros((nodes, family_count(nodes - 1, limit)))
        self._runs = []
        for wanted, observed in runs_of(table.interventions, nodes):
            used = table.weights > 0 if observed is None else observed & (table.weights > 0)
            self._runs.append(_Run(score, own, table.names, used, wanted, limit, self._kept))

    def __call__(self, cells: Floats) -> Floats:
        """The scores of all families, as `local_scores` has them."""
        values = self._kept.copy()
        numbers = cells
        if self._levels is not None:
            numbers, (known, first, own) = cells.copy(), self._levels
            numbers[own] = known[first[own] + cells[own].astype(np.int64)]
        for run in self._runs:
            run.score(numbers, values)
        return values


def _standardised(score: BGe, table: Table) -> _Standardised:
    prior, nodes = score.parameter_prior(), len(table.names)
    gaps = np.zeros((nodes, table.rows), dtype=np.bool_) if table.gaps is None else table.gaps
    data = np.array(
        [
            column if levels is None else np.array(levels, dtype=np.float64)[column]
            for column, levels in zip(table.columns, table.levels, strict=True)
        ]
    )
    weights = table.weights.astype(np.float64)
    units = prior.units(table.names, np.ones(nodes))
    known = np.where(gaps, 0.0, weights)
    means = (known * np.where(gaps, 0.0, data)).sum(axis=1) / np.maximum(known.sum(axis=1), 1.0)
    numbers = np.full(gaps.shape, -1, dtype=np.int64)
    numbers[gaps] = np.arange(table.gap_count)
    given = (prior.mean(table.names, data.T, weights) - means) / units
    # The means first: divided, columns far from zero would lose their digits.
    distances = np.where(gaps, 0.0, (data - means[:, np.newaxis]) / units[:, np.newaxis])
    return _Standardised(distances, numbers, weights, means, units, given)


def _levels(table: Table) -> tuple[Floats, Integers, Flags] | None:
    """The numbers that codes stand for, and for each cell where those of its column begin and whether it has any."""
    if table.gaps is None or not any(table.levels):
        return None
    known = [np.array(levels or (), dtype=np.float64) for levels in table.levels]
    first = np.cumsum([0, *map(len, known)])[:-1]
    columns = np.nonzero(table.gaps)[0]
    return np.concatenate(known), first[columns], np.array([len(own) > 0 for own in known])[columns]


class _Run:
    """The columns that are scored from the same rows; scores that no cell changes are written to `kept`."""

    def __init__(
        self,
        score: BGe,
        own: _Standardised,
        names: tuple[str, ...],
        used: Flags,
        wanted: tuple[int, ...],
        max_parents: int,
        kept: Floats,
    ) -> None:
        numbers, weights = own.numbers[:, used], own.weights[used]
        gaps: Flags = numbers >= 0
        with_gaps, complete = gaps.any(axis=1), ~gaps.any(axis=0)
        order = np.argsort(with_gaps, kind="stable").tolist()
        nodes, self._observations, self._mean_weight = len(order), float(weights.sum()), score.mean_weight
        self._constants, self._factors = score.constants(nodes, max_parents + 1, self._observations)
        self._names = [names[column] for column in order]
        distances = own.distances[:, used][order]
        self._given = _sums(np.ascontiguousarray(distances[:, complete]), weights[complete])
        self._distances = np.ascontiguousarray(distances[:, ~complete])
        self._weights = weights[~complete]
        cells = numbers[order][:, ~complete]
        self._position, self._row = np.nonzero(cells >= 0)
        self._cell = cells[self._position, self._row]
        self._means, self._units = (each[order][self._position] for each in (own.means, own.units))
        self._prior = own.prior[order]
        # The density of the values in their own units.
        self._change = self._observations * np.log(own.units[order])
        self._sets = list_sets(order, max_parents, wanted)
        self._first, self._end = first_with(int((~with_gaps).sum()), self._sets), len(self._sets.size)
        self._base = np.zeros(family_count(nodes, max_parents))
        self._score(0, self._first, self._distances, self._base, kept)

    def score(self, numbers: Floats, values: Floats) -> None:
        """Write the scores of families with a gap in some column."""
        distances = self._distances.copy()
        distances[self._position, self._row] = (numbers[self._cell] - self._means) / self._units
        self._score(self._first, self._end, distances, self._base.copy(), values)

    def _score(self, begin: int, end: int, distances: Floats, base: Floats, values: Floats) -> None:
        sums = self._given + _sums(distances, self._weights)
        matrix = np.zeros((len(distances), len(distances)))
        total, weight = self._observations, self._mean_weight
        if total > 0:
            products, means = sums[:-1], sums[-1] / total
            away = self._prior - means
            matrix += products - total * np.outer(means, means)
            matrix += total / (1 + total / weight) * np.outer(away, away)
        refuse_overflow(matrix, distances)
        refuse_lost_digits(matrix, self._factors[-1], len(self._factors) - 1, self._names)
        _score_sets(
            begin,
            end,
            self._sets,
            matrix,
            self._constants,
            self._factors,
            self._change,
            base,
            values.reshape(-1),
        )


def _sums(distances: Floats, weights: Floats) -> Floats:
    """Weighted sums of the products of all pairs of columns, and in the last row those of the columns."""
    sums = np.zeros((len(distances) + 1, len(distances)))
    _add_products(distances, weights, sums)
    return sums


@kernel
def _add_products(distances: Floats, weights: Floats, sums: Floats) -> None:
    nodes = len(distances)
    for column in range(nodes):
        for other in range(column + 1):
            sums[column, other] = _product(distances[column], distances[other], weights)
            sums[other, column] = sums[column, other]
        total = 0.0
        for row in range(len(weights)):
            total += weights[row] * distances[column, row]
        sums[nodes, column] = total


@summing_kernel
def _product(column: Floats, other: Floats, weights: Floats) -> float:
    total = 0.0
    for row in range(len(weights)):
        total += weights[row] * column[row] * other[row]
    return total


@kernel
def _score_sets(
    begin: int,
    end: int,
    sets: SetList,
    matrix: Floats,
    constants: Floats,
    factors: Floats,
    change: Floats,
    base: Floats,
    values: Floats,
) -> None:
    """Score the members of the sets from `begin` to before `end`; `base` has `log p` of every set but the largest.

    `matrix` is what the rows add to the prior's, which is the identity (determinants.py).
    """
    levels = sets.max_size + 1
    path = np.zeros(levels, dtype=np.int64)
    cholesky = np.zeros((levels, levels))
    log_determinant = np.zeros(levels)
    base[0] = constants[0]
    for index in range(begin, end):
        size, position = sets.size[index], sets.last[index]
        level = size - 1
        path[level] = position
        excess = matrix[position, position]
        for column in range(level):
            entry = matrix[position, path[column]]
            for before in range(column):
                entry -= cholesky[level, before] * cholesky[column, before]
            entry /= cholesky[column, column]
            cholesky[level, column] = entry
            excess -= entry * entry
        excess = max(excess, 0.0)
        cholesky[level, level] = math.sqrt(1.0 + excess)
        log_determinant[size] = log_determinant[level] + log_pivot(excess)
        value = constants[size] - factors[size] * log_determinant[size]
        if size < sets.max_size:
            base[sets.number[index]] = value
        first = sets.start[index]
        for member in range(size):
            place = sets.place[first + member]
            if place >= 0:
                values[place] = value - base[sets.without[first + member]] - change[path[member]]
