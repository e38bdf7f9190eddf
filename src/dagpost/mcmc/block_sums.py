"""What the parent sets of a block's members weigh, by the members that they make ancestors.

Let `S` be a block of nodes, and take away all edges into it. A node outside can still be reached from some members of
`S`, its *ancestors* in the block; a member is its own. A parent set `P` of a member acts inside the block as its
*projection*, the union of the ancestors of its nodes: the whole graph is acyclic if and only if the graph on `S` whose
parent sets are the projections is. What is needed is

    alpha_i(U) = weight of the parent sets of i whose projection lies inside U,     U ⊆ S - i

Sums stand in tables over those members only that occur in a projection at all, often half of the block. The parent sets
are those that lead the list of a member and those of one group (families/set_tables.py), read by falling weight until
what follows weighs nothing beside the least sum, `alpha_i` of no member.

Cost: a step back along each edge above the candidate parents, one addition for each parent set that is read, and
`r 2^r` for `r` members that occur. Memory: that of the scratch.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inline_no_refcount
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO, add
from dagpost.families.set_tables import SetTables, group_of, group_start
from dagpost.mcmc.block_scratch import EXPONENT, BlockScratch, in_unit

#: A set that weighs this much less than what every sum has no longer counts.
_NEGLIGIBLE = np.int64(-36 << FRACTION_BITS)
#: Weights that are further than this from the unit of a sum of doubles are not added to it.
_FAR = np.int64(480 << FRACTION_BITS)
#: How many sets are read before the sums are looked at again, less one.
_LOOK = 7
_DOUBLE_ONE = np.int64(1023 << 52)


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
                parent = np.int64(nodes)
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
def choose_group(
    tables: SetTables, place: int, number: int, space: BlockScratch, generator: np.random.Generator
) -> None:
    """Put the sets that lead the list of a member in play, and those of a group: its own, or else any."""
    node = space.members[place]
    middle, bits = tables.start[node] + tables.leading[node], tables.bits[node]
    others = tables.start[node + 1] - middle
    if number < tables.leading[node]:
        group = int(generator.random() * (1 << bits))
    else:
        group = group_of(others, bits, number - tables.leading[node])
    space.first[place, 0], space.end[place, 0] = tables.start[node], middle
    space.first[place, 1] = middle + group_start(others, bits, group)
    space.end[place, 1] = middle + group_start(others, bits, group + 1)


@inline_no_refcount
def sum_inside(
    tables: SetTables, candidates: tuple[Integers, Integers], place: int, size: int, space: BlockScratch
) -> None:
    """Fill the rows of a member in `where` and `alpha`, from the sets that `choose_group` has put in play."""
    node = space.members[place]
    occurring = np.uint16(0)
    for entry in range(candidates[0][node], candidates[0][node + 1]):
        occurring |= space.ancestors[candidates[1][entry]]
    where = space.where[place]
    occurring &= ~np.uint16(1 << place)
    bits = 0
    for other in range(size):
        bits += int(occurring >> np.uint16(other)) & 1
    where[0] = 0
    rank = 0
    for other in range(size):
        marked = np.uint16(0)
        if other == place:
            # Projections with the member itself go to a second half of the table that nobody reads.
            marked = np.uint16(1 << bits)
        elif occurring >> np.uint16(other) & np.uint16(1):
            marked = np.uint16(1 << rank)
            rank += 1
        half = 1 << other
        for inside in range(half):
            where[half + inside] = where[inside] | marked
    space.counts[place] = 1 << bits
    _add_sets(tables, place, 1 << bits, space)


@inline_no_refcount
def _add_sets(tables: SetTables, place: int, sets: int, space: BlockScratch) -> None:
    """Add up the sets in play inside each of `sets` sets of members; `space.end` becomes the end of what was read.

    Weights are added as doubles in a common unit. A weight that is out of the range of doubles in that unit makes the
    sums so far wide floats, and brings a unit of its own.
    """
    where, alpha, sums, ancestors = space.where[place], space.alpha[place], space.sums, space.ancestors
    width = tables.members.shape[1]
    for inside in range(2 * sets):
        sums[inside] = 0.0
        alpha[inside] = ZERO
    unit = tables.weights[space.first[place, 0]] & EXPONENT
    least = ZERO
    for part in range(2):
        position, end = space.first[place, part], space.end[place, part]
        while position < end and tables.tails[position] > least:
            relative = tables.weights[position] - unit
            if relative > _FAR or relative < -_FAR:
                _collect(sums, unit, sets, alpha)
                unit = tables.weights[position] & EXPONENT
            projection = np.uint16(0)
            for step in range(0, width, 2):
                projection |= ancestors[tables.members[position, step]] | ancestors[tables.members[position, step + 1]]
            sums[where[projection]] += in_unit(tables.weights[position], unit)
            position += 1
            if position & _LOOK == 0:
                least = max(alpha[0], _as_wide(sums[0], unit)) + _NEGLIGIBLE
        space.end[place, part] = position
    _collect(sums, unit, sets, alpha)


@inline_no_refcount
def _collect(sums: Floats, unit: np.int64, sets: int, alpha: Wide) -> None:
    """Sum over subsets, add the sums to `alpha` as wide floats, and begin again."""
    stride = 1
    while stride < sets:
        for start in range(0, sets, 2 * stride):
            for inside in range(start, start + stride):
                sums[inside + stride] += sums[inside]
        stride *= 2
    for inside in range(sets):
        found = _as_wide(sums[inside], unit)
        # Nearly always everything is in one unit, and there is nothing to add to.
        alpha[inside] = found if alpha[inside] == ZERO else add(alpha[inside], found)
        sums[inside] = 0.0


@inline_no_refcount
def _as_wide(value: float, unit: np.int64) -> np.int64:
    """A double in some unit as a wide float, rounded down."""
    if value == 0.0:
        return ZERO
    return unit + ((np.float64(value).view(np.int64) - _DOUBLE_ONE) >> 12)
