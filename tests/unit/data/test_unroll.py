"""Tables with time: what is read, what is refused in words, and what a model makes of the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, Unrolled, as_table, unroll
from dagpost.data.unrolled import Unrolling
from dagpost.errors import DagpostWarning, InputError


def panel(subjects: int = 30, times: int = 6, seed: int = 1) -> pd.DataFrame:
    """X drives itself and, a step later, y; y drives z at once."""
    draw = np.random.default_rng(seed).normal
    rows = []
    for subject in range(subjects):
        x = 0.0
        for week in range(times):
            before, x = x, 0.8 * x + draw()
            y = 1.2 * before + 0.6 * draw()
            rows.append((f"p{subject}", week, x, y, 1.2 * y + 0.6 * draw(), "fm"[subject % 2]))
    return pd.DataFrame(rows, columns=["id", "week", "x", "y", "z", "sex"])


PANEL = panel()


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior("bge", prior="uniform", max_parents=3, seed=1).fit(
        unroll(PANEL.drop(columns="sex"), time="week", subject="id")
    )


def test_a_file_a_polars_frame_and_a_pandas_frame_give_the_same(tmp_path: Path) -> None:
    PANEL.to_csv(tmp_path / "panel.csv")  # with the numbers of the rows
    expected = unroll(PANEL, time="week", subject="id", lags=2)
    for data in (tmp_path / "panel.csv", pl.from_pandas(PANEL)):
        found = unroll(data, time="week", subject="id", lags=2)
        assert found.record == expected.record
        assert found.to_pandas().equals(expected.to_pandas())


@pytest.mark.parametrize(
    "times",
    [
        [f"week {week}" for week in PANEL["week"]],
        pd.Categorical.from_codes(PANEL["week"].to_numpy(), pd.Index(["first", "b", "c", "a", "e", "last"])),
        pd.Timestamp("2024-01-31") + PANEL["week"].map(pd.offsets.MonthEnd),
        [f"{7 * week + 1:02}.02.2026" if week < 4 else f"{7 * week - 27:02}.03.2026" for week in PANEL["week"]],
        0.1 * PANEL["week"],
    ],
    ids=["text", "categories", "months", "written dates", "fractions"],
)
def test_times_of_any_kind_are_steps_apart(times: Any) -> None:
    found = unroll(PANEL.assign(week=times), time="week", subject="id")
    assert found.to_pandas().equals(unroll(PANEL, time="week", subject="id").to_pandas())


def test_a_step_that_is_given_says_how_finely_dates_are_read(said: Said) -> None:
    days = [f"2024-{month:02}-{day:02}" for month, day in [(1, 5), (2, 7), (3, 1), (5, 9)]]
    frame = pd.DataFrame({"day": days, "x": [1.5, 2.5, 3.5, 4.5]})
    assert unroll(frame, time="day", step="month").to_pandas()["x"].tolist() == [2.5, 3.5]
    assert unroll(frame, time="day", step="2 months").to_pandas()["x[t-1]"].tolist() == [1.5, 3.5]
    with said.raises(InputError):
        unroll(frame, time="day", step="3 moons")


def test_without_times_rows_follow_each_other() -> None:
    found = unroll(PANEL.drop(columns="week"), subject="id", lags=2)
    assert found.to_pandas().equals(unroll(PANEL, time="week", subject="id", lags=2).to_pandas())
    single = unroll(PANEL[["x", "y"]][:10])
    assert single.rows == 9
    assert single.record.subjects == 1


def test_static_columns_are_found_filled_in_and_taken_once(said: Said) -> None:
    sparse = PANEL.assign(sex=PANEL["sex"].where(PANEL["week"] == 0))
    found = unroll(sparse, time="week", subject="id")
    assert found.record.static == ("sex",)
    assert found.to_pandas()["sex"].tolist() == unroll(PANEL, time="week", subject="id").to_pandas()["sex"].tolist()
    assert any("150 empty cells filled in" in line for line in found.report)
    assert "sex[t-1]" in unroll(PANEL, time="week", subject="id", static=[]).names
    with said.raises(InputError):
        unroll(PANEL, time="week", subject="id", static=["x"])


def test_what_was_lost_is_counted_and_named() -> None:
    frame = PANEL[~((PANEL["id"] == "p1") & (PANEL["week"] % 2 == 1))].sample(frac=1.0, random_state=1)
    found = unroll(frame, time="week", subject="id")
    assert found.left_out == ("p1",)
    assert (found.record.gaps, found.record.beginnings, found.record.left_out_subjects) == (2, 30, 1)
    said = " ".join(found.report)
    for words in ("(3 to 6 each)", "2 rows follow a gap", "No usable row: 'p1'", "they were sorted"):
        assert words in said
    assert "p1" not in json.dumps(found.record.to_json())


@pytest.mark.parametrize(
    ("frame", "settings"),
    [
        (PANEL, {"time": "week"}),
        (pd.concat([PANEL, PANEL[3:4]]), {"time": "week", "subject": "id"}),
        (PANEL, {"time": "weak", "subject": "id"}),
        (PANEL, {"time": "week", "subject": "id", "lags": 6}),
        (PANEL, {"time": "sex", "subject": "id"}),
        (PANEL[["id", "week", "sex"]], {"time": "week", "subject": "id"}),
        (
            PANEL.rename(columns={"z": "x[t-1]"}),
            {"time": "week", "subject": "id"},
        ),
        (PANEL, {"wide": "{series}_w{time}", "time": "week"}),
        (PANEL, {"wide": "{series}_w{time}"}),
        (PANEL, {"wide": {"x": ["x", "why"]}}),
    ],
)
def test_what_cannot_be_is_refused_in_words(frame: pd.DataFrame, settings: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        unroll(frame, **settings)


def test_the_wide_form_knows_patterns_first_times_without_a_number_and_mappings() -> None:
    frame = pd.DataFrame(np.arange(14.0).reshape(2, 7), columns=["sex", "v1", "v2", "v1.2", "v2.2", "v1.3", "v2.3"])
    found = unroll(frame, wide="{series}.{time}")
    assert (found.record.series, found.record.static, found.record.time) == (("v1", "v2"), ("sex",), None)
    assert found.to_pandas()[["v1", "v1[t-1]"]].to_numpy().tolist() == [[3, 1], [5, 3], [10, 8], [12, 10]]
    same = unroll(frame, wide={"a": ["v1", "v1.2", "v1.3"], "b": ["v2", "v2.2", "v2.3"]})
    assert same.to_pandas().to_numpy().tolist() == found.to_pandas().to_numpy().tolist()


def test_a_subject_without_values_at_a_time_was_not_there_then() -> None:
    frame = pd.DataFrame({"a_1": [1.5, 2.5], "b_1": [1.0, 2.0], "a_2": [3.5, None], "b_2": [3.0, None]})
    found = unroll(frame, wide="{series}_{time}")
    assert (found.rows, found.record.rows, found.record.missing_cells) == (1, 3, 0)


def test_columns_of_a_series_are_cut_and_used_alike(said: Said) -> None:
    table = as_table(unroll(PANEL, time="week", subject="id"), recipe=Recipe(cut={"x": [-0.5, 0.5]}, drop=["z"]))
    with said.warns(DagpostWarning):
        fitted = DagPosterior("bdeu", prior="uniform", max_parents=2).fit(table)
    assert table.names == fitted.names_ == ("x", "y", "x[t-1]", "y[t-1]", "sex")
    steps = {step.name: step for step in fitted.recipe_.steps_}
    assert steps["x"].cuts == steps["x[t-1]"].cuts == (-0.5, 0.5)
    assert steps["y"].cuts == steps["y[t-1]"].cuts
    assert steps["y[t-1]"].levels == steps["y"].levels


def test_a_model_of_an_unrolled_table_has_edges_into_the_present_alone(model: DagPosterior) -> None:
    edges = model.edge_probabilities_
    assert (edges[["x[t-1]", "y[t-1]", "z[t-1]"]].to_numpy() == 0.0).all()
    assert edges.loc["x[t-1]", "x"] > 0.99
    assert edges.loc["x[t-1]", "y"] > 0.9


def test_rules_hold_by_the_names_of_columns(said: Said) -> None:
    unrolled = unroll(PANEL.drop(columns="sex"), time="week", subject="id")
    ruled = DagPosterior(
        "bge", prior="uniform", max_parents=3, forbidden=["x[t-1] -> y"], required=["z[t-1] -> x"]
    ).fit(unrolled)
    assert ruled.edge_probabilities_.loc["x[t-1]", "y"] == 0.0
    assert ruled.edge_probabilities_.loc["z[t-1]", "x"] == pytest.approx(1.0)
    with said.raises(InputError):
        DagPosterior("bge", prior="uniform", required=["y -> x[t-1]"]).fit(unrolled)


def test_without_contemporaneous_edges_there_are_none(said: Said) -> None:
    unrolled = unroll(PANEL.drop(columns="sex"), time="week", subject="id", contemporaneous=False)
    lagged = DagPosterior("bge", prior="uniform", max_parents=3).fit(unrolled)
    assert (lagged.edge_probabilities_.loc[["x", "y", "z"]].to_numpy() == 0.0).all()
    assert lagged.probability("'x[t-1]' -> z").value > 0.9
    with said.raises(InputError):
        DagPosterior("bge", prior="uniform", required=["x -> y"]).fit(unrolled)


def test_a_file_keeps_time_and_gives_back_the_settings_that_were_given(model: DagPosterior, tmp_path: Path) -> None:
    unrolled = unroll(PANEL, time="week", subject="id", contemporaneous=False)
    fitted = DagPosterior(
        "bge", prior="uniform", max_parents=1, exogenous=["z"], recipe=Recipe(drop=["sex"]), seed=1
    ).fit(unrolled)
    for saved in (model, fitted):
        saved.save(tmp_path / "model.dagpost")
        loaded = DagPosterior.load(tmp_path / "model.dagpost")
        assert loaded.fitted_.data.time == saved.fitted_.data.time
        assert loaded.fitted_.settings == saved.fitted_.settings
        assert tuple(loaded.exogenous) == tuple(saved.exogenous)
        assert loaded.lagged_edges().equals(saved.lagged_edges())
        assert Unrolling.from_json(loaded.own_sample().provenance["time"]) == saved.fitted_.data.time


def test_interventions_of_an_unrolled_table_are_those_of_the_present() -> None:
    frame = PANEL.assign(set=np.where(PANEL["week"] == 3, "x", "none")).drop(columns="sex")
    table = as_table(unroll(frame, time="week", subject="id"), interventions="set")
    assert not any(name.startswith("set") for name in table.names)
    assert table.interventions is not None
    assert int((table.interventions != 0).sum()) == 30


def test_an_unrolled_table_shows_what_was_done() -> None:
    found = unroll(PANEL.rename(columns={"sex": "<b>"}), time="week", subject="id")
    assert isinstance(found, Unrolled)
    assert repr(found).startswith("Unrolled table of 7 columns and 150 rows\n  180 rows of 30 subjects (6 each)")
    assert "&lt;b&gt;" in found._repr_html_()


def test_a_plan_knows_that_only_present_values_can_form_cycles(said: Said) -> None:
    frame = PANEL.drop(columns="sex")
    plan = DagPosterior("bge", prior="uniform", max_parents=2).plan(unroll(frame, time="week", subject="id", lags=2))
    said(plan.reason)
    fitted = DagPosterior(prior="uniform", max_parents=1, recipe=Recipe(exogenous=["week"])).fit(
        PANEL[["week", "x", "y"]].round()
    )
    assert (fitted.edge_probabilities_["week"] == 0.0).all()
