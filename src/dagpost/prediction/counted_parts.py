"""What predictions of a fitted model are averaged over, with what was counted in its table, or completed tables."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.posterior.all_graphs import all_graphs
from dagpost.posterior.augmented_workspace import AugmentedWorkspace, modelled_table
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.completed_parts import (
    STATISTICS,
    Part,
    completed_statistics,
    parts_of,
    weighted_parts,
)
from dagpost.prediction.statistics import Statistics, sufficient_statistics
from dagpost.scores import Score, parameter_prior_of, resolve_score, scores_within


def counted_parts(fitted: Fitted) -> list[tuple[Part, Statistics]]:
    """What predictions are averaged over, and what was counted for it."""
    parts = parts_of(fitted)
    if isinstance(fitted.workspace, AugmentedWorkspace):
        refuse_wide(len(fitted.names), "Predictions are made")
        return list(zip(parts, completed_statistics(fitted, parts), strict=True))
    statistics = statistics_of(fitted, parts[0].sample.parents)
    return [(part, statistics) for part in parts]


def all_counted_parts(fitted: Fitted) -> list[tuple[Part, Statistics]] | None:
    """The same from all graphs that there are, with exact weights; None where there are too many of them.

    A file may not have counted all families: then None too.
    """
    graphs = all_graphs(fitted)
    known: Statistics | None = fitted.recall(STATISTICS)
    if graphs is None or (fitted.table is None and (known is None or not known.covers(graphs.parents))):
        return None
    statistics = statistics_of(fitted, graphs.parents)
    return [(part, statistics) for part in weighted_parts(fitted, graphs)]


def refuse_structure_alone(fitted: Fitted, *, effects: bool = False) -> None:
    """Refuse a score that says nothing of parameters, or only what follows if columns are set: rows would not help."""
    if not isinstance(fitted.score, Score):
        return
    parameter_prior_of(scores_within(fitted.score)[0], "Effects need" if effects else "Prediction needs to know")


def has_rows(fitted: Fitted) -> bool:
    """Whether a model has its rows, or what was counted in them."""
    kept = (STATISTICS, "local models")
    return fitted.table is not None or any(fitted.recall(name) is not None for name in kept)


def statistics_of(fitted: Fitted, parents: NDArray[Any]) -> Statistics:
    """What was counted for the families of some graphs; counted now where it is not there yet."""
    refuse_wide(len(fitted.names), "Predictions are made")
    known: Statistics | None = fitted.recall(STATISTICS)
    if known is not None and known.covers(parents):
        return known
    if fitted.table is None:
        refuse_structure_alone(fitted)
        raise InputError(
            "This model has no rows (it was made from scores, or saved without them), and nothing was counted for "
            "these graphs. Fit it to a table; save(path, rows=True) keeps the rows."
        )
    # What is counted is the same for all scores that are averaged over.
    score = fitted.score if isinstance(fitted.score, str) else scores_within(resolve_score(fitted.score))[0]
    counted = sufficient_statistics(modelled_table(fitted), parents, score, **where_of(fitted))
    if len(parents) > 1:
        fitted.remember(STATISTICS, counted)
    return counted


def where_of(fitted: Fitted) -> dict[str, Any]:
    """Where the work runs, and who hears of it."""
    return {"engine": fitted.workspace.engine, "reporter": fitted.workspace.reporter}
