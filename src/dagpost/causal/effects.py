"""What does setting one column, or several, do to another? Effects, averaged over graphs and their parameters.

An effect is a function of a graph and its parameters, and both have a posterior: so the posterior of the effect is a
point mass at zero, from graphs without a directed path from cause to outcome, and a continuous part (Pensar, Talvitie,
Hyttinen & Koivisto 2020; with parameters drawn given the graph, Viinikka, Hyttinen, Pensar & Koivisto 2020). Means and
the probability of no effect are sums over all graphs at hand; intervals and signs come from draws.

Time: see the files of the kinds of tables; 30,000 graphs of 20 columns of numbers take about a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.checks import seed_number, whole_number
from dagpost._tools.text import printable
from dagpost.causal.assumptions import assumptions_of
from dagpost.causal.averages import Drawn, Expected, drawn_effects, expected_outcomes, expected_parts
from dagpost.causal.effect_curve import Asked, outcomes_of
from dagpost.causal.graphs import Alike, Graphs, alike, given, with_path_probability
from dagpost.causal.question import Question, decided, question_of
from dagpost.causal.results import Condition, Effect, EffectPart
from dagpost.causal.sources import graphs_of_fitted, graphs_of_sample
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError, warn
from dagpost.features import Edge, Feature, Query, evaluate, path, resolve
from dagpost.posterior.condition_words import assumption_words, given_provenance
from dagpost.posterior.directions import Directions, directions_of_sample, quick_directions
from dagpost.posterior.estimate import RULED_OUT, Estimate, check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.probabilities import averaged_answers, probabilities
from dagpost.posterior.sample import DagSample, Statement
from dagpost.scores import ConditionalGaussianPrior, Score, table_for

#: A column that lies on the way less often than this has no part of its own, unless all graphs are listed.
_LEAST_PART = 0.001
#: Draws that say which levels lie farthest apart, where no sum does.
_ROUGH_DRAWS = 1_000
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
    draws: int = 10_000,
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
        graphs, share = _restricted(graphs, condition)
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
    """The effect under a fitted model; as `one_of_many` it is averaged over fewer completed tables."""
    check_confidence(confidence)
    graphs = _with_rows(graphs_of_fitted(fitted), fitted.table)
    if one_of_many:
        graphs = graphs.of_fewer_tables()
    question = question_of(graphs.columns, cause, outcome, do, outcome_level)
    condition, exact = _condition(graphs, given), graphs.exact
    # Given a condition, exact answers take sums of their own.
    quick = condition is None or fitted.workspace.seconds(fitted.modularity) <= _PATIENCE_SECONDS
    if condition is not None:
        graphs, share = _restricted(graphs, condition)
        asked = not exact and (quick or isinstance(condition, Edge))
        known = _known(fitted, Query(condition), confidence) if asked else None
        share = share if known is None else float(known)
        exact = exact or (known is not None and known.rule == "exact")
    path_probability = None
    if question.single and quick and not graphs.exact:
        (x,), y = question.changed, question.outcome
        there = resolve(path(fitted.names[x], fitted.names[y]), fitted.names, None, fitted.exogenous).feature
        path_probability = _known(fitted, Query(there, condition), confidence)
    found = effect_in(graphs, question, draws, confidence, seed, path_probability, lambda: quick_directions(fitted))
    own = None if condition is None else Condition(str(condition), share, exact=exact)
    under = _all_conditions(fitted, own)
    return found if under is None else found.under(under)


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


def _restricted(graphs: Graphs, condition: Feature) -> tuple[Graphs, float]:
    """The graphs in which a condition holds, and the weight that they had."""
    held: dict[int, Flags] = {}
    for part in graphs.parts:
        if id(part.graphs) not in held:
            held[id(part.graphs)] = evaluate([condition], part.graphs, graphs.columns.names)[0]
    flags = [held[id(part.graphs)] for part in graphs.parts]
    share = sum(float(part.weights[own].sum()) for part, own in zip(graphs.parts, flags, strict=True))
    if share <= 0.0:
        raise InputError(
            f"In none of the {graphs.count:,} graphs does {printable(str(condition))!r} hold, so nothing can be said "
            "given that. Ask for a weaker condition, or require it when the model is fitted."
        )
    return given(graphs, flags), min(share, 1.0)


def _known(fitted: Fitted, query: Query, confidence: float) -> Estimate | None:
    """The probability of a statement, where the model knows it better than from the graphs that are averaged over."""
    if fitted.completes:
        return averaged_answers([query], fitted, confidence)[0]
    return probabilities([query], fitted, confidence)[0]


def effect_in(
    graphs: Graphs,
    question: Question,
    draws: int,
    confidence: float,
    seed: int | None,
    path_probability: Estimate | None,
    directions: Callable[[], Directions],
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
    expected = None if graphs.kind.expected is None else expected_outcomes(graphs, groups, question)
    seen = _roughly(graphs, groups, question, draws, entropy) if expected is None else expected.outcomes
    question = decided(question, seen, graphs.columns.names)
    on_way = _mediators(graphs, groups, question)
    drawn = drawn_effects(graphs, groups, question, list(on_way), draws, generator)
    if expected is None:
        expected = Expected(drawn.outcomes.mean(axis=1), (drawn.outcomes * drawn.reached[:, np.newaxis]).mean(axis=1))
    _warn_of_model(graphs, question)
    level = question.level
    assert level is not None
    direct, through = _parts(graphs, groups, question, on_way, drawn, confidence)
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


def _roughly(graphs: Graphs, groups: Sequence[Alike], question: Question, draws: int, entropy: Any) -> Floats:
    """The mean outcome in every world by some draws, where what is compared hangs on it; else nothing."""
    first, *others = question.causes
    if first.compared is not None and question.level is not None:
        return np.empty(0)
    any_pair = first._replace(compared=first.compared or (0, 0))
    asked = question._replace(causes=(any_pair, *others), level=question.level or 0)
    generator = np.random.default_rng(entropy)
    drawn = drawn_effects(graphs, groups, asked, [], min(draws, _ROUGH_DRAWS), generator)
    means: Floats = drawn.outcomes.mean(axis=1)
    return means


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
    graphs: Graphs,
    groups: Sequence[Alike],
    question: Question,
    on_way: dict[int, float],
    drawn: Drawn,
    confidence: float,
) -> tuple[EffectPart | None, tuple[EffectPart, ...]]:
    """The direct part and those through other columns, largest first."""
    if not question.single:
        return None, ()
    direct, through = float(drawn.direct.mean()), {column: float(own.mean()) for column, own in drawn.through.items()}
    if graphs.kind.expected is not None:
        direct, known = expected_parts(graphs, groups, question, list(on_way))
        through |= known
    joined = min(sum(float(own.weights[own.joined].sum()) for own in groups), 1.0)
    names = graphs.columns.names
    parts = [
        EffectPart(names[column], through[column], share, drawn.through[column], float(confidence))
        for column, share in on_way.items()
    ]
    parts.sort(key=lambda part: -abs(part.mean))
    return EffectPart(None, direct, joined, drawn.direct, float(confidence)), tuple(parts)
