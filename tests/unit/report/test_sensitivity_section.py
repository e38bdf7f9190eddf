"""The section on other choices: the numbers of the model, marks in words, and names that stay text."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.tools.reference import coronary_of_the_paper
from tests.tools.report_page import written

from dagpost import BDeu, CustomPrior, DagPosterior, datasets
from dagpost.posterior import variations
from dagpost.report import sensitivity_table
from dagpost.report.content import gather
from dagpost.report.sensitivity_table import sensitivity_section


def test_the_section_says_what_does_not_survive(tmp_path: Path) -> None:
    model = DagPosterior(BDeu(1), prior="uniform", samples=500, seed=1).fit(coronary_of_the_paper())
    words = written(model, tmp_path).sections["choices"]
    assert model.sensitivity().summary() in words
    assert "Smoking — Pressure✗ falls to 0.47 with prior edge:0.1" in words
    assert "0.890.890.950.840.660.470.850.89" in words
    assert "M. Work — P. Work" not in words, "what holds is counted, not listed"
    assert f"Tried: {model.sensitivity().choices()}." in words


def test_names_stay_text() -> None:
    table = pd.DataFrame({"<i>a": [0, 0, 1, 1], "{{title}}": [0, 1, 0, 1], "n": [35, 25, 25, 35]})
    section = sensitivity_section(gather(DagPosterior(BDeu(1), prior="uniform").fit(table, counts="n").fitted_))
    assert "<i>" not in section
    assert "&lt;i&gt;a" in section


def test_a_model_that_was_not_tried_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = DagPosterior(BDeu(1), prior="uniform", samples=500, seed=1).fit(datasets.load("coronary"))
    monkeypatch.setattr(variations, "QUICK_SECONDS", -1.0)
    words = written(model, tmp_path).sections["choices"]
    assert "takes 7 more fits" in words
    assert "Call model.sensitivity(), or fit with --sensitivity in a terminal." in words


def test_a_function_of_the_users_is_not_called_unasked(tmp_path: Path) -> None:
    calls: list[str] = []

    def flat(child: str, parents: frozenset[str]) -> float:
        calls.append(child)
        return -0.1 * len(parents)

    model = DagPosterior(BDeu(1), CustomPrior(flat), samples=500, seed=1).fit(datasets.load("coronary"))
    asked = len(calls)
    assert "takes 8 more fits. Call model.sensitivity()" in written(model, tmp_path).sections["choices"]
    assert len(calls) == asked > 0
    model.sensitivity()
    assert "hold under each of 8 other choices" in written(model, tmp_path).sections["choices"]


def test_a_sample_does_not_say(tmp_path: Path) -> None:
    sample = DagPosterior(score="bdeu").fit(datasets.load("coronary")).sample(200, seed=1)
    assert "A sample of graphs does not say" in written(sample, tmp_path).sections["choices"]


def test_what_changes_is_listed_and_of_many_some(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = pd.DataFrame({f"x{place}": [place % 2, 0, 1, 1] * 30 for place in range(9)})
    model = DagPosterior(score="bdeu", max_parents=2, samples=300, seed=1).fit(chain)
    content, changing = gather(model.fitted_), len(model.sensitivity().changing())
    assert 3 < changing < len(model.sensitivity().pairs())
    assert sensitivity_section(content).count('<th scope="row">') == changing
    monkeypatch.setattr(sensitivity_table, "_MOST_ROWS", 3)
    section = sensitivity_section(content)
    assert section.count('<th scope="row">') == 3
    assert f"{changing - 3} more pairs that change are not listed" in section


def test_clear_directions_that_are_lost_are_marked_wherever_they_stand(tmp_path: Path) -> None:
    model = DagPosterior(BDeu(5), prior="uniform", seed=1).fit(coronary_of_the_paper())
    page = written(model, tmp_path)
    words = page.sections["choices"]
    assert "And of its direction" in words
    assert "✗ ← stays clear in 4 of 7; open with equivalent sample size 1" in words
    assert "None of 5 clear directions stays clear under every choice." in words
    assert model.sensitivity().directions_lost() in words
    assert page.sections["pairs"].count("%), but not under every choice") == 5
    assert page.words.count("None of 5 clear directions stays clear under every choice.") == 2


def test_a_model_without_directions_has_no_column_for_them() -> None:
    two = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [35, 25, 25, 35]})
    section = sensitivity_section(
        gather(DagPosterior(BDeu(1), prior="uniform", tiers=[["a"], ["b"]]).fit(two, counts="n").fitted_)
    )
    assert "What becomes of it" in section
    assert "direction" not in section
