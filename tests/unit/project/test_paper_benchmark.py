"""The command that repeats the paper's tables: its quick form runs, goes on where it stopped, and says what it did."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.paper", "--output", str(folder), *options]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=900)


@pytest.mark.long
def test_the_quick_form_writes_tables_and_pictures_and_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    first = run(tmp_path, "--quick", "--rows", "tictactoe")
    assert first.returncode == 0, first.stderr
    text = (tmp_path / "paper.md").read_text()
    for column in ("PO-MCMC", "DOS", "DDS", "DP+MCMC", "K-best", "IW-DDS", "exact layers"):
        assert column in text
    for picture in ("sad.png", "delta.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    journal = tmp_path / "runs.jsonl"
    lines = journal.read_text().splitlines()
    runs = [json.loads(line) for line in lines]
    assert {entry["column"] for entry in runs} > {"PO-MCMC", "DP+MCMC", "curves"}
    assert all(entry["sad"] >= 0.0 for entry in runs if "sad" in entry)
    # A kill leaves half a line behind, and some runs undone.
    journal.write_text("\n".join([*lines[:-3], lines[-3][:40]]) + "\n")
    second = run(tmp_path, "--quick", "--rows", "tictactoe")
    assert second.returncode == 0, second.stderr
    assert second.stderr.count("tictactoe:") == 3, "only what was missing is done"
    third = run(tmp_path, "--quick", "--rows", "tictactoe")
    assert "tictactoe:" not in third.stderr
    strip = lambda entry: {key: value for key, value in entry.items() if key != "phases"}  # noqa: E731
    again = [json.loads(line) for line in journal.read_text().splitlines() if not line.endswith(lines[-3][20:40])]
    assert sorted(map(str, map(strip, again))) == sorted(map(str, map(strip, runs)))


def test_a_wrong_row_is_refused(tmp_path: Path) -> None:
    refused = run(tmp_path, "--rows", "glas")
    assert refused.returncode == 2
    assert "no row 'glas'" in refused.stderr


@pytest.mark.long
def test_the_papers_figures_come_out_again_on_the_smallest_rows(tmp_path: Path, shared_data: Path) -> None:
    finished = run(tmp_path, "--rows", "tictactoe,glass,wine", "--runs", "3")
    assert finished.returncode == 0, finished.stdout
    assert "All that must agree with the paper does." in finished.stdout
