"""
Through what an effect goes
===========================

The whole effect of smoking on high blood pressure, the part along the edge itself, and the part through each other
variable. The numbers at the right say how probably there is such a way. Parts overlap where one path passes several
variables, so they need not add up.
"""

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(seed=1).fit(datasets.load("coronary"))
effect = model.effect("Smoking", "Pressure", seed=1)
plots.effect_parts(effect)
