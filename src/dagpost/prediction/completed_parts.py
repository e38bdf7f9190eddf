"""Graphs with the tables and scores that go with them: what predictions and effects of a model are averages over.

A complete table has one part, or one for each value of a setting that its score averages over. A table with gaps has
one for each of some completed tables `Y`, spread over the chains, with the graphs that were drawn from it:

    p(new | observed) = average over (G, Y) of p(new | G, Y)

Two hundred tables, each with its graphs, are enough for the differences between completed tables to be averaged out.
Time: what is asked of a complete table, from as many graphs, and counting its families in each completed table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost.data.table import Table
from dagpost.errors import NoGraphError
from dagpost.features import evaluate
from dagpost.mcmc.augmentation import members_of_masks
from dagpost.methods.augmentation import Augmentation
from dagpost.posterior.augmented_workspace import AugmentedWorkspace, modelled_table
from dagpost.posterior.conditioned_sample import graphs_under
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.sample import DagSample
from dagpost.prediction.statistics import Statistics, sufficient_statistics
from dagpost.scores import Score, scores_within

if TYPE_CHECKING:
    from dagpost.posterior.condition import Condition

#: Under this name a model remembers what was counted in its table.
STATISTICS = "statistics"
#: Completed tables that are averaged over.
_TABLES = 200
#: Completed tables of one given graph, and how often the cells of each are redrawn, from one that chains kept.
_TABLES_OF_GRAPH, _ROUNDS = 100, 10


class Part(NamedTuple):
    """Graphs weighted under one score, and the complete table that they go with; the weights of all parts sum to 1."""

    score: Score
    sample: DagSample
    #: Made when it is needed: completed tables may be large. None: the rows are not kept.
    table: Callable[[], Table] | None


def parts_of(fitted: Fitted) -> list[Part]:
    """What the answers of a fitted model are averaged over; values of a setting that weigh nothing are left out."""
    if isinstance(fitted.workspace, AugmentedWorkspace):
        table_of = partial(_completed, base_of(fitted))
        return fitted.once("completed parts", lambda: completed_parts(fitted, _TABLES, table_of))
    return weighted_parts(fitted, _predicting_sample(fitted))


def _predicting_sample(fitted: Fitted) -> DagSample:
    """The graphs that a complete table's predictions come from: its own sample.

    Under a condition, a model without its rows may draw graphs that nothing was counted for; then those of the model
    without the condition count in which it holds.
    """
    condition, known = fitted.condition, fitted.recall(STATISTICS)
    if condition is None or fitted.table is not None or known is None or condition.feature is None:
        return fitted.own_sample()
    own = fitted.own_sample()
    return own if known.covers(own.parents) else graphs_under(condition.base.own_sample(), condition.feature)


def weighted_parts(fitted: Fitted, sample: DagSample) -> list[Part]:
    """The graphs of a sample under each value of a setting that the score averages over: a complete table's parts."""
    workspace = fitted.workspace
    table = None if fitted.table is None else partial(modelled_table, fitted)
    if not isinstance(workspace, MixedWorkspace):
        return [Part(fitted.score, sample, table)]
    if workspace.grid.fixed:
        # The members agree on what graphs are, not on parameters: those of the committee itself count.
        return [Part(fitted.score, sample, table)]
    weights = workspace.shares_of_scores(sample.parents) * sample.weights
    pairs = zip(scores_within(fitted.score), weights, strict=True)
    return [Part(own, sample.weighted(weight), table) for own, weight in pairs if weight.any()]


