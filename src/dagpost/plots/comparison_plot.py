"""How far posteriors differ: the edges or paths that move most between them, a mark for each posterior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from dagpost._tools.checks import one_of, texts, whole_number
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.plots.figures import COLOURS, SHAPES, axes_for, edge_text, one_a_row, plain, say
from dagpost.plots.sources import probabilities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.sources import Source
    from dagpost.posterior.summaries import Comparison

#: Room for one row of the legend between axes and title, and for each other one, in points.
_LEGEND, _ROW = 26.0, 17.0
#: Letters that fit beside each other in the legend, and those that the mark of each label takes.
_ACROSS, _MARK = 60, 6


def comparison(
    first: Comparison | Source,
    second: Source | None = None,
    *,
    labels: Sequence[str] = ("first", "second"),
    relation: str | None = "->",
    count: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw the edges or paths that move most, one mark for each posterior on a line from the least to the most.

    Parameters
    ----------
    first, second
        Two posteriors of the same variables, each a fitted `DagPosterior`, a `DagSample` or a table of probabilities;
        or first alone, a `Comparison` of any number of models, as `compare` gives it.
    labels
        The names of the two in the legend.
    relation
        "->" for edges, "~>" for paths; of a `Comparison` also None for both.
    count
        How many lines at most.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> table = datasets.load("coronary")
    >>> bdeu, bic = (DagPosterior(score=score).fit(table) for score in ("bdeu", "bic"))
    >>> ax = comparison(bdeu, bic, labels=("BDeu", "BIC"), count=5)
    >>> len(ax.get_yticks())
    5
    """
    whole_number(count, "count")
    if relation is not None or second is not None:
        one_of(relation, "relation", ("->", "~>"), hint="Of a Comparison, None stands for both.")
    if second is not None:
        shown, rows, measure, said = _of_two(first, second, labels, relation or "->")
    else:
        shown, rows = _of_comparison(first, relation)
        measure, said = "probability", ""
    rows = rows[:count]
    texts = [text for text, _ in rows]
    values = np.array([numbers for _, numbers in rows]).reshape(len(rows), len(shown))
    across = min(len(shown), 4)
    if sum(cell_len(plain(label)) + _MARK for label in sorted(shown, key=len)[-across:]) > _ACROSS:
        across = 1
    more = _ROW * (-(-len(shown) // across) - 1)
    ax = axes_for(ax, 7.0, 1.6 + 0.32 * len(rows) + more / 72.0)
    heights = np.arange(len(rows))
    shifts = np.linspace(-0.22, 0.22, len(shown))
    if len(rows):
        ax.hlines(heights, values.min(axis=1), values.max(axis=1), color="0.75", linewidth=2, zorder=1)
    for place, label in enumerate(shown):
        ax.plot(
            values[:, place],
            # Posteriors that agree would hide each other on one line.
            heights + shifts[place],
            linestyle="none",
            marker=SHAPES[place % len(SHAPES)],
            color=COLOURS[place % len(COLOURS)],
            markeredgecolor="black",
            markeredgewidth=0.7,
            markersize=7,
            label=plain(label),
            zorder=2,
        )
    one_a_row(ax, texts, measure)
    ax.set_xlim(-0.03, 1.03)
    # To the left, over the names of the edges, there is always room.
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=across, frameon=False)
    if said:
        say(ax, said, pad=_LEGEND + more)
    return ax


def _of_comparison(found: Any, relation: str | None) -> tuple[tuple[str, ...], list[tuple[str, list[float]]]]:
    if not hasattr(found, "table") or not hasattr(found, "models"):
        raise InputError(
            "A comparison is drawn of two posteriors, or of what compare({'one': model, 'two': other}) gives. "
            f"Got {type(found).__name__} alone."
        )
    table = found.table if relation is None else found.table[found.table["relation"] == relation]
    rows = [
        (edge_text(row["from"], row["to"], row["relation"]), [float(row[model]) for model in found.models])
        for row in table.to_dict("records")
    ]
    return found.models, rows


def _of_two(
    first: Any, second: Any, labels: Sequence[str], relation: str
) -> tuple[tuple[str, ...], list[tuple[str, list[float]]], str, str]:
    """Labels, rows, what the numbers are in a word, and in a sentence."""
    labels = texts(labels, "labels", "comparison", allowed="two different texts")
    if len(labels) != 2 or labels[0] == labels[1]:
        raise InputError(f"The 'labels' must be two different texts. Got {shown(labels)} instead.")
    one, two = probabilities_of(first, relation), probabilities_of(second, relation)
    odd = sorted(set(one.names) ^ set(two.names))
    if odd:
        raise InputError(
            f"Only posteriors of the same variables can be compared: {odd[0]!r} is in one of {labels[0]!r} and "
            f"{labels[1]!r}, but not in the other."
        )
    places = [two.names.index(name) for name in one.names]
    matrices = one.matrix, two.matrix[np.ix_(places, places)]
    moved = np.nan_to_num(np.abs(matrices[0] - matrices[1]), nan=-1.0)
    pairs = [(i, j) for i in range(len(moved)) for j in range(len(moved)) if i != j and moved[i, j] >= 0.0]
    pairs.sort(key=lambda pair: (-moved[pair], pair))
    rows = [
        (edge_text(one.names[i], one.names[j], relation), [float(matrix[i, j]) for matrix in matrices])
        for i, j in pairs
    ]
    measure = " or ".join(dict.fromkeys([one.measure, two.measure]))
    said = " ".join(f"{plain(label)}: {own.told}" for label, own in zip(labels, (one, two), strict=True))
    return tuple(labels), rows, measure, f"Both: {one.told}" if one.told == two.told else said
