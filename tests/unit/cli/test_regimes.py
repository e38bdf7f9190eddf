"""Experiments whose targets are unknown, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.cli_checks import Run
from tests.tools.wording import Said

from dagpost import DagPosterior, Regimes

FAST = ("--score", "bdeu", "--samples", "200", "--seed", "1", "--no-sensitivity")


@pytest.fixture
def cells(tmp_path: Path) -> str:
    """Three conditions, of which the inhibitor changes the kinase."""
    generator = np.random.default_rng(3)
    condition = np.repeat(["control", "inhibitor", "<medium>"], 100)
    kinase = np.where(condition == "inhibitor", generator.random(300) < 0.1, generator.random(300) < 0.6)
    substrate = np.where(generator.random(300) < 0.85, kinase, ~kinase)
    frame = pd.DataFrame({"condition": condition, "kinase": kinase, "substrate": substrate})
    frame.to_csv(tmp_path / "cells.csv", index=False)
    return "cells.csv"


def test_a_fit_says_what_each_regime_changed(run: Run, cells: str, tmp_path: Path) -> None:
    result = run("fit", cells, "--regimes", "condition", "--reference", "control", *FAST)
    said = " ".join(result.stdout.split())
    assert "Which variables did each regime change (probability; the reference is control)?" in said
    assert "inhibitor changed kinase (1.00)" in said
    assert "<medium> probably changed none" in said
    assert "at most 1 parent and 2 regimes a variable" in said
    model = DagPosterior.load(tmp_path / "cells.dagpost")
    assert model.regimes == Regimes("condition", "control")
    content = json.loads(run("edges", "cells.dagpost", "--json").stdout)
    assert content["regimes"]["reference"] == "control"
    assert content["regimes"]["changed"][0]["variable"] == "kinase"
    assert "inhibitor changed kinase" in run("edges", "cells.dagpost").stdout
    assert "1.0000" in run("query", "cells.dagpost", '"condition=inhibitor" -> kinase').stdout


def test_a_report_has_a_table_of_the_regimes(run: Run, cells: str, tmp_path: Path) -> None:
    settings = ("--expected-targets", "0.5", "--max-regimes", "1")
    run("fit", cells, "--regimes", "condition", "--reference", "control", *settings, *FAST)
    run("report", "cells.dagpost", "-o", "cells.html")
    page = (tmp_path / "cells.html").read_text(encoding="utf-8")
    assert '<section id="regimes">' in page
    assert "<medium>" not in page
    assert "Eaton, D." in page
    assert "beside the regimes" in " ".join(page.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--regimes", "conditions"), "--regimes names 'conditions', which is not a column. Did you mean 'condition'?"),
        (("--regimes", "condition", "--reference", "none"), "The reference 'none' is not a regime"),
        (("--reference", "control"), "--reference is about regimes"),
        (("--regimes", "condition", "--reference", "control", "--expected-targets", "2"), "must be below their number"),
        (("--regimes", "condition", "--expected-targets", "-1"), "--expected-targets must be a number above 0"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, cells: str, options: tuple[str, ...], words: str) -> None:
    result = run("fit", cells, *options, *FAST, status=2)
    assert words in " ".join(result.stderr.split())


def test_without_a_reference_the_first_row_names_it_and_that_is_said(run: Run, cells: str, said: Said) -> None:
    heard = " ".join(run("fit", cells, "--regimes", "condition", *FAST).stderr.split())
    said(heard)
    assert "--reference names another" in heard


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--interventions", "condition"), "--regimes and --interventions both name the column 'condition'"),
        (("--drop", "condition"), "--regimes names the column 'condition', which was left out (dropped as asked)"),
        (("--exogenous", "condition"), "which names the regimes: each has an indicator, such as 'condition=<medium>'"),
    ],
)
def test_the_column_of_regimes_has_no_other_use(run: Run, cells: str, options: tuple[str, ...], words: str) -> None:
    said = run("fit", cells, "--regimes", "condition", "-q", *options, *FAST, status=2).stderr
    assert words in " ".join(said.split())
