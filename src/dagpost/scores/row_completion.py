"""Which levels and numbers may the missing cells of a row have, given a graph and all other rows?

One round leaves the density exp(score) of the completed table as it is. First a regression is drawn for every column of
numbers and every combination of levels of its discrete parents, from the posterior that the score integrates over
(regression_draws.py); then the incomplete rows in turn (row_draws.py), their levels with the parameters of the columns
of levels summed out. Here a table is laid out for that: a column of numbers is also one of a single level, which
changes no count and no Dirichlet score, so that all families have keys of one kind. The graph changes from round to
round, so each round begins with counting all rows (family_counts.py), equal complete ones as one if there are no
numbers.

Several threads may draw at the same time, each with cells and working memory of its own. Memory: two bytes a code and
eight a number, for each thread; the counts; and the regressions.
"""

from __future__ import annotations

import queue
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.columns import check_written_out, part_of
from dagpost.scores.family_counts import CellParameters, Layout, Tally, lay_out
from dagpost.scores.gaussian_completion import observed_moments, random_numbers
from dagpost.scores.missing_numbers import NumberWork
from dagpost.scores.parameter_priors import NormalWishartPrior
from dagpost.scores.regression_draws import Fit, Moments, NumberPrior, Regressions
from dagpost.scores.row_draws import Numbers, Round, redraw_rows
from dagpost.scores.row_weights import JOINT_CONFIGURATIONS, GapRows, Work, most_blocks
from dagpost.scores.rows import check_countable
from dagpost.scores.set_functions import runs_of


class _Scratch(NamedTuple):
    """Working memory of one thread."""

    work: Work
    numbers: NumberWork
    tally: Tally


