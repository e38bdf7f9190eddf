"""How often does each configuration of a set of columns occur? The kernel under every score of discrete data.

The sets are walked depth-first, largest position first. Each level keeps one label per row, the configuration
of the columns placed so far, numbered densely over the configurations that occur: a label is below the number
of rows however many configurations there could be, so counting is sparse without a hash table. A set then
costs one pass over the rows, `counts[label * arity + code] += weight`, and one look-up per occupied cell in
tables of `log Gamma(a + N) - log Gamma(a)`.

Time: distinct rows times sets. Memory beside the result: a copy of the distinct rows at two bytes a code, at
most 100 MB of tables and working memory, and the table of `B`, of at most 100 MB unless a single variant
needs more (from 48 nodes with 6 parents on; the result itself is then over 4 GB, 40 times as large).
"""

from __future__ import annotations

import queue
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Counts, Flags, Floats, Integers, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount, kernel
from dagpost.scores.bitmaps import MOST_LABELS, Bitmaps, bitmaps_of, count_bits
from dagpost.scores.cells import CellFunction, has_own_rows, parameter_of, row_of, sum_terms
from dagpost.scores.rows import Rows
from dagpost.scores.set_functions import (
    Target,
    below_top,
    can_be_parents,
    can_go_on,
    insert_sorted,
    is_unwanted,
    write_set,
)

_SCRATCH_BYTES = 60 * 2**20
_MOST_COUNTERS = 2**22
#: A word of a bitmap is counted in half the time of a row.
_WORDS_A_ROW = 2


class Scratch(NamedTuple):
    """The rows that are counted, and what a running task writes: counters (always left zero), and labels by level.

    Where a set is counted by bits (bitmaps.py), also the bitmaps of its labels and how many ones they have.
    """

    rows: Rows
    bits: Bitmaps
    counters: Counts
    new_label: Counts
    occupied: Counts
    labels: Counts
    bitmaps: Masks
    sizes: Counts


class Walk(NamedTuple):
    """The path of the depth-first walk; index 0 is the empty set.

    At each level there are labels for the rows and, where they are of use, bitmaps for the labels.
    """

    label_count: Integers
    configurations: Floats
    indicators: Integers
    nodes: Integers
    has_wanted: Flags
    next_position: Integers
    has_bitmaps: Flags


@inline_no_refcount
def label_rows(level: int, count: Any, position: int, keep: bool, scratch: Scratch) -> np.int64:
    """Count the cells of the labels of a level with one more column; return how many labels that makes.

    They are those of the rows on the next level if they are to be kept.
    """
    rows = scratch.rows
    cell_count = count * rows.arities[position]
    if cell_count > 2 * rows.weights.size + 16 or cell_count >= scratch.counters.size:
        return _count_sparse(level, count, position, scratch)
    found = _count_dense(level, cell_count, position, scratch)
    if keep:
        arity, column, labels = np.uint64(rows.arities[position]), rows.codes[position], scratch.labels[level]
        new_labels, new_label = scratch.labels[level + 1], scratch.new_label
        for place in range(rows.weights.size):
            new_labels[place] = new_label[labels[place] * arity + column[place]]
    return found


@inline_no_refcount
def _count_dense(level: int, cell_count: int, position: int, scratch: Scratch) -> np.int64:
    """Count, then sweep all cells: the occupied ones, in order, get the new labels 0, 1, 2, ..."""
    rows, labels = scratch.rows, scratch.labels[level]
    arity, column, weights = np.uint64(rows.arities[position]), rows.codes[position], rows.weights
    counters, occupied, new_label = scratch.counters, scratch.occupied, scratch.new_label
    for place in range(weights.size):
        counters[labels[place] * arity + column[place]] += weights[place]
    found = np.uint32(0)
    for cell in range(cell_count):
        count = counters[cell]
        occupied[found] = count
        new_label[cell] = found
        found += np.uint32(1 if count > 0 else 0)
        counters[cell] = 0
    return np.int64(found)


