"""What would be seen of the outcome if the cause were set to each of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost.plots.effect_plot import check_effect
from dagpost.plots.figures import COLOURS, SHAPES, SMALL, axes_for, one_a_row, plain, say
from dagpost.plots.sources import interval_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.causal.results import Effect

#: Beside each other, more levels than this say nothing.
_MOST_LEVELS = 8


def effect_outcomes(effect: Effect, *, ax: Axes | None = None) -> Axes:
    """Draw the outcome under each value that the cause is set to: probabilities of levels, or the mean of a number.

    Of two levels only the one that the effect is about is drawn.

    Parameters
    ----------
    effect
        What ``model.effect(cause, outcome)`` gives.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior(seed=1).fit(datasets.load("coronary"))
    >>> ax = effect_outcomes(model.effect("Smoking", "Pressure"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['do(Smoking = no)', 'do(Smoking = yes)']
    """
    check_effect(effect, "A picture of outcomes")
    settings = list(dict.fromkeys(own.do for own in effect.outcomes))
    levels = list(dict.fromkeys(own.level for own in effect.outcomes))
    if len(levels) == 2 or len(levels) > _MOST_LEVELS:
        levels = [effect.outcome_level]
    found = {(own.do, own.level): own for own in effect.outcomes}
    ax = axes_for(ax, 6.4, 1.5 + 0.34 * len(settings) * (1.0 + 0.35 * (len(levels) - 1)))
    heights = np.arange(len(settings))
    shifts = np.linspace(-0.3, 0.3, len(levels)) if len(levels) > 1 else np.zeros(1)
    for place, level in enumerate(levels):
        rows = [found[setting, level] for setting in settings]
        at, colour = heights + shifts[place], COLOURS[place % len(COLOURS)]
        ax.hlines(at, [own.lower for own in rows], [own.upper for own in rows], color=colour, linewidth=2.0, zorder=2)
        ax.plot(
            [own.mean for own in rows], at, linestyle="none", marker=SHAPES[place % len(SHAPES)], color=colour,
            markeredgecolor="black", markersize=7, label=plain(level), zorder=3,
        )  # fmt: skip
    labels = [plain(_setting(effect, own)) for own in settings]
    one_a_row(ax, labels, effect.measured if len(levels) == 1 else f"P({effect.outcome})")
    if len(levels) > 1:
        ax.legend(
            loc="lower left", bbox_to_anchor=(1.0, 0.0), fontsize=SMALL, frameon=False, title=plain(effect.outcome)
        )
    say(ax, f"If the value were set: means and {interval_words(effect.confidence)}s.", pad=15)
    return ax


def _setting(effect: Effect, values: tuple[Any, ...]) -> str:
    said = [f"{name} = {_value(value)}" for name, value in zip(effect.causes, values, strict=True)]
    return f"do({', '.join(said)})"


def _value(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
