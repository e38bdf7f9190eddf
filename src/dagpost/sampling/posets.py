"""Counting the linear extensions of partial orders: the kernels behind linear_extensions.py, which says how.

Sets are masks. The recursion is written out with frames of its own, since a compiled function that calls itself cannot
be kept on disk. With a modulus, all arithmetic is on remainders that doubles hold exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel

_SMALLEST_TABLE = 1 << 10
_SPLITTING, _STACKED, _REMOVING = 0, 1, 2


class _Poset(NamedTuple):
    """One partial order: the nodes below and above each node, both together, and those next to it in the diagram."""

    below: Masks
    above: Masks
    related: Masks
    neighbours: Masks


class _Memo(NamedTuple):
    """Sets whose number is known, by open addressing; an entry counts if its stamp is that of the graph at hand.

    `state`: the stamp, the entries in use, and 1 once the table is too small or the work is to be given up.
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


class _Scratch(NamedTuple):
    """For trees: the number of orders by place, a row a node; the nodes as a walk meets them, and from where."""

    places: Floats
    merged: Floats
    walk: Integers
    origin: Integers


@inlined
def _size(mask: np.uint64) -> int:
    """How many bits are set."""
    mask = mask - ((mask >> np.uint64(1)) & np.uint64(0x5555555555555555))
    mask = (mask & np.uint64(0x3333333333333333)) + ((mask >> np.uint64(2)) & np.uint64(0x3333333333333333))
    mask = (mask + (mask >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((mask * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def _first(mask: np.uint64) -> int:
    """The lowest node of a set that is not empty."""
    return _size((mask & (~mask + np.uint64(1))) - np.uint64(1))


@inlined
def _only(node: int) -> np.uint64:
    return np.uint64(1) << np.uint64(node)


@inlined
def _times(first: float, second: float, modulus: float) -> float:
    product = first * second
    return product if modulus == 0.0 else product % modulus


@kernel
def close_transitively(masks: Masks) -> int:
    """Replace parents by ancestors; returns the first graph with a cycle, or -1."""
    graphs, nodes = masks.shape
    for graph in range(graphs):
        row = masks[graph]
        for middle in range(nodes):
            through = row[middle]
            for node in range(nodes):
                if row[node] & _only(middle):
                    row[node] |= through
        for node in range(nodes):
            if row[node] & _only(node):
                return graph
    return -1


@kernel
def count_extensions(
    closures: Masks, binomials: Floats, modulus: float, largest_table: int, result: Floats, cancel: Integers
) -> int:
    """The number for every graph, given the ancestors of its nodes; returns the first that is too much, or -1."""
    graphs, nodes = closures.shape
    poset = _Poset(
        np.empty(nodes, dtype=np.uint64),
        np.empty(nodes, dtype=np.uint64),
        np.empty(nodes, dtype=np.uint64),
        np.empty(nodes, dtype=np.uint64),
    )
    frames = _Frames(
        np.empty(nodes + 1, dtype=np.int64),
        np.empty(nodes + 1, dtype=np.uint64),
        np.empty(nodes + 1, dtype=np.int64),
        np.empty(nodes + 1, dtype=np.int64),
        np.empty(nodes + 1),
        np.empty(nodes + 1, dtype=np.uint64),
        np.empty(nodes + 1, dtype=np.int64),
        np.empty(nodes + 1, dtype=np.uint64),
        np.empty(nodes + 1),
    )
    scratch = _Scratch(
        np.empty((nodes, nodes)), np.empty(nodes), np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    )
    everything = ~np.uint64(0) >> np.uint64(64 - nodes)
    memo = _new_memo(_SMALLEST_TABLE)
    for graph in range(graphs):
        factor = _prepare(closures[graph], poset, modulus)
        while True:
            memo.state[0] += 1
            memo.state[1] = 0
            memo.state[2] = 0
            count = _count(everything, poset, memo, frames, scratch, binomials, modulus, cancel)
            if cancel[0]:
                return -1
            if memo.state[2] == 0:
                break
            if 4 * len(memo.keys) > largest_table:
                return graph
            memo = _new_memo(4 * len(memo.keys))
        result[graph] = _times(factor, count, modulus)
    return -1


@inlined
def _new_memo(slots: int) -> _Memo:
    return _Memo(
        np.empty(slots, dtype=np.uint64),
        np.empty(slots),
        np.zeros(slots, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )


@inlined
def _prepare(closure: Masks, poset: _Poset, modulus: float) -> float:
    """Fill in the partial order with like nodes put into rows; returns the number of ways to order the rows."""
    nodes = len(closure)
    below, above, related, neighbours = poset
    for node in range(nodes):
        below[node] = closure[node]
        above[node] = 0
    for node in range(nodes):
        for other in range(nodes):
            if closure[node] & _only(other):
                above[other] |= _only(node)
    factor = 1.0
    placed = np.uint64(0)
    for node in range(nodes):
        if placed & _only(node):
            continue
        row = _only(node)
        length = 1
        lower, upper = below[node], above[node]
        for other in range(node + 1, nodes):
            if below[other] == lower and above[other] == upper:
                length += 1
                factor = _times(factor, float(length), modulus)
                below[other] |= row
                row |= _only(other)
        placed |= row
        # The nodes of the row that come after each of its nodes have higher numbers.
        if length > 1:
            for other in range(node, nodes):
                if row & _only(other):
                    above[other] |= row & ~(_only(other) | below[other])
    for node in range(nodes):
        related[node] = below[node] | above[node]
        neighbours[node] = 0
    for node in range(nodes):
        # A node is covered if no other node below this one lies above it.
        rest = below[node]
        while rest:
            other = _first(rest)
            rest &= rest - np.uint64(1)
            if above[other] & below[node] == 0:
                neighbours[node] |= _only(other)
                neighbours[other] |= _only(node)
    return factor


@inlined
def _reach(start: np.uint64, members: np.uint64, related: Masks, opposite: bool) -> np.uint64:
    """The members that relations (or, if `opposite`, pairs without a relation) join to `start`."""
    reached = start
    fresh = start
    while fresh and reached != members:
        node = _first(fresh)
        linked = ~related[node] if opposite else related[node]
        fresh |= linked & members & ~reached
        reached |= fresh
        fresh &= ~_only(node)
    return reached


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
    poset: _Poset,
    memo: _Memo,
    frames: _Frames,
    scratch: _Scratch,
    binomials: Floats,
    modulus: float,
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
                frames.result[depth] = _times(frames.result[depth], value, modulus)
            else:
                frames.total[depth] += value
        elif kind == _SPLITTING:
            _take_part(depth, poset, memo, frames, scratch, binomials, modulus)
        elif frames.waiting[depth] == 0:
            if kind == _REMOVING:
                if modulus != 0.0:
                    frames.total[depth] %= modulus
                _keep(memo, frames.part[depth], frames.total[depth])
                frames.result[depth] = _times(frames.result[depth], frames.total[depth], modulus)
            frames.kind[depth] = _SPLITTING
        else:
            waiting = frames.waiting[depth]
            lowest = waiting & (~waiting + np.uint64(1))
            if kind == _REMOVING:
                frames.waiting[depth] = waiting & ~lowest
                following = frames.part[depth] & ~lowest
            else:
                following = _reach(lowest, waiting, poset.related, True)
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
def _take_part(
    depth: int, poset: _Poset, memo: _Memo, frames: _Frames, scratch: _Scratch, binomials: Floats, modulus: float
) -> None:
    """Split one part off the set of a frame: bring in its number, or set the frame to find it.

    Nodes are removed at one end of a part throughout, or far more sets would come up: the lower (-1) or the upper (1)
    one. The first removal chooses (0) that which has fewer nodes to remove.
    """
    rest = frames.rest[depth]
    part = _reach(rest & (~rest + np.uint64(1)), rest, poset.related, False)
    frames.rest[depth] = rest & ~part
    size = _size(part)
    frames.placed[depth] += size
    frames.result[depth] = _times(frames.result[depth], binomials[frames.placed[depth], size], modulus)
    if size <= 2:
        return
    slot = _find(memo, part)
    if memo.stamps[slot] == memo.state[0]:
        frames.result[depth] = _times(frames.result[depth], memo.values[slot], modulus)
        return
    stacked = _reach(part & (~part + np.uint64(1)), part, poset.related, True)
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
        node = _first(left)
        left &= left - np.uint64(1)
        links += _size(poset.neighbours[node] & part)
        if poset.below[node] & part == 0:
            minima |= _only(node)
        if poset.above[node] & part == 0:
            maxima |= _only(node)
    if links == 2 * (size - 1):
        count = _count_tree(part, poset, scratch, binomials, modulus)
        _keep(memo, part, count)
        frames.result[depth] = _times(frames.result[depth], count, modulus)
        return
    end = frames.end[depth]
    if end == 0:
        end = -1 if _size(minima) < _size(maxima) else 1
    frames.kind[depth] = _REMOVING
    frames.waiting[depth] = minima if end < 0 else maxima
    frames.part[depth] = part
    frames.part_end[depth] = end
    frames.total[depth] = 0.0


@inlined
def _count_tree(members: np.uint64, poset: _Poset, scratch: _Scratch, binomials: Floats, modulus: float) -> float:
    """The number of orders of a set whose covering pairs form a tree.

    `places[i, p]`: in how many orders of the branch that hangs on node `i`, with `i`, it has `p` nodes before it.
    """
    places, merged, walk, origin = scratch
    walk[0] = _first(members)
    origin[walk[0]] = -1
    met = _only(walk[0])
    length = 1
    position = 0
    while position < length:
        node = walk[position]
        position += 1
        fresh = poset.neighbours[node] & members & ~met
        met |= fresh
        while fresh:
            other = _first(fresh)
            fresh &= fresh - np.uint64(1)
            walk[length] = other
            origin[other] = node
            length += 1
    sizes = np.ones(len(origin), dtype=np.int64)
    for node in walk[:length]:
        places[node, 0] = 1.0
    for position in range(length - 1, 0, -1):
        node = walk[position]
        parent = origin[node]
        _hang_on(
            places[node, : sizes[node]],
            places[parent],
            sizes[parent],
            poset.below[parent] & _only(node) != 0,
            merged,
            binomials,
            modulus,
        )
        sizes[parent] += sizes[node]
    total = 0.0
    for place in range(length):
        total += places[walk[0], place]
    return total if modulus == 0.0 else total % modulus


@inlined
def _hang_on(
    branch: Floats,
    trunk: Floats,
    trunk_size: int,
    branch_below: bool,
    merged: Floats,
    binomials: Floats,
    modulus: float,
) -> None:
    """Bring a branch, by the place of its own node, into what hangs on the node it belongs to."""
    size = len(branch)
    # With `before` nodes of the branch before the node of the trunk: the branch's own node among them, or not.
    if branch_below:
        running = 0.0
        for place in range(size):
            branch[place], running = running, running + branch[place]
        last = running
    else:
        last = 0.0
        running = 0.0
        for place in range(size - 1, -1, -1):
            running += branch[place]
            branch[place] = running
    for place in range(trunk_size + size):
        merged[place] = 0.0
    for before in range(size + 1):
        ways = branch[before] if before < size else last
        if modulus != 0.0:
            ways = ways % modulus
        if ways == 0.0:
            continue
        for place in range(trunk_size):
            mixed = _times(binomials[place + before, before], ways, modulus)
            after = binomials[trunk_size - 1 - place + size - before, size - before]
            merged[place + before] += _times(_times(mixed, after, modulus), trunk[place], modulus)
    for place in range(trunk_size + size):
        trunk[place] = merged[place] if modulus == 0.0 else merged[place] % modulus
