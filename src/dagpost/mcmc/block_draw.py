"""All parent sets of a block of nodes at once, drawn from their exact distribution given the rest of the graph.

The parents of a block follow a modular distribution over the graphs on its members (block_sums.py). Such a graph is
drawn by its source layers, as in sampling/layers.py: with the members `U` placed and `Q` the last layer, a member joins
the next layer with weight `alpha_i(U) - alpha_i(U - Q)`, since it must have a parent in `Q`, and `B` (see
block_completions.py) says what all others can do. Then each member draws a parent set whose projection is inside `U`
and meets `Q`. Nothing is proposed, so nothing is rejected.

What is left after a layer may be a small part `d` of `B(U)`, and the signs cost the digits of `d`. But a draw comes to
such a place with probability at most `d`, so the error stays what doubles resolve.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost._tools.wide_floats import FRACTION_BITS, ratio
from dagpost.families.set_tables import SetTables
from dagpost.mcmc.block_completions import NOTHING, find_live
from dagpost.mcmc.block_scratch import APART, EXPONENT, BlockScratch, alpha_of, fraction_of, in_unit


@inline_no_refcount
def draw_layers(
    tables: SetTables, size: int, numbers: Integers, space: BlockScratch, generator: np.random.Generator
) -> bool:
    """Draw a graph on the block, and the parent set of every member.

    Whether it was done: with a probability that only rounding gives, it fails and nothing is changed.
    """
    everyone = (1 << size) - 1
    placed, last = 0, 0
    while placed != everyone:
        layer = _draw_layer(placed, last, size, space, generator)
        if layer == 0 or space.after[placed | layer] <= NOTHING:
            return False
        for place in range(size):
            if layer >> place & 1:
                space.chosen[place] = _draw_parents(tables, place, placed, last, space, generator)
                if space.chosen[place] < 0:
                    return False
        placed |= layer
        last = layer
    for place in range(size):
        numbers[space.members[place]] = space.chosen[place]
    return True


@inline_no_refcount
def _draw_layer(placed: int, last: int, size: int, space: BlockScratch, generator: np.random.Generator) -> int:
    """The next layer, decided member by member."""
    count = find_live(placed, size, space)
    tensor, share_new = space.tensor, space.share_new
    _fill_tensor(placed, count, space)
    for rank in range(count):
        share_new[rank] = _share_new(space, space.live[rank], placed, last)
    layer = 0
    for rank in range(count - 1, -1, -1):
        half = 1 << rank
        # Those of lower rank are undecided. With the member and without it, everything weighs this much.
        joined = -share_new[rank] * _contract(tensor[half:], rank, share_new, space.contracted)
        for entry in range(half):
            tensor[entry] += tensor[half + entry]
        out = max(_contract(tensor, rank, share_new, space.contracted), 0.0)
        if generator.random() * (joined + out) < joined or (rank == 0 and layer == 0):
            layer |= 1 << space.live[rank]
            for entry in range(half):
                tensor[entry] = -share_new[rank] * tensor[half + entry]
    return layer


@inline_no_refcount
def _share_new(space: BlockScratch, place: int, placed: int, last: int) -> float:
    """Which share of the parent sets inside `placed` meets the last layer; all, if there is none yet."""
    if last == 0:
        return 1.0
    return 1.0 - ratio(alpha_of(space, place, placed & ~last), alpha_of(space, place, placed))


@inline_no_refcount
def _fill_tensor(placed: int, count: int, space: BlockScratch) -> None:
    """`tensor[Y]`, Y a set of live members: (-1)^|Y| * product of their `alpha` * B(placed ∪ Y), in the unit of B."""
    after, subsets, products, exponents = space.after, space.subsets, space.products, space.product_exponents
    subsets[0], products[0], exponents[0] = placed, 1.0, -after[placed]
    space.tensor[0] = space.completions[placed]
    for rank in range(count):
        place = space.live[rank]
        own = alpha_of(space, place, placed)
        fraction, exponent = fraction_of(own), own >> FRACTION_BITS
        half = 1 << rank
        for entry in range(half):
            together = subsets[entry] | 1 << place
            product, power = -products[entry] * fraction, exponents[entry] + exponent
            subsets[half + entry], products[half + entry], exponents[half + entry] = together, product, power
            scale = power + after[together]
            space.tensor[half + entry] = 0.0
            if scale >= -APART:
                space.tensor[half + entry] = product * space.completions[together] * space.scales[scale + APART]


@inline_no_refcount
def _contract(values: Floats, count: int, share_new: Floats, work: Floats) -> float:
    """What everything weighs that `count` undecided members can do; `values` over the sets of them."""
    for entry in range(1 << count):
        work[entry] = values[entry]
    for rank in range(count - 1, -1, -1):
        half = 1 << rank
        for entry in range(half):
            work[entry] += (1.0 - share_new[rank]) * work[half + entry]
    return work[0]


@inline_no_refcount
def _draw_parents(
    tables: SetTables, place: int, placed: int, last: int, space: BlockScratch, generator: np.random.Generator
) -> np.int64:
    """The number of a parent set whose projection is inside `placed` and meets `last`, if there is a last layer.

    -1 if there is no such set.
    """
    whole = alpha_of(space, place, placed)
    unit = whole & EXPONENT
    left = generator.random() * _share_new(space, place, placed, last) * fraction_of(whole)
    width = tables.members.shape[1]
    inside, meeting = np.uint16(placed), np.uint16(last)
    found = np.int64(-1)
    for part in range(2):
        for position in range(space.first[place, part], space.end[place, part]):
            projection = np.uint16(0)
            for step in range(0, width, 2):
                projection |= space.ancestors[tables.members[position, step]]
                projection |= space.ancestors[tables.members[position, step + 1]]
            if projection & ~inside == 0 and (meeting == 0 or projection & meeting != 0):
                found = position - tables.start[space.members[place]]
                left -= in_unit(tables.weights[position], unit)
                if left < 0.0:
                    return found
    return found
