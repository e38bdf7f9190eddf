"""The weight of all graphs on every set of nodes, `A` of exact/graph_sums.py, in groups that stay on the workers.

One task finishes a group, from what the groups below it gave; for each group above, another task makes what the group
gives there (exact/graph_groups.py). A task for each group that receives adds this up as the host does, wave after wave.
So all `3^p` large tasks have the same size, and each result moves to at most one other worker and is released once it
is added. Groups depend on the number of nodes only, as on the host: results are the same to the last bit.

Memory on the cluster: 12 bytes a set for the sums and their exponents; what the groups of a wave give, `3^p * 2^(n-p)`
doubles in all and a quarter to a third of that at once; the alphas of the groups that give, some 27 bytes a set.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from dagpost._tools.arrays import Exponents, Floats, Wide
from dagpost._tools.wide_floats import FRACTION_BITS
from dagpost.checkpoints import Tracking, tracked
from dagpost.engines.dask.blocks import Fetched, part_of, places_of
from dagpost.engines.dask.cluster import Cluster, no_cancel, writeable
from dagpost.engines.dask.order import ClusterForward
from dagpost.exact.alternating import group_top
from dagpost.exact.graph_groups import alphas_of_group, give, group_layout, leaf_order
from dagpost.exact.walk import waves


def bytes_of_task(nodes: int) -> int:
    """Most memory of a task that gives: alphas as they came and its own copy, and a dozen numbers a set.

    >>> [round(bytes_of_task(nodes) / 2**nodes, 1) for nodes in (18, 20, 24, 28)]
    [32.0, 34.0, 2.6, 0.4]
    """
    top = group_top(nodes)
    inner = nodes - top
    return (8 * (2 * (inner // 2 + top) + 12)) << inner


def exponents_of_groups(cluster: Cluster, forward: ClusterForward) -> list[Any]:
    """Futures of the binary exponents of the order-modular sums, group by group."""
    top = group_top(forward.layout.nodes)
    finer = forward.layout.top - top
    places = places_of(cluster, top)
    futures = []
    for group in range(1 << top):
        if finer >= 0:
            part, parts, blocks = 0, 1, forward.sums[group << finer : (group + 1) << finer]
        else:
            parts = 1 << -finer
            part, blocks = group % parts, [forward.sums[group // parts]]
        futures.append(cluster.submit("graph-exponents", _exponents, part, parts, *blocks, at=places[group]))
    return futures


def sum_over_graphs(
    cluster: Cluster, forward: ClusterForward, exponents: list[Any], **tracking: Unpack[Tracking]
) -> list[Any]:
    """Futures of `A` group by group, relative to the exponents."""
    groups = _Groups(cluster, forward, exponents)
    # Every wave adds to all groups above it, so the table changes as a whole.
    with tracked(
        "sums over graphs",
        waves(groups.top),
        running=groups.state,
        units=3**groups.top,
        units_of=lambda wave: len(wave) << wave[0].bit_count(),
        kept_as="sums over graphs by waves of groups",
        **tracking,
    ) as (saved, stage):
        groups.begin()
        for wave in saved.left:
            groups.hand_over_wave(wave)
        for wave in saved:
            for group in wave:
                cluster.finish(groups.finished[group])
                # One unit for each group that gives to it, itself included.
                stage.advance(1 << group.bit_count())
            groups.wave_is_done(wave[0].bit_count())
    return groups.finished


class _Groups:
    """The groups that are finished, and what the others have received so far, as futures."""

    def __init__(self, cluster: Cluster, forward: ClusterForward, exponents: list[Any]) -> None:
        self._cluster, self._weights, self._exponents = cluster, forward.weights, exponents
        self._nodes, self._max_parents = forward.layout.nodes, forward.layout.max_parents
        self.top = group_top(self._nodes)
        self._places = places_of(cluster, self.top)
        #: By group: its sums once it is finished, and what it has received so far.
        self.finished: list[Any] = [None] * (1 << self.top)
        self._received: list[Any] = [None] * (1 << self.top)
        #: What all groups have received, by the size of the wave that gave last; and after the last wave that is done.
        self._after: dict[int, list[Any]] = {}
        self._done: list[Any] = []
        self._read: Floats | None = None

    def state(self) -> list[Any]:
        """What a checkpoint keeps: the table after the last wave that is done."""
        if self._done:
            return [Fetched(8 << self._nodes, lambda: np.concatenate(self._cluster.gather(self._done)))]
        if self._read is None:
            self._read = np.zeros(1 << self._nodes)
        return [self._read]

    def begin(self) -> None:
        """Start with the empty set, or with what was read."""
        size = 1 << (self._nodes - self.top)
        if self._read is not None and self._read[0]:
            parts = list(self._read.reshape(-1, size))
            self._received = self._cluster.scatter(parts)
            self.finished = list(self._received)
        else:
            self._received = [
                self._cluster.submit("graph-sums", _start, size, group, at=self._places[group])
                for group in range(1 << self.top)
            ]
        self._read = None

    def hand_over_wave(self, wave: list[int]) -> None:
        """Submit the tasks that finish the groups of a wave, make what they give, and add it up."""
        head: tuple[Any, ...] = (self._nodes, self._max_parents)
        above = [group for group in range(1 << self.top) if group.bit_count() > wave[0].bit_count()]
        pairs = [(group, target) for group in wave for target in above if group & target == group]
        workers = self._cluster.places()
        with_alphas: dict[int, Any] = {}
        given: dict[int, list[Any]] = {target: [] for target in above}
        for group in wave:
            arguments = (*head, group, self._weights, self._exponents[group], self._received[group])
            whole = self._cluster.submit("graph-sums", _finish, *arguments, at=self._places[group])
            sums = self._cluster.submit("graph-sums-alone", part_of, whole, 0, at=self._places[group])
            with_alphas[group], self.finished[group], self._received[group] = whole, sums, sums
        for number, (group, target) in enumerate(pairs):
            exponents = self._exponents[group], self._exponents[target]
            # What one group gives is made on few workers; what the first group gives, on all of them.
            at = workers.of(number, len(pairs))
            arguments = (*head, group, target, with_alphas[group], *exponents)
            given[target].append(self._cluster.submit("given-to-graph-sums", _give, *arguments, at=at))
        for target, contributions in given.items():
            if contributions:
                arguments = (self._received[target], *contributions)
                self._received[target] = self._cluster.submit(
                    "add-graph-sums", _add, *arguments, at=self._places[target]
                )
        self._after[wave[0].bit_count()] = list(self._received)

    def wave_is_done(self, size: int) -> None:
        """A checkpoint now keeps what the wave has left."""
        self._done = self._after.pop(size)


def _exponents(part: int, parts: int, *blocks: Wide) -> Exponents:
    joined = np.concatenate(blocks)
    size = len(joined) // parts
    return (joined[part * size : (part + 1) * size] >> FRACTION_BITS).astype(np.int32)


def _start(size: int, group: int) -> Floats:
    sums = np.zeros(size)
    if group == 0:
        sums[0] = 1.0
    return sums


def _finish(
    nodes: int, max_parents: int, group: int, weights: Wide, exponents: Exponents, received: Floats
) -> tuple[Floats, Wide]:
    """The sums of a group from what it received; with its alphas, for what it gives."""
    layout = group_layout(nodes, max_parents)
    alpha = alphas_of_group(layout, writeable(weights), group, no_cancel())
    own = writeable(exponents)
    leaves = leaf_order(nodes - layout.top - layout.low)
    return give(layout, alpha, writeable(received), own, own, group, group, leaves, no_cancel()), alpha


def _give(
    nodes: int,
    max_parents: int,
    group: int,
    target: int,
    finished: tuple[Floats, Wide],
    exponents_from: Exponents,
    exponents_to: Exponents,
) -> Floats:
    layout = group_layout(nodes, max_parents)
    sums, alpha = (writeable(array) for array in finished)
    exponents = writeable(exponents_from), writeable(exponents_to)
    leaves = leaf_order(nodes - layout.top - layout.low)
    result: Floats = give(layout, alpha, sums, *exponents, group, target, leaves, no_cancel())
    return result


def _add(received: Floats, *given: Floats) -> Floats:
    # A new array: the old one may be needed again if this task is.
    sums = received.copy()
    for contribution in given:
        sums += contribution
    return sums
