"""gCastle: NOTEARS, which minimises least squares over smooth graphs, DirectLiNGAM, and greedy equivalence search."""

from __future__ import annotations

import numpy as np
from castle.algorithms import GES, DirectLiNGAM, Notears
from task import DISCRETE, GAUSSIAN, Task, both, run


def smooth_search(task: Task):
    """NOTEARS with its own settings, which cut off coefficients below 0.3."""
    task.only(GAUSSIAN)
    return lambda values: learned(Notears(), values)


def non_gaussian(task: Task):
    """DirectLiNGAM, which reads directions off noise that is not Gaussian: here it always is."""
    task.only(GAUSSIAN)
    return lambda values: learned(DirectLiNGAM(), values)


def equivalence_search(task: Task):
    """GES with BIC for numbers and BDeu, whose size is gCastle's own, for levels."""
    task.only(DISCRETE, GAUSSIAN)
    settings = {"criterion": "bdeu"} if task.kind == DISCRETE else {"criterion": "bic", "method": "scatter"}

    def learn(values: np.ndarray) -> np.ndarray:
        found = learned(GES(**settings), values.astype(int) if task.kind == DISCRETE else values) != 0
        return np.where(found & found.T, 0.5, found)

    return learn


def learned(model, values: np.ndarray) -> np.ndarray:
    """The matrix that a model finds."""
    model.learn(values)
    return np.asarray(model.causal_matrix, dtype=float)


def named(name: str, ways: dict) -> dict:
    """The ways of one algorithm."""
    return {f"{name}, {way}": do for way, do in ways.items()}


if __name__ == "__main__":
    run(
        named("NOTEARS", both(smooth_search, directed=True))
        | named("DirectLiNGAM", both(non_gaussian, directed=True))
        | named("GES", both(equivalence_search, directed=False))
    )
