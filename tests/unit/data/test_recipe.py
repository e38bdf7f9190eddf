"""What is done with a column, and why; settings that cannot be; what is said."""

from __future__ import annotations

import datetime
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, as_table, datasets
from dagpost.data.recipe import resolve_recipe
from dagpost.errors import DagpostWarning, InputError
from dagpost.scores.resolve import table_for

ROWS = 40
SEX = ["f", "m"] * (ROWS // 2)
GROUP = ["a", "b", "b", "c"] * (ROWS // 4)


def frame_with(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"sex": SEX, "group": GROUP, **columns})


def use_of(name: str, cells: Any) -> tuple[str, str]:
    step = Recipe().fit(frame_with(**{name: cells})).step(name)
    return step.use, step.why.partition(":")[0]


WORDS = [f"w{chr(97 + i % 26)}{i}" for i in range(ROWS)]


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("x", ["same"] * ROWS, ("left out", "constant")),
        ("x", [None] * ROWS, ("left out", "empty")),
        ("x", ["NA", ""] * (ROWS // 2), ("left out", "empty")),
        ("when", pd.date_range("2024-05-01", periods=ROWS), ("left out", "dates")),
        ("when", pd.date_range("2024-05-01", periods=ROWS).date, ("left out", "dates")),
        ("when", [f"{1 + i % 28:02}.05.2024" for i in range(ROWS)], ("left out", "dates")),
        ("when", [f"2024-05-{1 + i % 28:02}T08:{i:02}:00Z" for i in range(ROWS)], ("left out", "dates")),
        ("when", [f"5/{1 + i % 28}/24" for i in range(ROWS)], ("left out", "dates")),
        ("code", WORDS, ("left out", "identifier")),
        ("anything", WORDS, ("left out", "identifier")),
        ("patient_id", np.arange(ROWS) * 7 + 3, ("left out", "identifier")),
        ("caseNo", np.arange(ROWS) * 7 + 3, ("left out", "identifier")),
        ("anything", np.random.default_rng(1).permutation(ROWS) + 5.0, ("left out", "identifier")),
        ("anything", [str(number) for number in range(ROWS)], ("left out", "identifier")),
        ("remark", [f"the patient said {i}" for i in range(ROWS)], ("left out", "free text")),
        ("weight", np.arange(ROWS) * 7 + 3, ("number", "whole numbers, 40 values")),
        ("fluid", np.arange(ROWS) * 7 + 3, ("number", "whole numbers, 40 values")),
        ("patient_id", np.arange(ROWS) % 20, ("number", "whole numbers, 20 values")),
        ("height", np.arange(ROWS) / 7, ("number", "numbers, 40 values")),
        ("height", [f"{i},5" for i in range(ROWS)], ("number", "numbers, 40 values")),
        ("visits", np.arange(ROWS) % 10, ("levels", "whole numbers, 10 values")),
        ("visits", np.arange(ROWS) % 11, ("number", "whole numbers, 11 values")),
        ("share", np.arange(ROWS) % 4 / 4, ("levels", "numbers, 4 values")),
        ("smokes", [True, False] * (ROWS // 2), ("levels", "true or false")),
        ("smokes", ["TRUE", "false"] * (ROWS // 2), ("levels", "true or false")),
        ("town", ["New York", "Rome", "Oslo", "Bonn"] * (ROWS // 4), ("levels", "text, 4 values")),
        ("age", pd.Categorical([str(30 + i) for i in range(ROWS)]), ("levels", "categories as declared")),
        ("x", pd.Categorical(["no"] * ROWS, categories=["no", "yes"]), ("levels", "categories as declared")),
    ],
)
def test_a_column_is_what_its_values_and_name_say(name: str, cells: Any, expected: tuple[str, str]) -> None:
    assert use_of(name, cells) == expected


def test_an_identifier_that_is_called_so_is_known_in_few_rows() -> None:
    frame = pd.DataFrame({"id": list("pqrstu"), "x": [0, 1, 0, 1, 1, 0], "y": [0, 0, 1, 1, 0, 1]})
    assert Recipe().fit(frame).step("id").use == "left out"
    assert Recipe().fit(frame.rename(columns={"id": "letter"})).step("letter").use == "levels"


def test_a_table_that_is_coded_throughout_has_levels_only() -> None:
    codes = np.random.default_rng(0).integers(0, [2, 3, 26], (400, 3))
    assert as_table(codes).arities == (2, 3, 26)
    assert as_table(codes + np.array([0, 0, 1])).levels[2] is None


def test_a_column_that_is_left_out_does_not_change_how_others_are_read() -> None:
    codes = np.random.default_rng(0).integers(0, [15, 3], (400, 2))
    frame = pd.DataFrame({"id": np.arange(400) + 1000, "a": codes[:, 0], "b": codes[:, 1]})
    for recipe in (Recipe(), Recipe(drop=["id"]), Recipe(columns=["a", "b"])):
        assert len(recipe.fit(frame).step("a").levels or ()) == 15
        assert recipe.describe(frame).step("a").use == "levels"


@pytest.mark.parametrize("stray", ["?", "about 18"])
def test_a_cell_that_is_not_a_number_among_numbers_is_named(stray: str, said: Said) -> None:
    ages = [str(30 + i % 20) for i in range(ROWS)]
    ages[6] = stray
    frame = frame_with(age=ages)
    with said.warns(DagpostWarning):
        table = as_table(frame)
    assert table.recipe.step("age").why == f"text, 21 values; all but '{stray}' are numbers"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_table(frame, recipe=Recipe(keep=["age"]))
        as_table(frame_with(grade=["1", "2", "3", "?"] * (ROWS // 4)))


def test_what_is_kept_is_used_and_what_is_dropped_is_not() -> None:
    frame = frame_with(id=WORDS, day=pd.date_range("2024-05-01", periods=ROWS), same=1)
    table = as_table(frame, recipe=Recipe(keep=["id", "day", "same"], drop=["sex"]))
    assert table.names == ("group", "id", "day", "same")
    assert table.levels[2][0] == "2024-05-01"
    assert table.levels[3] == (1,)
    assert as_table(frame, recipe=Recipe(columns=["group", "sex"])).names == ("sex", "group")


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_a_constant_among_the_complete_rows_is_left_out(said: Said) -> None:
    gaps = [None, "x"] * (ROWS // 2)
    drop = Recipe(missing="drop")
    table = as_table(frame_with(mostly=gaps, other=["p", "q", "q", "q"] * (ROWS // 4)), recipe=drop)
    assert table.names == ("sex", "group", "other")
    assert table.rows == ROWS, "the column that had gaps is not used"
    other = as_table(frame_with(some=[None, 1, None, 2] * (ROWS // 4)), recipe=drop)
    assert other.names == ("group", "some")
    said(other.recipe.step("sex").why)


@pytest.mark.parametrize("missing", ["augment", "drop", "level"])
def test_what_is_described_is_what_is_done(missing: Any, tmp_path: Path) -> None:
    frame = frame_with(some=[None, 1, None, 2] * (ROWS // 4), height=np.arange(ROWS) / 7)
    frame.to_csv(tmp_path / "table.csv", index=False)
    done = Recipe(missing=missing).read(frame).recipe
    for source in (frame, tmp_path / "table.csv"):
        described = Recipe(missing=missing).describe(source)
        assert described.to_json() == done.to_json()
    few = frame_with(x=[1, 2] + [None] * (ROWS - 2), y=[None] + [0, 1, 1] * 13)
    levels = Recipe(missing=missing).describe(few).step("x").levels
    assert levels == ((1, 2, "(missing)") if missing == "level" else (1, 2))


@pytest.mark.parametrize(
    "cells",
    [pd.to_timedelta(range(ROWS), "D"), [datetime.time(1)] * ROWS, [[1]] * ROWS, [np.inf, 1.0] * (ROWS // 2)],
)
def test_a_column_that_cannot_be_read_is_described_too(cells: Any) -> None:
    described = Recipe().describe(frame_with(x=cells))
    assert described.step("x").use == "left out"
    assert re.match("cannot be read: Column 'x' (is of type|holds inf)", described.step("x").why)
    assert described.step("group").levels == ("a", "b", "c")


def test_only_what_was_not_asked_for_is_said() -> None:
    frame = frame_with(id=WORDS, height=np.arange(ROWS) / 7)
    with pytest.warns(DagpostWarning) as said:
        DagPosterior(prior="uniform", score="bdeu").fit(frame)
    left_out, cut = [str(warning.message) for warning in said]
    assert left_out.startswith("Left out: 'id' (identifier). The 'recipe'")
    assert cut.startswith("Cut into levels for a discrete score: 'height' at 1.857 and 3.71;")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DagPosterior(prior="uniform", score="bdeu", recipe=Recipe(drop=["id"], cut={"height": 3})).fit(frame)
        DagPosterior(prior="uniform", score="bdeu", recipe=Recipe(bins=3).fit(frame)).fit(frame)
        DagPosterior(prior="uniform", score="bdeu").fit(frame[["sex", "group"]])
        DagPosterior(prior="uniform", score="bdeu").plan(frame)


@pytest.mark.parametrize("score", ["auto", "conditional-gaussian", "latent-gaussian"])
def test_scores_that_take_numbers_beside_levels_have_cut_only_what_was_asked(score: str) -> None:
    frame = frame_with(height=np.arange(ROWS) / 7, weight=np.arange(ROWS) * 1.5 % 11)
    cut = table_for(score, frame, recipe=Recipe(cut={"height": 3}))
    assert dict(zip(cut.names, cut.levels, strict=True))["height"] == ("<3", ">=3")
    assert [levels is None for levels in cut.levels] == [False, False, False, True]
    assert table_for(score, frame, recipe=Recipe(bins=2)).discrete
    assert [levels is None for levels in table_for(score, frame).levels] == [False, False, True, True]


def test_more_than_half_of_the_rows_dropped_is_said_loudly_and_nearly_all_is_an_error(said: Said) -> None:
    frame = frame_with(x=[1, 2, 3, 1] + [None] * (ROWS - 4), y=[0, 1, 1, 1] * (ROWS // 4))
    with said.warns(DagpostWarning):
        as_table(frame.replace({"group": {"c": "b"}}), recipe=Recipe(missing="drop"))
    one = frame_with(x=[1, 2] + [None] * (ROWS - 2), y=[None] + [0, 1, 1] * 13)
    with said.raises(InputError):
        as_table(one, recipe=Recipe(missing="drop"))


def test_gaps_may_be_a_level(said: Said) -> None:
    frame = frame_with(x=[0, 1, None, 1] * (ROWS // 4), height=[None, *(np.arange(ROWS - 1) / 7)])
    recipe = Recipe(missing="level").fit(frame)
    assert recipe.step("x").levels == (0, 1, "(missing)")
    assert recipe.step("height").levels[-1] == "(missing)"
    table = recipe.transform(frame)
    assert table.rows == ROWS
    assert table.columns[3][0] == 3
    with said.raises(InputError):
        recipe.transform(frame.assign(group=None))


@pytest.mark.parametrize(
    ("own", "asked"), [("level", "drop"), ("drop", "level"), ("augment", "level"), ("level", "augment")]
)
def test_what_is_asked_about_gaps_overrides_a_fitted_recipe(own: Any, asked: Any) -> None:
    frame = frame_with(x=[0, 1, 1, 1, None] * (ROWS // 5), height=[None, *(np.arange(ROWS - 1) / 7)])
    cut = {"height": [2, 4]}
    fitted = Recipe(missing=own, cut=cut).fit(frame)
    table = resolve_recipe(fitted, asked).transform(frame)
    assert table.fingerprint() == Recipe(missing=asked, cut=cut).fit_transform(frame).fingerprint()
    assert fitted.missing == own
    assert (fitted.step("x").levels[-1] == "(missing)") == (own == "level")


def test_new_rows_are_taken_as_the_old_ones(said: Said) -> None:
    frame = frame_with(x=["1", "2", "x", "2"] * (ROWS // 4), flag=[True, False] * (ROWS // 2), n=[0, 1, 2, 2] * 10)
    recipe = Recipe().fit(frame)
    new = pd.DataFrame({"sex": ["m"], "group": [" b"], "x": [2.0], "flag": ["TRUE"], "n": ["1.0"], "more": [9]})
    decoded = {n: recipe.step(n).levels[int(c[0])] for n, c in zip(*_parts(recipe.transform(new)), strict=True)}
    assert decoded == {"sex": "m", "group": "b", "x": "2", "flag": True, "n": 1}
    with said.raises(InputError):
        recipe.transform(new.assign(sex="d"))
    two = pd.concat([new.assign(sex="d"), new])
    assert clone(recipe).set_params(unseen="missing", missing="drop").fit(frame).transform(two).rows == 1
    taken = clone(recipe).set_params(unseen="missing").fit(frame).transform(two)
    assert (taken.rows, taken.gap_count) == (2, 1)
    with said.raises(InputError):
        recipe.transform(new.drop(columns="flag"))


def _parts(table: Any) -> tuple[Any, Any]:
    return table.names, table.columns


def test_a_number_that_is_not_one_is_named_with_its_row(said: Said) -> None:
    recipe = Recipe().fit(frame_with(height=np.arange(ROWS) / 7))
    with said.raises(InputError):
        recipe.transform(frame_with(height=["1.5", "tall"] * (ROWS // 2)))


@pytest.mark.parametrize(
    "settings",
    [
        {"bins": 1},
        {"strategy": "equal"},
        {"missing": "fill"},
        {"unseen": "guess"},
        {"drop": ["sx"]},
        {"cut": {"height": [3, 1]}},
        {"cut": {"height": "3"}},
        {"cut": [3]},
        {"cut": {"sex": 3}},
        {"columns": 5},
        {"drop": ["height"], "cut": {"height": 3}},
    ],
)
def test_settings_that_cannot_be_are_named(settings: Any, said: Said) -> None:
    with said.raises(InputError):
        Recipe(**settings).fit(frame_with(height=np.arange(ROWS) / 7))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sex", {"use": "bogus"}),
        ("sex", {"usage": "levels"}),
        ("sex", {"gaps": -1}),
        ("sex", {"levels": ["f", "f"]}),
        ("sex", {"levels": ["(missing)", "f"]}),
        ("sex", {"levels": ["f", ["m"]]}),
        ("sex", {"levels": []}),
        ("sex", {"cuts": [1.0]}),
        ("sex", {"name": "group"}),
        ("height", {"cuts": [3.0, 2.0]}),
        ("height", {"cuts": [2.0, float("nan")]}),
        ("height", {"levels": ["<2", ">=2"]}),
        ("height", {"levels": None}),
    ],
)
def test_a_description_that_cannot_be_a_recipe_is_refused(name: str, change: dict[str, Any], said: Said) -> None:
    described = Recipe(bins=3).fit(frame_with(height=np.arange(ROWS) / 7)).to_json()
    next(step for step in described["steps"] if step["name"] == name).update(change)
    with said.raises(InputError):
        Recipe.from_json(described)


def test_a_recipe_is_given_as_an_object(said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu", recipe=5).fit(frame_with())
    assert resolve_recipe(None).to_json() == Recipe().to_json()
    assert resolve_recipe(Recipe(bins=4), "level").get_params()["missing"] == "level"


def test_a_recipe_that_has_not_seen_a_table_can_be_looked_at() -> None:
    assert "feature_names_in_" not in dir(Recipe())
    assert "Recipe" in DagPosterior(prior="uniform", recipe=Recipe(bins=4))._repr_html_()


def test_a_recipe_stands_in_a_pipeline() -> None:
    frame = frame_with(id=WORDS, height=np.arange(ROWS) / 7)
    model = make_pipeline(Recipe(bins=2), DagPosterior(prior="uniform", score="bdeu", samples=200, seed=1)).fit(frame)
    assert model.score_samples(frame).shape == (ROWS,)
    assert model[0].get_feature_names_out().tolist() == ["sex", "group", "height"]
    assert model[0].n_features_in_ == 4


def test_a_table_and_a_recipe_go_together_or_are_refused(said: Said) -> None:
    frame = frame_with(height=np.arange(ROWS) / 7, visits=np.arange(ROWS) % 4)
    recipe = Recipe(bins=3).fit(frame)
    cut, uncut = recipe.transform(frame), Recipe().read(frame)
    assert as_table(cut, recipe=recipe) is cut
    assert recipe.transform(cut).fingerprint() == cut.fingerprint()
    assert recipe.transform(uncut).fingerprint() == cut.fingerprint()
    assert as_table(cut, recipe=Recipe(bins=3)) is cut
    for other in (Recipe(), Recipe(bins=4), Recipe(bins=4).fit(frame), Recipe(bins=3).fit(frame[::2])):
        with said.raises(InputError):
            as_table(cut, recipe=other)
    for wrong in (Recipe(drop=["nope"]), Recipe(cut={"zz": 3})):
        with said.raises(InputError):
            as_table(uncut, recipe=wrong)
    chosen = Recipe(drop=["sex"], cut={"height": 2})
    refitted = DagPosterior(prior="uniform", score="bdeu", recipe=chosen).fit(chosen.fit_transform(frame))
    assert refitted.recipe_.step("height").cuts == (2.0,), "so that it takes raw rows"
    assert Recipe(cut={"visits": 2}).fit_transform(uncut).levels[3] == ("<2", ">=2")


def test_the_model_of_a_table_of_levels_has_a_recipe_too(tmp_path: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", samples=200, seed=1).fit(datasets.load("coronary"))
    assert {step.why for step in model.recipe_.steps_} == {"levels as given"}
    assert model.recipe_.step("Smoking").levels == ("no", "yes")


def test_names_and_levels_are_shown_safely() -> None:
    frame = pd.DataFrame({"<b>": ["<i>", "&"] * 4, "y\x1b[31m": ["u\x1b[0m", "v", "v", "u\x1b[0m"] * 2})
    assert "<b>" not in Recipe(drop=["<b>"])._repr_html_()
    recipe = Recipe().fit(frame)
    assert "\x1b" not in repr(recipe.transform(frame))
    assert "<b>" not in recipe._repr_html_()
    assert "&lt;i&gt;" in recipe._repr_html_()
    assert "\x1b" not in repr(recipe)


def test_a_table_with_many_columns_of_no_use_is_read(said: Said) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{i}": rng.integers(0, 2, 30) if i < 60 else 1 for i in range(80)})
    with said.warns(DagpostWarning):
        assert len(as_table(frame).names) == 60


def test_points_that_leave_one_bin_are_refused_with_what_was_meant(said: Said) -> None:
    """`cut={"age": 4}` is one point, not four bins."""
    frame = pd.DataFrame({"age": range(20, 60), "sex": ["f", "m"] * 20})
    with said.raises(InputError):
        Recipe(cut={"age": 4}).fit(frame)
