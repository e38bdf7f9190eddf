"""What a fitted model says of new rows and of one graph's parameters: it needs the data, or what was counted in them.

A model keeps its table while it lives. Its file keeps what was counted for the families of its own sample instead,
never the rows: enough to predict from that sample, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.summaries.given import masks_of_graph
from dagpost.prediction.averaging import log_predictive, predictive_of_target
from dagpost.prediction.network import BayesianNetwork, GaussianNetwork, bayesian_network
from dagpost.prediction.statistics import DiscreteStatistics, Statistics, sufficient_statistics
from dagpost.scores import resolve_score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.summaries.given import GivenGraph

_STATISTICS = "statistics"


def predicts_levels(model: Any) -> bool:
    """Scikit-learn asks whether a method is there at all: that of levels is not where there are none."""
    if resolve_score(model.score).columns == "continuous":
        raise AttributeError("predict_proba is for discrete columns; with this score they are continuous.")
    return True


def log_predictive_of_rows(fitted: Fitted, X: Any, unseen: Any, interventions: Any) -> Floats:
    """Log p(row | data) of new rows, averaged over graphs."""
    sample = fitted.own_sample()
    how = {"unseen": unseen, "interventions": interventions, "recipe": fitted.data.recipe, **_where(fitted)}
    return log_predictive(sample, statistics_of(fitted, sample.parents), fitted.score, X, **how)


def level_probabilities(fitted: Fitted, X: Any, target: str, unseen: Any, interventions: Any) -> pd.DataFrame:
    """Probability of every level of one column given the others, averaged over graphs."""
    import pandas as pd

    sample = fitted.own_sample()
    statistics = statistics_of(fitted, sample.parents)
    how = {"unseen": unseen, "interventions": interventions, "recipe": fitted.data.recipe, **_where(fitted)}
    chances = predictive_of_target(sample, statistics, fitted.score, X, target, **how)
    assert isinstance(statistics, DiscreteStatistics)
    return pd.DataFrame(chances, columns=pd.Index(statistics.levels[fitted.names.index(target)], name=target))


def network_of(fitted: Fitted, graph: GivenGraph | None) -> BayesianNetwork | GaussianNetwork:
    """One graph with the posterior means of its parameters; the most probable one unless another is given."""
    masks = fitted.likeliest() if graph is None else masks_of_graph(graph, fitted.names)
    masks = masks.astype(np.uint64)
    return bayesian_network(masks, statistics_of(fitted, masks[None, :]), fitted.score)


def statistics_to_keep(fitted: Fitted) -> Statistics | None:
    """What a file needs to predict from the model's own sample, where that is available."""
    there = fitted.table is not None or fitted.recall(_STATISTICS) is not None
    if not there or isinstance(fitted.score, str) or resolve_score(fitted.score).parameter_prior() is None:
        return None
    return statistics_of(fitted, fitted.own_sample().parents)


def statistics_of(fitted: Fitted, parents: NDArray[Any]) -> Statistics:
    """What was counted for the families of some graphs; counted now where it is not there yet."""
    known: Statistics | None = fitted.recall(_STATISTICS)
    if known is not None and known.covers(parents):
        return known
    if fitted.table is None:
        raise InputError(
            "This model has no rows (it was made from scores, or saved without them), and nothing was counted for "
            "these graphs. Fit it to a table; save(path, rows=True) keeps the rows."
        )
    counted = sufficient_statistics(fitted.table, parents, fitted.score, **_where(fitted))
    if len(parents) > 1:
        fitted.remember(_STATISTICS, counted)
    return counted


def _where(fitted: Fitted) -> dict[str, Any]:
    """Where the work runs, and who hears of it."""
    return {"engine": fitted.workspace.engine, "reporter": fitted.workspace.reporter}
