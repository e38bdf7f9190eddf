"""
How many graphs are enough
==========================

Left: the summed error of all edges (SAD) against the number of graphs, for two ways of sampling; both axes are
logarithmic, and the band is the range over the runs. Right: the share of the posterior that the graphs drawn so far
have (Delta). The dotted line is what counting independent graphs would give: below it, the weights help.
"""

import matplotlib.pyplot as plt

from dagpost import DagPosterior, datasets, plots

table = datasets.load("coronary")
same = {"score": "bdeu", "prior": "uniform"}  # one posterior for all
exact = DagPosterior(**same).fit(table)
runs = {
    method: [DagPosterior(**same, method=method).fit(table).sample(3_000, seed=seed) for seed in range(4)]
    for method in ("exact-layers", "iw-dds")
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plots.convergence(runs, exact, ax=axes[0])
plots.convergence(runs, measure="Delta", ax=axes[1])
