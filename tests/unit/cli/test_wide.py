"""More than 64 columns on the command line: fitted by rules, and shown in lines that can be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.tools.cli_checks import Run
from tests.tools.wording import Said

from dagpost import DagSample


def test_a_wide_table_is_fitted_shown_drawn_from_and_reported(run: Run, tmp_path: Path, said: Said) -> None:
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 2, (200, 74))
    cells[:, 73] = cells[:, 5] ^ (rng.random(200) < 0.1)
    names = [f"g{place}" for place in range(74)]
    np.savetxt(tmp_path / "wide.csv", cells, "%d", ",", header=",".join(names), comments="")
    given = [word for name in names[:70] for word in ("--exogenous", name)]
    fast = ("--score", "bdeu", "--max-parents", "1", "--samples", "50", "--seed", "1", "--no-sensitivity", "-q")
    run("fit", "wide.csv", *given, *fast, "-o", "wide.dagpost")
    edges = run("edges", "wide.dagpost").stdout
    assert edges.splitlines()[1].split()[:3] == ["g5", "⇒", "g73"]
    assert "pairs below 0.1 not shown)" in edges
    about = run("info", "wide.dagpost").stdout
    assert "g7 and 62 more" in about
    assert len(about.splitlines()) < 80
    run("sample", "wide.dagpost", "-n", "20", "--seed", "1", "-o", "dags.dagpost")
    shown = run("info", "dags.dagpost").stdout
    assert "graphs       20" in shown
    assert "and 10 more (--json lists all)" in shown
    run("report", "wide.dagpost", "-o", "wide.html")
    assert (tmp_path / "wide.html").stat().st_size < 900_000
    said(" ".join(run("predict", "wide.dagpost", "wide.csv", status=2).stderr.split()))


def test_a_wide_table_without_rules_is_fitted_by_chains_that_can_be_resumed(
    run: Run, tmp_path: Path, said: Said
) -> None:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 2, (80, 66))
    cells[:, 65] = cells[:, 5] ^ (rng.random(80) < 0.1)
    names = [f"g{place}" for place in range(66)]
    np.savetxt(tmp_path / "wide.csv", cells, "%d", ",", header=",".join(names), comments="")
    assert "block-gibbs" in run("info", "wide.csv", "--max-parents", "1").stdout
    fast = ("--score", "bdeu", "--max-parents", "1", "--samples", "40", "--seed", "1", "--no-sensitivity", "-q")
    run("fit", "wide.csv", *fast, "--method", "block-gibbs:chains=2,burn_in=20", "-o", "wide.dagpost")
    edges = run("edges", "wide.dagpost").stdout
    assert edges.splitlines()[1].split()[0] == "g5"
    run("sample", "wide.dagpost", "-n", "20", "--seed", "2", "-o", "short")
    run("sample", "wide.dagpost", "-n", "40", "--resume", "short", "-o", "resumed")
    run("sample", "wide.dagpost", "-n", "40", "--seed", "2", "-o", "whole")
    assert DagSample.load(tmp_path / "resumed") == DagSample.load(tmp_path / "whole")
    assert "2, which --resume continues" in run("info", "resumed").stdout
    answers = run("query", "wide.dagpost", "g5 ~> g65", "--json").stdout
    assert "effective draws" in answers
    for asked in (["query", "wide.dagpost", "P(g5 = 1)"], ["effect", "wide.dagpost", "g5", "g65"]):
        said(" ".join(run(*asked, status=2).stderr.split()))
    run("report", "wide.dagpost", "-o", "wide.html")
