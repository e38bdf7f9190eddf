"""How often does each cell of a family occur? The kernel under the statistics of discrete columns.

Equal rows are merged first. A family with few cells beside the rows is counted into a dense table; otherwise the rows
are sorted by their cell, one counting sort a column from the last digit on. Time: the rows times the columns of
a family; the families are split into blocks that threads take one at a time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost._tools.progress import Reporter
from dagpost._tools.spelling import bare, either
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.scores.rows import check_countable, distinct_rows
from dagpost.scores.set_functions import runs_of

#: Cells are numbered in 63 bits.
_MOST_CELLS = 2.0**62
#: How many cells a dense table may have, and how many more for every row.
_DENSE_CELLS = 256
_DENSE_CELLS_A_ROW = 8
#: Room for this many cells is made at a time.
_BLOCK_CELLS = 2**20


class _Part(NamedTuple):
    """Some families of one node, and what was counted for them."""

    node: int
    first: int
    sizes: Integers
    cells: Integers
    counts: Integers


class _Rows(NamedTuple):
    """Distinct rows: codes and weights, and where each node's codes stand."""

    codes: NDArray[np.uint16]
    weights: NDArray[np.uint32]
    position_of: Integers
    arities: Integers


def count_families(
    table: Table, children: Integers, parents: Masks, engine: Engine, reporter: Reporter
) -> tuple[Integers, Integers, Integers]:
    """For families sorted by node: how many cells of each occur, the numbers of these cells, how often each occurs."""
    codes, arities = table.codes(), table.arities
    check_countable(table.names, arities, table.observations)
    cells = cell_numbers(arities, children, parents)
    refuse_many_cells(table.names, children, cells)
    weights = table.weights
    parts: list[_Part] = []
    kept = 0
    with reporter.stage("counts for prediction", len(children)) as stage:
        for nodes, observed in runs_of(table.interventions, len(arities)):
            chosen = weights > 0 if observed is None else observed & (weights > 0)
            rows = _rows_of(codes[:, chosen], weights[chosen], arities)
            blocks = [block for node in nodes for block in _blocks_of(node, children, cells, len(rows.weights))]

            def count(block: tuple[int, int, int], cancel: Integers, rows: _Rows = rows) -> _Part:
                return _count_block(*block, rows, parents, cells, cancel)

            for part in engine.run(count, blocks):
                parts.append(part)
                stage.advance(len(part.sizes))
                kept += part.cells.nbytes + part.counts.nbytes
                memory.require(kept, "Counting the cells of all families", "Predict from fewer graphs.")
    # Nodes that share their rows were counted together.
    parts.sort(key=lambda part: (part.node, part.first))
    sizes, found, counts = (np.concatenate(arrays) for arrays in zip(*(part[2:] for part in parts), strict=True))
    return sizes, found, counts


def refuse_many_cells(names: tuple[str, ...], children: Integers, cells: Floats) -> None:
    """Refuse families of these nodes with more cells than can be numbered."""
    if cells.max(initial=0) > _MOST_CELLS:
        child = names[int(children[int(cells.argmax())])]
        raise InputError(
            f"A family of {child!r} has {cells.max():.2g} cells; prediction can number at most {_MOST_CELLS:.2g}. Use "
            f"a smaller {bare('max_parents')}, or fewer levels: {either('discretise(data)', '--discretise')}."
        )


def cell_numbers(arities: tuple[int, ...], children: Integers, parents: Masks) -> Floats:
    """The number of cells of each family, whether they occur or not."""
    result = np.array(arities, dtype=np.float64)[children]
    for node, arity in enumerate(arities):
        result[parents >> np.uint64(node) & np.uint64(1) == 1] *= arity
    return result


def _rows_of(codes: NDArray[np.unsignedinteger], weights: Integers, arities: tuple[int, ...]) -> _Rows:
    position_of = np.arange(len(arities))
    if len(weights) == 0:
        empty = np.zeros((len(arities), 0), dtype=np.uint16)
        return _Rows(empty, np.zeros(0, dtype=np.uint32), position_of, np.array(arities, dtype=np.int64))
    rows = distinct_rows(codes, weights, arities, ())
    position_of[rows.order] = np.arange(len(arities))
    return _Rows(rows.codes, rows.weights, position_of, np.array(arities, dtype=np.int64))


def _blocks_of(node: int, children: Integers, cells: Floats, rows: int) -> list[tuple[int, int, int]]:
    """The families of a node in blocks `(node, first, last)` for whose cells room can be made."""
    first, last = (int(bound) for bound in np.searchsorted(children, [node, node + 1]))
    blocks = blocks_within(np.minimum(cells[first:last], rows), _BLOCK_CELLS)
    return [(node, first + block.start, first + block.stop) for block in blocks]


