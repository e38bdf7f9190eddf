"""
Can these chains be trusted?
============================

On top the log score of each chain, draw by draw, with a moving mean: chains that have found the posterior wander about
the same level. In the middle how often each chain has had an edge so far: the lines should come together. Below, R-hat
compares the chains edge by edge; left of the dashed line they agree well enough. The verdict stands above it.
"""

import matplotlib.pyplot as plt

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(method="block-gibbs", seed=1).fit(datasets.load("coronary"))
sample = model.sample(4_000, seed=1)
figure, axes = plt.subplots(3, 1, figsize=(7, 10), height_ratios=(2, 2, 3), layout="constrained")
plots.traces(sample, ax=axes[0])
plots.traces(sample, statement="Smoking -> Pressure", ax=axes[1])
plots.r_hat(sample, count=10, ax=axes[2])
