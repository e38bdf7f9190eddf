"""The curve of an effect: what would be seen at each number of the cause, by the graphs and draws of the effect."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError, LatentGaussian
from dagpost.causal import effect as effect_of
from dagpost.data import as_table


def bent(rows: int = 300) -> pd.DataFrame:
    """X acts on y along a parabola, y on z; the group acts on y too, and whether y is high is a level."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-2.0, 3.0, rows)
    group = rng.choice(["a", "b"], rows)
    y = x**2 + 2.0 * (group == "b") + rng.normal(size=rows)
    return pd.DataFrame({"x": x, "group": group, "y": y, "z": y + rng.normal(size=rows), "high": np.where(y > 3, 1, 0)})


FEW = {"samples": 200}
TIERS = {"x": 0, "group": 0, "y": 1, "z": 2, "high": 2}


def fitted(score: str | LatentGaussian, *names: str, **settings: object) -> DagPosterior:
    tiers = [[name for name in names if TIERS[name] == tier] for tier in sorted({TIERS[name] for name in names})]
    return DagPosterior(score, tiers=tiers, seed=1, **settings).fit(bent()[[*names]])


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return fitted("bge", "x", "y", "z")


@pytest.mark.filterwarnings("ignore:Do not trust it yet")
@pytest.mark.parametrize(
    ("score", "names", "outcome"),
    [
        ("bge", "x y z", "z"),
        ("conditional-gaussian", "x group y z", "z"),
        ("latent-gaussian", "x y high", "high"),
        ("additive", "x group y", "y"),
        ("additive", "x y high", "high"),
    ],
)
def test_two_points_of_a_curve_differ_by_the_effect_of_that_contrast(score: str, names: str, outcome: str) -> None:
    model = fitted(score, *names.split(), **(FEW if score == "latent-gaussian" else {}))
    whole = model.effect("x", outcome, draws=5_000)
    curve = whole.along(4)
    (first,), (last,) = curve.outcomes[0].do, curve.outcomes[-1].do
    found = model.effect("x", outcome, do=(last, first), draws=5_000)
    level = 0 if found.outcome_level is None else 1
    change = curve.samples[-1, :, level] - curve.samples[0, :, level]
    np.testing.assert_allclose(change, found.samples, rtol=0.0, atol=1e-12 * max(1.0, np.abs(curve.samples).max()))
    frame = whole.curve(4)
    assert (frame["no_effect"] == found.zero_probability).all()
    worlds = [own for own in found.outcomes if own.do == (last,)]
    for own, row in zip(worlds, frame[frame["value"] == last].to_dict("records"), strict=True):
        assert (own.mean, own.lower, own.upper) == pytest.approx((row["mean"], row["lower"], row["upper"]), abs=1e-12)


def test_a_curve_goes_over_all_numbers_of_the_rows(model: DagPosterior) -> None:
    frame = model.effect("x", "z", confidence=0.8).curve(11)
    assert list(frame.columns) == ["value", "mean", "lower", "upper", "no_effect"]
    np.testing.assert_allclose(frame["value"], np.linspace(bent()["x"].min(), bent()["x"].max(), 11))
    assert (frame["lower"] < frame["mean"]).all()
    assert (frame["mean"] < frame["upper"]).all()
    wider = model.effect("x", "z", confidence=0.99).curve(11)
    assert (wider["upper"] - wider["lower"] > frame["upper"] - frame["lower"]).all()
    np.testing.assert_allclose(wider["mean"], frame["mean"])
    assert len(model.effect("x", "z").curve()) == 25


def test_of_an_outcome_of_levels_each_has_its_chance() -> None:
    frame = fitted("additive", "x", "y", "high").effect("x", "high", draws=500).curve(5)
    assert list(frame.columns) == ["value", "level", "mean", "lower", "upper", "no_effect"]
    assert frame["level"].tolist() == [0, 1] * 5
    np.testing.assert_allclose(frame.groupby("value")["mean"].sum(), 1.0)
    chances = frame[frame["level"] == 1]["mean"].to_numpy()
    assert chances[0] > 0.3 > chances[2]
    assert chances[4] > 0.9


def test_the_curve_is_that_of_the_graphs_of_the_effect(model: DagPosterior) -> None:
    assert model.effect("x", "z").curve(5)["no_effect"][0] < 0.01
    none = model.effect("x", "z", given="!(x ~> z)").curve(5)
    assert (none["no_effect"] == 1.0).all()
    np.testing.assert_allclose(none["mean"], none["mean"][0], atol=1e-12)


