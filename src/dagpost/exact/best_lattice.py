"""The heaviest orders through every set of nodes: the max-product twin of order.py, on what is left of a lattice.

kbest.py fixes the parents of some nodes and asks for the best way to choose the rest. The fixed nodes are contracted
away: a free node that needs a fixed one needs whatever that one needs. Over the sets of free nodes, `fill_chunk` finds
the best weight of all orders of a set, or of all ways to continue after it; `join_halves` and `look_up` then give the
best whole for every parent set of one node. Maxima need no common scale, so everything is in logs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.exact.walk import lowest_bit
from dagpost.families.numbering import number_of_set, squeeze

#: Bits of the part of a table that stays in the cache.
_SEGMENT_BITS = 14


class Rest(NamedTuple):
    """The families of the nodes after the next one, with sets of these nodes in place of parent sets.

    `ranges[j]` says where those of the j-th begin that do not need the next node, where they end, and where those that
    do begin and end. Nodes are split as in walk.py: `low` inside a block, `top` across chunks.
    """

    bits: int
    low: int
    top: int
    sets: Integers
    weights: Floats
    ranges: Integers


@kernel
def numbers_of_sets(masks: Masks, node: int, universe: int, binomial: Integers, offset: Integers) -> Integers:
    """The numbers of some parent sets of a node, given as masks over all nodes."""
    result = np.empty(len(masks), dtype=np.int64)
    for place in range(len(masks)):
        result[place] = number_of_set(squeeze(masks[place], node), universe, binomial, offset)
    return result


@kernel
def outweighs_subsets(
    weights: Floats, sets: Masks, universe: int, binomial: Integers, offset: Integers
) -> NDArray[np.bool_]:
    """Which parent sets of a node weigh more than every one of their subsets."""
    best = np.empty(len(sets))
    result = np.empty(len(sets), dtype=np.bool_)
    for number in range(len(sets)):
        below = -np.inf
        rest = sets[number]
        while rest != np.uint64(0):
            element = rest & (~rest + np.uint64(1))
            below = max(below, best[number_of_set(sets[number] ^ element, universe, binomial, offset)])
            rest ^= element
        result[number] = weights[number] > below
        best[number] = max(weights[number], below)
    return result


@kernel
def needs_of(parents: Integers) -> Integers:
    """Which free nodes have to come before each of the fixed ones, given the parents of these."""
    needs = np.zeros(len(parents), dtype=np.int64)
    for node in range(len(parents)):
        needs[node] = _needed_by(parents[node], needs, node)
        for other in range(node):
            if (needs[other] >> node) & 1:
                needs[other] = (needs[other] ^ (1 << node)) | needs[node]
    return needs


@inlined
def _needed_by(mask: int, needs: Integers, fixed: int) -> int:
    """The free nodes of a set and those that the others, the first `fixed` nodes, need."""
    result = (mask >> fixed) << fixed
    others = mask ^ result
    while others:
        result |= needs[lowest_bit(others)]
        others &= others - 1
    return result


@kernel
def contract(
    node: int, needs: Integers, masks: Integers, weights: Floats, starts: Integers
) -> tuple[Integers, Floats, Integers]:
    """The families of the nodes after `node` when those before it are fixed."""
    nodes = len(starts) - 1
    shift = starts[node + 1]
    sets = np.empty(starts[nodes] - shift, dtype=np.int64)
    values = np.empty(len(sets))
    ranges = np.empty((nodes - 1 - node, 4), dtype=np.int64)
    for later in range(node + 1, nodes):
        first, last = starts[later] - shift, starts[later + 1] - shift
        front, back = first, last
        for place in range(first, last):
            needed = _needed_by(masks[place + shift], needs, node)
            if (needed >> later) & 1:
                continue
            if (needed >> node) & 1:
                back -= 1
                target = back
            else:
                target = front
                front += 1
            sets[target] = needed >> (node + 1)
            values[target] = weights[place + shift]
        row = ranges[later - node - 1]
        row[0], row[1], row[2], row[3] = first, front, back, last
    return sets, values, ranges


@inlined
def _greater(first: float, second: float) -> float:
    return first if first > second else second


@inlined
def _subset_maxima(table: Floats, bits: int) -> None:
    """Replace every entry by the greatest one over the subsets of its index."""
    for bit in range(bits):
        half = 1 << bit
        for start in range(0, 1 << bits, 2 * half):
            _raise_to(table[start + half : start + 2 * half], table[start : start + half])


@inlined
def _raise_to(target: Floats, source: Floats) -> None:
    for place in range(len(target)):
        target[place] = _greater(target[place], source[place])


@inlined
def _best_sets(rest: Rest, with_next: bool, high: int, bit: int, table: Floats) -> None:
    """The best parent set of a node inside the block `high` with every set of low nodes, itself squeezed out."""
    bits = rest.low - 1 if bit < rest.low else rest.low
    own = (1 << bit) - 1 if bit < rest.low else (1 << rest.low) - 1
    inside = (1 << rest.low) - 1
    dense = table[: 1 << bits]
    dense[:] = -np.inf
    for part in range(2 if with_next else 1):
        for place in range(rest.ranges[bit, 2 * part], rest.ranges[bit, 2 * part + 1]):
            members = rest.sets[place]
            if (members >> rest.low) & ~high == 0:
                members &= inside
                members = (members & own) | ((members & ~own) >> 1)
                dense[members] = _greater(dense[members], rest.weights[place])
    _subset_maxima(dense, bits)


@inlined
def _pull(block: Floats, best: Floats, pulled: Floats) -> None:
    for place in range(len(block)):
        block[place] = _greater(block[place], best[place] + pulled[place])


@kernel
def fill_chunk(rest: Rest, table: Floats, after: bool, chunk: int, cancel: Integers) -> None:
    """The most that each set of nodes of a chunk can weigh when it comes before the next node.

    With `after`: the most that the other nodes can weigh when they follow each set and the next node.
    """
    bits, low = rest.bits, rest.low
    inner = bits - low - rest.top
    size = 1 << low
    best = np.empty(size)
    low_best = np.empty((low, (size + 1) >> 1))
    for step in range(1 << inner):
        if cancel[0]:
            return
        high = (chunk << inner) | ((1 << inner) - 1 - step if after else step)
        block = table[high << low : (high + 1) << low]
        block[:] = -np.inf
        if high == ((1 << (bits - low)) - 1 if after else 0):
            block[size - 1 if after else 0] = 0.0
        for bit in range(low, bits):
            other = high ^ (1 << (bit - low))
            if (other > high) == after:
                _best_sets(rest, after, high, bit, best)
                _pull(block, best, table[other << low : (other + 1) << low])
        for bit in range(low):
            _best_sets(rest, after, high, bit, low_best[bit])
        # As in order_blocks.py: once the run of sets without a node is done, the run with it takes its share in one go.
        for number in range(1, size):
            first = size - number if after else number
            bit = lowest_bit(first)
            run = 1 << bit
            without, with_node = block[first - run : first], block[first : first + run]
            place = ((first - run) >> (bit + 1)) << bit
            weights = low_best[bit, place : place + run]
            if after:
                _pull(without, weights, with_node)
            else:
                _pull(with_node, weights, without)


@kernel
def join_halves(before: Floats, after: Floats, bits: int, cancel: Integers) -> None:
    """Put into `before`, at the complement of each set, the greatest sum of both tables over its supersets."""
    if bits == 0:
        before[0] += after[0]
        return
    full = (1 << bits) - 1
    for place in range(1 << (bits - 1)):
        here, there = before[place] + after[place], before[full - place] + after[full - place]
        before[place], before[full - place] = there, here
    within = min(bits, _SEGMENT_BITS)
    for start in range(0, 1 << bits, 1 << within):
        if cancel[0]:
            return
        _subset_maxima(before[start : start + (1 << within)], within)
    for bit in range(within, bits):
        for start in range(0, 1 << bits, 2 << bit):
            if cancel[0]:
                return
            _raise_to(before[start + (1 << bit) : start + (2 << bit)], before[start : start + (1 << bit)])


@kernel
def look_up(node: int, masks: Integers, needs: Integers, joined: Floats) -> Floats:
    """The entry of `joined` for every parent set of `node`; minus infinity where the set needs the node itself."""
    result = np.empty(len(masks))
    full = len(joined) - 1
    for place in range(len(masks)):
        needed = _needed_by(masks[place], needs, node)
        result[place] = -np.inf if (needed >> node) & 1 else joined[full - (needed >> (node + 1))]
    return result
