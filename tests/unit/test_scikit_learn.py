"""A model is a scikit-learn estimator: its own checks, pipelines, cross-validation, copies."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import check_estimator
from tests.tools.answers import facts
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, datasets
from dagpost._tools.estimator import Estimator

#: Checks that call `score` where an estimator has it: here it is the setting that users know, not a method.
SETTING = "score is a setting; scoring= of scikit-learn takes a function"
EXPECTED = {
    "check_fit_score_takes_y": SETTING,
    "check_n_features_in_after_fitting": SETTING,
    "check_pipeline_consistency": SETTING,
}
CONTINUOUS = {
    **EXPECTED,
    "check_dtype_object": "a dict among numbers is an InputError that names column and row, where a TypeError is asked",
}
#: Checks that scikit-learn itself skips, and why.
SKIPPED = {"check_array_api_input": "it runs only where SCIPY_ARRAY_API is set; our arrays are NumPy's"}


class WithoutTarget(DagPosterior):
    """`predict_proba` asks for a target, which scikit-learn's checks do not know; all else is checked."""

    @property
    def predict_proba(self) -> Any:
        raise AttributeError("left out of the checks")


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [(DagPosterior(score="bge", samples=200, seed=1), CONTINUOUS), (WithoutTarget(samples=200, seed=1), EXPECTED)],
    ids=["continuous", "discrete"],
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_pass(estimator: Any, expected: dict[str, str]) -> None:
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = [f"{r['check_name']}: {r['exception']!r}" for r in results if r["status"] == "failed"]
    assert failed == []
    assert {r["check_name"] for r in results if r["status"] == "skipped"} == set(SKIPPED)
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)
    assert sum(r["status"] == "passed" for r in results) > 30


@pytest.fixture(scope="module")
def measured() -> np.ndarray:
    values = np.random.default_rng(0).normal(size=(150, 4))
    values[:, 1] += values[:, 0]
    return values


def pipeline(**settings: Any) -> Any:
    bins = KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return make_pipeline(bins, DagPosterior(samples=300, seed=1, **{"score": "bdeu", **settings}))


def mean_log_predictive(model: Any, rows: Any, y: None = None) -> float:
    """What to compare models by; `score` is a setting, not a method."""
    return float(model.score_samples(rows).mean())


def test_a_model_follows_a_discretiser_in_a_pipeline(measured: np.ndarray) -> None:
    fitted = pipeline().fit(measured)
    assert fitted.score_samples(measured[:3]).shape == (3,)


def test_cross_validation_scores_rows_that_were_held_out(measured: np.ndarray) -> None:
    scores = cross_val_score(pipeline(), measured, cv=3, scoring=mean_log_predictive)
    nothing = cross_val_score(pipeline(max_parents=0), measured, cv=3, scoring=mean_log_predictive)
    assert scores.mean() > nothing.mean(), "the columns depend on each other, which helps to predict"


def test_a_grid_search_chooses_score_and_number_of_parents(measured: np.ndarray) -> None:
    grid = {"dagposterior__score": [BDeu(1.0), BDeu(500.0)], "dagposterior__max_parents": [0, 2]}
    search = GridSearchCV(pipeline(), grid, cv=3, scoring=mean_log_predictive).fit(measured)
    assert search.best_params_["dagposterior__max_parents"] == 2
    assert np.isfinite(search.best_score_)


class OfScikitLearn(BaseEstimator):  # type: ignore[misc]
    """Settings of every kind, to see how scikit-learn shows them."""

    def __init__(self, alpha: Any = 1.0, edges: Any = (), name: Any = None, score: Any = "auto") -> None:
        self.alpha, self.edges, self.name, self.score = alpha, edges, name, score


class Ours(Estimator):
    """The same, of ours."""

    def __init__(self, alpha: Any = 1.0, edges: Any = (), name: Any = None, score: Any = "auto") -> None:
        self.alpha, self.edges, self.name, self.score = alpha, edges, name, score


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"alpha": 2, "score": "bdeu"},
        {"alpha": 1.0, "name": "x" * 40, "score": "y" * 40},
        {"edges": BDeu(2.0), "name": "x" * 60},
    ],
)
def test_settings_are_shown_kept_and_changed_as_scikit_learn_does(settings: dict[str, Any], said: Said) -> None:
    ours, theirs = Ours(**settings), OfScikitLearn(**settings)
    assert repr(ours).replace("Ours(", "OfScikitLearn(") == " ".join(repr(theirs).split())
    assert ours.get_params() == theirs.get_params()
    assert ours.set_params(name=1, alpha=Ours()).set_params(alpha__alpha=3).alpha.alpha == 3
    assert theirs.set_params(name=1, alpha=Ours(3)).get_params().keys() == ours.get_params().keys()
    with said.raises(ValueError):
        ours.set_params(alhpa=1)
    with said.raises(ValueError):
        ours.set_params(name__size=1)


def test_arguments_are_routed_through_a_pipeline(measured: np.ndarray) -> None:
    levels = (measured > 0).astype(int)
    with config_context(enable_metadata_routing=True):
        model = DagPosterior(score="bdeu").set_fit_request(counts=True)
        weighted = make_pipeline(clone(model)).fit(levels, counts=np.full(150, 2))
    assert weighted[-1].log_evidence_ < DagPosterior(score="bdeu").fit(levels).log_evidence_


def test_a_pipeline_shows_its_model_in_a_notebook() -> None:
    assert "DagPosterior" in pipeline()._repr_html_()
    assert "max_parents" in DagPosterior(max_parents=2)._repr_html_()


def test_clones_and_settings_keep_the_score_as_it_was_given() -> None:
    score = BDeu(5.0)
    model = DagPosterior(score=score, max_parents=2)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.score == score
    assert str(copy.score) == str(score)
    assert hash(copy.score) == hash(score)
    copy.set_params(score="k2")
    assert (copy.score, model.score) == ("k2", score)
    assert DagPosterior(score=model.score).get_params()["score"] is score
    assert DagPosterior(score="k2").score != DagPosterior(score="bdeu").score


def test_a_pickled_model_answers_and_predicts_as_before() -> None:
    model = DagPosterior(score="bdeu", samples=500, seed=1).fit(datasets.load("coronary"))
    again = pickle.loads(pickle.dumps(model))
    rows = datasets.load("coronary")
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    assert facts(again.probability("Smoking ~> Pressure")) == facts(model.probability("Smoking ~> Pressure"))


def test_a_model_without_data_says_so_in_scikit_learns_way(said: Said) -> None:
    for ask in (lambda m: m.score_samples([[0, 1]]), lambda m: m.sample(1), lambda m: m.own_sample()):
        with said.raises(NotFittedError):
            ask(DagPosterior(score="bdeu"))
