"""What groups of rows say of columns of numbers: the sums under the conditional Gaussian score.

For a set `D` of columns of levels, rows that agree on them are a group. Each group gives a posterior matrix of the
columns of numbers, as all rows do under `BGe`, and what the groups say of a set `C` of these columns is summed:

    f(D, C) = sum over groups of constants[size] - factors[size] * log det(matrix of C)

Time: for each `D`, a few passes over the rows, rows times half the square of the columns of numbers, and about
30 ns for each group and set `C`. Memory: the columns of numbers once more for each thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel, summing_kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.columns import part_of
from dagpost.scores.determinants import add_determinants, write_constants
from dagpost.scores.parameter_priors import refuse_lost_digits
from dagpost.scores.rows import check_countable, number_configurations
from dagpost.scores.set_functions import Run

if TYPE_CHECKING:
    from dagpost.scores.conditional_gaussian import ConditionalGaussian

#: Rows whose products are added up at a time: they stay in the cache for all pairs of columns.
_BLOCK = 256


class Kinds(NamedTuple):
    """Which columns of a table have levels, and which have numbers."""

    levels: list[int]
    numbers: list[int]


class NumberColumns(NamedTuple):
    """Columns of numbers, a row each, standardised: distances from the means of all rows, in units of the prior.

    In these units the prior matrix is the identity, and pivots are one and an excess (determinants.py). `weights` says
    how often each row counts, `root` is the root of that, `away` the distance of the prior's mean. `spare` has the
    degrees of freedom above the number of columns and one.
    """

    distances: Floats
    weights: Floats
    root: Floats
    away: Floats
    mean_weight: float
    spare: float


def kinds_of(table: Table) -> Kinds:
    """The columns of a table by their kind."""
    is_number = np.array([levels is None for levels in table.levels], dtype=np.bool_)
    return Kinds(np.flatnonzero(~is_number).tolist(), np.flatnonzero(is_number).tolist())


def codes_of_levels(table: Table, columns: list[int]) -> Codes:
    """The codes of some columns of levels, a row each; one with more levels than are counted is an error."""
    check_countable(tuple(table.names[own] for own in columns), tuple(table.arities[own] for own in columns), 0)
    codes = np.empty((len(columns), table.rows), dtype=np.uint16)
    for place, column in enumerate(columns):
        codes[place] = table.columns[column]
    return codes


def number_columns(score: ConditionalGaussian, table: Table) -> tuple[NumberColumns, Floats]:
    """The columns of numbers and their units; where the prior is left to the data, it takes those of all rows.

    Refused, if a group of rows could lose their digits.
    """
    data = score.gaussian.standardised(part_of(table, kinds_of(table).numbers))
    most, spare = len(data.names), score.gaussian.coefficient_prior().spare(len(data.names))
    # No group of rows has larger sums than all of them.
    score.gaussian.added(data, slice(None), most)
    # In a group of fewer rows than columns, columns follow from each other but for the prior.
    largest = most * np.abs(data.distances - data.away).max(axis=0, initial=0.0) ** 2
    refuse_lost_digits(np.diag(largest), spare / 2 + most, most, data.names, few_rows=True)
    weights, distances = data.weights, np.ascontiguousarray(data.distances.T)
    return NumberColumns(distances, weights, np.sqrt(weights), data.away, score.mean_weight, spare), data.units


def used_rows(table: Table, run: Run) -> Integers:
    """The rows that count for the nodes of a run."""
    return np.flatnonzero(table.weights > 0 if run.observed is None else run.observed & (table.weights > 0))


def groups_of(codes: Codes, rows: Integers) -> tuple[Integers, Integers]:
    """Some rows by what they have in columns of levels: their order, and where each group begins, after the last too.

    >>> groups_of(np.array([[1, 0, 1, 0], [2, 2, 2, 3]], dtype=np.uint16), np.array([0, 1, 2, 3]))
    (array([0, 2, 1, 3]), array([0, 2, 3, 4]))
    """
    numbers, found = np.zeros(len(rows), dtype=np.uint32), min(len(rows), 1)
    for column in codes:
        numbers, found = number_configurations(numbers, column[rows], int(column.max()) + 1, found)
    # Numbers of few bits are sorted without comparing them.
    order = np.argsort(numbers.astype(np.min_scalar_type(found)), kind="stable")
    return rows[order], np.append(0, np.cumsum(np.bincount(numbers, minlength=found)))


@kernel
def sum_over_groups(
    order: Integers,
    begin: Integers,
    numbers: NumberColumns,
    chosen: Integers,
    most: int,
    members: Members,
    wanted: Flags,
    values: Floats,
    cancel: Integers,
) -> None:
    """Add `f` of each wanted set, of at most `most` columns: a row of these, and how many there are in empty places.

    All of them are among the `chosen` columns, which rise: so a sum is the same to the last digit whatever else is
    asked for.
    """
    columns = len(numbers.distances)
    matrix, mean, block = np.zeros((columns, columns)), np.zeros(columns), np.zeros((len(chosen), _BLOCK))
    constants, factors = np.zeros(most + 1), np.zeros(most + 1)
    for group in range(len(begin) - 1):
        if cancel[0] != 0:
            return
        rows = order[begin[group] : begin[group + 1]]
        observations = _write_matrix(rows, chosen, most == 1, numbers, mean, block, matrix)
        write_constants(observations, numbers.mean_weight, numbers.spare, most, constants, factors)
        add_determinants(matrix, constants, factors, 0, len(values), members, wanted, values, cancel)


@inline_no_refcount
def _write_matrix(
    rows: Integers, chosen: Integers, alone: bool, numbers: NumberColumns, mean: Floats, block: Floats, matrix: Floats
) -> float:
    """What a group of rows adds to the prior matrix of the chosen columns; how many observations there are.

    Only the diagonal, if they stand `alone`.
    """
    distances, weights, away = numbers.distances, numbers.weights, numbers.away
    observations = 0.0
    for row in rows:
        observations += weights[row]
    shrinkage = observations / (1.0 + observations / numbers.mean_weight)
    for place in range(len(chosen)):
        column = chosen[place]
        total = 0.0
        for row in rows:
            total += weights[row] * distances[column, row]
        mean[column] = total / observations
        for before in range(place if alone else 0, place + 1):
            other = chosen[before]
            matrix[column, other] = shrinkage * ((away[column] - mean[column]) * (away[other] - mean[other]))
    for first in range(0, len(rows), _BLOCK):
        length = min(len(rows) - first, _BLOCK)
        for place in range(len(chosen)):
            column = chosen[place]
            for step in range(length):
                row = rows[first + step]
                block[place, step] = numbers.root[row] * (distances[column, row] - mean[column])
            for before in range(place if alone else 0, place + 1):
                matrix[column, chosen[before]] += _product(block[place], block[before], length)
    for place in range(len(chosen)):
        for before in range(place):
            matrix[chosen[before], chosen[place]] = matrix[chosen[place], chosen[before]]
    return observations


@summing_kernel
def _product(column: Floats, other: Floats, length: int) -> float:
    total = 0.0
    for place in range(length):
        total += column[place] * other[place]
    return total
