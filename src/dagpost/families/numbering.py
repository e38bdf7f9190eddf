"""How parent sets are numbered: by size first, then colexicographically.

A node of an `n`-node table chooses its parents from a universe of `n - 1` other nodes. Its parent sets are masks
over that universe, the node itself squeezed out (`squeeze` and `unsqueeze` go between the two). Among sets of one
size, those without the top element come first and those with it follow in the order of the sets they leave
behind. So "restrict to sets without the top node" and "add in the sets with it" are operations on contiguous
slices, which is what the exact tables rest on (docs/design, "Parent sets").
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.kernels import inline_no_refcount, inlined

MAX_NODES = 64
#: What stands for larger entries of the tables: no set that is ever numbered comes near it, and a sum of some is exact.
_SATURATED = 2**56


def family_count(universe: int, max_parents: int) -> int:
    """Number of parent sets of at most `max_parents` nodes out of `universe`."""
    return sum(comb(universe, size) for size in range(min(universe, max_parents) + 1))


@lru_cache(maxsize=64)
def binomials(max_parents: int, elements: int = MAX_NODES) -> NDArray[np.int64]:
    """`C(k, size)` for `k` up to `elements` and size up to `max_parents + 2`, as a read-only array; at most 2^56."""
    table = np.array(
        [[min(comb(k, size), _SATURATED) for size in range(max_parents + 3)] for k in range(elements + 1)],
        dtype=np.int64,
    )
    table.flags.writeable = False
    return table


@lru_cache(maxsize=64)
def size_offsets(max_parents: int, elements: int = MAX_NODES) -> NDArray[np.int64]:
    """Row `u`: where the sets of each size begin among those over `u` elements (one entry more: where they end)."""
    table = np.zeros((elements + 1, max_parents + 2), dtype=np.int64)
    np.cumsum(binomials(max_parents, elements)[:, : max_parents + 1], axis=1, out=table[:, 1:])
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16)
def parent_sets(universe: int, max_parents: int) -> NDArray[np.uint64]:
    """Masks of all parent sets over `universe` elements in their numbering, as a read-only array.

    >>> [f"{mask:03b}" for mask in parent_sets(3, 2)]
    ['000', '001', '010', '100', '011', '101', '110']
    """
    of_size = [np.zeros(1, dtype=np.uint64)]
    for size in range(1, min(max_parents, universe) + 1):
        # The sets with this top element, in the order of what they leave behind: a set over the elements below it.
        smaller, tops = of_size[-1], range(size - 1, universe)
        of_size.append(np.concatenate([smaller[: comb(top, size - 1)] | np.uint64(1 << top) for top in tops]))
    sets = np.concatenate(of_size)
    sets.flags.writeable = False
    return sets


@inlined
def squeeze(mask: np.uint64, node: int) -> np.uint64:
    """A mask over all nodes, without `node`, as a mask over the other nodes."""
    low = (np.uint64(1) << np.uint64(node)) - np.uint64(1)
    return (mask & low) | ((mask >> np.uint64(1)) & ~low)


@inlined
def squeezed(number: Any, node: int) -> Any:
    """`squeeze` for the number of a set in a table, which is a signed integer."""
    return ((number >> (node + 1)) << node) | (number & ((1 << node) - 1))


@inlined
def unsqueeze(mask: np.uint64, node: int) -> np.uint64:
    """A mask over the nodes other than `node` as a mask over all nodes."""
    low = (np.uint64(1) << np.uint64(node)) - np.uint64(1)
    return (mask & low) | ((mask & ~low) << np.uint64(1))


@inline_no_refcount
def number_of_set(mask: np.uint64, universe: int, binomial: NDArray[np.int64], offset: NDArray[np.int64]) -> int:
    """The number of a squeezed parent set; `binomial` and `offset` are the tables of this module."""
    size = 0
    rank = 0
    element = 0
    while mask != np.uint64(0):
        if mask & np.uint64(1):
            size += 1
            rank += binomial[element, size]
        mask >>= np.uint64(1)
        element += 1
    return offset[universe, size] + rank


def unsqueeze_all(masks: NDArray[np.uint64], node: int) -> NDArray[np.uint64]:
    """`unsqueeze` for an array of masks."""
    low = np.uint64((1 << node) - 1)
    return (masks & low) | ((masks & ~low) << np.uint64(1))
