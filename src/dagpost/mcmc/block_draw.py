"""All parent sets of a block of nodes at once, drawn from their exact distribution given the rest of the graph.

Let `S` be a block of at most ten nodes, and take away all edges into it. A node outside can still be reached from some
members of `S`, its *ancestors* in the block; a member is its own. A parent set `P` of a member acts inside the block as
its *projection*, the union of the ancestors of its nodes: the whole graph is acyclic if and only if the graph on `S`
whose parent sets are the projections is. So the parents of the block follow a modular distribution over the graphs on
`S`, with

    alpha_i(U) = weight of the parent sets of i whose projection lies inside U,     U ⊆ S - i
    B(U)       = weight of all that the members outside U can do once U is placed
               = sum over X ⊆ S - U, not empty, of (-1)^(|X| + 1) * product of alpha_i(U) over i in X * B(U ∪ X)

A graph on `S` is drawn by its source layers as in sampling/layers.py, then each parent set given its layer.

Numbers. `alpha` is a wide float, `B` a double in [1, 2) with an exponent of its own, so weights may span thousands of
nats. No term of `B(U)` exceeds `B(U)`: graphs in which all of `X` are sources are some of all graphs. Hence the signs
lose few digits, and a node that is hardly ever a source at `U` can be left out of the sum altogether: most are. In a
draw, the weight that is left after a layer may be a small part `d` of `B(U)` and lose the digits of `d`; but a draw
comes to such a place with probability at most `d`, so what is lost there stays below what doubles resolve.

Cost: one pass over the parent sets of the members until nothing that matters is left, `s^2 2^s` additions, and at most
`3^s` terms of `B`. Memory: `16 (s + 1) 2^s` bytes, and two for each parent set in the longest list, `s` times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inline_no_refcount, inlined
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO, ZERO_LIMIT, add, ratio
from dagpost.families.considered_sets import SetTables

#: The most nodes of a block.
MOST_IN_BLOCK = 10
#: A projection onto the block, as bits.
Projections = NDArray[np.uint16]

#: A set that weighs this much less than what every sum has no longer counts: 2^-50.
_NEGLIGIBLE = np.int64(-50 << FRACTION_BITS)
#: Exponents further apart than this: the smaller number does not change the sum.
_APART = 60
#: Terms exceed the largest one with a single node by less than this in the exponent.
_ABOVE = 16
_FRACTION = np.int64((1 << FRACTION_BITS) - 1)
_DOUBLE_ONE = np.int64(1023 << 52)
_DOUBLE_FRACTION = np.int64((1 << 52) - 1)
_LOWEST = np.int64(-(1 << 60))


class BlockScratch(NamedTuple):
    """Room for one block after another.

    `ancestors[u]`, with a last entry that stays 0: the ancestors of node `u` in the block, valid if `seen[u]` is the
    number of the present block. The other arrays have a row for each place in the block.
    """

    members: Integers
    ancestors: Projections
    seen: Integers
    stack: Integers
    next_parent: Integers
    projections: Projections
    scanned: Integers
    alpha: Wide
    completions: Floats
    exponents: Integers
    live: Integers
    share_new: Floats
    products: Floats
    product_exponents: Integers
    tensor: Floats
    contracted: Floats
    chosen: Integers
    scales: Floats


@inlined
def room_for_blocks(nodes: int, longest_list: int) -> BlockScratch:
    """Room for blocks of a graph of `nodes` nodes with at most `longest_list` parent sets each."""
    sets = 1 << MOST_IN_BLOCK
    scales = np.empty(_APART + _ABOVE + 1)
    scales[_APART] = 1.0
    for step in range(_APART):
        scales[_APART - 1 - step] = 0.5 * scales[_APART - step]
    for step in range(_ABOVE):
        scales[_APART + 1 + step] = 2.0 * scales[_APART + step]
    return BlockScratch(
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.uint16),
        np.zeros(nodes + 1, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
        np.zeros((MOST_IN_BLOCK, longest_list), dtype=np.uint16),
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        np.zeros((MOST_IN_BLOCK, sets >> 1), dtype=np.int64),
        np.zeros(sets),
        np.zeros(sets, dtype=np.int64),
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        np.zeros(MOST_IN_BLOCK),
        np.zeros(sets),
        np.zeros(sets, dtype=np.int64),
        np.zeros(sets),
        np.zeros(sets),
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        scales,
    )


@inline_no_refcount
def draw_block(
    tables: SetTables,
    candidates: tuple[Integers, Integers],
    numbers: Integers,
    size: int,
    block: int,
    space: BlockScratch,
    generator: np.random.Generator,
) -> bool:
    """Draw the parents of the first `size` of `space.members` anew; `block` is a number that was not used before.

    Whether it was done: with a probability that only rounding gives, nothing is changed.
    """
    find_ancestors(tables, candidates, numbers, size, block, space)
    for place in range(size):
        sum_inside(tables, space.members[place], place, size, space)
    sum_completions(size, space)
    return draw_layers(tables, size, numbers, space, generator)


@inline_no_refcount
def find_ancestors(
    tables: SetTables,
    candidates: tuple[Integers, Integers],
    numbers: Integers,
    size: int,
    block: int,
    space: BlockScratch,
) -> None:
    """Fill `space.ancestors` for every candidate parent of the block: follow edges backwards, but not into the block.

    The candidates of node `i` are `candidates[1][candidates[0][i] : candidates[0][i + 1]]`.
    """
    ancestors, seen, stack, next_parent = space.ancestors, space.seen, space.stack, space.next_parent
    nodes, width = len(tables.start) - 1, tables.members.shape[1]
    for place in range(size):
        seen[space.members[place]] = block
        ancestors[space.members[place]] = np.uint16(1 << place)
    for place in range(size):
        node = space.members[place]
        for entry in range(candidates[0][node], candidates[0][node + 1]):
            first = candidates[1][entry]
            if seen[first] == block:
                continue
            seen[first] = block
            ancestors[first] = 0
            stack[0], next_parent[0] = first, 0
            depth = 0
            while depth >= 0:
                here = stack[depth]
                step = next_parent[depth]
                parent = nodes
                if step < width:
                    parent = np.int64(tables.members[tables.start[here] + numbers[here], step])
                if parent == nodes:
                    depth -= 1
                    if depth >= 0:
                        ancestors[stack[depth]] |= ancestors[here]
                    continue
                next_parent[depth] = step + 1
                if seen[parent] == block:
                    ancestors[here] |= ancestors[parent]
                else:
                    seen[parent] = block
                    ancestors[parent] = 0
                    depth += 1
                    stack[depth], next_parent[depth] = parent, 0


@inline_no_refcount
def sum_inside(tables: SetTables, node: int, place: int, size: int, space: BlockScratch) -> None:
    """Fill row `place` of `alpha`, over the sets of the other members (its own bit squeezed out)."""
    alpha, projections, ancestors = space.alpha[place], space.projections[place], space.ancestors
    width = tables.members.shape[1]
    own = np.uint16(1 << place)
    below = np.uint16((1 << place) - 1)
    for inside in range(1 << (size - 1)):
        alpha[inside] = ZERO
    first, end = tables.start[node], tables.start[node + 1]
    position = first
    while position < end and tables.tails[position] > alpha[0] + _NEGLIGIBLE:
        projection = np.uint16(0)
        for step in range(width):
            projection |= ancestors[tables.members[position, step]]
        projections[position - first] = projection
        if projection & own == 0:
            inside = (projection & below) | ((projection & ~below) >> np.uint16(1))
            alpha[inside] = add(alpha[inside], tables.weights[position])
        position += 1
    space.scanned[place] = position - first
    for bit in range(size - 1):
        stride = 1 << bit
        for start in range(0, 1 << (size - 1), 2 * stride):
            for inside in range(start, start + stride):
                alpha[inside + stride] = add(alpha[inside], alpha[inside + stride])


@inline_no_refcount
def alpha_of(space: BlockScratch, place: int, inside: int) -> np.int64:
    """`alpha` of a member for a set of other members."""
    below = (1 << place) - 1
    return space.alpha[place, (inside & below) | ((inside & ~below) >> 1)]


@inline_no_refcount
def fraction_of(value: np.int64) -> float:
    """The fraction of a wide float, in [1, 2)."""
    return np.int64(((value & _FRACTION) << 12) | _DOUBLE_ONE).view(np.float64)


@inline_no_refcount
def find_live(placed: int, size: int, space: BlockScratch) -> tuple[int, np.int64]:
    """List the members that may well be sources once `placed` are: how many, and the largest exponent of a term."""
    everyone = (1 << size) - 1
    largest = _LOWEST
    rest = everyone & ~placed
    for place in range(size):
        if rest >> place & 1:
            exponent = (alpha_of(space, place, placed) >> FRACTION_BITS) + space.exponents[placed | 1 << place]
            space.product_exponents[place] = exponent
            largest = max(largest, exponent)
    count = 0
    for place in range(size):
        if rest >> place & 1 and space.product_exponents[place] >= largest - _APART:
            space.live[count] = place
            count += 1
    return count, largest


@inline_no_refcount
def fill_terms(placed: int, count: int, largest: np.int64, space: BlockScratch, terms: Floats) -> None:
    """`terms[Y]`, Y a set of live members: the product of their `alpha` times `B(placed ∪ Y)`, over `2^largest`.

    Entry 0 is left alone.
    """
    products, exponents = space.products, space.product_exponents
    products[0], exponents[0] = 1.0, -largest
    for rank in range(count):
        place = space.live[rank]
        own = alpha_of(space, place, placed)
        fraction, exponent = fraction_of(own), own >> FRACTION_BITS
        half = 1 << rank
        for before in range(half):
            products[half + before] = products[before] * fraction
            exponents[half + before] = exponents[before] + exponent
    for chosen in range(1, 1 << count):
        together = placed
        for rank in range(count):
            together |= (chosen >> rank & 1) << space.live[rank]
        scale = exponents[chosen] + space.exponents[together]
        terms[chosen] = 0.0
        if scale >= -_APART:
            terms[chosen] = products[chosen] * space.completions[together] * space.scales[scale + _APART]


@inline_no_refcount
def sum_completions(size: int, space: BlockScratch) -> None:
    """Fill `B` for every set of members, from the whole block down."""
    everyone = (1 << size) - 1
    space.completions[everyone], space.exponents[everyone] = 1.0, 0
    for placed in range(everyone - 1, -1, -1):
        count, largest = find_live(placed, size, space)
        if largest <= (ZERO_LIMIT >> FRACTION_BITS):
            space.completions[placed], space.exponents[placed] = 1.0, ZERO >> FRACTION_BITS
            continue
        fill_terms(placed, count, largest, space, space.tensor)
        total = 0.0
        for chosen in range(1, 1 << count):
            odd = False
            rest = chosen
            while rest:
                odd = not odd
                rest &= rest - 1
            total += space.tensor[chosen] if odd else -space.tensor[chosen]
        bits = np.float64(total).view(np.int64)
        space.completions[placed] = np.int64((bits & _DOUBLE_FRACTION) | _DOUBLE_ONE).view(np.float64)
        space.exponents[placed] = largest + (bits >> 52) - 1023


@inline_no_refcount
def contract(values: Floats, count: int, share_new: Floats, work: Floats) -> float:
    """The weight of everything that `count` undecided live members can do; `values` over the sets of them."""
    for entry in range(1 << count):
        work[entry] = values[entry]
    for rank in range(count - 1, -1, -1):
        half = 1 << rank
        for entry in range(half):
            work[entry] -= (1.0 - share_new[rank]) * work[half + entry]
    return max(work[0], 0.0)


@inline_no_refcount
def draw_layers(
    tables: SetTables, size: int, numbers: Integers, space: BlockScratch, generator: np.random.Generator
) -> bool:
    """Draw a graph on the block by its layers, and the parent set of every member given its layer."""
    everyone = (1 << size) - 1
    placed, last = 0, 0
    tensor = space.tensor
    while placed != everyone:
        count, largest = find_live(placed, size, space)
        fill_terms(placed, count, largest, space, tensor)
        tensor[0] = space.completions[placed] * space.scales[min(space.exponents[placed] - largest, _ABOVE) + _APART]
        for rank in range(count):
            place = space.live[rank]
            space.share_new[rank] = 1.0
            if last != 0:
                old = alpha_of(space, place, placed & ~last)
                space.share_new[rank] = 1.0 - ratio(old, alpha_of(space, place, placed))
        layer = 0
        for rank in range(count - 1, -1, -1):
            half = 1 << rank
            # Those in front are undecided; with the member and without it, the rest of the graph weighs this much.
            joined = space.share_new[rank] * contract(tensor[half:], rank, space.share_new, space.contracted)
            for entry in range(half):
                tensor[entry] -= tensor[half + entry]
            out = contract(tensor, rank, space.share_new, space.contracted)
            if generator.random() * (joined + out) < joined or (rank == 0 and layer == 0):
                layer |= 1 << space.live[rank]
                for entry in range(half):
                    tensor[entry] = space.share_new[rank] * tensor[half + entry]
        for place in range(size):
            if layer >> place & 1:
                found = draw_parents(tables, place, placed, last, space, generator)
                if found < 0:
                    return False
                space.chosen[place] = found
        placed |= layer
        last = layer
    for place in range(size):
        numbers[space.members[place]] = space.chosen[place]
    return True


@inline_no_refcount
def draw_parents(
    tables: SetTables, place: int, placed: int, last: int, space: BlockScratch, generator: np.random.Generator
) -> np.int64:
    """The number of a parent set whose projection is inside `placed` and meets `last`, unless that is empty.

    -1 if there is none.
    """
    whole = alpha_of(space, place, placed)
    share = 1.0
    if last != 0:
        share = 1.0 - ratio(alpha_of(space, place, placed & ~last), whole)
    left = generator.random() * share
    first = tables.start[space.members[place]]
    projections = space.projections[place]
    inside, meeting = np.uint16(placed), np.uint16(last)
    found = np.int64(-1)
    for number in range(space.scanned[place]):
        projection = projections[number]
        if projection & ~inside == 0 and (meeting == 0 or projection & meeting != 0):
            found = np.int64(number)
            left -= ratio(tables.weights[first + number], whole)
            if left < 0.0:
                break
    return found
