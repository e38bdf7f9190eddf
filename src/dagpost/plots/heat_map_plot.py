"""All probabilities of a relation at one glance: a square for each pair, the darker the more probable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import truth
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.plots.figures import axes_for, family_for, plain, say
from dagpost.plots.layering import acyclic_orientation, topological_order
from dagpost.plots.sources import probabilities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.sources import Source

#: Light for 0 and dark for 1, in grey too.
_MAP = "Blues"
_NUMBERED = 12
_LONGEST = 22


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
        "columns" (as in the table), "structure" (parents before children, as far as that is decided, so that what is
        probable stands above the diagonal), or the names in the order in which they are to stand.
    numbers
        Whether each square has its number; None: for up to 12 variables. Squares that are not known have a "?".
    colour_bar
        Whether a bar explains the colours.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> ax = heat_map(DagPosterior().fit(datasets.load("coronary")), "~>", order="structure")
    >>> ax.get_ylabel()
    'from'
    """
    truth(numbers, "numbers", "heat_map", optional=True)
    truth(colour_bar, "colour_bar", "heat_map")
    shown = probabilities_of(source, relation)
    places = _places(order, shown.names, np.nan_to_num(shown.matrix))
    names = [shown.names[place] for place in places]
    matrix = shown.matrix[np.ix_(places, places)]
    count = len(names)
    numbered = count <= _NUMBERED if numbers is None else numbers
    side = min(max((0.46 if numbered else 0.34) * count, 2.0), 9.0)
    ax = axes_for(ax, side + 2.6, side + 1.5)
    cells = np.ma.masked_array(matrix, mask=np.isnan(matrix) | np.eye(count, dtype=bool))
    # What is masked shows the ground: the diagonal, and what is not known.
    ax.set_facecolor("0.88")
    image = ax.imshow(cells, cmap=_MAP, vmin=0.0, vmax=1.0, aspect="equal", interpolation="nearest")
    size = min(10.0, max(4.5, 290.0 / count)) if count > 20 else 10.0
    labels: dict[str, Any] = {"fontsize": size, "family": family_for(names)}
    ax.set_xticks(range(count), [plain(name, _LONGEST) for name in names], rotation=90, **labels)
    ax.set_yticks(range(count), [plain(name, _LONGEST) for name in names], **labels)
    ax.set_xticks(np.arange(count + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(count + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.tick_params(which="both", length=0)
    ax.set_xlabel("to")
    ax.set_ylabel("from")
    for spine in ax.spines.values():
        spine.set_visible(False)
    _write_numbers(ax, matrix, numbered)
    if colour_bar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, fraction=0.06, pad=0.03)
        words = f"from {relation} to"
        bar.set_label(f"{shown.measure}: {words}" if shown.share else f"P({words})")
        bar.outline.set_visible(False)
    say(ax, shown.told)
    return ax


def _places(order: Any, names: tuple[str, ...], matrix: Floats) -> list[int]:
    if isinstance(order, str) and order == "columns":
        return list(range(len(names)))
    if isinstance(order, str) and order == "structure":
        joined = np.triu(matrix + matrix.T) > 0.05
        pairs = [(int(i), int(j)) for i, j in np.argwhere(joined)]
        return topological_order(len(names), acyclic_orientation(matrix, pairs))
    if isinstance(order, str) or not isinstance(order, Iterable) or getattr(order, "ndim", 1) == 0:
        order = [order]
    order = list(order)
    if not all(isinstance(name, str) for name in order) or sorted(order) != sorted(names):
        raise InputError(
            f"The 'order' must be 'columns', 'structure', or each of the {len(names)} names once. "
            f"Got {shown(order)} instead."
        )
    return [names.index(str(name)) for name in order]


def _write_numbers(ax: Axes, matrix: Floats, numbered: bool) -> None:
    for (row, column), value in np.ndenumerate(matrix):
        if row == column or not (numbered or np.isnan(value)):
            continue
        text = "?" if np.isnan(value) else f"{value:.2f}"
        ax.text(column, row, text, ha="center", va="center", fontsize=7.5, color="white" if value > 0.55 else "0.15")
