"""What does setting one column, or several, do to another? Effects, averaged over graphs and their parameters.

An effect is a function of a graph and its parameters, and both are drawn from their posterior: so its posterior is a
point mass at zero, from graphs without a directed path from cause to outcome, and a continuous part (Pensar, Talvitie,
Hyttinen & Koivisto 2020; with parameters drawn too, Moffa, Kuipers et al. 2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import kind, seed_number, whole_number
from dagpost._tools.text import shortened
from dagpost.causal.averages import check_room, drawn_in, expected_in, expected_outcomes
from dagpost.causal.graphs import Alike, Graphs, Weighted, alike, reaches
from dagpost.causal.question import Columns, Question, decided, question_of
from dagpost.causal.results import Effect, EffectPart, Outcome, interval_of
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.features import ancestors
from dagpost.posterior.estimate import check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.sample import DagSample
from dagpost.prediction.background import no_background
from dagpost.prediction.counted_parts import counted_parts
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.statistics import Statistics, sufficient_statistics
from dagpost.scores import Score, parameter_prior_of, table_for

if TYPE_CHECKING:
    pass


def effect(
    sample: DagSample,
    table: Table,
    score: str | Score,
    cause: object,
    outcome: str,
    *,
    do: object = None,
    outcome_level: object = None,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int | None = None,
    engine: Engine | None = None,
) -> Effect:
    """The posterior of an effect, averaged over graphs from elsewhere."""
    prior, table = parameter_prior_of(score, "The effect of setting a variable needs"), table_for(score, table)
    _check_names(sample, table)
    statistics = sufficient_statistics(table, sample.parents, score, engine=engine)
    recipe = Recipe.of_table(table) if table.recipe is None else table.recipe
    columns = Columns(table.names, table.levels, recipe, _means(statistics), sample.exogenous)
    part = Weighted(prior, statistics, sample.parents.astype(np.uint64), sample.weights / sample.weights.sum())
    graphs = Graphs(
        (part,), columns, no_background(len(table.names)), len(sample), str(sample.target), table.observations
    )
    return effect_in(graphs, question_of(columns, cause, outcome, do, outcome_level), draws, confidence, seed)


def effect_of_fitted(
    fitted: Fitted,
    cause: object,
    outcome: str,
    do: object,
    outcome_level: object,
    given: object,
    draws: int,
    confidence: float,
    seed: int | None,
) -> Effect:
    """The effect under a fitted model."""
    del given
    graphs = graphs_of_fitted(fitted)
    return effect_in(graphs, question_of(graphs.columns, cause, outcome, do, outcome_level), draws, confidence, seed)


def graphs_of_fitted(fitted: Fitted) -> Graphs:
    """The graphs of a model, with what was counted for their parameters."""
    refuse_wide(len(fitted.names), "Effects are computed")
    counted = counted_parts(fitted)
    parts = tuple(
        Weighted(
            parameter_prior_of(part.score, "The effect of setting a variable needs"),
            statistics,
            part.sample.parents.astype(np.uint64),
            part.sample.weights,
        )
        for part, statistics in counted
    )
    columns = Columns(fitted.names, fitted.data.levels, fitted.data.recipe, _means(counted[0][1]), fitted.exogenous)
    background = no_background(len(fitted.names))
    count = len(fitted.own_sample())
    return Graphs(parts, columns, background, count, str(fitted.target), fitted.data.observations)


def _means(statistics: Statistics) -> Floats:
    """The means of the columns of numbers."""
    if isinstance(statistics, GaussianStatistics):
        return statistics.centre
    return np.zeros(len(statistics.names))


def _check_names(sample: DagSample, table: Table) -> None:
    kind(sample, "sample", DagSample, "a DagSample")
    refuse_wide(len(sample.names), "Effects are computed")
    if sample.names != table.names:
        raise InputError(
            f"The graphs and the table must have the same variables in the same order. The graphs have "
            f"{shortened([repr(name) for name in sample.names])}; the table has "
            f"{shortened([repr(name) for name in table.names])}."
        )


def effect_in(graphs: Graphs, question: Question, draws: int, confidence: float, seed: int | None) -> Effect:
    """The posterior of an effect over some graphs."""
    check_confidence(confidence)
    draws = int(whole_number(draws, "draws"))
    generator = np.random.default_rng(seed_number(seed))
    y, names = question.outcome, graphs.columns.names
    columns = [own.column for own in question.causes]
    width = max(len(question.outcome_levels), 1)
    groups = [alike(part, columns, y) for part in graphs.parts]
    worlds = question.worlds
    settings = [world for _, world in worlds]
    check_room(draws, (len(worlds) + 2) * width + len(names))
    expected = expected_outcomes(graphs, groups, settings, y, width)
    question = decided(question, expected, names)
    assert question.compared is not None
    assert question.level is not None
    first, second = question.compared
    level = question.level
    single = len(columns) == 1
    values = question.causes[0].values[first], question.causes[0].values[second]
    mediators = _mediators(graphs, groups, columns[0], y) if single else {}
    outcomes, direct, through = [], [], {mediator: [] for mediator in mediators}  # type: ignore[var-annotated]
    for mechanisms in drawn_in(graphs, groups, draws, generator):
        outcomes.append(np.stack([mechanisms.outcome(y, world) for world in settings]))
        if single:
            direct.append(mechanisms.direct(columns[0], y, values)[:, level])
            for mediator, own in through.items():
                own.append(mechanisms.through(columns[0], y, mediator, values)[:, level])
    # In any order, so that the first few are draws as good as all.
    order = generator.permutation(draws)
    seen = np.concatenate(outcomes, axis=1)[:, order]
    samples = seen[first, :, level] - seen[second, :, level]
    zero = 1.0 - _share(graphs, groups, question.changed, [c for c in columns if c not in question.changed], y)
    parts = tuple(
        EffectPart(names[m], float(np.concatenate(through[m]).mean()), mediators[m], np.concatenate(through[m])[order],
                   confidence)
        for m in mediators
    )  # fmt: skip
    return Effect(
        causes=tuple(names[column] for column in columns),
        outcome=names[y],
        values=tuple(None if own.unit else _pair(own.labels, own.compared) for own in question.causes),
        outcome_level=question.outcome_levels[level] if question.outcome_levels else None,
        samples=samples,
        mean=float(expected[first, level] - expected[second, level]),
        zero_probability=zero,
        confidence=float(confidence),
        direct=_direct(graphs, groups, columns[0], y, values, level, np.concatenate(direct)[order], confidence)
        if single
        else None,
        through=parts,
        outcomes=_outcomes(worlds, question, expected, seen, confidence),
        assumptions=(),
        graphs=graphs.count,
        observations=graphs.observations,
        modularity=graphs.target,
        note=question.note,
        exogenous=graphs.columns.exogenous,
    )


def _pair(labels: tuple[Any, ...], compared: tuple[int, int] | None) -> tuple[Any, Any]:
    assert compared is not None
    return labels[compared[0]], labels[compared[1]]


def _outcomes(
    worlds: list[Any], question: Question, expected: Floats, seen: Floats, confidence: float
) -> tuple[Outcome, ...]:
    levels = question.outcome_levels or (None,)
    return tuple(
        Outcome(labels, level, float(expected[w, k]), *interval_of(seen[w, :, k], confidence))
        for w, (labels, _) in enumerate(worlds)
        for k, level in enumerate(levels)
    )


def _share(graphs: Graphs, groups: list[Alike], changed: Any, held: Any, y: int) -> float:
    """How probably a path leads from what is changed to the outcome."""
    total = sum(
        float(own.weights[reaches(part.graphs[own.rows], changed, held, y)].sum())
        for part, own in zip(graphs.parts, groups, strict=True)
    )
    return min(total, 1.0)


def _direct(
    graphs: Graphs, groups: list[Alike], x: int, y: int, values: Any, level: int, samples: Floats, confidence: float
) -> EffectPart:
    mean, share = 0.0, 0.0
    for part, own in zip(graphs.parts, groups, strict=True):
        mean += float(own.weights @ expected_in(part, own, graphs).direct(x, y, values)[:, level])
        share += float(own.weights[part.graphs[own.rows][:, y] >> np.uint64(x) & np.uint64(1) == 1].sum())
    return EffectPart(None, mean, min(share, 1.0), samples, float(confidence))


def _mediators(graphs: Graphs, groups: list[Alike], x: int, y: int) -> dict[int, float]:
    """The columns that may lie on a path from cause to outcome, with how probably they do."""
    nodes = len(graphs.columns.names)
    shares = np.zeros(nodes)
    for part, own in zip(graphs.parts, groups, strict=True):
        above = ancestors(part.graphs[own.rows])
        for node in range(nodes):
            if node not in (x, y):
                on_way = (above[:, node] >> np.uint64(x)) & (above[:, y] >> np.uint64(node)) & np.uint64(1)
                shares[node] += float(own.weights @ on_way)
    return {node: float(shares[node]) for node in np.argsort(-shares, kind="stable").tolist() if shares[node] > 0.0}
