"""
A network in time
=================

Series are rows and times are columns, the present at the right. Lines lead from earlier values, which are given and not
modelled, to present ones, or join two present values. Width, darkness and heads are those of every other picture.
"""

import numpy as np
import pandas as pd

from dagpost import DagPosterior, plots, unroll

draw, rows = np.random.default_rng(1).normal, []
for patient in range(40):
    sleep = pain = 0.0
    for day in range(1, 8):
        sleep, yesterday = 0.5 * sleep - 0.4 * pain + draw(), sleep
        pain = 0.6 * pain - 0.7 * yesterday + draw()
        mood = 0.8 * sleep - 0.9 * pain + draw()
        rows.append((patient, day, 40.0 + patient % 7, sleep, pain, mood))
diary = pd.DataFrame(rows, columns=["patient", "day", "age", "sleep", "pain", "mood"])

model = DagPosterior(score="bge", max_parents=4, seed=1).fit(unroll(diary, time="day", subject="patient", lags=2))
plots.in_time(model)

# %%
# ``model.plot()`` is short for the same picture. `plots.graph` draws all columns alike.

plots.graph(model)
