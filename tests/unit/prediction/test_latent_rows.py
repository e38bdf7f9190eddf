"""New rows under latent Gaussian models: their probability, and that of each level of a column."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive.latent_rows import log_probability
from tests.tools.latent_models import latent_frame, latent_model
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError, as_table
from dagpost.posterior.augmented_workspace import modelled_table
from dagpost.prediction import log_predictive, sufficient_statistics
from dagpost.prediction.latent_rows import Network, averaged, walked

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def network() -> Network:
    generator = np.random.default_rng(4)
    root = generator.normal(size=(4, 4))
    cuts = [None, np.array([[-np.inf, 0.3], [0.3, np.inf]]), np.array([[-np.inf, -0.5], [-0.5, 1.0], [1.0, np.inf]])]
    return Network(0, 1.0, generator.normal(size=4) * 0.3, root @ root.T, (*cuts, cuts[1]))


@pytest.mark.parametrize("target", [-1, 2])
def test_simulated_rows_have_the_probability_of_their_points_and_intervals(target: int) -> None:
    given, generator = network(), np.random.default_rng(5)
    known, codes = np.array([0.4, 0.0, 0.0, 0.0]), np.array([0, 1, 2, 0])
    order = [0, 1, 2, 3] if target < 0 else [0, 1, 3, 2]
    cells = known[order][:, np.newaxis], codes[order][:, np.newaxis]
    walks = (walked(given, order, [], cells, generator.random((4, 8)), target) for _ in range(600))
    shares = np.exp([averaged(given, walk, target)[:, 0] for walk in walks])
    for place, level in enumerate([2] if target < 0 else [0, 1, 2]):
        boxes = {node: given.intervals[node][codes[node]] for node in (1, 3)} | {2: given.intervals[2][level]}
        exact = np.exp(log_probability(given.mean, given.covariance, {0: 0.4}, boxes))
        # False alarms are rarer than 1 in 10^6; the distribution function has five digits.
        error = shares[:, place].std() / np.sqrt(len(shares))
        assert abs(shares[:, place].mean() - exact) < 5.5 * error + 1e-4 * exact


def test_probabilities_of_levels_are_the_same_whatever_rows_stand_beside() -> None:
    rows = latent_frame().drop(columns="pain")
    found = latent_model().predict_proba(rows, target="pain")
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert [int(level) for level in found.columns] == [1, 2, 3]
    alone = latent_model().predict_proba(rows.iloc[[7, 40]], target="pain")
    np.testing.assert_allclose(alone, found.iloc[[7, 40]], rtol=1e-9)
    truth = latent_frame()["pain"]
    there = truth.notna().to_numpy()
    right = found.to_numpy()[there, truth[there].astype(int) - 1]
    # Far better than the shares of the levels, which are about a third each.
    assert right.mean() > 0.5


def test_a_missing_cell_is_what_all_its_values_add_up_to() -> None:
    model, row = latent_model(), latent_frame().iloc[[0]]
    with_gap = model.score_samples(row.assign(pain=None))[0]
    each = [model.score_samples(row.assign(pain=level))[0] for level in (1, 2, 3)]
    assert np.logaddexp.reduce(each) == pytest.approx(with_gap, abs=0.05)
    shares = model.predict_proba(row, target="pain").to_numpy()[0]
    np.testing.assert_allclose(np.exp(each - np.logaddexp.reduce(each)), shares, atol=0.03)


def test_rows_of_numbers_are_as_probable_as_under_exact_integration() -> None:
    generator = np.random.default_rng(6)
    first = generator.normal(size=60)
    table = as_table(np.column_stack([first, first + generator.normal(size=60), generator.normal(size=60)]))
    model = DagPosterior("latent-gaussian", prior="uniform", seed=1, samples=500).fit(table)
    assert not model.fitted_.completes
    sample, latent = model.own_sample(), modelled_table(model.fitted_)
    statistics = sufficient_statistics(latent, sample.parents, model.fitted_.score)
    exact = log_predictive(sample, statistics, model.fitted_.score, latent)
    found = model.score_samples(table)
    assert np.abs(found - exact).max() < 0.15
    assert abs((found - exact).mean()) < 0.02


def test_numbers_are_predicted_in_their_unit() -> None:
    rows = latent_frame()
    found = latent_model().predict_number(rows, target="pressure", confidence=0.9)
    truth = rows["pressure"]
    there = truth.notna()
    assert (found["lower"] < found["median"]).all()
    assert (found["median"] < found["upper"]).all()
    inside = ((truth >= found["lower"]) & (truth <= found["upper"]))[there]
    assert 0.8 < inside.mean() <= 1.0
    # What the other columns say halves the variance, at least.
    assert ((truth - found["mean"])[there] ** 2).mean() < 0.6 * truth.var()
    missing = latent_model().missing_cells()
    completed = missing[(missing["column"] == "pressure") & (missing["row"] == 30)].iloc[0]
    assert found["mean"][30] == pytest.approx(completed["mean"], abs=1.5)
    assert found["sd"][30] == pytest.approx(completed["sd"], rel=0.3)
    few = latent_model().predict_number(rows.iloc[[3]].drop(columns="pressure"), target="pressure", confidence=0.9)
    np.testing.assert_allclose(few.iloc[0], found.iloc[3], rtol=1e-6)


def test_exogenous_columns_are_given(said: Said) -> None:
    frame = latent_frame().dropna().head(40)
    model = DagPosterior("latent-gaussian", prior="uniform", exogenous="smoking", seed=1, samples=60).fit(frame)
    rows = frame.head(3)
    found = model.score_samples(rows)
    assert np.isfinite(found).all()
    assert np.isnan(model.score_samples(rows.assign(smoking=None))).all()
    with said.raises(InputError):
        model.predict_proba(rows, target="smoking")


def test_what_cannot_be_predicted_is_refused_in_words(said: Said) -> None:
    model, rows = latent_model(), latent_frame().head(2)
    with said.raises(InputError):
        model.predict_proba(rows, target="pressure")
    with said.raises(InputError):
        model.predict_number(rows, target="pain")
    with said.raises(InputError):
        model.score_samples(rows, interventions=["smoking", None])
    with pytest.raises(InputError, match=r"'maybe'"):
        model.score_samples(rows.assign(smoking="maybe"))
    unknown = model.score_samples(rows.assign(smoking="maybe"), unseen="missing")
    np.testing.assert_allclose(unknown, model.score_samples(rows.assign(smoking=None)), rtol=1e-9)
