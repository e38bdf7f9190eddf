"""Contingency tables of many sets of columns, each made from those of its subsets and one count for each pattern.

A pattern of a set gives each of its columns a code other than the last one. How many rows show a pattern is counted by
bits: one `and` and the number of ones, 64 rows at a time; a set of binary columns has a single pattern. All other cells
of its table follow by subtraction: where a column has its last code, the rows are those of the table without that
column, less those with its other codes (Moore & Lee, Cached sufficient statistics for efficient machine learning with
large datasets, JAIR 1998, leave out one code in the same way). So a table costs one subtraction a cell, and the rows
are read once for each pattern rather than once for each cell. Rows that never change are counted once.

Sets of so many cells that passing over the rows is quicker are counted row by row, with labels as in counting.py.
Memory: the tables of all sets but the largest, at four bytes a cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Counts, Flags, Floats, Integers, Masks
from dagpost._tools.kernels import copy_into, inline_no_refcount, kernel
from dagpost.scores.bitmaps import ones_in
from dagpost.scores.cells import CellFunction, has_own_rows, parameter_of, row_of, sum_terms
from dagpost.scores.counting import Scratch, label_rows
from dagpost.scores.set_lists import SetList


class Planes(NamedTuple):
    """`bits[first[p] + c]` marks the rows in which the column at position `p` has the code `c`, but for the last code.

    `everyone` marks all rows that are counted.
    """

    bits: Masks
    first: Integers
    arities: Integers
    everyone: Masks


#: A cell of a table takes about as long as this many words of a bitmap, a row that is labelled as this many.
_CELL, _ROW = 4, 3
#: Words of the bitmaps of a set, and cells of all tables together.
_MOST_WORDS, _MOST_CELLS = 2**20, 2**24


class SetTables(NamedTuple):
    """How the sets of a list are counted, and where their counts are.

    `by_rows`: too many cells for patterns. `patterns` is where the counts of the patterns of a set begin, `table` where
    the table of the set with this number begins; the largest sets all use the end of the tables in turn.
    `configurations` and `row`: what the terms of a set are looked up by (cells.py).
    """

    by_rows: Flags
    patterns: Integers
    table: Integers
    configurations: Floats
    row: Integers


class SetValues(NamedTuple):
    """What is worked out for every set: pattern counts, tables, the functions `B` by variant and number, the scores."""

    patterns: Counts
    tables: Counts
    base: Floats
    values: Floats


class CountedRows(NamedTuple):
    """All rows by position, for the sets that are counted row by row; `variants` has the function `B` of a position."""

    codes: Codes
    weights: Counts
    arities: Integers
    variants: Integers


class Room(NamedTuple):
    """How many patterns there are in all, and at most in a set whose bitmaps are kept; how many cells in all tables."""

    patterns: int
    most: int
    cells: int
    by_rows: bool


def lay_out(sets: SetList, arities: Integers, cells: CellFunction, rows: int, words: int) -> tuple[SetTables, Room]:
    """How the sets of a list are best counted in so many rows, of which bitmaps have so many words."""
    count = len(sets.size)
    patterns, steps, sizes, configurations = (np.empty(count) for _ in range(4))
    row = np.empty(count, dtype=np.int64)
    _measure(sets, arities, cells, patterns, steps, sizes, configurations, row)
    # Never less for a set than for its subsets: what is counted by patterns needs the tables of all of these.
    work, most = steps * words + _CELL * sizes, min(float(_ROW * rows), _MOST_WORDS)
    small = sets.size < sets.max_size
    by_rows = work > most
    while float(sizes[small & ~by_rows].sum()) > _MOST_CELLS:
        most /= 2.0
        by_rows = work > most
    own = np.where(by_rows, 0.0, patterns).astype(np.int64)
    kept = np.where(by_rows | ~small, 0.0, sizes).astype(np.int64)
    table = np.zeros(int(sets.number[small].max(initial=0)) + 2, dtype=np.int64)
    # The empty set has one cell.
    table[sets.number[small]] = 1 + (np.cumsum(kept) - kept)[small]
    table[-1] = 1 + kept.sum()
    largest = int(sizes[~small & ~by_rows].max(initial=0.0))
    how = SetTables(by_rows, np.cumsum(own) - own, table, configurations, row)
    bitmaps = int(own[small].max(initial=1))
    return how, Room(int(own.sum()), bitmaps, int(table[-1]) + largest, bool(by_rows.any()))


@kernel
def _measure(
    sets: SetList,
    arities: Integers,
    cells: CellFunction,
    patterns: Floats,
    steps: Floats,
    sizes: Floats,
    configurations: Floats,
    row: Integers,
) -> None:
    """Patterns and cells of every set, and what its terms are looked up by.

    `steps` are the patterns as if a column of one level, which has none, had one.
    """
    of_path = np.ones((4, sets.max_size + 1))
    indicators = np.zeros(sets.max_size + 1, dtype=np.int64)
    for index in range(len(sets.size)):
        size, arity = sets.size[index], arities[sets.last[index]]
        of_path[0, size] = of_path[0, size - 1] * (arity - 1)
        of_path[1, size] = of_path[1, size - 1] * arity
        before = indicators[size - 1]
        indicators[size] = sets.indicators[index]
        if indicators[size] > before:
            # At most one of them is 1, so that another one adds a configuration and does not double them.
            of_path[2, size] = of_path[2, size - 1] / (before + 1) * (before + 2)
        else:
            of_path[2, size] = of_path[2, size - 1] * arity
        of_path[3, size] = of_path[3, size - 1] * max(arity - 1, 1)
        patterns[index], sizes[index], configurations[index] = of_path[0, size], of_path[1, size], of_path[2, size]
        steps[index] = of_path[3, size]
        row[index] = row_of(of_path[2, size], cells)


@kernel
def mark_cells(positions: Integers, rows: Integers, codes: Integers, planes: Planes) -> None:
    """Mark the given cells; nothing is marked for the last code of a column."""
    for cell in range(len(positions)):
        position = positions[cell]
        if codes[cell] + 1 < planes.arities[position]:
            plane = planes.first[position] + codes[cell]
            planes.bits[plane, rows[cell] >> 6] |= np.uint64(1) << np.uint64(rows[cell] & 63)


@kernel
def add_patterns(
    begin: int, end: int, sets: SetList, how: SetTables, planes: Planes, times: int, stack: Masks, counts: Counts
) -> None:
    """Add the rows that show each pattern, each `times` over, to `counts`, for the sets from `begin` to before `end`.

    `stack[k]` has the bitmaps of the patterns of the first `k` members on the way to a set.
    """
    words = planes.everyone.size
    known = np.zeros(sets.max_size + 1, dtype=np.int64)
    known[0] = 1
    copy_into(stack[0], planes.everyone)
    for index in range(begin, end):
        if how.by_rows[index]:
            continue
        size, position = sets.size[index], sets.last[index]
        others = planes.arities[position] - 1
        keep = size < sets.max_size
        before, own = stack[size - 1], stack[size]
        into = how.patterns[index]
        found = 0
        for pattern in range(known[size - 1]):
            for code in range(others):
                plane = planes.bits[planes.first[position] + code]
                ones = _both(before, pattern * words, plane, keep, own, found * words)
                counts[into + found] += times * np.int64(ones)
                found += 1
        known[size] = found


# In what follows, ranges of arrays are named first: the compiler makes vectors of loops only where it sees that no
# index is negative.


@inline_no_refcount
def _both(before: Masks, begin: int, plane: Masks, keep: bool, own: Masks, into: int) -> np.uint64:
    """How many rows a bitmap and a plane have in common; these rows, if they are asked for."""
    words = len(plane)
    bitmap, ones = before[begin : begin + words], np.uint64(0)
    if keep:
        result = own[into : into + words]
        for word in range(words):
            both = bitmap[word] & plane[word]
            result[word] = both
            ones += ones_in(both)
    else:
        for word in range(words):
            ones += ones_in(bitmap[word] & plane[word])
    return ones


@kernel
def score_sets(
    begin: int,
    end: int,
    sets: SetList,
    how: SetTables,
    rows: CountedRows,
    cells: CellFunction,
    result: SetValues,
    cell_of: Integers,
    scratch: Scratch,
) -> None:
    """Make the tables of the sets from `begin` to before `end`, sum their terms, and write the scores of all members.

    `cell_of[k]` has the cells of the patterns of the first `k` members on the way to a set.
    """
    levels = sets.max_size + 1
    known = np.zeros(levels, dtype=np.int64)
    known[0] = 1
    path = np.zeros(levels, dtype=np.int64)
    label_count = np.ones(levels, dtype=np.int64)
    labelled = 0
    cell_of[0, 0] = 0
    own_rows = has_own_rows(cells)
    if begin == 0:
        _write_empty(cells, result)
    for index in range(begin, end):
        size = sets.size[index]
        path[size] = sets.last[index]
        labelled = min(labelled, size - 1)
        number = sets.number[index]
        if how.by_rows[index]:
            while labelled < size:
                labelled += 1
                before, keep = label_count[labelled - 1], labelled < sets.max_size
                label_count[labelled] = label_rows(labelled - 1, before, path[labelled], keep, rows, scratch)
            counts, start, length = scratch.occupied, 0, label_count[size]
        else:
            counts, start = result.tables, how.table[number] if size < sets.max_size else how.table[-1]
            length = _complete(index, size, sets, how, rows.arities, path, known, result, cell_of, start)
        tabulated = _largest(counts, start, length) < cells.tables.shape[1]
        configurations = how.configurations[index]
        parameter = parameter_of(configurations, cells)
        value = _sum(counts, start, length, tabulated, how.row[index], parameter, cells)
        if size < sets.max_size:
            for variant in range(cells.penalties.size):
                own = value
                if own_rows:
                    parameter = cells.parameters[variant + 1]
                    own = _sum(counts, start, length, tabulated, variant + 1, parameter, cells)
                result.base[variant, number] = own + cells.penalties[variant] * configurations
        first = sets.start[index]
        for member in range(size):
            place = sets.place[first + member]
            if place >= 0:
                variant = rows.variants[path[member + 1]]
                result.values[place] = value - result.base[variant, sets.without[first + member]]


@inline_no_refcount
def _largest(counts: Counts, start: int, length: int) -> np.uint32:
    """The largest of some counts."""
    own, largest = counts[start : start + length], np.uint32(0)
    for place in range(len(own)):
        largest = max(largest, own[place])
    return largest


@inline_no_refcount
def _sum(
    counts: Counts, start: int, length: int, tabulated: bool, row: int, parameter: float, cells: CellFunction
) -> float:
    """The sum of the terms of some counts."""
    if tabulated and row >= 0:
        return _sum_tabulated(counts, start, length, cells.tables, row)
    return sum_terms(counts[start : start + length], np.int64(length), row, parameter, cells)


@inline_no_refcount
def _sum_tabulated(counts: Counts, start: int, length: int, tables: Floats, row: int) -> float:
    """The same where all terms are in a table, in four sums so that no addition waits for the one before it."""
    own, table = counts[start : start + length], tables[row]
    total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
    whole = length // 4 * 4
    for place in range(0, whole, 4):
        total0 += table[own[place]]
        total1 += table[own[place + 1]]
        total2 += table[own[place + 2]]
        total3 += table[own[place + 3]]
    for place in range(whole, length):
        total0 += table[own[place]]
    return (total0 + total1) + (total2 + total3)


@inline_no_refcount
def _write_empty(cells: CellFunction, result: SetValues) -> None:
    """The functions `B` of the empty set, whose table has all observations in one cell."""
    own_rows = has_own_rows(cells)
    for variant in range(cells.penalties.size):
        row = variant + 1 if own_rows else row_of(1.0, cells)
        parameter = cells.parameters[variant + 1] if own_rows else parameter_of(1.0, cells)
        value = sum_terms(result.tables, np.int64(1), row, parameter, cells)
        result.base[variant, 0] = value + cells.penalties[variant]


@inline_no_refcount
def _complete(
    index: int,
    size: int,
    sets: SetList,
    how: SetTables,
    arities: Integers,
    path: Integers,
    known: Integers,
    result: SetValues,
    cell_of: Integers,
    table: int,
) -> int:
    """Make the table of a set from its patterns and the tables of its subsets; return how many cells it has.

    The codes of the members number the cells, the highest position first. From the lowest position on, each member
    gets its last code: with other codes for the members before it, and any codes for those after it.
    """
    cells, patterns = result.tables, result.patterns
    arity = arities[path[size]]
    counted = how.patterns[index]
    found = 0
    for pattern in range(known[size - 1]):
        first = cell_of[size - 1, pattern] * arity
        for code in range(arity - 1):
            if size < sets.max_size:
                cell_of[size, found] = first + code
            cells[table + first + code] = patterns[counted + found]
            found += 1
    known[size] = found
    after = 1
    for member in range(size, 0, -1):
        arity = arities[path[member]]
        without = how.table[sets.without[sets.start[index] + member - 1]]
        for pattern in range(known[member - 1]):
            first = without + cell_of[member - 1, pattern] * after
            into = table + cell_of[member - 1, pattern] * arity * after
            last = into + (arity - 1) * after
            _subtract(cells, first, into, last, after)
            for code in range(1, arity - 1):
                _subtract(cells, last, into + code * after, last, after)
            if arity == 1:
                copy_into(cells[last : last + after], cells[first : first + after])
        after *= arity
    return after


@inline_no_refcount
def _subtract(cells: Counts, first: int, other: int, into: int, count: int) -> None:
    """Differences of `count` cells from `first` on and others, to where they belong."""
    some, others, result = cells[first : first + count], cells[other : other + count], cells[into : into + count]
    for cell in range(len(result)):
        result[cell] = some[cell] - others[cell]
