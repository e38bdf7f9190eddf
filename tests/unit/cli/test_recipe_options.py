"""What is done with each column, from the command line: options, `info`, recipe files, raw rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.tools.cli_checks import Run
from tests.tools.clinical import LEFT_OUT, USED, clinical_frame
from tests.tools.wording import ESTIMATES, Said

from dagpost import DagPosterior, Recipe


@pytest.fixture
def clinic(tmp_path: Path) -> str:
    clinical_frame().to_csv(tmp_path / "clinic.csv", index=False)
    return "clinic.csv"


FAST = ("--samples", "200", "--seed", "1", "--no-sensitivity")


def test_options_say_what_is_done(run: Run, clinic: str, tmp_path: Path, said: Said) -> None:
    options = ("--cut", "systolic=120,140", "--cut", "age=4:uniform", "--bins", "2", "--missing", "level")
    run("fit", clinic, "--drop", "diastolic", "--keep", "visit_date", *options, *FAST, "-q")
    recipe = DagPosterior.load(tmp_path / "clinic.dagpost").recipe_
    assert recipe.step("systolic").cuts == (120.0, 140.0)
    said(recipe.step("age").rule)
    assert recipe.step("BMI").rule == "2 quantiles"
    assert recipe.step("diastolic").use == "left out"
    assert recipe.step("visit_date").use == "levels"
    assert recipe.step("smoking").levels[-1] == "(missing)"
    heard = run("fit", clinic, "--columns", "age,sex, smoking", "--missing", "refuse", status=2).stderr
    assert "'smoking' has" in heard
    assert "--missing level" in heard


def test_before_a_fit_the_recipe_is_shown_unless_there_is_nothing_to_say(
    run: Run, clinic: str, table: str, said: Said
) -> None:
    heard = run("fit", clinic, "--missing", "drop", *FAST).stderr
    for line in ("patient_id  identifier: 900", "visit_date  dates", "age         whole numbers", "stays a number"):
        assert line in heard
    said(heard)
    assert "\n  sex" not in heard, "plain levels are not told of"
    assert "What is done" not in run("fit", table, *FAST).stderr
    assert run("fit", clinic, "--missing", "drop", *FAST, "-q").stderr == ""


def test_a_column_of_numbers_but_for_one_cell_is_shown_before_a_fit(run: Run, tmp_path: Path, said: Said) -> None:
    frame = clinical_frame()[["age", "sex", "diagnosis"]].astype({"age": str})
    frame.loc[4, "age"] = "?"
    frame.to_csv(tmp_path / "stray.csv", index=False)
    heard = " ".join(run("fit", "stray.csv", *FAST).stderr.split())
    said(heard)


def test_info_describes_a_table_and_writes_a_recipe_that_fit_reads(run: Run, clinic: str, tmp_path: Path) -> None:
    text = run("info", clinic, "--recipe", "r.toml", "--cut", "systolic=140", "--missing", "drop").stdout
    for word in (*LEFT_OUT, *USED, "gaps", "<140, >=140", "Recipe: r.toml"):
        assert word in text
    about = json.loads(run("info", clinic, "--json").stdout)
    assert [column["name"] for column in about["columns"]] == [*LEFT_OUT, *USED]
    assert (about["rows"], about["problem"]) == (900, None)
    run("fit", clinic, "--recipe", "r.toml", "--missing", "drop", "--score", "bdeu", *FAST, "-q")
    by_file = DagPosterior.load(tmp_path / "clinic.dagpost")
    run("fit", clinic, "--cut", "systolic=140", "--missing", "drop", "--score", "bdeu", *FAST, "-q")
    by_option = DagPosterior.load(tmp_path / "clinic.dagpost")
    assert by_file.fitted_.data.fingerprint == by_option.fitted_.data.fingerprint
    assert by_file.log_evidence_ == by_option.log_evidence_
    run("info", clinic, "--recipe", "r.toml", "--bins", "4")
    assert Recipe.load(tmp_path / "r.toml").bins == 4
    shown = run("info", "clinic.dagpost").stdout
    assert "<140, >=140" in shown
    assert "patient_id  identifier" in shown
    assert "left out" in run("best", clinic, "-k", "1", "--recipe", "r.toml", "--missing", "drop").stderr


def test_info_describes_a_table_that_cannot_be_fitted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "holes.csv").write_text("a,b,c\n1,,x\n2,3,\n,4,y\n5,6,\n")
    text = run("info", "holes.csv", "--recipe", "r.toml", "--missing", "drop").stdout
    assert "Table of 3 columns and 4 rows" in text
    assert "whole numbers, 3 values; 1 gap " in text
    assert "As it is, it cannot be fitted. holes.csv: Of 4 rows, 0 have a value in every column" in text
    about = json.loads(run("info", "holes.csv", "--missing", "drop", "--json").stdout)
    assert about["problem"].startswith("holes.csv: Of 4 rows")
    assert Recipe.load(tmp_path / "r.toml").step("c").levels == ("x", "y")


def test_info_says_what_is_done_about_gaps(run: Run, tmp_path: Path, said: Said) -> None:
    (tmp_path / "holes.csv").write_text("a,b,c\n1,,x\n2,3,\n,4,y\n5,6,\n")
    about = json.loads(run("info", "holes.csv", "--json").stdout)
    assert (about["problem"], about["gaps"], about["incomplete_rows"]) == (None, 4, 4)
    heard = run("info", "holes.csv").stdout
    assert "4 cells have no value ('c': 2, 'a': 1, 'b': 1), so that 4 of 4 rows (100.0%) have gaps" in heard
    assert "other ways are --missing drop, level or refuse" in heard
    said(run("best", "holes.csv", "-q", status=2).stderr)


def test_a_fit_says_that_gaps_are_completed(run: Run, tmp_path: Path, said: Said) -> None:
    (tmp_path / "holes.csv").write_text("a,b,c\n1,,x\n2,3,\n,4,y\n2,3,y\n1,4,x\n2,4,x\n")
    heard = run("fit", "holes.csv", "--score", "bdeu", "--samples", "40", "--seed", "1").stderr
    assert heard.count("3 cells have no value ('a': 1, 'b': 1, 'c': 1), so that 3 of 6 rows (50.0%) have gaps") == 1
    said(heard)


def test_info_of_a_wide_table_is_short_and_says_how_it_is_fitted(run: Run, tmp_path: Path) -> None:
    wide = np.random.default_rng(1).integers(0, 2, (40, 300))
    np.savetxt(tmp_path / "wide.csv", wide, "%d", ",", header=",".join(f"g{i}" for i in range(300)), comments="")
    lines = run("info", "wide.csv").stdout.splitlines()
    assert lines[0] == "Table of 300 columns and 40 rows"
    assert len(lines) < 60
    assert "  and 252 more columns: 252 levels" in lines
    assert lines[-2].endswith("edges sampled, graphs by block-gibbs")
    assert lines[-1].startswith("--score auto: All columns are levels")
    about = json.loads(run("info", "wide.csv", "--json").stdout)
    assert len(about["columns"]) == 300
    assert not about.get("problem")


def test_the_file_that_was_fitted_is_predicted(run: Run, clinic: str, tmp_path: Path, said: Said) -> None:
    run("fit", clinic, "--cut", "systolic=120,140", "--missing", "drop", "--score", "bdeu", *FAST, "-q")
    result = run("predict", "clinic.dagpost", clinic)
    assert np.isfinite(np.array(result.stdout.split(), dtype=float)).all(), "also of rows with gaps"
    assert "not in the model" not in result.stderr
    said(result.stderr, ESTIMATES)
    chances = json.loads(run("predict", "clinic.dagpost", clinic, "--target", "diagnosis", "--json", "-q").stdout)
    found = np.array([row[0] for row in chances["probabilities"]])
    rate = (clinical_frame()["diagnosis"] == chances["levels"][0]).mean()
    assert found.mean() == pytest.approx(rate, abs=0.01)


def test_orders_are_options(run: Run, clinic: str, tmp_path: Path, said: Said) -> None:
    options = (
        "--order",
        "smoking=current<former<never",
        "--unordered",
        "diagnosis",
        "--columns",
        "age,smoking,diagnosis",
    )
    about = json.loads(run("info", clinic, *options, "--json").stdout)
    assert about["gaps"] > 0
    steps = {column["name"]: column for column in about["columns"]}
    assert steps["smoking"]["levels"] == ["current", "former", "never"]
    assert (steps["smoking"]["ordered"], steps["diagnosis"]["ordered"]) == (True, False)
    assert about["score"]["name"] == "additive"
    for wrong, complaint in (
        ("smoking", "--order is written COLUMN=LOWEST<...<HIGHEST"),
        ("smoking=never", "--order is written COLUMN=LOWEST<...<HIGHEST"),
        ("smoke=never<former", "--order names 'smoke', which is not a column"),
        ("smoking=never<former", "--order 'smoking=never < former < current'"),
    ):
        assert complaint in run("fit", clinic, "--order", wrong, *FAST, status=2).stderr
    twice = ("--order", "smoking=a<b", "--order", "smoking=a<b")
    said(run("fit", clinic, *twice, status=2).stderr)
