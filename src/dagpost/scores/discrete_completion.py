"""Which levels may the missing cells of a row have, given a graph and all other rows? The parameters are summed out.

The rows are drawn in turn (row_draws.py), each given all others, so that the cells have the density exp(score) given
the graph, whichever the score. Here a table and a score are laid out for that. The graph changes from round to round,
so each round begins with counting all rows (family_counts.py), equal complete ones as one.

Several threads may draw at the same time, each with cells and working memory of its own. Memory: two bytes a code, and
the counts.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Codes, Counts, Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.cells import CellFunction, has_own_rows
from dagpost.scores.columns import check_written_out
from dagpost.scores.discrete_runs import terms_of
from dagpost.scores.family_counts import CellParameters, Layout, lay_out
from dagpost.scores.row_draws import JOINT_CONFIGURATIONS, GapRows, Work, most_blocks, redraw_rows
from dagpost.scores.rows import check_countable
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.counted import CountedScore


class CountedCompleter:
    """Draws missing cells with the density exp(score), for a score that sums a function of counts (base.Completer)."""

    def __init__(self, score: CountedScore, table: Table, max_parents: int) -> None:
        completed = table.filled(np.zeros(table.gap_count))
        codes, gaps = completed.codes(), np.zeros((len(table.names), table.rows), dtype=np.bool_)
        if table.gaps is not None:
            gaps |= table.gaps
        check_countable(table.names, table.arities, int(table.weights.sum()))
        self._codes, self._gaps, self._weights = codes, gaps, table.weights
        self._arities = table.arities
        self._rows = _gap_rows(table, codes, gaps)
        self._parameters = _parameters(score, table, max_parents, gaps)
        self._most_occurring = self._rows.weights.size + most_blocks(self._rows, np.array(table.arities))
        self._pool: queue.SimpleQueue[tuple[Work, Layout, Counts, Integers]] = queue.SimpleQueue()

    def begin(self, generator: np.random.Generator) -> Floats:
        """Each cell drawn from the observed codes of its column; from all levels, where none was observed."""
        drawn = []
        for column, gaps in enumerate(self._gaps):
            drawn.append(random_levels(self._codes[column], gaps, self._weights, self._arities[column], generator))
        return np.concatenate(drawn)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round over the incomplete rows, in place."""
        uniforms = generator.random(len(self._rows.columns) + len(self._rows.start))
        work, layout, counts, keys = self._scratch(families)
        needed = np.zeros(3, dtype=np.int64)
        lay_out(families, self._most_occurring, self._parameters, layout, needed)
        if len(counts) < needed[0]:
            counts = np.empty(needed[0], dtype=np.uint32)
        if keys.shape[0] < needed[1] or keys.shape[1] != needed[2]:
            keys = np.empty((needed[1], needed[2]), dtype=np.int64)
        redraw_rows(self._rows, self._parameters, layout, counts, keys, needed, work, uniforms, cells, cancel)
        self._pool.put((work, layout, counts, keys))

    def _scratch(self, families: Members) -> tuple[Work, Layout, Counts, Integers]:
        """Working memory that no other thread uses, with room for such families."""
        members = families.shape[1] + 1
        try:
            work, layout, counts, keys = self._pool.get_nowait()
            if layout.members.shape == (len(families), members):
                return work, layout, counts, keys
        except queue.Empty:
            counts, keys = np.empty(0, dtype=np.uint32), np.empty((0, 1), dtype=np.int64)
        layout = empty_layout(len(families), members, len(self._codes))
        return empty_work(self._rows.codes, layout, max(JOINT_CONFIGURATIONS, *self._arities)), layout, counts, keys


def empty_work(codes: Codes, layout: Layout, room: int) -> Work:
    """Working memory for drawing rows, with a copy of the codes; a block has at most `room` configurations."""
    (nodes, members), (columns, rows) = layout.members.shape, codes.shape
    return Work(
        codes=codes.copy(),
        labels=np.empty(rows, dtype=np.int64),
        key=np.zeros(members + 1, dtype=np.int64),
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


def empty_layout(nodes: int, members: int, columns: int) -> Layout:
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


def random_levels(codes: Codes, gaps: Flags, weights: Integers, arity: int, generator: np.random.Generator) -> Floats:
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


def in_order(
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


def _gap_rows(table: Table, codes: Codes, gaps: Flags) -> GapRows:
    """The rows of a table, equal complete ones merged."""
    check_written_out(table)
    counted, complete = counted_rows(table), np.flatnonzero(~gaps.any(axis=0))
    alike = np.vstack([codes, counted])[:, complete] if table.interventions is not None else codes[:, complete]
    _, kept, merged = np.unique(alike, axis=1, return_index=True, return_inverse=True)
    weights = np.bincount(merged.ravel(), table.weights[complete], len(kept)).astype(np.int64)
    return in_order(codes, weights, counted, gaps, complete[kept], np.arange(len(codes)))


def _parameters(score: CountedScore, table: Table, max_parents: int, gaps: Flags) -> CellParameters:
    """What the score sums, node by node: nodes that were set in different rows may sum different terms."""
    variant_of, nodes = score.variants(table.arities), len(table.names)
    result = CellParameters(
        arities=np.array(table.arities, dtype=np.int64),
        exclusive=np.ascontiguousarray(table.exclusive),
        has_gaps=np.array([own.any() for own in gaps]),
        cell=np.zeros(nodes),
        pooled=np.zeros(nodes),
        strength=np.zeros(nodes),
        entropy=np.zeros(nodes, dtype=np.bool_),
    )
    for run in runs_of(table.interventions, nodes):
        variants = sorted({variant_of[node] for node in run.nodes})
        observations = int(table.weights[slice(None) if run.observed is None else run.observed].sum())
        cells = terms_of(score, table, max_parents + 1, variants, max(observations, 1))
        for node in run.nodes:
            place = variants.index(variant_of[node]) + 1 if has_own_rows(cells) else 0
            result.cell[node], result.pooled[node] = cells.parameters[0], cells.parameters[place]
            result.strength[node] = cells.strength if cells.products.size else 0.0
            result.entropy[node] = cells.entropy
    return result


def completes(cells: CellFunction) -> bool:
    """Whether the terms are those of their parameters, so that what a row adds to them is known."""
    counts = np.arange(min(cells.tables.shape[1], 3))
    parameters = cells.parameters[:, np.newaxis]
    rising = np.where(counts > 0, np.log(parameters), 0.0) + np.where(counts > 1, np.log1p(parameters), 0.0)
    expected = counts * np.log(np.maximum(counts, 1)) if cells.entropy else rising
    return bool(np.allclose(cells.tables[:, : len(counts)], expected, rtol=1e-9, atol=1e-9))
