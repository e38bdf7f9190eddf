"""
A graph of 25 variables
=======================

With more variables the layers keep it readable: parents stand above their children wherever the direction is more
probable than its reverse, and long lines run beside the boxes. Here the table of edge probabilities is made up; any
such table, from whatever program, can be drawn. Its lines are dotted: edge probabilities alone do not say which
directions the data compel. A model or a sample of graphs does.
"""

import numpy as np
import pandas as pd

from dagpost import plots

rng = np.random.default_rng(3)
names = [f"gene {number}" for number in range(1, 26)]
joined = np.triu(np.where(rng.random((25, 25)) < 0.09, rng.beta(4.0, 1.0, (25, 25)), 0.02), 1)
share = rng.beta(1.5, 0.4, (25, 25))
edges = pd.DataFrame(joined * share + (joined * (1.0 - share)).T, index=names, columns=names)

plots.graph(edges, threshold=0.25)
