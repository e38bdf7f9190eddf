"""The exact probability of every edge into a block, given the rest of the graph.

The draw of a block (block_draw.py) says of an edge yes or no; the sums behind it know its probability. The mean of
these probabilities over many blocks has the same limit as the share of the edge among the drawn graphs, and less noise.

    p(U) = probability that the members U are closed, that is, have no parents in the rest of the block
    z(U, X) = (-1)^(|X| + 1) * p(U) * product of alpha_i(U) over i in X * B(U ∪ X) / B(U)

Every p(V) is the sum of z(U, X) over U ∪ X = V. With h_i(U) the sum of z(U, X) over the X that hold i, a parent set P
of i whose projection is c has the probability

    w(P) * sum over U ⊇ c of h_i(U) / alpha_i(U)

which is taken in units of alpha_i(c), so that all numbers stay below one. No |z(U, X)| exceeds p(U): sets that are
hardly ever closed are left out.

Cost: as many terms as those of `B` for the sets that are likely closed, and one pass over the likely parent sets.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inline_no_refcount
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO_LIMIT, ratio
from dagpost.families.set_tables import SetTables
from dagpost.mcmc.block_completions import find_live
from dagpost.mcmc.block_scratch import APART, BlockScratch, alpha_of, fraction_of

#: Sets that are closed less often than this are left out.
_RARELY = 1e-9
#: Parent sets that hold less than this in all are left out: 2 to the power of minus 22.
_UNLIKELY = np.int64(-22 << FRACTION_BITS)


@inline_no_refcount
def add_edge_probabilities(tables: SetTables, size: int, space: BlockScratch, edges: Floats) -> None:
    """Add, for every member, the probability of each of its parents to row `edges[member]`."""
    _spread(size, space)
    for place in range(size):
        _add_parents(tables, place, space, edges[space.members[place]])


@inline_no_refcount
def _spread(size: int, space: BlockScratch) -> None:
    """Fill `closed`, and `sources` with h of every member, by the places of its sums."""
    everyone = (1 << size) - 1
    closed, after = space.closed, space.after
    subsets, products, exponents = space.subsets, space.products, space.product_exponents
    for entry in range(everyone + 1):
        closed[entry] = 0.0
    for place in range(size):
        for entry in range(space.counts[place]):
            space.sources[place, entry] = 0.0
    closed[0] = 1.0
    for placed in range(everyone):
        if closed[placed] < _RARELY or space.completions[placed] <= 0.0:
            continue
        count = find_live(placed, size, space)
        found = 1
        subsets[0], products[0] = placed, -closed[placed] / space.completions[placed]
        exponents[0] = -after[placed]
        for rank in range(count):
            place = space.live[rank]
            own = alpha_of(space, place, placed)
            fraction, exponent = fraction_of(own), own >> FRACTION_BITS
            for entry in range(found):
                together = subsets[entry] | 1 << place
                power = exponents[entry] + exponent
                scale = power + after[together]
                if scale >= -APART:
                    product = -products[entry] * fraction
                    part = product * space.completions[together] * space.scales[scale + APART]
                    closed[together] += part
                    new = together & ~placed
                    for source in range(size):
                        if new >> source & 1:
                            space.sources[source, space.where[source, placed]] += part
                    subsets[found], products[found], exponents[found] = together, product, power
                    found += 1


@inline_no_refcount
def _add_parents(tables: SetTables, place: int, space: BlockScratch, edges: Floats) -> None:
    """Add the probabilities of a member's parents to its row."""
    sources, alpha, where = space.sources[place], space.alpha[place], space.where[place]
    sets, width = space.counts[place], tables.members.shape[1]
    stride = 1
    while stride < sets:
        for start in range(0, sets, 2 * stride):
            for inside in range(start, start + stride):
                if sources[inside + stride] != 0.0:
                    sources[inside] += sources[inside + stride] * ratio(alpha[inside], alpha[inside + stride])
        stride *= 2
    least = np.int64(1 << 62)
    for inside in range(sets):
        # What no parent set projects to, or only with noise, has no say.
        if sources[inside] > _RARELY and alpha[inside] > ZERO_LIMIT:
            least = min(least, alpha[inside])
        else:
            sources[inside] = 0.0
    for inside in range(sets, 2 * sets):
        sources[inside] = 0.0
    for part in range(2):
        for position in range(space.first[place, part], space.end[place, part]):
            if tables.tails[position] < least + _UNLIKELY:
                break
            projection = np.uint16(0)
            for step in range(0, width, 2):
                projection |= space.ancestors[tables.members[position, step]]
                projection |= space.ancestors[tables.members[position, step + 1]]
            inside = where[projection]
            if sources[inside] > 0.0:
                probability = sources[inside] * ratio(tables.weights[position], alpha[inside])
                for step in range(width):
                    edges[tables.members[position, step]] += probability
