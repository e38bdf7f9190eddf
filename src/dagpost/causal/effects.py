"""What does setting one column, or several, do to another? Effects, averaged over graphs and their parameters.

An effect is a function of a graph and its parameters, and both have a posterior: so the posterior of the effect is a
point mass at zero, from graphs without a directed path from cause to outcome, and a continuous part (Pensar, Talvitie,
Hyttinen & Koivisto 2020; with parameters drawn given the graph, Viinikka, Hyttinen, Pensar & Koivisto 2020). Means and
the probability of no effect are sums over all graphs at hand; intervals and signs come from draws.

Time: see the files of the kinds of tables; 30,000 graphs of 20 columns of numbers take about a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import seed_number, whole_number
from dagpost.causal.assumptions import assumptions_of
from dagpost.causal.averages import Drawn, Expecting, drawn_effects, expected_outcomes, expected_parts
from dagpost.causal.columns import Cause
from dagpost.causal.effect_curve import Asked, outcomes_of
from dagpost.causal.graphs import Alike, Graphs, alike, restricted, with_path_probability
from dagpost.causal.question import Question, decided, question_of
from dagpost.causal.results import Condition, Effect, EffectPart
from dagpost.causal.sources import graphs_given, graphs_of_fitted, graphs_of_sample
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError, warn
from dagpost.features import Edge, Feature, Query, path, resolve
from dagpost.posterior.condition_words import assumption_words, given_provenance
from dagpost.posterior.directions import Directions, directions_of_sample, quick_directions
from dagpost.posterior.estimate import RULED_OUT, Estimate, check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.probabilities import known_answers, probabilities
from dagpost.posterior.sample import DagSample, Statement
from dagpost.scores import ConditionalGaussianPrior, Score, table_for

#: A column that lies on the way less often than this has no part of its own, unless all graphs are listed.
_LEAST_PART = 0.001
#: How sure an interval is that nobody looks at.
_ANY = 0.95
#: Draws of an effect, unless said otherwise: reports and the explorer make as many as `model.effect`.
DRAWS = 10_000
#: Of one effect among many that come of draws: so many draws, and parts through so many columns.
_DRAWS_OF_MANY, _LIKELIEST = 2_000, 2
#: What is exact given a condition is asked for if sums over all graphs are reckoned to take no longer than this.
_PATIENCE_SECONDS = 1.0


def effect(
    sample: DagSample,
    table: Table,
    score: str | Score,
    cause: Any,
    outcome: str,
    *,
    do: Any = None,
    outcome_level: object = None,
    given: Statement | None = None,
    draws: int = DRAWS,
    confidence: float = 0.95,
    seed: int | None = None,
    engine: Engine | None = None,
) -> Effect:
    """The posterior of what setting one column, or several at once, does to another, averaged over graphs.

    This is for graphs from elsewhere; `DagPosterior.effect` asks a fitted model.

    Parameters
    ----------
    sample
        Graphs with their weights.
    table
        The table that they were found from, as `as_table` takes it.
    score
        The score that they were found with: the parameters have the prior that it stands for (BIC: Jeffreys').
    cause, outcome
        What is set, and what is looked at. Several columns that are set at once come with their values:
        ``{"Smoking": ("yes", "no"), "M. Work": ("no", "yes")}``; one value instead of two holds the column at it.
    do
        Two values of the cause: the effect of ``do=("yes", "no")`` is the change when it is set to "yes" rather than to
        "no". Of a column of numbers that was cut, any number stands for its bin: ``do=(150, 120)``. None: of two levels
        the second rather than the first; of more levels in an order the last rather than the first; of levels in no
        order the two whose expected outcomes are farthest apart; of numbers one unit more. `Effect.note` says which.
    outcome_level
        Of an outcome of levels, the one whose probability changes. None: the second of two; the last of levels in an
        order; of others the one whose probability changes most. Of an outcome of numbers the mean changes.
    given
        Only the graphs count in which this statement holds, such as ``"Smoking -> Pressure"``.
    draws
        How many draws from the posterior of the effect to make.
    confidence
        Of the intervals that are shown.

    What this assumes is in `Effect.assumptions`: no common cause of two columns is missing, rows were not selected by
    what is in them, nothing feeds back, and what the score says of the parameters. Data without interventions cannot
    tell the graphs of an equivalence class apart. Where they disagree about the direction of an edge, the posterior of
    the effect is a mixture: partly zero, partly not.

    >>> from dagpost import DagPosterior, datasets
    >>> table = datasets.load("coronary")
    >>> sample = DagPosterior("bdeu").fit(table).sample(5_000, seed=1)
    >>> found = effect(sample, table, "bdeu", "Smoking", "Pressure", seed=1)
    >>> round(found.mean, 2), round(found.zero_probability, 2)
    (-0.02, 0.62)

    References
    ----------
    Pearl (2009), Causality, 2nd edition. Pensar, Talvitie, Hyttinen & Koivisto (2020), A Bayesian approach for
    estimating causal effects from observational data. AAAI 34. VanderWeele, Vansteelandt & Robins (2014), Effect
    decomposition in the presence of an exposure-induced mediator-outcome confounder. Epidemiology 25.
    """
    table = table_for(score, table)
    graphs = _with_rows(graphs_of_sample(sample, table, score, engine), table)
    question = question_of(graphs.columns, cause, outcome, do, outcome_level)
    condition = _condition(graphs, given)
    if condition is not None:
        graphs, share = restricted(graphs, condition)
    found = effect_in(graphs, question, draws, confidence, seed, None, lambda: directions_of_sample(sample))
    return found if condition is None else found.under(Condition(str(condition), share, exact=False))


def effect_of_fitted(
    fitted: Fitted,
    cause: Any,
    outcome: str,
    do: Any,
    outcome_level: object,
    given: Statement | None,
    draws: int,
    confidence: float,
    seed: int | None,
    *,
    one_of_many: bool = False,
) -> Effect:
    """The effect under a fitted model.

    As `one_of_many` it is averaged over fewer completed tables; where all comes of draws, intervals are of fewer draws,
    and parts are through the likeliest columns only.
    """
    check_confidence(confidence)
    graphs = _with_rows(graphs_of_fitted(fitted), fitted.table)
    if one_of_many:
        graphs = graphs.of_fewer_tables()
    question = question_of(graphs.columns, cause, outcome, do, outcome_level)
    condition, exact = _condition(graphs, given), graphs.exact
    # Given a condition, exact answers take sums of their own.
    quick = condition is None or fitted.workspace.seconds(fitted.modularity) <= _PATIENCE_SECONDS
    if condition is not None:
        graphs, share = restricted(graphs, condition)
        asked = not exact and (quick or isinstance(condition, Edge))
        known = _known(fitted, Query(condition), confidence) if asked else None
        share = share if known is None else float(known)
        exact = exact or (known is not None and known.rule == "exact")
    path_probability = _of_a_path(fitted, graphs, question, condition, confidence) if quick else None
    few = one_of_many and not graphs.kind.sums
    found = effect_in(
        graphs, question, min(draws, _DRAWS_OF_MANY) if few else draws, confidence, seed, path_probability,
        lambda: quick_directions(fitted), most_parts=_LIKELIEST if few else None,
    )  # fmt: skip
    own = None if condition is None else Condition(str(condition), share, exact=exact)
    under = _all_conditions(fitted, own)
    return found if under is None else found.under(under)


def _of_a_path(
    fitted: Fitted, graphs: Graphs, question: Question, condition: Feature | None, confidence: float
) -> Estimate | None:
    """How probable a path from cause to outcome is, where the model knows it better than from some graphs."""
    if not question.single or graphs.exact:
        return None
    x, y = question.causes[0].column, question.outcome
    there = resolve(path(fitted.names[x], fitted.names[y]), fitted.names, None, fitted.exogenous).feature
    return _known(fitted, Query(there, condition), confidence)


class WhenSet(NamedTuple):
    """An outcome when columns are set: the mean of each level, or of the number, and draws of these (draws, levels)."""

    means: Floats
    draws: Floats
    #: Whether means are sums in every graph.
    sums: bool


def outcome_when_set(
    fitted: Fitted, set_to: Mapping[int, float], outcome: int, condition: Feature | None, draws: int, entropy: int
) -> WhenSet:
    """What the outcome is when columns are set and nothing else is known: as effects have it, for all who ask."""
    graphs = graphs_given(fitted, condition)
    causes = [Cause(column, (value,), (value,), None) for column, value in set_to.items()]
    question = Question(tuple(causes), outcome, graphs.columns.levels_of(outcome), 0)
    groups = [alike(part, question) for part in graphs.parts]
    quick = condition is None or fitted.workspace.seconds(fitted.modularity) <= _PATIENCE_SECONDS
    known = _of_a_path(fitted, graphs, question, condition, _ANY) if quick else None
    if known is not None and np.isfinite(known):
        groups = with_path_probability(groups, float(known))
    question = question._replace(causes=tuple(own._replace(compared=(0, 0)) for own in causes))
    means = expected_outcomes(Expecting(graphs, groups), question).outcomes[0]
    drawn = drawn_effects(graphs, groups, question, [], draws, np.random.default_rng(entropy)).outcomes[0]
    return WhenSet(means, drawn, graphs.kind.sums)


def _with_rows(graphs: Graphs, table: Table | None) -> Graphs:
    return replace(graphs, columns=replace(graphs.columns, table=table))


def _all_conditions(fitted: Fitted, asked: Condition | None) -> Condition | None:
    """What an effect is given in all: what its model is under, and what was asked for beside it."""
    own = fitted.condition
    if own is None:
        return asked
    statement = assumption_words(given_provenance(own))
    if asked is None:
        return Condition(statement, float(own.probability), exact=own.probability.rule == "exact")
    exact = asked.exact and own.probability.rule == "exact"
    return Condition(f"{statement} and {asked.statement}", float(own.probability) * asked.probability, exact=exact)


def _condition(graphs: Graphs, statement: Statement | None) -> Feature | None:
    if statement is None:
        return None
    query = resolve(statement, graphs.columns.names, None, graphs.columns.exogenous)
    if query.given is not None:
        raise InputError(
            f"'given' must be one statement about the graph, and {str(statement)!r} has a condition of its own. If "
            "both are meant, join them with &."
        )
    return query.feature


def _known(fitted: Fitted, query: Query, confidence: float) -> Estimate | None:
    """The probability of a statement, where the model knows it better than from the graphs that are averaged over."""
    if fitted.completes:
        return known_answers([query], fitted, confidence)[0]
    return probabilities([query], fitted, confidence)[0]


def effect_in(
    graphs: Graphs,
    question: Question,
    draws: int,
    confidence: float,
    seed: int | None,
    path_probability: Estimate | None,
    directions: Callable[[], Directions],
    *,
    most_parts: int | None = None,
) -> Effect:
    """The posterior of an effect over some graphs; the probability of a path may be known better than from these."""
    check_confidence(confidence)
    draws = int(whole_number(draws, "draws"))
    entropy: Any = np.random.SeedSequence(seed_number(seed)).entropy
    generator = np.random.default_rng(entropy)
    groups = [alike(part, question) for part in graphs.parts]
    zero = min(sum(float(own.weights[~own.reached].sum()) for own in groups), 1.0)
    if path_probability is not None and np.isfinite(path_probability):
        zero = 1.0 - float(path_probability)
        groups = with_path_probability(groups, float(path_probability))
    expecting = Expecting(graphs, groups)
    expected = expected_outcomes(expecting, question)
    question = decided(question, expected.outcomes, graphs.columns.names)
    on_way = _mediators(graphs, groups, question)
    on_way = dict(list(on_way.items())[:most_parts])
    drawn = drawn_effects(graphs, groups, question, list(on_way), draws, generator)
    _warn_of_model(graphs, question)
    level = question.level
    assert level is not None
    direct, through = _parts(expecting, question, on_way, drawn, confidence)
    names = graphs.columns.names
    return Effect(
        causes=tuple(names[own.column] for own in question.causes),
        outcome=names[question.outcome],
        values=tuple(None if own.unit else _pair(own.labels, own.compared) for own in question.causes),
        outcome_level=question.outcome_levels[level] if question.outcome_levels else None,
        samples=drawn.effect,
        mean=expected.effect(question),
        zero_probability=zero,
        confidence=float(confidence),
        direct=direct,
        through=through,
        outcomes=outcomes_of(question, expected.outcomes, drawn.outcomes, confidence),
        assumptions=assumptions_of(graphs, groups, question, directions()),
        graphs=graphs.count,
        observations=graphs.observations,
        modularity=graphs.target,
        exact=graphs.exact_means,
        zero_exact=graphs.exact or (path_probability is not None and path_probability.rule in ("exact", RULED_OUT)),
        note=question.note,
        exogenous=graphs.columns.exogenous,
        asked=Asked(graphs, groups, question, draws, entropy),
    )


def _pair(labels: tuple[Any, ...], compared: tuple[int, int] | None) -> tuple[Any, Any]:
    assert compared is not None
    return labels[compared[0]], labels[compared[1]]


def _warn_of_model(graphs: Graphs, question: Question) -> None:
    """Say what is a statement of the model, or of its prior, and not a finding."""
    columns = graphs.columns
    if columns.names[question.outcome] in graphs.always_set:
        warn(
            f"In every row {columns.names[question.outcome]!r} was set, so that no row says how it follows from other "
            "columns: effects on it come from the prior alone. Add rows in which it was not set."
        )
    numbers = [own.column for own in question.causes if columns.levels[own.column] is None]
    apart = isinstance(graphs.parts[0].prior, ConditionalGaussianPrior)
    if apart and numbers and columns.levels[question.outcome] is not None:
        warn(
            "In a conditional Gaussian network no column of numbers leads to one of levels: that "
            f"{columns.names[numbers[0]]!r} has no effect on {columns.names[question.outcome]!r} is a statement of the "
            "model, not a finding."
        )


def _mediators(graphs: Graphs, groups: Sequence[Alike], question: Question) -> dict[int, float]:
    """The columns that may lie on a path from one cause to the outcome, with how probably they do, highest first."""
    if not question.single:
        return {}
    shares = sum(own.weights @ own.between for own in groups)
    least = 0.0 if graphs.exact else _LEAST_PART
    order = np.argsort(-np.asarray(shares), kind="stable").tolist()
    return {node: min(float(shares[node]), 1.0) for node in order if shares[node] > least}  # type: ignore[index]


def _parts(
    expecting: Expecting,
    question: Question,
    on_way: dict[int, float],
    drawn: Drawn,
    confidence: float,
) -> tuple[EffectPart | None, tuple[EffectPart, ...]]:
    """The direct part and those through other columns, largest first."""
    if not question.single:
        return None, ()
    through = {column: float(own.mean()) for column, own in drawn.through.items()}
    direct, known = expected_parts(expecting, question, list(on_way))
    through |= known
    joined = min(sum(float(own.weights[own.joined].sum()) for own in expecting.groups), 1.0)
    names = expecting.graphs.columns.names
    parts = [
        EffectPart(names[column], through[column], share, drawn.through[column], float(confidence))
        for column, share in on_way.items()
    ]
    parts.sort(key=lambda part: -abs(part.mean))
    return EffectPart(None, direct, joined, drawn.direct, float(confidence)), tuple(parts)
