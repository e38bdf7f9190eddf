"""
What would be seen if a value were set
======================================

How many would have high blood pressure if everybody smoked, and if nobody did: not among those who smoke, which is
another question.
"""

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(seed=1).fit(datasets.load("coronary"))
effect = model.effect("Smoking", "Pressure", seed=1)
plots.effect_outcomes(effect)
