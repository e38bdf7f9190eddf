"""How the subsets of the nodes are cut up for a device, and how much of its memory the cuts need.

The nodes fall into three groups: `low` ones, whose subsets are the entries of a block, one block of threads each; `mid`
ones, over whose subsets the weights are summed in one go; and top ones, whose subsets are walked one after the other
as in exact/walk.py. The lowest `slot_bits` of the top nodes are handled together with the mid ones: the blocks of one
*step* are the subsets of both, thousands of them, which keeps a whole device busy.

The low and the mid nodes are as many as the shared memory of a block of threads allows: 128 KB at most, which the
devices of computing centres have; those made for graphics have 99 KB or 64 KB and get a node or two fewer of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagpost.families.numbering import family_count, parent_sets, size_offsets

_LOW_NODES = 11
_MID_NODES = 10
_SLOT_BITS = 4
#: Parent sets that one block of threads takes through the sums over the mid nodes; nodes whose tables it holds at once.
TILE = 16
_GROUPS = 4


@dataclass(frozen=True)
class DeviceLayout:
    """The groups that `nodes` nodes fall into: the first `low`, the next `mid`, and `top`; see the module."""

    nodes: int
    max_parents: int
    low: int
    mid: int
    slot_bits: int

    @property
    def below(self) -> int:
        """Number of nodes that are not top nodes."""
        return self.low + self.mid

    @property
    def top(self) -> int:
        """Number of nodes whose subsets are walked."""
        return self.nodes - self.below

    @property
    def inner_bits(self) -> int:
        """The blocks of one step are the subsets of so many nodes."""
        return self.mid + self.slot_bits

    @property
    def tile_bytes(self) -> int:
        """Shared memory of a block of threads that sums over the mid nodes."""
        return 8 * TILE << self.mid

    @property
    def alpha_bytes(self) -> int:
        """Shared memory for a table of alpha for each of some high nodes."""
        return 8 * _GROUPS * padded(1 << self.low)

    @property
    def block_bytes(self) -> int:
        """Shared memory of a block of threads that fills a block: tables of alpha, and the block itself."""
        return max(self.alpha_bytes, 8 * self.low * padded(1 << (self.low - 1))) + (8 << self.low)

    @property
    def steps(self) -> int:
        """Number of steps, one for each subset of the top nodes that share no slots."""
        return 1 << (self.top - self.slot_bits)

    @property
    def families(self) -> int:
        """Parent sets of a node."""
        return family_count(self.nodes - 1, self.max_parents)

    @property
    def row_sets(self) -> int:
        """Parent sets over the low nodes that have room for one more."""
        return int(size_offsets(self.max_parents)[self.low, self.max_parents])

    @property
    def all_sets(self) -> int:
        """Parent sets over the low nodes."""
        return int(size_offsets(self.max_parents)[self.low, self.max_parents + 1])

    @cached_property
    def level_bases(self) -> NDArray[np.int64]:
        """Where the restricted sums of every level of the walk begin; the last entry is where they end."""
        widths = [self.nodes * family_count(self.below + level, self.max_parents) for level in range(self.top)]
        return np.concatenate([[0], np.cumsum(widths, dtype=np.int64)]).astype(np.int64)

    def inners_of_size(self, size: int) -> NDArray[np.int32]:
        """The blocks of a step that have `size` nodes of its mid and slot nodes: they do not need each other."""
        inners = np.arange(1 << self.inner_bits, dtype=np.int32)
        chosen: NDArray[np.int32] = inners[np.bitwise_count(inners) == size]
        return chosen

    def places(self, bits: int) -> NDArray[np.uint16]:
        """The masks over `bits` low nodes: parent sets in their numbering first, then all others."""
        sets = parent_sets(bits, self.max_parents).astype(np.uint16)
        others = np.setdiff1d(np.arange(1 << bits, dtype=np.uint16), sets)
        return np.concatenate([sets, others])

    def bytes_needed(self, *, backward: bool) -> int:
        """Memory of the tables and of everything beside them."""
        rows = (self.nodes << (self.mid + self.slot_bits)) * self.row_sets
        numbers = (1 << self.nodes) + self.nodes * self.families + rows + int(self.level_bases[-1])
        if backward:
            given = (self.nodes << (self.mid + self.slot_bits)) * self.all_sets
            numbers += self.nodes * self.families + given + int(self.level_bases[-1])
            numbers += 1 << (self.low + self.inner_bits)
        return 8 * numbers + (64 << 20)


def padded(size: int) -> int:
    """The places that a table of `size` entries takes in shared memory."""
    return size + (size >> 4) + 1


def make_layout(nodes: int, max_parents: int, shared_bytes: int | None = None) -> DeviceLayout:
    """The groups that `nodes` nodes get where a block of threads has so much shared memory (None: all it can use).

    >>> layout = make_layout(34, 5)
    >>> layout.low, layout.mid, layout.top, layout.steps
    (11, 10, 13, 512)
    """
    fewer = 0
    while True:
        low = min(nodes, _LOW_NODES - fewer)
        mid = min(nodes - low, _MID_NODES - fewer)
        layout = DeviceLayout(nodes, min(max_parents, nodes - 1), low, mid, min(_SLOT_BITS, nodes - low - mid))
        if shared_bytes is None or max(layout.tile_bytes, layout.block_bytes) <= shared_bytes:
            return layout
        fewer += 1
