"""Scores of all families of a table with gaps, again and again, each time with other cells in the gaps.

Whatever does not depend on the cells is made once: the list of all sets (set_lists.py), the counts of complete rows,
the terms, and the scores of sets without a gap in any column. What is left of a call is counting the incomplete rows by
bits and one pass over the tables of the sets with gaps (pattern_counts.py).

Several threads may score at the same time, each in memory of its own.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Counts, Flags, Floats, Integers, Masks
from dagpost.data.table import Table
from dagpost.families.numbering import family_count
from dagpost.scores.counting import Scratch
from dagpost.scores.discrete_runs import terms_of
from dagpost.scores.pattern_counts import (
    CountedRows,
    Planes,
    SetValues,
    add_patterns,
    lay_out,
    mark_cells,
    score_sets,
)
from dagpost.scores.rows import check_countable, distinct_rows
from dagpost.scores.set_functions import runs_of
from dagpost.scores.set_lists import first_with, list_sets

if TYPE_CHECKING:
    from dagpost.scores.counted import CountedScore

_MOST_COUNTERS = 2**22


class CountedRescorer:
    """Scores a table of levels with a score that sums a function of the counts."""

    def __init__(self, score: CountedScore, table: Table, max_parents: int) -> None:
        nodes = len(table.names)
        limit = min(max_parents, nodes - 1)
        check_countable(table.names, table.arities, table.observations)
        self._kept = np.zeros((nodes, family_count(nodes - 1, limit)))
        self._runs = []
        for wanted, observed in runs_of(table.interventions, nodes):
            used = table.weights > 0 if observed is None else observed & (table.weights > 0)
            if used.any():
                rows = gap_rows(table, used)
                self._runs.append(_Run(score, table, wanted, limit, rows, self._kept))

    def __call__(self, cells: Floats) -> Floats:
        """The scores of all families, as `local_scores` has them."""
        values = self._kept.copy()
        for run in self._runs:
            run.score(cells, values)
        return values


class GapRows(NamedTuple):
    """Rows by position, columns without gaps first: distinct complete rows, and after them the incomplete ones.

    Cell `k` that has no value stands in the column at `position[k]` and in incomplete row `row[k]`, and has the number
    `cell[k]` among the cells of the table.
    """

    order: list[int]
    first_gap: int
    codes: Codes
    weights: Counts
    complete: int
    position: Integers
    row: Integers
    cell: Integers


def gap_rows(table: Table, used: Flags) -> GapRows:
    """The rows of a table that are used, laid out by whether they have gaps."""
    numbers = np.full((len(table.names), table.rows), -1, dtype=np.int64)
    if table.gaps is not None:
        numbers[table.gaps] = np.arange(table.gap_count)
    numbers, weights = numbers[:, used], table.weights[used]
    gaps: Flags = numbers >= 0
    with_gaps, complete = gaps.any(axis=1), ~gaps.any(axis=0)
    order = np.argsort(with_gaps, kind="stable").tolist()
    codes = np.stack([column[used] for column in table.columns]).astype(np.uint16)
    full, full_weights = _distinct(codes[:, complete], weights[complete], table.arities)
    # A row with gaps that counts more than once has the same cells each time.
    incomplete = np.repeat(np.flatnonzero(~complete), weights[~complete])
    own = numbers[order][:, incomplete]
    position, row = np.nonzero(own >= 0)
    return GapRows(
        order=order,
        first_gap=int((~with_gaps).sum()),
        codes=np.ascontiguousarray(np.hstack([full, codes[:, incomplete]])[order]),
        weights=np.concatenate([full_weights, np.ones(len(incomplete), dtype=np.uint32)]),
        complete=full.shape[1],
        position=position.astype(np.int64),
        row=row.astype(np.int64),
        cell=own[position, row],
    )


def _distinct(codes: Codes, weights: Integers, arities: tuple[int, ...]) -> tuple[Codes, Counts]:
    """Equal rows as one row with a larger weight."""
    if not len(weights):
        return codes, np.zeros(0, dtype=np.uint32)
    merged = distinct_rows(codes, weights, arities, ())
    return merged.codes[np.argsort(merged.order)], merged.weights


class _Space(NamedTuple):
    """The memory of one call."""

    patterns: Counts
    tables: Counts
    base: Floats
    codes: Codes
    bits: Masks
    stack: Masks
    cell_of: Integers
    scratch: Scratch


class _Run:
    """The columns that are scored from the same rows; scores that no cell changes are written to `kept`."""

    def __init__(
        self,
        score: CountedScore,
        table: Table,
        wanted: tuple[int, ...],
        max_parents: int,
        rows: GapRows,
        kept: Floats,
    ) -> None:
        variant_of = score.variants(table.arities)
        variants = sorted({variant_of[node] for node in wanted})
        own = [variants.index(variant_of[node]) if node in wanted else 0 for node in rows.order]
        self._rows, self._variants = rows, np.array(own, dtype=np.int64)
        self._arities = np.array(table.arities, dtype=np.int64)[rows.order]
        self._terms = terms_of(score, table, max_parents + 1, variants, int(rows.weights.sum()))
        self._sets = list_sets(rows.order, max_parents, wanted, table.exclusive, table.limits)
        incomplete = rows.codes.shape[1] - rows.complete
        words = -(-incomplete // 64)
        self._how, self._room = lay_out(self._sets, self._arities, self._terms, len(rows.weights), words)
        self._first, self._end = first_with(rows.first_gap, self._sets), len(self._sets.size)
        self._pool: queue.SimpleQueue[_Space] = queue.SimpleQueue()
        known = np.ones((len(rows.order), incomplete), dtype=np.bool_)
        known[rows.position, rows.row] = False
        self._planes = self._marked(rows.codes[:, rows.complete :], known)
        self._patterns = self._patterns_of_complete_rows()
        self._tables = np.zeros(self._room.cells, dtype=np.uint32)
        self._tables[0] = rows.weights.sum()
        self._base = np.zeros((len(variants), family_count(len(rows.order), max_parents)))
        space = self._new_space()
        add_patterns(0, self._first, self._sets, self._how, self._planes, 1, space.stack, space.patterns)
        self._score(0, self._first, space, kept)
        self._tables, self._base = space.tables, space.base

    def score(self, cells: Floats, values: Floats) -> None:
        """Write the scores of families with a gap in some column."""
        rows, codes = self._rows, cells[self._rows.cell].astype(np.int64)
        space = self._space()
        space.patterns[:] = self._patterns
        space.bits[:] = self._planes.bits
        planes = self._planes._replace(bits=space.bits)
        mark_cells(rows.position, rows.row, codes, planes)
        if self._room.by_rows:
            space.codes[rows.position, rows.row + rows.complete] = codes
        add_patterns(self._first, self._end, self._sets, self._how, planes, 1, space.stack, space.patterns)
        self._score(self._first, self._end, space, values)
        self._pool.put(space)

    def _score(self, begin: int, end: int, space: _Space, values: Floats) -> None:
        rows = CountedRows(space.codes, self._rows.weights, self._arities, self._variants)
        result = SetValues(space.patterns, space.tables, space.base, values.reshape(-1))
        score_sets(begin, end, self._sets, self._how, rows, self._terms, result, space.cell_of, space.scratch)

    def _patterns_of_complete_rows(self) -> Counts:
        """How often complete rows show each pattern: those that stand for `2^b` observations, for each bit `b`."""
        rows, patterns = self._rows, np.zeros(self._room.patterns, dtype=np.uint32)
        codes, weights = rows.codes[:, : rows.complete], rows.weights[: rows.complete]
        planes = self._marked(codes, np.ones(codes.shape, dtype=np.bool_))
        stack = self._stack(planes.everyone.size)
        for bit in range(int(weights.max(initial=0)).bit_length()):
            own = planes._replace(everyone=_packed((weights >> np.uint32(bit)) & np.uint32(1) == 1))
            add_patterns(0, self._end, self._sets, self._how, own, 1 << bit, stack, patterns)
        return patterns

    def _marked(self, codes: Codes, known: Flags) -> Planes:
        """The bitmaps of some rows, with nothing marked in cells that are not known."""
        everyone, own = _packed(np.ones(codes.shape[1], dtype=np.bool_)), self._arities - 1
        bits = np.zeros((int(own.sum()), everyone.size), dtype=np.uint64)
        planes = Planes(bits, np.cumsum(own) - own, self._arities, everyone)
        positions, rows = (place.astype(np.int64) for place in np.nonzero(known))
        mark_cells(positions, rows, codes[positions, rows].astype(np.int64), planes)
        return planes

    def _stack(self, words: int) -> Masks:
        """Room for the bitmaps on the way to a set."""
        return np.empty((self._sets.max_size + 1, self._room.most * words), dtype=np.uint64)

    def _space(self) -> _Space:
        try:
            return self._pool.get_nowait()
        except queue.Empty:
            return self._new_space()

    def _new_space(self) -> _Space:
        rows, levels = self._rows, self._sets.max_size + 1
        return _Space(
            self._patterns.copy(),
            self._tables.copy(),
            self._base.copy(),
            rows.codes.copy() if self._room.by_rows else rows.codes,
            np.empty_like(self._planes.bits),
            self._stack(self._planes.everyone.size),
            np.zeros((levels, self._room.most), dtype=np.int64),
            _scratch(rows.weights if self._room.by_rows else rows.weights[:0], int(self._arities.max()), levels),
        )


def _packed(flags: Flags) -> Masks:
    """A bit for each flag, the first one lowest."""
    filled = np.zeros(-(-len(flags) // 64) * 64, dtype=np.bool_)
    filled[: len(flags)] = flags
    return np.packbits(filled, bitorder="little").view("<u8").astype(np.uint64)


def _scratch(weights: Counts, arity: int, levels: int) -> Scratch:
    """What counting row by row writes."""
    count = len(weights)
    counters = max(arity, min(count * arity, _MOST_COUNTERS)) if count else 0
    return Scratch(
        counters=np.zeros(counters, dtype=np.uint32),
        new_label=np.empty(counters, dtype=np.uint32),
        occupied=np.empty(count + 1, dtype=np.uint32),
        labels=np.zeros((levels, count), dtype=np.uint32),
        bitmaps=np.empty((0, 0), dtype=np.uint64),
        sizes=np.empty((0, 0), dtype=np.uint32),
    )
