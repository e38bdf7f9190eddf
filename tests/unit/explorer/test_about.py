from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.explored import HOSTILE, model, session

from dagpost import DagPosterior
from dagpost.errors import InputError
from dagpost.explorer.about import about
from dagpost.explorer.effects_under import effect
from dagpost.explorer.session import Session


def _about(kind: str, **asked: Any) -> dict[str, Any]:
    found = about(session(kind), asked)
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize(("kind", "given"), [("coronary", []), ("coronary", ["Smoking -> Pressure"]),
                                             ("tiers", ["A -> C"]), ("order", ["B -> A"])])  # fmt: skip
def test_parent_sets_are_those_of_the_model_given_the_same(kind: str, given: list[str]) -> None:
    fitted = model(kind).given(*given) if given else model(kind)
    found = _about(kind, variable=3, given=given)
    expected = fitted.family_probabilities(fitted.names_[3]).to_dict()
    assert len(found["families"]) == min(8, len(expected))
    values = [own for _, own in found["families"]]
    assert values == sorted(values, reverse=True)
    for parents, own in found["families"]:
        names = frozenset(fitted.names_[place] for place in parents)
        assert own == pytest.approx(expected[names], abs=1e-9)


@pytest.mark.parametrize(("kind", "given"), [("averaged", ["A ~> E"]), ("chains", ["A -- C"]), ("gaps", ["A -> B"])])
def test_parent_sets_and_blankets_of_drawn_graphs_are_frequencies(kind: str, given: list[str]) -> None:
    left, names = model(kind).own_sample().given(*given), model(kind).names_
    found = _about(kind, variable="C", given=given)
    assert names[2] == "C"
    for parents, own in found["families"][:4]:
        members = ", ".join(names[place] for place in parents)
        expected = left.probability(f"pa({names[2]}) = {{{members}}}")
        assert own == pytest.approx(float(expected), abs=1e-9)
    values = [own for _, own in found["blanket"]]
    assert values == sorted(values, reverse=True)
    for place, own in found["blanket"]:
        assert own == pytest.approx(float(left.probability(f"{names[place]} in mb({names[2]})")), abs=1e-9)


@pytest.mark.parametrize("asked", [{}, {"variable": 9}, {"variable": True}, {"variable": None}, {"variable": -1},
                                   {"variable": "X"}, {"variable": [1]}])  # fmt: skip
def test_what_is_not_there_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        about(session("averaged"), asked)


@pytest.mark.parametrize("given", [[], ["A -> C"], ["A ~> E"]])
def test_an_effect_is_that_of_the_model_given_the_same(given: list[str]) -> None:
    fresh = Session(model("averaged").fitted_, "fresh")
    found = effect(fresh, {"cause": "A", "outcome": 2, "given": given})
    json.dumps(found, allow_nan=False)
    expected = model("averaged").effect("A", "C", given=" & ".join(given) or None, seed=1)
    assert found["mean"] == pytest.approx(expected.mean, abs=1e-9)
    assert (found["lower"], found["upper"]) == pytest.approx(expected.interval(), abs=1e-9)
    assert found["zero_probability"] == pytest.approx(expected.zero_probability, abs=1e-9)
    assert found["said"] == repr(expected)
    assert set(expected.assumptions) <= set(found["notes"])
    assert effect(fresh, {"cause": 0, "outcome": 2, "given": given}) == found


def test_an_effect_under_a_rare_condition_is_drawn_anew_for_those_who_wait() -> None:
    rare = ["E -> D", "D -> C", "C -> A", "C -> B"]
    asked = {"cause": "C", "outcome": "A", "given": rare, "patient": True}
    found = effect(Session(model("averaged").fitted_, "fresh"), asked)
    assert found["zero_probability"] == pytest.approx(0.0, abs=1e-9)
    expected = model("averaged").given(*rare).effect("C", "A", seed=1)
    assert found["mean"] == pytest.approx(expected.mean, abs=1e-9)


def test_an_effect_of_numbers_comes_with_its_curve() -> None:
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(40, 2)), columns=["</script>", "b"])
    fitted = DagPosterior("bge", seed=1, samples=100).fit(frame).fitted_
    found = effect(Session(fitted, "numbers"), {"cause": 0, "outcome": 1})["curve"]
    json.dumps(found, allow_nan=False)
    assert found["caption"] == "the mean of b along </script>"
    assert sorted(found["outlines"]) == ["band", "frame", "grey", "line", "rows"]
    assert effect(session("averaged"), {"cause": "A", "outcome": 2})["curve"] is None


def test_hostile_names_have_effects_too() -> None:
    found = effect(session("hostile"), {"cause": HOSTILE[0], "outcome": HOSTILE[2]})
    assert found["lower"] <= found["mean"] <= found["upper"]


@pytest.mark.parametrize("asked", [{}, {"cause": "A"}, {"cause": "A", "outcome": "A"}, {"cause": "A", "outcome": 17}])
def test_an_effect_needs_two_variables(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        effect(session("averaged"), asked)
