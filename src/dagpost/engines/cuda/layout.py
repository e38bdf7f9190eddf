"""The sizes of the kernels, how they cut up the subsets of the nodes, and how much memory the cuts need.

Every size that both Python and the device code know is written here, once: `device.compiled` hands it to the compiler.

The nodes fall into three groups: `low` ones, whose subsets are the entries of a block, one block of threads each; `mid`
ones, over whose subsets the weights are summed in one go; and top ones, whose subsets are walked one after the other
as in exact/walk.py. The lowest `slot_bits` of the top nodes are handled together with the mid ones: the blocks of one
*step* are the subsets of both, thousands of them, which keeps a whole device busy.

There are as many low and mid nodes as the shared memory of a block of threads allows: 128 KB at most, which the devices
of computing centres have. Devices made for graphics have 99 KB or 64 KB and get a node or two fewer of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.wide_floats import FRACTION_BITS, NEGLIGIBLE, ZERO, ZERO_LIMIT
from dagpost.families.numbering import family_count, parent_sets, size_offsets

#: widefloat.cuh: the numbers of _tools/wide_floats.py.
WIDE = {
    "FRACTION_BITS": FRACTION_BITS,
    "WIDE_NEGLIGIBLE": NEGLIGIBLE,
    "WIDE_ZERO": int(ZERO),
    "WIDE_ZERO_LIMIT": int(ZERO_LIMIT),
    #: Quotients below two to this power are 0, and factors of a power of two stop there.
    "SMALLEST_SHIFT": -1000,
}
#: order.cu. TILE: parent sets that one block of threads takes through the sums over the mid nodes. GROUP: threads that
#: fill one table of alpha; GROUPS: tables that a block of threads fills at once. PAD_BITS: an empty place after every
#: 2^PAD_BITS places keeps neighbours out of one memory bank.
ORDER = {"TILE": 16, "GROUP": 128, "GROUPS": 4, "PAD_BITS": 4}
ORDER_THREADS = ORDER["GROUP"] * ORDER["GROUPS"]
#: structure.cu. ROWS: the lowest nodes, whose subsets are the sets of one block of threads. NOTHING: the exponent of a
#: set of weight zero.
STRUCTURE = {"ROWS": 4, "WARPS": 8, "NOTHING": -(1 << 25)}
STRUCTURE_THREADS = 32 * STRUCTURE["WARPS"]
#: Threads of a block in sampling.cu and in scores.cu, and where the kernels take any number.
SAMPLING_THREADS = 128
SCORES_THREADS = 256
ANY_THREADS = 256
#: layers.cu. Below the exponent of any number.
LEAST_EXPONENT = -(1 << 30)


@dataclass(frozen=True)
class Sizes:
    """How much a device takes on at once; the defaults suit every device that dagpost has run on."""

    #: The most low nodes, mid nodes, and top nodes that share a step.
    low_nodes: int = 11
    mid_nodes: int = 10
    slot_bits: int = 4
    #: Drawing by layers: entries of the tensors that are begun together, and nodes that one block of threads sums over.
    layer_entries: int = 1 << 27
    folded_nodes: int = 10
    #: Scores: with fewer distinct rows the host is as quick; sets of one launch, between which a run can be stopped.
    fewest_rows: int = 10_000
    sets_per_launch: int = 65_536


USUAL_SIZES = Sizes()


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
        """Number of nodes whose subsets are the blocks of one step."""
        return self.mid + self.slot_bits

    @property
    def tile_bytes(self) -> int:
        """Shared memory of a block of threads that sums over the mid nodes."""
        return 8 * ORDER["TILE"] << self.mid

    @property
    def alpha_bytes(self) -> int:
        """Shared memory for a table of alpha for each of some high nodes."""
        return 8 * ORDER["GROUPS"] * padded(1 << self.low)

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


def sets_of_size(bits: int, size: int) -> NDArray[np.int32]:
    """All sets of `size` of the first `bits` nodes."""
    sets = np.arange(1 << bits, dtype=np.int32)
    chosen: NDArray[np.int32] = sets[np.bitwise_count(sets) == size]
    return chosen


def padded(size: int) -> int:
    """The places that a table of `size` entries takes in shared memory."""
    return size + (size >> ORDER["PAD_BITS"]) + 1


def make_layout(
    nodes: int, max_parents: int, shared_bytes: int | None = None, sizes: Sizes = USUAL_SIZES
) -> DeviceLayout:
    """The groups that `nodes` nodes get where a block of threads has `shared_bytes` (None: as much as it can use).

    >>> layout = make_layout(34, 5)
    >>> layout.low, layout.mid, layout.top, layout.steps
    (11, 10, 13, 512)
    """
    fewer = 0
    while True:
        low = min(nodes, sizes.low_nodes - fewer)
        mid = min(nodes - low, sizes.mid_nodes - fewer)
        layout = DeviceLayout(nodes, min(max_parents, nodes - 1), low, mid, min(sizes.slot_bits, nodes - low - mid))
        if shared_bytes is None or max(layout.tile_bytes, layout.block_bytes) <= shared_bytes:
            return layout
        fewer += 1
