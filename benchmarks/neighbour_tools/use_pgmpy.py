"""pgmpy: hill climbing, and the score of every graph of a few columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pgmpy.causal_discovery import HillClimbSearch
from pgmpy.estimators import BDeu as EstimatorBDeu
from pgmpy.estimators import BICGauss as EstimatorBICGauss
from pgmpy.estimators import ExhaustiveSearch
from pgmpy.structure_score import BDeu, BICCondGauss, BICGauss
from task import DISCRETE, GAUSSIAN, Task, both, named, run


def frame_of(task: Task, values: np.ndarray) -> pd.DataFrame:
    """The table as pgmpy wants it: levels are categories, all of them declared."""
    frame = pd.DataFrame(values, columns=task.names)
    for name, levels in zip(task.names, task.levels, strict=True):
        if levels:
            frame[name] = pd.Categorical(frame[name].astype(int), categories=range(levels))
    return frame


def score_of(task: Task, frame: pd.DataFrame):
    """BDeu of the case's size for levels; pgmpy has no BGe, so numbers get its BIC."""
    if task.kind == DISCRETE:
        states = {name: list(range(levels)) for name, levels in zip(task.names, task.levels, strict=True)}
        return BDeu(frame, equivalent_sample_size=1, state_names=states)
    return BICGauss(frame) if task.kind == GAUSSIAN else BICCondGauss(frame)


def learner_of(task: Task, search, **settings):
    """A learner of equivalence classes by one of pgmpy's searches."""

    def learn(values: np.ndarray) -> np.ndarray:
        frame = frame_of(task, values)
        model = search(scoring_method=score_of(task, frame), show_progress=False, **settings).fit(frame)
        found = model.adjacency_matrix_.loc[task.names, task.names].to_numpy() != 0
        return np.where(found & found.T, 0.5, found)

    return learn


def hill_climbing(task: Task):
    """Tabu search, whose graph stands for its equivalence class (pgmpy's default)."""
    return learner_of(task, HillClimbSearch, max_indegree=task.max_parents)


def all_graphs(task: Task) -> None:
    """The posterior itself, by the score of every graph."""
    frame = frame_of(task, task.values)
    # This search takes the scores of its own package only, which are the same.
    score = EstimatorBDeu(frame, equivalent_sample_size=1) if task.kind == DISCRETE else EstimatorBICGauss(frame)
    scored = ExhaustiveSearch(frame, scoring_method=score).all_scores()
    logs = np.array([score for score, _ in scored])
    weights = np.exp(logs - logs.max())
    places = {name: place for place, name in enumerate(task.names)}
    graphs = []
    for _, dag in scored:
        graph = np.zeros((len(places),) * 2, dtype=bool)
        for source, target in dag.edges():
            graph[places[source], places[target]] = True
        graphs.append(graph)
    task.keep_graphs(graphs, weights / weights.sum())


if __name__ == "__main__":
    run(named("hill climbing", both(hill_climbing, directed=False)) | {"all graphs": all_graphs})
