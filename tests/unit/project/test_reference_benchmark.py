"""The benchmark of our methods on the reference cases: all of them, resumed where it stopped, with the words beside."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from benchmarks import reference_methods
from benchmarks.journal import Journal

from dagpost import reference
from dagpost.methods.registry import METHODS

EFFORT = reference_methods.Effort(graphs=40, listed=10, replicates=5)


def test_every_method_has_a_row_but_the_one_for_tables_with_gaps() -> None:
    ours = [name for name, kind in METHODS.classes().items() if kind.__module__.startswith("dagpost.")]
    assert [*reference_methods.chosen_methods(EFFORT)] == [name for name in ours if name != "augmentation"]


def test_finished_runs_are_not_done_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = reference.load("iris")
    methods = {name: reference_methods.chosen_methods(EFFORT)[name] for name in ("exact-layers", "dds", "kbest")}
    file = tmp_path / "runs.jsonl"
    reference_methods.run_all([case], methods, EFFORT, 2, Journal(file, asdict(EFFORT)))
    lines = file.read_text().splitlines()
    assert len(lines) == 5, "the list of the best graphs is the same in every run"
    capsys.readouterr()
    # A kill leaves half a line behind.
    file.write_text("\n".join([*lines[:-1], lines[-1][:30]]) + "\n")
    journal = Journal(file, asdict(EFFORT))
    reference_methods.run_all([case], methods, EFFORT, 2, journal)
    assert capsys.readouterr().err == "iris: kbest, run 1\n"
    text = reference_methods.report([case], methods, EFFORT, 2, journal)
    assert "| `dds` | another prior (order-modular) |" in text
    assert "| `exact-layers` | the posterior |" in text
    assert text.count("`kbest`") == len(reference_methods.TABLES)
