"""Where the number of a line stands: on the line, where it covers no box, no head, no other number and no other line.

Numbers are placed one by one, those of the most probable lines first; the place nearest to the middle of its line that
is free is taken; if there is none, one just beside the line. A line without a free place has no number, unless all must
have one: then the place that covers least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import kernel
from dagpost.plots.curves import lengths_along, points_along
from dagpost.plots.ports import Frame, Point
from dagpost.plots.routing import Routed

#: Shares of the length of a line, in the order in which they are tried.
_SHARES = np.array([0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8, 0.86, 0.14])
#: How far beside its line a number stands that has no place on it.
_BESIDE = 1.0
#: Points on other lines are this far apart at most.
_STEP = 4.0
#: What is covered counts by what it is: a box or a head, a number, a point of another line.
_BOX, _NUMBER, _LINE = 50.0, 30.0, 1.0


def number_places(
    frames: Sequence[Frame],
    lines: Sequence[Routed],
    sizes: Sequence[tuple[float, float]],
    order: Sequence[int],
    *,
    every: bool = False,
) -> list[Point | None]:
    """The middle of each number; None where a line has none, or there is no room.

    `sizes` has widths and heights of the numbers; `order` says which lines have one, the most important first.

    >>> from dagpost.plots.routing import Routed
    >>> boxes = [Frame(0.0, 0.0, 20.0, 8.0), Frame(0.0, 100.0, 20.0, 8.0)]
    >>> line = Routed(((0.0, 8.0), (0.0, 36.0), (0.0, 64.0), (0.0, 92.0)), None)
    >>> number_places(boxes, [line], [(20.0, 10.0)], [0])
    [(0.0, 50.0)]
    """
    if not lines:
        return []
    traces = [_close_points(points_along(line.path)) for line in lines]
    owner = np.concatenate([np.full(len(trace), number) for number, trace in enumerate(traces)])
    points = np.concatenate(traces)
    solid = [(x, y, half_width, half_height) for x, y, half_width, half_height in frames]
    for line in lines:
        if line.head is not None:
            (left, right), (top, bottom) = ((min(side), max(side)) for side in zip(*line.head, strict=True))
            solid.append(((left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2))
    blocks = np.array(solid, dtype=np.float64).reshape(-1, 4)
    taken: list[tuple[float, float, float, float]] = []
    places: list[Point | None] = [None] * len(lines)
    for number in order:
        half = np.array(sizes[number]) / 2.0
        candidates = _candidates(traces[number], half)
        covered = np.zeros(len(candidates))
        best = cover(candidates, half, points, owner, number, blocks, np.array(taken).reshape(-1, 4), covered)
        if every or covered[best] == 0.0:
            x, y = map(float, candidates[best])
            places[number] = (x, y)
            taken.append((x, y, float(half[0]) + 1.0, float(half[1]) + 1.0))
    return places


@kernel
def cover(
    candidates: Any, half: Any, points: Any, owner: Any, number: int, blocks: Any, taken: Any, covered: Any
) -> int:
    """The first of some places where a number covers least, and what it covers at each place up to there."""
    best = 0
    for place in range(len(candidates)):
        x, y = candidates[place, 0], candidates[place, 1]
        for block in range(len(blocks)):
            near = abs(blocks[block, 0] - x) < half[0] + blocks[block, 2]
            if near and abs(blocks[block, 1] - y) < half[1] + blocks[block, 3]:
                covered[place] += _BOX
        for other in range(len(taken)):
            near = abs(taken[other, 0] - x) < half[0] + taken[other, 2]
            if near and abs(taken[other, 1] - y) < half[1] + taken[other, 3]:
                covered[place] += _NUMBER
        for point in range(len(points)):
            near = abs(points[point, 0] - x) < half[0] + 1.0 and abs(points[point, 1] - y) < half[1] + 1.0
            if near and owner[point] != number:
                covered[place] += _LINE
        if covered[place] < covered[best]:
            best = place
        if covered[place] == 0.0:
            break
    return best


def _close_points(points: Floats) -> Floats:
    lengths = lengths_along(points)
    at = np.linspace(0.0, lengths[-1], max(int(lengths[-1] / _STEP), 2))
    found: Floats = np.column_stack([np.interp(at, lengths, points[:, axis]) for axis in (0, 1)])
    return found


def _candidates(trace: Floats, half: Floats) -> Floats:
    """Places on a line, then beside it on either side."""
    at = _SHARES * (len(trace) - 1)
    whole = np.arange(len(trace))
    on_line = np.column_stack([np.interp(at, whole, trace[:, axis]) for axis in (0, 1)])
    ahead = np.column_stack([np.interp(at + 0.5, whole, trace[:, axis]) for axis in (0, 1)])
    steps = ahead - np.column_stack([np.interp(at - 0.5, whole, trace[:, axis]) for axis in (0, 1)])
    steps /= np.maximum(np.hypot(*steps.T), 1e-9)[:, None]
    # So far that the corner of the number just does not touch the line.
    away = (half[0] * np.abs(steps[:, 1]) + half[1] * np.abs(steps[:, 0]) + _BESIDE)[:, None]
    across = np.column_stack([-steps[:, 1], steps[:, 0]])
    found: Floats = np.concatenate([on_line, on_line + away * across, on_line - away * across])
    return found