def completed_parts(fitted: Fitted, tables: int, table_of: Callable[[int], Table]) -> list[Part]:
    """Some of the completed tables, evenly, with the graphs that were drawn from each; `table_of` makes one of them."""
    if fitted.condition is not None:
        return _parts_under(fitted.condition, completed_parts(fitted.condition.base, tables, table_of))
    workspace, augmented, sample = fitted.workspace, fitted.augmented, fitted.own_sample()
    assert isinstance(workspace, AugmentedWorkspace)
    assert augmented is not None
    assert isinstance(fitted.method, Augmentation)
    chosen = augmented.spread(tables).reshape(-1).tolist()
    parts = []
    for number in chosen:
        graphs = sample[augmented.graphs_of(number, fitted.method.graphs)]
        weights = np.full(len(graphs), 1.0 / (len(graphs) * len(chosen)))
        score = workspace.scores[int(augmented.value_of[number])]
        parts.append(Part(score, graphs.weighted(weights), partial(table_of, number)))
    return parts


def _completed(fitted: Fitted, number: int) -> Table:
    """One of the tables that chains kept, as the score takes it."""
    workspace, augmented = fitted.workspace, fitted.augmented
    assert isinstance(workspace, AugmentedWorkspace)
    assert augmented is not None
    return workspace.filled(augmented.completions[number])


def base_of(fitted: Fitted) -> Fitted:
    """The model itself; of one under a condition, the model without it."""
    return fitted if fitted.condition is None else fitted.condition.base


def _parts_under(condition: Condition, parts: list[Part]) -> list[Part]:
    """The graphs of each completed table in which a condition holds; all of them together weigh 1."""
    left = []
    for part in parts:
        held = np.ones(len(part.sample), dtype=np.bool_)
        if condition.feature is not None:
            held = evaluate([condition.feature], part.sample.parents, part.sample.names)[0]
        if held.any():
            rows = np.flatnonzero(held)
            left.append((part, rows, part.sample.weights[rows]))
    total = sum(float(weights.sum()) for _, _, weights in left)
    if total <= 0.0:
        raise NoGraphError(
            "The condition holds in none of the graphs that predictions and effects are averaged over, so that nothing "
            "can be said given it. Take a weaker condition, or fit with more samples."
        )
    return [part._replace(sample=part.sample[rows].weighted(weights / total)) for part, rows, weights in left]


def completed_statistics(fitted: Fitted, parts: list[Part]) -> list[Statistics]:
    """What was counted in each completed table for its own graphs."""
    engine = fitted.workspace.engine

    def counted() -> list[Statistics]:
        found = []
        with fitted.workspace.reporter.stage("counts in completed tables", len(parts)) as stage:
            for part in parts:
                assert part.table is not None
                found.append(sufficient_statistics(part.table(), part.sample.parents, part.score, engine=engine))
                stage.advance(1)
        return found

    return fitted.once("completed statistics", counted)


def completed_given(fitted: Fitted, masks: Masks) -> Iterator[tuple[Score, Table]]:
    """Completed tables given one graph: cells that chains kept, redrawn under this graph, with the score's setting."""
    # Given one graph, nothing else that is given matters.
    base = base_of(fitted)
    workspace, augmented = base.workspace, base.augmented
    assert isinstance(workspace, AugmentedWorkspace)
    assert augmented is not None
    passes, scores = workspace.passes, workspace.scores
    widest = max(workspace.max_parents, int(np.bitwise_count(masks).max(initial=0)))
    families = members_of_masks(masks.reshape(len(masks), -1).astype(np.uint64), widest)
    generator = np.random.default_rng(fitted.settings["seed"] or 0)
    cancel: Any = np.zeros(1, dtype=np.int64)
    for place in augmented.spread(_TABLES_OF_GRAPH).reshape(-1).tolist():
        cells, value = augmented.completions[place].astype(np.float64), int(augmented.value_of[place])
        for _ in range(_ROUNDS):
            passes.completers[value].redraw(cells, families, generator, cancel)
            if len(scores) > 1:
                logs = passes.log_joints(cells, masks)
                shares = np.exp(logs - logs.max())
                value = int(generator.choice(len(shares), p=shares / shares.sum()))
        yield scores[value], workspace.filled(cells)
