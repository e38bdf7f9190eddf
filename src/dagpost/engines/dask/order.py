"""The order-modular posterior with its tables on the workers: the sums of exact/order.py, block by block.

Forward: a task for each block, with the blocks of one top node fewer as its inputs (blocks.py), all handed to the
scheduler at once. A block stays where it was computed; a worker fetches a block it needs at most once. Backward: the
same, from the full set down. What a task gathers for the families is added up in the order of the host, wave after
wave, in a chain of tasks for each group of nodes, since the rows of different nodes never meet.

Memory on the cluster: 8 bytes a set for each table, copies of blocks that other workers have fetched (Dask drops them
every two seconds), and `task_bytes` for each thread. Bytes moved: at most `p / 2` times a table in each direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.memory import readable
from dagpost._tools.wide_floats import ZERO
from dagpost.checkpoints import NO_CHECKPOINT, Tracking, tracked
from dagpost.engines.dask.blocks import (
    USUAL_CUT,
    Cut,
    Fetched,
    Kept,
    block_top,
    gathering_top,
    give_back,
    layout_of,
    nodes_in,
    nodes_not_in,
    places_of,
    side_by_side,
    starts_of,
    task_bytes,
)
from dagpost.engines.dask.cluster import Cluster, Room, no_cancel, writeable
from dagpost.errors import ResourceError
from dagpost.exact.order import (
    Forward,
    ForwardTable,
    check_weights,
    log_of_all,
    posterior_of_families,
    require_memory,
    wide_weights,
)
from dagpost.exact.order_blocks import backward_chunk, forward_chunk, gather_chunk
from dagpost.exact.walk import Layout, entries_of, in_waves, make_layout, waves
from dagpost.families.numbering import family_count

#: Groups of nodes whose families are gathered apart. Each is one more task for every block, and tasks take time.
MOST_GROUPS = 4


@dataclass(frozen=True, eq=False)
class ClusterForward(Forward):
    """The forward sums on the cluster: `weights` is a future, and `sums` are the futures of the blocks."""

    layout: Layout
    sums: list[Any]


def forward_table(
    cluster: Cluster, log_weights: Floats, max_parents: int, *, cut: Cut = USUAL_CUT, **tracking: Unpack[Tracking]
) -> ClusterForward:
    """Sum over all orders of every set of nodes, on the cluster."""
    nodes = len(log_weights)
    check_weights(log_weights, max_parents)
    room = cluster.room()
    require_room(nodes, max_parents, room, tables=1)
    top = block_top(nodes, max_parents, room, cut)
    layout = layout_of(nodes, max_parents, top)
    scales = log_weights.max(axis=1)
    weights = cluster.hand_over("weights", wide_weights(log_weights, scales))
    places = places_of(cluster, top)
    blocks: list[Any] = [None] * (1 << top)
    kept = Kept(cluster, blocks, 1 << (nodes - top))
    worth_keeping = _worth_keeping(nodes, cut, tracking)
    with tracked("forward table", in_waves(waves(top)), kept.pieces, **worth_keeping) as (saved, stage):
        kept.put_back(saved.finished)
        for block in saved.left:
            pulled = [blocks[block ^ (1 << node)] for node in nodes_in(block, top)]
            arguments = (False, nodes, max_parents, top, block, weights, *pulled)
            blocks[block] = cluster.submit("forward-table", _fill_block, *arguments, at=places[block])
        for block in saved:
            cluster.finish(blocks[block])
            stage.advance(1)
    last = cluster.result(cluster.submit("evidence", entries, blocks[-1], np.array([-1])))
    return ClusterForward(layout, log_weights, scales, weights, blocks, log_of_all(last, log_weights, max_parents))


def family_probabilities(
    cluster: Cluster,
    forward: ClusterForward,
    *,
    cut: Cut = USUAL_CUT,
    keep_forward: bool = True,
    **tracking: Unpack[Tracking],
) -> Floats:
    """Posterior probability of every parent set of every node, shaped like the weights.

    With `keep_forward=False` the blocks of the forward table are released as soon as they are used; `forward` must
    not be used afterwards.
    """
    layout = forward.layout
    nodes, top = layout.nodes, layout.top
    require_room(nodes, layout.max_parents, cluster.room(), tables=1 + int(keep_forward))
    blocks: list[Any] = [None] * (1 << top)
    given: list[list[Any]] = [[]] * (1 << top)
    gathering = _Gathering(cluster, layout, forward.log_weights.shape, cut)
    kept = Kept(cluster, blocks, 1 << (nodes - top))
    with tracked(
        "edge probabilities",
        waves(top)[::-1],
        kept.pieces_of_wave,
        gathering.state,
        units=1 << top,
        units_of=len,
        kept_as="backward table by waves",
        **_worth_keeping(nodes, cut, tracking),
    ) as (saved, stage):
        kept.put_back(in_waves(saved.finished))
        gathering.begin()
        places = places_of(cluster, top)
        for wave in saved.left:
            for block in wave:
                pulled = [blocks[block | (1 << node)] for node in nodes_not_in(block, top)]
                arguments = (True, nodes, layout.max_parents, top, block, forward.weights, *pulled)
                blocks[block] = cluster.submit("backward-table", _fill_block, *arguments, at=places[block])
                given[block] = gathering.gather(block, forward.sums[block], blocks, places[block])
        gathering.add_up(given)
        for wave in saved:
            for block in wave:
                cluster.finish(blocks[block])
                given[block] = []
                if not keep_forward:
                    forward.sums[block] = None
                stage.advance(1)
            gathering.finish_wave(wave[0].bit_count())
    return posterior_of_families(gathering.result(), forward.log_weights, forward.log_scales, forward.log_total)


def on_host(cluster: Cluster, forward: ClusterForward) -> ForwardTable:
    """The same table in the memory of this machine, fetched block by block."""
    nodes, max_parents = forward.layout.nodes, forward.layout.max_parents
    require_memory(nodes, max_parents, tables=1, workers=1)
    layout = make_layout(nodes, max_parents)
    sums = np.empty(1 << nodes, dtype=np.int64)
    for block, future in enumerate(forward.sums):
        entries_of(forward.layout, sums, block)[:] = cluster.result(future)
    weights = wide_weights(forward.log_weights, forward.log_scales)
    return ForwardTable(layout, forward.log_weights, forward.log_scales, weights, sums, forward.log_total)


def needed_bytes(nodes: int, max_parents: int, room: Room, tables: int) -> int:
    """Memory on all workers together: the tables, the weights everywhere, the tasks under way."""
    top = block_top(nodes, max_parents, room)
    weights = 8 * nodes * family_count(nodes - 1, max_parents)
    return (tables * 8 << nodes) + room.workers * weights + room.threads * task_bytes(nodes, top)


def fits(nodes: int, max_parents: int, room: Room) -> bool:
    """Whether the forward table fits into the memory of the workers."""
    return needed_bytes(nodes, max_parents, room, 1) <= room.memory


def require_room(nodes: int, max_parents: int, room: Room, *, tables: int) -> None:
    """Refuse, with the figures, what fits neither into the memory of the workers nor onto their disks."""
    needed = needed_bytes(nodes, max_parents, room, tables)
    if needed > room.memory + room.disk:
        sizes = range(nodes - 1, 0, -1)
        there = room.memory + room.disk
        fitting = next((size for size in sizes if needed_bytes(size, max_parents, room, tables) <= there), 1)
        raise ResourceError(
            f"The exact table of {nodes} variables needs {readable(needed)} on the cluster; its {room.workers} workers "
            f"have {readable(room.memory)} of memory for it and {readable(room.disk)} of disk. The largest number of "
            f"variables that fits now is {fitting}: add workers, leave columns out, or use a method without tables, "
            "such as 'partial-order-mcmc'."
        )


def _worth_keeping(nodes: int, cut: Cut, tracking: Tracking) -> Tracking:
    """No checkpoint for small tables: they are made in seconds, and how they are cut depends on the workers."""
    return tracking if cut.by_nodes_alone(nodes) else {**tracking, "checkpoint": NO_CHECKPOINT}


class _Gathering:
    """What the waves give to the weights, added up in the order of the host, for groups of nodes apart."""

    def __init__(self, cluster: Cluster, layout: Layout, shape: tuple[int, int], cut: Cut) -> None:
        self._cluster, self._layout, self._shape = cluster, layout, shape
        self._top = gathering_top(layout.nodes, layout.max_parents)
        # One group where all of it takes a second or so: the fewer tasks the better.
        count = min(MOST_GROUPS, layout.nodes) if cut.by_nodes_alone(layout.nodes) else 1
        edges = [layout.nodes * number // count for number in range(count + 1)]
        self.groups = list(pairwise(edges))
        self._read: Wide | None = None
        #: Sums by group: after each wave that is still under way, after the last wave that is done, and in the end.
        self._after: dict[int, list[Any]] = {}
        self._done: list[Any] = []
        self._last: list[Any] = []

    def state(self) -> list[Any]:
        """What a checkpoint keeps: the sums after the last wave that is done."""
        if not self._done:
            self._read = np.full(self._shape, ZERO, dtype=np.int64) if self._read is None else self._read
            return [self._read]
        return [Fetched(8 * math.prod(self._shape), lambda: self._fetched(self._done))]

    def begin(self) -> None:
        """Start with nothing, or with what was read."""
        if self._read is None:
            self._done = [self._cluster.submit("families", _nothing, b - a, self._shape[1]) for a, b in self.groups]
        else:
            self._done = [self._cluster.hand_over("families", self._read[a:b]) for a, b in self.groups]

    def gather(self, block: int, forward: Any, backward: list[Any], at: str | None) -> list[Any]:
        """What a block gives to each group of nodes; the blocks around it matter to top nodes only."""
        layout = self._layout
        inner = layout.nodes - layout.top
        futures = []
        for first, last in self.groups:
            across = [node for node in nodes_not_in(block, layout.top) if first <= inner + node < last]
            pulled = [backward[block | (1 << node)] for node in across]
            head = (layout.nodes, layout.max_parents, layout.top, block, (first, last), across)
            arguments = (*head, forward, backward[block], *pulled)
            futures.append(self._cluster.submit("given-to-families", _gather_block, *arguments, at=at))
        return futures

    def add_up(self, given: list[list[Any]]) -> None:
        """Hand over the chains of additions: a link for each wave of chunks and each group."""
        layout, top, places = self._layout, self._top, self._cluster.places()
        inner = top - layout.top
        self._last = self._done
        # Where blocks hold several chunks, all waves are one link: no checkpoint asks for a state between them.
        steps = [in_waves(waves(top)[::-1])] if inner else waves(top)[::-1]
        for step in steps:
            chunks = [chunk for chunk in step if given[chunk >> inner]]
            blocks = sorted({chunk >> inner for chunk in chunks})
            if not chunks:
                continue
            links = []
            for group, (first, _) in enumerate(self.groups):
                parts = [given[block][group] for block in blocks]
                head = (layout.nodes, layout.max_parents, top, first, chunks, blocks, inner)
                at = places.of(group, len(self.groups))
                links.append(self._cluster.submit("families", _add_wave, *head, self._last[group], *parts, at=at))
            self._last = links
            if inner == 0:
                self._after[step[0].bit_count()] = links

    def finish_wave(self, size: int) -> None:
        """A wave of blocks is done: so is what it gives, where blocks are chunks."""
        if size in self._after:
            self._done = self._after.pop(size)
            for link in self._done:
                self._cluster.finish(link)

    def result(self) -> Wide:
        """All rows."""
        return self._fetched(self._last)

    def _fetched(self, parts: list[Any]) -> Wide:
        return np.concatenate([np.asarray(part) for part in self._cluster.gather(parts)])


def _fill_block(
    backward: bool, nodes: int, max_parents: int, top: int, block: int, weights: Wide, *pulled: Wide
) -> Wide:
    """The forward or the backward sums of a block, from the blocks it pulls from."""
    layout, size = layout_of(nodes, max_parents, top), 1 << (nodes - top)
    sums = side_by_side(size, pulled)
    starts = starts_of(top, nodes_not_in(block, top) if backward else nodes_in(block, top), size)
    if backward:
        backward_chunk(layout, writeable(weights), sums[:0], sums, starts, block, False, no_cancel())
    else:
        forward_chunk(layout, writeable(weights), sums, starts, block, no_cancel())
    return sums[:size].copy()


def _gather_block(
    nodes: int,
    max_parents: int,
    top: int,
    block: int,
    group: tuple[int, int],
    across: list[int],
    forward: Wide,
    backward: Wide,
    *pulled: Wide,
) -> Wide:
    """What each chunk of a block gives to a group of nodes: (chunks, nodes, sets)."""
    gathered_top = gathering_top(nodes, max_parents)
    layout = layout_of(nodes, max_parents, gathered_top)
    inner = gathered_top - top
    size, chunk_size = 1 << (nodes - top), 1 << (nodes - gathered_top)
    sums = side_by_side(size, pulled)
    sums[:size] = backward
    starts = starts_of(top, across, size)
    forward = writeable(forward)
    given = []
    for number in range(1 << inner):
        within = [(number ^ (1 << node)) * chunk_size for node in range(inner)]
        around = np.array([*within, *(starts + number * chunk_size)], dtype=np.int64)
        own = forward[number * chunk_size : (number + 1) * chunk_size]
        given.append(gather_chunk(layout, own, sums, around, (block << inner) | number, *group, no_cancel()))
    return np.stack(given).reshape(1 << inner, group[1] - group[0], -1)


def _nothing(rows: int, columns: int) -> Wide:
    return np.full((rows, columns), ZERO, dtype=np.int64)


def _add_wave(
    nodes: int,
    max_parents: int,
    top: int,
    first: int,
    chunks: list[int],
    blocks: list[int],
    inner: int,
    sums: Wide,
    *given: Wide,
) -> Wide:
    """The sums for some nodes with what one wave of chunks gives."""
    layout = layout_of(nodes, max_parents, top)
    # A new array: the old one may be needed again if this task is.
    sums = sums.copy()
    by_block = dict(zip(blocks, given, strict=True))
    for chunk in chunks:
        contribution = writeable(by_block[chunk >> inner][chunk & ((1 << inner) - 1)])
        give_back(layout, contribution.reshape(-1), sums, chunk, first)
    return sums


def entries(block: Wide, places: Integers) -> Wide:
    """Some entries of a block, looked up where it is."""
    found: Wide = block[places]
    return found
