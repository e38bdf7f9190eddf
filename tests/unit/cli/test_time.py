"""Tables with time on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tools.cli_checks import Run
from tests.tools.wording import Said
from tests.unit.data.test_unroll import PANEL

from dagpost import DagPosterior, unroll

FAST = ("--score", "bge", "--max-parents", "2", "--samples", "200", "--seed", "1", "--no-sensitivity")


@pytest.fixture
def panel(tmp_path: Path) -> str:
    PANEL.drop(columns="sex").to_csv(tmp_path / "panel.csv", index=False)
    return "panel.csv"


def test_a_fit_in_time_says_what_became_of_the_rows_and_shows_folded_edges(
    run: Run, panel: str, tmp_path: Path, said: Said
) -> None:
    result = run("fit", panel, "--time", "week", "--subject", "id", "--lags", "2", *FAST)
    said(result.stderr)
    assert "x[t-1]" not in result.stderr
    assert "x -> x at lag 1" in result.stdout
    assert "given earlier values" in result.stdout
    assert "less probable edges not shown" in result.stdout
    assert "within 2 steps'" in result.stderr
    model = DagPosterior.load(tmp_path / "panel.dagpost")
    expected = DagPosterior("bge", max_parents=2, samples=200, seed=1)
    expected.fit(unroll(PANEL.drop(columns="sex"), time="week", subject="id", lags=2))
    assert model.lagged_edges().equals(expected.lagged_edges())
    listed = run("edges", "panel.dagpost", "--minimum", "0.5").stdout.splitlines()
    assert listed[0].split() == ["edge", "probability"]
    assert all(float(line.split()[-1]) >= 0.5 for line in listed[1:] if " -> " in line)
    content = json.loads(run("edges", "panel.dagpost", "--json").stdout)
    assert len(content["lagged_edges"]) == 24
    assert content["lagged_edges"][0].keys() == {"from", "to", "lag", "probability", "edge"}
    assert "30 subjects" in run("info", "panel.dagpost").stdout
    answers = run("query", "panel.dagpost", "x[t-1] -> y", "x -> y at lag 1", "x ~> z within 2 steps").stdout
    first, second, third = (line.partition("  ")[2].split()[0] for line in answers.splitlines())
    assert first == second
    assert float(third) > 0.9
    run("sample", "panel.dagpost", "-n", "100", "--seed", "1", "-o", "graphs.dagpost")
    assert "at lag 1" in run("edges", "graphs.dagpost").stdout
    assert "30 subjects" in run("info", "graphs.dagpost").stdout


def test_a_wide_table_and_lagged_edges_alone(run: Run, tmp_path: Path, said: Said) -> None:
    wide = PANEL.pivot_table(index="id", columns="week", values=["x", "y"])
    wide.set_axis([f"{column[0]}_w{column[1]}" for column in wide.columns.to_list()], axis=1).to_csv(
        tmp_path / "wide.csv", index=False
    )
    result = run("fit", "wide.csv", "--wide", "{series}_w{time}", "--no-contemporaneous", *FAST)
    said(result.stderr)
    assert " now" not in result.stdout
    assert "x -> y at lag 1" in result.stdout


def test_new_rows_of_a_panel_are_unrolled_and_keep_their_places(run: Run, panel: str, said: Said) -> None:
    run("fit", panel, "--time", "week", "--subject", "id", *FAST)
    result = run("predict", "panel.dagpost", panel)
    logs = result.stdout.splitlines()
    assert len(logs) == len(PANEL)
    assert [log == "nan" for log in logs] == (PANEL["week"] == 0).tolist()
    said(result.stderr)


def test_options_of_time_need_time(run: Run, panel: str, said: Said) -> None:
    said(run("fit", panel, "--subject", "id", status=2).stderr)
    said(run("fit", panel, "--time", "week", status=2).stderr)
    assert "Say which column" not in run("fit", panel, "--time", "when", status=2).stderr
