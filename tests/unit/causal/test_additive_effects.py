"""Effects of models whose relations may be curved, as a user asks for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import Additive, BDeu, Committee, DagPosterior, InputError
from dagpost.data import as_table


def bent(rows: int = 600, seed: int = 1) -> pd.DataFrame:
    """X acts on y along a parabola, on the level z by way of y, and on nothing else; w is by itself."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    y = 10.0 + x**2 + 0.5 * rng.normal(size=rows)
    z = np.where(y - 11.0 + 0.7 * rng.logistic(size=rows) > 0.0, "high", "low")
    return pd.DataFrame({"x": x, "y": y, "z": z, "w": rng.normal(size=rows)})


TIERS = [["x", "w"], ["y"], ["z"]]


@pytest.fixture(scope="module", params=["additive", "committee"])
def model(request: pytest.FixtureRequest) -> DagPosterior:
    """The same tables under the score alone, and where several kinds are averaged."""
    chosen = "additive" if request.param == "additive" else Committee([Additive(), BDeu(5, bins=4)])
    return DagPosterior(chosen, tiers=TIERS, seed=1).fit(bent())


def test_an_effect_hangs_on_where_it_starts(model: DagPosterior) -> None:
    for do, truth in (((1.5, 0.0), 2.25), ((0.0, -1.5), -2.25), ((1.5, -1.5), 0.0)):
        effect = model.effect("x", "y", do=do, seed=1)
        low, high = effect.interval(0.999)
        assert low <= truth <= high
        assert high - low < 1.5
        assert effect.zero_probability < 0.01
        assert effect.zero_exact
        assert not effect.exact


def test_numbers_act_on_levels_and_by_way_of_others(model: DagPosterior) -> None:
    effect = model.effect("x", "z", do=(2.0, 0.0), outcome_level="high", seed=1)
    rng = np.random.default_rng(0)
    noise = 0.5 * rng.normal(size=200_000) - 1.0
    truth = np.diff([(1.0 / (1.0 + np.exp(-(noise + at) / 0.7))).mean() for at in (0.0, 4.0)])[0]
    low, high = effect.interval(0.999)
    assert low <= truth <= high
    assert low > 0.3
    through = {part.through: part for part in effect.through}["y"]
    assert through.mean == pytest.approx(effect.mean, abs=0.1)
    worlds = [own.mean for own in effect.outcomes if own.level == "high"]
    assert worlds[0] - worlds[1] == pytest.approx(effect.mean, abs=1e-9)


def test_the_level_that_changes_most_is_looked_at_where_none_is_named() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    z = np.array(["a", "b", "c"])[np.clip(np.round(1.0 + 1.5 * x + 0.3 * rng.normal(size=400)), 0, 2).astype(int)]
    frame = pd.DataFrame({"x": x, "z": z, "u": rng.choice(list("rst"), 400), "y": x + rng.normal(size=400)})
    model = DagPosterior("additive", tiers=[["x", "u"], ["z", "y"]], seed=1).fit(frame)
    changes = {level: abs(model.effect("x", "z", do=(1.0, 0.0), outcome_level=level, seed=1).mean) for level in "abc"}
    assert model.effect("x", "z", do=(1.0, 0.0), seed=1).outcome_level == max(changes, key=lambda key: changes[key])
    # Of a cause with levels in no order the two that are farthest apart.
    assert len(set(model.effect("u", "y", seed=1).values[0] or ())) == 2


def test_quartiles_are_compared_unless_values_are_given_and_values_beyond_all_rows_are_remarked_on(said: Said) -> None:
    model = DagPosterior("additive", tiers=TIERS, seed=1).fit(bent())
    effect = model.effect("x", "y", seed=1)
    assert effect.values[0] == pytest.approx(np.quantile(bent()["x"], [0.75, 0.25]), abs=0.01)
    said(effect.note)
    said(model.effect("x", "y", do=(9.0, 0.0), seed=1).note)


def test_what_does_not_act_has_no_effect_and_all_effects_agree_with_each(model: DagPosterior) -> None:
    every = model.effects(draws=500, seed=1).set_index(["cause", "outcome"])
    for pair in (("x", "y"), ("y", "z"), ("w", "y"), ("y", "x")):
        one = model.effect(*pair, seed=1)
        assert every.loc[pair, "no_effect"] == pytest.approx(one.zero_probability, abs=1e-6)
        assert every.loc[pair, "mean"] == pytest.approx(one.mean, abs=0.05)
    assert every.loc[("w", "y"), "no_effect"] > 0.5
    assert every.loc[("z", "x"), "no_effect"] == 1.0


def test_a_file_with_rows_says_the_same_and_one_without_about_the_same(model: DagPosterior, tmp_path: Path) -> None:
    expected = model.effect("x", "y", seed=1).samples
    model.save(tmp_path / "whole", rows=True)
    np.testing.assert_allclose(DagPosterior.load(tmp_path / "whole").effect("x", "y", seed=1).samples, expected)
    model.save(tmp_path / "bare")
    bare = DagPosterior.load(tmp_path / "bare").effect("x", "y", seed=1)
    np.testing.assert_allclose(
        np.quantile(bare.samples, [0.1, 0.5, 0.9]), np.quantile(expected, [0.1, 0.5, 0.9]), atol=0.2
    )


def test_tables_of_parameters_are_refused(model: DagPosterior, said: Said) -> None:
    for ask in (model.to_bayesian_network, model.direct_effects):
        with said.raises(InputError):
            ask()


def test_rows_in_which_a_column_was_set_say_nothing_of_what_it_follows() -> None:
    frame = bent(400, 2)
    spoilt = frame.copy()
    where = np.arange(400) < 100
    spoilt.loc[where, "y"] = 40.0 - 3.0 * spoilt.loc[where, "x"]
    whole = as_table(spoilt, interventions=[("y",) if own else () for own in where])
    model = DagPosterior("additive", tiers=TIERS, seed=1).fit(whole)
    effect = model.effect("x", "y", do=(1.5, 0.0), seed=1)
    low, high = effect.interval(0.999)
    assert low <= 2.25 <= high
    assert high - low < 2.0


def test_exogenous_columns_have_effects_and_the_report_has_sizes(tmp_path: Path) -> None:
    model = DagPosterior("additive", exogenous=["x"], tiers=[["w"], ["y"], ["z"]], seed=1).fit(bent())
    assert model.effect("x", "y", do=(1.5, 0.0), seed=1).mean == pytest.approx(2.25, abs=0.5)
    model.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Signs and sizes" in page
    assert "the mean of y" in page


def test_of_levels_in_no_order_those_farthest_apart_are_compared() -> None:
    rng = np.random.default_rng(4)
    town = rng.choice(["Brno", "Praha", "Zlin"], 300)
    y = 3.0 * (town == "Praha") - 3.0 * (town == "Brno") + rng.normal(size=300)
    sort = np.select([y + rng.normal(size=300) > 2.0, rng.random(300) > 0.5], ["red", "blue"], "green")
    frame = pd.DataFrame({"town": town, "y": y, "sort": sort})
    model = DagPosterior("additive", tiers=[["town"], ["y"], ["sort"]], seed=1).fit(frame)
    assert model.effect("town", "y", draws=500).do == ("Praha", "Brno")
    assert model.effect("town", "y", draws=500).mean == pytest.approx(6.0, abs=0.5)
    found = model.effect("y", "sort", draws=500)
    assert found.outcome_level == "red"
    assert found.mean > 0.3
    assert model.effect("town", "sort", draws=500).outcome_level == "red"
