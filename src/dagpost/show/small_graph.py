"""A small picture of the probable edges, as SVG inside HTML, for notebooks: no library, no file, no network.

Nodes stand on a circle in the order of the columns, so that the same table always looks the same; an edge is the wider
and darker the more probable it is. Names from the data are escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from dagpost.arrays import Floats

_WIDTH, _HEIGHT, _MARGIN = 460.0, 340.0, 60.0
#: Edges that are less probable than this are left out, and no more than so many are drawn.
THRESHOLD = 0.1
_MOST_EDGES = 120
_GAP = 9.0


def small_graph(names: Sequence[str], edges: Floats, threshold: float = THRESHOLD) -> str:
    """SVG of the edges (parent, child) above a threshold.

    >>> import numpy as np
    >>> picture = small_graph(["<b>", "c"], np.array([[0.0, 0.8], [0.2, 0.0]]))
    >>> picture.count("<path"), "&lt;b&gt;" in picture, "<b>" in picture
    (2, True, False)
    """
    points = [_place(number, len(names)) for number in range(len(names))]
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names)) if i != j and edges[i, j] >= threshold]
    # The most probable ones last, on top of the others.
    pairs = sorted(pairs, key=lambda pair: edges[pair])[-_MOST_EDGES:]
    drawn = [_edge(points[i], points[j], names[i], names[j], float(edges[i, j])) for i, j in pairs]
    labels = [_label(point, name) for point, name in zip(points, names, strict=True)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" width="{_WIDTH:.0f}" '
        f'height="{_HEIGHT:.0f}" role="img" aria-label="edges with probability of at least {threshold:g}" '
        f'font-family="sans-serif" font-size="12">{"".join(drawn)}{"".join(labels)}</svg>'
    )


def _place(number: int, count: int) -> tuple[float, float]:
    angle = 2.0 * math.pi * number / count - math.pi / 2.0
    across, down = _WIDTH / 2.0 - _MARGIN, _HEIGHT / 2.0 - _MARGIN / 2.0
    return _WIDTH / 2.0 + across * math.cos(angle), _HEIGHT / 2.0 + down * math.sin(angle)


def _edge(start: tuple[float, float], end: tuple[float, float], parent: str, child: str, chance: float) -> str:
    """A slightly bent arrow, so that both directions of a pair can be told apart."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(math.hypot(dx, dy), 1.0)
    ux, uy = dx / length, dy / length
    x1, y1 = start[0] + _GAP * ux, start[1] + _GAP * uy
    x2, y2 = end[0] - _GAP * ux, end[1] - _GAP * uy
    bend_x, bend_y = (x1 + x2) / 2.0 - 0.08 * dy, (y1 + y2) / 2.0 + 0.08 * dx
    # The tip points the way the curve arrives.
    ax, ay = x2 - bend_x, y2 - bend_y
    size = math.hypot(ax, ay) or 1.0
    ax, ay, head = ax / size, ay / size, 5.0 + 3.0 * chance
    left = f"{x2 - head * ax - 0.5 * head * ay:.1f},{y2 - head * ay + 0.5 * head * ax:.1f}"
    right = f"{x2 - head * ax + 0.5 * head * ay:.1f},{y2 - head * ay - 0.5 * head * ax:.1f}"
    grey = round(200 - 180 * chance)
    colour = f"rgb({grey},{grey},{grey})"
    title = html.escape(f"{parent} -> {child}: {chance:.3f}")
    return (
        f'<g><title>{title}</title><path d="M{x1:.1f},{y1:.1f} Q{bend_x:.1f},{bend_y:.1f} {x2:.1f},{y2:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{0.5 + 3.0 * chance:.2f}"/>'
        f'<polygon points="{x2:.1f},{y2:.1f} {left} {right}" fill="{colour}"/></g>'
    )


def _label(point: tuple[float, float], name: str) -> str:
    x, y = point
    shown = name if len(name) <= 16 else name[:15] + "…"
    side = "middle" if abs(x - _WIDTH / 2.0) < 20.0 else ("start" if x > _WIDTH / 2.0 else "end")
    shift_x = 0.0 if side == "middle" else (10.0 if side == "start" else -10.0)
    shift_y = 4.0 if side != "middle" else (-10.0 if y < _HEIGHT / 2.0 else 20.0)
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#0072B2"><title>{html.escape(name)}</title></circle>'
        f'<text x="{x + shift_x:.1f}" y="{y + shift_y:.1f}" text-anchor="{side}">{html.escape(shown)}</text>'
    )
