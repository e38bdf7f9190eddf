"""
The size of an effect
=====================

What setting smoking from "no" to "yes" does to the probability of high blood pressure, averaged over all graphs. The
density is for the graphs in which smoking leads to pressure, with a colour for more and one for less; the spike is the
probability that it does not, so that the effect is exactly zero. The line below is the 95% interval, the mark on it the
mean.
"""

import numpy as np
import pandas as pd

from dagpost import DagPosterior, datasets, plots

model = DagPosterior(seed=1).fit(datasets.load("coronary"))
effect = model.effect("Smoking", "Pressure", draws=5_000, seed=1)
plots.effect_density(effect)

# %%
# Through what does it go? The whole effect, the part along the edge itself, and the part through each other variable;
# the numbers at the right say how probably there is such a way. Parts overlap where one path passes several variables,
# so they need not add up.

plots.effect_parts(effect)

# %%
# How many would have high blood pressure if everybody smoked, and if nobody did: not among those who smoke, which is
# another question.

plots.effect_outcomes(effect)

# %%
# Of a cause of numbers: what would be seen along all of them. Here a marker is lowest at 45 years. The ticks are rows
# of the table, and grey is where there are none.

generator = np.random.default_rng(1)
age = np.append(generator.uniform(20, 70, 200), [84, 85, 87])
marker = 40 + 0.02 * (age - 45) ** 2 + generator.normal(0, 4, 203)
people = DagPosterior("additive", tiers=[["age"], ["marker"]], seed=1).fit(pd.DataFrame({"age": age, "marker": marker}))
plots.effect_curve(people.effect("age", "marker", draws=2_000, seed=1))
