"""What would be seen of the outcome along all numbers of the cause: a line, its band, and where the rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.plots.effect_plot import check_effect, share_text
from dagpost.plots.figures import COLOURS, DASHES, SMALL, axes_for, family_for, plain, say
from dagpost.plots.sources import interval_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.causal.results import Effect

_LONGEST_LABEL = 60
#: Beside each other, more levels than this say nothing.
_MOST_LEVELS = 6
#: Rows that have a tick: more would be one bar.
_MOST_TICKS = 400
#: A stretch without rows is grey if it is longer than this share of the whole.
_GAP = 0.1
_MARGIN = 0.03
_GREY = "0.93"


def effect_curve(effect: Effect, *, ax: Axes | None = None) -> Axes:
    """Draw the outcome along all numbers of the cause: the mean, or probabilities of levels, with bands.

    Ticks at the bottom are rows of the table; where there are none, the ground is grey. Of two levels only the one that
    the effect is about is drawn.

    Parameters
    ----------
    effect
        What ``model.effect(cause, outcome)`` gives, of one cause of numbers.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior
    >>> numbers = np.random.default_rng(1).normal(size=(50, 2)) @ np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> model = DagPosterior("bge", seed=1).fit(numbers)
    >>> effect_curve(model.effect("V0", "V1")).get_ylabel()
    'the mean of V1'
    """
    check_effect(effect, "A curve")
    found = effect.along()
    levels = list(dict.fromkeys(own.level for own in found.outcomes))
    if len(levels) == 2 or len(levels) > _MOST_LEVELS:
        levels = [effect.outcome_level]
    ax = axes_for(ax, 6.4, 3.8)
    for place, level in enumerate(levels):
        rows = [own for own in found.outcomes if own.level == level]
        values, colour = [own.do[0] for own in rows], COLOURS[place % len(COLOURS)]
        ax.fill_between(
            values, [own.lower for own in rows], [own.upper for own in rows], color=colour, alpha=0.2, linewidth=0
        )
        ax.plot(
            values, [own.mean for own in rows], color=colour, linestyle=DASHES[place % len(DASHES)], linewidth=2.0,
            label=plain(level),
        )  # fmt: skip
    first, last = found.outcomes[0].do[0], found.outcomes[-1].do[0]
    margin = _MARGIN * (last - first) or 0.5
    ax.set_xlim(first - margin, last + margin)
    ticks = "" if found.observed is None else _draw_rows(ax, found.observed)
    measured = effect.measured if len(levels) == 1 else f"P({effect.outcome})"
    ax.set_xlabel(plain(effect.cause, _LONGEST_LABEL), family=family_for([effect.cause]))
    ax.set_ylabel(plain(measured, _LONGEST_LABEL), family=family_for([measured]))
    if len(levels) > 1:
        where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
        ax.legend(fontsize=SMALL, title=plain(effect.outcome), **where)
    ax.grid(color="0.85", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    none = share_text(effect.zero_probability)
    say(ax, f"If the value were set: mean and {interval_words(effect.confidence)}. P(no effect): {none}.{ticks}")
    return ax


def gaps_between(observed: Floats) -> list[tuple[float, float]]:
    """Long stretches without a number among some.

    >>> gaps_between(np.array([0.0, 10.0, 1.0, 0.5]))
    [(1.0, 10.0)]
    """
    ordered = np.unique(observed)
    steps = np.diff(ordered)
    wide = np.flatnonzero(steps > _GAP * (ordered[-1] - ordered[0]))
    # Of a few values with steps of their own, every step is as wide as they are apart.
    wide = wide[steps[wide] > 2.0 * np.median(steps)] if len(steps) else wide
    return [(float(ordered[place]), float(ordered[place + 1])) for place in wide]


def few_of(observed: Floats, most: int) -> Floats:
    """Some numbers that lie as all do, ascending: every other row, say, and those that stand alone.

    >>> few_of(np.array([*np.arange(100.0), 500.0, 600.0]), 8)
    array([  0.,  34.,  67., 500., 600.])
    """
    ordered = np.sort(observed)
    if len(ordered) <= most:
        return ordered
    among_rows = np.linspace(0, len(ordered) - 1, most // 2).round().astype(int)
    along = np.linspace(ordered[0], ordered[-1], most // 2)
    some: Floats = ordered[np.union1d(among_rows, np.searchsorted(ordered, along))]
    return some


def _draw_rows(ax: Axes, observed: Floats) -> str:
    """Ticks for rows, and grey where there are none; what that means, in words."""
    left, right = ax.get_xlim()
    for start, end in ((left, float(observed.min())), *gaps_between(observed), (float(observed.max()), right)):
        ax.axvspan(start, end, color=_GREY, linewidth=0, zorder=0)
    below: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "clip_on": False, "zorder": 3}
    ticks = few_of(observed, _MOST_TICKS)
    ax.vlines(ticks, 0.0, 0.03, color="0.0", alpha=0.35, linewidth=0.6, gid="rows", **below)
    return " Ticks are rows; grey: no rows."
