"""pyAgrum: greedy hill climbing with BDeu, and MIIC, which goes by information."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyagrum as gum
from task import Task, both, named, run


def learner_of(task: Task, settle):
    """A learner of equivalence classes; `settle` says how the graph is to be found."""
    template = gum.BayesNet()
    for name, levels in zip(task.names, task.levels, strict=True):
        template.add(gum.RangeVariable(name, name, 0, levels - 1))

    def learn(values: np.ndarray) -> np.ndarray:
        learner = gum.BNLearner(pd.DataFrame(values.astype(int), columns=task.names), template)
        learner.setNumberOfThreads(1)
        settle(learner)
        found = learner.learnEssentialGraph()
        graph = np.zeros((len(task.names),) * 2)
        for source, target in found.arcs():
            graph[source, target] = 1.0
        for one, other in found.edges():
            graph[one, other] = graph[other, one] = 0.5
        return graph

    return learn


def hill_climbing(task: Task):
    """Greedy search for the best BDeu, whose size is 1 as in the case (compared with ours, number by number)."""

    def settle(learner) -> None:
        learner.useGreedyHillClimbing()
        learner.useScoreBDeu()
        learner.setMaxIndegree(task.max_parents)

    return learner_of(task, settle)


def miic(task: Task):
    """Multivariate information-based inductive causation."""
    return learner_of(task, lambda learner: learner.useMIIC())


if __name__ == "__main__":
    run(named("hill climbing", both(hill_climbing, directed=False)) | named("MIIC", both(miic, directed=False)))
