"""A small picture of the probable edges, as SVG inside HTML, for notebooks: no library, no file, no network.

Nodes stand on a circle in the order of the columns, so that the same table always looks the same. One line a pair, the
wider and darker the more probable an edge between the two is; its mark says what is known of the direction, as in every
picture (`dagpost.plots.marks`). Names from the data are escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from dagpost._tools.text import printable
from dagpost.plots.marks import EXOGENOUS, EXOGENOUS_FILL, LEGEND, dashes_of, head_of, listed
from dagpost.plots.readable_part import readable_part
from dagpost.posterior.directions import Directions, PairDirection, Word
from dagpost.posterior.sensitivity import Sensitivity, label_under_choices

_WIDTH, _HEIGHT, _MARGIN = 460.0, 340.0, 60.0
#: Pairs joined with less probability than this are left out, and at most this many are drawn.
THRESHOLD = 0.1
_MOST_EDGES = 120
#: Names that have room around the picture, where there are too many columns for all.
_MOST_NODES = 36
_GAP = 9.0
#: Height of a line of the legend, which stands below the picture.
_LINE = 16.0
Point = tuple[float, float]


def small_graph(
    directions: Directions,
    threshold: float = THRESHOLD,
    measure: str = "probability",
    tried: Sensitivity | None = None,
) -> str:
    """SVG of the pairs that are joined, either way, with at least this probability, or share of bootstrap replicates.

    >>> import numpy as np
    >>> from dagpost.posterior.directions import not_computed
    >>> picture = small_graph(not_computed(("<b>", "c"), np.array([[0.0, 0.8], [0.2, 0.0]])))
    >>> picture.count("<title>&lt;b&gt; and c: joined 1.000; direction not computed"), "<b>" in picture
    (1, False)
    """
    names, found = directions.names, directions.pairs(threshold)
    ends = [(pair.source, pair.target) for pair in found]
    part = readable_part(directions.joined, ends, threshold, most_pairs=_MOST_EDGES, most_nodes=_MOST_NODES)
    places = [_place(number, len(part.nodes)) for number in range(len(part.nodes))]
    points, kept = dict(zip(part.nodes, places, strict=True)), set(part.pairs)
    # The most probable ones last, on top of the others.
    said = [pair for pair in found if (pair.source, pair.target) in kept][:_MOST_EDGES][::-1]
    drawn = [_edge(points, names, pair, label_under_choices(pair, tried)) for pair in said]
    given = frozenset(directions.exogenous) & {*points}
    labels = [_label(point, names[node], part.suffix(node), square=node in given) for node, point in points.items()]
    words = listed(pair.word for pair in said)
    explained: list[Callable[[float], str]] = [partial(_explained, word) for word in words]
    explained += [_explained_square] if given else []
    explained += [partial(_told, text) for text in part.remarks]
    legend = [explain(_HEIGHT + _LINE * (number + 0.5)) for number, explain in enumerate(explained)]
    height = _HEIGHT + _LINE * len(legend)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" '
        f'width="{_WIDTH:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="pairs joined with a {measure} of at least {threshold:g}" '
        f'font-family="sans-serif" font-size="12">{"".join(drawn)}{"".join(labels)}{"".join(legend)}</svg>'
    )


def _place(number: int, count: int) -> Point:
    angle = 2.0 * math.pi * number / count - math.pi / 2.0
    across, down = _WIDTH / 2.0 - _MARGIN, _HEIGHT / 2.0 - _MARGIN / 2.0
    return _WIDTH / 2.0 + across * math.cos(angle), _HEIGHT / 2.0 + down * math.sin(angle)


def _edge(points: Mapping[int, Point], names: Sequence[str], pair: PairDirection, said: str) -> str:
    """A slightly bent line with its mark, and what is said of its direction."""
    # Bent the same way whichever end has the head.
    start, end = (points[place] for place in sorted((pair.source, pair.target)))
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(math.hypot(dx, dy), 1.0)
    ux, uy = dx / length, dy / length
    ends = ((start[0] + _GAP * ux, start[1] + _GAP * uy), (end[0] - _GAP * ux, end[1] - _GAP * uy))
    bend = (sum(point[0] for point in ends) / 2.0 - 0.08 * dy, sum(point[1] for point in ends) / 2.0 + 0.08 * dx)
    grey = round(200 - 180 * pair.joined)
    first, last = ends if pair.source < pair.target else ends[::-1]
    line = _line(first, bend, last, pair.word, pair.joined, f"rgb({grey},{grey},{grey})")
    both = f"{names[pair.source]} {'and' if head_of(pair.word) is None else '->'} {names[pair.target]}"
    title = html.escape(printable(f"{both}: joined {pair.joined:.3f}; direction {said}"))
    return f"<g><title>{title}</title>{line}</g>"


def _line(first: Point, bend: Point, last: Point, word: Word, joined: float, colour: str) -> str:
    """A line and the head at its end, which points the way the curve arrives."""
    filled, dashes = head_of(word), dashes_of(word)
    head = ""
    if filled is not None:
        left, right = _corners(bend, last, 5.0 + 3.0 * joined)
        fill = colour if filled else "white"
        head = f'<polygon points="{" ".join(map(_at, (last, left, right)))}" fill="{fill}" stroke="{colour}"/>'
        last = _middle(left, right)
    strokes = "" if dashes is None else f' stroke-dasharray="{1.2 * dashes[0]:g} {1.2 * dashes[1]:g}"'
    return (
        f'<path d="M{_at(first)} Q{_at(bend)} {_at(last)}" fill="none" stroke="{colour}" '
        f'stroke-width="{0.5 + 3.0 * joined:.2f}"{strokes}/>{head}'
    )


def _explained(word: Word, height: float) -> str:
    """A line of the legend."""
    line = _line((4.0, height), (20.0, height), (36.0, height), word, 0.6, "rgb(60,60,60)")
    return f'<g>{line}<text x="42" y="{height + 3.5:.1f}" font-size="10">direction {LEGEND[word]}</text></g>'


def _told(text: str, height: float) -> str:
    """A remark below the legend."""
    return f'<text x="4" y="{height + 3.5:.1f}" font-size="10">{html.escape(text)}</text>'


def _explained_square(height: float) -> str:
    """The line of the legend on columns that are not modelled."""
    words = f'<text x="42" y="{height + 3.5:.1f}" font-size="10">{EXOGENOUS}</text>'
    return f"<g>{_dot((20.0, height), square=True)}{words}</g>"


def _corners(before: Point, tip: Point, size: float) -> tuple[Point, Point]:
    """The two corners of a head besides its tip."""
    ax, ay = tip[0] - before[0], tip[1] - before[1]
    length = math.hypot(ax, ay) or 1.0
    ax, ay = size * ax / length, size * ay / length
    return (tip[0] - ax - 0.5 * ay, tip[1] - ay + 0.5 * ax), (tip[0] - ax + 0.5 * ay, tip[1] - ay - 0.5 * ax)


def _middle(one: Point, two: Point) -> Point:
    return (one[0] + two[0]) / 2.0, (one[1] + two[1]) / 2.0


def _at(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _dot(point: Point, title: str = "", *, square: bool) -> str:
    """The dot of a column, or the square of one that is not modelled."""
    x, y = point
    inside = title and f"<title>{html.escape(title)}</title>"
    if square:
        place = f'x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"'
        return f'<rect {place} fill="{EXOGENOUS_FILL}" stroke="rgb(60,60,60)">{inside}</rect>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#0072B2">{inside}</circle>'


def _label(point: Point, name: str, suffix: str, *, square: bool) -> str:
    x, y = point
    name = printable(name)
    shown = (name if len(name) <= 16 else name[:15] + "…") + suffix
    side = "middle" if abs(x - _WIDTH / 2.0) < 20.0 else ("start" if x > _WIDTH / 2.0 else "end")
    shift_x = 0.0 if side == "middle" else (10.0 if side == "start" else -10.0)
    shift_y = 4.0 if side != "middle" else (-10.0 if y < _HEIGHT / 2.0 else 20.0)
    return (
        f"{_dot(point, name, square=square)}"
        f'<text x="{x + shift_x:.1f}" y="{y + shift_y:.1f}" text-anchor="{side}">{html.escape(shown)}</text>'
    )
