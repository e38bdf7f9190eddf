"""Fits under other choices, written out one by one with the public model, and what becomes of a pair, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.naive.essential import shares

from dagpost import (
    BIC,
    Additive,
    BDe,
    BDeu,
    BGe,
    ConditionalGaussian,
    DagPosterior,
    EdgePrior,
    InDegreePrior,
    UniformPrior,
)
from dagpost.data import discretise
from dagpost.data.recipe import Recipe
from dagpost.posterior.sample import DagSample

_PRIORS = {
    "uniform": UniformPrior(),
    "indegree": InDegreePrior(),
    "edge:0.1": EdgePrior(0.1),
    "edge:average": EdgePrior("average"),
}
_SCORES: dict[str, dict[str, Any]] = {
    "bic": {"score": BIC()},
    "bdeu": {"score": BDeu()},
    "bge": {"score": BGe()},
    "conditional-gaussian": {"score": ConditionalGaussian()},
    "additive": {"score": Additive()},
    "bdeu on 4 bins": {"score": BDeu(5)},
}


def model_under(table: Any, choice: str, value: str, **settings: Any) -> DagPosterior:
    """The model in which one setting is another."""
    number = float(value) if value[0].isdigit() else np.nan
    changes: dict[str, Callable[[], dict[str, Any]]] = {
        "equivalent sample size": lambda: {"score": BDeu(number)},
        "pseudocount": lambda: {"score": BDe(number)},
        "weight of the prior": lambda: {"score": BGe(mean_weight=number)},
        "variance of a slope": lambda: {"score": Additive(slope_variance=number)},
        "prior": lambda: {"prior": _PRIORS[value]},
        "score": lambda: _SCORES[value],
        "bins": lambda: {"recipe": Recipe(bins=int(number))},
        "most parents": lambda: {"max_parents": int(number)},
        "rules": lambda: {"required": (), "forbidden": (), "tiers": None},
    }
    changed = changes[choice]()
    table = discretise(table, bins=4) if value.endswith("on 4 bins") else table
    return DagPosterior(**{"prior": "uniform", **settings, **changed}).fit(table)


def joined_under(table: Any, choice: str, value: str, **settings: Any) -> NDArray[np.float64]:
    """The probability of every pair to be joined where one setting of a model is another."""
    edges = model_under(table, choice, value, **settings).edge_probabilities_.to_numpy()
    joined: NDArray[np.float64] = edges + edges.T
    return joined


def compelled_share(model: DagPosterior, sample: DagSample, source: int, target: int) -> float:
    """Which share of being joined is compelled by the data to point one way, graph by graph.

    Edges of the model are exact; how many of them are compelled is counted among the drawn graphs that have them.
    """
    dags = [tuple(map(int, parents)) for parents in sample.parents]
    by_data = shares(dags, sample.weights.tolist())[0]
    drawn = sum(w for dag, w in zip(dags, sample.weights.tolist(), strict=True) if dag[target] >> source & 1)
    edges = model.edge_probabilities_.to_numpy()
    of_edge = by_data[source, target] / drawn if drawn else 0.0
    return float(edges[source, target] * of_edge / (edges[source, target] + edges[target, source]))


def fate_of_direction(own: float, others: list[float]) -> tuple[str, int, int]:
    """What a direction is in the model, under how many choices it stays that, and of how many that is known."""
    word, least = ("clear", 0.9) if own >= 0.9 else ("leaning", 0.6)
    known = [share for share in others if not np.isnan(share)]
    return word, sum(share >= least for share in known), len(known)


def fate_of(own: float, others: list[float]) -> str:
    """What becomes of a pair that is found from one half on."""
    if own >= 0.5 and all(other >= 0.5 for other in others):
        return "holds"
    if own >= 0.5:
        return "falls"
    return "rises" if any(other >= 0.5 for other in others) else "never"
