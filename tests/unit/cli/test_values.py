"""`dagpost query` about values, beside statements about the graph."""

from __future__ import annotations

import json

from tests.tools.cli_checks import Run, one_message


def test_both_kinds_of_questions_are_answered_in_their_order(run: Run, model: str) -> None:
    texts = ["A -> B", "P(B = 1 | A = 1)", "P(B = 1 & C in {0, 1} | do(A = 0), A -> B)"]
    found = json.loads(run("query", model, *texts, "--json").stdout)
    assert [one["statement"] for one in found] == texts
    assert found[1]["lower"] < found[1]["value"] < found[1]["upper"]
    assert found[1]["value"] > 0.8
    assert found[2]["value"] < 0.2
    shown = run("query", model, *texts).stdout.splitlines()
    assert [line.split("  ")[0] for line in shown] == texts
    assert "95%; exact, 25 graphs" in shown[1]


def test_a_level_that_is_not_there_is_shown_in_its_place(run: Run, model: str) -> None:
    said = one_message(run("query", model, "P(B = 7 | A = 1)", status=2))
    assert "no level '7'" in said
