"""The graphs that an effect is averaged over: of a fitted model, or from elsewhere with the table that they go with."""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.checks import kind
from dagpost._tools.text import shortened
from dagpost.causal.columns import Columns
from dagpost.causal.graphs import Graphs, Weighted, restricted
from dagpost.causal.kinds import kind_of
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.features import Feature
from dagpost.local.models import LocalModels, models_of
from dagpost.posterior.augmented_workspace import modelled_levels
from dagpost.posterior.fitted import Fitted, targets_of
from dagpost.posterior.sample import DagSample
from dagpost.prediction.background import background_of, count_background, no_background
from dagpost.prediction.counted_parts import (
    has_rows,
    refuse_structure_alone,
)
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.local_parts import parts_with_parameters
from dagpost.prediction.statistics import Statistics, sufficient_statistics
from dagpost.scores import (
    LocalPrior,
    ParameterPrior,
    Score,
    parameter_prior_of,
    resolve_score,
    table_for,
)


def graphs_of_fitted(fitted: Fitted) -> Graphs:
    """The graphs of a model with what was counted for their parameters: all there are, or those of its own sample."""
    # A report asks about many pairs.
    return fitted.once("graphs of effects", lambda: _graphs_of_fitted(fitted))


def graphs_given(fitted: Fitted, condition: Feature | None) -> Graphs:
    """The graphs of a model in which a statement holds."""
    graphs = graphs_of_fitted(fitted)
    return graphs if condition is None else restricted(graphs, condition)[0]


def _graphs_of_fitted(fitted: Fitted) -> Graphs:
    refuse_wide(len(fitted.names), "Effects are computed")
    resolve_score(fitted.score)
    if not has_rows(fitted):
        refuse_structure_alone(fitted, effects=True)
        fitted.rows("Effects")
    counted, exact = parts_with_parameters(fitted)
    parts = []
    known: dict[int, Masks] = {}
    for part, statistics in counted:
        # The values of a setting share their graphs; each completed table has its own.
        graphs = known.setdefault(id(part.sample.parents), part.sample.parents.astype(np.uint64))
        prior = _prior_of(part.score)
        parts.append(Weighted(kind_of(prior), prior, statistics, graphs, part.sample.weights))
    columns = Columns(
        fitted.names, modelled_levels(fitted), fitted.data.recipe, _means(counted[0][1]), fitted.exogenous,
        _quartiles(counted[0][1]),
    )  # fmt: skip
    shared = not fitted.completes
    return Graphs(
        parts=tuple(parts),
        columns=columns,
        background=no_background(len(fitted.names))
        if isinstance(counted[0][1], LocalModels)
        else background_of(fitted),
        count=len(counted[0][0].sample) if shared else sum(len(part.sample) for part, _ in counted),
        target=str(fitted.target),
        observations=fitted.data.observations,
        always_set=_always_set(fitted.data.targets),
        exact=exact,
        reporter=fitted.workspace.reporter,
    )


def graphs_of_sample(sample: DagSample, table: Table, score: str | Score, engine: Engine | None) -> Graphs:
    """Graphs from elsewhere, and the table that they were found from."""
    prior, table = _prior_of(score), table_for(score, table)
    _check_names(sample, table)
    _check_counts(table)
    statistics = (
        models_of(table, prior, engine)
        if isinstance(prior, LocalPrior)
        else sufficient_statistics(table, sample.parents, score, engine=engine)
    )
    recipe = Recipe.of_table(table) if table.recipe is None else table.recipe
    weights = sample.weights / sample.weights.sum()
    return Graphs(
        parts=(Weighted(kind_of(prior), prior, statistics, sample.parents.astype(np.uint64), weights),),
        columns=Columns(
            table.names, statistics.levels, recipe, _means(statistics), sample.exogenous, _quartiles(statistics)
        ),
        background=no_background(len(table.names))
        if isinstance(statistics, LocalModels)
        else count_background(table, sample.exogenous, prior),
        count=len(sample),
        target=str(sample.target),
        observations=table.observations,
        always_set=_always_set(targets_of(table)),
    )


def _prior_of(score: str | Score) -> ParameterPrior:
    return parameter_prior_of(score, "The effect of setting a variable needs")


def _means(statistics: Statistics | LocalModels) -> Floats:
    """The means of the columns of numbers."""
    means = np.zeros(len(statistics.names))
    if isinstance(statistics, GaussianStatistics):
        means[:] = statistics.centre
    elif isinstance(statistics, LocalModels):
        means[:] = statistics.seen.means
    return means


def _quartiles(statistics: Statistics | LocalModels) -> Floats | None:
    return statistics.seen.quartiles if isinstance(statistics, LocalModels) else None


def _always_set(targets: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    """The columns that were set in every row; `targets` are the sets of columns that were set together."""
    return frozenset.intersection(*map(frozenset, targets)) if targets else frozenset()


def _check_counts(table: Table) -> None:
    if table.counts is not None and (table.counts < 0).any():
        row = int((table.counts < 0).argmax())
        raise InputError(
            f"The counts of a table must be at least 0. Got {int(table.counts[row])} in row {row + 1} (the first "
            "row is row 1): correct it, or drop the row."
        )


def _check_names(sample: DagSample, table: Table) -> None:
    kind(sample, "sample", DagSample, "a DagSample")
    refuse_wide(len(sample.names), "Effects are computed")
    if sample.names != table.names:
        raise InputError(
            f"The graphs and the table must have the same variables in the same order. The graphs have "
            f"{shortened([repr(name) for name in sample.names])}; the table has "
            f"{shortened([repr(name) for name in table.names])}."
        )
