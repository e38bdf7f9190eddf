"""Boxes elsewhere than in rows, where the user puts them; lines are led between them as in every picture.

Middles of boxes are in points, counted to the right and downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import shown
from dagpost.errors import InputError

Point = tuple[float, float]
Size = tuple[float, float]

#: The layout of our own.
LAYERED = "layered"
#: Between boxes: room for lines, heads and numbers.
_ACROSS, _DOWN = 26.0, 20.0


def as_given(positions: Sequence[Point], sides: Sequence[Size]) -> Floats:
    """Boxes at given positions, whatever their unit, spread so that neighbours have room where that can be done.

    Those who give positions count upwards, as in a diagram.
    """
    points = np.array(positions, dtype=np.float64).reshape(-1, 2)
    spread = np.maximum(np.ptp(points, axis=0), 1e-12)
    needed = math.sqrt(len(sides)) * (np.max(np.array(sides), axis=0) + np.array([_ACROSS, 2.0 * _DOWN])) * 1.3
    found: Floats = (points - points.min(axis=0)) * (needed / spread) * np.array([1.0, -1.0])
    return found


def given_positions(layout: Any, names: Sequence[str]) -> list[Point] | None:
    """The positions that a user gives for all names; None for our own layout."""
    if isinstance(layout, str) and layout == LAYERED:
        return None
    if not isinstance(layout, Mapping):
        raise InputError(
            f"The 'layout' must be {LAYERED!r}, or a dict with a position (x, y) for each name. Got {shown(layout)} "
            "instead."
        )
    layout = {str(name): position for name, position in layout.items()}
    missing = [name for name in names if name not in layout]
    if missing:
        raise InputError(f"The 'layout' has no position for {missing[0]!r}. Give one for each of the {len(names)}.")
    try:
        found = [(float(layout[name][0]), float(layout[name][1])) for name in names]
    except (TypeError, ValueError, IndexError, KeyError) as wrong:
        raise InputError(f"A position in 'layout' must be two numbers (x, y): {wrong}.") from wrong
    if not np.isfinite(found).all():
        raise InputError("A position in 'layout' must be two finite numbers (x, y). Some are not finite.")
    return found
