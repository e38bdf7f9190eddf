"""The picture of a causal effect: how large it may be, and how probable it is that there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError
from dagpost.plots.figures import axes_for, family_for, plain, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.causal.results import Effect

# A light blue and a dark orange, which all eyes can tell apart, also in black and white.
_FILL = "#A9D8F5"
_SPIKE = "#8F3B00"
_BINS = 50
_LEFT_OUT = 0.005
_BELOW = -0.04
_LONGEST_LABEL = 90
#: What every effect in a picture assumes.
_ASSUMED = "An effect only if no common cause of two variables is missing and nobody was selected by what is studied."


def effect_density(effect: Effect, *, ax: Axes | None = None) -> Axes:
    """Draw the posterior of a causal effect: a histogram of what is not zero, and a spike for exactly zero.

    The spike has an axis of its own. The line below is the interval, the mark on it the mean. The outermost draws, one
    in two hundred on either side, are left out of the histogram.

    Parameters
    ----------
    effect
        What ``model.effect(cause, outcome)`` gives.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior(seed=1).fit(datasets.load("coronary"))
    >>> ax = effect_density(model.effect("Smoking", "Pressure"))
    >>> ax.get_ylabel()
    'density where there is a path'
    """
    if not hasattr(effect, "zero_probability"):
        raise InputError(
            "A density is drawn of an Effect, such as model.effect(cause, outcome) gives. "
            f"Got {type(effect).__name__} instead."
        )
    ax = axes_for(ax, 7.0, 3.6)
    moving = effect.samples[effect.samples != 0.0]
    if len(moving):
        ax.hist(moving, bins=_bins(moving), density=True, histtype="stepfilled", facecolor=_FILL, edgecolor="0.25")
        ax.set_ylabel("density where there is a path")
    else:
        ax.set_yticks([])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(plain(effect.quantity, _LONGEST_LABEL), family=family_for([effect.quantity]))
    lower, upper = effect.interval()
    # Below the axis: heights are shares of the axes.
    below: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "clip_on": False}
    ax.plot([lower, upper], [_BELOW, _BELOW], color="black", linewidth=2.5, solid_capstyle="butt", **below)
    ax.plot([effect.mean], [_BELOW], color="white", marker="D", markeredgecolor="black", markersize=6, **below)
    if effect.zero_probability > 0.0:
        _draw_spike(ax, effect.zero_probability)
    else:
        ax.axvline(0.0, color="0.4", linewidth=0.8, linestyle=":")
    ax.tick_params(axis="x", pad=10)
    ax.spines["top"].set_visible(False)
    if effect.zero_probability == 0.0:
        ax.spines["right"].set_visible(False)
    numbers = f"mean {effect.mean:.3g}, {100 * effect.confidence:.6g}% interval {lower:.3g} to {upper:.3g}"
    say(ax, f"{numbers}. {_ASSUMED}")
    return ax


def _draw_spike(ax: Axes, probability: float) -> None:
    other = ax.twinx()
    other.set_ylim(0.0, 1.0)
    other.set_ylabel("probability of exactly 0")
    other.spines["top"].set_visible(False)
    other.vlines(0.0, 0.0, probability, color=_SPIKE, linewidth=4)
    other.plot([0.0], [probability], color=_SPIKE, marker="o", markeredgecolor="black", markersize=8, clip_on=False)
    # The words stand on the side where there is more room.
    left = sum(ax.get_xlim()) < 0.0
    other.annotate(
        f"exactly 0: {probability:.3f}",
        (0.0, probability),
        xytext=(-9 if left else 9, 0 if probability < 0.95 else -5),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
    )


def _bins(values: Floats) -> list[float]:
    """Bins of equal width over all but the outermost values."""
    lower, upper = np.quantile(values, [_LEFT_OUT, 1.0 - _LEFT_OUT])
    if lower == upper:
        half = 0.5 * abs(lower) or 0.5
        lower, upper = lower - half, upper + half
    borders: list[float] = np.linspace(lower, upper, _BINS + 1).tolist()
    return borders
