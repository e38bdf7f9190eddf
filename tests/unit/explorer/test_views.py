from __future__ import annotations

import itertools
import json
from typing import Any

import networkx as nx
import numpy as np
import pytest
from tests.tools.explored import HOSTILE, model, session
from tests.tools.wording import Said

from dagpost.errors import InputError, NoGraphError
from dagpost.explorer import session as sessions
from dagpost.explorer.session import Session
from dagpost.explorer.state import State
from dagpost.explorer.views import view
from dagpost.features import path
from dagpost.features.names import quoted

EXACT = {
    "coronary": [
        ["Smoking -> Pressure"],
        ["Smoking -> Pressure", "!(Family -> 'M. Work')", "'P. Work' -- Proteins"],
    ],
    "hostile": [[f"{quoted(HOSTILE[0])} -> {quoted(HOSTILE[1])}", f"!({quoted(HOSTILE[2])} -- {quoted(HOSTILE[3])})"]],
    "averaged": [["A -> C"], ["A -> C <- B", "!(D -> E)"]],
    "order": [["B -> A"], ["pa(C) = {A, B}"]],
    "tiers": [["B -> A"], ["A -> C", "!(D -> E)"]],
    "exogenous": [["A -> C"], ["A -> C", "D -> C"]],
}
CASES = [(kind, given) for kind, every in EXACT.items() for given in every]


def _matrix(found: Any) -> np.ndarray[Any, Any]:
    return np.array(found, dtype=float)


@pytest.mark.parametrize(("kind", "given"), CASES)
def test_edges_and_paths_are_those_of_the_model_given_the_same(kind: str, given: list[str]) -> None:
    fitted, names = model(kind), [quoted(name) for name in model(kind).names_]
    found = view(session(kind), {"given": given})
    assert (found["source"], found["final"], found["given"]) == ("exact", True, given)
    outside = set(fitted.fitted_.exogenous)
    for (i, one), (j, other) in itertools.permutations(enumerate(names), 2):
        # Every answer takes a pass: a third of them will do.
        if (i + 2 * j) % 3 or {fitted.names_[i], fitted.names_[j]} <= outside:
            continue
        pairs = {"edges": f"{one} -> {other}", "paths": f"{one} ~> {other}"}
        for matrix, statement in pairs.items():
            expected = fitted.probability(statement, given=" & ".join(given))
            if expected.rule == "exact":
                assert found[matrix][i][j] == pytest.approx(float(expected), abs=1e-9)
            else:
                # Of paths given `A -- B` the model without the condition knows only what draws say.
                assert matrix == "paths"
                assert expected.lower - 0.02 < found[matrix][i][j] < expected.upper + 0.02
    assert found["chance"]["exact"]
    assert found["chance"]["value"] == pytest.approx(float(fitted.probability(" & ".join(given))), abs=1e-9)


@pytest.mark.parametrize("kind", [*EXACT, "gaps", "chains"])
def test_without_assumptions_a_view_is_the_model_itself(kind: str) -> None:
    fitted, found = model(kind), view(session(kind), {})
    source = {"gaps": "averaged", "chains": "draws"}.get(kind, "exact")
    assert (found["source"], found["final"], found["chance"], found["few"]) == (source, True, None, False)
    np.testing.assert_allclose(_matrix(found["edges"]), fitted.edge_probabilities_, atol=1e-12)
    np.testing.assert_allclose(_matrix(found["paths"]), fitted.probability_matrix(), atol=1e-12)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(("kind", "given", "within"), [("coronary", ["Smoking -> Pressure"], 0.02),
                                                       ("tiers", ["A -> C"], 0.02), ("chains", [], 1e-9),
                                                       ("exogenous", ["!(D -> C)"], 0.02)])  # fmt: skip
def test_directions_are_those_of_the_model_given_the_same(kind: str, given: list[str], within: float) -> None:
    fitted, places = model(kind), {name: place for place, name in enumerate(model(kind).names_)}
    found = view(session(kind), {"given": given})
    expected = (fitted.given(*given) if given else fitted).directions()
    for _, row in expected.iterrows():
        ends = places[row["from"]], places[row["to"]]
        for column in ("by_data", "by_rules", "by_model"):
            assert found[column][ends[0]][ends[1]] == pytest.approx(row[column], abs=within)
            assert found[column][ends[1]][ends[0]] == pytest.approx(row[f"{column}_back"], abs=within)


