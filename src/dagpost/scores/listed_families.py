"""The scores of listed families of a table with gaps, again and again, with other cells in the gaps.

A chain over graphs and completed tables reads the scores of some thousand families, and all of them change whenever
cells do. The rows stay where they are; of the columns and their bitmaps only the cells in the gaps are rewritten. Sets
of a list that begin alike should follow each other: the rows are labelled once by what they share, and each set then
costs two counts, one with the node and one without it, over the rows or by bits as in counting.py.

Time: some microseconds a family at 1,000 rows. Memory: a copy of the table at two bytes a cell for each worker.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import copy_into, inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.base import ListScorer
from dagpost.scores.bitmaps import Bitmaps, bitmaps_of
from dagpost.scores.cells import CellFunction, has_own_rows, parameter_of, row_of, sum_terms
from dagpost.scores.counting import Scratch, scratch_pool
from dagpost.scores.discrete_runs import terms_of
from dagpost.scores.given_families import add_column, count_with, with_column
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


class _Path(NamedTuple):
    """Of each level of a walk along the members of a set: labels, whether they have bitmaps, and the column added."""

    counts: Integers
    by_bits: Flags
    columns: Integers


class _Prepared(NamedTuple):
    """The nodes that are scored from the same rows, with what each of them takes for `B`, and room for one worker."""

    nodes: Integers
    variants: Integers
    rows: Rows
    bits: Bitmaps
    cells: CellFunction
    gaps: _Gaps
    scratch: Scratch


def counted_list_scorer(score: CountedScore, table: Table, max_parents: int, workers: int) -> ListScorer:
    """The function that scores lists of families of at most `max_parents` parents by counting."""
    check_countable(table.names, table.arities, table.observations)
    runs = runs_of(table.interventions, len(table.names))
    pool: queue.SimpleQueue[list[_Prepared]] = queue.SimpleQueue()
    for _ in range(workers):
        prepared = [_prepare(score, table, max_parents, run) for run in runs]
        pool.put([own for own in prepared if own is not None])

    def score_lists(cells: Floats, start: Integers, members: Members, cancel: Integers) -> Floats:
        values = np.zeros(len(members))
        own = pool.get()
        try:
            for prepared in own:
                _write_cells(cells, prepared.gaps, prepared.rows, prepared.bits)
                _score_lists(prepared, start, members, values, cancel)
        finally:
            pool.put(own)
        return values

    return score_lists


def _prepare(score: CountedScore, table: Table, max_parents: int, run: Run) -> _Prepared | None:
    """The rows from which the nodes of a run are scored, the first cells of their columns in the gaps."""
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
        prefixes=np.empty((0, codes.shape[1]), dtype=np.uint32),
        prefix_counts=np.zeros(columns + 1, dtype=np.int64),
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
    bits = bitmaps_of(rows)
    variant_of = score.variants(table.arities)
    variants = sorted(set(variant_of))
    cells = terms_of(score, table, max_parents + 1, variants, int(weights.sum()))
    scratch = scratch_pool(rows, bits, max_parents + 2, 1).get()
    kinds = np.array([variants.index(variant_of[node]) for node in run.nodes], dtype=np.int64)
    return _Prepared(np.array(run.nodes, dtype=np.int64), kinds, rows, bits, cells, own, scratch)


@kernel
def _write_cells(cells: Floats, gaps: _Gaps, rows: Rows, bits: Bitmaps) -> None:
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
def _score_lists(prepared: _Prepared, start: Integers, members: Members, values: Floats, cancel: Integers) -> None:
    """Write the score of every set in the lists of the nodes of a run."""
    rows, bits, scratch = prepared.rows, prepared.bits, prepared.scratch
    for place in range(rows.weights.size):
        scratch.rows[0, place] = place
        scratch.weights[0, place] = rows.weights[place]
        scratch.labels[0, place] = 0
    copy_into(scratch.bitmaps[0], bits.everyone)
    scratch.sizes[0, 0] = bits.observations
    levels = members.shape[1] + 2
    path = _Path(np.ones(levels, np.int64), np.zeros(levels, np.bool_), np.zeros(levels, np.int64))
    path.by_bits[0] = bits.everyone.size > 0
    for place in range(len(prepared.nodes)):
        node = prepared.nodes[place]
        variant = prepared.variants[place]
        for root in (node, np.int64(-1)):
            _add_sums(start[node], start[node + 1], root, variant, members, prepared, path, values, cancel)


@inline_no_refcount
def _add_sums(
    first: int,
    end: int,
    node: int,
    variant: int,
    members: Members,
    prepared: _Prepared,
    path: _Path,
    values: Floats,
    cancel: Integers,
) -> None:
    """Add the sums over the cells of each set and the node; without a node (-1), take those over the sets alone off."""
    rows, bits, cells, scratch = prepared.rows, prepared.bits, prepared.cells, prepared.scratch
    columns, width = len(rows.order), members.shape[1]
    base = 0 if node < 0 else 1
    counts, by_bits = path.counts, path.by_bits
    if node >= 0 and first < end:
        counts[1], by_bits[1] = add_column(0, 1, node, by_bits[0], rows, bits, scratch)
    own_rows = has_own_rows(cells)
    labelled = 0
    for number in range(first, end):
        if cancel[0] != 0:
            return
        size = 0
        parents, indicators = 1.0, 0
        while size < width and members[number, size] < columns:
            parents = with_column(parents, members[number, size], indicators, rows)
            indicators += 1 if rows.exclusive[members[number, size]] else 0
            size += 1
        common = 0
        while common < min(labelled, size - 1) and path.columns[common] == members[number, common]:
            common += 1
        labelled = common
        while labelled < size - 1:
            level, column = base + labelled, np.int64(members[number, labelled])
            counts[level + 1], by_bits[level + 1] = add_column(
                level, counts[level], column, by_bits[level], rows, bits, scratch
            )
            path.columns[labelled] = column
            labelled += 1
        found = np.int64(1)
        if size > 0:
            level, column = base + size - 1, np.int64(members[number, size - 1])
            found = count_with(level, counts[level], column, by_bits[level], rows, bits, scratch)
        elif node >= 0:
            found = count_with(0, 1, node, by_bits[0], rows, bits, scratch)
        else:
            scratch.occupied[0] = bits.observations
        if node >= 0:
            everyone = parents * rows.arities[node]
            row = row_of(everyone, cells)
            values[number] += sum_terms(scratch.occupied, found, row, parameter_of(everyone, cells), cells)
        else:
            row = variant + 1 if own_rows else row_of(parents, cells)
            parameter = cells.parameters[variant + 1] if own_rows else parameter_of(parents, cells)
            values[number] -= sum_terms(scratch.occupied, found, row, parameter, cells)
            values[number] -= cells.penalties[variant] * parents
