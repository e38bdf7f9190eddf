"""The weight of all ways to complete every set, `B` of exact/completions.py, in blocks that stay on the workers.

A task finishes one block of leaves from the blocks above it; a worker fetches each of these once. What a block gives to
the families and paths is added up in the order of the host, wave after wave of blocks, in a chain of tasks for each
group of nodes. Blocks depend on the number of nodes only, as on the host: results are the same to the last bit.

Memory on the cluster: 12 bytes a set, copies of blocks that other workers have fetched, and what the blocks of a wave
give. A task holds what lies above its block: 12 bytes a set as it came, 12 side by side, and 16 in its rows. For the
last block, that is every set (`bytes_on_worker`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from dagpost._tools.arrays import Exponents, Floats, Wide
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO
from dagpost.checkpoints import Tracking, tracked
from dagpost.engines.dask.blocks import Fetched, Kept, give_back, layout_of, part_of, places_of
from dagpost.engines.dask.cluster import Cluster, Room, no_cancel, writeable
from dagpost.exact.alternating import block_leaves, group_top
from dagpost.exact.completions import completions_of_leaf
from dagpost.exact.walk import in_waves, waves

#: What the leaves of a block give (or the sums of that) to the weights of some nodes, to paths and to the error.
_Given = tuple[Wide, Floats, Floats]
#: Groups of nodes whose families are added up apart, where that takes a second or more.
_NODE_GROUPS = 4
_NODES_WORTH_IT = 22


@dataclass(frozen=True, eq=False)
class GraphSums:
    """What the sums over graphs leave on the cluster: weights, `A` and its exponents by group; and `A` of all nodes."""

    nodes: int
    max_parents: int
    weights: Any
    exponents: list[Any]
    groups: list[Any]
    evidence: float
    evidence_exponent: int


@dataclass(frozen=True, eq=False)
class Completions:
    """Futures of `B` with its exponents by blocks; what all blocks give to weights, to paths, to the error bound."""

    blocks: list[Any]
    gathered: Wide
    paths: Floats
    error: float


def completions(
    cluster: Cluster,
    graphs: GraphSums,
    shape: tuple[int, int],
    node_groups: int | None = None,
    **tracking: Unpack[Tracking],
) -> Completions:
    """Finish `B` and gather the families and paths."""
    nodes = graphs.nodes
    top = block_top(nodes)
    finer = top - group_top(nodes)
    places = places_of(cluster, top)
    blocks: list[Any] = [None] * (1 << top)
    kept = Kept(cluster, blocks, 1 << (nodes - top), np.float64, np.int32)
    sums = _Sums(cluster, nodes, graphs.max_parents, shape, node_groups or _node_group_count(nodes))
    with tracked(
        "families and paths",
        waves(top)[::-1],
        kept.pieces_of_wave,
        sums.state,
        units=3**top,
        units_of=lambda wave: len(wave) << (top - wave[0].bit_count()),
        kept_as="families and paths by waves of blocks",
        **tracking,
    ) as (saved, stage):
        kept.put_back(in_waves(saved.finished))
        sums.begin()
        for wave in saved.left:
            given = []
            for block in wave:
                above = supersets(block, top)[1:]
                head = (nodes, graphs.max_parents, block, above, sums.node_groups)
                group = block >> finer
                evidence = (graphs.evidence, graphs.evidence_exponent)
                own = (*evidence, graphs.weights, graphs.exponents[group], graphs.groups[group])
                arguments = (*head, *own, *(blocks[other] for other in above))
                whole = cluster.submit("completions", _complete, *arguments, at=places[block])
                blocks[block], *own_given = (
                    cluster.submit("completions-block", part_of, whole, number, at=places[block])
                    for number in range(1 + len(sums.node_groups))
                )
                given.append(own_given)
            sums.add_wave(wave, given)
        for wave in saved:
            for block in wave:
                cluster.finish(blocks[block])
                stage.advance(1 << (top - block.bit_count()))
            sums.wave_is_done(wave[0].bit_count())
    gathered, paths, error = sums.result()
    return Completions(blocks, gathered, paths, error)


def block_top(nodes: int) -> int:
    """The number of top nodes whose subsets number the blocks."""
    return int(layout_of(nodes, 1, nodes).top) - block_leaves(nodes)


def bytes_on_worker(nodes: int, max_parents: int, room: Room) -> int:
    """Most memory of the tasks that run on one worker.

    >>> [bytes_on_worker(26, 5, Room(workers, 64, 0, 0, 0)) >> 20 for workers in (64, 8, 1)]
    [2560, 3904, 25408]
    """
    top, threads = block_top(nodes), room.threads_per_worker
    # The tasks of a wave go to all workers; the tasks of one worker share what they fetched.
    at_once = (min(threads, -(-math.comb(top, size) // room.workers)) * 28 << (nodes - size) for size in range(top + 1))
    # What the largest wave gives to a group of nodes: 8 bytes for each leaf, node and set of low nodes.
    group = -(-nodes // _node_group_count(nodes))
    layout = layout_of(nodes, max_parents, nodes)
    width = int(layout.offset[layout.low, max_parents + 1])
    given = 8 * math.comb(top, top // 2) * group * width << block_leaves(nodes)
    return max((12 << nodes) + max(at_once), given)


def supersets(block: int, top: int) -> list[int]:
    """The sets of `top` nodes that contain a set, itself first, in the order of their numbers."""
    found = [block]
    while found[-1] < (1 << top) - 1:
        found.append((found[-1] + 1) | block)
    return found


def _node_group_count(nodes: int) -> int:
    return _NODE_GROUPS if nodes >= _NODES_WORTH_IT else 1


class _Sums:
    """What the waves give to weights, paths and the error bound, added up for groups of nodes apart."""

    def __init__(self, cluster: Cluster, nodes: int, max_parents: int, shape: tuple[int, int], count: int) -> None:
        self._cluster, self._head, self._shape = cluster, (nodes, max_parents), shape
        self.node_groups = list(pairwise(nodes * number // count for number in range(count + 1)))
        self._last: list[Any] = []
        #: The sums by the size of the wave that gave last, and after the last wave that is done.
        self._after: dict[int, list[Any]] = {}
        self._done: list[Any] = []
        self._read: tuple[Wide, Floats, Floats] | None = None

    def state(self) -> list[Any]:
        """What a checkpoint keeps: gathered, paths, error."""
        if self._done:
            nodes = self._head[0]
            sizes = 8 * math.prod(self._shape), 8 * nodes * nodes, 8
            return [Fetched(size, lambda part=part: self._fetched(self._done)[part]) for part, size in enumerate(sizes)]
        if self._read is None:
            self._read = self._nothing()
        return list(self._read)

    def begin(self) -> None:
        """Start with nothing, or with what was read."""
        gathered, paths, error = self._read or self._nothing()
        parts = [(gathered[first:last], paths, error) for first, last in self.node_groups]
        self._last = self._done = [self._cluster.hand_over("families-and-paths", part) for part in parts]
        self._read = None

    def add_wave(self, wave: list[int], given: list[list[Any]]) -> None:
        """Hand over the additions of a wave, a task for each group of nodes; `given` by blocks, then groups."""
        workers = self._cluster.places()
        links = []
        for number, (first, _) in enumerate(self.node_groups):
            at = workers.of(number, len(self.node_groups))
            arguments = (*self._head, first, wave, self._last[number], *(parts[number] for parts in given))
            links.append(self._cluster.submit("families-and-paths", _add_wave, *arguments, at=at))
        self._last = self._after[wave[0].bit_count()] = links

    def wave_is_done(self, size: int) -> None:
        """Wait for the additions of a wave; a checkpoint keeps their sums from now on."""
        self._done = self._after.pop(size)
        for link in self._done:
            self._cluster.finish(link)

    def result(self) -> tuple[Wide, Floats, float]:
        """Gathered, paths, error after the last wave."""
        gathered, paths, error = self._fetched(self._last)
        return gathered, paths, float(error[0])

    def _fetched(self, parts: list[Any]) -> tuple[Wide, Floats, Floats]:
        found = self._cluster.gather(parts)
        return np.concatenate([gathered for gathered, _, _ in found]), found[0][1].copy(), found[0][2]

    def _nothing(self) -> tuple[Wide, Floats, Floats]:
        nodes = self._head[0]
        return np.full(self._shape, ZERO, dtype=np.int64), np.zeros((nodes, nodes)), np.zeros(1)


def _complete(
    nodes: int,
    max_parents: int,
    block: int,
    above: list[int],
    node_groups: list[tuple[int, int]],
    evidence: float,
    evidence_exponent: int,
    weights: Wide,
    graph_exponents: Exponents,
    graphs: Floats,
    *completed: tuple[Floats, Exponents],
) -> tuple[tuple[Floats, Exponents], *tuple[_Given, ...]]:
    """`B` of a block; and what its leaves give, for each group of nodes apart.

    Only the parts of the tables that the kernel looks at are filled; the rest is memory that is never touched.
    """
    layout, inner = layout_of(nodes, max_parents, nodes), block_leaves(nodes)
    size = 1 << (layout.low + inner)
    own = slice(block * size, (block + 1) * size)
    place_in_group = block % (len(graphs) // size) * size
    table, sums = np.empty(1 << nodes), np.empty(1 << nodes, dtype=np.int64)
    table[-1], sums[-1] = evidence, evidence_exponent << FRACTION_BITS
    table[own] = graphs[place_in_group : place_in_group + size]
    sums[own] = graph_exponents[place_in_group : place_in_group + size].astype(np.int64) << FRACTION_BITS
    values, exponents = np.empty(1 << nodes), np.empty(1 << nodes, dtype=np.int32)
    for other, (its_values, its_exponents) in zip(above, completed, strict=True):
        values[other * size : (other + 1) * size] = its_values
        exponents[other * size : (other + 1) * size] = its_exponents
    weights = writeable(weights)
    given = {}
    for wave in waves(inner)[::-1]:
        for leaf in wave:
            arguments = (table, values, exponents, (block << inner) | leaf, -1, np.empty(0), no_cancel())
            given[leaf] = completions_of_leaf(layout, weights, sums, *arguments)
    contributions, paths, errors = zip(*(given[leaf] for leaf in range(1 << inner)), strict=True)
    width = len(contributions[0]) // nodes
    ends = [(first * width, last * width) for first, last in node_groups]
    parts = [np.stack([contribution[begin:end] for contribution in contributions]) for begin, end in ends]
    all_paths, all_errors = np.stack(paths), np.array(errors)
    return (values[own].copy(), exponents[own].copy()), *((part, all_paths, all_errors) for part in parts)


def _add_wave(nodes: int, max_parents: int, first: int, wave: list[int], before: _Given, *given: _Given) -> _Given:
    """The sums with what a wave of blocks gives, for some nodes from `first` on."""
    layout, inner = layout_of(nodes, max_parents, nodes), block_leaves(nodes)
    # New arrays: the old ones may be needed again if this task is.
    gathered, paths, error = before[0].copy(), before[1].copy(), before[2].copy()
    for within in waves(inner)[::-1]:
        for block, (contributions, block_paths, block_errors) in zip(wave, given, strict=True):
            for leaf in within:
                give_back(layout, writeable(contributions[leaf]), gathered, (block << inner) | leaf, first)
                paths += block_paths[leaf]
                error += block_errors[leaf]
    return gathered, paths, error
