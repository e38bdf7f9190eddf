"""How far posteriors differ: the edges or paths that move most between them, a mark for each posterior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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

#: Room for one row of the legend between axes and title, and for a second one, in points.
_LEGEND, _ROW = 26.0, 17.0
#: Letters that fit beside each other in the legend, and those that the mark of each label takes.
_ACROSS, _MARK = 60, 6


def comparison(
    first: Source,
    second: Source,
    *,
    labels: Sequence[str] = ("first", "second"),
    relation: str = "->",
    count: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw the edges or paths that move most, one mark for each posterior on a line from the least to the most.

    Parameters
    ----------
    first, second
        Two posteriors of the same variables, each a fitted `DagPosterior`, a `DagSample` or a table of probabilities.
    labels
        The names of the two in the legend.
    relation
        "->" for edges, "~>" for paths.
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
    one_of(relation, "relation", ("->", "~>"))
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
    pairs = sorted(pairs, key=lambda pair: (-moved[pair], pair))[:count]
    values = np.array([[matrix[pair] for matrix in matrices] for pair in pairs]).reshape(len(pairs), 2)
    measure = " or ".join(dict.fromkeys([one.measure, two.measure]))
    told = " ".join(f"{plain(label)}: {own.told}" for label, own in zip(labels, (one, two), strict=True))
    across = 2 if sum(cell_len(plain(label)) + _MARK for label in labels) <= _ACROSS else 1
    more = _ROW * (2 - across)
    ax = axes_for(ax, 7.0, 1.6 + 0.32 * len(pairs) + more / 72.0)
    heights = np.arange(len(pairs))
    shifts = -0.22, 0.22
    if pairs:
        ax.hlines(heights, values.min(axis=1), values.max(axis=1), color="0.75", linewidth=2, zorder=1)
    for place, label in enumerate(labels):
        ax.plot(
            values[:, place],
            # Posteriors that agree would hide each other on one line.
            heights + shifts[place],
            linestyle="none",
            marker=SHAPES[place],
            color=COLOURS[place],
            markeredgecolor="black",
            markeredgewidth=0.7,
            markersize=7,
            label=plain(label),
            zorder=2,
        )
    one_a_row(ax, [edge_text(one.names[i], one.names[j], relation) for i, j in pairs], measure)
    ax.set_xlim(-0.03, 1.03)
    # To the left, over the names of the edges, there is always room.
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=across, frameon=False)
    say(ax, f"Both: {one.told}" if one.told == two.told else told, pad=_LEGEND + more)
    return ax
