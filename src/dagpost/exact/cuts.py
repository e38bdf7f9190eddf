"""Which column, or which edge, holds a strongly connected component together?

Without it the component falls apart into smaller ones, and the sums over graphs (components.py) cost what the largest
of those does. Every column and every edge is left out in turn and the components of the rest are found by two
depth-first searches (Kosaraju), in which the columns that are still to be seen are the bits of a few words. Time: some
`n^2 / 64` steps for each that is left out, so a tenth of a second for all columns of the densest 1,024.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Flags, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.families.graph_lists import place_of_bit


def largest_without_columns(edges: Flags, columns: Integers) -> Integers:
    """For each of some columns, the size of the largest component that is left without it.

    >>> ring = np.roll(np.eye(4, dtype=bool), 1, axis=1)
    >>> largest_without_columns(ring, np.array([0, 2])).tolist()
    [1, 1]
    """
    result = np.empty(len(columns), dtype=np.int64)
    _leave_columns_out(_as_words(edges), _as_words(edges.T), columns, result)
    return result


def largest_without_edges(edges: Flags, children: Integers, parents: Integers) -> Integers:
    """For each of some edges, the size of the largest component that is left without it.

    >>> ring = np.roll(np.eye(4, dtype=bool), 1, axis=1) | np.eye(4, k=-1, dtype=bool)
    >>> largest_without_edges(ring, np.array([0, 3]), np.array([1, 0])).tolist()
    [3, 4]
    """
    result = np.empty(len(children), dtype=np.int64)
    _leave_edges_out(_as_words(edges), _as_words(edges.T), children, parents, result)
    return result


def _as_words(edges: Flags) -> Masks:
    """The rows of a matrix as sets of columns, 64 to a word."""
    nodes = len(edges)
    words = max(1, -(-nodes // 64))
    padded = np.zeros((nodes, 64 * words), dtype=np.bool_)
    padded[:, :nodes] = edges
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


@kernel
def _leave_columns_out(after: Masks, before: Masks, columns: Integers, result: Integers) -> None:
    for place in range(len(columns)):
        result[place] = _largest_component(after, before, columns[place])


@kernel
def _leave_edges_out(after: Masks, before: Masks, children: Integers, parents: Integers, result: Integers) -> None:
    for place in range(len(children)):
        child, parent = children[place], parents[place]
        after[child, parent >> 6] ^= np.uint64(1) << np.uint64(parent & 63)
        before[parent, child >> 6] ^= np.uint64(1) << np.uint64(child & 63)
        result[place] = _largest_component(after, before, -1)
        after[child, parent >> 6] ^= np.uint64(1) << np.uint64(parent & 63)
        before[parent, child >> 6] ^= np.uint64(1) << np.uint64(child & 63)


@inlined
def _largest_component(after: Masks, before: Masks, left_out: int) -> int:
    """The size of the largest component of all columns but one (-1: of all)."""
    nodes = len(after)
    finished = np.empty(nodes, dtype=np.int64)
    count = _finish(after, left_out, finished)
    unseen = _everyone(nodes, after.shape[1], left_out)
    stack = np.empty(nodes, dtype=np.int64)
    largest = 0
    for place in range(count - 1, -1, -1):
        start = finished[place]
        if unseen[start >> 6] >> np.uint64(start & 63) & np.uint64(1) == np.uint64(0):
            continue
        unseen[start >> 6] ^= np.uint64(1) << np.uint64(start & 63)
        stack[0] = start
        waiting, size = 1, 0
        while waiting > 0:
            waiting -= 1
            size += 1
            node = stack[waiting]
            for word in range(len(unseen)):
                found = before[node, word] & unseen[word]
                unseen[word] ^= found
                while found != np.uint64(0):
                    stack[waiting] = 64 * word + place_of_bit(found & (~found + np.uint64(1)))
                    waiting += 1
                    found &= found - np.uint64(1)
        largest = max(largest, size)
    return largest


@inlined
def _finish(after: Masks, left_out: int, finished: Integers) -> int:
    """Write down the columns in the order in which a depth-first search is done with them; return how many."""
    nodes, words = after.shape
    unseen = _everyone(nodes, words, left_out)
    stack, word_of = np.empty(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    count = 0
    for start in range(nodes):
        if unseen[start >> 6] >> np.uint64(start & 63) & np.uint64(1) == np.uint64(0):
            continue
        unseen[start >> 6] ^= np.uint64(1) << np.uint64(start & 63)
        stack[0] = start
        depth = 0
        while depth >= 0:
            node = stack[depth]
            # What is seen stays seen, so no word has to be looked at again once it has nothing.
            word = word_of[node]
            while word < words and after[node, word] & unseen[word] == np.uint64(0):
                word += 1
            word_of[node] = word
            if word == words:
                finished[count] = node
                count += 1
                depth -= 1
                continue
            found = after[node, word] & unseen[word]
            bit = place_of_bit(found & (~found + np.uint64(1)))
            unseen[word] ^= np.uint64(1) << np.uint64(bit)
            depth += 1
            stack[depth] = 64 * word + bit
    return count


@inlined
def _everyone(nodes: int, words: int, left_out: int) -> Masks:
    result = np.zeros(words, dtype=np.uint64)
    for node in range(nodes):
        if node != left_out:
            result[node >> 6] |= np.uint64(1) << np.uint64(node & 63)
    return result
