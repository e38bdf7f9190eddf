"""Averaging over the equivalent sample size on the command line: how it is asked for, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tools.cli_checks import Run
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior
from dagpost._tools.setting_text import readable_shares


@pytest.mark.parametrize(
    ("asked", "score"),
    [
        (["--ess", "average"], BDeu("average")),
        (["--ess", "1,5,10"], BDeu((1, 5, 10))),
        (["--score", "bdeu:equivalent_sample_size=1>5"], BDeu((1, 5))),
        (["--score", "bdeu:equivalent_sample_size=average"], BDeu("average")),
        (["--score", "bdeu:equivalent_sample_size=5"], BDeu(5)),
    ],
)
def test_sizes_are_asked_for_by_word_or_by_list(
    run: Run, table: str, tmp_path: Path, asked: list[str], score: BDeu
) -> None:
    run("fit", table, *asked, "-o", "m", "-q")
    assert DagPosterior.load(tmp_path / "m").score == score


def test_fit_info_and_report_say_how_probable_each_size_is(run: Run, table: str, tmp_path: Path) -> None:
    asked = ("--ess", "average", "--prior", "uniform")
    shown = run("fit", table, *asked, "-o", "m").stdout
    model = DagPosterior.load(tmp_path / "m")
    weights = model.mixture_weights_
    said = readable_shares(weights.index.tolist(), weights.tolist())
    assert f"Equivalent sample size: {said}.\n" in shown
    assert "Given: BDeu (equivalent sample size 2, 10, 50, 200) score" in shown
    lines = run("info", "m").stdout.splitlines()
    assert next(line for line in lines if line.startswith("equivalent sample size")).split(maxsplit=3)[3] == said
    run("report", "m", "-o", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "BDeu, averaged over the equivalent sample sizes 2, 10, 50 and 200" in page
    assert "averaged over the equivalent sample size, each value weighted by its probability" in page
    assert all(f">{weight:.4f}</td>" in page for weight in weights if 0.001 < weight < 0.999)
    facts = json.loads(run("fit", table, *asked, "--json").stdout)["mixture"]
    axis = {"setting": "equivalent sample size", "values": weights.index.tolist(), "shares": weights.tolist()}
    assert facts == {"settings": [axis], "shares": weights.tolist()}


def test_by_default_sizes_and_densities_are_both_averaged_over_and_said(run: Run, table: str, tmp_path: Path) -> None:
    shown = run("fit", table, "-o", "m").stdout
    weights = DagPosterior.load(tmp_path / "m").mixture_weights_
    about = run("info", "m").stdout
    for setting in ("equivalent sample size", "edge density"):
        own = weights.groupby(level=setting).sum()
        said = readable_shares(own.index.tolist(), own.tolist())
        assert f"{setting.capitalize()}: {said}.\n" in shown
        assert said in next(line for line in about.splitlines() if line.startswith(setting))
    assert "Before the data, any two columns are joined with probability 0." in shown


def test_a_fit_that_averages_over_nothing_says_nothing_of_it(run: Run, table: str, tmp_path: Path) -> None:
    asked = ("--ess", "1", "--prior", "uniform")
    shown = run("fit", table, *asked, "-o", "m").stdout
    assert "Equivalent sample size:" not in shown
    assert "Edge density:" not in shown
    assert json.loads(run("fit", table, *asked, "--json").stdout)["mixture"] is None
    run("report", "m", "-o", "r.html")
    assert 'class="mixture"' not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_best_graphs_of_a_table_are_those_of_the_average(run: Run, table: str, tmp_path: Path) -> None:
    run("fit", table, "--ess", "1,10", "-o", "m", "-q")
    of_table = json.loads(run("best", table, "--ess", "1,10", "-k", "3", "--json").stdout)
    assert of_table == json.loads(run("best", "m", "-k", "3", "--json").stdout)


def test_chains_are_refused_in_the_words_of_the_command_line(run: Run, table: str, said: Said) -> None:
    result = run("fit", table, "--ess", "average", "--method", "partition-mcmc", status=2)
    said(result.stderr)


@pytest.mark.parametrize("asked", [["--method", "block-gibbs:chains=2,burn_in=20"], ["--method", "bootstrap"]])
def test_a_prior_that_is_left_to_us_is_one_density_where_evidence_is_out_of_reach(
    run: Run, table: str, tmp_path: Path, asked: list[str]
) -> None:
    run("fit", table, *asked, "--seed", "1", "-o", "m", "-q")
    # Three columns: one expected parent each is every edge as probable as not.
    assert DagPosterior.load(tmp_path / "m").fitted_.settings["prior"]["probability"] == 0.5
