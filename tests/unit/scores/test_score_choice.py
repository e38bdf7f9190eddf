"""Which score is chosen for which columns, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, as_table
from dagpost.data.table import Table
from dagpost.errors import DagpostWarning, InputError, collected_warnings
from dagpost.methods.choice import resolve_method
from dagpost.posterior.augmenting import runs_chains
from dagpost.scores.automatic import MOST_LATENT_CELLS, notice_of_choice, score_of_columns

RNG = np.random.default_rng(8)
ROWS = 48
NUMBERS = {"x": RNG.normal(size=ROWS), "y": RNG.normal(size=ROWS)}
SITES = ["oslo", "rome", "bonn", "graz"] * (ROWS // 4)
DOSES = ["low", "medium", "high", "low"] * (ROWS // 4)
TRUTH = [True, False] * (ROWS // 2)


def table_of(recipe: Recipe | None = None, **columns: Any) -> Table:
    with collected_warnings():
        return as_table(pd.DataFrame(columns), recipe=recipe)


def test_the_columns_decide() -> None:
    limits = [f"{value:.3f}" for value in NUMBERS["x"]]
    limits[3] = "<-3"
    expected = {
        None: {"dose": DOSES, "site": SITES},
        "bge": NUMBERS,
        "latent-gaussian": {**NUMBERS, "dose": DOSES, "truth": TRUTH, "few": [1, 2, 3, 4] * (ROWS // 4)},
        "conditional-gaussian": {**NUMBERS, "dose": DOSES, "site": SITES},
    }
    for name, columns in expected.items():
        score = score_of_columns(table_of(**columns))
        assert (None if score is None else score.name) == name
    censored = score_of_columns(table_of(x=limits, y=NUMBERS["y"]))
    assert censored is not None
    assert censored.name == "latent-gaussian"


def test_unordered_codes_and_gap_levels_are_not_for_latent_numbers() -> None:
    codes = [1, 2, 3, 4] * (ROWS // 4)
    doses = [None, *DOSES[1:]]
    for table in (
        table_of(Recipe(unordered=["few"]), **NUMBERS, few=codes),
        table_of(Recipe(missing="level"), **NUMBERS, dose=doses),
        as_table(pd.DataFrame({**NUMBERS, "dose": DOSES}), interventions=["dose"] * 4 + [None] * (ROWS - 4)),
    ):
        score = score_of_columns(table)
        assert score is not None
        assert score.name == "conditional-gaussian"
    mixed = table_of(**NUMBERS, dose=DOSES)
    assert getattr(score_of_columns(mixed, completes=False), "name", "") == "conditional-gaussian"
    many = mixed.with_counts(np.full(ROWS, MOST_LATENT_CELLS // ROWS + 1))
    assert getattr(score_of_columns(many), "name", "") == "conditional-gaussian"


@pytest.mark.parametrize(
    ("method", "modularity", "nodes", "expected"),
    [
        ("auto", "structure", 40, True),
        ("auto", "order", 8, True),
        ("auto", "order", 20, False),
        ("exact-layers", "structure", 8, True),
        ("exact-layers", "structure", 20, False),
        ("block-gibbs", "structure", 40, True),
        ("augmentation", "structure", 40, True),
        ("partition-mcmc", "structure", 8, False),
        ("kbest", "structure", 8, False),
    ],
)
def test_chains_over_latent_numbers_are_for_methods_that_can(
    method: str, modularity: str, nodes: int, expected: bool
) -> None:
    assert runs_chains(resolve_method(method), modularity, nodes) is expected


def test_notices_say_in_one_sentence_what_is_assumed(said: Said) -> None:
    table = table_of(**NUMBERS, dose=DOSES, truth=TRUTH)
    score = score_of_columns(table)
    assert score is not None
    assert notice_of_choice(score, table).startswith(
        "Columns of levels are taken as ordered (dose: low < medium < high) and numbers by their ranks: relations are "
    )
    table = table_of(**NUMBERS, dose=DOSES, later=DOSES, sex=np.where(NUMBERS["x"] > 0, "f", "m"))
    assert "(dose, later: low < medium < high, sex: f < m)" in notice_of_choice(score, table)
    table = table_of(**NUMBERS, site=SITES)
    score = score_of_columns(table)
    assert score is not None
    assert "('site' has levels in no order), and never lead to levels" in notice_of_choice(score, table)
    with said.warns(DagpostWarning):
        model = DagPosterior(prior="uniform").fit(pd.DataFrame(NUMBERS))
    assert not hasattr(model, "predict_proba")


def test_numbers_are_cut_only_where_that_is_asked_for(said: Said) -> None:
    frame = pd.DataFrame({**NUMBERS, "dose": DOSES})
    for recipe, cut in (
        (Recipe(), []),
        (Recipe(cut={"x": 0}), ["x"]),
        (Recipe(bins=2), ["x", "y"]),
        (Recipe(strategy="uniform"), ["x", "y"]),
        (Recipe(cut={"x": 0}).fit(frame), ["x"]),
    ):
        fitted = Recipe(**recipe.get_params()).fit(frame)
        assert [step.name for step in fitted.steps_ if step.cuts is not None] == cut
        with collected_warnings():
            model = DagPosterior(prior="uniform", recipe=recipe, method="kbest").fit(frame)
        assert [step.name for step in model.recipe_.steps_ if step.cuts is not None] == cut
        assert model.fitted_.data.levels.count(None) == 2 - len(cut)
    with said.warns(DagpostWarning):
        assert None not in DagPosterior("bdeu", prior="uniform").fit(frame).fitted_.data.levels
    gappy = frame.assign(x=frame["x"].where(frame["x"] > -1))
    with collected_warnings():
        model = DagPosterior(prior="uniform", missing="level").fit(
            gappy
        )  # a gap that is a level needs levels beside it
    assert model.recipe_.step("x").levels is not None
    assert model.recipe_.step("y").levels is None


def test_a_recipe_file_without_bins_cuts_nothing(tmp_path: Path) -> None:
    frame = pd.DataFrame({**NUMBERS, "dose": DOSES})
    Recipe().fit(frame).save(tmp_path / "r.toml")
    text = (tmp_path / "r.toml").read_text()
    assert "# bins = 3\n" in text
    with collected_warnings():
        assert (
            DagPosterior(prior="uniform", recipe=tmp_path / "r.toml", method="kbest")
            .fit(frame)
            .fitted_.data.levels.count(None)
            == 2
        )
    (tmp_path / "r.toml").write_text(text.replace("# bins = 3\n", "bins = 2\n"))
    assert len(Recipe.load(tmp_path / "r.toml").rule_of("x").strategy) > 0
    with collected_warnings():
        model = DagPosterior(prior="uniform", recipe=tmp_path / "r.toml").fit(frame)
    assert [len(levels or ()) for levels in model.fitted_.data.levels] == [2, 2, 3]


def test_limits_and_levels_in_no_order_together_are_refused_with_the_ways_out(said: Said) -> None:
    limits = [f"{value:.3f}" for value in NUMBERS["x"]]
    limits[3] = "<-3"
    with said.raises(InputError):
        DagPosterior(prior="uniform").fit(pd.DataFrame({"x": limits, "y": NUMBERS["y"], "site": SITES}))
    way_out = Recipe(cut={"x": -3})
    with collected_warnings():
        model = DagPosterior(prior="uniform", recipe=way_out, method="kbest").fit(
            pd.DataFrame({"x": limits, "site": SITES, "y": NUMBERS["y"]})
        )
    assert model.fitted_.score.name == "conditional-gaussian"
