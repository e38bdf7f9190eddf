"""The scores of listed families of a table of levels and numbers with gaps, again and again, with other cells in them.

Each set of columns behind the families is listed once, columns of levels first (families/distinct_sets.py): sets with
the same of these come one after the other. For them the rows are grouped once (row_groups.py), and in each group a set
costs one more row of a Cholesky factor, as in conditional_determinants.py. Sets without gaps are scored once and for
all where the prior does not depend on the cells. Columns of levels are scored by counting.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.families.distinct_sets import DistinctSets, distinct_sets
from dagpost.scores.base import FamilyScorer, ListScorer
from dagpost.scores.columns import part_of
from dagpost.scores.conditional_determinants import (
    Moments,
    NumberColumns,
    room_for_moments,
    write_moments,
)
from dagpost.scores.conditional_runs import kinds_of, number_columns, standardised, used_rows
from dagpost.scores.determinants import log_pivot, write_constants
from dagpost.scores.row_groups import GroupRooms, LevelColumns, RowGroups, level_columns, split_groups
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.conditional_gaussian import ConditionalGaussian


class _Listed(NamedTuple):
    """Sets as rows of places, among the columns of their kind: levels first, `split` of them; `size` counts both."""

    members: Integers
    split: Integers
    size: Integers


class ConditionalListScorer(ListScorer):
    """Scores listed families of at most `max_parents` parents."""

    def __init__(self, score: ConditionalGaussian, table: Table, max_parents: int, workers: int) -> None:
        self._score, self._table, self._kinds = score, table, kinds_of(table)
        self._of_levels = score.dirichlet.list_scorer(part_of(table, self._kinds.levels), max_parents, workers)
        nodes = len(table.names)
        self._runs = runs_of(table.interventions, nodes)
        self._run_of, self._observations = np.zeros(nodes, dtype=np.int64), np.zeros(nodes)
        for number, run in enumerate(self._runs):
            self._run_of[list(run.nodes)] = number
            self._observations[list(run.nodes)] = table.weights[used_rows(table, run)].sum()
        self._is_number = np.array([levels is None for levels in table.levels])
        self._place = np.full(nodes + 1, -1, dtype=np.int64)
        for own in self._kinds:
            self._place[own] = np.arange(len(own))
        settled = score.prior_mean is not None and score.prior_scale is not None
        changing = np.zeros(nodes, dtype=np.bool_) if table.gaps is None else table.gaps.any(axis=1)
        self._changing = np.append(changing if settled else changing | self._is_number, False)
        self._rooms = [GroupRooms(table, used_rows(table, run), max_parents, workers) for run in self._runs]
        self._laid_out = None if table.gap_count else self._lay_out(np.zeros(0))

    def _lay_out(self, cells: Floats) -> tuple[Floats, LevelColumns, NumberColumns]:
        """The units of the columns of numbers, and both kinds of columns as kernels take them."""
        table = self._table.filled(cells)
        data = standardised(self._score, table)
        columns = level_columns(table, self._kinds.levels)
        return data.units, columns, number_columns(self._score, table, data)

    def on(self, start: Integers, members: Members) -> FamilyScorer:
        """The function that scores families out of some lists."""
        nodes = len(self._table.names)
        node_of = np.repeat(np.arange(nodes), np.diff(start))
        with_numbers = np.append(self._is_number, False)[members].any(axis=1)
        by_levels = ~self._is_number[node_of] & ~with_numbers
        of_levels, place_there = self._listed_levels(node_of, members, by_levels)
        of_numbers = self._listed_numbers(node_of, members, self._is_number[node_of])
        place = np.where(self._is_number[node_of], np.cumsum(self._is_number[node_of]) - 1, place_there)

        def score_families(cells: Floats, places: Integers, cancel: Integers) -> Floats:
            values = np.full(len(places), -np.inf)
            levels, numbers = by_levels[places], self._is_number[node_of[places]]
            if levels.any():
                values[levels] = of_levels(self._cells_of_levels(cells), place[places[levels]], cancel)
            if numbers.any():
                values[numbers] = of_numbers(cells, place[places[numbers]], cancel)
            return values

        return score_families

    def _cells_of_levels(self, cells: Floats) -> Floats:
        """The cells of the columns of levels, in the order that a table of these has them."""
        if self._table.gaps is None:
            return cells
        own: Floats = cells[~self._is_number[np.nonzero(self._table.gaps)[0]]]
        return own

    def _listed_levels(self, node_of: Integers, members: Members, chosen: Flags) -> tuple[FamilyScorer, Integers]:
        """What scores the chosen families, of levels alone, and the place of each among them."""
        levels = self._kinds.levels
        own = np.where(members[chosen] < len(self._table.names), self._place[members[chosen]], len(levels))
        counts = np.bincount(self._place[node_of[chosen]], minlength=len(levels))
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return self._of_levels.on(start, own.astype(np.int16)), np.cumsum(chosen) - 1

    def _listed_numbers(self, node_of: Integers, members: Members, chosen: Flags) -> FamilyScorer:
        """What scores the chosen families, of columns of numbers."""
        nodes, own_nodes = len(self._table.names), node_of[chosen]
        start = np.concatenate([[0], np.cumsum(np.bincount(own_nodes, minlength=nodes))]).astype(np.int64)
        one_kind = np.zeros(nodes, dtype=np.int64)
        sets = distinct_sets(start, members[chosen], self._run_of, one_kind, ~self._is_number)
        bounds = np.searchsorted(sets.run, np.arange(len(self._runs) + 1))
        listed = self._listed(sets)
        lasting = ~self._changing[sets.members].any(axis=1)
        known = np.where(listed.split == listed.size, 0.0, np.nan)

        def score_families(cells: Floats, places: Integers, cancel: Integers) -> Floats:
            plus, minus = sets.plus[places], sets.minus[places]
            values = known.copy()
            wanted = np.zeros(len(values), dtype=np.bool_)
            wanted[plus] = wanted[minus] = True
            wanted &= np.isnan(values)
            values[wanted] = 0.0
            units, columns, numbers = self._laid_out or self._lay_out(cells)
            for first, end, rooms in zip(bounds[:-1], bounds[1:], self._rooms, strict=True):
                if wanted[first:end].any():
                    with rooms.room() as room:
                        _sum_sets(first, end, listed, wanted, columns, numbers, room, values, cancel)
            if not cancel[0]:
                stay = wanted & lasting
                known[stay] = values[stay]
            node = own_nodes[places]
            scores: Floats = values[plus] - values[minus]
            scores -= self._observations[node] * np.log(units)[self._place[node]]
            return scores

        return score_families

    def _listed(self, sets: DistinctSets) -> _Listed:
        return _Listed(
            np.ascontiguousarray(self._place[sets.members]),
            (~np.append(self._is_number, True)[sets.members]).sum(axis=1),
            sets.size,
        )


@kernel
def _sum_sets(
    first: int,
    end: int,
    sets: _Listed,
    wanted: Flags,
    columns: LevelColumns,
    numbers: NumberColumns,
    groups: RowGroups,
    values: Floats,
    cancel: Integers,
) -> None:
    """Add up, for each wanted set from `first` to `end`, what the groups of rows say of its columns of numbers."""
    most, count = sets.members.shape[1], numbers.nodes.size
    path = np.full(most + 1, -1, dtype=np.int64)
    chosen, place_of = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    moments = room_for_moments(count, count, most)
    grouped = 0
    begin = first
    while begin < end:
        if cancel[0] != 0:
            return
        split = sets.split[begin]
        last = begin
        used = 0
        while last < end and sets.split[last] == split and _same(sets.members[last], sets.members[begin], split):
            for place in range(split, sets.size[last] if wanted[last] else split):
                column = sets.members[last, place]
                if place_of[column] < 0:
                    chosen[used], place_of[column] = column, used
                    used += 1
            last += 1
        if used > 0:
            common = 0
            while common < min(grouped, split) and path[common] == sets.members[begin, common]:
                common += 1
            for level in range(common, split):
                path[level] = sets.members[begin, level]
                split_groups(level, columns.codes[path[level]], groups)
            grouped = split
            for group in range(groups.found[split]):
                if cancel[0] != 0:
                    return
                head, tail = np.int64(groups.begin[split, group]), np.int64(groups.begin[split, group + 1])
                order = groups.order[split]
                observations = write_moments(order, head, tail, chosen, 0, used, used, numbers, moments)
                write_constants(
                    observations, numbers.mean_weight, numbers.spare, most, moments.constants, moments.factors
                )
                _add_group(begin, last, sets, wanted, place_of, moments, values)
        for place in range(used):
            place_of[chosen[place]] = -1
        begin = last


@inline_no_refcount
def _same(members: Integers, others: Integers, count: int) -> bool:
    same = True
    for place in range(count):
        same = same and members[place] == others[place]
    return same


@inline_no_refcount
def _add_group(
    begin: int,
    end: int,
    sets: _Listed,
    wanted: Flags,
    place_of: Integers,
    moments: Moments,
    values: Floats,
) -> None:
    """Add what one group of rows says of sets with the same columns of levels.

    The rows of the Cholesky factor are kept for what a set has in common with the one before it.
    """
    cholesky, log_determinant = moments.cholesky, moments.log_determinant
    before = -1
    size = 0
    log_determinant[0] = 0.0
    for number in range(begin, end):
        if not wanted[number]:
            continue
        split, members = sets.split[number], sets.members[number]
        common = 0
        while before >= 0 and common < size and members[split + common] == sets.members[before, split + common]:
            common += 1
        size, before = common, number
        while size < sets.size[number] - split:
            place = place_of[members[split + size]]
            excess = moments.diagonal[place]
            for column in range(size):
                other = place_of[members[split + column]]
                entry = moments.matrix[max(place, other), min(place, other)]
                for lower in range(column):
                    entry -= cholesky[size, lower] * cholesky[column, lower]
                entry /= cholesky[column, column]
                cholesky[size, column] = entry
                excess -= entry * entry
            excess = max(excess, 0.0)
            cholesky[size, size] = math.sqrt(1.0 + excess)
            log_determinant[size + 1] = log_determinant[size] + log_pivot(excess)
            size += 1
        values[number] += moments.constants[size] - moments.factors[size] * log_determinant[size]
