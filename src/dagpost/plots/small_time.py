"""The picture of a table with time as SVG inside HTML, for the report and notebooks: no library, no file, no network.

Rows, columns, lines and marks are those of `plots.in_time`. Names from the data are escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from dagpost._tools.text import printable
from dagpost.data.time_columns import TimeColumns, edge_words, series_and_lag, time_columns
from dagpost.plots.figures import columns_of, shortened
from dagpost.plots.marks import EXOGENOUS, EXOGENOUS_FILL, LEGEND, dashes_of, head_of, listed
from dagpost.plots.time_layout import Grid, Route, routes_of
from dagpost.plots.time_pairs import BY_TIME, cells_of, drawn_pairs, labels_of, onward, times_of
from dagpost.posterior.directions import Directions, PairDirection, Word

_LETTER, _BOX, _LONGEST, _NARROWEST = 7.0, 20.0, 16, 56.0
_MARGIN, _HEADER, _LINE = 16.0, 24.0, 16.0
_CURVE = 0.45
Point = tuple[float, float]


def small_time(directions: Directions, measure: str = "probability", threshold: float | None = None) -> str:
    """SVG of the edges between series: rows are series, columns are times, the present is at the right.

    >>> import numpy as np
    >>> from dagpost.posterior.directions import not_computed
    >>> names, edges = ("<b>", "c", "<b>[t-1]", "c[t-1]"), np.zeros((4, 4))
    >>> edges[2, 1] = 0.8
    >>> picture = small_time(not_computed(names, edges))
    >>> picture.count("<title>&lt;b&gt; -&gt; c at lag 1: 0.800</title>"), "<b>" in picture
    (1, False)
    """
    columns = time_columns(directions.names)
    pairs, hidden = drawn_pairs(columns, directions.joined, threshold)
    said = [onward(directions.pair(*pair), pair, columns) for pair in pairs]
    cells, labels = cells_of(columns), [shortened(printable(label), _LONGEST) for label in labels_of(columns)]
    width = max(_NARROWEST, max(_LETTER * columns_of(label) for label in labels) + 14.0)
    rows, last = max(cell.row for cell in cells) + 1, max(cell.column for cell in cells) + 1
    grid = Grid(rows, last, width, _BOX)
    routes = routes_of([(cells[pair.source], cells[pair.target]) for pair in said], grid)
    centres = [_turned(grid.centre(cell), grid) for cell in cells]
    lines = sorted(zip(said, routes, strict=True), key=lambda item: item[0].joined)
    drawn = [_line(pair, route, centres, grid, columns) for pair, route in lines]
    joined = {node for pair in pairs for node in pair}
    boxes = [
        _box(centre, label, name, grid, given=columns.places.get((name, 0)) is None, in_use=place in joined)
        for place, (centre, label, name) in enumerate(zip(centres, labels, columns.names, strict=True))
    ]
    heads = [
        f'<text x="{_MARGIN + width / 2 + column * (width + grid.between):.1f}" y="{_MARGIN + 6:.1f}" '
        f'text-anchor="middle" font-size="11">{words}</text>'
        for column, words in enumerate(times_of(columns))
    ]
    top = _MARGIN + _HEADER + grid.height
    legend = [
        _explained(word, top + _LINE * (row + 0.5)) for row, word in enumerate(listed(pair.word for pair in said))
    ]
    legend.append(_explained_box(top + _LINE * (len(legend) + 0.5)))
    legend += [_told(text, top + _LINE * (len(legend) + row + 0.5)) for row, text in enumerate(hidden)]
    bend = 0.75 * max((route.bend for route in routes), default=0.0)
    whole, height = max(grid.width + bend + 2 * _MARGIN, 330.0), top + _LINE * len(legend)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="in-time" viewBox="0 0 {whole:.0f} {height:.0f}" '
        f'width="{whole:.0f}" height="{height:.0f}" role="img" aria-label="edges between series, by their {measure}" '
        f'font-family="sans-serif" font-size="12">{"".join([*heads, *drawn, *boxes, *legend])}</svg>'
    )


def _turned(point: Point, grid: Grid) -> Point:
    """A point of the grid in a picture whose heights grow downwards."""
    return _MARGIN + point[0], _MARGIN + _HEADER + grid.height - point[1]


def _box(centre: Point, label: str, name: str, grid: Grid, *, given: bool, in_use: bool) -> str:
    x, y = centre[0] - grid.box_width / 2, centre[1] - grid.box_height / 2
    fill, corner = (EXOGENOUS_FILL, 0) if given else ("white", 5)
    edge, ink = ("rgb(60,60,60)", "black") if in_use or not given else ("rgb(180,180,180)", "rgb(110,110,110)")
    return (
        f'<g><title>{html.escape(printable(name))}</title><rect x="{x:.1f}" y="{y:.1f}" width="{grid.box_width:.1f}" '
        f'height="{grid.box_height:.1f}" rx="{corner}" fill="{fill}" stroke="{edge}"/><text x="{centre[0]:.1f}" '
        f'y="{centre[1] + 4:.1f}" text-anchor="middle" fill="{ink}">{html.escape(label)}</text></g>'
    )


def _line(pair: PairDirection, route: Route, centres: Sequence[Point], grid: Grid, columns: TimeColumns) -> str:
    """A line with its head, and the edge in words."""
    half = grid.box_width / 2
    first, last = centres[pair.source], centres[pair.target]
    begin = (first[0] + half, first[1] + grid.box_height * (0.5 - route.ports[0]))
    side = 1.0 if route.bend else -1.0
    end = (last[0] + side * half, last[1] + grid.box_height * (0.5 - route.ports[1]))
    filled, length = head_of(pair.word), 5.0 + 3.0 * pair.joined
    inner = end if filled is None else (end[0] + side * length, end[1])
    if route.bend:
        out, back = ((x + route.bend, y) for x, y in (begin, inner))
        course = f"M{_at(begin)} C{_at(out)} {_at(back)} {_at(inner)}"
    else:
        course, here = f"M{_at(begin)}", begin
        for stop in route.stops:
            one, other = (_turned((x, stop.height), grid) for x in (stop.begin, stop.end))
            course += f" {_curve(here, one)} L{_at(other)}"
            here = other
        course += f" {_curve(here, inner)}"
    grey = round(200 - 180 * pair.joined)
    colour, head = f"rgb({grey},{grey},{grey})", ""
    if filled is not None:
        corners = (end, (inner[0], inner[1] - 0.5 * length), (inner[0], inner[1] + 0.5 * length))
        points, fill = " ".join(map(_at, corners)), colour if filled else "white"
        head = f'<polygon points="{points}" fill="{fill}" stroke="{colour}"/>'
    look = f'fill="none" stroke="{colour}" stroke-width="{0.5 + 3.0 * pair.joined:.2f}"{_dashed(pair.word)}'
    path = f'<path d="{course}" {look}/>'
    return f"<g><title>{html.escape(printable(_words(pair, columns)))}: {pair.joined:.3f}</title>{path}{head}</g>"


def _words(pair: PairDirection, columns: TimeColumns) -> str:
    """The edge in words; of two present values that are joined either way, both names."""
    source, target = columns.names[pair.source], columns.names[pair.target]
    if head_of(pair.word) is None:
        return f"{source} and {target} now"
    series, lag = series_and_lag(source)
    return edge_words(series, target, None if source in columns.static else lag)


def _explained(word: Word, height: float) -> str:
    filled, ink = head_of(word), "rgb(60,60,60)"
    end = 36.0 if filled is None else 28.0
    head = ""
    if filled is not None:
        fill = ink if filled else "white"
        head = (
            f'<polygon points="36,{height:.1f} 28,{height - 4:.1f} 28,{height + 4:.1f}" fill="{fill}" stroke="{ink}"/>'
        )
    line = f'<path d="M4,{height:.1f} L{end},{height:.1f}" stroke="{ink}" stroke-width="2.3"{_dashed(word)}/>'
    return f"<g>{line}{head}{_beside(f'direction {BY_TIME.get(word, LEGEND[word])}', height)}</g>"


def _explained_box(height: float) -> str:
    box = f'<rect x="8" y="{height - 5:.1f}" width="24" height="10" fill="{EXOGENOUS_FILL}" stroke="rgb(60,60,60)"/>'
    return f"<g>{box}{_beside(EXOGENOUS, height)}</g>"


def _beside(words: str, height: float) -> str:
    return f'<text x="42" y="{height + 3.5:.1f}" font-size="10">{html.escape(words)}</text>'


def _told(text: str, height: float) -> str:
    return f'<text x="4" y="{height + 3.5:.1f}" font-size="10">{html.escape(text)}</text>'


def _dashed(word: Word) -> str:
    dashes = dashes_of(word)
    return "" if dashes is None else f' stroke-dasharray="{1.2 * dashes[0]:g} {1.2 * dashes[1]:g}"'


def _curve(start: Point, end: Point) -> str:
    step = _CURVE * (end[0] - start[0])
    return f"C{_at((start[0] + step, start[1]))} {_at((end[0] - step, end[1]))} {_at(end)}"


def _at(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
