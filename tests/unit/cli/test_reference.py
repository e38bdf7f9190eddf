"""`dagpost reference`: the cases, what they hold, their files, and how far an answer is from the truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tools.cli_checks import Run, one_message
from tests.tools.wording import Said

from dagpost import reference


def test_the_list_has_every_case_and_is_what_the_group_says_without_a_command(run: Run) -> None:
    lines = run("reference", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["case", *reference.names()]
    assert run("reference").stdout.splitlines() == lines
    iris = next(line for line in lines if line.startswith("iris"))
    assert iris.split()[1:5] == ["5", "150", "discrete", "4"]


def test_the_list_can_be_narrowed_and_is_there_as_json(run: Run, said: Said) -> None:
    found = json.loads(run("reference", "list", "--kind", "discrete", "--tag", "paper", "--json").stdout)
    assert [case["name"] for case in found] == ["tic-tac-toe", "wine"]
    assert found[1]["columns"] == 13
    assert found[1]["rows"] == 178
    message = one_message(run("reference", "list", "--kind", "mixed", "--tag", "paper", status=2))
    said(message)
    said(one_message(run("reference", "list", "--kind", "levels", status=2)))


def test_an_unknown_case_is_refused_with_the_nearest_name(run: Run, said: Said) -> None:
    said(one_message(run("reference", "export", "new", "--case", "irs", status=2)))
    said(one_message(run("reference", "score", "x.csv", "--case", "irs", status=2)))


def test_the_truth_that_was_exported_scores_zero(run: Run, tmp_path: Path, said: Said) -> None:
    told = run("reference", "export", "cases", "--case", "iris", "--case", "mixed-5")
    assert told.stdout == "2 cases: cases\n"
    said(told.stderr)
    assert sorted(path.name for path in (tmp_path / "cases").iterdir() if path.is_dir()) == ["iris", "mixed-5"]
    found = json.loads(run("reference", "score", "cases/iris/edges.csv", "--case", "iris", "--json").stdout)
    assert found["edges_sad"] == 0.0
    assert "SAD" in run("reference", "score", "cases/iris/edges.csv", "--case", "iris").stdout


def test_graphs_with_a_cycle_are_refused_or_dropped_as_told(run: Run, tmp_path: Path, said: Said) -> None:
    a, b, *_ = reference.load("iris").names
    (tmp_path / "mine.csv").write_text(f"edges\n{a}->{b}\n{a}->{b};{b}->{a}\n")
    message = one_message(run("reference", "score", "mine.csv", "--case", "iris", status=2))
    assert f"mine.csv, line 3: the graph has a directed cycle, {a} -> {b} -> {a}." in message
    said(message)
    found = json.loads(run("reference", "score", "mine.csv", "--case", "iris", "--cyclic", "drop", "--json").stdout)
    assert found["dropped"] == 1


def test_the_beginning_of_a_trajectory_can_be_dropped(run: Run, tmp_path: Path, said: Said) -> None:
    first, second, *others = reference.load("iris").names
    named = ";".join(f"{first}->{other}" for other in (second, *others))
    lines = ["index,score,added,removed", f"-2,0,[{named}],[]", f"-1,0,[],[{named}]"]
    lines += ["0,-1,[],[]", f"5,-1,[{first}->{second}],[]", "10,-1,[],[]"]
    (tmp_path / "chain.csv").write_text("\n".join(lines) + "\n")

    def sad(share: str) -> float:
        line = ("reference", "score", "chain.csv", "--case", "iris", "--burn-in", share, "--json")
        return float(json.loads(run(*line).stdout)["edges_sad"])

    exact = float(reference.load("iris").truth.edges.loc[first, second])
    # Without a beginning every graph has the edge, and with it half of them.
    assert sad("0.5") - sad("0") == pytest.approx(abs(1.0 - exact) - abs(0.5 - exact))
    message = one_message(run("reference", "score", "chain.csv", "--case", "iris", "--burn-in", "2", status=2))
    said(message)
