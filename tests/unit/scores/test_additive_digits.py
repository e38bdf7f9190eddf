"""Additive scores of two numbers in tables that stand for millions of rows, against 150 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from tests.naive import additive as naive
from tests.naive import many_digits

from dagpost import Additive, Table, local_scores

ROWS = 40


def table_of(kind: str, times: int) -> Table:
    """A number and another that follows it, each row counted so many thousand times."""
    generator = np.random.default_rng(0)
    first, noise = generator.normal(size=(2, ROWS))
    second = {"curve": first**2 + noise, "nearly a copy": first + 1e-3 * noise, "copy": first}[kind]
    return Table(("a", "b"), (first, second), (None, None), counts=generator.integers(1, 4, ROWS) * times)


def log_mean(*logs: Decimal) -> Decimal:
    largest = max(logs)
    return largest + (sum(((log - largest).exp() for log in logs), Decimal(0)) / len(logs)).ln()


def gain_of_an_edge(table: Table) -> float:
    """How much more both numbers explain together than by themselves: features as they are, exact from there on."""
    evidence = naive.Evidence(table)
    times: Any = table.weights.tolist()

    def regression(child: int, lines: list[int], curves: list[int]) -> Decimal:
        parts = [evidence.features[own].line for own in lines] + [evidence.features[own].curve for own in curves]
        inputs = np.hstack([np.ones((ROWS, 1)), *parts]).tolist()
        variances = [100.0, *[1.0] * len(lines), *[0.5] * sum(part.shape[1] for part in parts[len(lines) :])]
        return many_digits.log_student_t(evidence.features[child].line[:, 0].tolist(), inputs, variances, times)

    with localcontext() as context:
        context.prec = many_digits.DIGITS
        alone = [regression(child, [], []) for child in (0, 1)]
        given = [
            log_mean(regression(child, [1 - child], []), regression(child, [1 - child], [1 - child]))
            for child in (0, 1)
        ]
        return float(log_mean(alone[0] + given[1], alone[1] + given[0]) - alone[0] - alone[1])


@pytest.mark.parametrize(
    ("kind", "times", "tolerance"),
    [
        ("curve", 1, 1e-10),
        ("curve", 1_000, 1e-8),
        ("curve", 1_000_000, 1e-6),
        # Of squares of 80 million, less than one is left: nine digits of the score, not of what is left.
        ("nearly a copy", 1, 1e-9),
        ("nearly a copy", 1_000, 1e-5),
        ("nearly a copy", 1_000_000, 0.5),
        ("copy", 1_000, 1e-5),
        ("copy", 1_000_000, 0.5),
    ],
)
def test_scores_of_many_rows_keep_their_digits(kind: str, times: int, tolerance: float) -> None:
    table = table_of(kind, times)
    scores, expected = local_scores(table, Additive(), 1), gain_of_an_edge(table)
    assert scores.score("b", ["a"]) - scores.score("b", []) == pytest.approx(expected, abs=tolerance, rel=0.0)
    assert scores.score("a", ["b"]) - scores.score("a", []) == pytest.approx(expected, abs=tolerance, rel=0.0)
