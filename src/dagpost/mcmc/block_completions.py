"""What the rest of a block can do once some of its members are placed, in one number for every set of members.

    B(U) = weight of all that the members outside U can do once U is placed
         = sum over X ⊆ S - U, not empty, of (-1)^(|X| + 1) * product of alpha_i(U) over i in X * B(U ∪ X)

No term of `B(U)` exceeds `B(U)`: graphs in which all of `X` are sources are some of all graphs. Hence the signs lose
few digits, and a term that is small can be left out together with those of all larger `X`.

Units. The heaviest order in which the members outside `U` can follow, an easy recursion over exponents, weighs no more
than `B(U)`, and less than that by a factorial at most: it gives the unit of `B(U)`. The same recursion from the other
side tells how heavy an order can be that passes `U`. Where that is negligible beside the heaviest order of all, the
graphs in which `U` is closed (no parents outside) are too, and `B(U)` is not needed: that spares most sets.

Cost: `s 2^s` additions of exponents, and a few terms, `3^s` at most in all, for the sets that matter.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.kernels import inline_no_refcount
from dagpost._tools.wide_floats import FRACTION_BITS
from dagpost.mcmc.block_scratch import APART, BlockScratch, alpha_of, fraction_of

#: An order lighter than the heaviest one by this power of two: there are at most 10! orders, and each of ten factors
#: may be twice as large as its exponent says, so what all of them hold is below 2^-28.
_OUT_OF_REACH = 60
#: `after` of a set of members that no order of any weight passes.
NOTHING = np.int64(-(1 << 50))


@inline_no_refcount
def sum_completions(size: int, space: BlockScratch) -> None:
    """Fill `after` and `completions` for every set of members, from the whole block down."""
    everyone = (1 << size) - 1
    after, before, exponents = space.after, space.before, space.alpha_exponents
    after[everyone] = 0
    # Members that are placed have no weight there, so nobody needs to ask who is.
    for placed in range(everyone - 1, -1, -1):
        best = NOTHING
        after[placed] = before[placed] = NOTHING
        for place in range(size):
            exponent = alpha_of(space, place, placed) >> FRACTION_BITS
            exponents[placed, place] = exponent
            best = max(best, exponent + after[placed | 1 << place])
        after[placed] = best
    before[everyone] = NOTHING
    before[0] = 0
    least = after[0] - _OUT_OF_REACH
    for placed in range(everyone):
        if before[placed] + after[placed] >= least:
            for place in range(size):
                further = placed | 1 << place
                before[further] = max(before[further], before[placed] + exponents[placed, place])
    space.completions[everyone] = 1.0
    for placed in range(everyone - 1, -1, -1):
        if before[placed] + after[placed] < least:
            after[placed] = NOTHING
        else:
            _complete(placed, size, space)


@inline_no_refcount
def find_live(placed: int, size: int, space: BlockScratch) -> int:
    """List the members that may well be sources once `placed` are: how many."""
    least = space.after[placed] - APART
    count = 0
    for place in range(size):
        space.live[count] = place
        count += space.alpha_exponents[placed, place] + space.after[placed | 1 << place] >= least
    return count


@inline_no_refcount
def _complete(placed: int, size: int, space: BlockScratch) -> None:
    """Sum the terms of `B(placed)`; a set of live members whose term is negligible is not extended."""
    after, subsets, products, exponents = space.after, space.subsets, space.products, space.product_exponents
    count = find_live(placed, size, space)
    total = 0.0
    found = 1
    subsets[0], products[0], exponents[0] = placed, -1.0, -after[placed]
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
                total += product * space.completions[together] * space.scales[scale + APART]
                subsets[found], products[found], exponents[found] = together, product, power
                found += 1
    space.completions[placed] = total
    if total <= 0.0:
        # Only rounding is left: no graph of any weight passes here.
        space.completions[placed] = 0.0
        after[placed] = NOTHING
