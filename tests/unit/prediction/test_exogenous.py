"""Rows, networks and effects of models with columns that are not modelled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import BayesianNetwork, DagPosterior, InputError, Recipe, cross_validate
from dagpost.causal import effect as effect_of
from dagpost.data import as_table
from dagpost.errors import DagpostWarning

NAMES = ("age", "sex", "dose", "pressure", "outcome")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Age and sex depend on each other; dose follows age, pressure sex and dose, the outcome pressure."""
    generator = np.random.default_rng(1)
    age = generator.integers(0, 2, 400)
    sex = np.where(generator.random(400) < 0.8, age, 1 - age)
    dose = np.where(generator.random(400) < 0.85, age, 1 - age)
    pressure = np.where(generator.random(400) < 0.85, sex ^ dose, generator.integers(0, 2, 400))
    outcome = np.where(generator.random(400) < 0.8, pressure, 1 - pressure)
    columns = np.column_stack([age, sex, dose, pressure, outcome])
    return pd.DataFrame(columns, columns=list(NAMES)).map(lambda cell: ["no", "yes"][cell])


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> DagPosterior:
    return DagPosterior(prior="uniform", score="bdeu", exogenous=["age", "sex"], seed=1, samples=300).fit(frame)


def every_row() -> pd.DataFrame:
    levels = [["no", "yes"]] * len(NAMES)
    return pd.DataFrame(pd.MultiIndex.from_product(levels, names=NAMES).to_frame(index=False))


def test_rows_have_the_probability_of_the_modelled_columns_given_the_others(model: DagPosterior) -> None:
    rows = every_row()
    rows["probability"] = np.exp(model.score_samples(rows))
    assert rows.groupby(["age", "sex"])["probability"].sum().to_numpy() == pytest.approx(np.ones(4))


def test_a_gap_is_summed_over_in_modelled_columns_only(model: DagPosterior, said: Said) -> None:
    rows = every_row().iloc[[0, 0, 13]].reset_index(drop=True)
    rows.loc[0, "dose"] = rows.loc[1, "age"] = None
    filled = [model.score_samples(rows.iloc[[0]].assign(dose=level))[0] for level in ("no", "yes")]
    with said.warns(DagpostWarning):
        found = model.score_samples(rows)
    assert found[0] == pytest.approx(np.logaddexp(*filled))
    np.testing.assert_array_equal(np.isnan(found), [False, True, False])


def test_what_rows_have_is_the_mean_over_graphs_of_their_networks(model: DagPosterior) -> None:
    sample = model.own_sample().unique()
    row = every_row().iloc[[13]]
    (codes,) = (row == "yes").astype(int).to_numpy()
    total = 0.0
    for weight, graph in zip(sample.weights, sample, strict=True):
        network = model.to_bayesian_network(graph)
        assert isinstance(network, BayesianNetwork)
        factors = [
            network.tables[node][tuple(codes[NAMES.index(name)] for name in (*network.parents[node], NAMES[node]))]
            for node in range(2, 5)
        ]
        total += weight * np.prod(factors)
    assert model.score_samples(row)[0] == pytest.approx(np.log(total))


def test_only_modelled_columns_are_predicted_and_the_others_are_needed(model: DagPosterior, said: Said) -> None:
    rows = every_row()
    chances = model.predict_proba(rows, target="pressure")
    joint = np.exp(model.score_samples(rows)).reshape(2, 2, 2, 2, 2)
    expected = joint / joint.sum(axis=3, keepdims=True)
    assert chances["yes"].to_numpy().reshape(2, 2, 2, 2, 2) == pytest.approx(
        np.broadcast_to(expected[:, :, :, 1:2, :], expected.shape)
    )
    with said.raises(InputError):
        model.predict_proba(rows, target="age")
    with said.raises(InputError):
        model.score_samples(rows.drop(columns="sex"))


def test_a_stored_model_predicts_the_same(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "model.dagpost")
    again = DagPosterior.load(tmp_path / "model.dagpost")
    assert again.exogenous == ["age", "sex"]
    assert again.score_samples(every_row()) == pytest.approx(model.score_samples(every_row()))


