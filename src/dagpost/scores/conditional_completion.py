"""Which levels and numbers may missing cells have under the conditional Gaussian score, given a graph and the rest?

One round leaves the density exp(score) of the completed table as it is. First a regression is drawn for every column of
numbers and every combination of levels of its discrete parents, from the posterior that the score integrates over
(regression_draws.py); then the incomplete rows in turn (mixed_row_draws.py), their levels with the parameters of the
columns of levels summed out. Here a table is laid out for that: a column of numbers is also one of a single level,
which changes no count and no Dirichlet score, so that all families have keys of one kind.

Several threads may draw at the same time, each with cells and working memory of its own. Memory: ten bytes a cell of
the table and thread, and the regressions.
"""

from __future__ import annotations

import queue
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Counts, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.columns import check_written_out, part_of
from dagpost.scores.discrete_completion import counted_rows, empty_layout, empty_work, in_order, random_levels
from dagpost.scores.family_counts import CellParameters, Layout, lay_out
from dagpost.scores.gaussian_completion import observed_moments, random_numbers
from dagpost.scores.missing_numbers import NumberWork
from dagpost.scores.mixed_row_draws import Numbers, redraw_mixed_rows
from dagpost.scores.parameter_priors import NormalWishartPrior
from dagpost.scores.regression_draws import Moments, NumberPrior, Regressions
from dagpost.scores.row_draws import JOINT_CONFIGURATIONS, Work, most_blocks
from dagpost.scores.rows import check_countable


class _Scratch(NamedTuple):
    """Working memory of one thread."""

    work: Work
    numbers: NumberWork
    layout: Layout
    counts: Counts
    keys: Integers