def test_an_assumed_edge_is_decided_by_the_assumption() -> None:
    found = view(session("coronary"), {"given": ["Smoking -> Pressure"]})
    assert found["settled"] == [[0, 3]]
    parts = [found[column][0][3] for column in ("by_data", "by_rules", "by_model")]
    assert sum(parts) == pytest.approx(1.0, abs=1e-9)
    assert parts[1] > 0.0


def test_a_path_is_judged_by_the_drawn_graphs_in_which_it_holds() -> None:
    sample, names = model("averaged").own_sample(), model("averaged").names_
    found = view(session("averaged"), {"given": ["A ~> E"]})
    graphs = [
        (graph, weight) for graph, weight in zip(sample, sample.weights, strict=True) if nx.has_path(graph, "A", "E")
    ]
    total = sum(weight for _, weight in graphs)
    for (i, one), (j, other) in itertools.permutations(enumerate(names), 2):
        edges = sum(weight for graph, weight in graphs if graph.has_edge(one, other)) / total
        paths = sum(weight for graph, weight in graphs if nx.has_path(graph, one, other)) / total
        assert found["edges"][i][j] == pytest.approx(edges, abs=1e-9)
        assert found["paths"][i][j] == pytest.approx(paths, abs=1e-9)
    held = np.array([nx.has_path(graph, "A", "E") for graph in sample])
    rows = sample.parents[held]
    assert (found["source"], found["final"]) == ("draws", True)
    assert found["graphs"]["left"] == len(np.unique(rows, axis=0))
    assert found["graphs"]["of"] == len(np.unique(sample.parents, axis=0))
    assert 0.0 < found["graphs"]["worth"] <= held.sum() + 1e-6
    # The path itself is known exactly.
    assert found["chance"]["value"] == pytest.approx(float(model("averaged").probability(path("A", "E"))), abs=1e-9)


def test_what_takes_long_comes_from_draws_first(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = view(session("averaged"), {"given": ["A -> C", "!(D -> E)"]})
    monkeypatch.setattr(sessions, "QUICK_SECONDS", -1.0)
    fresh = Session(model("averaged").fitted_, "fresh")
    first = view(fresh, {"given": ["A -> C", "!(D -> E)"]})
    assert (first["source"], first["final"]) == ("draws", False)
    assert first["seconds"] > 0.0
    np.testing.assert_allclose(_matrix(first["edges"]), exact["edges"], atol=0.1)
    then = view(fresh, {"given": ["A -> C", "!(D -> E)"], "patient": True})
    assert {**then, "graphs": None} == {**exact, "graphs": None}


def _settings() -> list[dict[str, float | str]]:
    """Each value of each setting that a model averages over by itself, and one of both."""
    grid = session("averaged").settings
    assert grid is not None
    single: list[dict[str, float | str]] = [{axis.setting: value} for axis in grid.axes for value in axis.values]
    return [*single, {axis.setting: axis.values[-2] for axis in grid.axes}]


@pytest.mark.parametrize("given", [[], ["A -> C", "!(D -> E)"]])
def test_views_under_each_value_of_each_setting_are_those_of_the_model_given_the_same(given: list[str]) -> None:
    for setting in _settings():
        found = view(session("averaged"), {"given": given, "setting": setting})
        expected = model("averaged").given(*given, setting=setting)
        assert (found["source"], found["setting"]) == ("exact", setting)
        np.testing.assert_allclose(_matrix(found["edges"]), expected.edge_probabilities_, rtol=0.0, atol=1e-9)
        assert found["chance"]["value"] == pytest.approx(float(expected.condition_.probability), abs=1e-9)


def test_a_view_says_what_it_is_averaged_over() -> None:
    own = session("averaged")
    assert "Averaged over 4 values of equivalent sample size and 5 values of edge density." in view(own, {})["notes"]
    one = view(own, {"setting": {"edge density": 0.5}})
    assert "Averaged over 4 values of equivalent sample size." in one["notes"]
    assert any("Before the data" in note for note in one["notes"])
    both = view(own, {"setting": {"edge density": 0.5, "equivalent sample size": 10}})
    assert not any("Averaged" in note for note in both["notes"])


def test_draws_under_values_of_both_settings_agree_with_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"given": ["A -> C"], "setting": {"equivalent sample size": 10.0, "edge density": 0.5}}
    exact = view(session("averaged"), asked)
    expected = model("averaged").given("A -> C", setting=asked["setting"])
    np.testing.assert_allclose(_matrix(exact["edges"]), expected.edge_probabilities_, atol=1e-9)
    assert exact["chance"]["value"] == pytest.approx(float(expected.condition_.probability), abs=1e-9)
    monkeypatch.setattr(sessions, "QUICK_SECONDS", -1.0)
    drawn = view(Session(model("averaged").fitted_, "fresh"), asked)
    assert (drawn["source"], drawn["final"]) == ("draws", False)
    np.testing.assert_allclose(_matrix(drawn["edges"]), exact["edges"], atol=0.1)
    assert drawn["chance"]["value"] == pytest.approx(exact["chance"]["value"], abs=0.05)