def blocks_within(sizes: Floats | Integers, room: int) -> list[slice]:
    """Consecutive entries in blocks whose sizes add up to about `room`, or single ones that are larger.

    >>> blocks_within(np.array([2, 2, 5, 1]), 4)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 4, None)]
    """
    ends = 1 + np.flatnonzero(np.diff(np.cumsum(sizes) // room))
    return [slice(begin, end) for begin, end in pairwise([0, *ends.tolist(), len(sizes)]) if begin < end]


def _count_block(
    node: int, first: int, last: int, rows: _Rows, parents: Masks, cells: Floats, cancel: Integers
) -> _Part:
    room = int(np.minimum(cells[first:last], len(rows.weights)).sum())
    sizes = np.zeros(last - first, dtype=np.int64)
    found, counts = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    dense = np.zeros(_DENSE_CELLS + _DENSE_CELLS_A_ROW * len(rows.weights), dtype=np.int64)
    _count(rows, node, parents[first:last].copy(), dense, sizes, found, counts, cancel)
    total = int(sizes.sum())
    return _Part(node, first, sizes, found[:total].copy(), counts[:total].copy())


@kernel
def _count(
    rows: _Rows,
    node: int,
    parents: Masks,
    dense: Integers,
    sizes: Integers,
    cells: Integers,
    counts: Integers,
    cancel: Integers,
) -> None:
    """Count the cells of some families of one node; `dense`, all zeros, has room for a table."""
    count = len(rows.weights)
    columns = np.empty(len(rows.arities), dtype=np.int64)
    keys = np.empty(count, dtype=np.int64)
    order = np.empty(count, dtype=np.int64)
    spare = np.empty(count, dtype=np.int64)
    end = 0
    for family in range(len(parents)):
        if cancel[0] != 0:
            return
        # The columns of the family, the node itself last.
        width = 0
        for other in range(len(rows.arities)):
            if parents[family] >> np.uint64(other) & np.uint64(1):
                columns[width] = other
                width += 1
        columns[width] = node
        width += 1
        total = _number_cells(rows, columns[:width], keys)
        start = end
        if total <= len(dense):
            end = _count_densely(keys, rows.weights, dense[:total], cells, counts, start)
        else:
            _sort_rows(rows, columns[:width], order, spare)
            end = _count_sorted(keys, rows.weights, order, cells, counts, start)
        sizes[family] = end - start


@inlined
def _number_cells(rows: _Rows, columns: Integers, keys: Integers) -> int:
    """The cell of each row; returns how many cells there are."""
    for row in range(len(keys)):
        keys[row] = 0
    total = 1
    for place in range(len(columns)):
        arity = rows.arities[columns[place]]
        codes = rows.codes[rows.position_of[columns[place]]]
        total *= arity
        for row in range(len(keys)):
            keys[row] = keys[row] * arity + codes[row]
    return total


@inlined
def _count_densely(
    keys: Integers, weights: NDArray[np.uint32], dense: Integers, cells: Integers, counts: Integers, end: int
) -> int:
    for row in range(len(keys)):
        dense[keys[row]] += np.int64(weights[row])
    for cell in range(len(dense)):
        if dense[cell] > 0:
            cells[end] = cell
            counts[end] = dense[cell]
            dense[cell] = 0
            end += 1
    return end


@inlined
def _sort_rows(rows: _Rows, columns: Integers, order: Integers, spare: Integers) -> None:
    """`order` lists the rows by ascending cell: by the last digit first, and so on up."""
    for row in range(len(order)):
        order[row] = row
    for place in range(len(columns) - 1, -1, -1):
        codes = rows.codes[rows.position_of[columns[place]]]
        next_place = np.zeros(rows.arities[columns[place]] + 1, dtype=np.int64)
        for row in range(len(order)):
            next_place[codes[row] + 1] += 1
        for code in range(1, len(next_place)):
            next_place[code] += next_place[code - 1]
        for rank in range(len(order)):
            spare[rank] = order[rank]
        for rank in range(len(order)):
            code = codes[spare[rank]]
            order[next_place[code]] = spare[rank]
            next_place[code] += 1


@inlined
def _count_sorted(
    keys: Integers, weights: NDArray[np.uint32], order: Integers, cells: Integers, counts: Integers, end: int
) -> int:
    for rank in range(len(order)):
        row = order[rank]
        weight = np.int64(weights[row])
        if rank > 0 and keys[row] == cells[end - 1]:
            counts[end - 1] += weight
        else:
            cells[end] = keys[row]
            counts[end] = weight
            end += 1
    return end