@inline_no_refcount
def _count_sparse(level: int, label_count: int, position: int, scratch: Scratch) -> np.int64:
    """Count and walk the rows again in place of the cells, which are many more; the next level gets the new labels.

    Labels are taken in ranges for which the counters suffice: nearly always that is one range.
    """
    rows, labels, result = scratch.rows, scratch.labels[level], scratch.labels[level + 1]
    arity, column, weights = np.uint64(rows.arities[position]), rows.codes[position], rows.weights
    counters, new_label = scratch.counters, scratch.new_label
    per_range = np.uint64(counters.size) // arity
    low = np.uint64(0)
    found = np.uint32(0)
    while low < np.uint64(label_count):
        for place in range(weights.size):
            offset = np.uint64(labels[place]) - low
            if offset < per_range:
                counters[offset * arity + column[place]] += weights[place]
        for place in range(weights.size):
            offset = np.uint64(labels[place]) - low
            if offset < per_range:
                cell = offset * arity + column[place]
                if counters[cell] > 0:
                    scratch.occupied[found] = counters[cell]
                    counters[cell] = 0
                    new_label[cell] = found
                    found += np.uint32(1)
                result[place] = new_label[cell]
        low += per_range
    return np.int64(found)


@inline_no_refcount
def count_column(
    level: int, count: Any, position: int, keep: bool, by_bits: bool, scratch: Scratch
) -> tuple[np.int64, Any]:
    """Count the cells of a level with one more column; the occupied ones end up in `scratch.occupied`.

    They are the labels of the next level if they are to be kept. Whether that has bitmaps, too: as long as there are
    few, and this level has them (`by_bits`).
    """
    rows, bits = scratch.rows, scratch.bits
    words, as_quick = bits.everyone.size, _WORDS_A_ROW * rows.weights.size
    by_bits = by_bits and bits.first[position] >= 0
    if by_bits and not keep and count * (rows.arities[position] - 1) * words <= as_quick:
        return _count_bits(level, count, position, False, scratch), False
    found = label_rows(level, count, position, keep, scratch)
    # More configurations only come: where they are too many for bits already, so they are below.
    useful = keep and by_bits and found <= MOST_LABELS and found * words <= as_quick
    if useful:
        _count_bits(level, count, position, True, scratch)
    return found, useful


@inline_no_refcount
def _count_bits(level: int, count: Any, position: int, keep: bool, scratch: Scratch) -> np.int64:
    """The same by bits, which are kept for the next level if they are to be."""
    bitmaps, sizes = scratch.bitmaps[level], scratch.sizes[level]
    new_bitmaps, new_sizes = scratch.bitmaps[level + 1], scratch.sizes[level + 1]
    arity = scratch.rows.arities[position]
    return count_bits(
        position, arity, count, scratch.bits, bitmaps, sizes, keep, new_bitmaps, new_sizes, scratch.occupied
    )


@inline_no_refcount
def with_column(configurations: float, position: int, indicators: int, rows: Rows) -> float:
    """The configurations of a set that has so many indicators already, with one more column."""
    if rows.exclusive[position]:
        # At most one of them is 1, so that another one adds a configuration and does not double them.
        return configurations / (indicators + 1) * (indicators + 2)
    return configurations * float(rows.arities[position])


@inline_no_refcount
def begin_rows(scratch: Scratch) -> None:
    """Give all rows the label of the empty set."""
    bits = scratch.bits
    for place in range(scratch.rows.weights.size):
        scratch.labels[0, place] = 0
    copy_into(scratch.bitmaps[0], bits.everyone)
    scratch.sizes[0, 0] = bits.observations


@inline_no_refcount
def _write(size: int, found: np.int64, occupied: Counts, cells: CellFunction, target: Target, walk: Walk) -> None:
    """Sum the terms of the occupied cells and write `A`, and `B` where the set can be a parent set."""
    configurations = walk.configurations[size]
    row = row_of(configurations, cells)
    value = sum_terms(occupied, found, row, parameter_of(configurations, cells), cells)
    number = write_set(walk.nodes[size], size, value, target)
    if can_be_parents(size, walk.has_wanted[size], target):
        own_rows = has_own_rows(cells)
        for variant in range(cells.penalties.size):
            if own_rows:
                value = sum_terms(occupied, found, variant + 1, cells.parameters[variant + 1], cells)
            target.base[variant, number] = value + cells.penalties[variant] * configurations


@inline_no_refcount
def _too_many(level: int, position: int, rows: Rows, walk: Walk) -> bool:
    """Whether a set has as many columns of a kind as are of interest, so that one more at `position` is not."""
    indicators = walk.indicators[level]
    if rows.exclusive[position]:
        return bool(indicators >= rows.limits[1])
    return bool(level - indicators >= rows.limits[0])


