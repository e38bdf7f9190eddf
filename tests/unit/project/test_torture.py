"""The hostile campaigns: a few fixed cases of each go well, and what goes wrong is found, made small and shown."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from torture import commands, names, oracle, queries, tables
from torture.__main__ import main
from torture.campaign import Campaign
from torture.cases import run_one
from torture.choices import Choices
from torture.registry import MODULES, campaigns

PROJECT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("campaign", "seeds"),
    [
        (tables.CAMPAIGN, range(15)),
        (queries.CAMPAIGN, range(12)),
        (commands.CAMPAIGN, range(8)),
        (names.CAMPAIGN, range(8)),
    ],
    ids=lambda value: value.name if isinstance(value, Campaign) else "",
)
def test_a_few_cases_of_each_campaign_go_well(campaign: Campaign, seeds: range, tmp_path: Path) -> None:
    outcomes = [run_one(campaign, seed, place=tmp_path) for seed in seeds]
    assert [outcome.finding.text for outcome in outcomes if outcome.finding is not None] == []
    assert sum(outcome.checks for outcome in outcomes) >= len(seeds)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_cases_run_in_processes_of_their_own() -> None:
    done = run("-m", "torture", "--only", "kills,resources", "--cases", "1", "--seed", "4", "--minimise", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows if row[0] in {"kills", "resources"}] == [["kills", "1"], ["resources", "1"]]
    assert rows[-1] == ["Seed", "4.", "No", "defects."]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=PROJECT, capture_output=True, text=True, check=False, timeout=600
    )


def test_a_posterior_that_counts_otherwise_than_the_oracle_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(oracle, "orders", lambda _: 1)
    found = [run_one(tables.CAMPAIGN, seed, place=tmp_path).finding for seed in range(8)]
    assert any(finding is not None and finding.kind.startswith("The log evidence") for finding in found)


def test_the_oracle_knows_what_is_printed_in_books() -> None:
    assert [len(oracle.graphs(nodes)) for nodes in (1, 2, 3, 4)] == [1, 3, 25, 543]
    chain = (frozenset[int](), frozenset({0}), frozenset({1}))
    fork = (frozenset({1}), frozenset[int](), frozenset({1}))
    assert [oracle.orders(graph) for graph in (chain, fork, (frozenset[int](),) * 3)] == [1, 2, 6]
    rows = oracle.Rows(((0.0, 0.0), (0.0, 1.0), (1.0, 1.0)), (2, 2), (1, 1, 1), (frozenset(),) * 3)
    # Two of one level and one of the other, uniform prior: 2! 1! / 4!, which is 1/12.
    assert math.exp(oracle.bde(1.0)(rows, 0, frozenset())) == pytest.approx(1 / 12)
    # Cooper & Herskovits, with the other column as parent: 1/2 for its one row, 1/2 * 1/2 ... by hand 1/2 * 1/6.
    assert math.exp(oracle.bde(1.0)(rows, 0, frozenset({1}))) == pytest.approx(1 / 2 * 1 / 6)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_every_campaign_of_the_registry_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(campaigns()) == len(MODULES)
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(campaigns())
    assert main(["--only", "tabels"]) == 2
    assert "no campaign 'tabels'" in capsys.readouterr().err


def test_choices_repeat_and_end_in_the_simplest() -> None:
    first, second = Choices(7), Choices(7)
    assert [first.integer(0, 99) for _ in range(20)] == [second.integer(0, 99) for _ in range(20)]
    assert sorted(Choices(7).shuffled(range(5))) == list(range(5))


FAULTY = """
import json, os, sys, time
from torture.campaign import Campaign, require
from torture.choices import Choices
from torture.minimise import minimised
from torture.run import Run
from torture.summary import summary_json

def case(seed, folder):
    choices = Choices(seed)
    numbers = [choices.integer(0, 100) for _ in range(choices.integer(0, 20))]
    kind = choices.pick(("good", "good", "wrong", "crash", "hang", "raise"))
    if kind == "crash":
        os.abort()
    if kind == "hang":
        time.sleep(60)
    if kind == "raise":
        raise KeyError("missing")
    require(kind == "good" or sum(numbers) < 50, "The sum is small", numbers)
    return len(numbers)

campaign = Campaign("faulty", "", case, seconds=1)
run = Run([campaign], 3, seconds=60, processes=2, cases=30, minimising=0, show=lambda finding: None)
run.run()
(wrong,) = [finding for kind, finding in run.tallies["faulty"].kinds.items() if kind == "The sum is small"]
print(json.dumps([summary_json(run), minimised(campaign, wrong, 120).command]))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_crashes_hangs_and_broken_laws_are_found_and_made_small(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n{FAULTY}")
    done = run(str(tmp_path / "faulty.py"))
    assert done.returncode == 0, done.stderr
    result, command = json.loads(done.stdout)
    findings = result["campaigns"]["faulty"]["findings"]
    kinds = {finding["kind"] for finding in findings}
    assert kinds >= {"The sum is small", "The process died of SIGABRT", "The case did not end within 1 seconds"}
    assert any(kind.startswith("KeyError at") for kind in kinds)
    assert all(f"--only faulty --case {finding['seed']}" in finding["command"] for finding in findings)
    choices = [int(number) for number in command.partition("--choices ")[2].split(",")]
    assert len(choices) <= 5, "one to three numbers are enough to break the law"
    assert sum(choices[1:-1]) == 50, "and they are just large enough"
