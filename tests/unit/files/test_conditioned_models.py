"""Files of what is given something: they hold the model without it and the text of it, and give it back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.report_page import random_table
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, InputError
from dagpost.files import archive

NAMES = ["a", "b", "c c", "d"]


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior(prior="uniform", seed=1, samples=2_000, progress=False).fit(random_table(NAMES, 80))


def about_in(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as file:
        return dict(json.loads(file.read("about.json")))


@pytest.mark.parametrize(
    ("statements", "setting"),
    [
        (["a -> b"], None),
        (['a -> b & !(b -> "c c")', "a ~> d"], None),
        (["b -> a"], {"equivalent sample size": 10.0}),
        ([], {"equivalent sample size": 50.0}),
    ],
    ids=["parents", "graphs", "both", "a value"],
)
def test_a_conditioned_model_comes_back(
    statements: list[str], setting: dict[str, float] | None, model: DagPosterior, tmp_path: Path
) -> None:
    given = model.given(*statements, setting=setting)
    given.save(tmp_path / "m")
    loaded = DagPosterior.load(tmp_path / "m")
    assert loaded.condition_ is not None
    assert given.condition_ is not None
    assert loaded.condition_.statements == given.condition_.statements
    assert loaded.condition_.setting == (setting or {})
    assert float(loaded.condition_.probability) == pytest.approx(float(given.condition_.probability), abs=1e-12)
    np.testing.assert_allclose(loaded.edge_probabilities_, given.edge_probabilities_, atol=1e-12)
    np.testing.assert_allclose(loaded.probability_matrix(), given.probability_matrix(), atol=1e-12)
    # Without its rows too, it has effects and predictions of its own.
    asked = {"draws": 50, "seed": 1}
    assert loaded.effect("a", "d", **asked).mean == pytest.approx(given.effect("a", "d", **asked).mean, abs=1e-12)
    # And it is the model itself that was saved.
    assert loaded.fitted_.condition is not None
    np.testing.assert_allclose(loaded.fitted_.condition.base.results.edges, model.fitted_.results.edges, atol=1e-12)


def test_a_function_of_python_is_not_kept(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    given = model.given(lambda graph: graph.number_of_edges() > 2)
    with said.raises(InputError):
        given.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"statements": "a -> b", "setting": {}},
        {"statements": [1], "setting": {}},
        {"statements": ["a -> nobody"], "setting": {}},
        {"statements": ["__import__('os')"], "setting": {}},
        {"statements": ["a -> b"], "setting": "x"},
        {"statements": ["a -> b", "b -> a"], "setting": {}},
        ["a -> b"],
    ],
    ids=repr,
)
def test_a_file_with_another_condition_than_there_can_be_is_refused(
    wrong: Any, model: DagPosterior, tmp_path: Path
) -> None:
    model.given("a -> b").save(tmp_path / "m")
    about, arrays = archive.read_archive(tmp_path / "m", "model")
    archive.write_archive(tmp_path / "m", "model", {**about, "given": wrong}, arrays)
    with pytest.raises(InputError):
        DagPosterior.load(tmp_path / "m")


def test_samples_say_what_they_are_given(model: DagPosterior, tmp_path: Path) -> None:
    given = model.given("a -> b", setting=10.0)
    sample = given.sample(30, seed=1)
    sample.save(tmp_path / "s")
    loaded = DagSample.load(tmp_path / "s")
    assert loaded.provenance["given"] == ["a -> b"]
    assert loaded.provenance["given_setting"] == {"equivalent sample size": 10.0}
    assert "given a -> b and equivalent sample size = 10" in repr(loaded)
    assert "in one and None in the other" in str(refusal(sample, model.sample(30, seed=2)))
    assert "given is ['a -> b'] in one and ['b -> a'] in the other" in str(
        refusal(model.given("a -> b").sample(30, seed=1), model.given("b -> a").sample(30, seed=2))
    )
    joined = sample + given.sample(30, seed=2)
    assert len(joined) == 60


def refusal(one: DagSample, other: DagSample) -> InputError:
    with pytest.raises(InputError, match="different posteriors") as raised:
        _ = one + other
    return raised.value


def test_a_sample_is_restricted_and_says_from_what(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    sample = model.sample(200, seed=1)
    left = sample.given("a -> b", "a ~> d")
    assert (left.adjacency()[:, 0, 1]).all()
    np.testing.assert_allclose(left.weights.sum(), 1.0)
    frequency = left.edge_frequencies().loc["b", "d"]
    assert frequency == pytest.approx(float(sample.probability("b -> d", given="a -> b & a ~> d")), abs=1e-12)
    assert left.provenance["given"] == ["a -> b", "a ~> d"]
    assert left.provenance["given_from"] == [200, 0]
    left.save(tmp_path / "s")
    assert DagSample.load(tmp_path / "s").given("b -> d").provenance["given_from"] == [200, 0]
    assert sample.given() is sample
    with said.raises(InputError):
        sample.given("a -> b & b -> a")
