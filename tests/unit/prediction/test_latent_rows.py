"""New rows under latent Gaussian models: their probability, and that of each level of a column."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tools.latent_models import latent_frame, latent_model
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError
from dagpost.prediction.local_parts import local_parts
from dagpost.prediction.local_rows import averaged, log_probabilities
from dagpost.prediction.time_rows import encode_new_rows

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def test_answers_are_averages_over_completed_tables_by_how_probable_they_make_a_row() -> None:
    model, rows = latent_model(), latent_frame().dropna().head(5)
    tables = averaged(model.fitted_)
    assert tables is not None
    assert len(tables) > 1
    assert sum(np.exp(own.log_weights).sum() for own in tables) == pytest.approx(1.0)
    encoded = encode_new_rows(model.fitted_, rows, tables[0].models)
    each = np.stack([log_probabilities([own], encoded)[0] for own in tables])
    np.testing.assert_allclose(model.score_samples(rows), np.logaddexp.reduce(each), rtol=1e-12)


def test_a_number_has_the_mean_of_its_density_beside_the_rest_of_the_row() -> None:
    rows = latent_frame().dropna().head(2)
    points = np.linspace(80.0, 170.0, 1_801)
    found = latent_model().predict_number(rows, target="pressure")
    for place, row in enumerate(rows.index):
        repeated = rows.loc[[row] * len(points)].assign(pressure=points)
        shares = np.exp(latent_model().score_samples(repeated))
        assert found["mean"][place] == pytest.approx(np.average(points, weights=shares), abs=0.02)


def test_without_gaps_there_is_one_table_and_the_graphs_of_all_chains() -> None:
    frame = latent_frame().dropna()
    model = DagPosterior("latent-gaussian", prior="uniform", seed=1, samples=200).fit(frame)
    assert model.fitted_.completes
    local = local_parts(model.fitted_)
    assert local is not None
    ((part, models),) = local[0]
    np.testing.assert_array_equal(part.sample.parents, model.own_sample().parents)
    assert models.levels == model.fitted_.table.levels


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
    with pytest.raises(InputError, match=r"'maybe'"):
        model.score_samples(rows.assign(smoking="maybe"))
    unknown = model.score_samples(rows.assign(smoking="maybe"), unseen="missing")
    np.testing.assert_allclose(unknown, model.score_samples(rows.assign(smoking=None)), rtol=1e-9)
