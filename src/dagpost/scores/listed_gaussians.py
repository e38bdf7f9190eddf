"""The scores of listed families of continuous columns with gaps, again and again, with other numbers in the gaps.

The matrix of the posterior is made anew from the completed table; each set of columns behind the families then costs
one more row of a Cholesky factor (determinants.py). Time: some tenths of a microsecond a family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.families.distinct_sets import distinct_sets
from dagpost.scores.base import FamilyScorer, ListScorer
from dagpost.scores.determinants import add_determinants
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
        self._run_of, self._observations, self._constants = np.empty(columns, dtype=np.int64), np.empty(columns), []
        for number, (nodes, observed) in enumerate(self._runs):
            count = float(table.weights[slice(None) if observed is None else observed].sum())
            self._run_of[list(nodes)], self._observations[list(nodes)] = number, count
            self._constants.append(score.constants(columns, self._most, count))
        self._known = None if table.gap_count else self._standardised(np.zeros(0))

    def _standardised(self, cells: Floats) -> tuple[Floats, list[Floats]]:
        """The units of the columns, and the matrix of each run."""
        own = self._score.standardised(self._table.filled(cells))
        rows = [slice(None) if run.observed is None else run.observed for run in self._runs]
        return own.units, [np.ascontiguousarray(self._score.added(own, some, self._most)) for some in rows]

    def on(self, start: Integers, members: Members) -> FamilyScorer:
        """The function that scores families out of some lists."""
        columns = len(self._table.names)
        sets = distinct_sets(start, members, self._run_of, np.zeros(columns, dtype=np.int64))
        bounds = np.searchsorted(sets.run, np.arange(len(self._runs) + 1))
        node_of = np.repeat(np.arange(columns), np.diff(start))

        def score_families(cells: Floats, places: Integers, cancel: Integers) -> Floats:
            units, matrices = self._known or self._standardised(cells)
            values, wanted = np.zeros(len(sets.members)), np.zeros(len(sets.members), dtype=np.bool_)
            wanted[sets.plus[places]] = wanted[sets.minus[places]] = True
            for number, matrix in enumerate(matrices):
                own = *self._constants[number], bounds[number], bounds[number + 1]
                add_determinants(matrix, *own, sets.members, wanted, values, cancel)
            scores: Floats = values[sets.plus[places]] - values[sets.minus[places]]
            scores -= (self._observations * np.log(units))[node_of[places]]
            return scores

        return score_families
