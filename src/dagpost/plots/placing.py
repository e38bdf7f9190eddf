"""Boxes elsewhere than in rows, for those who ask: on a circle, where graphviz puts them, or where the user does.

Middles of boxes are in points, counted to the right and downwards. Lines are led between them as in every picture.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import shown
from dagpost.errors import InputError

Edge = tuple[int, int]
Point = tuple[float, float]
Size = tuple[float, float]

#: Layouts of our own.
LAYOUTS = ("layered", "circle", "graphviz")
#: Between boxes: room for lines, heads and numbers.
_ACROSS, _DOWN = 26.0, 20.0


def placed(layout: str | list[Point], sides: Sequence[Size], edges: Sequence[Edge]) -> Floats:
    """The middles of boxes with these sides on a circle, by graphviz, or at positions that are given."""
    if not isinstance(layout, str):
        return as_given(layout, sides)
    return on_circle(sides) if layout == "circle" else by_graphviz(edges, sides)


def on_circle(sides: Sequence[Size]) -> Floats:
    """Boxes on an ellipse, in the order of the columns, beginning on top and going with the clock."""
    count = len(sides)
    wide, high = max(w for w, _ in sides), max(h for _, h in sides)
    # Neighbours at the sides stand above each other, those on top and below beside each other.
    down = max(80.0, count * (high + _DOWN) / 4.0)
    across = max(110.0, count * (wide + _ACROSS) / 5.5)
    angles = 2.0 * math.pi * np.arange(count) / count
    found: Floats = np.column_stack([across * np.sin(angles), -down * np.cos(angles)])
    return found


def by_graphviz(edges: Sequence[Edge], sides: Sequence[Size]) -> Floats:
    """Boxes where the program `dot` of graphviz puts them."""
    program = shutil.which("dot")
    if program is None:
        raise InputError(
            "layout='graphviz' needs the program 'dot', which is not on the path. Install graphviz, or use "
            "layout='layered'."
        )
    lines = [f"{n} [width={w / 72:.4f} height={h / 72:.4f}];" for n, (w, h) in enumerate(sides)]
    lines += [f"{parent} -> {child};" for parent, child in edges]
    text = 'digraph { node [shape=box fixedsize=true label=""]; nodesep=0.35; ' + " ".join(lines) + " }"
    done = subprocess.run([program, "-Tplain"], input=text, capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("node ")]
    if done.returncode or len(rows) != len(sides):
        raise InputError(f"The program 'dot' of graphviz failed: {done.stderr.strip()}. Use layout='layered'.")
    found = {int(row[1]): (72.0 * float(row[2]), -72.0 * float(row[3])) for row in rows}
    return np.array([found[node] for node in range(len(sides))])


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
    """The positions that a user gives for all names; None for one of our own layouts."""
    if isinstance(layout, str) and layout in LAYOUTS:
        return None
    if not isinstance(layout, Mapping):
        raise InputError(
            f"The 'layout' must be one of {', '.join(map(repr, LAYOUTS))}, or a dict with a position (x, y) for each "
            f"name. Got {shown(layout)} instead."
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