class ConditionalCompleter:
    """Draws missing cells with the density exp(score) of the conditional Gaussian score (base.Completer).

    `equivalent_sample_size` is that of the columns of levels; `prior` is that of the columns of numbers, which must not
    depend on the missing cells.
    """

    def __init__(self, equivalent_sample_size: float, prior: NormalWishartPrior, table: Table) -> None:
        check_written_out(table)
        check_countable(table.names, table.arities, int(table.weights.sum()))
        self._table, nodes = table, len(table.names)
        self._gaps = np.zeros((nodes, table.rows), dtype=np.bool_) if table.gaps is None else table.gaps
        self._is_number = np.array([levels is None for levels in table.levels])
        arities = np.where(self._is_number, 1, table.arities).astype(np.int64)
        with_gaps = np.array([own.any() for own in self._gaps])
        self._parameters = CellParameters(
            arities=arities,
            exclusive=np.ascontiguousarray(table.exclusive),
            has_gaps=with_gaps,
            cell=np.ones(nodes),
            pooled=np.ones(nodes),
            strength=np.full(nodes, equivalent_sample_size),
            entropy=np.zeros(nodes, dtype=np.bool_),
        )
        nothing = np.zeros(table.rows, dtype=np.uint16)
        codes = [nothing if levels is None else own for levels, own in zip(table.levels, table.columns, strict=True)]
        complete = np.flatnonzero(~self._gaps.any(axis=0))
        # In every row the gaps in columns of levels come first.
        columns = np.argsort(self._is_number, kind="stable")
        counted, weights = counted_rows(table), table.weights[complete]
        self._rows = in_order(np.stack(codes), weights, counted, self._gaps, complete, columns)
        self._order = np.concatenate([complete, np.flatnonzero(self._gaps.any(axis=0))])
        self._lay_out_numbers(prior)
        self._most_occurring = self._rows.weights.size + most_blocks(self._rows, arities)
        # The configurations of a block: few, or the levels of one column with gaps.
        self._room = max(JOINT_CONFIGURATIONS, int(arities[with_gaps].max(initial=1)))
        self._pool: queue.SimpleQueue[_Scratch] = queue.SimpleQueue()

    def _lay_out_numbers(self, prior: NormalWishartPrior) -> None:
        """The columns of numbers, in units of their prior and with their observed means at 0."""
        table, places, rows = self._table, np.flatnonzero(self._is_number), self._rows
        number_of = np.full(len(table.names), -1, dtype=np.int64)
        number_of[places] = np.arange(len(places))
        centre, unit, mean = np.zeros(0), np.ones(0), np.zeros(0)
        self._values = np.zeros((0, table.rows))
        if len(places):
            part = part_of(table, places.tolist())
            centre, found = observed_moments(part)
            unit = prior.deviations(part.names, found)
            mean = (prior.mean(part.names, centre[np.newaxis], np.ones(1)) - centre) / unit
            values = (np.stack(part.columns) - centre[:, np.newaxis]) / unit[:, np.newaxis]
            self._values = np.ascontiguousarray(values[:, self._order])
        levels = np.concatenate([[0], np.cumsum(~self._is_number[rows.columns])])
        levels_end = rows.start[:-1] + np.diff(levels[rows.start])
        self._numbers = Numbers(number_of, levels_end.astype(np.int64), centre, unit)
        self._degrees = prior.spare(len(places)) + 1
        self._prior = NumberPrior(prior.mean_weight, mean, prior.scale(len(places)), self._degrees)

    def begin(self, generator: np.random.Generator) -> Floats:
        """Each cell drawn from the observed values of its column; from all levels, or the mean, where there is none."""
        table, drawn = self._table, []
        for column, gaps in enumerate(self._gaps):
            own, arity, weights = table.columns[column], table.arities[column], table.weights
            if self._is_number[column]:
                centre = float(self._numbers.centre[self._numbers.number_of[column]])
                drawn.append(random_numbers(own, gaps, weights.astype(np.float64), centre, generator))
            else:
                drawn.append(random_levels(own, gaps, weights, arity, generator))
        return np.concatenate(drawn)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round over the incomplete rows, in place."""
        scratch, needed = self._scratch(families), np.zeros(3, dtype=np.int64)
        layout, counts, keys = scratch.layout, scratch.counts, scratch.keys
        lay_out(families, self._most_occurring, self._parameters, layout, needed)
        if len(counts) < needed[0]:
            counts = np.empty(needed[0], dtype=np.uint32)
        if keys.shape[0] < needed[1] or keys.shape[1] != needed[2]:
            keys = np.empty((needed[1], needed[2]), dtype=np.int64)
        regressions, moments = self._room_for(families, int(needed[0]))
        of_levels = np.where(self._is_number[: len(families)], 0, layout.sizes)
        redraw_mixed_rows(
            self._rows,
            self._numbers,
            families,
            self._parameters,
            self._prior,
            layout,
            layout._replace(sizes=of_levels),
            counts,
            keys,
            needed,
            regressions,
            moments,
            scratch.work,
            scratch.numbers,
            generator,
            cells,
            cancel,
        )
        self._pool.put(scratch._replace(counts=counts, keys=keys))

    def _room_for(self, families: Members, places: int) -> tuple[Regressions, Moments]:
        """Room for the regressions of a graph: one for each combination that occurs, or comes to occur in the round."""
        is_number, (nodes, width) = self._is_number, families.shape
        # A place more for the parents that are not there.
        arities, numbers, with_gaps = (
            np.append(own, other)[families]
            for own, other in ((self._parameters.arities, 1), (is_number, False), (self._parameters.has_gaps, False))
        )
        drawn = is_number[:nodes] & (with_gaps.any(axis=1) | self._parameters.has_gaps[:nodes])
        combinations = np.prod(arities[drawn], axis=1, dtype=np.float64)
        members = int(numbers.sum(axis=1).max(initial=0)) + 1
        occurring = int(np.minimum(combinations, self._rows.weights.size).max(initial=1))
        size = int(np.minimum(combinations, self._most_occurring).sum()) + int(drawn.sum()) * self._room
        regressions = Regressions(
            members=np.zeros((nodes, width + 1), dtype=np.int64),
            sizes=np.zeros(nodes, dtype=np.int64),
            number_at=np.empty(places, dtype=np.int64),
            intercept=np.empty(size),
            coefficients=np.empty((size, members)),
            deviation=np.empty(size),
        )
        moments = Moments(
            weight=np.empty(occurring),
            mean=np.empty((occurring, members)),
            scatter=np.empty((occurring, members, members)),
            distance=np.empty(members),
        )
        return regressions, moments

    def _scratch(self, families: Members) -> _Scratch:
        """Working memory that no other thread uses, with room for such families."""
        nodes, members = len(families), families.shape[1] + 1
        try:
            scratch = self._pool.get_nowait()
            if scratch.layout.members.shape == (nodes, members):
                return scratch
        except queue.Empty:
            pass
        layout, numbers = empty_layout(nodes, members, len(self._gaps)), len(self._values)
        work = NumberWork(
            values=self._values.copy(),
            gap_of=np.full(numbers, -1, dtype=np.int64),
            touched=np.zeros(nodes, dtype=np.int64),
            seen=np.full(nodes, -1, dtype=np.int64),
            choices=np.zeros((nodes, self._room), dtype=np.int64),
            steps=np.zeros((nodes, len(self._gaps)), dtype=np.int64),
            at=np.zeros(nodes, dtype=np.int64),
            columns=np.zeros((numbers, nodes)),
            triangle=np.zeros((numbers, numbers)),
            residuals=np.zeros(nodes),
            solution=np.zeros(numbers),
        )
        counts, keys = np.empty(0, dtype=np.uint32), np.empty((0, 1), dtype=np.int64)
        return _Scratch(empty_work(self._rows.codes, layout, self._room), work, layout, counts, keys)