def test_draws_without_a_seed_are_those_of_their_effect() -> None:
    model = DagPosterior("bge", tiers=[["x"], ["y"]]).fit(bent()[["x", "y"]])
    found = model.effect("x", "y")
    pd.testing.assert_frame_equal(found.curve(3), found.curve(3))
    assert not found.curve(3)["lower"].equals(model.effect("x", "y").curve(3)["lower"])


def test_without_rows_a_curve_goes_two_deviations_to_either_side(tmp_path: Path) -> None:
    fitted("bge", "x", "y").save(tmp_path / "m")
    found = DagPosterior.load(tmp_path / "m").effect("x", "y")
    x = bent()["x"]
    ends = found.curve(3)["value"]
    assert list(ends) == pytest.approx([x.mean() - 2 * x.std(), x.mean(), x.mean() + 2 * x.std()], rel=0.01)
    assert found.along(3).observed is None
    assert DagPosterior.load(tmp_path / "m").effect("x", "y", do=(90.0, 0.0)).note == ""


@pytest.mark.parametrize("score", ["conditional-gaussian", "additive"])
def test_a_file_of_local_models_knows_where_the_numbers_end(score: str, tmp_path: Path) -> None:
    model = fitted(score, "x", "group", "y")
    model.save(tmp_path / "m")
    found = DagPosterior.load(tmp_path / "m").effect("x", "y", draws=500)
    x = bent()["x"]
    assert found.curve(2)["value"].tolist() == pytest.approx([x.min(), x.max()])
    assert found.along(3).observed is None


def test_graphs_from_elsewhere_have_curves(model: DagPosterior) -> None:
    found = effect_of(model.sample(200, seed=1), as_table(bent()[["x", "y", "z"]]), "bge", "x", "z", seed=1)
    assert found.curve(3)["value"].tolist() == pytest.approx(model.effect("x", "z").curve(3)["value"].tolist())


@pytest.mark.filterwarnings("ignore:Do not trust it yet")
@pytest.mark.parametrize("score", ["bge", "conditional-gaussian", LatentGaussian(margins="raw"), "additive"])
def test_numbers_that_no_row_comes_near_are_remarked_on(score: str | LatentGaussian, said: Said) -> None:
    model = fitted(score, "x", "y", **(FEW if isinstance(score, LatentGaussian) else {}))
    said(model.effect("x", "y", do=(9.0, 0.0), draws=500).note)
    assert model.effect("x", "y", do=(1.0, 0.0), draws=500).note == ""


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_gaps_are_not_numbers_of_the_rows() -> None:
    frame = bent(80)[["x", "y"]]
    frame.loc[frame["x"].idxmax(), "x"] = np.nan
    found = DagPosterior("bge", tiers=[["x"], ["y"]], seed=1, samples=200).fit(frame).effect("x", "y", draws=500)
    assert found.curve(2)["value"].tolist() == pytest.approx([frame["x"].min(), frame["x"].max()])
    assert len(found.along(2).observed) == 79


def test_what_has_no_curve_is_refused_with_what_to_do(model: DagPosterior, said: Said) -> None:
    levels = fitted("conditional-gaussian", "x", "group", "y")
    for ask in (
        levels.effect("group", "y", draws=100).curve,
        model.effect({"x": (1.0, 0.0), "y": (1.0, 0.0)}, "z", draws=100).curve,
        lambda: model.effect("x", "z", draws=100).curve(1),
        lambda: model.effect("x", "z", draws=100).curve(2.5),
        pickle.loads(pickle.dumps(model.effect("x", "z", draws=100))).curve,
    ):
        with said.raises(InputError):
            ask()


@pytest.mark.parametrize(("score", "points"), [("bge", 25), ("additive", 13)])
def test_a_rough_curve_has_fewer_points_where_all_comes_of_draws(score: str, points: int) -> None:
    generator = np.random.default_rng(1)
    cause = generator.normal(size=60)
    frame = pd.DataFrame({"x": cause, "z": cause + generator.normal(size=60)})
    effect = DagPosterior(score, tiers=[["x"], ["z"]], seed=1, samples=200).fit(frame).effect("x", "z", draws=1_500)
    rough = effect.along(rough=True)
    assert len(rough.outcomes) == points
    assert rough.samples.shape[1] == (1_500 if points == 25 else 1_000)
    assert len(effect.along(5).outcomes) == 5
