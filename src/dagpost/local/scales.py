"""The scale on which a number is regressed on its parents: its own, its log, or the inverse hyperbolic sine.

On the right scale noise is about equally large everywhere and what parents do adds up; the evidence says which that is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inline_no_refcount

#: x, log(x + place), asinh((x - place) / unit).
OWN, LOG, BOTH_WAYS = 0, 1, 2


class Scale(NamedTuple):
    """One of the three kinds, with its place and unit."""

    kind: int = OWN
    place: float = 0.0
    unit: float = 1.0


def scales_of(column: Floats) -> list[Scale]:
    """The scales that suit a column of numbers that varies."""
    found = [Scale()]
    least = float(column.min())
    if least > 0.0:
        found.append(Scale(LOG))
    elif least == 0.0:
        # Beside zeros: counts begin with one.
        found.append(Scale(LOG, float(column[column > 0.0].min())))
    lower, middle, upper = (float(number) for number in np.quantile(column, [0.25, 0.5, 0.75]))
    if upper > lower:
        found.append(Scale(BOTH_WAYS, middle, (upper - lower) / 2.0))
    return found


def on_scale(column: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """A column on a scale, and the log of the scale's slope there."""
    if scale.kind == OWN:
        return column, np.zeros(len(column))
    if scale.kind == LOG:
        logs = np.log(column + scale.place)
        return logs, -logs
    away = (column - scale.place) / scale.unit
    return np.arcsinh(away), -0.5 * np.log1p(away**2) - math.log(scale.unit)


@inline_no_refcount
def to_scale(kind: int, place: float, unit: float, value: float) -> float:
    """A number on a scale."""
    if kind == OWN:
        return value
    if kind == LOG:
        return math.log(value + place)
    return math.asinh((value - place) / unit)


@inline_no_refcount
def from_scale(kind: int, place: float, unit: float, value: float) -> float:
    """The number that has a value on a scale."""
    if kind == OWN:
        return value
    if kind == LOG:
        return math.exp(value) - place
    return place + unit * math.sinh(value)