def test_averaged_scores_and_continuous_columns_leave_them_out_too(frame: pd.DataFrame) -> None:
    from dagpost import BDeu

    rows = every_row()
    averaged = DagPosterior(prior="uniform", score=BDeu("average"), exogenous="age", seed=1, samples=100).fit(frame)
    rows["probability"] = np.exp(averaged.score_samples(rows))
    assert rows.groupby("age")["probability"].sum().to_numpy() == pytest.approx(np.ones(2))
    numbers = (frame[["age", "dose"]] == "yes") + np.random.default_rng(2).normal(0.0, 0.3, (len(frame), 2))
    given = DagPosterior(prior="uniform", score="bge", seed=1, samples=50, exogenous=["age"]).fit(numbers)
    doses = np.linspace(-30.0, 30.0, 6001)
    for age in (-1.0, 0.2, 3.0):
        densities = np.exp(given.score_samples(pd.DataFrame({"age": age, "dose": doses})))
        assert np.trapezoid(densities, doses) == pytest.approx(1.0, abs=1e-4)
    assert "given age" in repr(given.to_bayesian_network())


def test_a_network_marks_them_in_the_file_and_has_them_back(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    network = model.to_bayesian_network()
    assert isinstance(network, BayesianNetwork)
    assert repr(network).endswith("given age and sex")
    network.write(tmp_path / "network.bif")
    text = (tmp_path / "network.bif").read_text(encoding="utf-8")
    assert "Not modelled, but given: age, sex." in text
    again = BayesianNetwork.read(tmp_path / "network.bif")
    assert again.exogenous == ("age", "sex")
    assert again.parents == network.parents
    with said.raises(InputError):
        model.to_bayesian_network([("dose", "age")])


def test_folds_are_scored_given_them(frame: pd.DataFrame) -> None:
    settings = {"score": "bdeu", "seed": 1, "samples": 50}
    given = cross_validate(
        DagPosterior(exogenous=["age", "sex"], **{"prior": "uniform", **settings}), frame, folds=2, seed=1
    )
    whole = cross_validate(DagPosterior(**{"prior": "uniform", **settings}), frame, folds=2, seed=1)
    # Two columns less to predict, each of about a bit.
    assert 0.5 < (given.log_scores - whole.log_scores).mean() < 2 * np.log(2.0)


def test_setting_an_exogenous_cause_leaves_the_others_as_the_table_has_them(model: DagPosterior, said: Said) -> None:
    effect = model.effect("sex", "pressure", seed=1)
    assert "given age and sex" in repr(effect)
    assert effect.summary()["exogenous"] == ["age", "sex"]
    assert "Exogenous columns (age, sex) are not caused by others" in " ".join(effect.assumptions)
    with said.raises(InputError):
        model.effect("dose", "age")


def test_the_effect_of_an_exogenous_cause_is_that_of_the_mechanism() -> None:
    """Two dependent causes with known slopes: without adjusting, one would have a part of the other's effect."""
    generator = np.random.default_rng(3)
    first = generator.normal(size=5_000)
    second = 0.8 * first + 0.6 * generator.normal(size=5_000)
    outcome = 1.0 * first + 2.0 * second + generator.normal(size=5_000)
    table = as_table(pd.DataFrame({"first": first, "second": second, "outcome": outcome}))
    sample = DagPosterior("bge", prior="uniform", exogenous=["first", "second"]).fit(table).sample(100, seed=1)
    for cause, slope in (("first", 1.0), ("second", 2.0)):
        assert effect_of(sample, table, "bge", cause, "outcome", draws=10).mean == pytest.approx(slope, abs=0.1)


def test_setting_an_exogenous_column_from_outside_is_refused(frame: pd.DataFrame, said: Said) -> None:
    interventions = ["age"] + [""] * (len(frame) - 1)
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu", exogenous="age").fit(frame, interventions=interventions)
    DagPosterior(prior="uniform", score="bdeu", exogenous="sex").fit(frame, interventions=interventions)


def test_those_of_the_recipe_are_in_the_plan_the_weights_and_the_folds(frame: pd.DataFrame, said: Said) -> None:
    settings = {"score": "bdeu", "seed": 1, "samples": 50}
    named = DagPosterior(exogenous=["age", "sex"], **{"prior": "uniform", **settings}).fit(frame)
    by_recipe = DagPosterior(recipe=Recipe(exogenous=["age", "sex"]), **{"prior": "uniform", **settings})
    assert str(by_recipe.plan(frame)) == str(named.plan(frame))
    assert by_recipe.fit(frame).log_evidence_ == pytest.approx(named.log_evidence_)
    folds = [cross_validate(model, frame, folds=2, seed=1).log_scores for model in (named, by_recipe)]
    assert folds[0] == pytest.approx(folds[1])
    with said.raises(InputError):
        DagPosterior(prior="uniform", recipe=Recipe(drop=["age"]), exogenous=["age"]).plan(frame)
