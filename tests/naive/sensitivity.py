"""Fits under other choices, written out one by one with the public model, and what becomes of a pair, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost import BDe, BDeu, BGe, DagPosterior, EdgePrior, InDegreePrior, UniformPrior
from dagpost.data.recipe import Recipe


def joined_under(table: Any, choice: str, value: str, **settings: Any) -> NDArray[np.float64]:
    """The probability of every pair to be joined where one setting of a model is another."""
    number = float(value) if value[0].isdigit() else np.nan
    changes: dict[str, Callable[[], dict[str, Any]]] = {
        "equivalent sample size": lambda: {"score": BDeu(number)},
        "pseudocount": lambda: {"score": BDe(number)},
        "weight of the prior": lambda: {"score": BGe(mean_weight=number)},
        "prior": lambda: {
            "prior": {"uniform": UniformPrior(), "indegree": InDegreePrior(), "edge:0.1": EdgePrior(0.1)}[value]
        },
        "bins": lambda: {"recipe": Recipe(bins=int(number))},
        "most parents": lambda: {"max_parents": int(number)},
    }
    changed = changes[choice]()
    edges = DagPosterior(**{**settings, **changed}).fit(table).edge_probabilities_.to_numpy()
    joined: NDArray[np.float64] = edges + edges.T
    return joined


def fate_of(own: float, others: list[float]) -> str:
    """What becomes of a pair that is found from one half on."""
    if own >= 0.5 and all(other >= 0.5 for other in others):
        return "holds"
    if own >= 0.5:
        return "falls"
    return "rises" if any(other >= 0.5 for other in others) else "never"
