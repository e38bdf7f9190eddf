"""How probable are statements about the graph of a fitted model? Exact where that can be, else known as well as can be.

For a table with gaps nothing is exact: averages over completed tables come first, then the drawn graphs or, where these
are known better, completed tables that are asked anew (averaged_answers.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagpost.features import Query
from dagpost.posterior.answers import exact_answer
from dagpost.posterior.averaged_answers import averaged_answers, better_answers
from dagpost.posterior.estimate import Estimate
from dagpost.posterior.left_out import with_left_out

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted


def probabilities(queries: Sequence[Query], fitted: Fitted, confidence: float) -> list[Estimate]:
    """The probability of each statement, in the order in which they are asked."""
    if fitted.condition is not None and fitted.condition.drawn:
        # The model whose drawn graphs were restricted knows more than those that are left: it may have exact answers.
        within, asked = fitted.condition.drawn.asked(queries)
        return probabilities(asked, within, confidence)

    def others(asked: Sequence[Query]) -> list[Estimate]:
        return _probabilities(asked, fitted, confidence)

    found = with_left_out(queries, fitted.settings.get("sinks", ()), fitted.modularity, others)
    return [estimate.given(fitted.exogenous) for estimate in found]


def _probabilities(queries: Sequence[Query], fitted: Fitted, confidence: float) -> list[Estimate]:
    """Those of statements that the model leaves open."""
    if fitted.completes:
        answers = averaged_answers(queries, fitted, confidence)
    else:
        answers = [exact_answer(query, fitted) for query in queries]
    left = [query for query, answer in zip(queries, answers, strict=True) if answer is None]
    drawn = fitted.own_sample().probability(left, confidence=confidence) if left else []
    known = iter(better_answers(left, drawn, fitted, confidence) if left and fitted.completes else drawn)
    return [next(known) if answer is None else answer for answer in answers]
