"""Models of levels and numbers as a user meets them: rows, levels, networks, effects, files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.property.test_mixed_effects import smoking
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.errors import InputError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return smoking(200).to_pandas()


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> DagPosterior:
    return DagPosterior(prior="uniform", score="conditional-gaussian", seed=1, samples=500).fit(frame)


def with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    rows = frame.head(4).copy()
    rows.loc[0, "smokes"] = np.nan
    rows.loc[1, "weight"] = np.nan
    rows.loc[2, ["weight", "sex"]] = np.nan
    return rows


def test_a_saved_model_predicts_as_it_did(model: DagPosterior, frame: pd.DataFrame, tmp_path: Path) -> None:
    model.save(tmp_path / "mixed.dagpost")
    loaded, rows = DagPosterior.load(tmp_path / "mixed.dagpost"), with_gaps(frame)
    np.testing.assert_allclose(loaded.score_samples(rows), model.score_samples(rows), rtol=1e-12)
    pd.testing.assert_frame_equal(
        loaded.predict_proba(rows, target="smokes"), model.predict_proba(rows, target="smokes")
    )


def test_levels_are_predicted_from_numbers_that_they_lead_to(
    model: DagPosterior, frame: pd.DataFrame, said: Said
) -> None:
    chances = model.predict_proba(frame.drop(columns="smokes"), target="smokes")
    right = chances.to_numpy().argmax(axis=1) == frame["smokes"].cat.codes.to_numpy()
    # Weight, of deviation 1, is 4 less for smokers.
    assert right.mean() > 0.95
    with said.raises(InputError):
        model.predict_proba(frame, target="weight")


def test_the_density_of_rows_with_gaps_is_that_of_what_is_there(model: DagPosterior, frame: pd.DataFrame) -> None:
    rows = with_gaps(frame)
    found = np.exp(model.score_samples(rows))
    first = pd.concat([rows.head(1)] * 2, ignore_index=True)
    first["smokes"] = ["no", "yes"]
    assert found[0] == pytest.approx(float(np.exp(model.score_samples(first)).sum()), rel=1e-9)
    grid = np.linspace(20.0, 130.0, 2201)
    second = pd.concat([rows.iloc[[1]]] * len(grid), ignore_index=True)
    second["weight"] = grid
    # Numbers are drawn, 32 in each graph.
    assert found[1] == pytest.approx(float(np.exp(model.score_samples(second)).sum() * 0.05), rel=0.05)


def test_there_is_no_network_of_tables_and_the_refusal_says_what_to_ask(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.to_bayesian_network([("sex", "weight")])


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_a_model_with_gaps_averages_over_completed_tables(frame: pd.DataFrame) -> None:
    gappy = frame.head(60).copy()
    gappy.loc[::7, "weight"] = np.nan
    gappy.loc[3::9, "smokes"] = np.nan
    model = DagPosterior(prior="uniform", score="conditional-gaussian", seed=1, samples=200).fit(gappy)
    rows = with_gaps(frame)
    assert np.isfinite(model.score_samples(rows)).all()
    assert model.predict_proba(rows, target="smokes").sum(axis=1).tolist() == pytest.approx([1.0] * 4)
    assert 1.0 < model.effect("weight", "pressure", do=(75, 74), draws=500).mean < 3.5


def test_numbers_are_predicted_from_levels_and_numbers(model: DagPosterior, frame: pd.DataFrame, said: Said) -> None:
    found = model.predict_number(frame.drop(columns="pressure"), target="pressure")
    assert list(found.columns) == ["mean", "sd", "median", "lower", "upper"]
    inside = (found["lower"] < frame["pressure"]) & (frame["pressure"] < found["upper"])
    # 95 in 100 of 200 rows: outside of 0.88 to 1 once in 10,000 runs.
    assert inside.mean() > 0.88
    assert np.corrcoef(found["mean"], frame["pressure"])[0, 1] > 0.9
    # A number from those that it leads to: pressure says what weight was.
    weight = model.predict_number(frame.drop(columns="weight"), target="weight")
    # Without pressure its noise has deviation 1.
    assert weight["sd"].mean() < 1.0
    rows = with_gaps(frame).head(1)
    mixed = model.predict_number(rows, target="pressure", confidence=0.5)
    chances = model.predict_proba(rows.assign(pressure=np.nan), target="smokes").to_numpy()[0]
    filled = [rows.assign(smokes=pd.Categorical([own], ["no", "yes"])) for own in ("no", "yes")]
    means = [model.predict_number(row, target="pressure")["mean"].iloc[0] for row in filled]
    assert mixed["mean"].iloc[0] == pytest.approx(chances @ means, rel=1e-7)
    with said.raises(InputError):
        model.predict_number(frame, target="smokes")
