"""The scene of a table with time: series as rows, times as columns, the present at the right.

Lines lead on in time, from earlier values to present ones, or join two present values. They run as in every scene
(`routing`), and have the same marks.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagpost._tools.arrays import Floats
from dagpost._tools.text import printable
from dagpost.data.time_columns import TimeColumns, edge_words, series_and_lag, time_columns
from dagpost.plots.box_layout import sides_of
from dagpost.plots.letters import broken
from dagpost.plots.marks import LOOKS
from dagpost.plots.scene import Box, Scene, framed, lines_between
from dagpost.posterior.directions import Directions
from dagpost.posterior.pair_direction import PairDirection, Word

#: Size of the letters, how wide a label is at most, in letters, and how far above the boxes the times stand.
_SIZE, _LABEL, _HEADER = 12.0, 9.5, 22.0
#: The room between the boxes of two columns, and of two rows for at most so many rows.
_ACROSS, _DOWN = 110.0, ((6, 36.0), (12, 24.0), (1_024, 18.0))
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
    names = labels_of(columns)
    broken_names = [broken(name, _LABEL, most=1) for name in names]
    boxes = _boxes(columns, [label for label, _ in broken_names], said)
    told = [f"{printable(_words(pair, columns))}: {pair.joined:.3f}" for pair in said]
    lines = lines_between(boxes, said, 0.0, _SIZE, told=told, numbers=numbers)
    places = sorted({box.x for box in boxes})
    heads = [(words, (x, -_HEADER - boxes[0].height / 2.0)) for words, x in zip(times_of(columns), places, strict=True)]
    short = {label[0]: name for (label, cut), name in zip(broken_names, names, strict=True) if cut}
    key = [f"{label}: {printable(name)}" for label, name in short.items()]
    told_below = " ".join(filter(None, [*remarks, *hidden]))
    scene = Scene(
        "wide", 0.0, 0.0, _SIZE, tuple(boxes), tuple(lines), measure, remarks=tuple(filter(None, [told_below, *key])),
        labels=BY_TIME_OR_ASSUMPTION if directions.assumed else BY_TIME, heads=tuple(heads),
    )  # fmt: skip
    return framed(scene)


def _boxes(columns: TimeColumns, labels: Sequence[tuple[str, ...]], said: Sequence[PairDirection]) -> list[Box]:
    """Boxes of one size, large enough for each name and for the ends of all lines, in rows and columns."""
    width, height = (max(sides) for sides in zip(*sides_of(labels, said, 0.0, _SIZE), strict=True))
    rows = len(columns.series)
    across, down = width + _ACROSS, height + next(room for most, room in _DOWN if rows <= most)
    joined = {node for pair in said for node in (pair.source, pair.target)}
    present = {columns.place(series, 0) for series in columns.series}
    return [
        Box(
            place, name, label, column * across, row * down, width, height,
            square=place not in present, faint=place not in present and place not in joined,
        )
        for place, (name, label, (row, column)) in enumerate(
            zip(columns.names, labels, cells_of(columns), strict=True)
        )
    ]  # fmt: skip


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


def cells_of(columns: TimeColumns) -> list[tuple[int, int]]:
    """Row and column of every variable; static ones stand in a column of their own, at the left."""
    rows = {series: row for row, series in enumerate(columns.series)}
    first = 1 if columns.static else 0
    found = [(0, 0)] * len(columns.names)
    for (series, lag), place in columns.places.items():
        found[place] = rows[series], first + columns.lags - lag
    free = max(0, (len(columns.series) - len(columns.static)) // 2)
    for row, name in enumerate(columns.static):
        found[columns.names.index(name)] = row + free, 0
    return found
