"""The graphs that an answer is averaged over, and draws of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.features import ancestors, evaluate
from dagpost.features.feature import Feature
from dagpost.local.models import LocalModels
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.completed_parts import Part
from dagpost.prediction.local_parts import parts_with_parameters
from dagpost.prediction.statistics import Statistics
from dagpost.scores import ParameterPrior, parameter_prior_of


class Weighted(NamedTuple):
    """Graphs with their weights, and what was counted for them; the weights of all such sets sum to 1."""

    part: Part
    prior: ParameterPrior
    statistics: Statistics | LocalModels
    graphs: Masks
    weights: Floats


class Averaged(NamedTuple):
    """Graphs in parts, how many there are, and whether these are all graphs with exact weights."""

    parts: list[Weighted]
    looked_at: int
    exact: bool


def averaged_graphs(fitted: Fitted, where: Feature | None) -> Averaged:
    """All graphs of a model, or those in which a statement holds."""
    refuse_wide(len(fitted.names), "Questions about values are answered")
    counted, exact = parts_with_parameters(fitted)
    parts = [_weighty(part, own, fitted, where) for part, own in counted]
    total = sum(float(part.weights.sum()) for part in parts)
    if total <= 0.0:
        raise InputError(
            f"The statement {str(where)!r} holds in none of the graphs that were found, so that there is nothing to "
            "average over. Ask with another condition, or fit with more samples."
        )
    counts = [len(part.weights) for part in parts]
    kept = [part._replace(weights=part.weights / total) for part in parts if len(part.weights)]
    # The values of a setting share their graphs; each completed table has its own.
    return Averaged(kept, sum(counts) if fitted.completes else max(counts), exact)


def _weighty(part: Part, statistics: Statistics | LocalModels, fitted: Fitted, where: Feature | None) -> Weighted:
    prior = parameter_prior_of(part.score, "Prediction needs to know")
    chosen = part.sample.weights > 0.0
    if where is not None:
        chosen &= evaluate([where], part.sample.parents, fitted.names)[0]
    return Weighted(part, prior, statistics, part.sample.parents[chosen].astype(np.uint64), part.sample.weights[chosen])


def chosen_graphs(part: Weighted, draws: int, generator: np.random.Generator) -> Masks:
    """Graphs by their weights (systematic resampling), as many as the weight of the part asks for, at least one."""
    borders = np.cumsum(part.weights)
    count = max(round(draws * float(borders[-1])), 1)
    points = (np.arange(count) + generator.random()) / count * borders[-1]
    places: Integers = np.minimum(np.searchsorted(borders, points, side="right"), len(borders) - 1)
    return part.graphs[places]


def cut_graphs(graphs: Masks, set_nodes: int) -> Masks:
    """The graphs without the edges into columns that are set, or given from outside."""
    cut = graphs.copy()
    cut[:, [node for node in range(graphs.shape[1]) if set_nodes >> node & 1]] = 0
    return cut


def relevant(cut: Masks, wanted: int) -> Masks:
    """By graph, the wanted nodes and their ancestors: the sum over all others is 1."""
    above = ancestors(cut)
    found = np.full(len(cut), wanted, dtype=np.uint64)
    for node in range(cut.shape[1]):
        if wanted >> node & 1:
            found |= above[:, node]
    return found
