"""The scores of listed families of continuous columns with gaps, again and again, with other numbers in the gaps.

The matrix of the posterior is made anew from the completed table; each set of columns behind the families then costs
one more row of a Cholesky factor (determinants.py). Time: some tenths of a microsecond a family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.families.distinct_sets import distinct_sets
from dagpost.scores.completing import FamilyScorer, ListScorer
from dagpost.scores.determinants import add_determinants
from dagpost.scores.listed_sets import numbers_of_runs, scorer_of_sets
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.bge import BGe


class GaussianListScorer(ListScorer):
    """Scores listed families of at most `max_parents` parents by determinants."""

    def __init__(self, score: BGe, table: Table, max_parents: int) -> None:
        self._score, self._table = score, table
        columns = len(table.names)
        self._most = max_parents + 1
        self._runs = runs_of(table.interventions, columns)
        self._run_of = numbers_of_runs(self._runs, columns)
        rows = [slice(None) if run.observed is None else run.observed for run in self._runs]
        counts = np.array([float(table.weights[own].sum()) for own in rows])
        self._constants = [score.constants(columns, self._most, count) for count in counts.tolist()]
        self._rows, self._observations = rows, counts[self._run_of]
        self._known = None if table.gap_count else self._standardised(np.zeros(0))

    def _standardised(self, cells: Floats) -> tuple[Floats, list[Floats]]:
        """The units of the columns, and the matrix of each run."""
        own = self._score.standardised(self._table.filled(cells))
        return own.units, [np.ascontiguousarray(self._score.added(own, some, self._most)) for some in self._rows]

    def on(self, start: Integers, members: Members) -> FamilyScorer:
        """The function that scores families out of some lists."""
        columns = len(self._table.names)
        sets = distinct_sets(start, members, self._run_of, np.zeros(columns, dtype=np.int64))
        bounds = np.searchsorted(sets.run, np.arange(len(self._runs) + 1))

        def sum_sets(cells: Floats, wanted: Flags, values: Floats, cancel: Integers) -> Floats:
            units, matrices = self._known or self._standardised(cells)
            for number, matrix in enumerate(matrices):
                own = *self._constants[number], bounds[number], bounds[number + 1]
                add_determinants(matrix, *own, sets.members, wanted, values, cancel)
            taken_off: Floats = self._observations * np.log(units)
            return taken_off

        # A round changes nearly all sets, and a determinant is quick.
        return scorer_of_sets(sets, start, np.ones(columns, dtype=np.bool_), sum_sets)
