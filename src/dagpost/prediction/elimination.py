"""The sum over the missing levels of a row, for one part of a graph: variable elimination for 64 rows side by side.

Every family of a part is a table over its missing members, one entry for each of their configurations, with the
observed members as they are in the row. Missing nodes are summed out one after the other, next always the one whose
neighbours have the fewest configurations; what is left at the end is the sum. Exact but for rounding: each table is
taken relative to its largest entry in the row, so that nothing is lost to underflow.

Time and memory: the largest table on the way, at most the configurations of all missing nodes of the part.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, inlined, kernel
from dagpost._tools.spelling import bare
from dagpost.errors import InputError
from dagpost.prediction.discrete import DiscreteFamilies, log_probability
from dagpost.prediction.gap_patterns import numbered
from dagpost.prediction.strips import LANES

#: Tables of more entries than this, for 64 rows each, are not made.
_MOST_ENTRIES = 2.0**20


class Sums(NamedTuple):
    """What all rows of a pattern share."""

    families: DiscreteFamilies
    #: By family: its missing members, and where its table begins; the end of the last.
    members: Masks
    starts: Integers
    #: One row a part: the place of the family of each node among `families`, -1 for nodes that are not in it.
    parts: NDArray[np.int32]
    #: In which order the missing nodes of each part are summed out, padded with -1.
    orders: NDArray[np.int8]
    #: The most entries that the tables of one part have together.
    room: int


def sums_of(families: DiscreteFamilies, parents: Masks, parts: NDArray[np.int32], gaps: int) -> Sums:
    """Make the parts of a pattern ready; `parts` holds numbers of families, which have these parents."""
    used, place = numbered(parts, len(families.children))
    chosen = families.chosen(used)
    members = (parents[used] | np.uint64(1) << chosen.children.astype(np.uint64)) & np.uint64(gaps)
    sizes = np.ones(len(used))
    for node, arity in enumerate(families.arities.tolist()):
        sizes[members >> np.uint64(node) & np.uint64(1) == 1] *= arity
    orders = np.empty(parts.shape, dtype=np.int8)
    room = choose_orders(place, members, chosen.arities, orders)
    entries = max(float(sizes.sum()), room)
    if entries > _MOST_ENTRIES:
        raise InputError(
            f"To sum over the missing values of a row takes tables of {entries:.2g} entries in some graphs; "
            f"{int(_MOST_ENTRIES):,} are possible. Give more of the columns, merge levels, or fit with a smaller "
            f"{bare('max_parents')}."
        )
    memory.require(
        8 * LANES * int(sizes.sum() + room), "The sum over missing values", "Predict from fewer graphs, or columns."
    )
    return Sums(chosen, members, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), place, orders, int(room))


def fill_sums(sums: Sums, cells: NDArray[np.int32], result: Floats) -> None:
    """The log of the sum of every part, for up to 64 rows."""
    lanes = cells.shape[1]
    tables = np.empty((int(sums.starts[-1]), lanes))
    scales = np.empty((len(sums.members), lanes))
    _fill_tables(sums.families, sums.members, sums.starts, cells, tables, scales)
    work = np.empty((max(sums.room, 1), lanes))
    eliminate(sums.parts, sums.orders, sums.members, sums.starts, sums.families.arities, tables, scales, work, result)


@kernel
def _fill_tables(
    families: DiscreteFamilies,
    members: Masks,
    starts: Integers,
    cells: NDArray[np.int32],
    tables: Floats,
    scales: Floats,
) -> None:
    """The probabilities of every family for all levels of its missing members, relative to the largest in each row."""
    lanes = cells.shape[1]
    nodes = len(families.arities)
    one = np.uint64(1)
    level_of = np.empty(nodes, dtype=np.int64)
    configuration = np.empty(lanes, dtype=np.int64)
    for family in range(len(members)):
        child = families.children[family]
        for lane in range(lanes):
            scales[family, lane] = -math.inf
        for entry in range(starts[family + 1] - starts[family]):
            rest = entry
            for node in range(nodes):
                level_of[node] = -1
            for node in range(nodes - 1, -1, -1):
                if members[family] >> np.uint64(node) & one:
                    level_of[node] = rest % families.arities[node]
                    rest //= families.arities[node]
            for lane in range(lanes):
                configuration[lane] = 0
            configurations = 1
            for place in range(families.sizes[family]):
                parent = families.lists[family, place]
                arity = families.arities[parent]
                configurations *= arity
                for lane in range(lanes):
                    code = level_of[parent] if level_of[parent] >= 0 else np.int64(cells[parent, lane])
                    # Unknown is below 0, and stays below 0 when more digits follow.
                    configuration[lane] = -1 if code >= arity else configuration[lane] * arity + code
            values = tables[starts[family] + entry]
            for lane in range(lanes):
                code = level_of[child] if level_of[child] >= 0 else np.int64(cells[child, lane])
                values[lane] = log_probability(families, family, configurations, configuration[lane], code)
                scales[family, lane] = max(scales[family, lane], values[lane])
        for entry in range(starts[family], starts[family + 1]):
            for lane in range(lanes):
                tables[entry, lane] = math.exp(tables[entry, lane] - scales[family, lane])


@inline_no_refcount
def _size_of(members: np.uint64, arities: Integers) -> float:
    size = 1.0
    for node in range(len(arities)):
        if members >> np.uint64(node) & np.uint64(1):
            size *= arities[node]
    return size


@inline_no_refcount
def next_node(scopes: Masks, count: int, kept: np.uint64, arities: Integers) -> int:
    """The node that is in the smallest table once all tables with it are one; -1 if only nodes in `kept` are left."""
    best = -1
    smallest = math.inf
    one = np.uint64(1)
    every = np.uint64(0)
    for factor in range(count):
        every |= scopes[factor]
    every &= ~kept
    for node in range(len(arities)):
        if not every >> np.uint64(node) & one:
            continue
        joint = np.uint64(0)
        for factor in range(count):
            if scopes[factor] >> np.uint64(node) & one:
                joint |= scopes[factor]
        size = _size_of(joint, arities)
        if size < smallest:
            best, smallest = node, size
    return best


@kernel
def choose_orders(parts: NDArray[np.int32], members: Masks, arities: Integers, orders: NDArray[np.int8]) -> float:
    """In which order nodes are summed out; returns the most entries that the tables of one part have on the way."""
    nodes = len(arities)
    scopes = np.zeros(2 * nodes, dtype=np.uint64)
    largest = 0.0
    for part in range(len(parts)):
        count = 0
        for node in range(nodes):
            orders[part, node] = -1
            if parts[part, node] >= 0:
                scopes[count] = members[parts[part, node]]
                count += 1
        total = 0.0
        step = 0
        while True:
            chosen = next_node(scopes, count, np.uint64(0), arities)
            if chosen < 0:
                break
            orders[part, step] = chosen
            step += 1
            joint = np.uint64(0)
            for factor in range(count):
                if scopes[factor] >> np.uint64(chosen) & np.uint64(1):
                    joint |= scopes[factor]
                    scopes[factor] = np.uint64(0)
            scopes[count] = joint & ~(np.uint64(1) << np.uint64(chosen))
            total += _size_of(scopes[count], arities)
            count += 1
        largest = max(largest, total)
    return largest


@kernel
def eliminate(
    parts: NDArray[np.int32],
    orders: NDArray[np.int8],
    members: Masks,
    starts: Integers,
    arities: Integers,
    tables: Floats,
    scales: Floats,
    work: Floats,
    result: Floats,
) -> None:
    """Sum the missing nodes of every part out, one after the other."""
    lanes = result.shape[1]
    nodes = len(arities)
    one = np.uint64(1)
    scopes = np.zeros(2 * nodes, dtype=np.uint64)
    begins = np.zeros(2 * nodes, dtype=np.int64)
    # The tables that are multiplied; how far apart the levels of other nodes are in each, and those of this one.
    chosen = np.empty(2 * nodes, dtype=np.int64)
    strides = np.zeros((2 * nodes, nodes), dtype=np.int64)
    steps = np.zeros(2 * nodes, dtype=np.int64)
    outer = np.empty(nodes, dtype=np.int64)
    levels = np.zeros(nodes, dtype=np.int64)
    products = np.empty(lanes)
    largest = np.empty(lanes)
    for part in range(len(parts)):
        total = result[part]
        for lane in range(lanes):
            total[lane] = 0.0
        count = 0
        for node in range(nodes):
            family = parts[part, node]
            if family >= 0:
                scopes[count] = members[family]
                begins[count] = starts[family]
                count += 1
                for lane in range(lanes):
                    total[lane] += scales[family, lane]
        given = count
        top = 0
        for step in range(nodes):
            node = orders[part, step]
            if node < 0:
                break
            used = 0
            joint = np.uint64(0)
            for factor in range(count):
                if scopes[factor] >> np.uint64(node) & one:
                    chosen[used] = factor
                    used += 1
                    joint |= scopes[factor]
            joint &= ~(one << np.uint64(node))
            width = 0
            entries = 1
            for other in range(nodes):
                if joint >> np.uint64(other) & one:
                    outer[width] = other
                    levels[width] = 0
                    width += 1
                    entries *= arities[other]
            for which in range(used):
                _fill_strides(scopes[chosen[which]], node, outer[:width], arities, strides[which], steps, which)
                scopes[chosen[which]] = np.uint64(0)
            for lane in range(lanes):
                largest[lane] = 0.0
            for entry in range(entries):
                values = work[top + entry]
                for lane in range(lanes):
                    values[lane] = 0.0
                for level in range(arities[node]):
                    for lane in range(lanes):
                        products[lane] = 1.0
                    for which in range(used):
                        place = begins[chosen[which]] + level * steps[which]
                        for axis in range(width):
                            place += strides[which, axis] * levels[axis]
                        source = tables[place] if chosen[which] < given else work[place]
                        for lane in range(lanes):
                            products[lane] *= source[lane]
                    for lane in range(lanes):
                        values[lane] += products[lane]
                for lane in range(lanes):
                    largest[lane] = max(largest[lane], values[lane])
                # The next levels, the last node fastest.
                axis = width - 1
                while axis >= 0:
                    levels[axis] += 1
                    if levels[axis] < arities[outer[axis]]:
                        break
                    levels[axis] = 0
                    axis -= 1
            for lane in range(lanes):
                total[lane] += math.log(largest[lane])
                largest[lane] = 1.0 / largest[lane] if largest[lane] > 0.0 else 0.0
            for entry in range(entries):
                for lane in range(lanes):
                    work[top + entry, lane] *= largest[lane]
            scopes[count] = joint
            begins[count] = top
            count += 1
            top += entries


@inlined
def _fill_strides(
    scope: np.uint64, node: int, outer: Integers, arities: Integers, strides: Integers, steps: Integers, which: int
) -> None:
    """How far apart the levels of each node of `outer`, and of `node`, are in a table; 0 for those it does not have."""
    for axis in range(len(outer)):
        strides[axis] = 0
    stride = 1
    axis = len(outer) - 1
    for other in range(len(arities) - 1, -1, -1):
        while axis >= 0 and outer[axis] > other:
            axis -= 1
        if scope >> np.uint64(other) & np.uint64(1):
            if other == node:
                steps[which] = stride
            else:
                strides[axis] = stride
            stride *= arities[other]
