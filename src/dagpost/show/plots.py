"""Pictures of posteriors over graphs, with matplotlib (``pip install "dagpost[plot]"``).

Each function draws into `ax`, or into a figure of its own, and returns the axes; none shows a window or changes
matplotlib's settings. Colours differ to every eye, and nothing hangs on colour alone. The gallery has one of each.
"""

from __future__ import annotations

from dagpost.show.chain_plots import r_hat, traces
from dagpost.show.comparison_plot import comparison
from dagpost.show.convergence_plot import convergence
from dagpost.show.edge_chart import edges
from dagpost.show.effect_plot import effect_density
from dagpost.show.graph_plot import graph
from dagpost.show.heat_map_plot import heat_map

__all__ = ["comparison", "convergence", "edges", "effect_density", "graph", "heat_map", "r_hat", "traces"]
