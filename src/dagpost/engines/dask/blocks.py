"""How is a table over all sets of nodes cut into blocks that fit the workers, and what is known of each block?

A block holds the sets with one subset of the top `p` nodes; it needs the blocks with one top node fewer (or more). The
sums of a table are the same to the last bit however it is cut. What is gathered for the families is not, since it is
added chunk by chunk. Therefore the chunks of `gathering_top`, which are those of the host up to 29 nodes, stay whole
inside blocks, and a result never depends on the number of workers.

A small table (`Cut.small`) is made in seconds, and its blocks are as large as keeps all threads busy: the widest wave
has three for each thread. (A task costs about a millisecond; larger blocks leave threads idle between waves, on
two workers a tenth of the time at n = 22 and 24.) In a larger table a block is one chunk, so that a checkpoint fits any
cluster; from 30 nodes on, chunks have 2^22 entries (33 MB), where the host stays with 128 chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from dagpost._tools.arrays import Integers, Wide
from dagpost._tools.kernels import kernel
from dagpost.engines.dask.cluster import Cluster, Room
from dagpost.exact.order_blocks import give_back_nodes
from dagpost.exact.walk import Layout, layout_with_top, make_layout, waves

_LARGEST_CHUNK_BITS = 22


@dataclass(frozen=True)
class Cut:
    """How tables are cut into blocks."""

    #: Up to this number of nodes it depends on the number of threads.
    small: int = 24
    #: The number of top nodes across blocks; None: as the module says.
    top: int | None = None

    def by_nodes_alone(self, nodes: int) -> bool:
        """Whether all clusters cut a table of this number of nodes in the same way."""
        return nodes > self.small


USUAL_CUT = Cut()


def gathering_top(nodes: int, max_parents: int) -> int:
    """The number of top nodes across the chunks in which families are gathered; depends on `nodes` alone."""
    return max(make_layout(nodes, max_parents).top, nodes - _LARGEST_CHUNK_BITS)


def block_top(nodes: int, max_parents: int, room: Room, cut: Cut = USUAL_CUT) -> int:
    """The number `p` of top nodes across blocks.

    >>> [block_top(22, 5, Room(threads, threads, threads << 30, 0)) for threads in (1, 2, 4, 16)]
    [3, 4, 6, 6]
    """
    if cut.top is not None:
        return cut.top
    most = gathering_top(nodes, max_parents)
    if cut.by_nodes_alone(nodes):
        return most
    enough = (p for p in range(2, most) if comb(p, p // 2) >= 3 * room.threads and _fits(nodes, p, room))
    return next(enough, most)


def task_bytes(nodes: int, top: int) -> int:
    """Most memory of a task: the blocks it pulls from, as they came and side by side, and its own block twice."""
    return (2 * top + 2) * 8 << (nodes - top)


def _fits(nodes: int, top: int, room: Room) -> bool:
    return 2 * task_bytes(nodes, top) <= room.memory_per_thread


@lru_cache(maxsize=8)
def layout_of(nodes: int, max_parents: int, top: int) -> Layout:
    """The layout of a task, made where the task runs: it is larger than what it is made from."""
    return layout_with_top(nodes, max_parents, top)


def side_by_side(size: int, pulled: tuple[Wide, ...]) -> Wide:
    """Room for a block of `size` entries, and behind it the blocks it pulls from."""
    sums = np.empty((1 + len(pulled)) * size, dtype=np.int64)
    for number, piece in enumerate(pulled, start=1):
        sums[number * size : (number + 1) * size] = piece
    return sums


def starts_of(top: int, across: list[int], size: int) -> Integers:
    """Where the blocks of `side_by_side` begin, by the top node they differ in (-1: none); last, the block itself."""
    starts = np.full(top + 1, -1, dtype=np.int64)
    for number, node in enumerate(across, start=1):
        starts[node] = number * size
    starts[top] = 0
    return starts


def nodes_in(block: int, top: int) -> list[int]:
    """The top nodes in a block, by their position among the top ones."""
    return [node for node in range(top) if (block >> node) & 1]


def nodes_not_in(block: int, top: int) -> list[int]:
    """The top nodes that are not in a block."""
    return [node for node in range(top) if not (block >> node) & 1]


def places_of(cluster: Cluster, top: int) -> list[str | None]:
    """A worker for every block.

    The blocks of a wave go to all workers; neighbours in the numbering, which share most of what they pull, go to the
    same one.
    """
    workers = cluster.places()
    places: list[str | None] = [None] * (1 << top)
    for wave in waves(top):
        for number, block in enumerate(wave):
            places[block] = workers.of(number, len(wave))
    return places


class Fetched:
    """Stands for an array on the cluster whose size is known; fetched when its contents are needed."""

    def __init__(self, size: int, fetch: Any) -> None:
        self.nbytes = size
        self._fetch = fetch

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The array itself."""
        del dtype, copy
        return self._fetch()


class Kept:
    """The blocks of a table, `size` entries each, as a checkpoint sees them: on the cluster, or read into buffers."""

    def __init__(self, cluster: Cluster, blocks: list[Any], size: int) -> None:
        self._cluster, self._blocks, self._size = cluster, blocks, size
        self._buffers: dict[int, Wide] = {}

    def pieces(self, block: int) -> list[Any]:
        """The array of a block, or the buffer to read it into."""
        future = self._blocks[block]
        if future is None:
            return [self._buffers.setdefault(block, np.empty(self._size, dtype=np.int64))]
        return [Fetched(8 * self._size, lambda: self._cluster.result(future))]

    def pieces_of_wave(self, wave: list[int]) -> list[Any]:
        """Those of all blocks of a wave."""
        return [piece for block in wave for piece in self.pieces(block)]

    def put_back(self, blocks: Sequence[int]) -> None:
        """Hand over blocks that were read to the cluster."""
        for block in blocks:
            (self._blocks[block],) = self._cluster.scatter([self._buffers.pop(block)])


@kernel
def give_back(layout: Layout, contribution: Wide, gathered: Wide, chunk: int, first: int) -> None:
    """Add what a chunk gives to the weights of some nodes, from `first` on."""
    give_back_nodes(layout, contribution, gathered, chunk, first)
