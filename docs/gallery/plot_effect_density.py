"""
The size of a causal effect
===========================

What setting smoking from "no" to "yes" does to the probability of high blood pressure, averaged over all graphs. The
density is for the graphs in which smoking leads to pressure, with a colour for more and one for less; the spike is the
probability that it does not, so that the effect is exactly zero. The line below is the 95% interval, the mark on it the
mean.
"""

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(seed=1).fit(datasets.load("coronary"))
effect = model.effect("Smoking", "Pressure", seed=1)
plots.effect_density(effect)
