"""The effects of all columns on all others, one row a pair, from one set of graphs with drawn parameters.

Graphs without a path from cause to outcome add nothing, so that each pair is worked out in the others alone; how
probable these are comes from the model, which often knows it exactly. Means are those of the same graphs under the
posterior means of their parameters; where all graphs are listed, of all of them. A table with gaps is averaged over
some of its completed tables.

Time: two outcomes in every drawn graph with a path, for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.checks import seed_number, whole_number
from dagpost.causal.averages import Expected, Expecting, expected_outcomes, expected_parts, shared_out, weighted
from dagpost.causal.graphs import Graphs, Weighted, alike
from dagpost.causal.mechanisms import Mechanisms
from dagpost.causal.question import Question, decided, question_of
from dagpost.causal.sources import graphs_of_fitted
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.features import ancestors
from dagpost.posterior.estimate import check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.lists import relation_table

if TYPE_CHECKING:
    import pandas as pd

#: Beside coefficients: masks, ancestors, orders, intercepts, and outcomes of some worlds.
_NUMBERS_A_NODE = 10
_COLUMNS = (
    "cause", "outcome", "do", "outcome_level", "mean", "lower", "upper", "no_effect", "raises", "lowers", "direct"
)  # fmt: skip


def effects_of_fitted(fitted: Fitted, draws: int, confidence: float, seed: int | None) -> pd.DataFrame:
    """The total effect of every column on every other that is modelled, one row each."""
    import pandas as pd

    check_confidence(confidence)
    count = int(whole_number(draws, "draws"))
    generator = np.random.default_rng(seed_number(seed))
    graphs = graphs_of_fitted(fitted).of_fewer_tables()
    numbers = len(fitted.names) * (fitted.workspace.max_parents + _NUMBERS_A_NODE)
    what, remedy = f"Drawing {count:,} graphs with their parameters", "Ask for fewer draws."
    memory.require(8 * count * numbers, what, remedy)
    paths = None if graphs.exact_means else np.clip(relation_table(fitted, "~>").to_numpy(), 0.0, 1.0)
    chosen = list(_chosen(graphs, count, generator))
    questions = [own for pair in _pairs(graphs) if (own := _question(graphs, *pair)) is not None]
    rows = []
    with fitted.workspace.reporter.stage("effects of all pairs", len(questions)) as stage:
        for question in questions:
            x, y = question.causes[0].column, question.outcome
            rows.append(_row(graphs, chosen, question, None if paths is None else float(paths[x, y]), confidence))
            stage.advance(1)
    # Levels and pairs stay what they are, None included.
    return pd.DataFrame(
        {
            name: pd.Series(own, dtype=object if name in ("do", "outcome_level") else None)
            for name, own in zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)
        },
        columns=list(_COLUMNS),
    )


def _pairs(graphs: Graphs) -> Iterator[tuple[str, str]]:
    names = graphs.columns.names
    modelled = [name for name in names if name not in graphs.columns.exogenous]
    return ((cause, outcome) for cause in names for outcome in modelled if cause != outcome)


def _question(graphs: Graphs, cause: str, outcome: str) -> Question | None:
    """What is asked of a pair; nothing of a column that has one value only."""
    try:
        return question_of(graphs.columns, cause, outcome, None, None)
    except InputError:
        return None


class _Chosen(NamedTuple):
    """Graphs of one part with drawn parameters; and those that means come from, with their weights or counts."""

    part: Weighted
    drawn: Mechanisms
    #: The ancestors of every column, (columns, graphs).
    above: Masks
    #: The distinct ones with the posterior means of their parameters; or, where these say nothing, the draws again.
    known: Mechanisms
    known_above: Masks
    counts: Floats


def _chosen(graphs: Graphs, draws: int, generator: np.random.Generator) -> Iterator[_Chosen]:
    shares = shared_out([part.weights for part in graphs.parts], draws, generator)
    for part, number in zip(graphs.parts, shares, strict=True):
        rows = np.repeat(np.arange(len(part.graphs)), number)
        if not len(rows):
            continue
        above = np.ascontiguousarray(ancestors(part.graphs[rows]).T)
        drawn = part.drawn(rows, graphs.background, generator)
        if not part.kind.sums or graphs.exact:
            yield _Chosen(part, drawn, above, drawn, above, np.ones(len(rows)))
            continue
        # In linear networks all graphs take no longer than a few.
        asked = np.flatnonzero(part.weights) if part.kind.linear else rows
        weights = part.weights[asked] if part.kind.linear else np.ones(len(rows))
        first, member = distinct_rows(part.graphs[asked])
        counts = np.bincount(member, weights=weights, minlength=len(first)).astype(np.float64)
        known = part.expected(asked[first], graphs.background, counts)
        yield _Chosen(part, drawn, above, known, np.ascontiguousarray(ancestors(known.graphs).T), counts)


class _Means(NamedTuple):
    """The question with all that was left open, how probable a path is, and the means of effect and direct part."""

    question: Question
    path: float
    effect: float
    direct: float


def _row(graphs: Graphs, chosen: list[_Chosen], asked: Question, path: float | None, confidence: float) -> Any:
    """What is said of one pair."""
    question, share, mean, direct = _exact_means(graphs, asked) if graphs.exact_means else _means(graphs, chosen, asked)
    if path is not None:
        factor = path / share if share > 0.0 else 0.0
        share, mean, direct = path, mean * factor, direct * factor
    x, y, _, level = question.pair
    draws = np.concatenate([_changes(own, question) for own in chosen])
    raises, lowers = (float(np.mean(own)) if len(draws) else 0.0 for own in (draws > 0.0, draws < 0.0))
    (cause,) = question.causes
    assert cause.compared is not None
    return (
        graphs.columns.names[x],
        graphs.columns.names[y],
        None if cause.unit else tuple(cause.labels[place] for place in cause.compared),
        question.outcome_levels[level] if question.outcome_levels else None,
        mean,
        *_interval(draws, share, confidence),
        1.0 - share,
        share * raises,
        share * lowers,
        direct,
    )


def _exact_means(graphs: Graphs, question: Question) -> _Means:
    """Of all graphs there are."""
    groups = [alike(part, question).with_path() for part in graphs.parts]
    share = min(sum(float(own.weights.sum()) for own in groups), 1.0)
    expecting = Expecting(graphs, groups)
    expected = expected_outcomes(expecting, question)
    question = decided(question, expected.reached, graphs.columns.names)
    direct, _ = expected_parts(expecting, question, [])
    return _Means(question, share, expected.effect(question), direct)


def _means(graphs: Graphs, chosen: list[_Chosen], question: Question) -> _Means:
    """Of the graphs that were drawn."""
    x, y = question.causes[0].column, question.outcome
    # Where two values are to be compared, the others do not matter.
    places = range(len(question.worlds)) if question.compared is None else sorted(set(question.compared))
    expected, share, direct = np.zeros((len(question.worlds), question.width)), 0.0, 0.0
    change = 0.0 if graphs.kind.linear else None
    total = sum(float(own.counts.sum()) for own in chosen)
    reached = [_reached(own, x, y) for own in chosen]
    for mechanisms, weights in reached:
        share += float(weights.sum()) / total
        if graphs.kind.change is not None and change is not None:
            change += float(weighted(weights, graphs.kind.change(mechanisms, y, question.steps))[0]) / total
            continue
        for place in places:
            expected[place] += weighted(weights, mechanisms.outcome(y, question.worlds[place][1])) / total
    question = decided(question, expected, graphs.columns.names)
    _, _, values, level = question.pair
    for mechanisms, weights in reached:
        joined = mechanisms.graphs[:, y] >> np.uint64(x) & np.uint64(1) == 1
        if joined.any():
            direct += float(weighted(weights * joined, mechanisms.direct(x, y, values))[level]) / total
    return _Means(question, share, Expected(expected, expected, change).effect(question), direct)


def _reached(own: _Chosen, x: int, y: int) -> tuple[Mechanisms, Floats]:
    """Where means come from: the graphs with a path, and their weights."""
    flags = own.known_above[y] >> np.uint64(x) & np.uint64(1) == 1
    # In linear networks all outcomes of a world come in one pass, which is remembered: no graph is left out.
    if own.part.kind.linear:
        return own.known, own.counts * flags
    rows = np.flatnonzero(flags)
    return own.known.some(rows), own.counts[rows]


def _changes(own: _Chosen, question: Question) -> Floats:
    """The draws of an effect in graphs with a path."""
    x, y, values, level = question.pair
    rows = np.flatnonzero(own.above[y] >> np.uint64(x) & np.uint64(1))
    if not len(rows):
        return np.zeros(0)
    if own.part.kind.change is not None:
        changes: Floats = own.part.kind.change(own.drawn, y, question.steps)[rows, 0]
        return changes
    asked = own.drawn.some(rows)
    first, second = (asked.outcome(y, {x: value})[:, level] for value in values)
    return first - second


def _interval(draws: Floats, share: float, confidence: float) -> tuple[float, float]:
    """The interval of an effect that has this probability to be one of the draws, and is zero otherwise.

    >>> _interval(np.array([1.0, 2.0, 3.0, 4.0]), 0.5, 0.9)
    (0.0, 4.0)
    """
    if not len(draws):
        return 0.0, 0.0
    values = np.append(draws, 0.0)
    weights = np.append(np.full(len(draws), share / len(draws)), 1.0 - share)
    order = np.argsort(values, kind="stable")
    borders = np.cumsum(weights[order])
    tail = (1.0 - confidence) / 2.0
    places = np.searchsorted(borders / borders[-1], [tail, 1.0 - tail])
    lower, upper = values[order][np.minimum(places, len(draws))].tolist()
    return lower, upper
