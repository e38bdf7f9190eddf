"""Whole parent sets for nodes whose parents inside their component are drawn already.

Components (exact/components.py) are drawn one by one, each by layers; that fixes `Q`, what a node's parents are inside
its own component. Its parent set is then one of those that are `Q` there, each in proportion to its weight. The sets of
a node are put side by side by their `Q`, with running sums, so that a draw is one binary search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.engines import Engine
from dagpost.exact.components import Ragged, projection, summed_out
from dagpost.families.numbering import MAX_NODES, binomials, family_count, number_of_set, size_offsets, squeeze
from dagpost.families.parent_lists import MOST_COLUMNS, Members, ParentLists, words_of


def draw_whole_sets(
    lists: ParentLists, log_weights: Floats, node: int, part: Integers, inside: Masks, uniforms: Floats
) -> Integers:
    """For each graph the number of the parent set of `node`, given its parents inside the component as masks over it.

    >>> lists = ParentLists.of_matrix(np.array([[False, True], [False, False]]), 1)
    >>> weights, alone, none = np.log([1.0, 3.0]), np.array([0]), np.zeros(3, dtype=np.uint64)
    >>> draw_whole_sets(lists, weights, 0, alone, none, np.array([0.1, 0.7, 0.9])).tolist()
    [0, 1, 1]
    """
    projected = projection(lists, node, part)
    limit = lists.max_parents
    sets = family_count(len(part) - 1, limit)
    log_sums = summed_out(log_weights, projected, sets)
    starts = np.concatenate([[0], np.cumsum(np.bincount(projected, minlength=sets))])
    grouped, running = np.empty(len(projected), dtype=np.int64), np.empty(len(projected))
    _running_sums(log_weights, log_sums, projected, starts.copy(), grouped, running)
    chosen = np.empty(len(inside), dtype=np.int64)
    place = int(np.searchsorted(part, node))
    numbering = binomials(limit), size_offsets(limit)
    _draw(inside, place, len(part) - 1, *numbering, starts, running, uniforms, chosen)
    return grouped[chosen]


def draw_outside(
    lists: ParentLists,
    log_weights: Ragged,
    parts: Sequence[Integers],
    insides: Sequence[Masks],
    seeds: Sequence[np.random.SeedSequence],
    *,
    engine: Engine,
) -> tuple[Masks, Floats]:
    """Graphs with the log weight of each, from what is drawn inside every component, and a seed for every node.

    Nodes stand in the order of the components; the first graphs of many are those of few.
    """
    count = len(insides[0])
    parents, log_joint = np.zeros((count, lists.nodes, words_of(lists.nodes)), dtype=np.uint64), np.zeros(count)
    places = [(number, row) for number, part in enumerate(parts) for row in range(len(part))]

    def choose(item: int, cancel: Integers) -> Floats:  # noqa: ARG001
        number, row = places[item]
        part, inside = parts[number], np.ascontiguousarray(insides[number][:, row])
        node = int(part[row])
        uniforms = np.random.default_rng(seeds[item]).random(count)
        numbers = draw_whole_sets(lists, log_weights[node], node, part, inside, uniforms)
        fill_masks(lists, node, numbers, parents[:, node])
        chosen: Floats = log_weights[node][numbers]
        return chosen

    for chosen in engine.run(choose, range(len(places))):
        log_joint += chosen
    return _narrow(parents), log_joint


def masks_of_numbers(lists: ParentLists, numbers: Integers) -> Masks:
    """Graphs, given by the number of the parent set of every node, as masks."""
    parents = np.zeros((len(numbers), lists.nodes, words_of(lists.nodes)), dtype=np.uint64)
    for node in range(lists.nodes):
        fill_masks(lists, node, numbers[:, node], parents[:, node])
    return _narrow(parents)


def _narrow(parents: Masks) -> Masks:
    """Masks of one word without the dimension of words."""
    return parents[:, :, 0] if parents.shape[2] == 1 else parents


def fill_masks(lists: ParentLists, node: int, numbers: Integers, words: Masks) -> None:
    """Write the parent sets of these numbers into (graphs, words) as sets of columns."""
    different, which = np.unique(numbers, return_inverse=True)
    rows = np.zeros((len(different), words.shape[1]), dtype=np.uint64)
    _fill_words(lists.members(node)[different], lists.candidates[node], rows)
    words[:] = rows[which]


def numbers_of_masks(lists: ParentLists, node: int, words: Masks) -> Integers:
    """The number of each set of columns, given as (graphs, words), among the parent sets of a node; -1: it has none."""
    result = np.empty(len(words), dtype=np.int64)
    limit, own = lists.max_parents, lists.candidates[node]
    most = MAX_NODES if len(own) <= MAX_NODES else MOST_COLUMNS
    _number_words(np.ascontiguousarray(words), own, limit, binomials(limit, most), size_offsets(limit, most), result)
    return result


@kernel
def _running_sums(
    log_weights: Floats,
    log_sums: Floats,
    projected: NDArray[np.int32],
    ends: Integers,
    grouped: Integers,
    running: Floats,
) -> None:
    """Sort the sets by their projection, and sum the shares up within each group; `ends` says where groups begin."""
    totals = np.zeros(len(log_sums))
    for number in range(len(log_weights)):
        within = projected[number]
        if log_weights[number] != -math.inf:
            totals[within] += math.exp(log_weights[number] - log_sums[within])
        grouped[ends[within]] = number
        running[ends[within]] = totals[within]
        ends[within] += 1


@kernel
def _draw(
    inside: Masks,
    place: int,
    universe: int,
    binomial: Integers,
    offset: Integers,
    starts: Integers,
    running: Floats,
    uniforms: Floats,
    chosen: Integers,
) -> None:
    for graph in range(len(inside)):
        within = number_of_set(squeeze(inside[graph], place), universe, binomial, offset)
        first, low, high = starts[within], starts[within], starts[within + 1] - 1
        # A uniform number is below 1, so this stays below the last sum, and the first set that exceeds it has weight.
        aim = uniforms[graph] * running[high]
        while low < high:
            middle = (low + high) // 2
            if running[middle] > aim:
                high = middle
            else:
                low = middle + 1
        # If the product was rounded up to the sum itself: the last set that adds to it.
        while low > first and running[low] == running[low - 1]:
            low -= 1
        chosen[graph] = low


@kernel
def _fill_words(members: Members, candidates: Integers, rows: Masks) -> None:
    for number in range(len(members)):
        for place in range(members.shape[1]):
            member = members[number, place]
            if member < 0:
                break
            column = candidates[member]
            rows[number, column >> 6] |= np.uint64(1) << np.uint64(column & 63)


@kernel
def _number_words(
    words: Masks, candidates: Integers, limit: int, binomial: Integers, offset: Integers, result: Integers
) -> None:
    for row in range(len(words)):
        size = 0
        rank = 0
        for place in range(len(candidates)):
            column = candidates[place]
            if words[row, column >> 6] >> np.uint64(column & 63) & np.uint64(1):
                size += 1
                if size <= limit:
                    rank += binomial[place, size]
        members = 0
        for word in range(words.shape[1]):
            rest = words[row, word]
            while rest != np.uint64(0):
                rest &= rest - np.uint64(1)
                members += 1
        result[row] = offset[len(candidates), size] + rank if members == size and size <= limit else -1
