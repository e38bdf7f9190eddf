"""The scores of listed families of a table of levels and numbers with gaps, again and again, with other cells in them.

Each set of columns behind the families is listed once, columns of levels first (families/distinct_sets.py): sets with
the same of these come one after the other, and rows are grouped once for all of them (conditional_groups.py). Sets
without gaps are scored once and for all where the prior does not depend on the cells. Columns of levels are scored by
counting.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.families.distinct_sets import DistinctSets, distinct_sets
from dagpost.scores.columns import part_of, with_gaps
from dagpost.scores.completing import FamilyScorer, ListScorer
from dagpost.scores.conditional_groups import (
    NumberColumns,
    codes_of_levels,
    groups_of,
    kinds_of,
    number_columns,
    sum_over_groups,
    used_rows,
)
from dagpost.scores.listed_sets import numbers_of_runs, scorer_of_sets
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.conditional_gaussian import ConditionalGaussian


class _Block(NamedTuple):
    """Sets of a run with the same columns of levels: which sets, these columns, and all columns of numbers in them."""

    sets: slice
    run: int
    levels: Integers
    numbers: Integers


class ConditionalListScorer(ListScorer):
    """Scores listed families of at most `max_parents` parents."""

    def __init__(self, score: ConditionalGaussian, table: Table, max_parents: int, workers: int) -> None:
        self._score, self._table, self._kinds = score, table, kinds_of(table)
        self._of_levels = score.dirichlet.list_scorer(part_of(table, self._kinds.levels), max_parents, workers)
        nodes = len(table.names)
        self._runs = runs_of(table.interventions, nodes)
        self._run_of = numbers_of_runs(self._runs, nodes)
        self._rows = [used_rows(table, run) for run in self._runs]
        self._observations = np.array([table.weights[rows].sum() for rows in self._rows])[self._run_of]
        self._is_number = np.array([levels is None for levels in table.levels])
        self._place = np.full(nodes + 1, -1, dtype=np.int64)
        for own in self._kinds:
            self._place[own] = np.arange(len(own))
        settled = score.prior_mean is not None and score.prior_scale is not None
        self._changing = with_gaps(table) if settled else with_gaps(table) | self._is_number
        self._laid_out = None if table.gap_count else self._lay_out(np.zeros(0))

    def _lay_out(self, cells: Floats) -> tuple[Codes, NumberColumns, Floats]:
        """The codes of the columns of levels, the columns of numbers, and the units of these."""
        table = self._table.filled(cells)
        return codes_of_levels(table, self._kinds.levels), *number_columns(self._score, table)

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
        nodes = len(self._table.names)
        start = np.append(0, np.cumsum(np.bincount(node_of[chosen], minlength=nodes)))
        one_kind = np.zeros(nodes, dtype=np.int64)
        sets = distinct_sets(start, members[chosen], self._run_of, one_kind, ~self._is_number)
        of_numbers, blocks = self._blocks_of(sets)
        most = of_numbers.shape[1]

        def sum_sets(cells: Floats, wanted: Flags, values: Floats, cancel: Integers) -> Floats:
            codes, numbers, units = self._laid_out or self._lay_out(cells)
            for own, run, levels, columns in blocks:
                if wanted[own].any() and len(columns):
                    groups = groups_of(codes[levels], self._rows[run])
                    sum_over_groups(*groups, numbers, columns, most, of_numbers[own], wanted[own], values[own], cancel)
            in_units = np.zeros(nodes)
            in_units[self._kinds.numbers] = np.log(units)
            return self._observations * in_units

        return scorer_of_sets(sets, start, self._changing, sum_sets)

    def _blocks_of(self, sets: DistinctSets) -> tuple[Members, list[_Block]]:
        """The columns of numbers of each set, by their places; the blocks of sets with the same columns of levels."""
        places, count = self._place[sets.members], len(self._kinds.numbers)
        is_number = np.append(self._is_number, False)[sets.members]
        numbers_first = np.argsort(~is_number, axis=1, kind="stable")
        of_numbers = np.take_along_axis(np.where(is_number, places, count), numbers_first, axis=1).astype(np.int16)
        levels = np.where(is_number, -1, places)
        fresh = np.append(True, (np.diff(sets.run) != 0) | (np.diff(levels, axis=0) != 0).any(axis=1))[: len(levels)]
        blocks = []
        for first, end in pairwise([*np.flatnonzero(fresh).tolist(), len(levels)]):
            columns, own = np.flatnonzero(np.bincount(of_numbers[first:end].ravel())[:count]), levels[first]
            blocks.append(_Block(slice(first, end), int(sets.run[first]), own[own >= 0], columns))
        return np.ascontiguousarray(of_numbers), blocks