def test_few_graphs_are_said_to_be_few() -> None:
    base = np.where(np.array(view(session("chains"), {})["edges"]) > 0.0, view(session("chains"), {})["edges"], 1.0)
    i, j = np.unravel_index(base.argmin(), base.shape)
    found = view(session("chains"), {"given": [f"{'ABCDE'[i]} -> {'ABCDE'[j]}"]})
    assert found["few"]
    assert found["final"]
    assert any(note.startswith("Only ") for note in found["notes"])
    assert any("chains" in note.lower() for note in found["notes"])


def test_rare_directions_come_from_graphs_drawn_under_the_condition() -> None:
    rare = ["E -> D", "D -> C", "C -> A", "C -> B"]
    found = view(session("averaged"), {"given": rare})
    assert (found["source"], found["final"], found["few"]) == ("exact", True, False)
    for _, row in model("averaged").given(*rare).directions().iterrows():
        i, j = "ABCDE".index(row["from"]), "ABCDE".index(row["to"])
        assert found["by_data"][i][j] == pytest.approx(row["by_data"], abs=0.06)


def test_gaps_are_answered_from_draws_and_then_averaged() -> None:
    first = view(session("gaps"), {"given": ["A -> B"]})
    assert (first["source"], first["final"]) == ("draws", False)
    own = model("gaps").own_sample()
    np.testing.assert_allclose(_matrix(first["edges"]), own.given("A -> B").edge_frequencies(), atol=1e-9)
    then = view(session("gaps"), {"given": ["A -> B"], "patient": True})
    assert then["final"]
    expected = model("gaps").given("A -> B")
    np.testing.assert_allclose(_matrix(then["edges"]), expected.edge_probabilities_, atol=1e-9)


def test_what_no_graph_meets_is_refused(said: Said) -> None:
    with pytest.raises(NoGraphError, match="A -> B"):
        view(session("averaged"), {"given": ["A -> B", "B -> A"]})
    with said.raises(NoGraphError):
        view(session("chains"), {"given": ["pa(A) = {B, C, D, E}"]})


def test_what_cannot_be_read_is_refused_with_its_place() -> None:
    with pytest.raises(InputError) as caught:
        view(session("averaged"), {"given": ["A -> B", "A -> F"]})
    assert caught.value.at == 5
    assert "\n" not in caught.value.plain


@pytest.mark.parametrize(
    ("kind", "setting", "said"),
    [
        ("averaged", {"equivalent sample size": 3}, "equivalent sample size has, .* Got 3"),
        ("averaged", {"edge density": 0.5, "size": 10}, "averages over .* Got the setting 'size'"),
        ("averaged", {"edge density": float("nan")}, "edge density has, .* Got nan"),
        ("averaged", {"edge density": True}, "values by name"),
        ("averaged", {"edge density": "0.5"}, "edge density has, .* Got '0.5'"),
        ("averaged", {"edge density": None}, "values by name"),
        ("averaged", 0.5, "values by name"),
        ("averaged", None, "values by name"),
        ("chains", {"edge density": 0.5}, "averages over nothing"),
    ],
)
def test_values_of_settings_that_a_model_does_not_average_over_are_refused(kind: str, setting: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        view(session(kind), {"given": ["A -> B"], "setting": setting})
    assert str(caught.value).endswith(".")


def test_only_the_last_models_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_MANY", 4)
    own = Session(model("averaged").fitted_, "own")
    for one, other in itertools.permutations("ABCDE", 2):
        view(own, {"given": [f"{one} -> {other}"]})
        assert State((f"{one} -> {other}",)) in own._models
        assert len(own._models) <= 4


def test_the_order_of_assumptions_does_not_matter() -> None:
    own = Session(model("averaged").fitted_, "own")
    one = view(own, {"given": ["A -> C", "B -> C"]})
    other = view(own, {"given": ["B -> C", "A -> C", "A -> C"]})
    assert one["edges"] == other["edges"]
    assert len(own._models) == 1


def test_a_model_under_a_condition_is_explored_from_there() -> None:
    own = Session(model("averaged").given("A -> C").fitted_, "own")
    assert own.fitted is model("averaged").fitted_
    assert own.start == State(("A -> C",))
