"""The scores of listed families of a table with gaps, again and again, with other cells in the gaps.

A chain over graphs and completed tables reads the scores of some thousand families, and nearly all of them change
whenever cells do. The rows stay where they are; of the columns and their bitmaps only the cells in the gaps are
rewritten. Each set of columns behind the families (families/distinct_sets.py) is counted once, over the rows or by bits
as in counting.py: a walk labels the rows by what sets have in common, and each set then costs one count. Sets of
complete columns are counted once and for all.

Time: about two microseconds a family at 1,000 rows. Memory: a copy of the table at two bytes a cell for each worker.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.families.distinct_sets import DistinctSets, distinct_sets
from dagpost.scores.cells import CellFunction, has_own_rows, parameter_of, row_of, sum_terms
from dagpost.scores.columns import check_written_out, with_gaps
from dagpost.scores.completing import FamilyScorer, ListScorer
from dagpost.scores.counting import Scratch, begin_rows, count_column, scratch_pool, with_column
from dagpost.scores.discrete_runs import terms_of
from dagpost.scores.listed_sets import numbers_of_runs, scorer_of_sets
from dagpost.scores.rows import Rows, check_countable
from dagpost.scores.set_functions import Run, runs_of

if TYPE_CHECKING:
    from dagpost.scores.counted import CountedScore


class _Gaps(NamedTuple):
    """Where the cells in the gaps belong: their numbers, columns and rows, and the bits of these rows."""

    numbers: Integers
    columns: Integers
    rows: Integers
    bits: Integers


class _Prepared(NamedTuple):
    """The rows from which the nodes of a run are scored, and room for one worker."""

    cells: CellFunction
    gaps: _Gaps
    scratch: Scratch


class CountedListScorer(ListScorer):
    """Scores listed families of at most `max_parents` parents by counting."""

    def __init__(self, score: CountedScore, table: Table, max_parents: int, workers: int) -> None:
        check_countable(table.names, table.arities, table.observations)
        check_written_out(table)
        self._runs = runs_of(table.interventions, len(table.names))
        self._run_of = numbers_of_runs(self._runs, len(table.names))
        variant_of = score.variants(table.arities)
        variants = sorted(set(variant_of))
        cells = terms_of(score, table, max_parents + 1, variants, table.observations)
        # Where `B` sums what `A` sums, and nothing more, the two are one.
        same = not has_own_rows(cells) and not cells.penalties.any()
        self._kind_of = np.array([0 if same else 1 + variants.index(own) for own in variant_of], dtype=np.int64)
        self._changing = with_gaps(table)
        self._pool: queue.SimpleQueue[list[_Prepared | None]] = queue.SimpleQueue()
        for _ in range(workers):
            self._pool.put([_prepare(score, table, run, variants, max_parents) for run in self._runs])

    def on(self, start: Integers, members: Members) -> FamilyScorer:
        """The function that scores families out of some lists."""
        sets = distinct_sets(start, members, self._run_of, self._kind_of)
        bounds = np.searchsorted(sets.run, np.arange(len(self._runs) + 1))

        def sum_sets(cells: Floats, wanted: Flags, values: Floats, cancel: Integers) -> Floats:
            room = self._pool.get()
            try:
                for number, prepared in enumerate(room):
                    own = bounds[number], bounds[number + 1]
                    if prepared is not None:
                        _write_cells(cells, prepared.gaps, prepared.scratch)
                        _sum_sets(*own, sets, wanted, prepared, values, cancel)
            finally:
                self._pool.put(room)
            return np.zeros(len(self._changing))

        return scorer_of_sets(sets, start, self._changing, sum_sets)


def _prepare(score: CountedScore, table: Table, run: Run, variants: list[int], max_parents: int) -> _Prepared | None:
    """The rows from which the nodes of a run are scored; None where there are none, and all scores are 0."""
    used = table.weights > 0 if run.observed is None else run.observed & (table.weights > 0)
    if not used.any():
        return None
    codes = np.ascontiguousarray(np.stack([column[used] for column in table.columns]), dtype=np.uint16)
    weights = table.weights[used]
    columns = len(codes)
    rows = Rows(
        codes=codes,
        arities=np.array(table.arities, dtype=np.int64),
        order=np.arange(columns),
        weights=weights.astype(np.uint32),
        exclusive=table.exclusive,
        limits=np.array([columns, columns], dtype=np.int64),
    )
    numbers = np.full((columns, table.rows), -1, dtype=np.int64)
    if table.gaps is not None:
        numbers[table.gaps] = np.arange(table.gap_count)
    numbers = numbers[:, used]
    at = np.nonzero(numbers >= 0)
    # A row with a gap counts once, so one bit stands for it.
    own = _Gaps(numbers[at], at[0], at[1], (np.cumsum(weights) - weights)[at[1]])
    scratch = scratch_pool(rows, max_parents + 2, 1).get()
    cells = terms_of(score, table, max_parents + 1, variants, int(weights.sum()))
    return _Prepared(cells, own, scratch)


@kernel
def _write_cells(cells: Floats, gaps: _Gaps, scratch: Scratch) -> None:
    rows, bits = scratch.rows, scratch.bits
    for place in range(len(gaps.numbers)):
        column, row, bit = gaps.columns[place], gaps.rows[place], gaps.bits[place]
        code = int(cells[gaps.numbers[place]])
        rows.codes[column, row] = code
        first = bits.first[column]
        if first >= 0:
            # Bits are packed into bytes from the highest down, and bytes into words from the lowest up.
            mark = np.uint64(1) << np.uint64((bit & 56) + 7 - (bit & 7))
            for other in range(rows.arities[column] - 1):
                plane = bits.planes[first + other]
                if other == code:
                    plane[bit >> 6] |= mark
                else:
                    plane[bit >> 6] &= ~mark


@kernel
def _sum_sets(
    first: int, end: int, sets: DistinctSets, wanted: Flags, prepared: _Prepared, values: Floats, cancel: Integers
) -> None:
    """Write what a score sums over the cells of each wanted set of a run."""
    scratch = prepared.scratch
    bits = scratch.bits
    begin_rows(scratch)
    # By level: labels, whether they have bitmaps, and the column that was added last.
    levels = sets.members.shape[1] + 1
    counts, by_bits, path = np.ones(levels, np.int64), np.zeros(levels, np.bool_), np.zeros(levels, np.int64)
    by_bits[0] = bits.everyone.size > 0
    labelled = 0
    number = _next_wanted(first - 1, end, wanted)
    while number < end:
        if cancel[0] != 0:
            return
        members, size = sets.members[number], sets.size[number]
        common = 0
        while common < min(labelled, size) and path[common] == members[common]:
            common += 1
        labelled = common
        while labelled < size - 1:
            column = int(members[labelled])
            counts[labelled + 1], by_bits[labelled + 1] = count_column(
                labelled, counts[labelled], column, True, by_bits[labelled], scratch
            )
            path[labelled] = column
            labelled += 1
        following = _next_wanted(number, end, wanted)
        found = np.int64(1)
        if size == 0:
            scratch.occupied[0] = bits.observations
        else:
            level, column = size - 1, int(members[size - 1])
            if following < end and sets.size[following] > size and _begins(sets.members[following], members, size):
                # Its cells are counted while the rows are labelled.
                found, by_bits[size] = count_column(level, counts[level], column, True, by_bits[level], scratch)
                counts[size], path[level] = found, column
                labelled = size
            else:
                found, _ = count_column(level, counts[level], column, False, by_bits[level], scratch)
                labelled = level
        _write_sums(number, found, sets, prepared, values)
        # The same set for other kinds of sums has the same cells.
        while following < end and sets.size[following] == size and _begins(sets.members[following], members, size):
            _write_sums(following, found, sets, prepared, values)
            following = _next_wanted(following, end, wanted)
        number = following


@inline_no_refcount
def _next_wanted(number: int, end: int, wanted: Flags) -> int:
    number += 1
    while number < end and not wanted[number]:
        number += 1
    return number


@inline_no_refcount
def _begins(longer: Members, members: Members, size: int) -> bool:
    """Whether a set begins with the first `size` columns of another one."""
    same = True
    for place in range(size):
        same = same and longer[place] == members[place]
    return same


@inline_no_refcount
def _write_sums(number: int, found: np.int64, sets: DistinctSets, prepared: _Prepared, values: Floats) -> None:
    """Sum the terms of the cells that were counted last, as the kind of a set has it."""
    rows, cells = prepared.scratch.rows, prepared.cells
    configurations, indicators = 1.0, 0
    for place in range(sets.size[number]):
        column = sets.members[number, place]
        configurations = with_column(configurations, column, indicators, rows)
        indicators += 1 if rows.exclusive[column] else 0
    kind = sets.kind[number]
    own_rows = kind > 0 and has_own_rows(cells)
    row = kind if own_rows else row_of(configurations, cells)
    parameter = cells.parameters[kind] if own_rows else parameter_of(configurations, cells)
    values[number] = sum_terms(prepared.scratch.occupied, found, row, parameter, cells)
    if kind > 0:
        values[number] += cells.penalties[kind - 1] * configurations
