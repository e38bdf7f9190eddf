"""
The graph of a posterior
========================

One line for each pair of variables that may be joined. The wider and darker it is, the more probable is an edge between
the two, whichever way it points. A filled head is a direction that the data compel: it is the same in every graph that
fits them equally well. A line without a head is open: the data cannot tell. The report draws its graph in the same way.
"""

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(seed=1).fit(datasets.load("coronary"))
ax = plots.graph(model)
ax.set_title("Risk factors of coronary heart disease")

# %%
# The caption says what the numbers are and what is left out. A higher threshold draws only what is well supported; a
# position for each name puts the boxes where you want them. ``model.plot()`` is short for the same picture.

places = {
    "Smoking": (0, 2), "M. Work": (1, 3), "P. Work": (2, 2),
    "Pressure": (0, 0), "Proteins": (1, 0), "Family": (2, 0),
}  # fmt: skip
plots.graph(model, threshold=0.9, layout=places)

# %%
# What your own rules decide has a hollow head: it is not a finding. Here smoking and family history are said to come
# before everything else. A dashed line, where there is one, is a direction that the data compel in less than 90% of the
# probability of the edge.

tiers = [["Smoking", "Family"], ["M. Work", "P. Work", "Pressure", "Proteins"]]
plots.graph(DagPosterior(tiers=tiers, seed=1).fit(datasets.load("coronary")))
