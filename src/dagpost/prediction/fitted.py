"""What a fitted model says of new rows and of one graph's parameters: it needs the data, or what was counted in them.

A model keeps its table while it lives. Its file keeps what was counted for the families of its own sample instead:
enough to predict from that sample, and nothing else. Rows are in it if they are asked for, or if chains complete them.

A score that averages over one of its settings has a prior of the parameters for each value `a`. Then

    p(row | D) = sum over a, sampled graphs G of weight(G) P(a | G, D) p_a(row | G, D)

and the levels of one column are compared by what they have in all, mixed before they are divided. A table with gaps is
averaged over completed tables in the same way (completed_parts.py). The parameters of one graph are then means over
tables that are completed given this graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.spelling import either
from dagpost._tools.text import position_of
from dagpost.errors import InputError, collected_warnings, warn
from dagpost.families.masks import refuse_wide
from dagpost.families.numbering import MAX_NODES
from dagpost.local.models import LocalModels
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.posterior.estimate import check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.summaries.given import masks_of_graph
from dagpost.prediction import local_rows
from dagpost.prediction.averaging import (
    as_shares,
    log_predictive,
    log_predictive_of_target,
    refuse_exogenous,
    refuse_set_target,
)
from dagpost.prediction.completed_parts import completed_given
from dagpost.prediction.counted_parts import (
    all_counted_parts,
    counted_parts,
    has_rows,
    refuse_structure_alone,
    statistics_of,
    where_of,
)
from dagpost.prediction.network import AnyNetwork, bayesian_network, mixed_network
from dagpost.prediction.numbers import Piece, number_distributions, refuse_levels_as_target
from dagpost.prediction.statistics import Statistics, counted_prior, sufficient_statistics
from dagpost.prediction.time_rows import encode_new_rows
from dagpost.priors.constraints import Constraints
from dagpost.scores import resolve_score, scores_within

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.summaries.given import GivenGraph


def log_predictive_of_rows(fitted: Fitted, X: Any, unseen: Any, interventions: Any) -> Floats:
    """Log p(row | data) of new rows, averaged over graphs; of the modelled columns given the exogenous ones."""
    refuse_structure_alone(fitted)
    local = local_rows.averaged(fitted)
    if local is not None:
        rows = encode_new_rows(fitted, X, local[0].models, unseen=unseen, interventions=interventions)
        found: Floats = local_rows.log_probabilities(local, rows)[0]
        return found
    counted = counted_parts(fitted)
    rows = encode_new_rows(fitted, X, counted[0][1], unseen=unseen, interventions=interventions)
    where = where_of(fitted)
    return _mixed(log_predictive(part.sample, own, part.score, rows, **where) for part, own in counted)


def _mixed(logs: Iterable[Floats]) -> Floats:
    """Log of the sum of what the parts add; what they remark on is said once, and what is nan stays so."""
    with collected_warnings() as said, np.errstate(invalid="ignore"):
        result = reduce(np.logaddexp, logs)
    for remark in dict.fromkeys(said):
        warn(remark)
    return result


def level_probabilities(fitted: Fitted, X: Any, target: str, unseen: Any, interventions: Any) -> pd.DataFrame:
    """Probability of every level of one column given the others, averaged over graphs."""
    import pandas as pd

    refuse_structure_alone(fitted)
    refuse_exogenous(target, fitted.exogenous)
    local = local_rows.averaged(fitted)
    if local is not None:
        node, models = position_of(target, fitted.names), local[0].models
        _refuse_numbers_as_target(models, node)
        rows = encode_new_rows(fitted, X, models, target=target, unseen=unseen, interventions=interventions)
        refuse_set_target(rows, target, fitted.names)
        chances = as_shares(local_rows.log_probabilities(local, rows, node))
        return pd.DataFrame(chances, columns=pd.Index(list(models.levels[node] or ()), name=target))
    counted = counted_parts(fitted)
    statistics, where = counted[0][1], where_of(fitted)
    rows = encode_new_rows(fitted, X, statistics, target=target, unseen=unseen, interventions=interventions)
    chances = as_shares(
        _mixed(log_predictive_of_target(part.sample, own, part.score, rows, target, **where) for part, own in counted)
    )
    levels = statistics.levels[fitted.names.index(target)]
    return pd.DataFrame(chances, columns=pd.Index(levels or (), name=target))


def _refuse_numbers_as_target(models: LocalModels, node: int) -> None:
    if models.levels[node] is None:
        raise InputError(
            f"The column {models.names[node]!r} is one of numbers, and only levels have probabilities. Ask what the "
            f"number may be: {either('predict_number(X, target=...)', 'dagpost predict --target')}."
        )


def number_predictions(
    fitted: Fitted, X: Any, target: str, confidence: float, unseen: Any, interventions: Any
) -> pd.DataFrame:
    """Mean, deviation, median and interval of a column of numbers given the others, averaged over graphs."""
    refuse_structure_alone(fitted)
    check_confidence(confidence)
    refuse_exogenous(target, fitted.exogenous)
    probabilities = np.array([0.5, (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    local = local_rows.averaged(fitted)
    if local is not None:
        node, models = position_of(target, fitted.names), local[0].models
        refuse_levels_as_target(models, node)
        rows = encode_new_rows(fitted, X, models, target=target, unseen=unseen, interventions=interventions)
        refuse_set_target(rows, target, fitted.names)
        return _number_table(local_rows.number_distributions(local, rows, node, probabilities))
    counted = counted_parts(fitted)
    statistics = counted[0][1]
    refuse_levels_as_target(statistics, position_of(target, fitted.names))
    rows = encode_new_rows(fitted, X, statistics, target=target, unseen=unseen, interventions=interventions)
    refuse_set_target(rows, target, fitted.names)
    pieces = [Piece(part.sample, own, part.score) for part, own in counted]
    return _number_table(number_distributions(pieces, rows, target, probabilities, **where_of(fitted)))


def _number_table(found: Any) -> pd.DataFrame:
    """What is said of numbers, one row each."""
    import pandas as pd

    columns = {"mean": found.means, "sd": found.deviations}
    columns |= dict(zip(("median", "lower", "upper"), found.quantiles.T, strict=True))
    return pd.DataFrame(columns)


def network_of(fitted: Fitted, graph: GivenGraph | None) -> AnyNetwork:
    """One graph with the posterior means of its parameters; the most probable one unless another is given."""
    refuse_structure_alone(fitted)
    workspace = fitted.workspace
    limit = workspace.max_parents if isinstance(workspace, MixedWorkspace | AugmentedWorkspace) else None
    masks = fitted.likeliest() if graph is None else masks_of_graph(graph, fitted.names, limit)
    masks = masks.astype(np.uint64)
    if fitted.exogenous:
        Constraints(exogenous=fitted.exogenous).refuse_graph(fitted.names, masks)
    if isinstance(workspace, AugmentedWorkspace):
        return _averaged_network(fitted, masks)
    statistics = statistics_of(fitted, masks[None, :])
    networks = [bayesian_network(masks, statistics, score) for score in scores_within(resolve_score(fitted.score))]
    networks = [replace(network, exogenous=fitted.exogenous) for network in networks]
    if not isinstance(workspace, MixedWorkspace):
        return networks[0]
    if workspace.log_joint(masks[None, :])[0] == -np.inf:
        raise InputError(
            f"The model averages over the {workspace.grid.words} by how probable each value makes the graph, and "
            "rules it out under all of them. Take a graph that the model allows."
        )
    return mixed_network(networks, workspace.shares_of_scores(masks[None, :])[:, 0].tolist())


def _averaged_network(fitted: Fitted, masks: Masks) -> AnyNetwork:
    """The means over completed tables given the graph of the posterior means of its parameters."""
    refuse_wide(len(fitted.names), "Networks are made")
    networks = [
        bayesian_network(masks, sufficient_statistics(table, masks[None, :], score, **where_of(fitted)), score)
        for score, table in completed_given(fitted, masks)
    ]
    network = mixed_network(networks, [1.0 / len(networks)] * len(networks))
    return replace(network, exogenous=fitted.exogenous)


def statistics_to_keep(fitted: Fitted) -> Statistics | None:
    """What a file needs to predict from the model's own sample, where that is available."""
    if not has_rows(fitted) or isinstance(fitted.score, str) or len(fitted.names) > MAX_NODES:
        return None
    if any(counted_prior(score) is None for score in scores_within(resolve_score(fitted.score))):
        return None
    # All graphs of a few columns have few families: with these, effects of a model from a file are exact too.
    every = all_counted_parts(fitted)
    return statistics_of(fitted, fitted.own_sample().parents) if every is None else every[0][1]
