"""causal-learn: greedy equivalence search (GES), tests of independence (PC), and the best graph by exact search."""

from __future__ import annotations

import numpy as np
from causallearn.search.ConstraintBased.PC import pc
from causallearn.search.ScoreBased.ExactSearch import bic_exact_search
from causallearn.search.ScoreBased.GES import ges
from task import DISCRETE, Task, both, named, run


def matrix_of(graph: np.ndarray) -> np.ndarray:
    """From causal-learn's end marks: -1 at [i, j] and 1 at [j, i] is i -> j; -1 or 1 at both is no direction."""
    touching = (graph != 0) & (graph.T != 0)
    return np.where(touching & (graph == graph.T), 0.5, touching & (graph == -1) & (graph.T == 1)).astype(float)


def equivalence_search(task: Task):
    """GES with BDeu of size 1 and a prior over the number of parents, or with BIC for numbers: there is no BGe."""
    settings = {"score_func": "local_score_BIC", "maxP": task.max_parents}
    if task.kind == DISCRETE:
        prior = {"sample_prior": 1, "structure_prior": 1, "r_i_map": dict(enumerate(task.levels))}
        settings |= {"score_func": "local_score_BDeu", "parameters": prior}
    return lambda values: matrix_of(ges(values, **settings)["G"].graph)


def independence_tests(task: Task):
    """PC at 5%, with chi-squared or partial correlations; the largest set to condition on is not bounded."""
    test = "chisq" if task.kind == DISCRETE else "fisherz"
    return lambda values: matrix_of(pc(values, alpha=0.05, indep_test=test, show_progress=False).G.graph)


def exact_search(task: Task):
    """The graph with the best Gaussian BIC, by A*."""
    return lambda values: bic_exact_search(values, max_parents=task.max_parents)[0].astype(float)


if __name__ == "__main__":
    run(
        named("GES", both(equivalence_search, directed=False))
        | named("PC", both(independence_tests, directed=False))
        | named("exact search", both(exact_search, directed=True))
    )
