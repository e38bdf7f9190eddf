"""Which levels may the missing cells of a row have, given a graph and all other rows?

One round leaves the density exp(score) of the completed table as it is: the incomplete rows are drawn in turn
(row_draws.py), with the parameters summed out. Here a table is laid out for that. The graph changes from round to
round, so each round begins with counting all rows (family_counts.py), equal complete ones as one.

Several threads may draw at the same time, each with cells and working memory of its own. Memory: two bytes a code for
each thread, and the counts.
"""

from __future__ import annotations

import queue
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.columns import check_written_out
from dagpost.scores.family_counts import CellParameters, Layout, Tally, lay_out
from dagpost.scores.row_draws import Round, redraw_rows
from dagpost.scores.row_weights import JOINT_CONFIGURATIONS, GapRows, Work, most_blocks
from dagpost.scores.rows import check_countable
from dagpost.scores.set_functions import runs_of


class _Scratch(NamedTuple):
    """Working memory of one thread."""

    work: Work
    tally: Tally


class RowCompleter:
    """Draws missing cells with the density exp(score), for scores of columns of levels."""

    def __init__(self, table: Table, parameters: CellParameters) -> None:
        check_written_out(table)
        check_countable(table.names, table.arities, int(table.weights.sum()))
        self._table, self._gaps, self._parameters = table, gaps_of(table), parameters
        codes, counted = np.stack(table.columns), counted_rows(table)
        complete = np.flatnonzero(~self._gaps.any(axis=0))
        alike = np.vstack([codes, counted])[:, complete] if table.interventions is not None else codes[:, complete]
        _, kept, merged = np.unique(alike, axis=1, return_index=True, return_inverse=True)
        weights = np.bincount(merged.ravel(), table.weights[complete], len(kept)).astype(np.int64)
        self._rows = _in_order(codes, weights, counted, self._gaps, complete[kept])
        arities, with_gaps = parameters.arities, parameters.has_gaps
        self._most_occurring = self._rows.weights.size + most_blocks(self._rows, arities)
        # The configurations of a block: few, or the levels of one column with gaps.
        self._room = max(JOINT_CONFIGURATIONS, int(arities[with_gaps].max(initial=1)))
        self._pool: queue.SimpleQueue[_Scratch] = queue.SimpleQueue()

    def begin(self, generator: np.random.Generator) -> Floats:
        """Each cell drawn from the observed values of its column; from all levels, where there is none."""
        table = self._table
        columns = zip(table.columns, self._gaps, table.arities, strict=True)
        return np.concatenate(
            [_random_levels(codes, gaps, table.weights, arity, generator) for codes, gaps, arity in columns]
        )

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round over the incomplete rows, in place."""
        scratch, needed = self._scratch(families), np.zeros(3, dtype=np.int64)
        tally = scratch.tally
        lay_out(families, self._most_occurring, self._parameters, tally.layout, needed)
        if len(tally.counts) < needed[0]:
            tally = tally._replace(counts=np.empty(needed[0], dtype=np.uint32))
        if tally.keys.shape[0] < needed[1] or tally.keys.shape[1] != needed[2]:
            tally = tally._replace(keys=np.empty((needed[1], needed[2]), dtype=np.int64))
        redraw_rows(needed, Round(self._rows, self._parameters, tally, scratch.work), generator, cells, cancel)
        self._pool.put(scratch._replace(tally=tally))

    def _scratch(self, families: Members) -> _Scratch:
        """Working memory that no other thread uses, with room for such families."""
        nodes, members = len(families), families.shape[1] + 1
        try:
            scratch = self._pool.get_nowait()
            if scratch.tally.layout.members.shape == (nodes, members):
                return scratch
        except queue.Empty:
            pass
        rows = self._rows
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
        return _Scratch(_empty_work(nodes, members, len(self._gaps), self._room), tally)


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


def _in_order(codes: Codes, weights: Integers, counted: Flags, gaps: Flags, complete: Integers) -> GapRows:
    """Some complete rows with their weights, then the incomplete ones."""
    incomplete = gaps.any(axis=0)
    order = np.concatenate([complete, np.flatnonzero(incomplete)])
    places = np.zeros(gaps.shape, dtype=np.int64)
    places[gaps] = np.arange(int(gaps.sum()))
    open_rows, columns = np.nonzero(gaps.T[incomplete])
    return GapRows(
        codes=np.ascontiguousarray(codes[:, order], dtype=np.uint16),
        weights=np.concatenate([weights, np.ones(int(incomplete.sum()))]).astype(np.uint32),
        counted=np.ascontiguousarray(counted[:, order]),
        first=len(complete),
        start=np.searchsorted(open_rows, np.arange(int(incomplete.sum()) + 1)).astype(np.int64),
        columns=columns,
        cells=places.T[incomplete][open_rows, columns],
    )
