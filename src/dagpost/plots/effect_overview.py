"""One effect in one picture: its posterior above, its parts and what would be seen of the outcome below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagpost.plots.effect_outcomes_plot import effect_outcomes
from dagpost.plots.effect_parts_plot import CAPTION_PAD, effect_parts
from dagpost.plots.effect_plot import effect_density
from dagpost.plots.figures import pyplot, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.causal.results import Effect

_WIDTH, _ABOVE = 9.0, 3.6
_SHOWN = 6


def effect_overview(effect: Effect, ax: Axes | None = None) -> Axes:
    """Draw all of it in the place of `ax`, or in a new figure; the axes of the posterior come back."""
    parts = 0 if effect.direct is None else min(len(effect.through), _SHOWN) + 2
    settings = len({own.do for own in effect.outcomes})
    below = 1.5 + 0.34 * max(parts, settings, 2)
    if ax is None:
        figure = pyplot().figure(figsize=(_WIDTH, _ABOVE + below), layout="constrained")
        place: Any = figure.add_gridspec(1, 1)[0]
    else:
        figure, place = ax.figure, ax.get_subplotspec()
        ax.remove()
    grid = place.subgridspec(2, 2 if parts else 1, height_ratios=(_ABOVE, below))
    top: Axes = figure.add_subplot(grid[0, :])
    effect_density(effect, ax=top)
    if parts:
        left = effect_parts(effect, count=_SHOWN, ax=figure.add_subplot(grid[1, 0]))
    effect_outcomes(effect, ax=figure.add_subplot(grid[1, -1]))
    if parts:
        # What came later has left it less room for its caption.
        say(left, left.get_title().replace("\n", " "), pad=CAPTION_PAD)
    return top
