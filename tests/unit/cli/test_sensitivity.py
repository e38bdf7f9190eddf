"""`dagpost fit` and other choices: tried unasked where that is quick, kept in the model, and never in its way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.cli_checks import ESCAPE_CODE, Run, one_message, process
from tests.tools.reference import coronary_of_the_paper
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.posterior import variations

HEAD = "Other choices: equivalent sample size 5, 10; prior uniform, indegree, edge:0.1; score bic"


def undecided(folder: Path, first: str = "a") -> str:
    """A table whose two columns are joined with 0.29 or 0.62, as the equivalent sample size is 1 or 10."""
    rows = "\n".join(
        f"{pair},{times}" for pair, times in zip(("0,0", "0,1", "1,0", "1,1"), (38, 25, 25, 38), strict=True)
    )
    (folder / "table.csv").write_text(f'"{first}",b,n\n{rows}\n')
    return "table.csv"


def test_fit_tries_other_choices_and_keeps_what_it_found(run: Run, tmp_path: Path) -> None:
    result = run("fit", undecided(tmp_path), "--counts", "n", "--ess", "1", "-o", "m")
    assert f"{HEAD}. No pair is joined with at least 0.5; 1 would be under other choices." in result.stdout
    line = next(line for line in result.stdout.splitlines() if line.startswith("  a — b"))
    assert line.split()[3:7] == ["0.29", "0.15", "0.62", "△"]
    assert line.endswith("rises to 0.62 with equivalent sample size 10 (and in 3 more of 6)")
    kept = DagPosterior.load(tmp_path / "m").sensitivity()
    assert kept.summary() in run("info", "m").stdout
    written = json.loads(run("fit", "table.csv", "--counts", "n", "--ess", "1", "--json").stdout)["sensitivity"]
    assert written == kept.to_json()
    run("report", "m", "-o", "r.html")
    assert "rises to 0.62 with equivalent sample size 10" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_user_may_do_without(run: Run, table: str, tmp_path: Path) -> None:
    assert "Other choices" not in run("fit", table, "--no-sensitivity", "-o", "m").stdout
    assert "sensitivity" not in run("info", "m").stdout
    assert json.loads(run("fit", table, "--no-sensitivity", "--json").stdout)["sensitivity"] is None


def test_what_takes_long_is_only_tried_if_asked_for(
    run: Run, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variations, "QUICK_SECONDS", -1.0)
    text = run("fit", table, "--ess", "1", "-o", "m").stdout
    assert "takes 7 more fits, under a second in all. Fit with --sensitivity." in text
    assert "Other choices:" not in text
    run("report", "m", "-o", "r.html")
    assert "need the rows of the table" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Other choices:" in run("fit", table, "-o", "m", "--sensitivity").stdout


def test_estimates_say_why_nothing_is_tried(run: Run, table: str, said: Said) -> None:
    text = run("fit", table, "--method", "bootstrap", "--samples", "20").stdout
    assert "Other choices are tried with exact sums only" in text
    refused = run("fit", table, "--method", "bootstrap", "--samples", "20", "--sensitivity", status=2)
    said(one_message(refused))


def test_ctrl_c_among_the_other_choices_keeps_the_model(
    run: Run, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(variations, "_refitted", interrupt)
    result = run("fit", table, "-o", "m", status=130)
    said(result.stderr)
    assert result.stdout.count("Other choices were not tried to the end.") == 1
    assert DagPosterior.load(tmp_path / "m").exact_
    assert not list(tmp_path.glob("m.*"))


def test_names_are_not_obeyed_and_plain_terminals_get_plain_marks(tmp_path: Path) -> None:
    undecided(tmp_path, first="\x1b[31m変")
    result = process(
        tmp_path, "fit", "table.csv", "--counts", "n", "--ess", "1", environment={"PYTHONIOENCODING": "ascii"}
    )
    assert result.returncode == 0, result.stderr
    assert not ESCAPE_CODE.search(result.stdout + result.stderr)
    line = next(line for line in result.stdout.splitlines() if "rises to" in line)
    assert " -- b" in line
    assert " ^ rises" in line


def coronary(folder: Path) -> str:
    coronary_of_the_paper().to_pandas().to_csv(folder / "coronary.csv", index=False)
    return "coronary.csv"


def test_a_clear_direction_that_hangs_on_a_choice_is_said_to(run: Run, tmp_path: Path) -> None:
    text = run("fit", coronary(tmp_path), "--counts", "counts", "--ess", "5", "--seed", "1", "-o", "m").stdout
    label = "clear: the data compel it (95%), but not under every choice"
    line = next(line for line in text.splitlines() if line.startswith("P. Work"))
    assert line.endswith(label)
    assert "None of 5 clear directions stays clear under every choice." in text
    assert "Clear directions lost: 5 with equivalent sample size 1, " in text
    table = text.split("Other choices: ")[1]
    assert table.splitlines()[1].split() == ["pair", "joined", "lowest", "highest", "clear", "in"]
    (row,) = [line for line in table.splitlines() if line.startswith("  M. Work — P. Work")]
    assert row.endswith("← 4 of 7 ✗  ✓ holds in all 7")
    assert label in run("edges", "m").stdout
    run("report", "m", "-o", "r.html")
    assert label in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert (
        "not under every choice"
        not in run("fit", "coronary.csv", "--counts", "counts", "--ess", "5", "--no-sensitivity", "-o", "n").stdout
    )


def test_without_clear_directions_there_is_no_such_column(run: Run, tmp_path: Path) -> None:
    text = run("fit", coronary(tmp_path), "--counts", "counts", "--ess", "1", "--seed", "1").stdout
    assert "clear in" not in text
    assert "clear direction" not in text
    assert "Other choices: " in text


def test_cut_columns_make_directions_less_reliable_and_that_is_said(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    causes = rng.normal(size=(400, 2))
    frame = pd.DataFrame({"one": causes[:, 0], "two": causes[:, 1]})
    frame["effect"] = causes.sum(axis=1) + 0.3 * rng.normal(size=400)
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    warning = "Directions around cut columns (one, two, effect) are less reliable"
    assert warning in run("fit", "numbers.csv", "-o", "m", "--score", "bdeu", "--no-sensitivity").stdout
    assert warning in run("edges", "m").stdout
    run("report", "m", "-o", "r.html")
    assert warning in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "cut columns" not in run("fit", "numbers.csv", "-o", "n", "--score", "bge").stdout
