"""Best graphs, predictions and what files and tables say of themselves."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.cli_checks import Run, write_table, write_wide_table
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.engines.host.backend import HostBackend
from dagpost.exact import structure


def test_best_lists_graphs_with_their_share(run: Run, model: str) -> None:
    found = json.loads(run("best", model, "-k", "3", "--json").stdout)
    assert len(found["graphs"]) == 3
    probabilities = [graph["probability"] for graph in found["graphs"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(found["covered"])
    assert isinstance(found["tied"], bool)
    text = run("best", model, "-k", "2").stdout
    assert text.startswith("1. probability ")
    assert "Together they hold" in text


def test_best_of_a_table_needs_its_scores_only(
    run: Run, table: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run("best", model, "-k", "4", "--json").stdout
    for sums in ("structure_posterior", "family_probabilities"):
        monkeypatch.setattr(HostBackend, sums, lambda *_, **__: pytest.fail("computed the whole posterior"))
    assert json.loads(run("best", table, "--ess", "1", "-k", "4", "--json").stdout) == json.loads(expected)


def test_best_of_a_table_takes_the_settings_of_fit(run: Run, tmp_path: Path) -> None:
    write_table(tmp_path, "counted.csv", n=2)
    settings = ["--counts", "n", "--ess", "4", "--prior", "edge:0.3", "--max-parents", "1", "--forbidden", "A -> B"]
    run("fit", "counted.csv", *settings, "-o", "m", "-q")
    from_model = json.loads(run("best", "m", "-k", "5", "--json").stdout)
    assert json.loads(run("best", "counted.csv", *settings, "-k", "5", "--json").stdout) == from_model
    assert all(["A", "B"] not in graph["edges"] for graph in from_model["graphs"])


@pytest.mark.parametrize("method", ["trees", "given-order", "bootstrap:replicates=5"])
def test_best_says_that_it_speaks_of_all_graphs(method: str, run: Run, table: str, said: Said) -> None:
    run("fit", table, "--method", method, "-o", "m", "-q")
    said(run("best", "m").stderr)


def test_predict_gives_one_line_a_row(run: Run, model: str, table: str, tmp_path: Path) -> None:
    rows = pd.read_csv(tmp_path / table).head(7)
    rows.to_csv(tmp_path / "new.csv", index=False)
    fitted = DagPosterior.load(tmp_path / model)
    shown = [float(line) for line in run("predict", model, "new.csv").stdout.splitlines()]
    assert shown == pytest.approx(fitted.score_samples(rows), abs=1e-6)
    header, *lines = csv.reader(io.StringIO(run("predict", model, "new.csv", "--target", "B").stdout))
    assert header == ["P(B = 0)", "P(B = 1)"]
    chances = fitted.predict_proba(rows, target="B").to_numpy()
    assert [[float(cell) for cell in line] for line in lines] == pytest.approx(chances, abs=1e-6)
    as_json = json.loads(run("predict", model, "new.csv", "--json").stdout)
    assert as_json["log_probability"] == fitted.score_samples(rows).tolist()


def test_predict_gives_mean_and_interval_of_a_number(run: Run, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    kind = generator.integers(0, 2, 40)
    rows = pd.DataFrame({"kind": np.where(kind == 1, "a", "b"), "size": kind + generator.normal(size=40)})
    rows.to_csv(tmp_path / "sizes.csv", index=False)
    run("fit", "sizes.csv", "--score", "conditional-gaussian", "--seed", "1", "-o", "sizes.dagpost", "-q")
    asked = ["predict", "sizes.dagpost", "sizes.csv", "--target", "size", "--confidence", "0.8"]
    header, *lines = csv.reader(io.StringIO(run(*asked).stdout))
    found = DagPosterior.load(tmp_path / "sizes.dagpost").predict_number(rows, target="size", confidence=0.8)
    assert header == ["mean", "sd", "median", "lower", "upper"] == list(found.columns)
    assert [[float(cell) for cell in line] for line in lines] == pytest.approx(found.to_numpy(), rel=1e-5)
    as_json = json.loads(run(*asked, "--json").stdout)
    assert as_json["predictions"] == found.to_numpy().tolist()


def test_predict_leaves_out_what_the_model_does_not_know_and_says_so(
    run: Run, model: str, tmp_path: Path, said: Said
) -> None:
    plain = run("predict", model, write_table(tmp_path)).stdout
    result = run("predict", model, write_table(tmp_path, "counted.csv", n=2))
    assert result.stdout == plain
    said(result.stderr)


def test_predict_takes_interventions_into_account(run: Run, model: str, tmp_path: Path) -> None:
    """A variable that was set has no probability of its own to multiply with."""
    write_table(tmp_path, "set.csv", knocked=["B"] + [None] * 399)
    plain = run("predict", model, write_table(tmp_path)).stdout.splitlines()
    result = run("predict", model, "set.csv", "--interventions", "knocked")
    assert "left out" not in result.stderr
    shown = result.stdout.splitlines()
    assert float(shown[0]) > float(plain[0]) + 0.01
    assert shown[1:] == plain[1:]
    chances = run("predict", model, "set.csv", "--interventions", "knocked", "--target", "A").stdout.splitlines()
    assert len(chances) == 401


def test_info_of_a_model_says_what_is_in_it(run: Run, table: str, tmp_path: Path) -> None:
    run("fit", table, "-o", "m", "--seed", "7", "--ess", "1", "--forbidden", "A -> C", "--prior", "edge:0.2", "-q")
    text = run("info", "m").stdout
    fitted = DagPosterior.load(tmp_path / "m")
    for line in (
        "model file +m, ",
        r"written +20\d\d-\d\d-\d\d \d\d:\d\d by dagpost \d",
        "data +3 variables, 400 observations",
        f"fingerprint +{fitted.fitted_.data.fingerprint}",
        r"score +BDeu \(equivalent sample size 1\.0\)",
        r"prior +edge \(probability 0\.2\)",
        "forbidden +A -> C",
        r"method +exact-layers: independent graphs",
        r"edges +exact \(each graph counted once\); log evidence -\d",
        "samples +30,000 graphs where an answer needs them, seed 7",
        "kept along +its own sample of graphs, what was counted for prediction",
        "  A +whole numbers, 2 values +levels +0, 1",
    ):
        assert re.search(f"^{line}", text, re.MULTILINE), line
    about = json.loads(run("info", "m", "--json").stdout)
    assert about["settings"]["seed"] == 7
    assert about["arrays"]["edges"]["shape"] == [3, 3]


def test_info_of_a_sample_says_where_it_comes_from(run: Run, chained: str) -> None:
    run("sample", chained, "-n", "200", "--seed", "4", "-o", "graphs", "-q")
    text = run("info", "graphs").stdout
    assert re.search(r"^graphs +200$", text, re.MULTILINE)
    assert re.search(r"^method +StructureMCMC \(chains 2, thinning 2, burn in 0, reversals", text, re.MULTILINE)
    assert re.search(r"^chains +2, which --resume continues$", text, re.MULTILINE)
    assert json.loads(run("info", "graphs", "--json").stdout)["provenance"]["seed"] == 4


def test_info_of_a_table_says_what_exact_answers_cost(run: Run, tmp_path: Path) -> None:
    write_wide_table(tmp_path, 30)
    text = run("info", "wide.csv", "--threads", "1", "--max-parents", "2").stdout
    assert "Table of 30 columns and 60 rows" in text
    assert re.search("^  x0 +whole numbers, 2 values +levels +0, 1$", text, re.MULTILINE)
    assert re.search(r"--modularity structure +4 days .*edges sampled, graphs by ", text)
    assert re.search(r"--modularity order +\d+ minutes +8\.6 GB", text)
    costs = json.loads(run("info", "wide.csv", "--threads", "1", "--json").stdout)["costs"]
    assert costs[0]["seconds"] == structure.expected_seconds(30, 1)


def test_continuous_columns_are_shown_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("a,b\n0.5,x\n1.5,y\n0.25,x\n")
    assert re.search(r"a +numbers, 3 values +stays a number *$", run("info", "cells.csv").stdout, re.MULTILINE)
    columns = json.loads(run("info", "cells.csv", "--json").stdout)["columns"]
    assert [(column["use"], column["levels"]) for column in columns] == [("number", None), ("levels", ["x", "y"])]
    assert columns[0]["cuts"] is None
    cut = ("info", "cells.csv", "--discretise", "quantile")
    assert re.search(r"a +numbers, 3 values +cut: 3 quantiles +<", run(*cut).stdout)
    columns = json.loads(run(*cut, "--json").stdout)["columns"]
    assert (columns[0]["use"], len(columns[0]["cuts"])) == ("number", 2)
