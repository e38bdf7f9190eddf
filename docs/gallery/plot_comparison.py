"""
Two posteriors side by side
===========================

The edges whose probability moves most between two settings, here two scores. A long line is an edge that hangs on the
choice: no finding, unless there is a reason for the choice.
"""

from dagpost import DagPosterior, datasets, plots

table = datasets.load("coronary")
first = DagPosterior(score="bdeu").fit(table)
second = DagPosterior(score="bic").fit(table)
plots.comparison(first, second, labels=("BDeu", "BIC"))
