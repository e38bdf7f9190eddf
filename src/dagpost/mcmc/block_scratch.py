"""What the work on blocks of nodes reads and writes: the context of all chains, and room for one block after another.

A set of members of the block is a mask of up to ten bits; `place` is the position of a member in the block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inline_no_refcount, inlined
from dagpost._tools.wide_floats import FRACTION_BITS
from dagpost.families.set_tables import SetTables

#: The most nodes of a block.
MOST_IN_BLOCK = 10
#: Sets of members of the block.
BlockSets = NDArray[np.uint16]

#: Exponents further apart than this: the smaller number does not change the sum.
APART = 44
#: The bits of the exponent of a wide float.
EXPONENT = np.int64(~((1 << FRACTION_BITS) - 1))
_FRACTION = np.int64((1 << FRACTION_BITS) - 1)
_LEAST = np.int64(-1000 << FRACTION_BITS)
_DOUBLE_ONE = np.int64(1023 << 52)


class BlockContext(NamedTuple):
    """What all chains read."""

    tables: SetTables
    #: Where the columns that occur in the sets of each node begin, and these columns.
    candidates: tuple[Integers, Integers]
    #: The nodes that have more than one set.
    movable: Integers
    #: For each node others that may be asked into a block after it, and their cumulative chances.
    partner_start: Integers
    partners: Integers
    partner_chances: Floats


class BlockScratch(NamedTuple):
    """Room for one block after another."""

    #: The nodes of the block, by place.
    members: Integers
    #: The members from which each node can be reached, valid where `seen` has the number of the block; the last is 0.
    ancestors: BlockSets
    seen: Integers
    stack: Integers
    next_parent: Integers
    #: By place: which of the parent sets of the member are in play, those that lead and those of a group.
    first: Integers
    end: Integers
    #: By place: where the sum over a set of members stands in `alpha`, and these sums.
    where: BlockSets
    alpha: Wide
    sums: Floats
    #: By place: how many sums there are; a second half of each row is for projections that hold the member itself.
    counts: Integers
    #: By set of members and place: the exponent of `alpha`.
    alpha_exponents: Integers
    #: By set of members: the exponents of the heaviest order of what follows, and of what comes before.
    after: Integers
    before: Integers
    #: By set of members: `B` in units of 2 to the power of `after`.
    completions: Floats
    #: By set of members: how probable it is that it is closed; by place and sum: what the member holds as a source.
    closed: Floats
    sources: Floats
    #: Members that may well be sources, and subsets of them with the products of their `alpha`.
    live: Integers
    subsets: Integers
    products: Floats
    product_exponents: Integers
    share_new: Floats
    tensor: Floats
    contracted: Floats
    #: By place: the number of the parent set that was drawn.
    chosen: Integers
    #: Two to the power of -44 to 0.
    scales: Floats


@inlined
def room_for_blocks(nodes: int) -> BlockScratch:
    """Room for blocks of a graph of `nodes` nodes."""
    sets = 1 << MOST_IN_BLOCK
    scales = np.empty(APART + 1)
    for step in range(APART + 1):
        scales[step] = 2.0 ** (step - APART)
    return BlockScratch(
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.uint16),
        np.zeros(nodes + 1, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
        np.zeros((MOST_IN_BLOCK, 2), dtype=np.int64),
        np.zeros((MOST_IN_BLOCK, 2), dtype=np.int64),
        np.zeros((MOST_IN_BLOCK, sets), dtype=np.uint16),
        np.zeros((MOST_IN_BLOCK, sets), dtype=np.int64),
        np.zeros(sets),
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        np.zeros((sets, MOST_IN_BLOCK), dtype=np.int64),
        np.zeros(sets, dtype=np.int64),
        np.zeros(sets, dtype=np.int64),
        np.zeros(sets),
        np.zeros(sets),
        np.zeros((MOST_IN_BLOCK, sets)),
        np.zeros(MOST_IN_BLOCK + 1, dtype=np.int64),
        np.zeros(sets, dtype=np.int64),
        np.zeros(sets),
        np.zeros(sets, dtype=np.int64),
        np.zeros(MOST_IN_BLOCK),
        np.zeros(sets),
        np.zeros(sets),
        np.zeros(MOST_IN_BLOCK, dtype=np.int64),
        scales,
    )


@inline_no_refcount
def alpha_of(space: BlockScratch, place: int, inside: int) -> np.int64:
    """The weight of the parent sets of a member that lie inside a set of other members."""
    return space.alpha[place, space.where[place, inside]]


@inline_no_refcount
def fraction_of(value: np.int64) -> float:
    """The fraction of a wide float, in [1, 2)."""
    return np.int64(((value & _FRACTION) << 12) | _DOUBLE_ONE).view(np.float64)


@inline_no_refcount
def in_unit(value: np.int64, unit: np.int64) -> float:
    """A wide float as a double in units of a power of two, itself a wide float; below 2^-1000 it is about that."""
    return np.int64((max(value - unit, _LEAST) << 12) + _DOUBLE_ONE).view(np.float64)
