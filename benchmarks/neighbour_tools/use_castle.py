"""gCastle: NOTEARS, which minimises least squares over smooth graphs; causal-learn has the same GES and PC."""

from __future__ import annotations

import numpy as np
from castle.algorithms import Notears
from task import Task, both, named, run


def smooth_search(_: Task):
    """NOTEARS with its own settings, which cut off coefficients below 0.3."""
    return learned


def learned(values: np.ndarray) -> np.ndarray:
    """The graph that it finds."""
    model = Notears()
    model.learn(values)
    return np.asarray(model.causal_matrix, dtype=float)


if __name__ == "__main__":
    run(named("NOTEARS", both(smooth_search, directed=True)))
