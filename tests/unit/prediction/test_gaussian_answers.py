"""Direct effects with their sign, and correlations, of models of numbers and of latent numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.naive.gaussian_answers import drawn_family, implied_covariance
from tests.tools.latent_models import latent_model
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, InputError, as_table
from dagpost.cli import app
from dagpost.prediction import sufficient_statistics
from dagpost.prediction.parameter_draws import drawn_networks
from dagpost.scores import NormalWishartPrior

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

#: Standard errors that two averages may be apart: false alarms are rarer than 1 in 10^5.
APART = 4.5


def numbers(rows: int = 60) -> pd.DataFrame:
    """A raises B, B lowers C; D is by itself."""
    generator = np.random.default_rng(8)
    a = generator.normal(size=rows)
    b = 2.0 * a + generator.normal(size=rows)
    c = -5.0 * b + 10.0 * generator.normal(size=rows)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": generator.normal(size=rows)})


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior("bge", prior="uniform", seed=1, samples=2_000, tiers=[["A"], ["B"], ["C"], ["D"]]).fit(
        numbers()
    )


def test_drawn_parameters_are_those_of_one_family_at_a_time() -> None:
    data, generator, draws = numbers(20).to_numpy(), np.random.default_rng(1), 1_500
    graph = np.array([[0, 1, 3, 0]], dtype=np.uint8)
    prior = NormalWishartPrior(prior_mean=0.0, prior_scale=1.0)
    statistics = sufficient_statistics(as_table(data), graph, "bge")
    found = drawn_networks(statistics, prior, np.repeat(graph, 6_000, axis=0), generator)
    assert found.parents[0].tolist() == [[-1, -1], [0, -1], [0, 1], [-1, -1]]
    for node, parents in ((0, []), (1, [0]), (2, [0, 1])):
        drawn = [drawn_family(data, node, parents, np.zeros(4), 0.5, generator) for _ in range(draws)]
        naive = np.array([[intercept, *coefficients, spread] for intercept, coefficients, spread in drawn])
        ours = np.column_stack(
            [found.intercepts[:, node], found.coefficients[:, node, : len(parents)], found.spreads[:, node]]
        )
        for power in (1, 2):
            mine, its = ours**power, naive**power
            errors = np.sqrt(mine.var(axis=0) / len(mine) + its.var(axis=0) / draws)
            assert (np.abs(mine.mean(axis=0) - its.mean(axis=0)) < APART * errors).all()


def test_covariances_follow_from_the_coefficients() -> None:
    statistics = sufficient_statistics(as_table(numbers()), np.zeros((1, 4), dtype=np.uint8), "bge")
    graph = np.array([[0, 1, 3, 4]], dtype=np.uint8)
    found = drawn_networks(statistics, NormalWishartPrior(), graph, np.random.default_rng(2))
    naive = implied_covariance(found.matrices()[0], found.spreads[0], [0, 1, 2, 3])
    np.testing.assert_allclose(found.covariances()[0], naive, rtol=1e-9)


def test_direct_effects_have_the_sign_and_size_of_the_coefficients(model: DagPosterior) -> None:
    effects, data = model.direct_effects(), numbers()
    up, down = (
        effects[(effects["parent"] == parent) & (effects["child"] == child)].iloc[0] for parent, child in ("AB", "BC")
    )
    assert (up["sign"], down["sign"]) == ("+", "-")
    assert up["positive"] > 0.999
    assert down["positive"] < 0.001
    assert up["mean"] == pytest.approx(2.0 * data["A"].std() / data["B"].std(), abs=0.15)
    assert up["lower"] < up["mean"] < up["upper"]
    assert effects["probability"].is_monotonic_decreasing
    for parent, child, probability in effects[["parent", "child", "probability"]].itertuples(index=False):
        assert probability == pytest.approx(model.edge_probabilities_.loc[parent, child])


def test_a_wider_interval_holds_a_narrower_one(model: DagPosterior) -> None:
    narrow, wide = (model.direct_effects(confidence) for confidence in (0.5, 0.99))
    assert (wide["lower"] <= narrow["lower"]).all()
    assert (wide["upper"] >= narrow["upper"]).all()


def test_correlations_are_close_to_those_of_the_table(model: DagPosterior) -> None:
    found, plain = model.latent_correlations(), numbers().corr()
    assert found.columns.to_list() == found.index.to_list() == ["A", "B", "C", "D"]
    np.testing.assert_allclose(np.diag(found), 1.0)
    np.testing.assert_allclose(found.loc[["A", "B", "C"], ["A", "B", "C"]], plain.iloc[:3, :3], atol=0.08)
    pairs = model.latent_correlations(pairs=True)
    assert len(pairs) == 6
    assert np.abs(pairs["mean"]).is_monotonic_decreasing
    assert ((pairs["lower"] <= pairs["mean"]) & (pairs["mean"] <= pairs["upper"])).all()
    first = pairs.iloc[0]
    assert first["mean"] == pytest.approx(found.loc[first["first"], first["second"]])


def test_exogenous_columns_are_correlated_as_they_are_in_the_table() -> None:
    data = numbers()
    model = DagPosterior("bge", prior="uniform", seed=1, samples=200, exogenous=["A", "B"]).fit(data)
    assert model.latent_correlations().loc["A", "B"] == pytest.approx(data.corr().loc["A", "B"], abs=0.05)


def test_latent_models_have_both() -> None:
    effects = latent_model().direct_effects().set_index(["parent", "child"])
    assert effects.loc[("pressure", "pain"), "sign"] == "+"
    assert np.abs(effects["mean"].dropna()).max() < 3.0
    found = latent_model().latent_correlations(pairs=True).set_index(["first", "second"])
    assert found.loc[("pressure", "pain"), "lower"] > 0.3
    assert (found["sd"] > 0.0).all()


def test_levels_in_no_order_have_no_coefficients(said: Said) -> None:
    model = DagPosterior("bdeu", prior="uniform").fit(np.array([[0, 1], [1, 0], [1, 1]]))
    for ask in (model.direct_effects, model.latent_correlations):
        with said.raises(InputError):
            ask()


def test_signs_stand_beside_edges(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "numbers.dagpost")
    asked = ["edges", str(tmp_path / "numbers.dagpost")]
    listed = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["direct_effects"]
    assert {(own["parent"], own["child"], own["sign"]) for own in listed} >= {("A", "B", "+"), ("B", "C", "-")}
    lines = [line.split() for line in CliRunner().invoke(app, asked).stdout.splitlines()]
    assert "sign" in lines[0]
    assert next(line for line in lines if line[0] == "A" and line[2] == "B")[6] == "+"
    assert next(line for line in lines if line[0] == "B" and line[2] == "C")[6] == "-"
    model.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert '"sign":"+"' in page
    assert '"sign":"-"' in page
