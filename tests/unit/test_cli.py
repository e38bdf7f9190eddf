"""The command line: what it prints, where, and with which exit status."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dagpost import DagPosterior, DagSample, __version__, datasets
from dagpost.cli import app

COMMAND = [sys.executable, "-m", "dagpost.cli"]
ESCAPE_CODE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder; whatever is no error of ours comes out as it is."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, status: int = 0, standard_input: str | None = None) -> Any:
        result = CliRunner().invoke(app, arguments, input=standard_input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    return call


def write_table(folder: Path, name: str = "table.csv", **columns: Any) -> str:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"A": a, "B": a ^ (rng.random(400) < 0.1), "C": rng.integers(0, 2, 400)}).assign(**columns)
    frame.astype({"B": int}).to_csv(folder / name, index=False)
    return name


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write_table(tmp_path)


@pytest.fixture
def model(tmp_path: Path, table: str) -> str:
    DagPosterior(seed=1, samples=500).fit(tmp_path / table).save(tmp_path / "model.dagpost")
    return "model.dagpost"


def one_message(result: Any) -> str:
    """The complaint of a command that failed: on standard error, by name, with nothing that a terminal obeys."""
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith("dagpost: ")
    assert "Traceback" not in result.stderr
    assert not ESCAPE_CODE.search(result.stderr)
    return str(result.stderr)


# Commands


def test_help_lists_every_command_and_each_explains_itself(run: Run) -> None:
    text = run("--help").stdout
    for command in ("fit", "edges", "sample", "query", "demo"):
        assert re.search(rf"^  {command} +\S", text, re.MULTILINE)
        assert "Example: dagpost" in run(command, "--help").stdout


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").stdout == f"dagpost {__version__}\n"


def test_demo_shows_the_edges_of_the_bundled_study(run: Run) -> None:
    text = run("demo").stdout
    assert "1,841" in text
    assert re.search(r"M\. Work +-> +Proteins +0\.8348", text)
    assert "(exact; each graph counted once)" in text
    assert "Next: dagpost fit" in text
    shown = json.loads(run("demo", "--json").stdout)
    assert shown["log_evidence"] == pytest.approx(-6727.99768, abs=1e-4)


def test_fit_shows_edges_and_keeps_the_model(run: Run, table: str, tmp_path: Path) -> None:
    result = run("fit", table, "-o", "kept.dagpost", "--seed", "1", "--threads", "1")
    assert re.search(r"A +-> +B +0\.\d{4}", result.stdout)
    assert "Model: kept.dagpost" in result.stdout
    assert "Exact (each graph counted once)" in result.stdout
    assert "Next: dagpost query kept.dagpost" in result.stderr
    assert not ESCAPE_CODE.search(result.stdout)
    kept = DagPosterior.load(tmp_path / "kept.dagpost")
    assert kept.log_evidence_ == DagPosterior().fit(tmp_path / table).log_evidence_
    assert kept.seed == 1


def test_the_command_that_fit_suggests_works(run: Run, tmp_path: Path) -> None:
    """The first two names stand in it, quoted for the shell and for the language."""
    table = write_table(tmp_path, "odd.csv")
    frame = pd.read_csv(tmp_path / table).rename(columns={"A": 'M. "Work"', "B": "it's"})
    frame.to_csv(tmp_path / table, index=False)
    hint = run("fit", table, "-o", "m").stderr.strip().splitlines()[-1]
    command = shlex.split(hint.removeprefix("Next: "))
    assert command[0] == "dagpost"
    assert "exact" in run(*command[1:]).stdout


def test_all_settings_of_fit_reach_the_model(run: Run, table: str, tmp_path: Path) -> None:
    settings = ["--score", "bdeu", "--ess", "5", "--prior", "edge:0.2", "--modularity", "order", "--max-parents", "1"]
    more = ["--samples", "77", "--required", "A -> B", "--forbidden", "C -> A", "--method", "dds", "--seed", "9"]
    run("fit", table, "-o", "m", "--quiet", *settings, *more)
    found = DagPosterior.load(tmp_path / "m").get_params()
    assert found["score"].equivalent_sample_size == 5.0
    assert found["prior"].probability == 0.2
    assert (found["modularity"], found["max_parents"], found["samples"]) == ("order", 1, 77)
    assert (found["method"], found["seed"]) == ("dds", 9)
    assert [list(edge) for edge in found["required"]] == [["A", "B"]]
    assert [list(edge) for edge in found["forbidden"]] == [["C", "A"]]


@pytest.mark.parametrize("command", ["fit", "edges", "demo"])
def test_json_holds_all_edges(command: str, run: Run, table: str, model: str) -> None:
    source = {"fit": [table], "edges": [model], "demo": []}[command]
    result = run(command, *source, "--json")
    shown = json.loads(result.stdout)
    assert result.stderr == ""
    names = shown["names"]
    assert len(shown["edges"]) == len(names) * (len(names) - 1)
    assert (shown["modularity"], shown["exact"], shown["method"]) == ("structure", True, "exact-layers")
    probabilities = [edge["probability"] for edge in shown["edges"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(0.0 <= probability <= 1.0 for probability in probabilities)


def test_edges_are_those_of_the_model(run: Run, model: str, tmp_path: Path) -> None:
    expected = DagPosterior.load(tmp_path / model).edge_probabilities_
    for edge in json.loads(run("edges", model, "--json").stdout)["edges"]:
        assert edge["probability"] == expected.loc[edge["parent"], edge["child"]]
    likely = json.loads(run("edges", model, "--json", "--minimum", "0.3").stdout)["edges"]
    assert {edge["parent"] + edge["child"] for edge in likely} == {"AB", "BA"}
    text = run("edges", model, "--minimum", "0.3").stdout
    assert re.search(r"\(\d edges below 0\.3 not shown\)", text)


def test_counts_interventions_and_discretise_are_understood(run: Run, tmp_path: Path) -> None:
    counted = write_table(tmp_path, "counted.csv", n=2)
    assert json.loads(run("fit", counted, "--counts", "n", "--json").stdout)["names"] == ["A", "B", "C"]
    set_ = write_table(tmp_path, "set.csv", target="B")
    assert json.loads(run("fit", set_, "--interventions", "target", "--json").stdout)["names"] == ["A", "B", "C"]
    numbers = write_table(tmp_path, "numbers.csv", C=np.random.default_rng(0).normal(size=400))
    names = json.loads(run("fit", numbers, "--discretise", "quantile", "--bins", "2", "--json").stdout)["names"]
    assert names == ["A", "B", "C"]


def test_a_dash_reads_standard_input(run: Run, table: str, tmp_path: Path) -> None:
    text = (tmp_path / table).read_text()
    assert run("fit", "-", "--json", standard_input=text).stdout == run("fit", table, "--json").stdout


def test_sample_keeps_graphs_and_says_what_they_are_worth(run: Run, model: str, tmp_path: Path) -> None:
    shown = json.loads(run("sample", model, "-n", "200", "--seed", "4", "-o", "graphs", "--json").stdout)
    drawn = DagSample.load(tmp_path / "graphs")
    assert (shown["graphs"], shown["distinct"], shown["sample"]) == (200, len(drawn.unique()), "graphs")
    assert (shown["method"], shown["independent"]) == ("exact-layers", True)
    assert drawn == DagPosterior.load(tmp_path / model).sample(200, seed=4)
    result = run("sample", model, "--precision", "0.1", "--confidence", "0.9", "-o", "graphs")
    assert "DagSample of 150 independent graphs" in result.stdout
    assert "Next: dagpost query graphs" in result.stderr


def test_query_answers_from_a_model_and_from_a_sample(run: Run, model: str, tmp_path: Path) -> None:
    run("sample", model, "-n", "200", "--seed", "4", "-o", "graphs")
    statements = ["A ~> B", "P(A -> B | B ~> C)", "A -> C <- B"]
    for source, load in ((model, DagPosterior.load), ("graphs", DagSample.load)):
        shown = json.loads(run("query", source, *statements, "--json").stdout)
        expected = load(tmp_path / source).probability(statements)
        assert [answer.pop("statement") for answer in shown] == statements
        assert shown == [estimate.as_dict() for estimate in expected]
        lines = run("query", source, *statements).stdout.splitlines()
        assert [line[: max(map(len, statements))].strip() for line in lines] == statements
        assert all(line.endswith("each graph counted once)") for line in lines)


def test_a_condition_that_never_occurred_is_null(run: Run, model: str) -> None:
    (answer,) = json.loads(run("query", model, "P(A -> B | B -> A & A -> B)", "--json").stdout)
    assert answer["value"] is None
    assert answer["rule"] == "the condition is impossible"


# Complaints


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "missing.csv"], r"missing\.csv: there is no such file"),
        (["fit", "."], r"\.: is a folder"),
        (["fit", "table.csv", "--score", "magic"], r"'score' must be one of 'bdeu'.*Got 'magic'"),
        (["fit", "table.csv", "--ess", "-1"], r"'equivalent_sample_size'.*Got -1\.0"),
        (["fit", "table.csv", "--ess", "nan"], r"'equivalent_sample_size'.*Got nan"),
        (["fit", "table.csv", "--prior", "magic"], r"'prior' must be.*Got 'magic'"),
        (["fit", "table.csv", "--prior", "edge:2"], r"edge:P with P between 0 and 1\. Got 'edge:2'"),
        (["fit", "table.csv", "--modularity", "both"], r"'modularity'.*Got 'both'"),
        (["fit", "table.csv", "--method", "dds"], r"Set modularity='order'"),
        (["fit", "table.csv", "--max-parents", "99"], r"'max_parents'.*Got 99"),
        (["fit", "table.csv", "--samples", "0"], r"'samples'.*Got 0"),
        (["fit", "table.csv", "--threads", "0"], r"'threads'.*Got 0"),
        (["fit", "table.csv", "--seed", "-3"], r"'seed'.*Got -3"),
        (["fit", "table.csv", "--counts", "n"], r"names the column 'n', which is not there"),
        (["fit", "table.csv", "--required", "A > B"], r'An edge is written "A -> B"\. Got \'A > B\''),
        (["fit", "table.csv", "--required", "A -> Z"], r"there is no column 'Z'"),
        (["fit", "table.csv", "--discretise", "magic"], r"'strategy'.*Got 'magic'"),
        (["fit", "table.csv", "-o", "nowhere/m"], r"There is no folder 'nowhere'"),
        (["edges", "missing"], r"There is no file 'missing'"),
        (["edges", "table.csv"], r"'table\.csv' is not a dagpost file"),
        (["sample", "model.dagpost", "-n", "0", "-o", "x"], r"'count'.*Got 0"),
        (["sample", "model.dagpost", "-n", "5", "--seed", "-1", "-o", "x"], r"'seed'.*Got -1"),
        (["sample", "model.dagpost", "-n", "5", "--precision", "0.1", "-o", "x"], r"not for both"),
        (["sample", "model.dagpost", "-n", "99999999999999", "-o", "x"], r"memory"),
        (["sample", "model.dagpost", "-n", "5", "-o", "nowhere/x"], r"There is no folder 'nowhere'"),
        (
            ["query", "model.dagpost", "A ~> Bee"],
            r"There is no variable 'Bee'\..*\n  A ~> Bee\n       \^",
        ),
        (["query", "model.dagpost", "A ~>"], r"Expected a variable, but the text ends here"),
        (["query", "model.dagpost", "A -> B", "--confidence", "95"], r"'confidence'.*Got 95"),
        (["query", "table.csv", "A -> B"], r"is not a dagpost file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_one_readable_message_and_status_2(
    arguments: list[str], message: str, run: Run, model: str, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    assert re.search(message, one_message(run(*arguments, status=2)))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A,B\n1,\n2,3\n", "Missing values.*'B' has 1"),
        ("A,B\n1,nan\n2,3\n", "Missing values.*'B' has 1"),
        ("A,A\n1,2\n2,3\n", "'A'"),
        ("A,B\n1.5,0.2\n2.5,3.1\n0.3,0.4\n", "continuous"),
        ("A\n1\n2\n", "only one column"),
        ("A,B\n", "empty"),
        ("", "empty"),
        ("A,B\n1,2,3\n", "row|line"),
        ("A,B\n1,x\x00y\n", ""),
    ],
)
def test_bad_tables_are_one_readable_message_and_status_2(text: str, message: str, run: Run) -> None:
    assert re.search(message, one_message(run("fit", "-", "-o", "m", status=2, standard_input=text)))
    assert not Path("m").exists()


@pytest.mark.parametrize("command", [["fit", "table.csv"], ["sample", "model.dagpost", "-n", "5"]])
def test_a_folder_in_the_place_of_the_result_is_refused_before_the_work(
    command: list[str], run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    for work in ("fit", "sample"):
        monkeypatch.setattr(DagPosterior, work, lambda *_, **__: pytest.fail("worked in vain"))
    assert "folder" in one_message(run(*command, "-o", "folder", status=2))


def test_a_model_is_not_taken_for_a_sample_nor_the_other_way(run: Run, model: str) -> None:
    run("sample", model, "-n", "5", "--seed", "1", "-o", "graphs")
    assert "is a dagpost sample file; a model file is needed" in one_message(run("edges", "graphs", status=2))
    assert "a model file is needed" in one_message(run("sample", "graphs", "-n", "5", "-o", "x", status=2))


def test_what_is_no_command_or_option_is_status_2(run: Run, model: str) -> None:
    for arguments in (
        ["magic"],
        ["fit"],
        ["query", model],
        ["sample", model, "-n", "5"],
        ["fit", "table.csv", "--magic"],
    ):
        result = run(*arguments, status=2)
        assert "Traceback" not in result.stderr


def test_names_from_the_data_are_shown_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    frame = pd.read_csv(tmp_path / write_table(tmp_path))
    frame.columns = ["a\x1b[31mred", "b [bold]x[/bold]", "c\x07%s{0}"]
    frame.to_csv(tmp_path / "odd.csv", index=False)
    for result in (
        run("fit", "odd.csv", "-o", "m"),
        run("edges", "m"),
        run("query", "m", '"a\x1b[31mred" ~> "b [bold]x[/bold]"'),
        run("query", "m", "zz -> a", status=2),
        run("query", "m", "\x1b[31m", status=2),
        run("fit", "odd.csv", "--counts", "zz", status=2),
    ):
        assert not ESCAPE_CODE.search(result.stdout + result.stderr)
    assert "a\\x1b[31mred" in run("edges", "m").stdout
    assert "b [bold]x[/bold]" in run("edges", "m").stdout
    shown = run("edges", "m", "--json").stdout
    assert not ESCAPE_CODE.search(shown)
    assert json.loads(shown)["names"] == list(frame.columns)


def test_a_remark_about_the_table_is_a_message_without_source_code(tmp_path: Path) -> None:
    write_table(tmp_path, C=1)
    result = subprocess.run([*COMMAND, "fit", "table.csv"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Column 'C' is constant" in result.stderr
    assert ".py" not in result.stderr
    quiet = subprocess.run(
        [*COMMAND, "fit", "table.csv", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert quiet.stderr == ""


# As a process


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_long_run_soon_with_status_130_and_no_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 22)), columns=[f"x{number}" for number in range(22)])
    frame.to_csv(tmp_path / "wide.csv", index=False)
    process = subprocess.Popen(
        [*COMMAND, "fit", "wide.csv", "-o", "m", "--max-parents", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        announced = process.stderr.readline()
        assert re.search(r"22 variables, 60 observations: .* take about \d+ \w+ and \d", announced)
        time.sleep(1.5)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        assert time.monotonic() - asked < 5.0
    finally:
        process.kill()
    assert (process.returncode, output) == (130, "")
    assert errors.splitlines()[-1] == "dagpost: interrupted."
    assert [path.name for path in tmp_path.iterdir()] == ["wide.csv"]


@pytest.mark.skipif(os.name != "posix", reason="runs a shell")
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    DagPosterior().fit(datasets.load("coronary")).save(tmp_path / "m")
    command = " ".join([*COMMAND, "edges", "m", "--json"])
    result = subprocess.run(
        ["bash", "-c", f"({command}; echo status $? >&2) | true"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == "status 0\n"


def test_best_lists_graphs_of_a_model_and_of_a_table(run: Run, model: str, tmp_path: Path) -> None:
    from_model = run("best", model, "-k", "3", "--json")
    found = json.loads(from_model.stdout)
    assert len(found["graphs"]) == 3
    probabilities = [graph["probability"] for graph in found["graphs"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(found["covered"])
    assert isinstance(found["tied"], bool)
    text = run("best", model, "-k", "2").stdout
    assert text.startswith("1. probability ")
    assert "Together they hold" in text