@inline_no_refcount
def _place(
    size: int, position: int, write: bool, cells: CellFunction, target: Target, scratch: Scratch, walk: Walk
) -> None:
    """Add the column at `position` to the set of level `size - 1`, score it, and label the rows below it."""
    rows, bits = scratch.rows, scratch.bits
    node = rows.order[position]
    label_count = walk.label_count[size - 1]
    wanted = walk.has_wanted[size - 1] or target.row[node] >= 0
    descend = can_go_on(size, position, wanted, target)
    indicators = walk.indicators[size - 1]
    walk.configurations[size] = with_column(walk.configurations[size - 1], position, indicators, rows)
    walk.indicators[size] = indicators
    if rows.exclusive[position]:
        walk.indicators[size] = indicators + 1
    walk.has_wanted[size] = wanted
    insert_sorted(walk.nodes[size - 1], size - 1, node, walk.nodes[size])
    by_bits, last = walk.has_bitmaps[size - 1], target.max_size if wanted else target.max_size - 1
    most_labels = label_count * rows.arities[position]
    words = most_labels * bits.most * bits.everyone.size
    if size + 1 == last and by_bits and most_labels <= MOST_LABELS and 0 < words <= _WORDS_A_ROW * rows.weights.size:
        # The sets below, the largest ones, are all counted by bits, and nobody needs labels.
        found, by_bits = _count_bits(size - 1, label_count, position, True, scratch), True
    else:
        found, by_bits = count_column(size - 1, label_count, position, descend, by_bits, scratch)
    if write:
        _write(size, found, scratch.occupied, cells, target, walk)
    walk.label_count[size], walk.has_bitmaps[size] = found, by_bits


@kernel
def count_sets(
    top: int, first: int, last: int, cells: CellFunction, target: Target, scratch: Scratch, cancel: Integers
) -> None:
    """Score the sets of a task (see `tasks_of`); returns early, scores missing, once `cancel` is raised."""
    rows, bits, levels = scratch.rows, scratch.bits, target.max_size + 1
    walk = Walk(
        np.zeros(levels, np.int64),
        np.zeros(levels, np.float64),
        np.zeros(levels, np.int64),
        np.zeros((levels, levels), np.int64),
        np.zeros(levels, np.bool_),
        np.zeros(levels, np.int64),
        np.zeros(levels, np.bool_),
    )
    if cancel[0] != 0:
        return
    begin_rows(scratch)
    walk.label_count[0], walk.configurations[0] = 1, 1.0
    walk.has_bitmaps[0] = bits.everyone.size > 0
    if top == 0:
        scratch.occupied[0] = rows.weights.sum()
        _write(0, np.int64(1), scratch.occupied, cells, target, walk)
    if is_unwanted(top, rows.order[top], target):
        return
    _place(1, top, first == below_top(top, target), cells, target, scratch, walk)
    level = 1
    walk.next_position[1] = first
    while level > 0:
        position = walk.next_position[level]
        if position < (last if level == 1 else 0):
            level -= 1
            continue
        walk.next_position[level] = position - 1
        size = level + 1
        wanted = walk.has_wanted[level] or target.row[rows.order[position]] >= 0
        if (size == target.max_size and not wanted) or _too_many(level, position, rows, walk):
            continue
        if cancel[0] != 0:
            return
        _place(size, position, True, cells, target, scratch, walk)
        if can_go_on(size, position, wanted, target):
            level = size
            walk.next_position[level] = position - 1


def scratch_pool(rows: Rows, max_size: int, workers: int) -> queue.SimpleQueue[Scratch]:
    """Working memory for as many tasks at a time as fit; further workers wait their turn."""
    count, bits = rows.weights.size, bitmaps_of(rows)
    arity = int(rows.arities.max())
    counters = max(arity, min(max(count * arity, 2**12), _MOST_COUNTERS))
    words = MOST_LABELS * bits.everyone.size
    size = 8 * counters + 4 * count * (max_size + 2) + 8 * words * (max_size + 1)
    pool: queue.SimpleQueue[Scratch] = queue.SimpleQueue()
    for _ in range(max(1, min(workers, _SCRATCH_BYTES // size))):
        pool.put(
            Scratch(
                rows=rows,
                bits=bits,
                counters=np.zeros(counters, dtype=np.uint32),
                new_label=np.empty(counters, dtype=np.uint32),
                occupied=np.empty(count + 1, dtype=np.uint32),
                labels=np.empty((max_size + 1, count), dtype=np.uint32),
                bitmaps=np.empty((max_size + 1, words), dtype=np.uint64),
                sizes=np.empty((max_size + 1, MOST_LABELS), dtype=np.uint32),
            )
        )
    return pool
