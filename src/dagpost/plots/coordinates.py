"""How far to the right each node of a layered graph stands, so that long edges are straight and no boxes overlap.

The method of Brandes & Köpf (2001): each node is aligned with the median of its neighbours in the layer beside, edges
through several layers first; nodes that are aligned form blocks, which are set as close together as the boxes allow.
That is done from above and from below, to the left and to the right, and the mean of the two middle results is taken,
which keeps every distance. Cost: about linear in the number of nodes and bends.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from dagpost.plots.layering import Edge, Layers, topological_order

Order = Sequence[Sequence[int]]


def across(layers: Layers, widths: Sequence[float], gap: float) -> list[float]:
    """The middle of every node and bend: boxes of these widths keep the gap between them, and begin at 0.

    >>> from dagpost.plots.layering import in_layers
    >>> across(in_layers(3, [(0, 1), (0, 2)], widest=4), [10.0, 10.0, 10.0], 5.0)
    [12.5, 5.0, 20.0]
    """
    above, below = defaultdict(list), defaultdict(list)
    for upper, lower in layers.segments:
        above[lower].append(upper)
        below[upper].append(lower)
    crossed = _conflicts(layers, above)
    found = []
    for downwards in (True, False):
        rows = layers.order if downwards else layers.order[::-1]
        for mirrored in (False, True):
            order = [row[::-1] for row in rows] if mirrored else rows
            root = _align(order, above if downwards else below, crossed)
            x = _compact(order, root, widths, gap)
            found.append([-value for value in x] if mirrored else x)
    narrowest = min(found, key=lambda x: _extent(x, widths)[1] - _extent(x, widths)[0])
    left, right = _extent(narrowest, widths)
    for number, x in enumerate(found):
        own = _extent(x, widths)
        shift = right - own[1] if number % 2 else left - own[0]
        found[number] = [value + shift for value in x]
    middle = [sum(sorted(values)[1:3]) / 2.0 for values in zip(*found, strict=True)]
    start = _extent(middle, widths)[0]
    return [value - start for value in middle]


def _extent(x: Sequence[float], widths: Sequence[float]) -> tuple[float, float]:
    sides = list(zip(x, widths, strict=True))
    return min(value - width / 2 for value, width in sides), max(value + width / 2 for value, width in sides)


def _conflicts(layers: Layers, above: dict[int, list[int]]) -> set[Edge]:
    """Pieces of edges that cross a piece between two bends: these give way, so that long edges stay straight."""
    found = set()
    for upper, lower in pairwise(layers.order):
        place = {node: number for number, node in enumerate(upper)}
        inner = [
            (number, place[above[node][0]])
            for number, node in enumerate(lower)
            if node >= layers.count and above[node][0] >= layers.count
        ]
        for number, node in enumerate(lower):
            for other in above[node]:
                if node >= layers.count and other >= layers.count:
                    continue
                if any((number - end) * (place[other] - start) < 0 for end, start in inner):
                    found |= {(node, other), (other, node)}
    return found


def _align(order: Order, beside: dict[int, list[int]], crossed: set[Edge]) -> dict[int, int]:
    """The block of every node, named by its first node."""
    place = {node: number for row in order for number, node in enumerate(row)}
    root = {node: node for row in order for node in row}
    taken: set[int] = set()
    for row in order:
        last = -1
        for node in row:
            near = sorted(beside[node], key=lambda other: place[other])
            middle = (len(near) - 1) / 2
            for other in near[max(math.floor(middle), 0) : math.ceil(middle) + 1]:
                if root[node] == node and last < place[other] and other not in taken and (node, other) not in crossed:
                    root[node], last = root[other], place[other]
                    taken.add(other)
    return root


def _compact(order: Order, root: dict[int, int], widths: Sequence[float], gap: float) -> list[float]:
    """Blocks as far to the left as the boxes allow, then back to the right where that brings them closer together."""
    distance: dict[Edge, float] = {}
    for row in order:
        for one, two in pairwise(row):
            needed = (widths[one] + widths[two]) / 2 + gap
            pair = root[one], root[two]
            distance[pair] = max(distance.get(pair, 0.0), needed)
    before, after = defaultdict(list), defaultdict(list)
    for one, two in distance:
        before[two].append(one)
        after[one].append(two)
    x = [0.0] * len(widths)
    sequence = topological_order(len(widths), list(distance))
    for block in sequence:
        x[block] = max((x[other] + distance[other, block] for other in before[block]), default=0.0)
    for block in reversed(sequence):
        room = min((x[other] - distance[block, other] for other in after[block]), default=x[block])
        x[block] = max(x[block], room)
    return [x[root[node]] for node in range(len(widths))]
