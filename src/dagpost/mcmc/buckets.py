"""One bucket of nodes that stand in any order after the same predecessors: all its orders at once.

A bucket `B` comes after the set `U`. With `alpha_i(S)` the weight of node `i` over the parent sets inside `S`,

    L(T) = sum over i in T     of alpha_i(U ∪ T - i) L(T - i),    L(∅) = 1        the orders of T, first in the bucket
    R(T) = sum over i in B - T of alpha_i(U ∪ T) R(T ∪ i),        R(B) = 1        the orders of B - T after T

`L(B)` is the weight of the bucket. `L(T) alpha_i(U ∪ T) R(T ∪ i) / L(B)` is the probability that just `T` comes before
`i` inside the bucket, from which the exact probability of every edge follows; an order is drawn from its end, `i` being
the last of `T` with the share that its term has in `L(T)`.

Sets of members are masks over the bucket, bit `k` for the member at place `k`. The table `alpha[k, T]` leaves out the
bit of member `k` itself. All numbers are wide floats: one order has factors of e^-1000.

Time: `|B| 2^(|B| - 1)` look-ups and as many products for `L`, about 35 microseconds with 10 nodes; as much again for
`R`; at most as many look-ups as that for each candidate parent for the edges. Memory: 8 bytes for each product.

Niinimäki, Parviainen & Koivisto, "Partial order MCMC for structure discovery in Bayesian networks", UAI (2011).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost.arrays import Floats, Integers, Masks, Wide
from dagpost.kernels import inlined
from dagpost.mcmc.families import FamilyTables, add_logs, place_in_candidates
from dagpost.widefloat import FRACTION_BITS, ONE, ZERO, add, log_of, multiply, ratio

#: Nats below which a sum does not change any more.
_NEGLIGIBLE = 30.0
#: Sets of predecessors that are less likely than this add nothing to the probability of an edge.
_UNLIKELY = 1e-15
_EXPONENT = np.int64(-(1 << FRACTION_BITS))
_SMALLEST = np.int64(-(64 << FRACTION_BITS))
_DOUBLE_ONE = np.int64(1023 << 52)
#: The sums of blocks of 2^3 sets are vector instructions; larger blocks leave more to be done inside each block.
_BLOCK_BITS = 3


class BucketFamilies(NamedTuple):
    """The weights of the families; `beyond` has those of `tables.beyond_logs` as wide floats."""

    tables: FamilyTables
    beyond: Wide


class BucketSums(NamedTuple):
    """Room for the sums of several buckets, a slot each, and for work on one."""

    alpha: Wide
    forward: Wide
    backward: Wide
    places: Integers
    extra: Wide


@inlined
def room_for_buckets(slots: int, size: int) -> BucketSums:
    """Room for this many buckets of at most `size` members."""
    half = 1 << max(size - 1, 0)
    return BucketSums(
        np.empty((slots, size, half), dtype=np.int64),
        np.empty((slots, 1 << size), dtype=np.int64),
        np.empty(1 << size, dtype=np.int64),
        np.empty(half, dtype=np.int64),
        np.empty(half, dtype=np.int64),
    )


@inlined
def without_bit(mask: int, bit: int) -> int:
    """A mask in which `bit` is not set, with that bit left out."""
    low = (1 << bit) - 1
    return (mask & low) | ((mask >> 1) & ~low)


@inlined
def with_bit_out(mask: int, bit: int) -> int:
    """The other way: put a bit in that is not set."""
    low = (1 << bit) - 1
    return (mask & low) | ((mask & ~low) << 1)


@inlined
def mask_of(members: Integers) -> np.uint64:
    """Some nodes as a mask."""
    mask = np.uint64(0)
    for member in members:
        mask |= np.uint64(1) << np.uint64(member)
    return mask


@inlined
def _fill_places(tables: FamilyTables, members: Integers, own: int, before: np.uint64, places: Integers) -> None:
    """`places[T]`: where `before` and the members in `T`, which lacks `own`, stand in the row of member `own`."""
    node = members[own]
    places[0] = place_in_candidates(tables, node, before)
    filled = 1
    for other in range(len(members)):
        if other != own:
            bit = place_in_candidates(tables, node, np.uint64(1) << np.uint64(members[other]))
            lower, upper = places[:filled], places[filled : 2 * filled]
            for place in range(filled):
                upper[place] = lower[place] | bit
            filled *= 2


@inlined
def _inside_bucket(parents: np.uint64, members: Integers, own: int) -> int:
    """The members among `parents` as a set that lacks `own`."""
    inside = 0
    bit = 1
    for other in range(len(members)):
        if other != own:
            if (parents >> np.uint64(members[other])) & np.uint64(1) != np.uint64(0):
                inside |= bit
            bit <<= 1
    return inside


@inlined
def _add_subsets(table: Wide, count: int) -> None:
    """Let each of the first `count` entries be the sum over its subsets."""
    half = 1
    while half < count:
        for start in range(0, count, 2 * half):
            without, with_bit = table[start : start + half], table[start + half : start + 2 * half]
            for place in range(half):
                with_bit[place] = add(with_bit[place], without[place])
        half *= 2


@inlined
def _add_beyond(
    families: BucketFamilies, members: Integers, own: int, before: np.uint64, alpha: Wide, extra: Wide
) -> None:
    """Add the parent sets that are not made of candidates alone to the row `alpha` of a member."""
    tables, node = families.tables, members[own]
    allowed = (before | mask_of(members)) & ~(np.uint64(1) << np.uint64(node))
    count = 1 << (len(members) - 1)
    # Every entry is at least as large as the first, so what is nothing beside that one is nothing beside any.
    smallest = log_of(alpha[0])
    found = False
    for position in range(tables.beyond_start[node], tables.beyond_start[node + 1]):
        if tables.beyond_tails[position] < smallest - _NEGLIGIBLE:
            break
        parents = tables.beyond_masks[position]
        if parents & ~allowed == np.uint64(0):
            if not found:
                found = True
                for place in range(count):
                    extra[place] = ZERO
            inside = _inside_bucket(parents, members, own)
            extra[inside] = add(extra[inside], families.beyond[position])
            if inside == 0:
                smallest = add_logs(smallest, tables.beyond_logs[position])
    if found:
        _add_subsets(extra, count)
        for place in range(count):
            alpha[place] = add(alpha[place], extra[place])


@inlined
def _sum_forward(alpha: Wide, forward: Wide, size: int) -> None:
    """`L` of all sets of members, in blocks of sets that differ in the lowest bits only."""
    low_bits = min(size, _BLOCK_BITS)
    width = 1 << low_bits
    for high in range(1 << (size - low_bits)):
        block = forward[high * width : (high + 1) * width]
        for place in range(width):
            block[place] = ZERO
        for bit in range(size - low_bits):
            if (high >> bit) & 1:
                start = without_bit(high ^ (1 << bit), bit) * width
                weights = alpha[low_bits + bit, start : start + width]
                start = (high ^ (1 << bit)) * width
                earlier = forward[start : start + width]
                for place in range(width):
                    block[place] = add(block[place], multiply(weights[place], earlier[place]))
        if high == 0:
            block[0] = ONE
        start = high * (width >> 1)
        for low in range(1, width):
            total = block[low]
            for bit in range(low_bits):
                if (low >> bit) & 1:
                    rest = low ^ (1 << bit)
                    total = add(total, multiply(alpha[bit, start + without_bit(rest, bit)], block[rest]))
            block[low] = total


@inlined
def sum_bucket(families: BucketFamilies, members: Integers, before: np.uint64, sums: BucketSums, slot: int) -> float:
    """Fill `alpha` and `L` of a bucket after the nodes `before`; the log weight of the bucket.

    It is relative to the heaviest parent sets of its nodes.
    """
    tables, size = families.tables, len(members)
    alpha, places = sums.alpha[slot], sums.places
    for own in range(size):
        _fill_places(tables, members, own, before, places)
        row, weights = tables.sums[members[own]], alpha[own]
        for place in range(1 << (size - 1)):
            weights[place] = row[places[place]]
        if tables.beyond_start[members[own] + 1] > tables.beyond_start[members[own]]:
            _add_beyond(families, members, own, before, weights, sums.extra)
    _sum_forward(alpha, sums.forward[slot], size)
    return log_of(sums.forward[slot, (1 << size) - 1])


@inlined
def sum_backward(sums: BucketSums, slot: int, size: int) -> None:
    """`R` of all sets of members of the bucket in a slot."""
    alpha, backward = sums.alpha[slot], sums.backward
    backward[(1 << size) - 1] = ONE
    for members in range((1 << size) - 2, -1, -1):
        total = ZERO
        for bit in range(size):
            if not (members >> bit) & 1:
                term = multiply(alpha[bit, without_bit(members, bit)], backward[members | (1 << bit)])
                total = add(total, term)
        backward[members] = total


@inlined
def draw_bucket(
    sums: BucketSums, slot: int, members: Integers, generator: np.random.Generator, order: Integers, log_alpha: Floats
) -> None:
    """Write a random order of a bucket into `order`, and what each of its nodes then weighs into `log_alpha[node]`."""
    size = len(members)
    alpha, forward = sums.alpha[slot], sums.forward[slot]
    left = (1 << size) - 1
    for position in range(size - 1, -1, -1):
        remaining = generator.random()
        chosen = -1
        for bit in range(size):
            if (left >> bit) & 1:
                rest = left ^ (1 << bit)
                share = ratio(multiply(alpha[bit, without_bit(rest, bit)], forward[rest]), forward[left])
                if share > 0.0:
                    chosen = bit
                    remaining -= share
                    if remaining < 0.0:
                        break
        left ^= 1 << chosen
        order[position] = members[chosen]
        log_alpha[members[chosen]] = log_of(alpha[chosen, without_bit(left, chosen)])


@inlined
def _share(part: np.int64, whole: np.int64) -> float:
    """Quotient of two wide floats, the first not larger than the second; what is below 2^-64 becomes 2^-64."""
    exponent = whole & _EXPONENT
    above = np.int64((max(part - exponent, _SMALLEST) << 12) + _DOUBLE_ONE).view(np.float64)
    below = np.int64(((whole - exponent) << 12) + _DOUBLE_ONE).view(np.float64)
    return above / below


@inlined
def add_bucket_edges(
    families: BucketFamilies,
    members: Integers,
    before: np.uint64,
    sums: BucketSums,
    slot: int,
    times: float,
    edges: Floats,
) -> None:
    """Add `times` the probability of every edge into the members of the bucket in a slot, whose `R` is there too."""
    tables, size = families.tables, len(members)
    alpha, forward, backward, places = sums.alpha[slot], sums.forward[slot], sums.backward, sums.places
    whole = forward[(1 << size) - 1]
    for own in range(size):
        node = members[own]
        row = tables.sums[node]
        _fill_places(tables, members, own, before, places)
        for place in range(1 << (size - 1)):
            earlier = with_bit_out(place, own)
            orders = multiply(forward[earlier], backward[earlier | (1 << own)])
            weight = alpha[own, place]
            probability = _share(multiply(orders, weight), whole)
            if probability > _UNLIKELY:
                inside = places[place]
                share = _share(row[inside], weight)
                for candidate in range(tables.candidates.shape[1]):
                    bit = np.int64(1) << candidate
                    if inside & bit:
                        without = _share(row[inside ^ bit], weight)
                        edges[tables.candidates[node, candidate], node] += times * probability * max(share - without, 0.0)
        if tables.beyond_start[node + 1] > tables.beyond_start[node]:
            _add_edges_beyond(families, members, own, before, sums, slot, times, edges)


@inlined
def _add_edges_beyond(
    families: BucketFamilies,
    members: Integers,
    own: int,
    before: np.uint64,
    sums: BucketSums,
    slot: int,
    times: float,
    edges: Floats,
) -> None:
    """The same for the parent sets that are not made of candidates alone, one by one.

    A set `P` has the probability `beta(P)` times the sum of `L(T) R(T ∪ i) / L(B)` over the `T` with the members of `P`.
    """
    tables, size, node = families.tables, len(members), members[own]
    forward, backward, supersets = sums.forward[slot], sums.backward, sums.extra
    count = 1 << (size - 1)
    for place in range(count):
        earlier = with_bit_out(place, own)
        supersets[place] = multiply(forward[earlier], backward[earlier | (1 << own)])
    half = 1
    while half < count:
        for start in range(0, count, 2 * half):
            without, with_bit = supersets[start : start + half], supersets[start + half : start + 2 * half]
            for place in range(half):
                without[place] = add(without[place], with_bit[place])
        half *= 2
    whole = forward[(1 << size) - 1]
    largest = log_of(supersets[0]) - log_of(whole)
    allowed = (before | mask_of(members)) & ~(np.uint64(1) << np.uint64(node))
    for position in range(tables.beyond_start[node], tables.beyond_start[node + 1]):
        if tables.beyond_tails[position] + largest < -_NEGLIGIBLE:
            break
        parents = tables.beyond_masks[position]
        if parents & ~allowed == np.uint64(0):
            rest = supersets[_inside_bucket(parents, members, own)]
            probability = _share(multiply(families.beyond[position], rest), whole)
            for parent in range(len(edges)):
                if (parents >> np.uint64(parent)) & np.uint64(1) != np.uint64(0):
                    edges[parent, node] += times * probability
