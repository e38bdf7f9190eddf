"""The shortest way between two points around boxes: Dijkstra over the corners of the boxes that can be seen.

Only for a line that no gentle bend leads past the boxes in its way. What can be seen from a corner is found when the
search arrives there; cost: number of corners visited times corners times boxes.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import kernel
from dagpost.plots.curves import piece_in_box
from dagpost.plots.ports import Point


def way_around(start: Point, end: Point, boxes: Floats, clearance: float) -> list[Point]:
    """The corners of a way that keeps its distance from all boxes; straight where there is none.

    >>> way_around((0.0, 0.0), (20.0, 0.0), np.array([[10.0, 1.0, 2.0, 4.0]]), 1.0)
    [(0.0, 0.0), (6.9, -4.1), (13.1, -4.1), (20.0, 0.0)]
    """
    reach = boxes[:, 2:] + clearance + 0.1
    signs = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    corners = (boxes[:, None, :2] + signs[None, :, :] * reach[:, None, :]).reshape(-1, 2)
    points = np.concatenate([[start, end], corners])
    best, before = np.full(len(points), math.inf), np.full(len(points), -1)
    best[0] = 0.0
    waiting, done = [(0.0, 0)], np.zeros(len(points), dtype=bool)
    while waiting:
        _, here = heapq.heappop(waiting)
        if done[here]:
            continue
        done[here] = True
        if here == 1:
            break
        distance = best[here] + np.hypot(*(points - points[here]).T)
        nearer = np.flatnonzero((distance < best - 1e-9) & ~done)
        free = np.empty(len(nearer), dtype=bool)
        mark_visible(points[here], points[nearer], boxes, clearance, free)
        seen = nearer[free]
        best[seen], before[seen] = distance[seen], here
        left = np.hypot(*(points[seen] - points[1]).T)
        for number, ahead in zip(seen.tolist(), (distance[seen] + left).tolist(), strict=True):
            heapq.heappush(waiting, (ahead, number))
    way, here = [1], 1
    while before[here] >= 0:
        here = int(before[here])
        way.append(here)
    if here != 0:
        return [start, end]
    return [(float(x), float(y)) for x, y in points[way[::-1]]]


@kernel
def mark_visible(here: Any, there: Any, boxes: Any, clearance: float, seen: Any) -> None:
    """Note in `seen` which of some points can be seen from one, past all boxes."""
    for place in range(len(there)):
        seen[place] = True
        for box in range(len(boxes)):
            if piece_in_box(
                here[0], here[1], there[place, 0], there[place, 1], boxes[box, 0], boxes[box, 1],
                boxes[box, 2] + clearance, boxes[box, 3] + clearance,
            ):  # fmt: skip
                seen[place] = False
                break
