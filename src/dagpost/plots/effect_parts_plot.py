"""The parts of an effect one below the other: along the edge itself, and through each other variable on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.checks import whole_number
from dagpost.errors import InputError
from dagpost.plots.effect_plot import LOWERS, RAISES, check_effect, share_text
from dagpost.plots.figures import SMALL, axes_for, one_a_row, plain, say
from dagpost.plots.sources import interval_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.causal.results import Effect

#: Room between the axes and the caption, for the head of the numbers at the right.
CAPTION_PAD = 15.0


def effect_parts(effect: Effect, *, count: int = 8, ax: Axes | None = None) -> Axes:
    """Draw the whole effect, its direct part and the part through each other variable: mean, interval, how probable.

    The number at the right is how probably there is such a way at all: an edge, or a path through that variable.

    Parameters
    ----------
    effect
        What ``model.effect(cause, outcome)`` gives, of one cause.
    count
        How many variables on the way at most; the caption says how many are left out.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior(seed=1).fit(datasets.load("coronary"))
    >>> ax = effect_parts(model.effect("Smoking", "Pressure"), count=2)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['total', 'direct']
    """
    check_effect(effect, "A picture of parts")
    whole_number(count, "count")
    if effect.direct is None:
        raise InputError(
            "An effect of several columns that are set at once has no parts. Draw the effect itself, or name one cause."
        )
    table = effect.parts_table().head(count + 2)
    labels = [plain(label, 32) for label in table["part"]]
    ax = axes_for(ax, 6.4, 1.5 + 0.34 * len(labels))
    heights = np.arange(len(labels))
    ax.axvline(0.0, color="0.4", linewidth=0.8, linestyle=":", zorder=1)
    ax.hlines(heights, table["lower"], table["upper"], color="0.35", linewidth=2.0, zorder=2)
    means = table["mean"].to_numpy(dtype=np.float64)
    for chosen, colour in ((means >= 0.0, RAISES), (means < 0.0, LOWERS)):
        for whole, shape in ((heights == 0, "D"), (heights > 0, "o")):
            ax.plot(
                means[chosen & whole], heights[chosen & whole], linestyle="none", marker=shape, markersize=8, zorder=3,
                markerfacecolor=colour, markeredgecolor="black",
            )  # fmt: skip
    one_a_row(ax, labels, f"change of {effect.measured}")
    for height, share in zip(heights, table["probability"], strict=True):
        ax.annotate(
            share_text(float(share)), (1.0, height), xycoords=ax.get_yaxis_transform(), xytext=(6, 0), va="center",
            textcoords="offset points", fontsize=SMALL + 1, gid="there", annotation_clip=False,
        )  # fmt: skip
    ax.annotate(
        "there", (1.0, 1.0), xycoords="axes fraction", xytext=(6, 1), textcoords="offset points", fontsize=SMALL,
        color="0.3", va="bottom",
    )  # fmt: skip
    left = len(effect.through) + 2 - len(labels)
    more = f" Not shown: {left} more." if left > 0 else ""
    overlap = " Parts overlap where one path passes several variables." if len(effect.through) > 1 else ""
    say(
        ax,
        f"Means and {interval_words(effect.confidence)}s; there: the probability of such a way.{overlap}{more}",
        pad=CAPTION_PAD,
    )
    return ax
