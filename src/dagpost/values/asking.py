"""Questions of both kinds, about the graph and about values, in the order in which they were asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dagpost.errors import InputError
from dagpost.features.language import Query, read, resolve
from dagpost.features.value_queries import ValueQuery
from dagpost.posterior.estimate import Estimate, check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.probabilities import probabilities
from dagpost.values.answers import value_estimate


def answers_to(fitted: Fitted, asked: Any, given: Any, confidence: float) -> Any:
    """The answer to one statement, or a list of answers to several."""
    check_confidence(confidence)
    several = isinstance(asked, Sequence) and not isinstance(asked, str)
    # What is wrong with any of them is said before any is answered.
    queries = [_query(fitted, statement, given) for statement in (asked if several else [asked])]
    about_graphs = iter(probabilities([own for own in queries if isinstance(own, Query)], fitted, confidence))
    answers: list[Estimate] = [
        next(about_graphs) if isinstance(own, Query) else value_estimate(fitted, own[0], confidence, own[1])
        for own in queries
    ]
    return answers if several else answers[0]


def _query(fitted: Fitted, statement: Any, given: Any) -> Query | tuple[ValueQuery, ValueQuery | None]:
    query = read(statement, fitted.names) if isinstance(statement, str) else statement
    condition = read(given, fitted.names) if isinstance(given, str) else given
    if not isinstance(query, ValueQuery):
        if isinstance(condition, ValueQuery):
            raise InputError(
                f"The statement {str(query)!r} is about the graph, and the condition {str(given)!r} about values: how "
                "probable a graph is does not depend on a row that the data do not have. Leave the condition out."
            )
        return resolve(query, fitted.names, condition, fitted.exogenous)
    if condition is None or isinstance(condition, ValueQuery):
        return query, condition
    where = resolve(condition, fitted.names, None, fitted.exogenous)
    if where.given is not None:
        raise InputError(f"The condition {str(given)!r} has a condition of its own. Join both with &.")
    both = where.feature if query.where is None else query.where & where.feature
    return replace(query, where=both), None
