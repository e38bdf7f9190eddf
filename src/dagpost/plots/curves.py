"""Lines as chains of cubic curves: points along them, and whether they meet a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inlined, kernel
from dagpost.plots.ports import Point

#: A line: where it begins, and for each cubic curve its two handles and its end.
Path = tuple[Point, ...]

_PIECES = 14
_SHARES = np.linspace(0.0, 1.0, _PIECES + 1)
_BASIS = np.stack(
    [(1 - _SHARES) ** 3, 3 * _SHARES * (1 - _SHARES) ** 2, 3 * _SHARES**2 * (1 - _SHARES), _SHARES**3], axis=1
)


def points_along(path: Sequence[Point]) -> Floats:
    """Points on a line, close enough together for straight pieces between them.

    >>> points_along([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)])[-1].tolist()
    [3.0, 0.0]
    """
    handles = np.array(path, dtype=np.float64)
    if len(handles) == 4:
        alone: Floats = _BASIS @ handles
        return alone
    found = [_BASIS @ handles[start : start + 4] for start in range(0, len(handles) - 1, 3)]
    joined: Floats = np.concatenate([found[0], *(piece[1:] for piece in found[1:])])
    return joined


def straight(one: Point, two: Point) -> list[Point]:
    """The rest of a straight line from one point to the next."""
    across, down = two[0] - one[0], two[1] - one[1]
    thirds = [(one[0] + share * across, one[1] + share * down) for share in (1.0 / 3.0, 2.0 / 3.0)]
    return [*thirds, two]


def rounded(corners: Sequence[Point], radius: float) -> Path:
    """A line from corner to corner, straight but for its corners, which are cut so far from their tips at most."""
    path: list[Point] = [corners[0]]
    for before, here, after in zip(corners, corners[1:], corners[2:], strict=False):
        into, away = (_part_way(here, other, radius) for other in (before, after))
        path += straight(path[-1], into)
        # A quadratic curve with its handle in the corner.
        handles = [_between(end, here, 2.0 / 3.0) for end in (into, away)]
        path += [*handles, away]
    return (*path, *straight(path[-1], corners[-1]))


def _part_way(here: Point, other: Point, distance: float) -> Point:
    length = float(np.hypot(other[0] - here[0], other[1] - here[1]))
    return _between(here, other, min(0.5, distance / max(length, 1e-9)))


def _between(one: Point, two: Point, share: float) -> Point:
    return one[0] + share * (two[0] - one[0]), one[1] + share * (two[1] - one[1])


def meets_box(points: Floats, boxes: Floats, clearances: Floats) -> bool:
    """Whether a line through these points comes closer to a box (x, y, half width, half height) than it may.

    >>> box = np.array([[5.0, 0.0, 1.0, 1.0]])
    >>> [meets_box(np.array([[0.0, y], [10.0, y]]), box, np.array([0.5])) for y in (1.4, 1.6)]
    [True, False]
    """
    return bool(first_box_met(points, boxes, clearances) >= 0)


@kernel
def first_box_met(points: Any, boxes: Any, clearances: Any) -> int:
    """The number of a box that the line through these points comes too close to; -1 for none."""
    for piece in range(len(points) - 1):
        for box in range(len(boxes)):
            if piece_in_box(
                points[piece, 0], points[piece, 1], points[piece + 1, 0], points[piece + 1, 1], boxes[box, 0],
                boxes[box, 1], boxes[box, 2] + clearances[box], boxes[box, 3] + clearances[box],
            ):  # fmt: skip
                return box
    return -1


@inlined
def piece_in_box(
    ax: float, ay: float, bx: float, by: float, x: float, y: float, half_width: float, half_height: float
) -> bool:
    """Whether a straight piece enters the inside of a box."""
    if max(ay, by) <= y - half_height or min(ay, by) >= y + half_height:
        return False
    if max(ax, bx) <= x - half_width or min(ax, bx) >= x + half_width:
        return False
    low, high = 0.0, 1.0
    for axis in range(2):
        start, step, middle, half = (ax, bx - ax, x, half_width) if axis == 0 else (ay, by - ay, y, half_height)
        if abs(step) < 1e-12:
            if abs(start - middle) >= half:
                return False
        else:
            one, two = (middle - half - start) / step, (middle + half - start) / step
            low, high = max(low, min(one, two)), min(high, max(one, two))
    return low < high


def lengths_along(points: Floats) -> Floats:
    """How far along a line each of its points is."""
    found: Floats = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    return found


def corners_around(points: Sequence[Point]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of some points."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
