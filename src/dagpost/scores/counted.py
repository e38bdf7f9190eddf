"""Scores of discrete columns that sum a function of the counts over the cells of a family.

Such a score says what is summed (`terms`); counting is done here, once for all of them. Cost and memory are those of
counting (`dagpost.scores.counting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.scores.base import Filling, Score
from dagpost.scores.completing import Completer, ListScorer

if TYPE_CHECKING:
    from dagpost.scores.cells import CellFunction


class CountedScore(Score):
    """Base of scores that are a difference of two sums over cells, `A(P + i) - B_i(P)`; write `terms`."""

    def variants(self, arities: tuple[int, ...]) -> tuple[int, ...]:
        """For each column, which function `B` it takes: that of its number of levels, unless a score says otherwise."""
        return arities

    def terms(self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int) -> CellFunction:
        """What is summed over the cells of sets of at most `max_size` columns, with `B` for each of some variants."""
        raise InputError(f"{type(self).__name__} must define terms().")

    def fill_nodes(self, asked: Filling) -> None:
        """Write the scores of some of the columns; sets without any of them are not counted."""
        from dagpost.scores.discrete_runs import fill_by_counting

        fill_by_counting(self, asked)

    def list_scorer(self, table: Table, max_parents: int, workers: int) -> ListScorer:
        """What scores listed families of a table with gaps, given their cells."""
        from dagpost.scores.listed_families import CountedListScorer

        return CountedListScorer(self, table, max_parents, workers)

    def completer(self, table: Table, max_parents: int) -> Completer | None:
        """What draws the cells that have no value, row by row, with the parameters summed out."""
        from dagpost.scores.discrete_completion import completes, counted_parameters
        from dagpost.scores.discrete_runs import terms_of
        from dagpost.scores.row_completion import RowCompleter

        terms = terms_of(self, table, 1, sorted(set(self.variants(table.arities))), max(table.observations, 1))
        if not completes(terms):
            return None
        return RowCompleter(table, counted_parameters(self, table, max_parents))
