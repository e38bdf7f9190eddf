"""The picture of an effect: how large it may be, which way, and how probable it is that there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError
from dagpost.plots.figures import SMALL, axes_for, family_for, plain, say
from dagpost.plots.sources import interval_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.causal.results import Effect

#: More and less, and none: a light blue, a light orange and a dark grey, which all eyes can tell apart.
RAISES, LOWERS, NOTHING = "#7FBDE6", "#F2B56B", "#3A3A3A"
_BINS = 60
_LEFT_OUT = 0.005
_BELOW = -0.035
_LONGEST_LABEL = 90
#: What every effect in a picture assumes.
_ASSUMED = "An effect only if no common cause of two variables is missing and nobody was selected by what is studied."
#: Shares of the posterior that only look like none or all say so.
_LEAST = 0.0005
#: Sums of weights are 0 or 1 up to this.
_ROUNDING = 1e-9


def effect_density(effect: Effect, *, ax: Axes | None = None) -> Axes:
    """Draw the posterior of an effect: what is not zero as a density, and exactly zero as a spike with its probability.

    The density is that of the effect where there is one. The axis at the right is that of the spike: how probable it is
    that nothing changes, because no directed path leads from cause to outcome. The two colours are more and less, with
    the probability of each in its corner. The line below is the interval, the mark on it the mean, both with zero
    counted in. The outermost draws, one in two hundred on either side, are left out of the density.

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
    'density'
    """
    check_effect(effect, "A density")
    ax = axes_for(ax, 7.0, 3.8)
    moving = effect.samples[effect.samples != 0.0]
    zero = effect.zero_probability
    if len(moving):
        _draw_density(ax, moving)
        ax.set_ylabel("density")
    else:
        ax.set_yticks([])
    ax.set_ylim(bottom=0.0)
    _leave_room(ax)
    ax.set_xlabel(plain(effect.quantity, _LONGEST_LABEL), family=family_for([effect.quantity]))
    lower, upper = effect.interval()
    # Below the axis: heights are shares of the axes.
    below: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "clip_on": False}
    ax.plot([lower, upper], [_BELOW, _BELOW], color="black", linewidth=2.5, solid_capstyle="butt", **below)
    ax.plot([effect.mean], [_BELOW], color="white", marker="D", markeredgecolor="black", markersize=6, **below)
    if zero > _ROUNDING:
        _draw_spike(ax, zero)
    else:
        ax.axvline(0.0, color="0.4", linewidth=0.8, linestyle=":")
    _write_signs(ax, effect)
    ax.tick_params(axis="x", pad=9)
    ax.spines[["top", "right"]].set_visible(False)
    numbers = f"Mean {effect.mean:.3g}, {interval_words(effect.confidence)} {lower:.3g} to {upper:.3g}"
    say(ax, f"{numbers}. {_ASSUMED}")
    return ax


def check_effect(effect: Any, what: str) -> None:
    """Refuse what is not an effect."""
    if not hasattr(effect, "zero_probability"):
        raise InputError(
            f"{what} is drawn of an Effect, such as model.effect(cause, outcome) gives. "
            f"Got {type(effect).__name__} instead."
        )


def share_text(share: float) -> str:
    """A probability in a picture.

    >>> share_text(0.6413), share_text(0.0), share_text(0.0001)
    ('0.641', '0', '<0.001')
    """
    if not _ROUNDING < share < 1.0 - _ROUNDING:
        return f"{share:.0f}"
    return "<0.001" if share < _LEAST else ">0.999" if share > 1.0 - _LEAST else f"{share:.3f}"


def _draw_density(ax: Axes, moving: Floats) -> None:
    """A histogram, in which more and less have colours of their own."""
    borders = _borders(moving)
    heights, _ = np.histogram(moving, bins=borders)
    heights = heights / (len(moving) * np.diff(borders))
    for side, colour in ((borders[:-1] >= 0.0, RAISES), (borders[:-1] < 0.0, LOWERS)):
        if side.any():
            ax.stairs(np.where(side, heights, 0.0), borders, fill=True, facecolor=colour, edgecolor="none", zorder=1)
    ax.stairs(heights, borders, color="0.3", linewidth=0.9, zorder=2)


def _draw_spike(ax: Axes, probability: float) -> None:
    other = ax.twinx()
    other.set_ylim(0.0, 1.0)
    other.set_ylabel("P(no effect)", color=NOTHING)
    other.spines[["top", "left"]].set_visible(False)
    other.spines["right"].set_color("0.6")
    other.tick_params(axis="y", color="0.6", labelcolor=NOTHING)
    other.vlines(0.0, 0.0, probability, color=NOTHING, linewidth=4)
    other.plot([0.0], [probability], color=NOTHING, marker="o", markersize=7, clip_on=False)
    # The words stand on the side where there is more room.
    left = sum(ax.get_xlim()) < 0.0
    other.annotate(
        f"no effect at all: {share_text(probability)}",
        (0.0, probability),
        # Not on the axis, nor beyond the frame.
        xytext=(-8 if left else 8, 9 if probability < 0.06 else 0 if probability < 0.95 else -6),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontweight="bold",
        color=NOTHING,
        bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
    )


def _leave_room(ax: Axes) -> None:
    """Keep zero in the picture, and room above the density for the probabilities of both signs."""
    left, right = ax.get_xlim()
    left, right = min(left, 0.0), max(right, 0.0)
    margin = 0.06 * (right - left)
    ax.set_xlim(left - margin * (left == 0.0), right + margin * (right == 0.0))
    ax.set_ylim(top=1.18 * ax.get_ylim()[1])


def _write_signs(ax: Axes, effect: Effect) -> None:
    """How probably it lowers and raises, in the corner of that side."""
    sides = ((0.01, "left", "lowers", LOWERS), (0.99, "right", "raises", RAISES))
    shares = effect.negative_probability, effect.positive_probability
    for (place, align, word, colour), share in zip(sides, shares, strict=True):
        ax.text(
            place, 0.99, f"{word}: {share_text(share)}", transform=ax.transAxes, ha=align, va="top", fontsize=SMALL + 1,
            fontweight="bold" if share > 0.5 else "normal", color="0.0" if share else "0.5", gid=word, zorder=5,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": colour if share else "0.93", "edgecolor": "none"},
        )  # fmt: skip


def _borders(values: Floats) -> Floats:
    """Borders of bins of equal width over all but the outermost values, one of them at zero where that is inside."""
    lower, upper = (float(end) for end in np.quantile(values, [_LEFT_OUT, 1.0 - _LEFT_OUT]))
    if lower == upper:
        half = 0.5 * abs(lower) or 0.5
        lower, upper = lower - half, upper + half
    width = (upper - lower) / _BINS
    if lower < 0.0 < upper:
        return width * np.arange(np.floor(lower / width), np.ceil(upper / width) + 1.0)
    return np.linspace(lower, upper, _BINS + 1)
