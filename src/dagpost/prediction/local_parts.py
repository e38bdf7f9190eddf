"""Graphs and local models that answers of a fitted model are averaged over, where local models stand for parameters.

Regressions are fitted one by one, so that some hundred graphs are taken of a larger sample: evenly, by their weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagpost.local.models import LocalModels, models_of
from dagpost.posterior.all_graphs import all_graphs
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.latent_numbers import modelled_table
from dagpost.posterior.sample import DagSample
from dagpost.prediction.completed_parts import Part, weighted_parts
from dagpost.prediction.counted_parts import all_counted_parts, counted_parts, where_of
from dagpost.prediction.statistics import Statistics
from dagpost.scores import LocalPrior, Score, scores_within

#: Under this name a model remembers its local models.
LOCAL_MODELS = "local models"
#: Graphs whose families are regressed on.
_MOST_REGRESSED = 400


def prior_with_local_models(fitted: Fitted) -> LocalPrior | None:
    """The prior of a model whose answers come from local models; None of others."""
    if not isinstance(fitted.score, Score):
        return None
    prior = scores_within(fitted.score)[0].parameter_prior()
    return prior if isinstance(prior, LocalPrior) else None


def local_models_of(fitted: Fitted) -> LocalModels | None:
    """The local models of a model's table; None where its answers come from elsewhere."""
    prior = prior_with_local_models(fitted)
    if prior is None:
        return None
    known: LocalModels | None = fitted.recall(LOCAL_MODELS)
    if known is not None:
        return known
    fitted.rows("Regressions with curves")
    models = models_of(modelled_table(fitted), prior, **where_of(fitted))
    fitted.remember(LOCAL_MODELS, models)
    return models


def local_parts(fitted: Fitted) -> tuple[list[Part], bool]:
    """The graphs that answers are averaged over, and whether these are all there are."""
    return fitted.once("local parts", lambda: _local_parts(fitted))


def parts_with_parameters(fitted: Fitted) -> tuple[Sequence[tuple[Part, Statistics | LocalModels]], bool]:
    """Graphs with what is known for their parameters, and whether these are all graphs there are."""
    models = local_models_of(fitted)
    if models is not None:
        parts, exact = local_parts(fitted)
        return [(part, models) for part in parts], exact
    every = all_counted_parts(fitted)
    return (counted_parts(fitted), False) if every is None else (every, True)


def _local_parts(fitted: Fitted) -> tuple[list[Part], bool]:
    every = all_graphs(fitted)
    return weighted_parts(fitted, thinned(fitted.own_sample()) if every is None else every), every is not None


def thinned(sample: DagSample) -> DagSample:
    """Some graphs by their weights, evenly: more would have too many families to be regressed."""
    if len(sample) <= _MOST_REGRESSED:
        return sample
    order = np.lexsort(sample.parents.T)
    borders = np.cumsum(sample.weights[order])
    points = (np.arange(_MOST_REGRESSED) + 0.5) / _MOST_REGRESSED * borders[-1]
    chosen: DagSample = sample[order[np.searchsorted(borders, points)]]
    return chosen.weighted(np.full(_MOST_REGRESSED, borders[-1] / _MOST_REGRESSED))
