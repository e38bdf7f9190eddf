"""Graphs and local models that answers of a fitted model are averaged over, where local models stand for parameters.

Regressions are fitted one by one, so that some hundred graphs are taken of a larger sample: evenly, by their weights.
Where cells of the columns were completed, each of some completed tables has local models of its own, for the graphs
that were drawn from it. Chains that complete nothing but latent numbers leave the columns as they are: these have one
set of local models, whose graphs are those of all tables of latent numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dagpost._tools.schema import require
from dagpost.data.table import Table
from dagpost.families.numbering import MAX_NODES
from dagpost.local.kept import Arrays, kept, restored
from dagpost.local.models import LocalModels, models_of
from dagpost.posterior.all_graphs import all_graphs
from dagpost.posterior.augmented_workspace import modelled_levels
from dagpost.posterior.completed_tables import Completions, completions_of
from dagpost.posterior.conditioned_sample import graphs_under
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.sample import DagSample
from dagpost.prediction.completed_parts import Part, base_of, completed_parts, weighted_parts
from dagpost.prediction.counted_parts import all_counted_parts, counted_parts, where_of
from dagpost.prediction.statistics import Statistics
from dagpost.scores import LocalPrior, Score, scores_within

#: Under this name a model remembers its local models.
LOCAL_MODELS = "local models"
#: Graphs whose families are regressed on; a file that keeps them instead of the rows gives the same answers.
_MOST_REGRESSED = 200
#: Completed tables that have local models.
_MOST_TABLES = 20


def prior_with_local_models(fitted: Fitted) -> LocalPrior | None:
    """The prior of a model whose answers come from local models; None of others."""
    if not isinstance(fitted.score, Score):
        return None
    prior = scores_within(fitted.score)[0].parameter_prior()
    return prior if isinstance(prior, LocalPrior) else None


LocalParts = list[tuple[Part, LocalModels]]


def local_parts(fitted: Fitted) -> tuple[LocalParts, bool] | None:
    """The graphs that answers are averaged over, with their local models, and whether these are all graphs there are.

    None where answers come from elsewhere.
    """
    prior = prior_with_local_models(fitted)
    return None if prior is None else fitted.once("local parts", lambda: _local_parts(fitted, prior))


def parts_with_parameters(fitted: Fitted) -> tuple[Sequence[tuple[Part, Statistics | LocalModels]], bool]:
    """Graphs with what is known for their parameters, and whether these are all graphs there are."""
    local = local_parts(fitted)
    if local is not None:
        return local
    every = all_counted_parts(fitted)
    return (counted_parts(fitted), False) if every is None else (every, True)


def _local_parts(fitted: Fitted, prior: LocalPrior) -> tuple[LocalParts, bool]:
    if fitted.gaps:
        return _of_completed_tables(fitted), False
    models, every = _models_of_table(fitted, prior), all_graphs(fitted)
    if every is None:
        sample = _kept_sample(fitted) if fitted.table is None else thinned(fitted.own_sample(), _MOST_REGRESSED)
        return [(part, models) for part in weighted_parts(fitted, sample)], False
    return [(part, models) for part in weighted_parts(fitted, every)], True


def _models_of_table(fitted: Fitted, prior: LocalPrior) -> LocalModels:
    """The local models of a table whose columns have no gaps."""
    known: LocalModels | None = fitted.recall(LOCAL_MODELS)
    if known is None:
        known = models_of(fitted.rows("Regressions"), prior, **where_of(fitted))
        fitted.remember(LOCAL_MODELS, known)
    return known


def _of_completed_tables(fitted: Fitted) -> LocalParts:
    parts = completed_parts(fitted, _MOST_TABLES, partial(_completed, completions_of(base_of(fitted))))
    each = max(_MOST_REGRESSED // len(parts), 1)
    found = []
    for part in parts:
        assert part.table is not None
        fewer = part._replace(sample=thinned(part.sample, each))
        # What the prior has from the data, it has from cells that were there.
        prior = part.score.parameter_prior()
        assert isinstance(prior, LocalPrior)
        found.append((fewer, models_of(part.table(), prior, **where_of(fitted))))
    return found


def _completed(completions: Completions, number: int) -> Table:
    """One of the tables that chains kept, in the columns' own terms."""
    return completions.table.filled(completions.cells[number].astype(np.float64))


def _kept_sample(fitted: Fitted) -> DagSample:
    """The graphs whose regressions a file keeps; under a condition those in which it holds."""
    condition = fitted.condition
    if condition is None or condition.feature is None:
        return thinned(fitted.own_sample(), _MOST_REGRESSED)
    return graphs_under(_kept_sample(condition.base), condition.feature)


def local_models_to_keep(fitted: Fitted) -> tuple[dict[str, Any], Arrays] | None:
    """What a file without rows keeps to answer from the model's own sample; None where there is nothing to keep."""
    prior = prior_with_local_models(fitted)
    if prior is None or fitted.table is None or fitted.completes or len(fitted.names) > MAX_NODES:
        return None
    models, every = _models_of_table(fitted, prior), all_graphs(fitted)
    sample = thinned(fitted.own_sample(), _MOST_REGRESSED) if every is None else every
    exogenous = [fitted.names.index(name) for name in fitted.exogenous]
    return kept(models, prior.module, sample.parents.astype(np.uint64), exogenous)


def remember_local_models(fitted: Fitted, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Take over what a file keeps; what does not fit the model is a ValueError."""
    prior = prior_with_local_models(fitted)
    require(prior is not None, "regressions of a score that has none")
    assert prior is not None
    levels = modelled_levels(fitted)
    fitted.remember(LOCAL_MODELS, restored(prior.module, about, arrays, fitted.names, levels))


def thinned(sample: DagSample, most: int) -> DagSample:
    """Some graphs by their weights, evenly: more would have too many families to be regressed."""
    if len(sample) <= most:
        return sample
    order = np.lexsort(sample.parents.T)
    borders = np.cumsum(sample.weights[order])
    points = (np.arange(most) + 0.5) / most * borders[-1]
    chosen: DagSample = sample[order[np.searchsorted(borders, points)]]
    return chosen.weighted(np.full(most, borders[-1] / most))
