"""Columns that are not modelled, from the command line: every answer says what it is conditional on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tools.cli_checks import Run
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, Recipe

FAST = ("--score", "bdeu", "--samples", "200", "--seed", "1")
GIVEN = "given Family and Smoking"


@pytest.fixture
def given(tmp_path: Path, coronary: Path) -> str:
    model = DagPosterior(score="bdeu", seed=1, samples=200, exogenous=["Family", "Smoking"])
    model.fit(coronary, counts="counts").save(tmp_path / "given.dagpost")
    return "given.dagpost"


@pytest.fixture
def coronary(tmp_path: Path) -> Path:
    from dagpost import datasets

    datasets.load("coronary").to_pandas().to_csv(tmp_path / "coronary.csv", index=False)
    return tmp_path / "coronary.csv"


def test_a_fit_says_what_it_is_conditional_on(run: Run, coronary: Path, tmp_path: Path) -> None:
    options = ("--counts", "counts", "--exogenous", "Family", "--exogenous", "Smoking", *FAST)
    result = run("fit", coronary.name, *options)
    assert f"(each graph counted once; {GIVEN})" in result.stdout
    assert "Smoking — Family" not in result.stdout
    assert f"All of it {GIVEN}." in " ".join(result.stdout.split())
    model = DagPosterior.load(tmp_path / "coronary.dagpost")
    assert model.exogenous == ["Family", "Smoking"]
    content = json.loads(run("fit", coronary.name, *options, "--no-sensitivity", "--json").stdout)
    assert content["exogenous"] == ["Family", "Smoking"]
    assert not any({pair["from"], pair["to"]} == {"Family", "Smoking"} for pair in content["pairs"])
    assert {pair["direction"] for pair in content["pairs"] if pair["from"] == "Smoking"} == {"rules"}


def test_a_stored_model_says_it_in_every_answer(run: Run, given: str, tmp_path: Path, said: Said) -> None:
    assert GIVEN in run("edges", given).stdout
    about = run("info", given).stdout
    assert "exogenous" in about
    assert f"exact (each graph counted once; {GIVEN})" in about
    answers = run("query", given, "Smoking -> Pressure", "Pressure ~> Smoking").stdout.splitlines()
    assert all(line.endswith(f"{GIVEN})") for line in answers)
    assert answers[1].split()[3] == "0.0000"
    content = json.loads(run("query", given, "Smoking -> Pressure", "--json").stdout)
    assert content[0]["exogenous"] == ["Family", "Smoking"]
    refused = run("query", given, "Smoking -- Family", status=2).stderr
    said(" ".join(refused.split()))
    assert GIVEN in run("best", given, "-k", "2").stdout
    run("sample", given, "-n", "50", "--seed", "1", "-o", "graphs.dagpost")
    assert DagSample.load(tmp_path / "graphs.dagpost").exogenous == ("Family", "Smoking")
    assert GIVEN in run("edges", "graphs.dagpost").stdout
    assert GIVEN in run("info", "graphs.dagpost").stdout
    run("predict", given, "coronary.csv", "--target", "Smoking", status=2)
    assert f"rows, {GIVEN}:" in run("predict", given, "coronary.csv").stderr
    run("report", given, "-o", "given.html")
    page = (tmp_path / "given.html").read_text(encoding="utf-8")
    assert page.count(GIVEN) > 3


def test_best_takes_them_for_tables_only(run: Run, coronary: Path, given: str, said: Said) -> None:
    options = ("--counts", "counts", "--exogenous", "Family,Smoking", "--score", "bdeu", "-k", "2")
    content = json.loads(run("best", coronary.name, *options, "--json").stdout)
    assert content["exogenous"] == ["Family", "Smoking"]
    assert all(child not in ("Family", "Smoking") for graph in content["graphs"] for _, child in graph["edges"])
    refused = run("best", given, "--exogenous", "Family", status=2).stderr
    said(refused)


def test_a_recipe_file_has_a_role_for_a_column_that_fit_takes_over(run: Run, coronary: Path, tmp_path: Path) -> None:
    said = run("info", coronary.name, "--counts", "counts", "--exogenous", "Smoking", "--recipe", "r.toml").stdout
    assert "levels; exogenous" in said
    assert 'role = "exogenous"' in (tmp_path / "r.toml").read_text(encoding="utf-8")
    assert Recipe.load(tmp_path / "r.toml").exogenous == ["Smoking"]
    options = ("--counts", "counts", "--recipe", "r.toml", "--exogenous", "Family", "--no-sensitivity", *FAST)
    assert GIVEN in run("fit", coronary.name, *options).stdout, "the model's own and those of the recipe"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--exogenous", "Smokin"), "'Smokin', but there is no such column. Did you mean 'Smoking'?"),
        (("--exogenous", "A,,B"), "--exogenous takes names of columns, as A,B."),
        (("--exogenous", "Smoking", "--drop", "Smoking"), "--exogenous names the column 'Smoking', which was left out"),
        (("--exogenous", "Smoking", "--required", "Family -> Smoking"), "'Smoking' is exogenous: it is not modelled"),
        (("--columns", "Smoking,Family", "--exogenous", "Smoking,Family"), "nothing is left to model"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(run: Run, coronary: Path, options: tuple[str, ...], said: str) -> None:
    refused = run("fit", coronary.name, "--counts", "counts", *options, *FAST, "-q", status=2).stderr
    assert said in " ".join(refused.split())


def test_exogenous_columns_by_a_pattern(run: Run, coronary: Path, tmp_path: Path, said: Said) -> None:
    options = ("--counts", "counts", "--exogenous", "*. Work,P*")
    run("fit", coronary.name, *options, *FAST, "--no-sensitivity", "-q")
    assert DagPosterior.load(tmp_path / "coronary.dagpost").exogenous == ["M. Work", "P. Work", "Pressure", "Proteins"]
    assert "given 4 exogenous columns" in run("best", coronary.name, *options, "-k", "1", "--score", "bdeu").stdout
    refused = run("fit", coronary.name, "--counts", "counts", "--exogenous", "x*", status=2).stderr
    said(" ".join(refused.split()))


def test_info_on_a_table_plans_with_its_exogenous_columns(run: Run, coronary: Path) -> None:
    costs = json.loads(run("info", coronary.name, "--counts", "counts", "--json").stdout)["costs"]
    fewer = run("info", coronary.name, "--counts", "counts", "--exogenous", "*. Work,P*", "--json").stdout
    assert json.loads(fewer)["costs"][0]["bytes"] < costs[0]["bytes"]


def test_the_next_command_of_a_sample_can_be_answered(run: Run, tmp_path: Path, coronary: Path, said: Said) -> None:
    DagPosterior(score="bdeu", seed=1, samples=200, exogenous=["Smoking", "M. Work"]).fit(
        coronary, counts="counts"
    ).save(tmp_path / "first.dagpost")
    said(run("sample", "first.dagpost", "-n", "20", "-o", "few.dagpost").stderr)
