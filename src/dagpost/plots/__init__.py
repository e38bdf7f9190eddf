"""Pictures of posteriors over graphs, with matplotlib (``pip install "dagpost[plot]"``).

Each function draws into `ax`, or into a figure of its own, and returns the axes; none shows a window or changes
matplotlib's settings. All eyes can tell the colours apart, and nothing depends on colour alone. The gallery shows one
of each.
"""

from __future__ import annotations

from dagpost.plots.chain_plots import r_hat, traces
from dagpost.plots.comparison_plot import comparison
from dagpost.plots.edge_chart import edges
from dagpost.plots.effect_curve_plot import effect_curve
from dagpost.plots.effect_outcomes_plot import effect_outcomes
from dagpost.plots.effect_parts_plot import effect_parts
from dagpost.plots.effect_plot import effect_density
from dagpost.plots.graph_plot import graph
from dagpost.plots.heat_map_plot import heat_map
from dagpost.plots.time_plot import in_time

__all__ = [
    "comparison",
    "edges",
    "effect_curve",
    "effect_density",
    "effect_outcomes",
    "effect_parts",
    "graph",
    "heat_map",
    "in_time",
    "r_hat",
    "traces",
]
