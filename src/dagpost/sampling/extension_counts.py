"""The number of linear extensions of any partial order: the recursion behind linear_extensions.py, which explains it.

The recursion keeps frames of its own, since a compiled function that calls itself cannot be kept on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.families.family_sums import bits_of
from dagpost.families.graph_lists import first_of
from dagpost.sampling.posets import Poset, TreeScratch, count_tree, fill_poset, only, reach

_SMALLEST_TABLE = 1 << 10
_SPLITTING, _STACKED, _REMOVING = 0, 1, 2


class _Memo(NamedTuple):
    """Sets whose number is known, by open addressing; an entry counts if its stamp is that of the graph at hand.

    `state`: the stamp, the entries in use, and 1 once the table is too small.
    """

    keys: Masks
    values: Floats
    stamps: Integers
    state: Integers


class _Frames(NamedTuple):
    """The sets that are being counted, each a subset of the one before it.

    `rest` is what is still to be split into parts and `result` the number for what has been, `placed` nodes. For a
    part that is not finished: the sets or nodes that are `waiting`, the end at which nodes are removed, and the
    `total` so far.
    """

    kind: Integers
    rest: Masks
    end: Integers
    placed: Integers
    result: Floats
    part: Masks
    part_end: Integers
    waiting: Masks
    total: Floats


@kernel
def count_extensions(closures: Masks, binomials: Floats, largest_table: int, result: Floats, cancel: Integers) -> int:
    """The number for every graph, given the ancestors of its nodes; returns the first that is too much, or -1."""
    graphs, nodes = closures.shape
    sets = np.empty((4, nodes), dtype=np.uint64)
    poset = Poset(sets[0], sets[1], sets[2], sets[3])
    depths = nodes + 1
    masks, numbers = np.empty((3, depths), dtype=np.uint64), np.empty((4, depths), dtype=np.int64)
    counts = np.empty((2, depths))
    frames = _Frames(numbers[0], masks[0], numbers[1], numbers[2], counts[0], masks[1], numbers[3], masks[2], counts[1])
    scratch = TreeScratch(
        np.empty((nodes, nodes)), np.empty(nodes), np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    )
    everything = ~np.uint64(0) >> np.uint64(64 - nodes)
    memo = _new_memo(_SMALLEST_TABLE)
    for graph in range(graphs):
        factor = fill_poset(closures[graph], poset)
        while True:
            memo.state[0] += 1
            memo.state[1] = 0
            memo.state[2] = 0
            count = _count(everything, poset, memo, frames, scratch, binomials, cancel)
            if cancel[0]:
                return -1
            if memo.state[2] == 0:
                break
            if 4 * len(memo.keys) > largest_table:
                return graph
            memo = _new_memo(4 * len(memo.keys))
        result[graph] = factor * count
    return -1


@inlined
def _new_memo(slots: int) -> _Memo:
    return _Memo(
        np.empty(slots, dtype=np.uint64), np.empty(slots), np.zeros(slots, dtype=np.int64), np.zeros(3, dtype=np.int64)
    )


@inlined
def _find(memo: _Memo, members: np.uint64) -> int:
    """The slot of a set, or the free one where it belongs."""
    last = len(memo.keys) - 1
    slot = int((members * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & last
    while memo.stamps[slot] == memo.state[0] and memo.keys[slot] != members:
        slot = (slot + 1) & last
    return slot


@inlined
def _keep(memo: _Memo, members: np.uint64, count: float) -> None:
    slot = _find(memo, members)
    memo.stamps[slot] = memo.state[0]
    memo.keys[slot] = members
    memo.values[slot] = count
    memo.state[1] += 1
    if 4 * memo.state[1] > 3 * len(memo.keys):
        memo.state[2] = 1


@inlined
def _count(
    members: np.uint64,
    poset: Poset,
    memo: _Memo,
    frames: _Frames,
    scratch: TreeScratch,
    binomials: Floats,
    cancel: Integers,
) -> float:
    """The number of orders of a convex set of nodes (what lies between two of its nodes belongs to it).

    A frame counts the orders of one set, part by part; a part that must be taken apart further opens frames above it,
    each with fewer nodes. (A recursive function would say the same, but crashes when Numba loads it from disk.)
    """
    depth = 0
    _open(frames, 0, members, 0)
    while memo.state[2] == 0 and cancel[0] == 0:
        kind = frames.kind[depth]
        if kind == _SPLITTING and frames.rest[depth] == 0:
            value = frames.result[depth]
            depth -= 1
            if depth < 0:
                return value
            if frames.kind[depth] == _STACKED:
                frames.result[depth] *= value
            else:
                frames.total[depth] += value
        elif kind == _SPLITTING:
            _take_part(depth, poset, memo, frames, scratch, binomials)
        elif frames.waiting[depth] == 0:
            if kind == _REMOVING:
                _keep(memo, frames.part[depth], frames.total[depth])
                frames.result[depth] *= frames.total[depth]
            frames.kind[depth] = _SPLITTING
        else:
            waiting = frames.waiting[depth]
            lowest = waiting & (~waiting + np.uint64(1))
            if kind == _REMOVING:
                frames.waiting[depth] = waiting & ~lowest
                following = frames.part[depth] & ~lowest
            else:
                following = reach(lowest, waiting, poset.related, True)
                frames.waiting[depth] = waiting & ~following
            _open(frames, depth + 1, following, frames.part_end[depth])
            depth += 1
    return 0.0


@inlined
def _open(frames: _Frames, depth: int, members: np.uint64, end: int) -> None:
    frames.kind[depth] = _SPLITTING
    frames.rest[depth] = members
    frames.end[depth] = end
    frames.placed[depth] = 0
    frames.result[depth] = 1.0


@inlined
def _take_part(depth: int, poset: Poset, memo: _Memo, frames: _Frames, scratch: TreeScratch, binomials: Floats) -> None:
    """Split one part off the set of a frame: bring in its number, or set the frame to find it.

    Nodes are removed at one end of a part throughout, or far more sets would come up: the lower (-1) or the upper (1)
    one. The first removal chooses (0) that which has fewer nodes to remove.
    """
    rest = frames.rest[depth]
    part = reach(rest & (~rest + np.uint64(1)), rest, poset.related, False)
    frames.rest[depth] = rest & ~part
    size = bits_of(part)
    frames.placed[depth] += size
    frames.result[depth] *= binomials[frames.placed[depth], size]
    if size <= 2:
        return
    slot = _find(memo, part)
    if memo.stamps[slot] == memo.state[0]:
        frames.result[depth] *= memo.values[slot]
        return
    stacked = reach(part & (~part + np.uint64(1)), part, poset.related, True)
    if stacked != part:
        # It lies below or above the others as a whole.
        frames.kind[depth] = _STACKED
        frames.waiting[depth] = part
        frames.part_end[depth] = frames.end[depth]
        return
    links = 0
    minima = np.uint64(0)
    maxima = np.uint64(0)
    left = part
    while left:
        node = first_of(left)
        left &= left - np.uint64(1)
        links += bits_of(poset.neighbours[node] & part)
        if poset.below[node] & part == 0:
            minima |= only(node)
        if poset.above[node] & part == 0:
            maxima |= only(node)
    if links == 2 * (size - 1):
        count = count_tree(part, poset, scratch, binomials)
        _keep(memo, part, count)
        frames.result[depth] *= count
        return
    end = frames.end[depth]
    if end == 0:
        end = -1 if bits_of(minima) < bits_of(maxima) else 1
    frames.kind[depth] = _REMOVING
    frames.waiting[depth] = minima if end < 0 else maxima
    frames.part[depth] = part
    frames.part_end[depth] = end
    frames.total[depth] = 0.0
