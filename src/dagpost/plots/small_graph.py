"""A small picture of the probable edges, as SVG inside HTML, for notebooks: no library, no file, no network.

Nodes stand on a circle in the order of the columns, so that the same table always looks the same. One line a pair, the
wider and darker the more probable an edge between the two is; the line and its heads say how sure the direction is, as
in every picture (`dagpost.plots.direction`). Names from the data are escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from dagpost._tools.arrays import Floats
from dagpost.plots.direction import CLEAR, LABELS, LEANING, direction_of, heads_of

_WIDTH, _HEIGHT, _MARGIN = 460.0, 340.0, 60.0
#: Pairs joined with less probability than this are left out, and at most this many are drawn.
THRESHOLD = 0.1
_MOST_EDGES = 120
_GAP = 9.0
#: Room for the words below the picture.
_WORDS = 20.0
_LEGEND = (
    f"Dashed: direction less than {100 * CLEAR:g}% sure, leaning to the filled head; "
    f"both hollow: below {100 * LEANING:g}%."
)
_UNDIRECTED = "No heads: directions that the data cannot tell are picked by the search."


def small_graph(names: Sequence[str], edges: Floats, threshold: float = THRESHOLD, measure: str = "probability") -> str:
    """SVG of the pairs that are joined, either way, with at least this probability, or share of bootstrap replicates.

    >>> import numpy as np
    >>> picture = small_graph(["<b>", "c"], np.array([[0.0, 0.8], [0.2, 0.0]]))
    >>> picture.count("<path"), picture.count("<polygon"), "&lt;b&gt;" in picture, "<b>" in picture
    (1, 2, True, False)
    """
    points = [_place(number, len(names)) for number in range(len(names))]
    joined = edges + edges.T
    # From the more probable parent.
    pairs = [
        (i, j) if edges[i, j] >= edges[j, i] else (j, i)
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if joined[i, j] >= threshold
    ]
    # The most probable ones last, on top of the others.
    pairs = sorted(pairs, key=lambda pair: joined[pair])[-_MOST_EDGES:]
    drawn = [
        _edge(points[i], points[j], (names[i], names[j]), (float(edges[i, j]), float(edges[j, i])), measure)
        for i, j in pairs
    ]
    labels = [_label(point, name) for point, name in zip(points, names, strict=True)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT + _WORDS:.0f}" '
        f'width="{_WIDTH:.0f}" height="{_HEIGHT + _WORDS:.0f}" role="img" '
        f'aria-label="pairs joined with a {measure} of at least {threshold:g}" '
        f'font-family="sans-serif" font-size="12">{"".join(drawn)}{"".join(labels)}'
        f'<text x="4" y="{_HEIGHT + _WORDS - 5:.0f}" font-size="10">'
        f"{_UNDIRECTED if measure == 'share' else _LEGEND}</text></svg>"
    )


def _place(number: int, count: int) -> tuple[float, float]:
    angle = 2.0 * math.pi * number / count - math.pi / 2.0
    across, down = _WIDTH / 2.0 - _MARGIN, _HEIGHT / 2.0 - _MARGIN / 2.0
    return _WIDTH / 2.0 + across * math.cos(angle), _HEIGHT / 2.0 + down * math.sin(angle)


def _edge(
    start: tuple[float, float],
    end: tuple[float, float],
    names: tuple[str, str],
    chances: tuple[float, float],
    measure: str,
) -> str:
    """A slightly bent line, with a head at each end that its direction asks for."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(math.hypot(dx, dy), 1.0)
    ux, uy = dx / length, dy / length
    first = (start[0] + _GAP * ux, start[1] + _GAP * uy)
    last = (end[0] - _GAP * ux, end[1] - _GAP * uy)
    bend = ((first[0] + last[0]) / 2.0 - 0.08 * dy, (first[1] + last[1]) / 2.0 + 0.08 * dx)
    chance, direction = min(sum(chances), 1.0), "picked" if measure == "share" else direction_of(*chances)
    grey = round(200 - 180 * chance)
    colour, size = f"rgb({grey},{grey},{grey})", 5.0 + 3.0 * chance
    # A tip points the way the curve arrives, and the line ends where it begins.
    tips = [(last, *_head(bend, last, size)), (first, *_head(bend, first, size))]
    filled = heads_of(direction)
    heads = [
        f'<polygon points="{" ".join(map(_at, corners))}" fill="{colour if fill else "white"}" stroke="{colour}"/>'
        for corners, fill in zip(tips, filled, strict=True)
        if fill is not None
    ]
    ends = [
        tip if fill is None else _middle(left, right) for (tip, left, right), fill in zip(tips, filled, strict=True)
    ]
    dashes = "" if direction in ("clear", "picked") else ' stroke-dasharray="6 4"'
    said = f"{names[0]} -> {names[1]}: {chances[0]:.3f}; {names[1]} -> {names[0]}: {chances[1]:.3f}"
    title = html.escape(f"{said}; direction {LABELS[direction]}")
    return (
        f'<g><title>{title}</title><path d="M{_at(ends[1])} Q{_at(bend)} {_at(ends[0])}" fill="none" '
        f'stroke="{colour}" stroke-width="{0.5 + 3.0 * chance:.2f}"{dashes}/>{"".join(heads)}</g>'
    )


def _head(
    before: tuple[float, float], tip: tuple[float, float], size: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The two corners of a head besides its tip."""
    ax, ay = tip[0] - before[0], tip[1] - before[1]
    length = math.hypot(ax, ay) or 1.0
    ax, ay = size * ax / length, size * ay / length
    return (tip[0] - ax - 0.5 * ay, tip[1] - ay + 0.5 * ax), (tip[0] - ax + 0.5 * ay, tip[1] - ay - 0.5 * ax)


def _middle(one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
    return (one[0] + two[0]) / 2.0, (one[1] + two[1]) / 2.0


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


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
