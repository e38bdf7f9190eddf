"""A score from a function: what the function is given, what it may return, and what is left of it in a file."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln
from sklearn.base import clone
from tests.tools.wording import Said

from dagpost import CustomPrior, CustomScore, DagPosterior, DagpostWarning, InputError, datasets, local_scores


def k2(child: Any, parents: Any) -> float:
    """K2 of one family, from the observations alone."""
    groups = [parents[name] for name in parents] or [np.zeros(len(child))]
    levels = len(child.cat.categories)
    cells = child.groupby([*groups, child], observed=True).size().to_numpy()
    totals = child.groupby(groups, observed=True).size().to_numpy()
    return float(gammaln(cells + 1).sum() + (gammaln(levels) - gammaln(totals + levels)).sum())


def four_columns(seed: int, rows: int = 60) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.integers(0, [2, 3, 2, 4], size=(rows, 4)), columns=list("ABCD"))
    return frame.assign(n=generator.integers(0, 4, rows), set=generator.choice(["", "A", "B;C"], rows))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "given", [{}, {"counts": "n"}, {"interventions": "set"}, {"counts": "n", "interventions": "set"}]
)
def test_a_function_of_the_observations_gives_the_scores_of_ours(given: dict[str, str], seed: int) -> None:
    frame = four_columns(seed)[["A", "B", "C", "D", *given.values()]]
    found = local_scores(frame, CustomScore(k2), max_parents=3, **given)
    expected = local_scores(frame, "k2", max_parents=3, **given)
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-9)


def test_every_family_is_asked_for_once_with_its_columns() -> None:
    asked = []

    def noted(child: Any, parents: Any) -> float:
        asked.append((child.name, tuple(parents.columns)))
        assert child.index.equals(parents.index)
        assert len(parents) == len(child) == 60
        return 0.0

    local_scores(four_columns(1)[["A", "B", "C"]], CustomScore(noted), max_parents=1)
    assert sorted(asked) == sorted((a, b) for a in "ABC" for b in [(), *((other,) for other in "ABC" if other != a)])


def test_continuous_columns_come_as_floats(said: Said) -> None:
    values = np.random.default_rng(3).normal(size=(50, 3))

    def likelihood(child: Any, parents: Any) -> float:
        design = np.column_stack([np.ones(len(child)), parents.to_numpy()])
        rest = child - design @ np.linalg.lstsq(design, child, rcond=None)[0]
        return float(-0.5 * len(child) * np.log((rest**2).mean()))

    found = local_scores(values, CustomScore(likelihood, columns="continuous"), max_parents=2)
    together = found.score("V0", []) + found.score("V1", ["V0"])
    assert together == pytest.approx(found.score("V1", []) + found.score("V0", ["V1"]))
    with said.warns(DagpostWarning):
        local_scores(values, CustomScore(lambda child, _: float(child.nunique() == 3)), max_parents=1)
    assert DagPosterior(prior="uniform", score=CustomScore(likelihood, "continuous")).fit(values).exact_


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, None, "1", True, 1j])
def test_what_is_not_a_finite_number_is_refused_with_the_names(wrong: Any, said: Said) -> None:
    def function(child: Any, parents: Any) -> Any:
        return wrong if child.name == "B" and list(parents) == ["A", "C"] else 0.0

    with said.raises(InputError):
        local_scores(four_columns(1)[["A", "B", "C"]], CustomScore(function))


def test_a_function_goes_into_a_custom_score(said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(prior="uniform", score=k2).fit(datasets.load("coronary"))
    with said.raises(InputError):
        CustomScore("k2")
    with said.raises(InputError):
        CustomScore(k2, columns="ordered")


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior(prior="uniform", score=CustomScore(k2), max_parents=2, samples=200, seed=1).fit(
        datasets.load("coronary")
    )


def test_a_model_uses_it_like_any_other_score(model: DagPosterior, said: Said) -> None:
    expected = DagPosterior(prior="uniform", score="k2", max_parents=2).fit(datasets.load("coronary"))
    assert model.log_evidence_ == pytest.approx(expected.log_evidence_, abs=1e-9)
    assert "score=CustomScore(k2)" in repr(clone(model))
    assert pickle.loads(pickle.dumps(model)).score == CustomScore(k2)
    with said.raises(InputError):
        model.score_samples(datasets.load("coronary"))


def test_a_report_names_the_function(model: DagPosterior, tmp_path: Path) -> None:
    assert "CustomScore(k2)" in model.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_file_keeps_the_scores_and_says_what_it_lacks(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.save(tmp_path / "model")
    found = DagPosterior.load(tmp_path / "model")
    assert float(found.probability("Smoking ~> Pressure")) == float(model.probability("Smoking ~> Pressure"))
    with said.raises(InputError):
        found.fit(datasets.load("coronary"))
    again = found.set_params(score=CustomScore(k2)).fit(datasets.load("coronary"))
    assert again.log_evidence_ == model.log_evidence_


def test_a_prior_of_a_function_that_a_file_lacks_is_named(tmp_path: Path, said: Said) -> None:
    model = DagPosterior(score="bdeu", prior=CustomPrior(lambda _, parents: -len(parents)), samples=20).fit(
        datasets.load("coronary")
    )
    model.save(tmp_path / "model")
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "model").fit(datasets.load("coronary"))


def test_the_command_line_does_not_list_it() -> None:
    from dagpost.cli.choices import scores

    assert "custom" not in " ".join(scores()).lower()
