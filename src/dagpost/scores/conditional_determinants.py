"""The kernel under the conditional Gaussian score: log determinants of columns of numbers in groups of rows.

For each set `D` of columns of levels the rows are grouped once (row_groups.py). Each group gives a posterior matrix of
all columns of numbers, and one walk over their sets `C` with one more row of a Cholesky factor for each, as in
determinants.py; what the groups say of a set is summed:

    f(D, C) = sum over groups of constants[size] - factors[size] * log det(matrix of C)

A set `D + C` is thus visited once, and its sum written once (set_functions.py). In a group of one row the matrix is the
prior's and one product of distances, whose determinants need no factor.

Time: for each `D`, rows times half the square of the columns of numbers, and about 30 ns for each group and set `C`.
Memory: one number for each set `C` of a task.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Counts, Floats, Integers
from dagpost._tools.kernels import copy_into, inline_no_refcount, inlined, kernel, summing_kernel
from dagpost.scores.conditional_tasks import Tasks
from dagpost.scores.determinants import log_pivot, write_constants
from dagpost.scores.row_groups import LevelColumns, RowGroups, next_columns, ordinary_columns, split_groups
from dagpost.scores.set_functions import Target, insert_sorted, write_set

#: Rows whose products are added up at a time: they stay in the cache for all pairs of columns.
_BLOCK = 256


class NumberColumns(NamedTuple):
    """Columns of numbers, a row each, standardised: distances from the means of all rows, in units of the prior.

    In these units the prior matrix is the identity, and pivots are one and an excess (determinants.py).

    In a walk they stand in another order: `places` says which row of `distances` is at a position, `nodes` its number
    in the table. Those from `lowest` on are scored; if they stand `apart`, they are never parents of each other.
    `weights` says how often each row counts, `root` is the root of that, `away` the distance of
    the prior's mean. `spare` has the degrees of freedom above the number of columns and one.
    """

    distances: Floats
    places: Integers
    nodes: Integers
    lowest: int
    apart: bool
    weights: Floats
    root: Floats
    away: Floats
    mean_weight: float
    spare: float


class _Sets(NamedTuple):
    """Sets of columns of numbers in the order of a walk: size and lowest position; the others are those before it."""

    size: NDArray[np.int8]
    position: NDArray[np.int16]
    total: Floats


class Moments(NamedTuple):
    """What a group of rows gives: means, the matrix, and by the size of a set what is added and multiplied.

    Of the matrix there are the diagonal and, in `matrix`, what is below it. `block` has room for some rows, `cholesky`
    and `log_determinant` for the way down to a set.
    """

    mean: Floats
    diagonal: Floats
    matrix: Floats
    block: Floats
    constants: Floats
    factors: Floats
    cholesky: Floats
    log_determinant: Floats


@kernel
def conditional_sets(
    task: int,
    tasks: Tasks,
    columns: LevelColumns,
    numbers: NumberColumns,
    target: Target,
    groups: RowGroups,
    cancel: Integers,
) -> None:
    """Write `f(D, C)` for all sets of a task."""
    levels = target.max_size
    path, walk = np.full(levels + 1, -1, dtype=np.int64), np.zeros(levels + 1, dtype=np.int64)
    nodes = np.zeros((levels + 1, levels + 1), dtype=np.int64)
    size = 0
    while size < tasks.first.shape[1] and tasks.first[task, size] >= 0:
        path[size] = tasks.first[task, size]
        size += 1
    everyone = numbers.nodes.size
    moments = room_for_moments(everyone, everyone, levels)
    sets = _Sets(np.empty(0, np.int8), np.empty(0, np.int16), np.empty(0, np.float64))
    listed = 0
    for step in range(tasks.steps[task]):
        if step > 0:
            size = next_columns(path, size, levels - 1, columns)
        # A set has the columns of the one before it, without some of the last ones, and one more.
        for level in range(size - 1 if step > 0 else 0, size):
            split_groups(level, columns.codes[path[level]], groups)
        deepest = min(levels - size, columns.limits[0] + 1 - ordinary_columns(path, size, columns))
        if deepest != listed:
            count = _list_sets(task, tasks, deepest, numbers, walk, sets, False)
            sets = _Sets(np.empty(count, np.int8), np.empty(count, np.int16), np.empty(count, np.float64))
            _list_sets(task, tasks, deepest, numbers, walk, sets, True)
            listed = deepest
        for number in range(sets.total.size):
            sets.total[number] = 0.0
        lowest = numbers.lowest if deepest == 1 else 0
        for group in range(groups.found[size]):
            if cancel[0] != 0:
                return
            first, end = np.int64(groups.begin[size, group]), np.int64(groups.begin[size, group + 1])
            if end - first == 1:
                _add_row(groups.order[size, first], lowest, deepest, numbers, sets, moments)
            else:
                linked, order = everyone if deepest > 1 else 0, groups.order[size]
                observations = write_moments(
                    order, first, end, numbers.places, lowest, everyone, linked, numbers, moments
                )
                write_constants(
                    observations, numbers.mean_weight, numbers.spare, deepest, moments.constants, moments.factors
                )
                _add_determinants(sets, walk, moments)
        for place in range(size):
            insert_sorted(nodes[1], place, columns.nodes[path[place]], nodes[0])
            copy_into(nodes[1], nodes[0])
        _write_totals(size, nodes, numbers, sets, target)


@inline_no_refcount
def _below(top: int, numbers: NumberColumns) -> int:
    """The highest position that the second member of a set with this top may have."""
    return (min(top, numbers.lowest) if numbers.apart else top) - 1


@inline_no_refcount
def _list_sets(
    task: int, tasks: Tasks, deepest: int, numbers: NumberColumns, path: Integers, sets: _Sets, write: bool
) -> int:
    """Walk the sets of at most `deepest` columns of numbers, and write them if asked to; how many there are.

    Sets without a column that is scored are of interest as parents only: they have one column less.
    """
    count = 0
    parts = tasks.end[task] - tasks.begin[task]
    for part in range(parts if parts > 0 else numbers.nodes.size):
        top, last = part, 0
        second = _below(top, numbers)
        if parts > 0:
            top, second, last = tasks.parts[tasks.begin[task] + part]
        most = deepest if top >= numbers.lowest else deepest - 1
        if most < 1:
            continue
        if write:
            sets.size[count], sets.position[count] = 1, top
        count += 1
        # Members from the second one on; `path[size]` is the next position of the one after `size` others.
        size = 1
        path[1] = second
        while most > 1 and size > 0:
            position = path[size]
            if position < (last if size == 1 else 0):
                size -= 1
                continue
            path[size] = position - 1
            if write:
                sets.size[count], sets.position[count] = size + 1, position
            count += 1
            if size + 1 < most:
                size += 1
                path[size] = position - 1
    return count


@inline_no_refcount
def _add_row(row: int, lowest: int, deepest: int, numbers: NumberColumns, sets: _Sets, moments: Moments) -> None:
    """Add what a group of one row says of each set; columns below the position `lowest` are in none.

    Its matrix is the prior's and one product, `shrinkage away away'`; the determinant of a set is one more than the
    squares of its columns in units of the prior.
    """
    observations = numbers.weights[row]
    write_constants(observations, numbers.mean_weight, numbers.spare, deepest, moments.constants, moments.factors)
    unit = observations / (1.0 + observations / numbers.mean_weight)
    squares, sums = moments.mean, moments.log_determinant
    for position in range(lowest, numbers.nodes.size):
        place = numbers.places[position]
        away = numbers.away[place] - numbers.distances[place, row]
        squares[position] = unit * away * away
    sums[0] = 0.0
    for number in range(sets.total.size):
        size = sets.size[number]
        sums[size] = sums[size - 1] + squares[sets.position[number]]
        sets.total[number] += moments.constants[size] - moments.factors[size] * math.log1p(sums[size])


@inline_no_refcount
def _add_determinants(sets: _Sets, members: Integers, moments: Moments) -> None:
    """Add what the posterior matrix of a group says of each set."""
    matrix, cholesky, log_determinant = moments.matrix, moments.cholesky, moments.log_determinant
    log_determinant[0] = 0.0
    for number in range(sets.total.size):
        size, position = sets.size[number], sets.position[number]
        level = size - 1
        excess = moments.diagonal[position]
        for column in range(level):
            # Positions go down along a set.
            entry = matrix[members[column], position]
            for before in range(column):
                entry -= cholesky[level, before] * cholesky[column, before]
            entry /= cholesky[column, column]
            cholesky[level, column] = entry
            excess -= entry * entry
        excess = max(excess, 0.0)
        members[level] = position
        cholesky[level, level] = math.sqrt(1.0 + excess)
        log_determinant[size] = log_determinant[level] + log_pivot(excess)
        sets.total[number] += moments.constants[size] - moments.factors[size] * log_determinant[size]


@inline_no_refcount
def _write_totals(size: int, nodes: Integers, numbers: NumberColumns, sets: _Sets, target: Target) -> None:
    """Write the sums of all sets of numbers with `size` columns of levels, which are in `nodes[0]`."""
    scored = False
    for number in range(sets.total.size):
        own, position = sets.size[number], sets.position[number]
        insert_sorted(nodes[own - 1], size + own - 1, numbers.nodes[position], nodes[own])
        if own == 1:
            scored = position >= numbers.lowest
        place = write_set(nodes[own], size + own, sets.total[number], target)
        if size + own < target.max_size and not (numbers.apart and scored):
            target.base[0, place] = sets.total[number]


@inline_no_refcount
def write_moments(
    order: Counts,
    first: Any,
    end: Any,
    chosen: Integers,
    lowest: int,
    count: int,
    linked: int,
    numbers: NumberColumns,
    moments: Moments,
) -> float:
    """What a group of rows adds to the prior matrix of `count` chosen columns; how many observations there are.

    Those before the place `lowest` are left out. Products are those with the first `linked` columns.
    """
    distances, weights, away = numbers.distances, numbers.weights, numbers.away
    mean, matrix, block = moments.mean, moments.matrix, moments.block
    observations = 0.0
    for row in range(first, end):
        observations += weights[order[row]]
    shrinkage = observations / (1.0 + observations / numbers.mean_weight)
    for place in range(lowest, count):
        total = 0.0
        for row in range(first, end):
            total += weights[order[row]] * distances[chosen[place], order[row]]
        mean[place] = total / observations
    for place in range(lowest, count):
        own = away[chosen[place]] - mean[place]
        for other in range(lowest, min(place, linked)):
            # The same to the last digit whichever of the two comes first: who asked before must not matter.
            matrix[place, other] = shrinkage * (own * (away[chosen[other]] - mean[other]))
        moments.diagonal[place] = shrinkage * (own * own)
    begin = first
    while begin < end:
        length = min(end - begin, _BLOCK)
        for place in range(lowest, count):
            values = block[place if place < linked else linked]
            for step in range(length):
                row = order[begin + step]
                values[step] = numbers.root[row] * (distances[chosen[place], row] - mean[place])
            for other in range(lowest, min(place, linked)):
                matrix[place, other] += _product(values, block[other], length)
            moments.diagonal[place] += _product(values, values, length)
        begin += length
    return observations


@summing_kernel
def _product(column: Floats, other: Floats, length: int) -> float:
    total = 0.0
    for place in range(length):
        total += column[place] * other[place]
    return total


@inlined
def room_for_moments(columns: int, linked: int, most: int) -> Moments:
    """Room for the moments of a group, so many columns of which are linked, and for sets of at most `most` columns."""
    return Moments(
        np.zeros(columns),
        np.zeros(columns),
        np.zeros((columns, linked)),
        np.zeros((linked + 1, _BLOCK)),
        np.zeros(most + 1),
        np.zeros(most + 1),
        np.zeros((most, most)),
        np.zeros(most + 1),
    )
