"""How often does each configuration of the families of one graph occur? Counts that rows are added to and taken from.

All counts are in one array. A family with few configurations has a place for each of them; another one has a hash table
(open addressing, keys of as many words as its configurations need) with room for all that can occur at a time, so that
neither many levels nor many parents cost more. Families without gaps are left out: they never change.

Memory: 4 bytes a place, and 8 more for each word of a key in a hash table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Counts, Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.considered_sets import Members

_LARGEST_WORD = 2.0**62
_EMPTY = -1
#: 2^64 divided by the golden ratio, as a signed number: products with it are well mixed in their upper half.
_MIX = -7046029254386353131


class CellParameters(NamedTuple):
    """What a row adds, by node: the parameters of a cell and of all cells of a configuration of the parents.

    Where `strength` is above 0, it is shared out among the configurations of a set.
    """

    arities: Integers
    exclusive: Flags
    has_gaps: Flags
    cell: Floats
    pooled: Floats
    strength: Floats
    entropy: Flags


class Layout(NamedTuple):
    """Where the families of a graph have their counts; the node itself is the last of `members`.

    The key of a configuration is the sum of `code * stride` in each of its words. Offsets are those of the counts of
    the family (column 0) and of its parents (column 1); `mask` is that of a hash table, or -1 where the key is the
    place. Column `j` is in the families `lists[starts[j]:starts[j + 1]]`.
    """

    members: Integers
    sizes: Integers
    word: Integers
    stride: Integers
    words: Integers
    offset: Integers
    mask: Integers
    parameter: Floats
    starts: Integers
    lists: Integers


class Tally(NamedTuple):
    """The counts of the families of a graph, and the rows that are counted: `counted[i]` for the family of node `i`.

    `labels`, a place for each row, and `key` are working memory.
    """

    codes: Codes
    weights: Counts
    counted: Flags
    layout: Layout
    counts: Counts
    keys: Integers
    labels: Integers
    key: Integers


@kernel
def lay_out(families: Members, occurring: int, parameters: CellParameters, layout: Layout, needed: Integers) -> None:
    """Give each family with gaps its places, of which at most `occurring` are ever used at the same time.

    `needed` gets the number of places, of those in hash tables, and of the words of a key.
    """
    nodes, columns = len(families), len(parameters.arities)
    slots = 16
    while slots < 3 * occurring // 2:
        slots *= 2
    needed[0], needed[1], needed[2] = 0, 0, 1
    for node in range(nodes):
        _place_members(node, families, parameters, columns, layout)
    for hashed in range(1, -1, -1):
        for node in range(nodes):
            if layout.sizes[node] == 0:
                continue
            for pooled in range(2):
                cells = 1.0
                for place in range(layout.sizes[node] - pooled):
                    cells *= parameters.arities[layout.members[node, place]]
                few = cells <= slots
                if few == (hashed == 1):
                    continue
                layout.offset[node, pooled] = needed[0]
                layout.mask[node, pooled] = -1 if few else slots - 1
                needed[0] += np.int64(cells) if few else slots
                needed[2] = max(needed[2], layout.words[node, pooled])
        if hashed == 1:
            needed[1] = needed[0]
    list_families(layout.members, layout.sizes, layout.starts, layout.lists)


@inline_no_refcount
def list_families(members: Integers, sizes: Integers, starts: Integers, lists: Integers) -> None:
    """Column `j` is in the families `lists[starts[j]:starts[j + 1]]`; those of `sizes` members have a row each."""
    columns = len(starts) - 1
    for column in range(columns + 1):
        starts[column] = 0
    for node in range(len(sizes)):
        for place in range(sizes[node]):
            starts[members[node, place] + 1] += 1
    for column in range(columns):
        starts[column + 1] += starts[column]
    # Each start moves on to that of the next column as its list is filled.
    for node in range(len(sizes)):
        for place in range(sizes[node]):
            column = members[node, place]
            lists[starts[column]] = node
            starts[column] += 1
    for column in range(columns, 0, -1):
        starts[column] = starts[column - 1]
    starts[0] = 0


@inline_no_refcount
def _place_members(node: int, families: Members, parameters: CellParameters, columns: int, layout: Layout) -> None:
    """List the members of a family, and lay its keys out; without members, if none of them has gaps."""
    size = 0
    has_gaps = False
    ordinary, indicators = 1.0, 1.0
    word, filled, stride = 0, 1.0, 1
    for place in range(families.shape[1] + 1):
        column = int(families[node, place]) if place < families.shape[1] else node
        if column >= columns:
            continue
        if place == families.shape[1]:
            layout.words[node, 1] = word + 1
            layout.parameter[node, 1] = parameters.pooled[node]
            if parameters.strength[node] > 0.0:
                layout.parameter[node, 1] = parameters.strength[node] / (ordinary * indicators)
        arity = parameters.arities[column]
        # At most one indicator is 1 in a row, so that another one adds a configuration and does not double them.
        if parameters.exclusive[column]:
            indicators += 1.0
        else:
            ordinary *= arity
        if filled * arity > _LARGEST_WORD:
            word, filled, stride = word + 1, 1.0, 1
        layout.members[node, size] = column
        layout.word[node, size] = word
        layout.stride[node, size] = stride
        stride *= arity
        filled *= arity
        size += 1
        has_gaps = has_gaps or parameters.has_gaps[column]
    layout.words[node, 0] = word + 1
    layout.parameter[node, 0] = parameters.cell[node]
    if parameters.strength[node] > 0.0:
        layout.parameter[node, 0] = parameters.strength[node] / (ordinary * indicators)
    layout.sizes[node] = size if has_gaps else 0


@inline_no_refcount
def count_rows(needed: Integers, tally: Tally) -> None:
    """Count all rows anew, family by family; those of size 0 are left out."""
    codes, weights, counted, layout, counts = tally.codes, tally.weights, tally.counted, tally.layout, tally.counts
    labels, sizes = tally.labels, layout.sizes
    for place in range(needed[0]):
        counts[place] = 0
    for place in range(needed[1]):
        tally.keys[place, 0] = _EMPTY
    for node in range(len(sizes)):
        if sizes[node] == 0:
            continue
        if layout.mask[node, 0] >= 0:
            for row in range(len(weights)):
                if counted[node, row]:
                    add_row(node, row, int(weights[row]), tally)
            continue
        # Column by column: the compiler makes vectors of it.
        last = sizes[node] - 1
        for row in range(len(weights)):
            labels[row] = 0
        for place in range(last):
            column, stride = codes[layout.members[node, place]], layout.stride[node, place]
            for row in range(len(weights)):
                labels[row] += column[row] * stride
        column, stride = codes[node], layout.stride[node, last]
        cells, pooled = layout.offset[node, 0], layout.offset[node, 1]
        for row in range(len(weights)):
            if counted[node, row]:
                counts[pooled + labels[row]] += weights[row]
                counts[cells + labels[row] + column[row] * stride] += weights[row]


@inline_no_refcount
def add_row(node: int, row: int, weight: int, tally: Tally) -> None:
    """Count a row `weight` times more for the family of a node; -1 takes it out once."""
    layout, key, last = tally.layout, tally.key, tally.layout.sizes[node] - 1
    for word in range(layout.words[node, 0]):
        key[word] = 0
    for place in range(last):
        key[layout.word[node, place]] += layout.stride[node, place] * tally.codes[layout.members[node, place], row]
    tally.counts[_place_for(node, 1, tally)] += weight
    key[layout.word[node, last]] += layout.stride[node, last] * tally.codes[node, row]
    tally.counts[_place_for(node, 0, tally)] += weight


@inline_no_refcount
def count_at(node: int, pooled: int, tally: Tally) -> float:
    """How often a configuration of a family, or of its parents if `pooled` is 1, occurs."""
    place = _find_place(node, pooled, tally)
    return np.float64(tally.counts[place]) if place >= 0 else 0.0


@inline_no_refcount
def _place_for(node: int, pooled: int, tally: Tally) -> int:
    """The place of a configuration, which gets one if it has none."""
    place = _find_place(node, pooled, tally)
    if place < 0:
        place = -1 - place
        for word in range(tally.layout.words[node, pooled]):
            tally.keys[place, word] = tally.key[word]
    return place


@inline_no_refcount
def _find_place(node: int, pooled: int, tally: Tally) -> int:
    """The place of a configuration; where it has none, -1 less the place that is free for it."""
    layout, keys, key = tally.layout, tally.keys, tally.key
    offset, mask = layout.offset[node, pooled], layout.mask[node, pooled]
    if mask < 0:
        return int(offset + key[0])
    words, mixed = layout.words[node, pooled], 0
    for word in range(words):
        mixed = (mixed ^ key[word]) * _MIX
        mixed ^= mixed >> 32
    probe = mixed & mask
    while True:
        place = offset + probe
        if keys[place, 0] == _EMPTY:
            return int(-1 - place)
        same = True
        for word in range(words):
            same = same and keys[place, word] == key[word]
        if same:
            return int(place)
        probe = (probe + 1) & mask
