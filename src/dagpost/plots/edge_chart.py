"""The most probable edges one below the other, with an interval where the probability is an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.checks import whole_number
from dagpost.plots.figures import COLOURS, axes_for, edge_text, one_a_row, say
from dagpost.plots.sources import Probabilities, interval_words, probabilities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.sources import Source

_COUNTED = "An edge counts in every graph that has it, whether or not the data compel its direction."


def edges(source: Source, *, count: int = 20, confidence: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the most probable edges as dots on a scale from 0 to 1, estimated ones with their interval.

    Parameters
    ----------
    source
        A fitted `DagPosterior`, a `DagSample`, or a table of edge probabilities, parents in the rows.
    count
        How many edges at most.
    confidence
        Of the intervals, unless the sample was drawn for another one, or bounds are certain; the caption says which.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> ax = edges(DagPosterior().fit(datasets.load("coronary")), count=3)
    >>> len(ax.get_yticks())
    3
    """
    whole_number(count, "count")
    shown = probabilities_of(source)
    chosen = _most_probable(shown, count)
    ax = axes_for(ax, 6.0, 1.3 + 0.26 * max(len(chosen), 1))
    heights = np.arange(len(chosen))
    values = np.array([shown.matrix[pair] for pair in chosen])
    intervals = _intervals(source, shown, chosen, confidence)
    said = shown.told if shown.caveat else f"{shown.sentence} {_COUNTED}"
    if intervals is not None and len(chosen):
        ax.hlines(heights, *intervals[:2], color="0.45", linewidth=1.4, zorder=2)
        for ends in intervals[:2]:
            ax.plot(ends, heights, linestyle="none", marker="|", color="0.45", markersize=7, zorder=2)
        said = f"{said} Lines: {interval_words(intervals[2])}s."
    ax.plot(values, heights, linestyle="none", marker="o", color=COLOURS[0], markeredgecolor="black", zorder=3)
    if not chosen:
        ax.text(0.5, 0.0, f"no edge has a {shown.measure} above 0", ha="center", va="center", color="0.3")
    labels = [edge_text(shown.names[parent], shown.names[child]) for parent, child in chosen]
    one_a_row(ax, labels, shown.measure, grid="both")
    ax.set_xlim(-0.03, 1.03)
    say(ax, said)
    return ax


def _most_probable(shown: Probabilities, count: int) -> list[tuple[int, int]]:
    known = np.nan_to_num(shown.matrix)
    falling = np.argsort(-known, axis=None, kind="stable")[:count]
    pairs = [(int(place) // len(known), int(place) % len(known)) for place in falling]
    return [pair for pair in pairs if known[pair] > 0.0]


def _intervals(
    source: Any, shown: Probabilities, pairs: list[tuple[int, int]], confidence: float
) -> tuple[list[float], list[float], float] | None:
    """Lower and upper ends, and how sure they are; None where the numbers are exact, or nothing is known of them."""
    if not hasattr(source, "probability") or getattr(source, "exact_", False) or not pairs:
        return None
    from dagpost.features import edge

    statements = [edge(shown.names[parent], shown.names[child]) for parent, child in pairs]
    estimates = source.probability(statements, confidence=confidence)
    # A sample may have a confidence of its own, and some bounds are certain.
    sure = min(estimate.confidence for estimate in estimates)
    return [estimate.lower for estimate in estimates], [estimate.upper for estimate in estimates], sure