class RowCompleter:
    """Draws missing cells with the density exp(score), for scores of columns of levels, of numbers, or both.

    `parameters` are those of the columns of levels (a column of numbers has one level); `prior` is that of the columns
    of numbers, which must not depend on the missing cells.
    """

    def __init__(self, table: Table, parameters: CellParameters, prior: NormalWishartPrior) -> None:
        check_written_out(table)
        check_countable(table.names, table.arities, int(table.weights.sum()))
        self._table, self._gaps, self._parameters = table, gaps_of(table), parameters
        self._is_number = np.array([levels is None for levels in table.levels])
        nothing = np.zeros(table.rows, dtype=np.uint16)
        columns = zip(table.levels, table.columns, strict=True)
        codes, counted = np.stack([nothing if levels is None else own for levels, own in columns]), counted_rows(table)
        complete, incomplete = (np.flatnonzero(has == self._gaps.any(axis=0)) for has in (False, True))
        weights = table.weights[complete]
        if not self._is_number.any():
            alike = np.vstack([codes, counted])[:, complete] if table.interventions is not None else codes[:, complete]
            _, kept, merged = np.unique(alike, axis=1, return_index=True, return_inverse=True)
            complete, weights = complete[kept], np.bincount(merged.ravel(), weights, len(kept)).astype(np.int64)
        # In every row the gaps in columns of levels come first.
        by_kind = np.argsort(self._is_number, kind="stable")
        self._rows = _in_order(codes, weights, counted, self._gaps, complete, by_kind)
        self._order = np.concatenate([complete, incomplete])
        self._lay_out_numbers(prior)
        arities, with_gaps = parameters.arities, parameters.has_gaps
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
        count = len(places)
        self._prior = NumberPrior(prior.mean_weight, mean, prior.scale(count), prior.spare(count) + 1)

    def begin(self, generator: np.random.Generator) -> Floats:
        """Each cell drawn from the observed values of its column; from all levels, or the mean, where there is none."""
        table, drawn = self._table, []
        for column, gaps in enumerate(self._gaps):
            own, arity, weights = table.columns[column], table.arities[column], table.weights
            if self._is_number[column]:
                centre = float(self._numbers.centre[self._numbers.number_of[column]])
                drawn.append(random_numbers(own, gaps, weights.astype(np.float64), centre, generator))
            else:
                drawn.append(_random_levels(own, gaps, weights, arity, generator))
        return np.concatenate(drawn)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round over the incomplete rows, in place."""
        scratch, needed = self._scratch(families), np.zeros(3, dtype=np.int64)
        tally = scratch.tally
        lay_out(families, self._most_occurring, self._parameters, tally.layout, needed)
        if len(tally.counts) < needed[0]:
            tally = tally._replace(counts=np.empty(needed[0], dtype=np.uint32))
        if tally.keys.shape[0] < needed[1] or tally.keys.shape[1] != needed[2]:
            tally = tally._replace(keys=np.empty((needed[1], needed[2]), dtype=np.int64))
        regressions, moments = self._room_for(families, int(needed[0]))
        of_levels = np.where(self._is_number[: len(families)], 0, tally.layout.sizes)
        table = Round(
            self._rows,
            self._numbers,
            self._parameters,
            of_levels,
            tally,
            Fit(self._prior, regressions, moments),
            scratch.work,
            scratch.numbers,
        )
        redraw_rows(families, needed, table, generator, cells, cancel)
        self._pool.put(scratch._replace(tally=tally))

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
            places=np.arange(members),
            floors=np.full(members, self._prior.scale),
            distance=np.empty(members),
            normals=np.empty(members),
        )
        return regressions, moments

    def _scratch(self, families: Members) -> _Scratch:
        """Working memory that no other thread uses, with room for such families."""
        nodes, members = len(families), families.shape[1] + 1
        try:
            scratch = self._pool.get_nowait()
            if scratch.tally.layout.members.shape == (nodes, members):
                return scratch
        except queue.Empty:
            pass
        rows, numbers = self._rows, len(self._values)
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
        tally = Tally(
            codes=rows.codes.copy(),
            weights=rows.weights,
            counted=rows.counted,
            layout=_empty_layout(nodes, members, len(self._gaps)),
            counts=np.empty(0, dtype=np.uint32),
            keys=np.empty((0, 1), dtype=np.int64),
            labels=np.empty(len(rows.weights), dtype=np.int64),
            key=np.zeros(members + 1, dtype=np.int64),
        )
        return _Scratch(_empty_work(nodes, members, len(self._gaps), self._room), work, tally)


def gaps_of(table: Table) -> Flags:
    """Where the table has gaps, by columns."""
    return np.zeros((len(table.names), table.rows), dtype=np.bool_) if table.gaps is None else table.gaps


def _empty_work(nodes: int, members: int, columns: int, room: int) -> Work:
    """Working memory for drawing rows, for families of at most so many members and blocks of `room` configurations."""
    return Work(
        block=np.zeros(columns, dtype=np.int64),
        place_of=np.full(columns, -1, dtype=np.int64),
        touched=np.zeros(nodes, dtype=np.int64),
        seen=np.full(nodes, -1, dtype=np.int64),
        digits=np.zeros(columns, dtype=np.int64),
        steps=np.zeros(columns, dtype=np.int64),
        missing=np.zeros(members, dtype=np.int64),
        own=np.zeros(room),
        joint=np.zeros(room),
    )


def _empty_layout(nodes: int, members: int, columns: int) -> Layout:
    """Room for where families of at most so many members have their counts."""
    return Layout(
        members=np.zeros((nodes, members), dtype=np.int64),
        sizes=np.zeros(nodes, dtype=np.int64),
        word=np.zeros((nodes, members), dtype=np.int64),
        stride=np.zeros((nodes, members), dtype=np.int64),
        words=np.zeros((nodes, 2), dtype=np.int64),
        offset=np.zeros((nodes, 2), dtype=np.int64),
        mask=np.zeros((nodes, 2), dtype=np.int64),
        parameter=np.zeros((nodes, 2)),
        starts=np.zeros(columns + 1, dtype=np.int64),
        lists=np.zeros(nodes * members, dtype=np.int64),
    )


def _random_levels(codes: Codes, gaps: Flags, weights: Integers, arity: int, generator: np.random.Generator) -> Floats:
    """A code for each gap of a column, drawn from the observed ones; from all levels, where none was observed."""
    counts = np.bincount(codes[~gaps], weights[~gaps], arity)
    chances = np.cumsum(counts if counts.any() else np.ones(arity))
    uniforms = generator.random(int(gaps.sum()))
    chosen: Floats = np.searchsorted(chances, uniforms * chances[-1], side="right").clip(max=arity - 1).astype(float)
    return chosen


def counted_rows(table: Table) -> Flags:
    """Which rows (columns, rows) count for the family of each node: those in which it was not set."""
    counted = np.ones((len(table.names), table.rows), dtype=np.bool_)
    for run in runs_of(table.interventions, len(table.names)):
        if run.observed is not None:
            counted[list(run.nodes)] = run.observed
    return counted


def _in_order(
    codes: Codes, weights: Integers, counted: Flags, gaps: Flags, complete: Integers, columns: Integers
) -> GapRows:
    """Some complete rows with their weights, then the incomplete ones, their gaps in the order of `columns`."""
    incomplete = gaps.any(axis=0)
    order = np.concatenate([complete, np.flatnonzero(incomplete)])
    places = np.zeros(gaps.shape, dtype=np.int64)
    places[gaps] = np.arange(int(gaps.sum()))
    open_rows, found = np.nonzero(gaps[columns].T[incomplete])
    return GapRows(
        codes=np.ascontiguousarray(codes[:, order], dtype=np.uint16),
        weights=np.concatenate([weights, np.ones(int(incomplete.sum()))]).astype(np.uint32),
        counted=np.ascontiguousarray(counted[:, order]),
        first=len(complete),
        start=np.searchsorted(open_rows, np.arange(int(incomplete.sum()) + 1)).astype(np.int64),
        columns=columns[found],
        cells=places.T[incomplete][open_rows, columns[found]],
    )
