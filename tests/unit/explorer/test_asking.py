from __future__ import annotations

import json
from typing import Any

import pytest
from tests.tools.explored import HOSTILE, model, session
from tests.tools.wording import Said

from dagpost.errors import InputError
from dagpost.explorer import session as sessions
from dagpost.explorer.asking import ask, words
from dagpost.explorer.session import Session
from dagpost.features import parse
from dagpost.features.names import quoted

STATEMENTS = ["A -> B", "!(A -- C)", "A ~> E & B -> C", "P(A -> B | C -> D)", "A in mb(C)", "pa(C) = {A, B}"]


def _ask(kind: str, statement: str, **more: Any) -> dict[str, Any]:
    found = ask(session(kind), {"statement": statement, **more})
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("given", [[], ["B -> A"], ["A ~> E"], ["B -> A", "C ~> E"]])
def test_answers_are_those_of_the_model_given_the_same(statement: str, given: list[str]) -> None:
    own = parse(statement, model("averaged").names_)
    condition = " & ".join([*given, *([] if own.given is None else [str(own.given)])]) or None
    expected = model("averaged").probability(str(own.feature), given=condition)
    found = _ask("averaged", statement, given=given, patient=True)
    assert found["kind"] == "graph"
    assert found["final"]
    if expected.rule == "exact":
        assert found["source"] == "exact"
        assert found["value"] == pytest.approx(float(expected), abs=1e-9)
    quick = _ask("averaged", statement, given=given)
    assert quick["value"] == pytest.approx(found["value"], abs=1e-9 if quick["final"] else 0.1)
    assert quick["lower"] <= quick["value"] <= quick["upper"]


def test_what_takes_long_comes_from_draws_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "QUICK_SECONDS", -1.0)
    monkeypatch.setattr("dagpost.explorer.asking.QUICK_SECONDS", -1.0)
    fresh = Session(model("averaged").fitted_, "fresh")
    asked = {"statement": "A -- C", "given": ["B -> A", "!(D -> E)"]}
    first, then = ask(fresh, asked), ask(fresh, {**asked, "patient": True})
    assert (first["source"], first["final"], first["exact"]) == ("draws", False, False)
    assert (then["source"], then["final"], then["exact"]) == ("exact", True, True)
    assert first["lower"] - 0.02 <= then["value"] <= first["upper"] + 0.02


@pytest.mark.parametrize("kind", ["gaps", "chains"])
def test_models_without_exact_sums_answer_too(kind: str) -> None:
    names = model(kind).names_
    statement = f"{names[0]} -> {names[1]}"
    found, expected = _ask(kind, statement), model(kind).probability(statement)
    assert found["value"] == pytest.approx(float(expected), abs=1e-9)
    assert not found["exact"]
    condition = f"{names[0]} -- {names[1]}"
    given = _ask(kind, statement, given=[condition])
    assert given["source"] == "draws"
    assert given["value"] == pytest.approx(float(model(kind).own_sample().probability(statement, condition)), abs=1e-9)


def test_values_are_answered_to_those_who_wait() -> None:
    statement = "P(C = yes | A = no, do(B = yes))"
    fresh = Session(model("averaged").fitted_, "fresh")
    asked = {"statement": statement, "given": ["B -> C"]}
    first, then = ask(fresh, asked), ask(fresh, {**asked, "patient": True})
    assert (first["value"], first["final"]) == (None, False)
    expected = model("averaged").given("B -> C").probability(statement)
    assert (then["kind"], then["final"]) == ("value", True)
    assert then["value"] == pytest.approx(float(expected), abs=1e-9)
    # Remembered by now.
    assert ask(fresh, asked) == then


@pytest.mark.parametrize(
    ("statement", "at", "said"),
    [
        ("A -> Bee", 5, "There is no variable 'Bee'"),
        ("A -> ", 5, "the text ends here"),
        ("A => B", 3, "Expected"),
        ("", 0, "The text is empty"),
        ("(A -> B", 0, "never closed"),
        ("A -> B & 'C", 9, "never closed"),
        ("P(C = maybe)", 6, "no level 'maybe'"),
        ("🫀 -> A", 0, "means nothing here"),
        ("A -> A", None, "relates 'A' to itself"),
    ],
)
def test_errors_know_their_character(statement: str, at: int | None, said: str) -> None:
    with pytest.raises(InputError) as caught:
        _ask("averaged", statement)
    assert said in caught.value.plain
    assert "\n" not in caught.value.plain
    assert caught.value.at == at or at is None


def test_a_near_name_is_suggested(said: Said) -> None:
    with said.raises(InputError):
        _ask("coronary", "Smokin -> Pressure")


@pytest.mark.parametrize(
    ("statement", "plain"),
    [
        ("A -> B", {"kind": "edge", "from": 0, "to": 1}),
        ("B <- A", {"kind": "edge", "from": 0, "to": 1}),
        ("!(A -> B)", {"kind": "no-edge", "from": 0, "to": 1}),
        ("C -- B", {"kind": "joined", "from": 2, "to": 1}),
        ("!(C -- B)", {"kind": "apart", "from": 2, "to": 1}),
        ("A ~> E", {"kind": "path", "from": 0, "to": 4}),
        ("!(A ~> E)", {"kind": "no-path", "from": 0, "to": 4}),
        ("A ~>{2} E", None),
        ("A -> B & B -> C", None),
        ("P(A -> B | B -> C)", None),
    ],
)
def test_plain_statements_are_assumptions_of_the_page(statement: str, plain: dict[str, Any] | None) -> None:
    assert _ask("averaged", statement)["plain"] == plain


def test_words_are_those_of_the_language() -> None:
    found = words(session("hostile"), {})
    json.dumps(found, allow_nan=False)
    assert [own["text"] for own in found["relations"]] == ["->", "<-", "~>", "<~", "--", "_||_"]
    assert {"pa(", "in pa(", "in mb(", "pos("} <= {own["text"] for own in found["words"]}
    assert "mb(" not in {own["text"] for own in found["words"]}
    assert all(own["said"] for own in (*found["relations"], *found["words"]))
    assert found["levels"][HOSTILE[2]] == ["no", "yes"]
    for own in found["names"]:
        assert own["text"] == quoted(own["name"])
        others = [name for name in HOSTILE if name != own["name"]]
        assert _ask("hostile", f"{own['text']} -> {quoted(others[0])}")["exact"]


@pytest.mark.parametrize("asked", [{}, {"statement": 7}, {"statement": "A -> B" * 1000}, {"statement": None}])
def test_a_question_without_a_statement_is_refused(asked: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        ask(session("averaged"), asked)
