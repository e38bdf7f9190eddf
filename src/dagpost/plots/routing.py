"""How lines run from box to box: straight where nothing is in the way, else in one gentle bend, else around the boxes.

First each line gets the smallest bend with which it passes no box; then the ends of all lines are spread along the
borders (`ports`), and heads are put there. A line that this brings to a box is bent again, or led around (`detours`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.plots.curves import Path, meets_box, points_along, rounded
from dagpost.plots.detours import way_around
from dagpost.plots.ports import Border, Frame, Point, Port, limited, spread

#: Bends to try, as shares of the length of a line.
_BENDS = (0.0, 0.07, -0.07, 0.13, -0.13, 0.2, -0.2, 0.28, -0.28, 0.38, -0.38, 0.5, -0.5)
#: How close a line may come to a box that is not its own, how far the end of a line is from a corner and from the
#: next one, in points; the largest slant at which it meets a border.
CLEARANCE, _CORNER, _NEXT, _STEEPEST = 5.0, 4.5, 1.6, math.radians(58.0)

#: How far from a corner a line that leads around boxes may leave its straight way.
_RADII = (70.0, 40.0, 22.0, 12.0)
#: How far a line may bend beyond all boxes.
OUTSIDE = 14.0


@dataclass(frozen=True)
class Wanted:
    """A line to route: from which box to which, and length and width of the head at its end; 0 for none.

    `crowded` lines share the border with others; those that are not shown at first may end where others do.
    """

    source: int
    target: int
    head: tuple[float, float]
    crowded: bool = True


@dataclass(frozen=True)
class Routed:
    """Where a line runs, up to its head, and the corners of that: its tip first."""

    path: Path
    head: tuple[Point, Point, Point] | None


def room_needed(head: tuple[float, float]) -> float:
    """Half of the room that the end of a line takes on a border."""
    return max(head[1], 2.4) / 2.0 + _NEXT / 2.0


def routed(frames: Sequence[Frame], lines: Sequence[Wanted]) -> list[Routed]:
    """A route for every line, in their order.

    >>> boxes = [Frame(0.0, 0.0, 20.0, 8.0), Frame(0.0, 100.0, 20.0, 8.0)]
    >>> found = routed(boxes, [Wanted(0, 1, (8.0, 6.0))])[0]
    >>> found.path[0], found.path[-1], found.head[0]
    ((0.0, 8.0), (0.0, 84.0), (0.0, 92.0))
    """
    boxes = np.array(frames, dtype=np.float64).reshape(-1, 4)
    bends = [_smallest_bend(line, frames, boxes) for line in lines]
    ports = _ports(frames, lines, bends)
    found = [_route(line, *own, bend, boxes) for line, own, bend in zip(lines, ports, bends, strict=True)]
    return _heads_apart(found, lines, ports, bends, boxes)


def _apex(start: Point, end: Point, bend: float) -> Point:
    """The handle of a line with this bend."""
    across, down = end[0] - start[0], end[1] - start[1]
    return (start[0] + end[0]) / 2.0 - 2.0 * bend * down, (start[1] + end[1]) / 2.0 + 2.0 * bend * across


def _clearances(line: Wanted, boxes: Floats, own: float, others: float = CLEARANCE) -> Floats:
    """How far a line keeps from each box; from its own ones that is another distance."""
    found = np.full(len(boxes), others)
    found[[line.source, line.target]] = own
    return found


def _smallest_bend(line: Wanted, frames: Sequence[Frame], boxes: Floats) -> float:
    start, end = (frames[node][:2] for node in (line.source, line.target))
    # The line begins inside its boxes.
    clearances = _clearances(line, boxes, -np.inf)
    for bend in _BENDS:
        handle = _apex(start, end, bend)
        points = points_along((start, _mixed(start, handle), _mixed(end, handle), end))
        if not meets_box(points, boxes, clearances):
            return bend
    return 0.0


def _mixed(end: Point, handle: Point) -> Point:
    """The handle of a cubic curve that is as bent as a quadratic one."""
    return end[0] + 2.0 / 3.0 * (handle[0] - end[0]), end[1] + 2.0 / 3.0 * (handle[1] - end[1])


def _ports(frames: Sequence[Frame], lines: Sequence[Wanted], bends: Sequence[float]) -> list[tuple[Port, Port]]:
    """Where each line begins and ends."""
    borders = [Border(frame, min(_CORNER, 0.8 * frame.half_height)) for frame in frames]
    along = [[0.0, 0.0] for _ in lines]
    at: list[list[tuple[int, int]]] = [[] for _ in frames]
    for number, (line, bend) in enumerate(zip(lines, bends, strict=True)):
        start, end = (frames[node][:2] for node in (line.source, line.target))
        handle = _apex(start, end, bend)
        # Of a straight line: the other end, not the middle, which may lie in a box that is close.
        goals = (end, start) if bend == 0.0 else (handle, handle)
        for which, (node, goal) in enumerate(zip((line.source, line.target), goals, strict=True)):
            along[number][which] = borders[node].towards(goal)
            if line.crowded:
                at[node].append((number, which))
    for node, own in enumerate(at):
        room = [room_needed(lines[number].head if which else (0.0, 0.0)) for number, which in own]
        places = spread([along[number][which] for number, which in own], room, borders[node].length)
        for (number, which), place in zip(own, places, strict=True):
            along[number][which] = place
    return [
        (borders[line.source].port(own[0]), borders[line.target].port(own[1]))
        for line, own in zip(lines, along, strict=True)
    ]


def _route(line: Wanted, start: Port, end: Port, bend: float, boxes: Floats) -> Routed:
    """The line between two ports: with the bend it had, with another one, or around all boxes."""
    for other in (bend, *(own for own in _BENDS if own != bend)):
        found = _bent(line, start, end, other, _STEEPEST)
        if _is_free(found, line, boxes):
            return found
    return _around(line, start, end, boxes)


def _bent(line: Wanted, start: Port, end: Port, bend: float, steepest: float) -> Routed:
    handle = _apex(start[:2], end[:2], bend)
    out = limited(start, handle if bend else end[:2], steepest)
    back = limited(end, handle if bend else start[:2], steepest)
    head = _head(end, back, line.head)
    base = (end.x + line.head[0] * back[0], end.y + line.head[0] * back[1])
    reach = math.hypot(base[0] - start.x, base[1] - start.y) / 3.0 * (1.0 + 2.0 * abs(bend))
    path = (
        start[:2],
        (start.x + reach * out[0], start.y + reach * out[1]),
        (base[0] + reach * back[0], base[1] + reach * back[1]),
        base,
    )
    return Routed(path, head)


def _head(tip: Port, back: Point, size: tuple[float, float]) -> tuple[Point, Point, Point] | None:
    length, width = size
    if not length:
        return None
    x, y = tip.x + length * back[0], tip.y + length * back[1]
    side_x, side_y = -back[1] * width / 2.0, back[0] * width / 2.0
    return tip[:2], (x + side_x, y + side_y), (x - side_x, y - side_y)


def _is_free(found: Routed, line: Wanted, boxes: Floats, clearance: float = CLEARANCE) -> bool:
    """Whether a line passes no box, and leaves its own ones only once."""
    points = points_along(found.path)
    return not meets_box(points, boxes, _clearances(line, boxes, -0.8, clearance)) and _inside(points, boxes)


def _inside(points: Floats, boxes: Floats) -> bool:
    """Whether a line stays about where the boxes are."""
    low, high = (boxes[:, :2] - boxes[:, 2:]).min(axis=0), (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    return bool((points.min(axis=0) >= low - OUTSIDE).all() and (points.max(axis=0) <= high + OUTSIDE).all())


def _around(line: Wanted, start: Port, end: Port, boxes: Floats, *, upright: bool = False) -> Routed:
    """The shortest way around all boxes, its corners as round as there is room."""
    out = CLEARANCE + 1.5
    first = (start.x + out * start.out_x, start.y + out * start.out_y)
    far = max(line.head[0] + 2.0, out)
    last = (end.x + far * end.out_x, end.y + far * end.out_y)
    foot = (end.x + line.head[0] * end.out_x, end.y + line.head[0] * end.out_y)
    way = way_around(first, last, boxes, CLEARANCE)
    for corners in (way,) if upright else (way[1:-1], way):
        # Without the steps away from its boxes, if it need not go round these.
        back = limited(end, corners[-1], _STEEPEST) if corners and corners is not way else (end.out_x, end.out_y)
        base = (end.x + line.head[0] * back[0], end.y + line.head[0] * back[1])
        for radius in _RADII:
            found = Routed(rounded([start[:2], *corners, base], radius), _head(end, back, line.head))
            if _is_free(found, line, boxes, CLEARANCE - 2.0):
                return found
    return Routed(rounded([start[:2], *way, foot], CLEARANCE), _head(end, (end.out_x, end.out_y), line.head))


def _heads_apart(
    found: list[Routed],
    lines: Sequence[Wanted],
    ports: Sequence[tuple[Port, Port]],
    bends: Sequence[float],
    boxes: Floats,
) -> list[Routed]:
    """Heads that would overlap stand upright on the border instead of pointing the way their lines come."""
    by_target: dict[int, list[int]] = {}
    for number, line in enumerate(lines):
        if line.crowded and found[number].head is not None:
            by_target.setdefault(line.target, []).append(number)
    for own in by_target.values():
        standing: set[int] = set()
        while touching := _touching(own, found) - standing:
            # Those that stand upright may touch others that do not yet.
            standing |= touching
            for number in touching:
                line, (start, end) = lines[number], ports[number]
                routes = (_upright(line, start, end, bend) for bend in (bends[number], *_BENDS))
                free = next((route for route in routes if _is_free(route, line, boxes)), None)
                found[number] = free or _around(line, start, end, boxes, upright=True)
    return found


def _touching(numbers: Sequence[int], found: Sequence[Routed]) -> set[int]:
    """Those of some lines whose heads overlap."""
    pairs = combinations(numbers, 2)
    return {number for pair in pairs if overlap(*(found[own].head or () for own in pair)) for number in pair}


def _upright(line: Wanted, start: Port, end: Port, bend: float) -> Routed:
    """A line whose head stands upright on the border."""
    plain = _bent(line, start, end, bend, _STEEPEST)
    out = (end.out_x, end.out_y)
    base = (end.x + line.head[0] * out[0], end.y + line.head[0] * out[1])
    reach = math.hypot(base[0] - start.x, base[1] - start.y) / 3.0
    path = (*plain.path[:2], (base[0] + reach * out[0], base[1] + reach * out[1]), base)
    return Routed(path, _head(end, out, line.head))


def overlap(one: Sequence[Point], two: Sequence[Point]) -> bool:
    """Whether two triangles overlap: no side of either has the other one beyond it.

    >>> overlap([(0, 0), (2, 0), (0, 2)], [(1, 1), (3, 1), (1, 3)])
    False
    >>> overlap([(0, 0), (2, 0), (0, 2)], [(0.5, 0.5), (3, 1), (1, 3)])
    True
    """
    for corners, others in ((one, two), (two, one)):
        for place in range(3):
            (ax, ay), (bx, by) = corners[place], corners[(place + 1) % 3]
            cx, cy = corners[(place + 2) % 3]
            inside = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            beyond = [((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * inside <= 1e-9 for x, y in others]
            if all(beyond):
                return False
    return True
