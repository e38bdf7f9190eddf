"""Sums over the levels of many columns: tables over some of them each, multiplied and summed out one after the other.

A factor is a table over some columns: the probabilities of a family with the parents that are set left out, or what is
left when a column has been summed out. Next is always the column whose neighbours have the fewest combinations
(variable elimination; Koller & Friedman, Probabilistic graphical models, 2009, chapter 9). Where columns are only set,
no sum is far from 1. Levels that were seen may be improbable together: their tables are taken relative to the largest
entry, so that nothing underflows.

Time and memory: the largest table on the way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount
from dagpost.causal.level_tables import LevelTables, write_probabilities
from dagpost.prediction.elimination import next_node

#: Where a tally has the number of factors, the entries of `work` that are used, and the entries that would be needed.
_COUNT, _TOP, _NEEDED = 0, 1, 2
#: Numbers of the work space at first; it grows where graphs need more.
WORK = 2**12
#: The least probability of a level that was seen; tables whose entries are all smaller than the other are scaled.
_SMALLEST, _TINY = 1e-300, 1e-50


class Factors(NamedTuple):
    """The factors of one sum, and room for what is done with them; those that are spent have no columns any more."""

    scopes: Masks
    begins: Integers
    #: How far apart the levels of each column are.
    strides: Integers
    #: Whether a table is in the work space, rather than among those of the parameters.
    in_work: Flags
    alive: Flags
    tally: Integers
    chosen: Integers
    outer: Integers
    levels: Integers
    places: Integers
    state: Masks
    #: The log of what all tables were divided by.
    log_scale: Floats


def room_for(columns: int) -> Factors:
    """No factors, over so many columns: one comes in for each, and one more when it is summed out, in two stages."""
    most = 4 * columns + 4
    return Factors(
        np.zeros(most, dtype=np.uint64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, columns), dtype=np.int64),
        np.zeros(most, dtype=np.bool_),
        np.zeros(most, dtype=np.bool_),
        np.zeros(3, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(1, dtype=np.uint64),
        np.zeros(1),
    )


def larger_work(factors: Factors) -> Floats:
    """Work space for what the last graph needed, if there is memory for it."""
    needed = 2 * int(factors.tally[_NEEDED])
    memory.require(
        8 * needed,
        "The sums over the levels of all columns behind an outcome",
        "Merge levels, or fit with fewer parents.",
    )
    return np.empty(needed)


@inline_no_refcount
def begin(factors: Factors) -> None:
    """Forget all factors."""
    factors.tally[_COUNT], factors.tally[_TOP] = 0, 0
    factors.log_scale[0] = 0.0


@inline_no_refcount
def _has_room(factors: Factors, entries: float, work: Floats) -> bool:
    """Whether a table of so many entries fits; if not, the tally says how many would be needed."""
    if factors.tally[_TOP] + entries <= len(work):
        return True
    factors.tally[_NEEDED] = np.int64(min(factors.tally[_TOP] + entries, 2.0**62))
    return False


@inline_no_refcount
def _new_factor(factors: Factors, arities: Integers, scope: np.uint64) -> None:
    """A factor over some columns whose table is to be written at the top of the work space, the last one fastest."""
    number = factors.tally[_COUNT]
    factors.tally[_COUNT] += 1
    factors.scopes[number], factors.begins[number] = scope, factors.tally[_TOP]
    factors.in_work[number], factors.alive[number] = True, True
    stride = 1
    for column in range(len(arities) - 1, -1, -1):
        factors.strides[number, column] = 0
        if scope >> np.uint64(column) & np.uint64(1):
            factors.strides[number, column] = stride
            stride *= arities[column]
    factors.tally[_TOP] += stride


@inline_no_refcount
def add_family(own: LevelTables, graph: int, node: int, set_to: Integers, factors: Factors, work: Floats) -> bool:
    """The probabilities of a node given its parents as a factor, over the node and those parents that are not set.

    `set_to` has the level of every column, -1 where it has none. Where the node itself has one, the factor is the
    probability of that level, relative to the largest. Says whether there was room.
    """
    number, start, arity = factors.tally[_COUNT], own.starts[graph, node], own.arities[node]
    cell, stride, width, free = 0, arity, 0, 1.0
    for column in range(len(own.arities) - 1, -1, -1):
        factors.strides[number, column] = 0
        if own.graphs[graph, node] >> np.uint64(column) & np.uint64(1):
            if set_to[column] >= 0:
                cell += stride * set_to[column]
            else:
                factors.strides[number, column] = stride
                factors.outer[width], factors.levels[width] = column, 0
                width += 1
                free *= own.arities[column]
            stride *= own.arities[column]
    seen = set_to[node] >= 0
    in_work = seen or start < 0
    if in_work and not _has_room(factors, free * arity, work):
        return False
    begin = factors.tally[_TOP] if in_work else start + cell
    step = 1 if seen else arity
    for entry in range(np.int64(free)):
        place = begin + entry * step
        if start < 0:
            write_probabilities(own, graph, node, cell // arity, factors.state, work, place)
        elif own.tables[start + cell] == 0.0:
            write_probabilities(own, graph, node, cell // arity, factors.state, own.tables, start + cell)
        if seen:
            level = set_to[node]
            work[place] = max(work[place + level] if start < 0 else own.tables[start + cell + level], _SMALLEST)
        # The next configuration, the last column fastest.
        for axis in range(width):
            column = factors.outer[axis]
            factors.levels[axis] += 1
            cell += factors.strides[number, column]
            if factors.levels[axis] < own.arities[column]:
                break
            cell -= factors.strides[number, column] * own.arities[column]
            factors.levels[axis] = 0
    scope, stride = np.uint64(0) if seen else np.uint64(1) << np.uint64(node), step
    for axis in range(width):
        scope |= np.uint64(1) << np.uint64(factors.outer[axis])
        if in_work:
            factors.strides[number, factors.outer[axis]] = stride
        stride *= own.arities[factors.outer[axis]]
    factors.strides[number, node] = 0 if seen else 1
    factors.scopes[number], factors.begins[number] = scope, begin
    factors.in_work[number], factors.alive[number] = in_work, True
    factors.tally[_COUNT] += 1
    if in_work:
        factors.tally[_TOP] += stride
    if seen:
        _make_relative(factors, work, begin, stride)
    return True


@inline_no_refcount
def _make_relative(factors: Factors, work: Floats, begin: int, size: int) -> None:
    """Divide a table by its largest entry, which goes to the log that all factors have in common."""
    largest = 0.0
    for place in range(begin, begin + size):
        largest = max(largest, work[place])
    if largest > 0.0:
        factors.log_scale[0] += math.log(largest)
        for place in range(begin, begin + size):
            work[place] /= largest


@inline_no_refcount
def sum_out(own: LevelTables, kept: np.uint64, factors: Factors, work: Floats) -> bool:
    """Sum all columns out that are not to be kept; says whether there was room."""
    while True:
        node = next_node(factors.scopes, factors.tally[_COUNT], kept, own.arities)
        if node < 0:
            return True
        if not _sum_one(own, node, factors, work):
            return False


@inline_no_refcount
def _sum_one(own: LevelTables, node: int, factors: Factors, work: Floats) -> bool:
    """Multiply the factors with a column and sum it out."""
    one, arities, used, joint = np.uint64(1), own.arities, 0, np.uint64(0)
    for number in range(factors.tally[_COUNT]):
        if factors.scopes[number] >> np.uint64(node) & one:
            factors.chosen[used], factors.places[used] = number, factors.begins[number]
            used += 1
            joint |= factors.scopes[number]
    joint &= ~(one << np.uint64(node))
    depth = arities[node]
    width, entries = 0, 1.0
    for column in range(len(arities)):
        if joint >> np.uint64(column) & one:
            factors.outer[width], factors.levels[width] = column, 0
            width += 1
            entries *= arities[column]
    if not _has_room(factors, entries, work):
        return False
    top, largest = factors.tally[_TOP], 0.0
    for entry in range(np.int64(entries)):
        total = 0.0
        for level in range(depth):
            product = 1.0
            for which in range(used):
                number = factors.chosen[which]
                place = factors.places[which] + level * factors.strides[number, node]
                product *= work[place] if factors.in_work[number] else own.tables[place]
            total += product
        work[top + entry] = total
        largest = max(largest, total)
        axis = width - 1
        while axis >= 0:
            column = factors.outer[axis]
            factors.levels[axis] += 1
            wraps = factors.levels[axis] == arities[column]
            steps = 1 - arities[column] if wraps else 1
            for which in range(used):
                factors.places[which] += steps * factors.strides[factors.chosen[which], column]
            if not wraps:
                break
            factors.levels[axis] = 0
            axis -= 1
    for which in range(used):
        factors.alive[factors.chosen[which]] = False
        factors.scopes[factors.chosen[which]] = np.uint64(0)
    _new_factor(factors, arities, joint)
    if largest < _TINY:
        _make_relative(factors, work, top, factors.tally[_TOP] - top)
    return True


@inline_no_refcount
def value_at(own: LevelTables, column: int, level: int, factors: Factors, work: Floats) -> float:
    """The product of all factors, which have one column at most, at one of its levels."""
    product = 1.0
    for number in range(factors.tally[_COUNT]):
        if factors.alive[number]:
            place = factors.begins[number] + level * factors.strides[number, column]
            product *= work[place] if factors.in_work[number] else own.tables[place]
    return product
