"""Scores that others write: as an object with one method, or derived from `Score`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, DirichletPrior, Score, as_table, datasets
from dagpost._tools.json_settings import from_json, to_json
from dagpost.causal import effect
from dagpost.errors import InputError
from dagpost.prediction import log_predictive, sufficient_statistics
from dagpost.prediction.network import bayesian_network
from dagpost.scores import K2, SCORES, BDeu, BGe, local_scores, resolve_score

THREE = np.random.default_rng(1).integers(0, 2, (20, 3))


class Bare:
    """An object with `fill` and nothing else."""

    def fill(self, table: Any, max_parents: int, values: Any, engine: Any, reporter: Any) -> None:
        BDeu(2.0).fill(table, max_parents, values, engine, reporter)

    def __repr__(self) -> str:
        return "a bare score"


@dataclass(frozen=True)
class SameAsBDeu(Score):
    """A score that knows the prior of its parameters."""

    size: float = 2.0

    def fill(self, *arguments: Any) -> None:
        BDeu(self.size).fill(*arguments)

    def parameter_prior(self) -> DirichletPrior:
        return DirichletPrior(self.size, shared=True)


@dataclass(frozen=True)
class FillsOtherwise(K2):
    """One of ours with another way to fill: nobody knows its prior."""

    def fill(self, *arguments: Any) -> None:
        BDeu(2.0).fill(*arguments)


@pytest.mark.parametrize("score", [Bare(), SameAsBDeu(), FillsOtherwise()])
def test_a_score_from_outside_fills_the_table(score: Any) -> None:
    table = datasets.load("coronary")
    np.testing.assert_array_equal(local_scores(table, score).values, local_scores(table, BDeu(2.0)).values)


def test_a_bare_object_shows_itself_and_has_no_prior() -> None:
    resolved = resolve_score(Bare())
    assert isinstance(resolved, Score)
    assert resolve_score(resolved) is resolved
    assert repr(resolved) == resolved.in_words() == to_json(resolved) == "a bare score"
    assert resolved.parameter_prior() is None
    assert resolved.columns == "discrete"
    assert resolved.of_columns([0], datasets.load("coronary")) is resolved


def test_a_score_that_fills_in_its_own_way_does_not_inherit_a_prior() -> None:
    assert FillsOtherwise().parameter_prior() is None
    assert to_json(FillsOtherwise()) == "FillsOtherwise()"


def test_a_score_with_a_prior_predicts_and_has_networks_and_effects() -> None:
    table = datasets.load("coronary")
    sample = DagPosterior(SameAsBDeu(), prior="uniform", seed=1).fit(table).sample(200, seed=1)
    found: list[Any] = []
    expected: list[Any] = []
    for score, into in ((SameAsBDeu(), found), (BDeu(2.0), expected)):
        statistics = sufficient_statistics(table, sample.parents, score)
        into.append(log_predictive(sample, statistics, score, table))
        into.extend(bayesian_network(sample.parents[0], statistics, score).tables)
        into.append(effect(sample, table, score, "Smoking", "Pressure", draws=100, seed=1).samples)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_ours_say_what_others_ask_of_them() -> None:
    assert SCORES.names()[:5] == ("bdeu", "bde", "k2", "bic", "bge")
    for name, kind in list(SCORES.classes().items())[:5]:
        score = kind()
        assert score.name == name
        assert all([score.summary, score.citation, score.in_words()])
        assert score.columns == ("continuous" if name == "bge" else "discrete")
        assert from_json(to_json(score), SCORES) == score
    assert to_json(BGe(2, 9, (1, 2))) == {
        "kind": "BGe", "mean_weight": 2.0, "degrees_of_freedom": 9.0, "prior_mean": [1.0, 2.0]
    }  # fmt: skip
    assert from_json(to_json(BGe(2, 9, (1, 2))), SCORES) == BGe(2, 9, (1, 2))


def test_a_named_class_is_known_by_its_name_where_it_was_imported() -> None:
    code = """
from dataclasses import dataclass
from typing import ClassVar
from dagpost import BDeu, Score
from dagpost._tools.json_settings import from_json, to_json
from dagpost.scores import SCORES, resolve_score

@dataclass(frozen=True)
class Toy(Score):
    name: ClassVar[str] = "toy"
    size: float = 2.0
    def fill(self, *arguments): ...

assert SCORES.names()[-1] == "toy", SCORES.names()
assert resolve_score("toy") == Toy()
described = to_json(Toy(3.0))
assert described == {"kind": "Toy", "package": "__main__", "size": 3.0}, described
assert from_json(described, SCORES) == Toy(3.0)
try:
    class Second(BDeu):
        name = "toy"
except ValueError as error:
    assert "taken by __main__.Toy" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scores_take_whatever_a_fit_takes(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"a": [0, 1, 0, 1], "b": [1, 1, 0, 0], "n": [3, 2, 2, 5]})
    expected = local_scores(as_table(frame, counts="n"), "k2").values
    np.testing.assert_array_equal(local_scores(frame, "k2", counts="n").values, expected)
    frame.to_csv(tmp_path / "table.csv", index=False)
    np.testing.assert_array_equal(local_scores(tmp_path / "table.csv", "k2", counts="n").values, expected)
    array = frame[["a", "b"]].to_numpy()
    np.testing.assert_array_equal(local_scores(array, "k2", counts=frame["n"]).values, expected)
    some_set = local_scores(frame[["a", "b"]], "k2", interventions=["a", None, None, None])
    assert some_set.score("a", []) != local_scores(frame[["a", "b"]], "k2").score("a", [])


@pytest.mark.parametrize(
    "ask",
    [
        lambda: local_scores([1, 2, 3]),
        lambda: local_scores(THREE, engine="threads"),
        lambda: local_scores(THREE).score("V0", "V1"),
        lambda: local_scores(THREE).score(None, []),
        lambda: local_scores(THREE).parent_names("V0", 0.5),
    ],
)
def test_slips_of_someone_who_guesses_are_explained(ask: Any, said: Said) -> None:
    with said.raises(InputError):
        ask()
