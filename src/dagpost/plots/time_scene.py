"""The scene of a table with time: series as rows, times as columns, the present at the right.

Lines lead on in time, from earlier values to present ones, or join two present values. They run as `time_layout` says
and have the marks of all other pictures; `svg` and `canvas` draw the scene like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dagpost._tools.arrays import Floats
from dagpost._tools.text import printable
from dagpost.data.time_columns import TimeColumns, edge_words, series_and_lag, time_columns
from dagpost.plots.curves import Path, straight
from dagpost.plots.letters import LINE, broken, text_width
from dagpost.plots.marks import LOOKS, head_size
from dagpost.plots.ports import Frame, Point
from dagpost.plots.routing import Routed, room_needed
from dagpost.plots.scene import Box, Line, Scene, framed, with_numbers
from dagpost.plots.time_layout import Cell, Grid, Route, routes_of
from dagpost.posterior.directions import Directions
from dagpost.posterior.pair_direction import PairDirection, Word

_SIZE, _LABEL, _NARROWEST = 12.0, 9.5, 56.0
_BESIDE, _ABOVE, _HEADER = 0.62, 0.36, 16.0
#: How far a line goes straight on from its box before it turns, as a share of its way.
_CURVE = 0.45
#: Edges that are less probable than this are not drawn; of many, only those above a higher one.
_THRESHOLDS = (0.1, 0.25, 0.5)
_MANY = 60
#: What a legend says of directions that nothing but time decides.
BY_TIME: dict[Word, str] = {"rules": "decided by time, or by your rules"}
BY_TIME_OR_ASSUMPTION: dict[Word, str] = {"rules": "decided by time, or by your rules or assumptions"}


def time_scene(
    directions: Directions,
    *,
    threshold: float | None = None,
    numbers: bool | None = None,
    measure: str = "probability",
    remarks: Sequence[str] = (),
) -> Scene:
    """The picture of the edges between series; `threshold` None: 0.1, or more where that leaves very many.

    >>> import numpy as np
    >>> from dagpost.posterior.directions import not_computed
    >>> names, edges = ("b", "c", "b[t-1]", "c[t-1]"), np.zeros((4, 4))
    >>> edges[2, 1] = 0.8
    >>> found = time_scene(not_computed(names, edges))
    >>> [line.said for line in found.lines], [text for text, _ in found.heads]
    (['b -> c at lag 1: 0.800'], ['1 step earlier', 'now'])
    """
    columns = time_columns(directions.names)
    pairs, hidden = drawn_pairs(columns, directions.joined, threshold)
    said = [onward(directions.pair(*pair), pair, columns) for pair in pairs]
    cells, names = cells_of(columns), labels_of(columns)
    broken_names = [broken(name, _LABEL, most=1) for name in names]
    labels = [label[0] for label, _ in broken_names]
    grid = _grid(cells, labels, said)
    routes = routes_of([(cells[pair.source], cells[pair.target]) for pair in said], grid)
    boxes = _boxes(columns, cells, labels, grid, {node for pair in pairs for node in pair})
    found = [_routed(pair, route, boxes, grid) for pair, route in zip(said, routes, strict=True)]
    lines = [
        Line(
            number, pair.source, pair.target, pair.word, pair.joined,
            f"{printable(_words(pair, columns))}: {pair.joined:.3f}", own.path, own.head, f"{pair.joined:.2f}", None,
        )
        for number, (pair, own) in enumerate(zip(said, found, strict=True))
    ]  # fmt: skip
    frames = [Frame(box.x, box.y, box.width / 2.0, box.height / 2.0) for box in boxes]
    placed = with_numbers(lines, frames, found, _SIZE, numbers)
    heads = [
        (words, (_turned(grid.centre(Cell(0, place)), grid)[0], -_HEADER))
        for place, words in enumerate(times_of(columns))
    ]
    short = {label[0]: name for (label, cut), name in zip(broken_names, names, strict=True) if cut}
    key = [f"{label}: {printable(name)}" for label, name in short.items()]
    told = " ".join(filter(None, [*remarks, *hidden]))
    scene = Scene(
        "wide", 0.0, 0.0, _SIZE, tuple(boxes), tuple(placed), measure, remarks=tuple(filter(None, [told, *key])),
        labels=BY_TIME_OR_ASSUMPTION if directions.assumed else BY_TIME, heads=tuple(heads),
    )  # fmt: skip
    return framed(scene)


def _grid(cells: Sequence[Cell], labels: Sequence[str], said: Sequence[PairDirection]) -> Grid:
    """Boxes of one size: wide enough for all names, high enough for all heads that enter the same side of one."""
    width = max(_NARROWEST, max(text_width(label, _SIZE) for label in labels) + 2.0 * _BESIDE * _SIZE)
    ends = Counter[tuple[int, bool]]()
    for pair in said:
        bent = cells[pair.source].column == cells[pair.target].column
        ends[pair.source, True] += 1
        ends[pair.target, bent] += 1
    most = max(ends.values(), default=0)
    needed = (most + 1) * 2.0 * room_needed(head_size("clear", 1.0))
    height = max(LINE * _SIZE + 2.0 * _ABOVE * _SIZE, needed)
    rows, last = max(cell.row for cell in cells) + 1, max(cell.column for cell in cells) + 1
    return Grid(rows, last, width, height)


def _turned(point: Point, grid: Grid) -> Point:
    """A point of the grid, whose heights grow upwards, in a scene, where they grow downwards."""
    return point[0], grid.height - point[1]


def _boxes(
    columns: TimeColumns, cells: Sequence[Cell], labels: Sequence[str], grid: Grid, joined: set[int]
) -> list[Box]:
    present = {columns.place(series, 0) for series in columns.series}
    boxes = []
    for place, (cell, label, name) in enumerate(zip(cells, labels, columns.names, strict=True)):
        x, y = _turned(grid.centre(cell), grid)
        given = place not in present
        box = Box(
            place, name, (label,), x, y, grid.box_width, grid.box_height,
            square=given, faint=given and place not in joined,
        )  # fmt: skip
        boxes.append(box)
    return boxes


def _routed(pair: PairDirection, route: Route, boxes: Sequence[Box], grid: Grid) -> Routed:
    """The line from box to box along its route, and its head."""
    first, last = boxes[pair.source], boxes[pair.target]
    length, width = head_size(pair.word, pair.joined)
    begin = (first.x + first.width / 2.0, first.y + first.height * (0.5 - route.ports[0]))
    side = 1.0 if route.bend else -1.0
    tip = (last.x + side * last.width / 2.0, last.y + last.height * (0.5 - route.ports[1]))
    base = (tip[0] + side * length, tip[1])
    head = ((tip), (base[0], base[1] - width / 2.0), (base[0], base[1] + width / 2.0)) if length else None
    if route.bend:
        path: Path = (begin, (begin[0] + route.bend, begin[1]), (base[0] + route.bend, base[1]), base)
        return Routed(path, head)
    points: list[Point] = [begin]
    for stop in route.stops:
        one, other = (_turned((x, stop.height), grid) for x in (stop.begin, stop.end))
        points += [*_curve(points[-1], one), *straight(one, other)]
    return Routed((*points, *_curve(points[-1], base)), head)


def _curve(start: Point, end: Point) -> list[Point]:
    """The rest of a curve that leaves and arrives along the rows."""
    step = _CURVE * (end[0] - start[0])
    return [(start[0] + step, start[1]), (end[0] - step, end[1]), end]


def _words(pair: PairDirection, columns: TimeColumns) -> str:
    """The edge in words; of two present values that are joined either way, both names."""
    source, target = columns.names[pair.source], columns.names[pair.target]
    if LOOKS[pair.word].head is None:
        return f"{source} and {target} now"
    series, lag = series_and_lag(source)
    return edge_words(series, target, None if source in columns.static else lag)


def times_of(columns: TimeColumns) -> list[str]:
    """The heads of the columns of the picture, the earliest first.

    >>> from dagpost.data.time_columns import time_columns
    >>> times_of(time_columns(["a", "a[t-1]", "a[t-2]", "sex"]))
    ['static', '2 steps earlier', '1 step earlier', 'now']
    """
    earlier = [f"{lag} step{'' if lag == 1 else 's'} earlier" for lag in range(columns.lags, 0, -1)]
    return [*(["static"] if columns.static else []), *earlier, "now"]


def labels_of(columns: TimeColumns) -> list[str]:
    """What is written into the box of each variable: the name of its series."""
    of_place = {place: series for (series, _), place in columns.places.items()}
    return [of_place.get(place, name) for place, name in enumerate(columns.names)]


def onward(said: PairDirection, pair: tuple[int, int], columns: TimeColumns) -> PairDirection:
    """What is said of a pair; from an earlier value, or a static one, an edge can only lead on."""
    parent, child = pair
    if columns.places.get((columns.names[parent], 0)) == parent or said.word in ("clear", "leaning"):
        return said
    return said._replace(source=parent, target=child, word="rules")


def drawn_pairs(
    columns: TimeColumns, joined: Floats, threshold: float | None
) -> tuple[list[tuple[int, int]], list[str]]:
    """The pairs to draw, of which the second one is present, and what to say of the others."""
    likely = {}
    for child in [columns.place(series, 0) for series in columns.series]:
        for parent in range(len(columns.names)) if child is not None else ():
            if child is not None and parent != child and (child, parent) not in likely and joined[parent, child] > 0.0:
                likely[parent, child] = float(joined[parent, child])
    counts = {least: sum(chance >= least for chance in likely.values()) for least in _THRESHOLDS}
    usual = next((least for least, count in counts.items() if count <= _MANY), _THRESHOLDS[-1])
    least = usual if threshold is None else threshold
    pairs = [pair for pair, chance in likely.items() if chance >= least]
    left = len(likely) - len(pairs)
    words = f"Not drawn: {left:,} edge{'' if left == 1 else 's'} with a probability below {least:g}."
    return pairs, [words] if left else []


def cells_of(columns: TimeColumns) -> list[Cell]:
    """Row and column of every variable; static ones stand in a column of their own, at the left."""
    rows = {series: row for row, series in enumerate(columns.series)}
    first = 1 if columns.static else 0
    found = [Cell(0, 0)] * len(columns.names)
    for (series, lag), place in columns.places.items():
        found[place] = Cell(rows[series], first + columns.lags - lag)
    free = max(0, (len(columns.series) - len(columns.static)) // 2)
    for row, name in enumerate(columns.static):
        found[columns.names.index(name)] = Cell(row + free, 0)
    return found
