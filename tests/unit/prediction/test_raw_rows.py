"""A model takes raw rows again: they pass through its recipe, whatever their types, gaps and other columns."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tools.clinical import clinical_frame
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe
from dagpost.errors import DagpostWarning, InputError

#: One in thirteen or so has it.
BASE_RATE = 0.08


@functools.cache
def frame() -> pd.DataFrame:
    """The clinic's table with a rare diagnosis, rows of counts, and what was set from outside."""
    table = clinical_frame(gaps=0.0)
    generator = np.random.default_rng(3)
    rank = (table["systolic"] + generator.normal(0, 15, len(table))).rank(pct=True)
    table["diagnosis"] = np.where(rank > 1 - BASE_RATE, "yes", "no")
    table["n"] = generator.integers(1, 4, len(table))
    table["set"] = np.where(generator.random(len(table)) < 0.1, "smoking", "none")
    return table


@functools.cache
def model() -> DagPosterior:
    recipe = Recipe(cut={"systolic": [120, 140], "age": (4, "uniform")})
    with pytest.warns(DagpostWarning):
        return DagPosterior(prior="uniform", score="bdeu", seed=1, samples=300, recipe=recipe).fit(
            frame(), counts="n", interventions="set"
        )


def test_a_model_with_cuts_predicts_its_own_rows_from_the_raw_file(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "clinic.csv", index=False)
    table = model().fitted_.table
    assert table is not None
    assert table.names == ("age", "sex", "smoking", "BMI", "systolic", "diastolic", "diagnosis")
    expected = model().score_samples(table)
    found = model().score_samples(tmp_path / "clinic.csv", interventions="set")
    np.testing.assert_array_equal(found, expected)
    assert np.isfinite(found).all()
    chances = model().predict_proba(tmp_path / "clinic.csv", target="diagnosis")
    assert list(chances.columns) == ["no", "yes"]
    assert len(chances) == len(frame())


def test_a_base_rate_is_predicted_as_what_it_is() -> None:
    """The average prediction is the share of the diagnosis, up to the weight of the prior and of what was cut away."""
    weights = frame()["n"]
    rate = float(np.average(frame()["diagnosis"] == "yes", weights=weights))
    found = np.average(model().predict_proba(frame(), target="diagnosis")["yes"], weights=weights)
    assert 0.06 < rate < 0.10
    assert found == pytest.approx(rate, abs=0.01)


def test_a_saved_model_gives_the_same(tmp_path: Path) -> None:
    model().save(tmp_path / "m")
    loaded = DagPosterior.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.score_samples(frame()), model().score_samples(frame()))
    assert loaded.recipe_.to_json() == model().recipe_.to_json()


@pytest.mark.parametrize(
    "other",
    [
        lambda rows: rows.astype(str),
        lambda rows: rows.astype({"age": float, "systolic": "Int64", "sex": "category", "BMI": "string"}),
        lambda rows: rows[sorted(rows.columns)],
        lambda rows: rows.drop(columns=["patient_id", "visit_date", "n", "set"]),
        lambda rows: rows.assign(new="?", visit_date=pd.to_datetime(rows["visit_date"])),
        pl.from_pandas,
        lambda rows: rows.drop(columns=["n", "set"]).to_numpy(dtype=object),
    ],
    ids=["text", "types", "order", "without the rest", "more", "polars", "array"],
)
def test_rows_in_other_forms_are_the_same_rows(other: Any) -> None:
    rows = frame().head(50)
    np.testing.assert_array_equal(model().score_samples(other(rows)), model().score_samples(rows))


def test_numbers_beyond_the_training_rows_fall_into_the_outer_bins() -> None:
    rows = frame().head(2).assign(age=[3, 130], systolic=[-5.0, 1e9])
    inner = frame().head(2).assign(age=[frame()["age"].min(), frame()["age"].max()], systolic=[100, 180])
    np.testing.assert_array_equal(model().score_samples(rows), model().score_samples(inner))


