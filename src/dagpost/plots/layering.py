"""A graph in layers, parents above their children: which way each edge is drawn, which layer and place a node has.

The steps of Sugiyama, Tagawa & Toda (1981). Edges are turned so that there is no cycle, the least certain direction
giving way; nodes go to layers of limited width, and edges over several layers get a bend in each; the order within the
layers is improved by sweeps of barycentres and by swaps of neighbours until no fewer crossings are found. Everything is
deterministic. Cost: some milliseconds for 25 variables; it grows with the square of the number of bends.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Edge = tuple[int, int]

_SWEEPS = 24
_SHIFTS = 12


def acyclic_orientation(edges: Any, pairs: Sequence[Edge]) -> list[Edge]:
    """Each pair as (parent, child), so that no cycle is left.

    The more probable direction of each pair, those that are most decided first; one that would close a cycle is turned.

    >>> acyclic_orientation(np.array([[0.0, 0.9, 0.1], [0.0, 0.0, 0.8], [0.3, 0.0, 0.0]]), [(0, 1), (1, 2), (0, 2)])
    [(0, 1), (1, 2), (0, 2)]
    """
    count = len(edges)
    below = [0] * count
    decided = sorted(pairs, key=lambda pair: (-abs(edges[pair] - edges[pair[::-1]]), pair))
    turned = {}
    for pair in decided:
        parent, child = pair if edges[pair] >= edges[pair[::-1]] else pair[::-1]
        if below[child] >> parent & 1:
            parent, child = child, parent
        turned[pair] = (parent, child)
        gained = below[child] | 1 << child
        for node in range(count):
            if node == parent or below[node] >> parent & 1:
                below[node] |= gained
    return [turned[pair] for pair in pairs]


def topological_order(count: int, edges: Sequence[Edge]) -> list[int]:
    """The nodes, parents before children; of those that could come next, the first."""
    waiting = [0] * count
    children = defaultdict(list)
    for parent, child in edges:
        waiting[child] += 1
        children[parent].append(child)
    free = [node for node in range(count) if not waiting[node]]
    order = []
    while free:
        order.append(free.pop(0))
        for child in children[order[-1]]:
            waiting[child] -= 1
            if not waiting[child]:
                insort(free, child)
    return order


def assign_layers(count: int, edges: Sequence[Edge], widest: int) -> list[int]:
    """The layer of every node, 0 on top: below all its parents, no more than `widest` in one, edges rather short."""
    order = topological_order(count, edges)
    parents, children = defaultdict(list), defaultdict(list)
    for parent, child in edges:
        parents[child].append(parent)
        children[parent].append(child)
    layer = [0] * count
    room: dict[int, int] = defaultdict(lambda: widest)
    for node in order:
        place = max((layer[parent] + 1 for parent in parents[node]), default=0)
        while not room[place]:
            place += 1
        layer[node] = place
        room[place] -= 1
    for _ in range(_SHIFTS):
        moved = False
        for node in reversed(order):
            pull = len(children[node]) - len(parents[node])
            low = max((layer[parent] + 1 for parent in parents[node]), default=0)
            high = min((layer[child] - 1 for child in children[node]), default=layer[node])
            # Total length falls by moving towards the side with more edges; the farthest place with room is best.
            places = range(high, layer[node], -1) if pull > 0 else range(low, layer[node]) if pull < 0 else ()
            for place in places:
                if room[place]:
                    room[layer[node]] += 1
                    room[place] -= 1
                    layer[node], moved = place, True
                    break
        if not moved:
            break
    used = {place: number for number, place in enumerate(sorted(set(layer)))}
    return [used[place] for place in layer]


@dataclass(frozen=True)
class Layers:
    """Nodes in layers. Those from `count` on are bends: `bends` has for each edge its bends, from parent to child.

    `order` has the nodes of each layer from left to right, `segments` the pieces of edges, each from a layer to the
    next one.
    """

    count: int
    layer: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]
    bends: dict[Edge, tuple[int, ...]]
    segments: tuple[Edge, ...]

    @property
    def crossings(self) -> int:
        """How often two pieces of edges cross."""
        return count_crossings(self.order, self.segments, self.layer)


def in_layers(count: int, edges: Sequence[Edge], widest: int) -> Layers:
    """Layers of the graph with these edges (parent, child), which have no cycle.

    >>> found = in_layers(3, [(0, 1), (1, 2), (0, 2)], widest=3)
    >>> found.layer, found.bends[0, 2], found.crossings
    ((0, 1, 2, 1), (3,), 0)
    """
    layer = assign_layers(count, edges, widest)
    bends: dict[Edge, tuple[int, ...]] = {}
    segments: list[Edge] = []
    for parent, child in edges:
        between = range(layer[parent] + 1, layer[child])
        bends[parent, child] = tuple(range(len(layer), len(layer) + len(between)))
        layer.extend(between)
        chain = [parent, *bends[parent, child], child]
        segments.extend(pairwise(chain))
    order = _fewest_crossings(first_order(layer, segments), segments, layer)
    return Layers(count, tuple(layer), order, bends, tuple(segments))


def bends_needed(count: int, edges: Sequence[Edge], widest: int) -> int:
    """How many bends the edges would have."""
    layer = assign_layers(count, edges, widest)
    return sum(layer[child] - layer[parent] - 1 for parent, child in edges)


def count_crossings(order: Sequence[Sequence[int]], segments: Sequence[Edge], layer: Sequence[int]) -> int:
    """How often pieces of edges cross between the layers."""
    place = {node: number for nodes in order for number, node in enumerate(nodes)}
    gaps = defaultdict(list)
    for upper, lower in segments:
        gaps[layer[upper]].append((place[upper], place[lower]))
    total = 0
    for pieces in gaps.values():
        seen: list[int] = []
        for number, (_, end) in enumerate(sorted(pieces)):
            total += number - bisect_right(seen, end)
            insort(seen, end)
    return total


def first_order(layer: Sequence[int], segments: Sequence[Edge]) -> list[list[int]]:
    """The nodes of each layer as a walk through the graph comes upon them, so that neighbours stand together."""
    beside = defaultdict(list)
    for upper, lower in segments:
        beside[upper].append(lower)
        beside[lower].append(upper)
    order: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    seen = set()
    for start in sorted(range(len(layer)), key=lambda node: (layer[node], node)):
        stack = [start]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                order[layer[node]].append(node)
                stack.extend(reversed(beside[node]))
    return order


def _fewest_crossings(
    order: list[list[int]], segments: Sequence[Edge], layer: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    above, below = defaultdict(list), defaultdict(list)
    for upper, lower in segments:
        above[lower].append(upper)
        below[upper].append(lower)
    best, fewest = [list(nodes) for nodes in order], count_crossings(order, segments, layer)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        numbers = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
        for number in numbers:
            place = {node: at for at, node in enumerate(order[number - 1 if down else number + 1])}
            _by_barycentre(order[number], above if down else below, place)
        _swap_neighbours(order, above, below)
        now = count_crossings(order, segments, layer)
        if now < fewest:
            best, fewest = [list(nodes) for nodes in order], now
    return tuple(tuple(nodes) for nodes in best)


def _by_barycentre(nodes: list[int], beside: dict[int, list[int]], place: dict[int, int]) -> None:
    """Sort nodes by the mean place of their neighbours in the layer beside; those without stay where they are."""
    mean = {n: float(np.mean([place[other] for other in beside[n]])) for n in nodes if beside[n]}
    moving = iter(sorted(mean, key=lambda node: mean[node]))
    nodes[:] = [next(moving) if node in mean else node for node in nodes]


def _swap_neighbours(order: list[list[int]], above: dict[int, list[int]], below: dict[int, list[int]]) -> None:
    """Swap two that stand side by side wherever that takes away crossings."""
    improved, rounds = True, 0
    while improved and rounds < _SHIFTS:
        improved, rounds = False, rounds + 1
        for number, nodes in enumerate(order):
            places = [
                (beside, {node: at for at, node in enumerate(order[other])})
                for beside, other in ((above, number - 1), (below, number + 1))
                if 0 <= other < len(order)
            ]
            for left in range(len(nodes) - 1):
                one, two = nodes[left], nodes[left + 1]
                gain = sum(
                    _inversions(beside[one], beside[two], place) - _inversions(beside[two], beside[one], place)
                    for beside, place in places
                )
                if gain > 0:
                    nodes[left], nodes[left + 1] = two, one
                    improved = True


def _inversions(left: Sequence[int], right: Sequence[int], place: dict[int, int]) -> int:
    """Crossings between the edges of two nodes when one stands left of the other."""
    return sum(place[first] > place[second] for first in left for second in right)
