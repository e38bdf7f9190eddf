"""Answers of a fitted model to questions about values: `P(Pressure = ">140" | Smoking = yes)`, `E(systolic | ...)`.

    P(target | evidence) = sum over G of weight(G) p(target, evidence | G, data) / the same sum without the target

Columns of levels: exact in each graph, with the parameters integrated out (levels.py). Columns of numbers: graph and
parameters are drawn, and inference in each draw is exact (normals.py). The draws also say how far to trust the answer.
Where nodes are local models, people are drawn, too (local.py). What is asked of columns that are set, and of nothing
else, is what effects are made of, and comes from there.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import seed_number, whole_number
from dagpost.causal.effects import WhenSet, outcome_when_set
from dagpost.causal.graphs import Graphs
from dagpost.causal.sources import graphs_given
from dagpost.errors import InputError, warn
from dagpost.features.value_queries import ValueQuery
from dagpost.posterior.estimate import check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.values.draws import Drawn
from dagpost.values.engines import Asked, drawn_answers, exact_shares, with_one_regime
from dagpost.values.question import Columns, Question, columns_of, question_of_arguments, question_of_text
from dagpost.values.results import ValueDistribution, ValueEstimate

#: Draws of graph and parameters.
DRAWS = 4_000
#: Draws that are worth fewer equal ones than this are not enough for an interval.
_FEW = 100.0
#: Parts of a mixture that its quantiles are found from.
_COMPONENTS = 2**13


def value_estimate(
    fitted: Fitted, query: ValueQuery, confidence: float, given: ValueQuery | None = None
) -> ValueEstimate:
    """The answer to a question in text; `given` has further values that are conditioned on."""
    columns = columns_of(fitted)
    question = question_of_text(columns, query, given)
    if question.of is None:
        return _probabilities(fitted, columns, question, confidence, DRAWS, None)[0]
    return _number(fitted, columns, question, confidence, DRAWS, None)[0]


def value_distribution(
    fitted: Fitted, target: object, given: object, do: object, where: object, confidence: float, draws: int,
    seed: int | None,
) -> ValueDistribution:  # fmt: skip
    """The distribution of one column, given values of others."""
    check_confidence(confidence)
    draws = int(whole_number(draws, "draws"))
    columns = columns_of(fitted)
    question = question_of_arguments(columns, target, given, do, where)
    assert question.of is not None
    name = columns.names[question.of]
    words = f"P({question.words})"
    if columns.levels[question.of] is None:
        mean, quantiles = _number(fitted, columns, question, confidence, draws, seed)
        assert mean.sd is not None
        return ValueDistribution(name, words, confidence, (), (), mean, mean.sd, *quantiles)
    found = _probabilities(fitted, columns, question, confidence, draws, seed)
    levels = columns.levels[question.of] or ()
    labelled = [replace(own, statement=f"P({name} = {level}{_rest(question.words, name)})")
                for level, own in zip(levels, found, strict=True)]  # fmt: skip
    return ValueDistribution(name, words, confidence, levels, tuple(labelled))


def _rest(words: str, name: str) -> str:
    return words[len(name) :]


def _probabilities(
    fitted: Fitted, columns: Columns, asked_for: Question, confidence: float, draws: int, seed: int | None
) -> list[ValueEstimate]:
    graphs = graphs_given(fitted, asked_for.where)
    question = with_one_regime(asked_for, columns, graphs)
    open_question = _without_pinned(question)
    if open_question is None or not open_question.nodes:
        certain = 0.0 if open_question is None else 1.0
        return [_estimate(fitted, graphs, question, certain, (certain, certain), confidence, "exact", math.inf)]
    when_set = _when_set(fitted, asked_for, draws, seed)
    if when_set is not None:
        every = [[code] for code in range(when_set.means.size)]
        codes = every if question.of is not None else [list(cell.codes or ()) for cell in question.targets.values()]
        values: Any = [when_set.means[own].sum() for own in codes]
        shares = np.stack([when_set.draws[:, own].sum(axis=1) for own in codes])
        weights, worth, rule = np.full(draws, 1.0 / draws), float(draws), _rule(graphs, drawn=not when_set.sums)
    else:
        asked = Asked(columns, open_question, graphs)
        exact = exact_shares(asked)
        drawn = drawn_answers(asked, draws, _generator(fitted, seed))
        weights, worth = _weights(drawn, question)
        assert drawn.shares is not None
        values, shares = weights @ drawn.shares if exact is None else exact, drawn.shares.T
        rule = _rule(graphs, drawn=exact is None)
    return [
        _estimate(
            fitted, graphs, question, float(min(max(value, 0.0), 1.0)), _interval(own, weights, confidence),
            confidence, rule, worth,
        )
        for value, own in zip(values, shares, strict=True)
    ]  # fmt: skip


def _when_set(fitted: Fitted, question: Question, draws: int, seed: int | None) -> WhenSet | None:
    """The answer of effects, where columns are set and nothing else is known; None: this is no such question."""
    if not question.do or question.evidence or len(question.nodes) != 1:
        return None
    (node,) = question.nodes
    of_limits = question.of is None and question.targets[node].codes is None
    if node in question.do or of_limits or fitted.names[node] in fitted.exogenous:
        return None
    entropy = int(_generator(fitted, seed).integers(2**62))
    return outcome_when_set(fitted, question.do, node, question.where, draws, entropy)


def _rule(graphs: Graphs, *, drawn: bool) -> str:
    if drawn:
        return "drawn"
    return "exact" if graphs.exact else "exact in each graph"


def _without_pinned(question: Question) -> Question | None:
    """The question without targets that the evidence settles; None where it excludes one of them."""
    targets = {}
    for node, cell in question.targets.items():
        known = question.evidence.get(node)
        if cell.is_empty or (known is not None and known.meet(cell).is_empty):
            return None
        if known is None or known.meet(cell) != known:
            targets[node] = cell
    return replace(question, targets=targets)


def _number(
    fitted: Fitted, columns: Columns, asked_for: Question, confidence: float, draws: int, seed: int | None
) -> tuple[ValueEstimate, tuple[float, float, float]]:
    """The mean of a column of numbers, and median, lower and upper limit of a new value."""
    graphs = graphs_given(fitted, asked_for.where)
    question = with_one_regime(asked_for, columns, graphs)
    drawn = drawn_answers(Asked(columns, question, graphs), draws, _generator(fitted, seed))
    weights, worth = _weights(drawn, question)
    assert drawn.components is not None
    logs, means, deviations = drawn.components
    # Draws that rule the evidence out weigh nothing.
    shares = np.exp(logs - np.where(np.isfinite(drawn.log_weights), drawn.log_weights, 0.0)[:, np.newaxis])
    own_means = (shares * means).sum(axis=1)
    mean, interval = float(weights @ own_means), _interval(own_means, weights, confidence)
    every = (weights[:, np.newaxis] * shares).reshape(-1)
    spread = (deviations**2 + (means - mean) ** 2).reshape(-1)
    tail = (1.0 - confidence) / 2.0
    quantiles = mixture_quantiles(every, means.reshape(-1), deviations.reshape(-1), [0.5, tail, 1.0 - tail])
    when_set = _when_set(fitted, asked_for, draws, seed)
    if when_set is not None:
        mean = float(when_set.means[0])
        interval = _interval(when_set.draws[:, 0], np.full(draws, 1.0 / draws), confidence)
    rule = _rule(graphs, drawn=when_set is None or not when_set.sums)
    estimate = replace(
        _estimate(fitted, graphs, question, mean, interval, confidence, rule, worth),
        sd=math.sqrt(float(every @ spread)),
        predictive=(quantiles[1], quantiles[2]),
    )
    return estimate, (quantiles[0], quantiles[1], quantiles[2])


def mixture_quantiles(weights: Floats, means: Floats, deviations: Floats, probabilities: list[float]) -> list[float]:
    """Quantiles of a mixture of normal distributions, some of which may be points; by bisection."""
    from scipy.special import ndtr

    kept = weights > 0.0
    weights, means, deviations = weights[kept], means[kept], deviations[kept]
    if len(weights) > _COMPONENTS:
        # In the order of their means, evenly spaced shares of all stand for all.
        order = np.argsort(means, kind="stable")
        running = np.cumsum(weights[order])
        shares = (np.arange(_COMPONENTS) + 0.5) / _COMPONENTS * running[-1]
        chosen = order[np.searchsorted(running, shares)]
        means, deviations, weights = means[chosen], deviations[chosen], np.full(_COMPONENTS, 1.0 / _COMPONENTS)
    points = not deviations.any()
    if points:
        order = np.argsort(means)
        running = np.cumsum(weights[order])
        places = np.minimum(np.searchsorted(running, np.array(probabilities) * running[-1]), len(order) - 1)
        return [float(value) for value in means[order][places]]
    found = []
    for probability in probabilities:
        low, high = float((means - 40.0 * deviations).min()), float((means + 40.0 * deviations).max())
        for _ in range(50):
            middle = (low + high) / 2.0
            # Not a product of vectors, for which threads would be started each time.
            if float((weights * ndtr((middle - means) / deviations)).sum()) < probability:
                low = middle
            else:
                high = middle
        found.append((low + high) / 2.0)
    return found


def _generator(fitted: Fitted, seed: int | None) -> np.random.Generator:
    chosen = fitted.settings.get("seed") if seed is None else seed
    return np.random.default_rng(0 if chosen is None else seed_number(chosen))


def _weights(drawn: Drawn, question: Question) -> tuple[Floats, float]:
    """What every draw weighs given the evidence, and how many equal draws they are worth."""
    largest = float(drawn.log_weights.max())
    if not math.isfinite(largest):
        raise InputError(f"The evidence of {question.words!r} has no probability in any graph. Check the values given.")
    weights = np.exp(drawn.log_weights - largest)
    weights /= weights.sum()
    worth = 1.0 / float((weights**2).sum())
    if worth < min(_FEW, len(weights) / 2.0):
        warn(
            f"The evidence of {question.words!r} is so improbable that {len(weights):,} draws of graph and parameters "
            f"are worth only {worth:.0f}: intervals, and answers about numbers, are rough."
        )
    return weights, worth


def _interval(values: Floats, weights: Floats, confidence: float) -> tuple[float, float]:
    """The interval that leaves out as much weight on either side."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[order])
    tail = (1.0 - confidence) / 2.0
    places = np.searchsorted(running, [tail, 1.0 - tail])
    lower, upper = values[order][np.minimum(places, len(values) - 1)]
    return float(lower), float(upper)


def _estimate(
    fitted: Fitted,
    graphs: Graphs,
    question: Question,
    value: float,
    interval: tuple[float, float],
    confidence: float,
    rule: str,
    worth: float,
) -> ValueEstimate:
    known = {*question.evidence, *question.do}
    open_columns = tuple(name for name in fitted.exogenous if fitted.names.index(name) not in known)
    return ValueEstimate(
        value, *interval, confidence, rule, graphs.count, worth, str(fitted.target),
        exogenous=open_columns, statement=question.words,
    )  # fmt: skip
