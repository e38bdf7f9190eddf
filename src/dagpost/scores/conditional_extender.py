"""The scores of given families with columns of numbers and levels: one node, some sets of parents, one column added.

For each set the rows are grouped once by its columns of levels (row_groups.py). A column of numbers that is added is
one more row of a Cholesky factor in every group, for which products with the columns of the set are enough; a column of
levels splits the groups. Sets of numbers alone, with another one added, need no groups: they have the scores of `BGe`.
Time: some nanoseconds a row for each family.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.base import Extender
from dagpost.scores.columns import part_of
from dagpost.scores.conditional_determinants import (
    Moments,
    NumberColumns,
    room_for_moments,
    write_moments,
)
from dagpost.scores.conditional_runs import kinds_of, number_columns, standardised, used_rows
from dagpost.scores.determinants import write_constants
from dagpost.scores.row_groups import GroupRooms, LevelColumns, RowGroups, level_columns, split_groups
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.conditional_gaussian import ConditionalGaussian


class _Asked(NamedTuple):
    """Sets of parents of a node, by the places of their columns, and those to add; -1 in what is left."""

    levels: Integers
    numbers: Integers
    more_levels: Integers
    more_numbers: Integers
    node: int


def conditional_extender(score: ConditionalGaussian, table: Table, max_parents: int, workers: int) -> Extender:
    """The function that scores sets of at most `max_parents` parents, the added one included."""
    nodes, kinds = len(table.names), kinds_of(table)
    is_number = np.array([levels is None for levels in table.levels] + [False])
    place = np.full(nodes + 1, -1, dtype=np.int64)
    place[kinds.levels], place[kinds.numbers] = np.arange(len(kinds.levels)), np.arange(len(kinds.numbers))
    of_levels = score.dirichlet.extender(part_of(table, kinds.levels), max_parents, workers)
    of_numbers = score.gaussian.extender(part_of(table, kinds.numbers), max_parents, workers)
    data, run_of = standardised(score, table), np.zeros(nodes, dtype=np.int64)
    columns, own_numbers = level_columns(table, kinds.levels), number_columns(score, table, data)
    rooms, observations = [], []
    for number, run in enumerate(runs_of(table.interventions, nodes)):
        used = used_rows(table, run)
        rooms.append(GroupRooms(table, used, max_parents, workers))
        observations.append(float(table.weights[used].sum()))
        run_of[list(run.nodes)] = number

    def places_in(sets: Members, chosen: Integers, beyond: int) -> Members:
        """The columns of one kind, from the left, by their place among these; `beyond` in the places that are left."""
        own = np.where(chosen[sets], place[sets], beyond)
        return np.sort(own, axis=1).astype(np.int16)

    def extend(node: int, sets: Members, others: Integers, cancel: Integers) -> Floats:
        values = np.full((len(sets), len(others)), -np.inf)
        added, mixed = is_number[others], is_number[sets].any(axis=1)
        is_level = ~is_number & (np.arange(nodes + 1) < nodes)
        levels, numbers = (
            places_in(sets, chosen, len(own)) for chosen, own in zip((is_level, is_number), kinds, strict=True)
        )
        if not is_number[node]:
            rows, more = np.flatnonzero(~mixed), np.flatnonzero(~added)
            values[np.ix_(rows, more)] = of_levels(int(place[node]), levels[rows], place[others[more]], cancel)
            return values
        alone = ~is_level[sets].any(axis=1)
        rows, more = np.flatnonzero(alone), np.flatnonzero(added)
        values[np.ix_(rows, more)] = of_numbers(int(place[node]), numbers[rows], place[others[more]], cancel)
        for rows, more_numbers in ((np.flatnonzero(alone), False), (np.flatnonzero(~alone), True)):
            asked = _Asked(
                np.where(levels[rows] < len(kinds.levels), levels[rows], -1).astype(np.int64),
                np.where(numbers[rows] < len(kinds.numbers), numbers[rows], -1).astype(np.int64),
                place[others[~added]],
                place[others[added & more_numbers]],
                int(place[node]),
            )
            found = np.zeros((len(rows), len(asked.more_levels) + len(asked.more_numbers)))
            with rooms[run_of[node]].room() as room:
                _extend(asked, columns, own_numbers, room, found, cancel)
            found -= observations[run_of[node]] * math.log(data.units[place[node]])
            values[np.ix_(rows, np.flatnonzero(~added))] = found[:, : len(asked.more_levels)]
            if more_numbers:
                values[np.ix_(rows, more)] = found[:, len(asked.more_levels) :]
        return values

    return extend


@kernel
def _extend(
    asked: _Asked, columns: LevelColumns, numbers: NumberColumns, groups: RowGroups, values: Floats, cancel: Integers
) -> None:
    """Add up over all groups of rows what each says of the node with each set and each column added."""
    most, more, extra = asked.numbers.shape[1], asked.more_numbers.size, asked.more_levels.size
    chosen = np.zeros(most + 1 + more, dtype=np.int64)
    moments = room_for_moments(chosen.size, most + 1, most + 2)
    row = np.zeros(most + 2)
    for number in range(len(values)):
        level = 0
        while level < asked.levels.shape[1] and asked.levels[number, level] >= 0:
            split_groups(level, columns.codes[asked.levels[number, level]], groups)
            level += 1
        size = 0
        while size < most and asked.numbers[number, size] >= 0:
            chosen[size] = asked.numbers[number, size]
            size += 1
        chosen[size] = asked.node
        for place in range(more):
            chosen[size + 1 + place] = asked.more_numbers[place]
        for group in range(groups.found[level] if more > 0 else 0):
            if cancel[0] != 0:
                return
            first, end = np.int64(groups.begin[level, group]), np.int64(groups.begin[level, group + 1])
            order, count = groups.order[level], size + 1 + more
            observations = write_moments(order, first, end, chosen, 0, count, size + 1, numbers, moments)
            write_constants(
                observations, numbers.mean_weight, numbers.spare, size + 2, moments.constants, moments.factors
            )
            _add_numbers(size, count, moments, row, values[number], extra)
        for place in range(extra):
            split_groups(level, columns.codes[asked.more_levels[place]], groups)
            for group in range(groups.found[level + 1]):
                if cancel[0] != 0:
                    return
                first, end = np.int64(groups.begin[level + 1, group]), np.int64(groups.begin[level + 1, group + 1])
                order, count = groups.order[level + 1], size + 1
                observations = write_moments(order, first, end, chosen, 0, count, count, numbers, moments)
                write_constants(
                    observations, numbers.mean_weight, numbers.spare, count, moments.constants, moments.factors
                )
                of_all = _factor(count, moments)
                of_parents = moments.log_determinant[size]
                values[number, place] += moments.constants[count] - moments.factors[count] * of_all
                values[number, place] -= moments.constants[size] - moments.factors[size] * of_parents


@inline_no_refcount
def _factor(count: int, moments: Moments) -> float:
    """The Cholesky factor of the first `count` columns, and their log determinant."""
    cholesky, log_determinant = moments.cholesky, moments.log_determinant
    log_determinant[0] = 0.0
    for place in range(count):
        excess = max(_next_row(place, place, moments, cholesky[place]), 0.0)
        cholesky[place, place] = math.sqrt(1.0 + excess)
        log_determinant[place + 1] = log_determinant[place] + math.log1p(excess)
    result: float = log_determinant[count]
    return result


@inline_no_refcount
def _next_row(place: int, size: int, moments: Moments, row: Floats) -> float:
    """The row of the Cholesky factor that a column adds to those of the first `size`, and the excess of its pivot."""
    excess: float = moments.diagonal[place]
    for column in range(size):
        entry = moments.matrix[place, column]
        for before in range(column):
            entry -= row[before] * moments.cholesky[column, before]
        entry /= moments.cholesky[column, column]
        row[column] = entry
        excess -= entry * entry
    return excess


@inline_no_refcount
def _add_numbers(size: int, count: int, moments: Moments, row: Floats, values: Floats, first: int) -> None:
    """Add what a group says of the node, at the place `size`, with the parents before it and each column after it."""
    _factor(size + 1, moments)
    constants, factors, log_determinant = moments.constants, moments.factors, moments.log_determinant
    for place in range(size + 1, count):
        # With the node among the columns before it; without it the excess has its entry back.
        excess = max(_next_row(place, size + 1, moments, row), 0.0)
        of_all = log_determinant[size + 1] + math.log1p(excess)
        of_parents = log_determinant[size] + math.log1p(excess + row[size] * row[size])
        at = first + place - size - 1
        values[at] += constants[size + 2] - factors[size + 2] * of_all
        values[at] -= constants[size + 1] - factors[size + 1] * of_parents
