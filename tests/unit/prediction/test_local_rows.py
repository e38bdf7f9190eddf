"""Predictions of models with curves: beside sums over graphs by hand, and integrals of the density of whole rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError, cross_validate
from dagpost.local.base import LevelModel, NumberModel, members_of
from dagpost.prediction.local_parts import local_parts


def curved(rows: int = 250, seed: int = 1) -> pd.DataFrame:
    """X acts on y along a parabola, both on the level z, and the level w on y."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    w = rng.choice(["u", "v"], size=rows)
    y = 10.0 + x**2 + (w == "u") + 0.4 * rng.normal(size=rows)
    z = np.array(["a", "b", "c"])[np.clip(np.round(y - 10.0 + 0.4 * rng.logistic(size=rows)), 0, 2).astype(int)]
    return pd.DataFrame({"x": x, "y": y, "z": z, "w": w})


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    """Of four columns, so that all graphs count."""
    return DagPosterior("additive", seed=1).fit(curved())


def test_rows_have_the_density_that_a_sum_over_graphs_says(model: DagPosterior) -> None:
    rows = curved(7, seed=2)
    local = local_parts(model._fitted())
    assert local is not None
    (((part, models),), exact) = local
    assert exact
    names = list(model.feature_names_in_)
    cells = np.stack(
        [rows[name].to_numpy(float) if levels is None else [levels.index(v) for v in rows[name]]
         for name, levels in zip(names, models.levels, strict=True)]
    ).astype(float)  # fmt: skip
    expected = np.zeros(7)
    for graph, weight in zip(part.sample.parents, part.sample.weights, strict=True):
        log_density = np.zeros(7)
        for node, mask in enumerate(graph.tolist()):
            (own,) = models.families(np.array([node]), np.array([mask], dtype=np.uint64))
            values = cells[list(members_of(mask))]
            if isinstance(own, LevelModel):
                log_density += np.log(own.predictive(values)[np.arange(7), cells[node].astype(int)])
            else:
                assert isinstance(own, NumberModel)
                log_density += own.log_predictive(values, cells[node])
        expected += weight * np.exp(log_density)
    np.testing.assert_allclose(model.score_samples(rows), np.log(expected), rtol=1e-9)


def test_levels_are_compared_by_the_density_of_the_whole_row(model: DagPosterior) -> None:
    rows = curved(6, seed=3)
    found = model.predict_proba(rows, target="z")
    each = np.stack([model.score_samples(rows.assign(z=level)) for level in found.columns], axis=1)
    shares = np.exp(each - each.max(axis=1, keepdims=True))
    np.testing.assert_allclose(found.to_numpy(), shares / shares.sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize("target", ["x", "y"])
def test_a_number_is_distributed_as_the_density_of_whole_rows_says(model: DagPosterior, target: str) -> None:
    rows = curved(5, seed=4)
    found = model.predict_number(rows, target=target, confidence=0.9)
    for place in range(5):
        # Tails reach far: points are dense in the middle and end far outside.
        grid = rows[target].iloc[place] + np.sinh(np.linspace(-6.0, 6.0, 8_001)) / 3.0
        several = pd.concat([rows.iloc[[place]]] * len(grid)).assign(**{target: grid})
        density = np.exp(model.score_samples(several))
        density /= np.trapezoid(density, grid)
        mean = np.trapezoid(density * grid, grid)
        deviation = np.sqrt(np.trapezoid(density * (grid - mean) ** 2, grid))
        running = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2.0 * np.diff(grid))])
        expected = [mean, deviation, *np.interp([0.5, 0.05, 0.95], running, grid)]
        # Points stand where the density is: a few thousandths of a deviation lie between.
        np.testing.assert_allclose(found.iloc[place], expected, atol=0.02 * deviation, rtol=0.02)


def test_what_is_missing_is_summed_and_integrated(model: DagPosterior) -> None:
    rows = curved(4, seed=5)
    levels = np.stack([model.score_samples(rows.assign(w=level)) for level in "uv"])
    without = model.score_samples(rows.assign(w=None))
    np.testing.assert_allclose(without, np.logaddexp.reduce(levels, axis=0), atol=0.05)
    grid = np.linspace(5.0, 25.0, 2_001)
    for place in range(4):
        several = pd.concat([rows.iloc[[place]]] * len(grid)).assign(y=grid)
        whole = np.log(np.trapezoid(np.exp(model.score_samples(several)), grid))
        assert model.score_samples(rows.iloc[[place]].assign(y=np.nan))[0] == pytest.approx(whole, abs=0.1)
    # A row has the same prediction whatever stands beside it.
    alone = model.score_samples(rows.iloc[[2]].assign(w=None))
    np.testing.assert_allclose(alone, without[2], rtol=1e-12)
    some = model.predict_number(rows.assign(w=None), target="y")
    assert (some["sd"] > 0.2).all()
    assert ((some["lower"] < some["median"]) & (some["median"] < some["upper"])).all()


def test_intervals_of_new_rows_hold_them_as_often_as_they_say() -> None:
    rows = curved(1_000, seed=7)
    found = DagPosterior("additive", seed=1).fit(curved(400, seed=6)).predict_number(rows, target="y", confidence=0.9)
    held = ((rows["y"] >= found["lower"]) & (rows["y"] <= found["upper"])).mean()
    # Of 1,000 that hold with 0.9, fewer than 850 or more than 945 do with a probability below 1e-6.
    assert 0.85 < held < 0.945


def test_curves_predict_better_than_lines() -> None:
    table = curved(300, seed=8)
    bent = cross_validate(DagPosterior("additive", seed=1), table, folds=4, seed=1)
    straight = cross_validate(DagPosterior("conditional-gaussian", seed=1), table, folds=4, seed=1)
    gain, error = bent.gain_over(straight)
    assert gain > 5.0 * error


def test_targets_of_the_wrong_kind_and_columns_that_are_lacking_are_refused(model: DagPosterior, said: Said) -> None:
    rows = curved(3)
    with said.raises(InputError):
        model.predict_proba(rows, target="y")
    with said.raises(InputError):
        model.predict_number(rows, target="z")
    with pytest.raises(InputError, match="lack"):
        model.score_samples(rows.drop(columns="x"))


def test_columns_that_are_not_modelled_are_given() -> None:
    model = DagPosterior("additive", exogenous=["x"], seed=1).fit(curved())
    rows = curved(3, seed=9)
    assert np.isfinite(model.score_samples(rows)).all()
    with pytest.warns(match="no value in 'x'"):
        assert np.isnan(model.score_samples(rows.assign(x=np.nan))).all()
