"""
The most probable edges
=======================

One dot an edge, the most probable first. Where the probabilities come from a sample, a line is the interval in which
the exact number lies with 95% confidence; exact ones have none.
"""

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(method="dds", modularity="order", seed=1).fit(datasets.load("coronary"))
plots.edges(model.sample(500, seed=1), count=15)
