"""Shards of the tests make up all of them, and a benchmark that fails, or lacks what it needs, is told of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import quick

PROJECT = Path(__file__).resolve().parents[3]
#: A short file to divide.
FILE = "tests/unit/families/test_numbering.py"


def collected(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", FILE, *options]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def names_in(*options: str) -> list[str]:
    return [line for line in collected(*options).stdout.splitlines() if "::" in line]


def test_every_test_is_in_one_of_three_shards() -> None:
    shards = [names_in("--shard", f"{number}/3") for number in (1, 2, 3)]
    assert sorted(name for shard in shards for name in shard) == sorted(names_in())
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_shard_that_is_none_is_refused() -> None:
    assert "'--shard' must be like 1/3, the first of three. Got '4/3'." in collected("--shard", "4/3").stderr


def test_what_runs_what_fails_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(quick, "SMALLEST", {**quick.SMALLEST, "plans": "--nonsense"})
    monkeypatch.setattr(quick, "NEEDS", {"sachs": "nowhere"})
    monkeypatch.setattr(sys, "argv", ["quick", "networks", "plans", "sachs"])
    assert quick.main() == 1
    runs, fails, *output, misses, last = capsys.readouterr().out.splitlines()
    assert runs.endswith("ran")
    assert fails.endswith("FAILED: exit status 2")
    assert any("unrecognized arguments: --nonsense" in line for line in output)
    assert misses.endswith("skipped, only imported: nowhere is not there")
    assert last.startswith("2 of 3 are well")
    assert last.endswith("plans")
