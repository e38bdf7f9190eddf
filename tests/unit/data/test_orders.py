"""Levels in an order: declared, recognised from their words, or in none; and the order of the levels follows."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, as_table, read_table
from dagpost.data.cut_tables import cut_numbers
from dagpost.data.level_order import SCALES, known_order
from dagpost.data.table import Table
from dagpost.errors import InputError

SMOKING = ["never", "former", "current", "never"] * 6


def frame_with(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"sex": ["f", "m"] * 12, **columns})


def place_of(table: Table, name: str) -> int:
    return table.names.index(name)


def test_a_well_known_scale_is_in_its_order_and_the_step_says_so(said: Said) -> None:
    table = as_table(frame_with(smoking=SMOKING))
    assert table.levels[1] == ("never", "former", "current")
    assert table.columns[1].tolist() == [0, 1, 2, 0] * 6
    assert (table.in_order, table.ordered) == (("smoking",), (True, True))
    assert table.recipe is not None
    said(table.recipe.step("smoking").why)
    assert table.recipe.step("smoking").ordered is True
    again = table.recipe.transform(frame_with(smoking=["current"] * 24))
    assert (again.in_order, again.columns[1].tolist()) == (("smoking",), [2] * 24)


@given(scale=st.sampled_from(SCALES), data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_steps_of_a_scale_are_recognised_in_any_case(scale: tuple[str, ...], data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.sampled_from(range(len(scale))), min_size=2, unique=True))
    words = [data.draw(st.sampled_from(scale[step].split("|"))) for step in steps]
    change = data.draw(st.sampled_from([str, str.upper, str.title, lambda word: word.replace(" ", "_")]))
    order = known_order([change(word) for word in words])
    assert order is not None
    assert [steps[place] for place in order] == sorted(steps)
    assert known_order([*words, "something else"]) is None


def test_scales_do_not_contradict_each_other() -> None:
    places = [{word: i for i, step in enumerate(scale) for word in step.split("|")} for scale in SCALES]
    for one, other in combinations(places, 2):
        for first, second in combinations(one.keys() & other.keys(), 2):
            assert (one[first] < one[second]) == (other[first] < other[second]), (first, second)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (["III", "I", "II"], ["I", "II", "III"]),
        (["stage IV", "Stage 0", "stage IIb", "stage IIa"], ["Stage 0", "stage IIa", "stage IIb", "stage IV"]),
        (["grade 10", "grade 2"], ["grade 2", "grade 10"]),
        ([">60", "40-60", "<40"], ["<40", "40-60", ">60"]),
        (["10-19", "5-9", "20+"], ["5-9", "10-19", "20+"]),
        (["5+", "0", "1-4"], ["0", "1-4", "5+"]),
        ([">=60.5", "[43, 60.5)", "<43"], ["<43", "[43, 60.5)", ">=60.5"]),
        (["hypertension", "none"], ["none", "hypertension"]),
        (["Yes", "No"], ["No", "Yes"]),
        (["treated", "untreated"], ["untreated", "treated"]),
        (["drug", "placebo"], ["placebo", "drug"]),
        (["ever", "never"], ["never", "ever"]),
        (["abnormal", "normal"], ["normal", "abnormal"]),
        (["deficient", "normal"], None),
        (["smoker", "Non-smoker"], ["Non-smoker", "smoker"]),
        (["active", "inactive"], ["inactive", "active"]),
        (["asthma", "none", "gout"], None),
        (["X", "V"], None),
        (["type II", "type I"], None),
        (["stage I", "grade II"], None),
        (["0-10", "5-15"], None),
        (["medium", "moderate"], None),
        (["b", "a"], None),
        (["low"], None),
    ],
)
def test_stages_and_groups_of_numbers_are_scales(levels: list[str], expected: list[str] | None) -> None:
    order = known_order(levels)
    assert (None if order is None else [levels[place] for place in order]) == expected


def test_order_says_which_levels_come_first() -> None:
    frame = frame_with(dose=["b", "a", "c"] * 8, grade=[3, 1, 2] * 8)
    recipe = Recipe(order={"dose": ["c", "b", "a"], "grade": [3, 2, 1, 0]}).fit(frame)
    assert recipe.step("dose").levels == ("c", "b", "a")
    assert recipe.step("grade").levels == ("3", "2", "1", "0")  # names: as numbers they are in another order
    table = recipe.transform(frame)
    assert table.in_order == ("dose", "grade")
    assert table.columns[1].tolist() == [1, 2, 0] * 8
    assert table.columns[2].tolist() == [0, 2, 1] * 8
    assert as_table(frame, recipe=Recipe(order={"grade": ["3", "2", "1"]})).levels[2] == ("3", "2", "1")
    assert as_table(frame, recipe=Recipe(order={"grade": ["1", "2", "3"]})).levels[2] == (1, 2, 3)


def test_unordered_columns_are_levels_in_no_order() -> None:
    frame = frame_with(smoking=SMOKING, clinic=[1, 2, 3, 4] * 6, region=np.arange(24) + 100)
    codes = pd.Categorical(frame["smoking"], ["never", "former", "current"], ordered=True)
    for own in (frame, frame.assign(smoking=codes)):
        table = as_table(own, recipe=Recipe(unordered=["smoking", "clinic", "region"]))
        assert table.unordered == ("smoking", "clinic", "region")
        assert table.ordered == (True, False, False, False)
        assert len(table.levels[3] or ()) == 24
    assert as_table(frame, recipe=Recipe(keep=["region"])).ordered == (True, True, True, True)


@pytest.mark.parametrize(
    "settings",
    [
        {"order": {"smoking": ["never", "current"]}},
        {"order": {"smoke": ["never", "current"]}},
        {"unordered": ["smoke"]},
        {"order": {"smoking": "never"}},
        {"order": {"smoking": ["never", "never"]}},
        {"order": ["smoking"]},
        {"order": {"age": [1, 2]}, "cut": {"age": 3}},
        {"order": {"smoking": ["a", "b"]}, "drop": ["smoking"]},
    ],
)
def test_an_order_that_cannot_be_is_refused_in_words(settings: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        as_table(frame_with(smoking=SMOKING, age=range(24)), recipe=Recipe(**settings))


def test_ordered_categories_of_every_library_are_in_order(tmp_path: Path) -> None:
    levels, words = ["c", "a", "b"], ["a", "b", "c"] * 8
    frame = frame_with(dose=pd.Categorical(words, levels, ordered=True))
    frame.to_parquet(tmp_path / "doses.parquet")
    arrow = pa.Table.from_pandas(frame)
    polar = pl.DataFrame({"sex": frame["sex"].tolist(), "dose": pl.Series(words, dtype=pl.Enum(levels))})
    expected = as_table(frame)
    assert (expected.in_order, expected.levels[1]) == (("dose",), ("c", "a", "b"))
    for other in (arrow, polar, read_table(tmp_path / "doses.parquet"), expected.to_pandas()):
        assert as_table(other).fingerprint() == expected.fingerprint()
    assert as_table(frame.assign(dose=pd.Categorical(words, levels))).in_order == ()


def test_bins_of_cut_numbers_are_in_order() -> None:
    table = cut_numbers(as_table(frame_with(age=np.random.default_rng(1).permutation(24) * 2.5)))
    assert table.in_order == ("age",)
    assert table.ordered == (True, True)
    assert as_table(table.to_pandas()).in_order == ("age",)


def test_orders_are_kept_in_a_recipe_file_and_a_model_file(tmp_path: Path, said: Said) -> None:
    frame = frame_with(smoking=SMOKING, clinic=[1, 2, 3, 4] * 6)
    recipe = Recipe(unordered=["clinic"]).fit(frame)
    recipe.save(tmp_path / "recipe.toml")
    text = (tmp_path / "recipe.toml").read_text()
    assert 'levels = ["never", "former", "current"]\nordered = true' in text
    assert "levels = [1, 2, 3, 4]\nordered = false" in text
    read = Recipe.load(tmp_path / "recipe.toml")
    assert [step.ordered for step in read.steps_] == [None, True, False]
    assert read.transform(frame).fingerprint() == recipe.transform(frame).fingerprint()
    (tmp_path / "recipe.toml").write_text(text.replace('levels = ["never", "former", "current"]\n', ""))
    with said.raises(InputError):
        Recipe.load(tmp_path / "recipe.toml")
    model = DagPosterior("bdeu", prior="uniform", recipe=Recipe(unordered=["clinic"])).fit(frame)
    model.save(tmp_path / "model.dagpost")
    assert DagPosterior.load(tmp_path / "model.dagpost").recipe_.steps_ == model.recipe_.steps_


def test_the_order_of_levels_does_not_change_what_a_discrete_score_finds() -> None:
    frame = frame_with(smoking=SMOKING, dose=(["b", "a", "c", "c", "b"] * 5)[:24])
    plain = DagPosterior("bdeu", prior="uniform").fit(frame)
    other = DagPosterior(
        "bdeu", prior="uniform", recipe=Recipe(order={"dose": ["c", "a", "b"]}, unordered=["smoking"])
    ).fit(frame)
    np.testing.assert_allclose(plain.edge_probabilities_, other.edge_probabilities_, atol=1e-12)
