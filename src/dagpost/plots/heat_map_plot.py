"""All probabilities of a relation at one glance: a square for each pair, the darker the more probable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.checks import truth
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.plots.figures import axes_for, family_for, plain, say
from dagpost.plots.readable_part import MANY
from dagpost.plots.sources import probabilities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.sources import Source

#: Light for 0 and dark for 1, in grey too.
_MAP = "Blues"
_NUMBERED = 12
_LONGEST = 22
#: Of very many columns, those without any number from here on are left out.
_FAINT = 0.05


def heat_map(
    source: Source,
    relation: str = "->",
    *,
    order: str | Sequence[str] = "columns",
    numbers: bool | None = None,
    colour_bar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of `x relation y` for all pairs, x in the rows, as a map of squares.

    Parameters
    ----------
    source
        A fitted `DagPosterior`, a `DagSample`, or a table of probabilities, which is shown as it is.
    relation
        "->" (edge), "~>" (directed path), "~>{3}" (path of at most 3 edges) or "--" (adjacent).
    order
        "columns" (as in the table), or the names in the order in which they are to stand.
    numbers
        Whether each square has its number; None: for up to 12 variables. Squares that are not known have a "?".
    colour_bar
        Whether a bar explains the colours.
    ax
        Where to draw; None: in a new figure.

    Of more than 64 columns, rows and columns without any number of at least 0.05 are left out, and the caption says how
    many; where names would not have room, some are written.

    >>> from dagpost import DagPosterior, datasets
    >>> ax = heat_map(DagPosterior().fit(datasets.load("coronary")), "~>")
    >>> ax.get_ylabel()
    'from'
    """
    truth(numbers, "numbers", "heat_map", optional=True)
    truth(colour_bar, "colour_bar", "heat_map")
    shown = probabilities_of(source, relation)
    places = _places(order, shown.names)
    rows, columns, remark = _worth_showing(places, shown.matrix)
    matrix = shown.matrix[np.ix_(rows, columns)]
    same = np.equal.outer(rows, columns)
    count = max(matrix.shape)
    numbered = count <= _NUMBERED if numbers is None else numbers
    # Of very many columns no square is narrower than a point.
    sides = [max(min(max((0.46 if numbered else 0.34) * own, 2.0), 9.0), own / 72.0) for own in matrix.shape]
    ax = axes_for(ax, sides[1] + 2.6, sides[0] + 1.5)
    cells = np.ma.masked_array(matrix, mask=np.isnan(matrix) | same)
    # What is masked shows the ground: the diagonal, and what is not known.
    ax.set_facecolor("0.88")
    aspect: Any = "equal" if matrix.shape[0] == matrix.shape[1] else "auto"
    image = ax.imshow(cells, cmap=_MAP, vmin=0.0, vmax=1.0, aspect=aspect, interpolation="nearest")
    steps = [
        _label(axis, [shown.names[place] for place in own], side)
        for axis, own, side in ((ax.yaxis, rows, sides[0]), (ax.xaxis, columns, sides[1]))
    ]
    ax.tick_params(axis="x", rotation=90)
    if count <= MANY:
        ax.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1.0)
    ax.tick_params(which="both", length=0 if max(steps) == 1 else 2)
    ax.set_xlabel("to")
    ax.set_ylabel("from")
    for spine in ax.spines.values():
        spine.set_visible(False)
    _write_numbers(ax, matrix, ~same & (np.isnan(matrix) | numbered))
    if colour_bar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, fraction=0.06, pad=0.03)
        words = f"from {relation} to"
        bar.set_label(f"{shown.measure}: {words}" if shown.share else f"P({words})")
        bar.outline.set_visible(False)
    thinned = f"One in {max(steps)} has its name written." if max(steps) > 1 else ""
    say(ax, " ".join(filter(None, (shown.told, remark, thinned))))
    return ax


def _places(order: Any, names: tuple[str, ...]) -> list[int]:
    if isinstance(order, str) and order == "columns":
        return list(range(len(names)))
    if isinstance(order, str) or not isinstance(order, Iterable) or getattr(order, "ndim", 1) == 0:
        order = [order]
    order = list(order)
    if not all(isinstance(name, str) for name in order) or sorted(order) != sorted(names):
        raise InputError(
            f"The 'order' must be 'columns' or each of the {len(names)} names once. Got {shown(order)} instead."
        )
    return [names.index(str(name)) for name in order]


def _worth_showing(places: Sequence[int], matrix: Floats) -> tuple[list[int], list[int], str]:
    """The rows and the columns of a map, and what is said of the others: of very many, those with any dark square."""
    if len(places) <= MANY:
        return list(places), list(places), ""
    dark = np.isnan(matrix) | (matrix >= _FAINT)
    rows, columns = ([place for place in places if own[place].any()] for own in (dark, dark.T))
    if not rows:
        return list(places), list(places), ""
    left = [f"{len(places) - len(own):,} {what}" for own, what in ((rows, "rows"), (columns, "columns"))]
    return rows, columns, f"Left out: {' and '.join(left)} with nothing of at least {_FAINT:g}."


def _label(axis: Any, names: Sequence[str], side: float) -> int:
    """Write names along an axis of this many inches; every how many: they must not stand on top of each other."""
    count = len(names)
    size = 6.5 if count > MANY else min(10.0, max(4.5, 290.0 / count)) if count > 20 else 10.0
    step = 1 if count <= MANY else math.ceil(1.3 * size * count / (72.0 * side))
    named = range(0, count, step)
    labels = [plain(names[place], _LONGEST) for place in named]
    axis.set_ticks(named, labels, fontsize=size, family=family_for(names))
    return step


def _write_numbers(ax: Axes, matrix: Floats, where: Flags) -> None:
    for row, column in np.argwhere(where).tolist():
        value = matrix[row, column]
        text = "?" if np.isnan(value) else f"{value:.2f}"
        ax.text(column, row, text, ha="center", va="center", fontsize=7.5, color="white" if value > 0.55 else "0.15")