def test_a_gap_is_summed_over_its_levels() -> None:
    rows = frame().head(4).copy()
    expected = model().score_samples(rows)
    rows.loc[2, "BMI"] = np.nan
    rows.loc[3, ["smoking", "diagnosis"]] = None
    found = model().score_samples(rows)
    np.testing.assert_array_equal(found[:2], expected[:2])
    filled = [model().score_samples(rows.iloc[[2]].assign(BMI=value))[0] for value in bmi_in_each_bin()]
    assert found[2] == pytest.approx(np.logaddexp.reduce(filled))
    assert expected[3] < found[3] < 0.0
    chances = model().predict_proba(rows, target="diagnosis")
    joint = [model().score_samples(rows.iloc[[3]].assign(diagnosis=level))[0] for level in ("no", "yes")]
    np.testing.assert_allclose(chances.to_numpy()[3], np.exp(np.array(joint) - np.logaddexp.reduce(joint)))


def bmi_in_each_bin() -> list[float]:
    """One number for each level that the column was cut into."""
    table = model().fitted_.table
    assert table is not None
    place = table.names.index("BMI")
    numbers = table.numbers[place]
    assert numbers is not None
    return [float(numbers[table.columns[place] == code][0]) for code in range(table.arities[place])]


def test_gaps_are_what_the_recipe_says(said: Said) -> None:
    gaps = clinical_frame()[["sex", "smoking", "systolic"]]
    settings: dict[str, Any] = {"seed": 1, "samples": 200}
    with pytest.warns(DagpostWarning):
        level = DagPosterior(missing="level", **{"prior": "uniform", "score": "bdeu", **settings}).fit(gaps)
    assert np.isfinite(level.score_samples(gaps)).all()
    assert list(level.predict_proba(gaps, target="smoking").columns)[-1] == "(missing)"
    with pytest.warns(DagpostWarning):
        refuse = DagPosterior(missing="refuse", **{"prior": "uniform", "score": "bdeu", **settings}).fit(gaps.dropna())
    with said.raises(InputError):
        refuse.score_samples(gaps)


def test_a_level_that_was_not_seen_is_what_the_recipe_or_the_call_says(said: Said) -> None:
    rows = frame().head(20).copy()
    rows.loc[4, "smoking"] = "pipe"
    with said.raises(InputError):
        model().score_samples(rows)
    assert np.isfinite(model().score_samples(rows, unseen="prior")).all()
    rows.loc[4, "smoking"] = None
    as_gap = model().score_samples(rows)
    rows.loc[4, "smoking"] = "pipe"
    np.testing.assert_array_equal(model().score_samples(rows, unseen="missing"), as_gap)
    with pytest.warns(DagpostWarning):
        lenient = DagPosterior(prior="uniform", score="bdeu", seed=1, samples=200, recipe=Recipe(unseen="prior")).fit(
            frame().drop(columns=["n", "set"])
        )
    assert np.isfinite(lenient.score_samples(rows)).all()
    with pytest.raises(InputError, match="pipe"):
        lenient.score_samples(rows, unseen="error")


def test_where_all_levels_are_unknown_the_prior_is_not_advised(said: Said) -> None:
    with said.raises(InputError) as caught:
        model().score_samples(frame().head(20).assign(sex="x"))
    assert "prior" not in str(caught.value)


def test_an_array_needs_all_columns_of_the_training_table(said: Said) -> None:
    with said.raises(InputError):
        model().score_samples(frame().drop(columns=["n", "set", "patient_id", "visit_date"]).to_numpy(dtype=object))


def test_densities_take_raw_numbers() -> None:
    numbers = frame()[["patient_id", "age", "BMI", "systolic", "diastolic"]]
    with pytest.warns(DagpostWarning, match="patient_id"):
        gaussian = DagPosterior("bge", prior="uniform", seed=1, samples=200).fit(numbers)
    plain = gaussian.score_samples(numbers[["age", "BMI", "systolic", "diastolic"]])
    np.testing.assert_array_equal(gaussian.score_samples(numbers.astype(str)), plain)
    assert np.isfinite(gaussian.score_samples(numbers.head(2).assign(age=[3.5, 1000]))).all()


def test_effects_take_numbers_for_the_bins_that_they_fall_into(said: Said) -> None:
    named = model().effect("systolic", "diagnosis", do=(">=140", "<120"), outcome_level="yes", seed=1)
    by_number = model().effect("systolic", "diagnosis", do=(151, "112.5"), outcome_level="yes", seed=1)
    assert by_number.do == named.do == (">=140", "<120")
    np.testing.assert_array_equal(by_number.samples, named.samples)
    with said.raises(InputError):
        model().effect("systolic", "diagnosis", do=(150, 145))
    with said.raises(InputError):
        model().effect("systolic", "diagnosis", do=("high", "low"))
