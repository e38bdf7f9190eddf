"""What prediction must remember of a table, by the prior of the parameters behind the score.

A family is a node with its parents. For discrete columns the counts of the cells that occur are kept
(discrete_statistics.py); for continuous ones the number of rows, the means and the scatter matrix, which serve every
family alike (gaussian_statistics.py). Rows in which a node was set by intervention are left out for that node (Cooper &
Yoo 1999). The rows themselves are not kept. Other kinds of parameters are those of local models (local/base.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from dagpost._tools.checks import has_method, kind
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.text import shown
from dagpost.data.table import Table
from dagpost.engines import Engine, engine_or_threads
from dagpost.errors import InputError
from dagpost.families.masks import check_masks, refuse_wide
from dagpost.prediction.discrete_statistics import DiscreteStatistics, count_discrete, discrete_from
from dagpost.prediction.family_lists import families_in
from dagpost.prediction.gaussian_statistics import GaussianStatistics, count_gaussian, gaussian_from
from dagpost.scores import (
    DirichletPrior,
    NormalWishartPrior,
    ParameterPrior,
    Score,
    parameter_prior_of,
    resolve_score,
    table_for,
)

Statistics = DiscreteStatistics | GaussianStatistics


class _Kind(NamedTuple):
    """What is counted for one kind of parameters: its class, how files call it, how it is counted and read."""

    statistics: type[Any]
    name: str
    #: In words.
    columns: str
    counted: Callable[[Table, NDArray[Any], Engine, Reporter], Statistics]
    read: Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], Statistics]


def _discrete(table: Table, parents: NDArray[Any], engine: Engine, reporter: Reporter) -> Statistics:
    return count_discrete(table, families_in(parents), engine, reporter)


def _gaussian(table: Table, parents: NDArray[Any], engine: Engine, reporter: Reporter) -> Statistics:
    del parents, engine, reporter
    return count_gaussian(table)


_KINDS: Mapping[type[Any], _Kind] = {
    DirichletPrior: _Kind(DiscreteStatistics, "discrete", "discrete", _discrete, discrete_from),
    NormalWishartPrior: _Kind(GaussianStatistics, "gaussian", "continuous", _gaussian, gaussian_from),
}


def counted_prior(score: Score) -> ParameterPrior | None:
    """The prior of a score's parameters, latent ones too, if rows are counted for them."""
    prior = score.coefficient_prior() or score.parameter_prior()
    return prior if type(prior) in _KINDS else None


def _counted_prior(score: str | Score) -> ParameterPrior:
    """The same; of other kinds it is an error."""
    parameter_prior_of(score, "Prediction needs to know")
    prior = counted_prior(resolve_score(score))
    if prior is None:
        raise InputError(
            f"Under the score {shown(resolve_score(score).name)} each column given its parents is fitted to the rows "
            "when it is asked for: there is no network of tables or of coefficients. Ask a fitted model for effects, "
            "predictions and values instead."
        )
    return prior


def prior_for(statistics: Statistics, score: str | Score) -> ParameterPrior:
    """The same, if it is for the kind of columns that were counted."""
    prior = _counted_prior(score)
    own = _KINDS[type(prior)]
    if not isinstance(statistics, own.statistics):
        counted = next(other for other in _KINDS.values() if isinstance(statistics, other.statistics))
        raise InputError(
            f"The score {score!r} is for {own.columns} columns, but {counted.columns} ones were counted. Give the "
            "score that the graphs were found with."
        )
    return prior


def check_statistics(statistics: Any) -> Statistics:
    """What `sufficient_statistics` counted; anything else is an error."""
    known = tuple(own.statistics for own in _KINDS.values())
    found: Statistics = kind(statistics, "statistics", known, "what sufficient_statistics(...) counted")
    return found


def sufficient_statistics(
    table: Table,
    parents: NDArray[Any],
    score: str | Score,
    *,
    engine: Engine | None = None,
    reporter: Reporter = NO_PROGRESS,
) -> Statistics:
    """Count what prediction from some graphs needs to know about a table.

    Parameters
    ----------
    parents
        The graphs, one row of parent masks each, such as `DagSample.parents`.
    score
        The score the graphs were found with: the prior of its parameters says whether columns are discrete,
        continuous or both.

    >>> import numpy as np
    >>> from dagpost.data import datasets
    >>> no_edges = np.zeros((1, 6), dtype=np.uint8)
    >>> sufficient_statistics(datasets.load("coronary"), no_edges, "bdeu")
    DiscreteStatistics of 6 families over 6 variables: 12 cells
    """
    has_method(reporter, "reporter", "stage", "a Reporter")
    prior, table = _counted_prior(score), table_for(score, table)
    check_masks(parents)
    refuse_wide(parents.shape[1], "Predictions are made")
    if parents.shape[1] != len(table.names):
        raise InputError(f"The graphs have {parents.shape[1]} nodes, but the table has {len(table.names)} columns.")
    return _KINDS[type(prior)].counted(table, parents, engine_or_threads(engine), reporter)


def statistics_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Statistics:
    """The statistics that `about()` and `arrays()` describe; what does not fit together is an error."""
    try:
        for own in _KINDS.values():
            if about["kind"] == own.name:
                return own.read(about, arrays)
        raise ValueError(f"no statistics of kind {about['kind']!r} are known")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The counts for prediction are incomplete or damaged ({error}). Make the file again."
        ) from error
