"""What a picture of a table with time shows: which pairs, in which rows and columns, pointing which way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost._tools.arrays import Floats
from dagpost.data.time_columns import TimeColumns
from dagpost.plots.time_layout import Cell

if TYPE_CHECKING:
    from dagpost.posterior.pair_direction import PairDirection, Word

#: Edges that are less probable than this are not drawn; of many, only those above a higher one.
_THRESHOLDS = (0.1, 0.25, 0.5)
_MANY = 60
#: What a legend says of directions that nothing but time decides.
BY_TIME: dict[Word, str] = {"rules": "decided by time, or by your rules"}
BY_TIME_OR_ASSUMPTION: dict[Word, str] = {"rules": "decided by time, or by your rules or assumptions"}


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
