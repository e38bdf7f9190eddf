"""What boxes in rows cost, line by line and box by box, from what `plots.rows` says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from dagpost.plots import rows

Point = tuple[float, float]


def cost_of_nodes(
    points: Sequence[Point],
    sides: Sequence[Point],
    edges: Sequence[tuple[int, int]],
    weights: Sequence[float],
    headed: Sequence[bool],
    gap: float,
) -> float:
    """The sum over all nodes of what concerns them: a pair of lines counts once for each node it moves with."""
    total = 0.0
    for one, two in combinations(range(len(points)), 2):
        room = abs(points[one][0] - points[two][0]) - (sides[one][0] + sides[two][0]) / 2 - gap
        if points[one][1] == points[two][1] and room < 0.0:
            total += 2.0 * rows._OVERLAP * (4.0 - room)
    for edge, weight, head in zip(edges, weights, headed, strict=True):
        # By each of its ends.
        total += 2.0 * weight * _line(edge, points, sides, head)
        for node in range(len(points)):
            if node not in edge:
                # By each of its ends, and by the box.
                passed = _passed(points[edge[0]], points[edge[1]], points[node], sides[node])
                total += 3.0 * weight * rows._OVER_BOX * passed
    for (edge, weight), (other, its) in combinations(list(zip(edges, weights, strict=True)), 2):
        shared = {*edge} & {*other}
        if shared:
            (node,) = shared
            first, second = (_step(points[node], points[sum(pair) - node]) for pair in (edge, other))
            cosine = sum(a * b for a, b in zip(first, second, strict=True))
            # Both lines count for the node in the middle, one for each of the others.
            total += 4.0 * weight * its * rows._SIDE_BY_SIDE * max(0.0, cosine - 0.94) / 0.06
        elif _cross(*(points[node] for node in (*edge, *other))):
            total += 4.0 * weight * its * rows._CROSSING
    return total


def _line(edge: tuple[int, int], points: Sequence[Point], sides: Sequence[Point], head: bool) -> float:
    (ax, ay), (bx, by) = (points[node] for node in edge)
    cost = math.dist((ax, ay), (bx, by)) / rows._UNIT
    if ay == by:
        shown = abs(ax - bx) - sum(sides[node][0] for node in edge) / 2
        cost += rows._LEVEL + max(0.0, rows._TOO_SHORT * (1.0 - shown / rows._SHORTEST))
    if head and by <= ay:
        cost += rows._UPWARDS + 0.3 * (ay - by) / 60.0
    return cost


def _step(here: Point, there: Point) -> Point:
    length = math.dist(here, there)
    return (there[0] - here[0]) / length, (there[1] - here[1]) / length


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0.0 and side(c, d, a) * side(c, d, b) < 0.0


def _passed(a: Point, b: Point, middle: Point, side: Point) -> float:
    """Where the line is inside the box, found by looking at very many points of it."""
    half = [own / 2 + rows._CLEARANCE for own in side]
    shares = [
        at / 40_000
        for at in range(40_001)
        if all(abs(a[k] + at / 40_000 * (b[k] - a[k]) - middle[k]) < half[k] for k in (0, 1))
    ]
    if not shares:
        return 0.0
    at = (shares[0] + shares[-1]) / 2
    off = max(abs(a[k] + at * (b[k] - a[k]) - middle[k]) / half[k] for k in (0, 1))
    return 0.3 + 0.7 * (1.0 - min(off, 1.0))
