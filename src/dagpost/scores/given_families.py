"""The scores of given families of discrete columns: one node, some sets of parents, and each of many columns added.

Walks over all sets (counting.py) are for tables whose families can all be scored. Here the sets are few and far apart:
those that already explain a node well, each with one more parent, whichever it is. The rows are labelled once by a set,
and once by the set and the node together; every further column then costs two counts, over the rows or by bits as in
counting.py. A thousand rows take some two microseconds a family.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import copy_into, inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.base import Extender
from dagpost.scores.bitmaps import MOST_LABELS, Bitmaps, bitmaps_of, count_bits
from dagpost.scores.cells import CellFunction, has_own_rows, parameter_of, row_of, sum_terms
from dagpost.scores.counting import Scratch, count_dense, count_sparse, scratch_pool
from dagpost.scores.discrete_runs import terms_of
from dagpost.scores.rows import Rows, check_countable, distinct_rows
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.counted import CountedScore

#: A word of a bitmap is counted in half the time of a row.
_WORDS_A_ROW = 2


class _Prepared(NamedTuple):
    """What the nodes that are scored from the same rows share; `place` has the position of each column."""

    rows: Rows
    bits: Bitmaps
    cells: CellFunction
    place: Integers
    pool: queue.SimpleQueue[Scratch]


def counted_extender(score: CountedScore, table: Table, max_parents: int, workers: int) -> Extender:
    """The function that scores sets of at most `max_parents` parents, the added one included, by counting."""
    codes, weights, variant_of = table.codes(), table.weights, score.variants(table.arities)
    check_countable(table.names, table.arities, int(weights.sum()))
    variants = sorted(set(variant_of))
    runs = runs_of(table.interventions, len(table.names))
    run_of = {node: number for number, run in enumerate(runs) for node in run.nodes}
    prepared: dict[int, _Prepared | None] = {}

    def prepare(observed: Flags | None) -> _Prepared | None:
        used = weights > 0 if observed is None else observed & (weights > 0)
        if not used.any():
            return None
        own_codes = codes if used.all() else codes[:, used]
        rows = distinct_rows(own_codes, weights[used], table.arities, (), table.exclusive, table.limits)
        place = np.empty(len(rows.order) + 1, dtype=np.int64)
        place[rows.order], place[-1] = np.arange(len(rows.order)), -1
        bits = bitmaps_of(rows)
        cells = terms_of(score, table, max_parents + 1, variants, int(weights[used].sum()))
        return _Prepared(rows, bits, cells, place, scratch_pool(rows, bits, max_parents + 2, workers))

    for number, run in enumerate(runs):
        prepared[number] = prepare(run.observed)

    def extend(node: int, sets: Members, others: Integers, cancel: Integers) -> Floats:
        values = np.zeros((len(sets), len(others)))
        own = prepared[run_of[node]]
        if own is None:
            return values
        scratch = own.pool.get()
        try:
            variant = variants.index(variant_of[node])
            places = own.place[sets], own.place[others], int(own.place[node])
            _extend(*places, variant, own.rows, own.bits, own.cells, scratch, values, cancel)
        finally:
            own.pool.put(scratch)
        return values

    return extend


@inline_no_refcount
def split_rows(level: int, count: Any, position: int, rows: Rows, scratch: Scratch, result: int) -> np.int64:
    """Label the rows of a level by one more column as well; return how many labels there are."""
    arity, column, length = rows.arities[position], rows.codes[position], rows.weights.size
    labels, new_labels = scratch.labels[level], scratch.labels[result]
    cell_count = count * arity
    if cell_count <= 2 * length + 16 and cell_count < scratch.counters.size:
        found = count_dense(0, length, labels, column, np.uint64(arity), cell_count, scratch)
        for place in range(length):
            new_labels[place] = scratch.new_label[labels[place] * np.uint64(arity) + column[place]]
        return found
    return count_sparse(0, length, labels, column, np.uint64(arity), count, new_labels, scratch)


@inline_no_refcount
def count_with(
    level: int, count: Any, position: int, by_bits: bool, rows: Rows, bits: Bitmaps, scratch: Scratch
) -> np.int64:
    """Count the cells of a level with one more column; the occupied ones end up in `scratch.occupied`."""
    arity, column, length = rows.arities[position], rows.codes[position], rows.weights.size
    labels, spare = scratch.labels[level], scratch.labels.shape[0] - 1
    words = count * (arity - 1) * bits.everyone.size
    if by_bits and bits.first[position] >= 0 and words <= _WORDS_A_ROW * length:
        bitmaps, sizes = scratch.bitmaps[level], scratch.sizes[level]
        unused, unused_sizes = scratch.bitmaps[spare], scratch.sizes[spare]
        return count_bits(position, arity, count, bits, bitmaps, sizes, False, unused, unused_sizes, scratch.occupied)
    cell_count = count * arity
    if cell_count <= 2 * length + 16 and cell_count < scratch.counters.size:
        return count_dense(0, length, labels, column, np.uint64(arity), cell_count, scratch)
    return count_sparse(0, length, labels, column, np.uint64(arity), count, scratch.labels[spare], scratch)


@inline_no_refcount
def add_column(
    level: int, count: Any, position: int, by_bits: bool, rows: Rows, bits: Bitmaps, scratch: Scratch
) -> tuple[np.int64, Any]:
    """Labels of the next level, and its bitmaps as long as there are few of them; whether it has these."""
    found = split_rows(level, count, position, rows, scratch, level + 1)
    useful = by_bits and bits.first[position] >= 0 and found <= MOST_LABELS and count * rows.arities[position] <= 4096
    if useful:
        bitmaps, sizes = scratch.bitmaps[level], scratch.sizes[level]
        new_bitmaps, new_sizes = scratch.bitmaps[level + 1], scratch.sizes[level + 1]
        arity = rows.arities[position]
        count_bits(position, arity, count, bits, bitmaps, sizes, True, new_bitmaps, new_sizes, scratch.occupied)
    return found, useful


@kernel
def _extend(
    sets: Integers,
    others: Integers,
    node: int,
    variant: int,
    rows: Rows,
    bits: Bitmaps,
    cells: CellFunction,
    scratch: Scratch,
    values: Floats,
    cancel: Integers,
) -> None:
    """`values[k, j]`: the score of `node` with set `k` and column `j` for its parents; all are positions."""
    length = rows.weights.size
    for place in range(length):
        scratch.rows[0, place] = place
        scratch.weights[0, place] = rows.weights[place]
        scratch.labels[0, place] = 0
    copy_into(scratch.bitmaps[0], bits.everyone)
    scratch.sizes[0, 0] = bits.observations
    own_rows = has_own_rows(cells)
    for number in range(len(sets)):
        level, count, by_bits = 0, np.int64(1), bits.everyone.size > 0
        configurations, indicators = 1.0, 0
        for place in range(sets.shape[1]):
            position = sets[number, place]
            if position < 0:
                break
            count, by_bits = add_column(level, count, position, by_bits, rows, bits, scratch)
            level += 1
            configurations = with_column(configurations, position, indicators, rows)
            indicators += 1 if rows.exclusive[position] else 0
        with_node, node_by_bits = add_column(level, count, node, by_bits, rows, bits, scratch)
        for other in range(len(others)):
            if cancel[0] != 0:
                return
            position = others[other]
            parents = with_column(configurations, position, indicators, rows)
            found = count_with(level + 1, with_node, position, node_by_bits, rows, bits, scratch)
            everyone = parents * rows.arities[node]
            row = row_of(everyone, cells)
            value = sum_terms(scratch.occupied, found, row, parameter_of(everyone, cells), cells)
            found = count_with(level, count, position, by_bits, rows, bits, scratch)
            row = variant + 1 if own_rows else row_of(parents, cells)
            parameter = cells.parameters[variant + 1] if own_rows else parameter_of(parents, cells)
            value -= sum_terms(scratch.occupied, found, row, parameter, cells)
            values[number, other] = value - cells.penalties[variant] * parents


@inline_no_refcount
def with_column(configurations: float, position: int, indicators: int, rows: Rows) -> float:
    """The configurations of a set that has so many indicators already, with one more column."""
    if rows.exclusive[position]:
        return configurations / (indicators + 1) * (indicators + 2)
    return configurations * float(rows.arities[position])
