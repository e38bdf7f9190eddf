"""Prediction, parameters and causal effects through a model, and through the file that it was saved to."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, DagpostError, DagpostWarning, DagSample, InputError, datasets, local_scores


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return datasets.load("coronary").to_pandas()


@pytest.fixture(scope="module")
def rows(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="counts")


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> DagPosterior:
    return DagPosterior(prior="uniform", score="bdeu", samples=2000, seed=1).fit(table, counts="counts")


def test_all_cells_of_the_table_sum_to_one(model: DagPosterior, rows: pd.DataFrame) -> None:
    assert len(rows) == 64  # every combination of six yes/no columns stands in one row
    assert np.exp(model.score_samples(rows)).sum() == pytest.approx(1.0, abs=1e-9)


def test_conditional_probabilities_are_ratios_of_joint_ones(model: DagPosterior, rows: pd.DataFrame) -> None:
    chances = model.predict_proba(rows.drop(columns="Pressure"), target="Pressure")
    assert list(chances.columns) == list(rows["Pressure"].cat.categories)
    joint = pd.DataFrame({level: np.exp(model.score_samples(rows.assign(Pressure=level))) for level in chances.columns})
    np.testing.assert_allclose(chances, joint.div(joint.sum(axis=1), axis=0), rtol=0, atol=1e-9)


def test_polars_rows_are_scored_as_pandas_ones(model: DagPosterior, rows: pd.DataFrame) -> None:
    text = rows.astype(str)
    np.testing.assert_array_equal(model.score_samples(pl.from_pandas(text)), model.score_samples(text))


def test_a_network_of_the_best_graph_has_its_edges_and_tables(model: DagPosterior) -> None:
    network: Any = model.to_bayesian_network()
    best = model.best(1)[0]
    assert {(p, c) for c, parents in zip(network.names, network.parents, strict=True) for p in parents} == set(
        best.edges
    )
    for name in network.names:
        np.testing.assert_allclose(network.to_frame(name).sum(axis=1), 1.0, atol=1e-12)
    other: Any = model.to_bayesian_network([("Smoking", "Pressure")])
    assert other.parents[other.names.index("Pressure")] == ("Smoking",)


def test_an_effect_is_zero_as_often_as_there_is_no_path(model: DagPosterior) -> None:
    effect = model.effect("Smoking", "Pressure", seed=1)
    assert effect.zero_probability == pytest.approx(1.0 - float(model.probability("Smoking ~> Pressure")), abs=1e-9)


def test_a_model_from_a_file_predicts_the_same(
    model: DagPosterior, rows: pd.DataFrame, tmp_path: Path, said: Said
) -> None:
    model.save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    assert again.own_sample() == model.own_sample()
    effects = [own.effect("Smoking", "Pressure", draws=200, seed=1) for own in (model, again)]
    np.testing.assert_array_equal(effects[0].samples, effects[1].samples)
    assert effects[0].mean == effects[1].mean
    with pytest.raises(InputError, match=r"save\(path, rows=True\)"):
        again.to_bayesian_network([("Pressure", "Smoking"), ("Pressure", "Family"), ("Smoking", "Family")])
    again.save(tmp_path / "second")
    twice = DagPosterior.load(tmp_path / "second")
    np.testing.assert_array_equal(twice.score_samples(rows), model.score_samples(rows))
    with said.raises(InputError):
        again.save(tmp_path / "third", rows=True)


def test_rows_are_in_a_file_only_if_asked_for(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "without")
    model.save(tmp_path / "with", rows=True)
    again = DagPosterior.load(tmp_path / "with")
    one, other = (m.effect("Smoking", "Pressure", seed=3) for m in (again, model))
    np.testing.assert_array_equal(one.samples, other.samples)
    assert b"rows_column0" not in (tmp_path / "without").read_bytes()


def test_a_continuous_model_keeps_moments_not_rows(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(50, 3))
    model = DagPosterior(prior="uniform", score="bge", samples=300, seed=1).fit(values)
    model.save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    np.testing.assert_array_equal(again.score_samples(values), model.score_samples(values))
    assert not hasattr(again, "predict_proba")


def test_a_score_that_cannot_predict_says_which_can(table: pd.DataFrame, tmp_path: Path) -> None:
    class Flat:
        def fill(self, table: Any, max_parents: int, values: Any, engine: Any, reporter: Any) -> None:
            values[:] = 0.0

    model = DagPosterior(prior="uniform", score=Flat(), samples=100, seed=1).fit(table, counts="counts")
    with pytest.raises(InputError, match="BDeu"):
        model.score_samples(table.drop(columns="counts"))
    model.save(tmp_path / "model")
    assert len(DagPosterior.load(tmp_path / "model").sample(10, seed=1)) == 10


def test_prediction_goes_by_the_score_that_was_fitted(table: pd.DataFrame, rows: pd.DataFrame) -> None:
    fitted = DagPosterior(prior="uniform", score="bdeu", samples=300, seed=1).fit(table, counts="counts")
    before = fitted.score_samples(rows)
    fitted.set_params(score=BDeu(1000.0))
    np.testing.assert_array_equal(fitted.score_samples(rows), before)


def test_a_model_of_chains_predicts_from_its_file(table: pd.DataFrame, rows: pd.DataFrame, tmp_path: Path) -> None:
    chained = DagPosterior(prior="uniform", score="bdeu", method="structure-mcmc", samples=4000, seed=1).fit(
        table, counts="counts"
    )
    chained.save(tmp_path / "model")
    loaded = DagPosterior.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_samples(rows), chained.score_samples(rows))


def test_scores_from_elsewhere_are_cut_to_the_most_parents_and_cannot_predict(
    table: pd.DataFrame, rows: pd.DataFrame, tmp_path: Path, said: Said
) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu", 3)
    given = DagPosterior(prior="uniform", score="bdeu", max_parents=1, samples=100, seed=1).fit_scores(scores)
    same = DagPosterior(prior="uniform", score="bdeu", max_parents=1).fit(table, counts="counts")
    np.testing.assert_allclose(given.edge_probabilities_, same.edge_probabilities_, rtol=0, atol=1e-12)
    assert given.max_parents_ == 1
    assert given.own_sample().provenance["score"] == "given scores"
    with said.raises(InputError):
        given.score_samples(rows)
    given.save(tmp_path / "model")
    loaded = DagPosterior.load(tmp_path / "model")
    assert loaded.own_sample() == given.own_sample()


@pytest.mark.parametrize("method", ["trees", "given-order"])
def test_the_network_of_another_target_is_one_of_its_graphs(method: str, table: pd.DataFrame) -> None:
    network: Any = (
        DagPosterior(prior="uniform", score="bdeu", method=method, samples=200, seed=1)
        .fit(table, counts="counts")
        .to_bayesian_network()
    )
    if method == "trees":
        assert sorted(len(parents) for parents in network.parents) == [0, 1, 1, 1, 1, 1]
    else:
        places = {name: place for place, name in enumerate(network.names)}
        children = zip(network.names, network.parents, strict=True)
        assert all(places[parent] < places[child] for child, parents in children for parent in parents)


# Damaged files


@pytest.mark.parametrize("kind", ["model", "sample"])
def test_a_damaged_file_is_refused_or_says_the_same(
    kind: str, model: DagPosterior, rows: pd.DataFrame, tmp_path: Path
) -> None:
    """A thousand files with flipped bytes, cut short or grown: never a crash, never another answer."""
    whole = tmp_path / "whole"
    if kind == "model":
        small = DagPosterior(prior="uniform", score="bdeu", samples=50, seed=1).fit(datasets.load("coronary"))
        small.save(whole, rows=True)
        expected: Any = (small.edge_probabilities_, small.score_samples(rows), small.names_)
    else:
        small_sample = model.sample(50, seed=1)
        small_sample.save(whole)
        expected = small_sample
    content = whole.read_bytes()
    generator = np.random.default_rng(0)
    damaged = tmp_path / "damaged"
    refused = 0
    for _ in range(1000):
        bytes_ = bytearray(content)
        how = generator.integers(4)
        if how == 0:
            bytes_ = bytes_[: generator.integers(len(bytes_))]
        elif how == 1:
            bytes_ += bytes(generator.integers(0, 256, size=8, dtype=np.uint8))
        else:
            for place in generator.integers(0, len(bytes_), size=generator.integers(1, 6)):
                bytes_[place] ^= 1 << generator.integers(8)
        damaged.write_bytes(bytes_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DagpostWarning)
            try:
                if kind == "model":
                    loaded = DagPosterior.load(damaged)
                    pd.testing.assert_frame_equal(loaded.edge_probabilities_, expected[0])
                    np.testing.assert_array_equal(loaded.score_samples(rows), expected[1])
                    assert loaded.names_ == expected[2]
                else:
                    assert DagSample.load(damaged) == expected
            except DagpostError:
                refused += 1
    assert refused > 700
