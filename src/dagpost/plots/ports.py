"""Where lines end on the border of a box: in the order in which they come, side by side, never head on head.

The border is a closed way with its corners left out. Each line wants to end where it would meet the border on its way
to the centre; ends that would be too close are pushed apart as little as possible (least squares with the pool of
adjacent violators, on the circle cut open where there is most room).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Point = tuple[float, float]


class Frame(NamedTuple):
    """A box: its centre and half of its sides."""

    x: float
    y: float
    half_width: float
    half_height: float


class Port(NamedTuple):
    """A place on the border, and the way outwards there."""

    x: float
    y: float
    out_x: float
    out_y: float


@dataclass(frozen=True)
class Border:
    """The border of a box without its corners, as one way with the clock from the left end of its upper side."""

    frame: Frame
    corner: float

    @property
    def sides(self) -> tuple[float, float]:
        """Lengths of the upper and of the right side that lines may end on."""
        wide, high = 2.0 * self.frame.half_width, 2.0 * self.frame.half_height
        return max(wide - 2.0 * self.corner, 1.0), max(high - 2.0 * self.corner, 1.0)

    @property
    def length(self) -> float:
        """Of all four sides."""
        return 2.0 * sum(self.sides)

    def towards(self, point: Point) -> float:
        """How far along the border it is met on the way from the centre to a point."""
        x, y, half_width, half_height = self.frame
        across, down = point[0] - x, point[1] - y
        wide, high = self.sides
        if abs(across) * half_height > abs(down) * half_width:
            share = down / abs(across) * half_width
            along = _kept_in_order(share + high / 2.0, high)
            return wide + along if across > 0.0 else 2.0 * wide + high + (high - along)
        share = across / max(abs(down), 1e-9) * half_height
        along = _kept_in_order(share + wide / 2.0, wide)
        return along if down < 0.0 else wide + high + (wide - along)

    def port(self, along: float) -> Port:
        """The place that far along the border."""
        x, y, half_width, half_height = self.frame
        wide, high = self.sides
        along %= self.length
        if along <= wide:
            return Port(x - wide / 2.0 + along, y - half_height, 0.0, -1.0)
        along -= wide
        if along <= high:
            return Port(x + half_width, y - high / 2.0 + along, 1.0, 0.0)
        along -= high
        if along <= wide:
            return Port(x + wide / 2.0 - along, y + half_height, 0.0, 1.0)
        return Port(x - half_width, y + high / 2.0 - (along - wide), -1.0, 0.0)


def _kept_in_order(along: float, side: float) -> float:
    """A place on a side; those beyond its ends are at these, in their order."""
    inside = min(max(along, 0.01 * side), 0.99 * side)
    return inside + 0.01 * side * math.tanh((along - inside) / side)


def spread(wanted: Sequence[float], room: Sequence[float], length: float) -> list[float]:
    """Places on a closed way of this length, close to those wanted, where each keeps its room to both sides.

    `room` is half of the room that each one needs. Where there is not enough for all, all have less.

    >>> spread([5.0, 5.0], [2.0, 2.0], 100.0)
    [3.0, 7.0]
    >>> spread([99.0, 1.0], [3.0, 3.0], 100.0)
    [97.0, 3.0]
    """
    from scipy.optimize import isotonic_regression

    count = len(wanted)
    if count < 2:
        return list(wanted)
    scale = min(1.0, length / (2.0 * sum(room) + 1e-9))
    order = sorted(range(count), key=lambda number: (wanted[number], number))
    gaps = [(wanted[two] - wanted[one]) % length for one, two in zip(order, [*order[1:], order[0]], strict=True)]
    if len({round(value, 9) for value in wanted}) == 1:
        cut = count - 1
    else:
        cut = max(range(count), key=lambda place: gaps[place])
    order = order[cut + 1 :] + order[: cut + 1]
    begin = wanted[order[0]]
    goals = [(wanted[number] - begin) % length for number in order]
    if len({round(value, 9) for value in wanted}) == 1:
        goals = [0.0] * count
    offsets, total = [], 0.0
    for place, number in enumerate(order):
        total += scale * (room[order[place - 1]] + room[number]) if place else 0.0
        offsets.append(total)
    level = isotonic_regression(np.subtract(goals, offsets)).x
    found = (level + offsets).tolist()
    # The first and the last one are neighbours too.
    most = length - scale * (room[order[0]] + room[order[-1]])
    if found[-1] - found[0] > most:
        last = found[0] + most
        for place in range(count - 1, 0, -1):
            found[place] = min(found[place], last - (offsets[-1] - offsets[place]))
    placed = [0.0] * count
    for number, own in zip(order, found, strict=True):
        placed[number] = (begin + own) % length
    return placed


def limited(port: Port, towards: Point, steepest: float) -> Point:
    """The way from a port to a point as a step of length 1, turned so that it leaves the border at an angle.

    `steepest` is the largest slant to the way outwards, in radians: a head that lies on the border cannot be read.
    """
    across, down = towards[0] - port.x, towards[1] - port.y
    slant = math.atan2(port.out_x * down - port.out_y * across, port.out_x * across + port.out_y * down)
    slant = min(max(slant, -steepest), steepest)
    cosine, sine = math.cos(slant), math.sin(slant)
    return port.out_x * cosine - port.out_y * sine, port.out_x * sine + port.out_y * cosine
