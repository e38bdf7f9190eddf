"""Recipes as files: read back exactly, edited by hand, refused with words that help, never half written."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.clinical import clinical_frame
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, as_table
from dagpost.data.cut_tables import bins_of, cut_numbers, cut_otherwise
from dagpost.data.recipe_file import toml_of
from dagpost.errors import InputError
from dagpost.scores.resolve import table_for


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    Recipe(bins=3, strategy="quantile").fit(clinical_frame()).save(path)
    return path


def edited(file: Path, old: str, new: str) -> Path:
    text = file.read_text()
    assert text.count(old) >= 1, old
    file.write_text(text.replace(old, new, 1))
    return file


@pytest.mark.parametrize("missing", ["augment", "drop", "level"])
def test_a_recipe_is_read_back_exactly(missing: Any, tmp_path: Path) -> None:
    frame = clinical_frame()
    made = Recipe(missing=missing, unseen="prior", cut={"age": (4, "uniform"), "systolic": [120, 140]}).fit(frame)
    made.save(tmp_path / "recipe.toml")
    read = Recipe.load(tmp_path / "recipe.toml")
    for step, other in zip(made.steps_, read.steps_, strict=True):
        assert (step.name, step.use, step.why, step.gaps) == (other.name, other.use, other.why, other.gaps)
        assert repr((step.levels, step.cuts)) == repr((other.levels, other.cuts))
    assert (read.missing, read.unseen) == (missing, "prior")
    assert read.transform(frame).fingerprint() == made.transform(frame).fingerprint()


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
LEVELS = st.lists(NAMES | st.integers() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique_by=str)
CUTS = st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True).map(sorted)


@given(st.dictionaries(NAMES, LEVELS | CUTS.map(tuple), min_size=1))
def test_names_levels_and_cuts_of_any_kind_are_read_back(columns: dict[str, Any]) -> None:
    steps = [
        {"name": name, "use": "number", "why": name, "levels": None, "cuts": list(own), "rule": "", "gaps": 0}
        if isinstance(own, tuple)
        else {"name": name, "use": "levels", "why": name, "levels": own, "cuts": None, "rule": "", "gaps": 3}
        for name, own in columns.items()
    ]
    settings = {"missing": "drop", "unseen": "error", "bins": 3, "strategy": "quantile"}
    found = tomllib.loads(toml_of({**settings, "steps": steps}))["columns"]
    assert list(found) == list(columns)
    for name, own in columns.items():
        key = "cuts" if isinstance(own, tuple) else "levels"
        assert repr(found[name][key]) == repr([level for level in own if level != "(missing)"])


def test_what_a_person_changes_is_done(file: Path, said: Said) -> None:
    frame = clinical_frame()
    edited(file, 'strategy = "quantile"', 'strategy = "uniform"')
    edited(file, '[columns.patient_id]\nuse = "left out"', '[columns.patient_id]\nuse = "number"')
    edited(file, '[columns.visit_date]\nuse = "left out"', '[columns.visit_date]\nuse = "levels"')
    edited(file, '[columns.sex]\nuse = "levels"', '[columns.sex]\nuse = "left out"')
    edited(file, '["never", "former", "current"]', '["never", "former", "current", "secret"]')
    text = file.read_text()
    start = text.index("cuts", text.index("[columns.systolic]"))
    file.write_text(text[:start] + "cuts = 140" + text[text.index("\n", start) :])
    start = text.index("cuts", text.index("[columns.age]"))
    text = file.read_text()
    file.write_text(text[:start] + 'cuts = "4:kmeans"' + text[text.index("\n", start) :])
    table = Recipe.load(file).read(frame)
    assert table.recipe is not None
    assert "sex" not in table.names
    assert table.recipe.step("smoking").levels == ("never", "former", "current", "secret")
    assert table.recipe.step("systolic").cuts == (140.0,)
    assert len(table.recipe.step("visit_date").levels or ()) > 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_table = as_table(frame, recipe=file)  # the file says what is left out
    assert model_table.fingerprint() == table.fingerprint()
    cut = cut_numbers(table)
    assert cut.recipe is not None
    assert cut.recipe.step("age").rule == "4 clusters"
    said(cut.recipe.step("patient_id").rule)


def test_a_rule_that_a_person_writes_is_done_also_where_it_is_the_usual_one(tmp_path: Path) -> None:
    frame = clinical_frame()
    Recipe().fit(frame).save(tmp_path / "r.toml")
    before = table_for("auto", frame, recipe=tmp_path / "r.toml")
    assert before.levels[before.names.index("age")] is None
    edited(tmp_path / "r.toml", '[columns.age]\nuse = "number"', '[columns.age]\nuse = "number"\ncuts = "3:quantile"')
    table = table_for("auto", frame, recipe=tmp_path / "r.toml")
    assert bins_of(table) == {3}
    assert [name for name, levels in zip(table.names, table.levels, strict=True) if levels is None] == [
        name for name, levels in zip(before.names, before.levels, strict=True) if levels is None and name != "age"
    ]


def test_points_that_a_person_gave_stay_theirs_in_a_file(tmp_path: Path) -> None:
    frame = clinical_frame()
    made = Recipe(bins=3, cut={"systolic": [120, 140], "BMI": (4, "uniform")}).fit(frame)
    made.save(tmp_path / "r.toml")
    read = Recipe.load(tmp_path / "r.toml")
    assert read.cut == {"systolic": [120.0, 140.0], "BMI": [4, "uniform"]}
    assert bins_of(read.transform(frame)) == bins_of(made.transform(frame)) == {3, 4}
    halves = cut_otherwise(read.transform(frame), 2).recipe
    assert halves is not None
    assert [len(halves.step(name).cuts or ()) for name in ("systolic", "BMI", "age")] == [2, 1, 1]
    read.save(tmp_path / "again.toml")
    assert Recipe.load(tmp_path / "again.toml").to_json() == read.to_json()
    text = (tmp_path / "r.toml").read_text()
    (tmp_path / "r.toml").write_text("".join(line for line in text.splitlines(True) if not line.startswith("rule")))
    assert bins_of(Recipe.load(tmp_path / "r.toml").transform(frame)) == frozenset()


def test_gaps_become_a_level_where_a_person_says_so(file: Path) -> None:
    frame = clinical_frame()
    edited(file, 'missing = "augment"', 'missing = "level"')
    table = Recipe.load(file).transform(frame)
    assert table.rows == len(frame)
    assert table.levels[table.names.index("smoking")] == ("never", "former", "current", "(missing)")
    assert table.fingerprint() != Recipe(missing="drop").fit(frame).transform(frame).fingerprint()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dagpost_recipe = 1", ""),
        ("dagpost_recipe = 1", "dagpost_recipe = 2"),
        ("dagpost_recipe = 1", "dagpost_recipe = "),
        ('missing = "augment"', 'missing = "skip"'),
        ("bins = 3", "bins = 1"),
        ("bins = 3", "bin = 3"),
        ('use = "levels"', 'use = "level"'),
        ('use = "levels"', ""),
        ('use = "levels"', 'use = "levels"\nlevel = 1'),
        ('levels = ["f", "m"]', "levels = []"),
        ('levels = ["f", "m"]', 'levels = ["f", "f"]'),
        ('levels = ["f", "m"]', 'levels = ["f", "(missing)"]'),
        ("cuts = [", "cuts = [1e9, "),
        ("cuts = [", 'cuts = "4:median" #'),
        ("cuts = [", 'cuts = "1:quantile" #'),
        ('rule = "3:quantile"', "rule = 3"),
        ("gaps = ", "gaps = -"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(file: Path, old: str, new: str, said: Said) -> None:
    with said.raises(InputError) as caught:
        Recipe.load(edited(file, old, new))
    assert str(caught.value).startswith(str(file))


def test_a_file_without_columns_and_one_that_is_not_there_are_refused(tmp_path: Path, said: Said) -> None:
    (tmp_path / "r.toml").write_text("dagpost_recipe = 1\n")
    with said.raises(InputError):
        Recipe.load(tmp_path / "r.toml")
    with said.raises(InputError):
        as_table(pd.DataFrame({"a": [0, 1], "b": [1, 0]}), recipe=tmp_path / "none.toml")


def test_a_recipe_that_cannot_be_written_leaves_the_old_one(
    file: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    before = file.read_text()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with said.raises(InputError):
        Recipe(bins=5).fit(clinical_frame()).save(file)
    assert file.read_text() == before
    assert os.listdir(file.parent) == [file.name]


def test_a_writer_that_is_killed_leaves_the_old_recipe(file: Path) -> None:
    before = file.read_text()
    script = (
        "import os, sys; from dagpost._tools import whole_files; from dagpost.data import recipe_file\n"
        "whole_files.os.fsync = lambda _: os.kill(os.getpid(), 9)\n"
        f"recipe_file.write_description({str(file)!r}, recipe_file.description_in({before!r}) | {{'bins': 7}})\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False, env={**os.environ}, capture_output=True)
    assert ended.returncode == -9, ended.stderr
    assert file.read_text() == before
    Recipe(bins=5).fit(clinical_frame()).save(file)
    assert "bins = 5" in file.read_text()


def test_numbers_stay_exact(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=300)
    made = Recipe(cut={"x": [float(values[3]) / 3 - 0.7, 0.1 + 0.2]}).fit(
        pd.DataFrame({"x": values, "y": [0, 1] * 150})
    )
    made.save(tmp_path / "r.toml")
    assert Recipe.load(tmp_path / "r.toml").step("x").cuts == made.step("x").cuts


@pytest.mark.parametrize(
    "text",
    [
        f"dagpost_recipe = {'9' * 5000}",
        f"dagpost_recipe = 0x{'f' * 5000}",
        f'dagpost_recipe = 1\n[columns.a]\nuse = "number"\ncuts = "{"9" * 5000}:quantile"',
        f'dagpost_recipe = 1\n[columns.a]\nuse = "number"\ncuts = [{"9" * 400}]',
        f'dagpost_recipe = 1\n[columns.a]\nuse = "{"x" * 5000}"',
    ],
)
def test_numbers_and_words_without_end_are_refused_in_a_few_words(text: str, tmp_path: Path, said: Said) -> None:
    (tmp_path / "recipe.toml").write_text(text)
    with said.raises(InputError) as caught:
        Recipe.load(tmp_path / "recipe.toml")
    assert len(str(caught.value)) < 500


def test_a_column_may_have_the_role_exogenous(tmp_path: Path, said: Said) -> None:
    frame = pd.DataFrame(
        {"age": ["old", "young"] * 4, "sex": ["f", "f", "m", "m"] * 2, "ill": ["no"] * 3 + ["yes"] * 5}
    )
    recipe = Recipe(exogenous="age").fit(frame)
    assert [line.split("  ")[-2:] for line in recipe.lines() if "; exogenous" in line] == [
        ["levels; exogenous", "old, young"]
    ]
    recipe.save(tmp_path / "recipe.toml")
    text = (tmp_path / "recipe.toml").read_text(encoding="utf-8")
    assert text.count('\nrole = "exogenous"\n') == 1
    again = Recipe.load(tmp_path / "recipe.toml")
    assert again.exogenous == ["age"]
    assert DagPosterior(prior="uniform", score="bdeu", recipe=again, exogenous="sex").fit(frame).fitted_.exogenous == (
        "sex",
        "age",
    )
    (tmp_path / "recipe.toml").write_text(text.replace('role = "exogenous"', 'role = "given"'), encoding="utf-8")
    with said.raises(InputError):
        Recipe.load(tmp_path / "recipe.toml")
    with said.raises(InputError):
        Recipe(exogenous=["agee"]).fit(frame)
