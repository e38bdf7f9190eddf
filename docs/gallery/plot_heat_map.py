"""
Edges and paths as a heat map
=============================

Each square is the probability that the variable of its row has an edge, or a directed path, to that of its column.
Where a square and its mirror image across the diagonal are both dark, the data leave the direction open.
"""

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(seed=1).fit(datasets.load("asia"))
plots.heat_map(model, "->")

# %%
# Paths are more certain than the edges they are made of: whichever way a path runs, these variables are connected.

plots.heat_map(model, "~>")
