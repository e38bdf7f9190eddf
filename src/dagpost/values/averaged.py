"""The graphs that an answer is averaged over, and draws of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.errors import InputError
from dagpost.features import ancestors, evaluate
from dagpost.features.feature import Feature
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.counted_parts import counted_parts
from dagpost.prediction.statistics import Statistics, predicting_prior
from dagpost.scores import ParameterPrior


class Weighted(NamedTuple):
    """Graphs with their weights, and what was counted for them; the weights of all such sets sum to 1."""

    prior: ParameterPrior
    statistics: Statistics
    graphs: Masks
    weights: Floats
    #: Its place among the completed tables, where there are several.
    number: int = 0


def weighted_graphs(fitted: Fitted, where: Feature | None) -> list[Weighted]:
    """All graphs of a model, or those in which a statement holds, in parts."""
    parts = [
        Weighted(
            predicting_prior(part.score), statistics, part.sample.parents.astype(np.uint64), part.sample.weights, number
        )
        for number, (part, statistics) in enumerate(counted_parts(fitted))
    ]
    if where is not None:
        parts = [
            part._replace(weights=part.weights * evaluate([where], part.graphs, fitted.names)[0]) for part in parts
        ]
    total = sum(float(part.weights.sum()) for part in parts)
    if total <= 0.0:
        raise InputError(
            f"The statement {str(where)!r} holds in none of the graphs that were found, so that there is nothing to "
            "average over. Ask with another condition, or fit with more samples."
        )
    kept = [part for part in parts if part.weights.any()]
    return [_positive(part, total) for part in kept]


def _positive(part: Weighted, total: float) -> Weighted:
    weighty = part.weights > 0.0
    return part._replace(graphs=part.graphs[weighty], weights=part.weights[weighty] / total)


def chosen_graphs(part: Weighted, draws: int, generator: np.random.Generator) -> Masks:
    """Graphs by their weights (systematic resampling), as many as the weight of the part asks for, at least one."""
    share = float(part.weights.sum())
    count = max(round(draws * share), 1)
    borders = np.cumsum(part.weights)
    points = (np.arange(count) + generator.random()) / count * borders[-1]
    places: Integers = np.minimum(np.searchsorted(borders, points, side="right"), len(borders) - 1)
    return part.graphs[places]


def cut_graphs(graphs: Masks, set_nodes: int) -> Masks:
    """The graphs without the edges into columns that are set or given from outside."""
    cut = graphs.copy()
    for node in range(graphs.shape[1]):
        if set_nodes >> node & 1:
            cut[:, node] = 0
    return cut


def relevant(cut: Masks, wanted: int) -> Masks:
    """By graph, the wanted nodes and their ancestors: all others sum to 1."""
    above = ancestors(cut)
    found = np.full(len(cut), wanted, dtype=np.uint64)
    for node in range(cut.shape[1]):
        if wanted >> node & 1:
            found |= above[:, node]
    return found
