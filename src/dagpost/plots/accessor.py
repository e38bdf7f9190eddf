"""`model.plot()` and `sample.plot()`: the picture that people ask for first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plotting:
    """Something with edge probabilities that can be drawn."""

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the graph, in `ax` or in a new figure: `dagpost.plots.graph` says how to read it and has the options."""
        from dagpost.plots.graph_plot import graph

        source: Any = self
        return graph(source, ax=ax, **options)
