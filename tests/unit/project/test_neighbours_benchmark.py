"""The comparison with other programs, run with programs that are made up here."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.journal import Journal
from benchmarks.neighbour_runs import answer_in, run_adapter
from benchmarks.neighbour_tables import markdown, small, whole
from benchmarks.neighbour_tools.registry import POSTERIOR, TOOLS, Way
from benchmarks.neighbours import measured, run_all

from dagpost import long_table, reference

CASE = "discrete-5-few"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="CPU seconds are read from /proc")

ANSWERS_TRUTH = """
import shutil, sys
way, folder, seconds = sys.argv[1:]
assert float(seconds) == 5.0
if way == "crashes":
    raise ValueError("out of luck")
shutil.copy(TRUTH, folder + "/edges.csv")
"""
NEVER_ENDS = """
import sys
with open(sys.argv[2] + "/edges.csv", "w") as file:
    file.write("from,to,probability\\n" + "a,b,1\\n" * (sys.argv[1] == "writes"))
while True:
    pass
"""


def a_tool(folder: Path) -> SimpleNamespace:
    case = reference.load(CASE)
    long_table(case.truth.edges).to_csv(folder / "truth.csv", index=False)
    script = folder / "use_fake.py"
    script.write_text(ANSWERS_TRUTH.replace("TRUTH", repr(str(folder / "truth.csv"))))
    ways = tuple(Way(name, POSTERIOR, "the case's score") for name in ("tells the truth", "crashes"))
    ways += (Way("numbers only", POSTERIOR, "BGe", ("gaussian",)),)
    return SimpleNamespace(name="fake", package="fake", script=script, ways=ways, cannot="think for itself")


def test_a_program_that_tells_the_truth_gets_no_error_and_one_that_crashes_is_named(tmp_path: Path) -> None:
    tool = a_tool(tmp_path)
    journal = Journal(tmp_path / "runs.jsonl", {"seconds": 5.0})
    for _ in range(2):  # the second time, everything is in the journal
        run_all({"fake": sys.executable}, [CASE], 5.0, tmp_path, journal, (tool,))
    assert len(journal.done) == 2
    rows = measured([CASE], tmp_path, journal, (tool,))
    told, crashed = rows
    assert told["status"] == "answered"
    assert told["mean_error"] < 1e-9
    assert told["largest_error"] < 1e-9
    # Looked at from time to time: of what ends at once, only its first pages may have been seen.
    assert told["peak_mb"] > 0
    assert crashed["status"] == "failed: ValueError: out of luck"
    assert "mean_error" not in crashed
    text = markdown(rows, {"fake": "1.0"}, [CASE], (tool,))
    assert "| fake | tells the truth | the case's score | 1 of 1 | 0 | 0 |  | all |" in text
    assert "| fake: crashes | failed |" in text
    assert "| fake | 1.0 | think for itself |" in text


def test_the_task_has_the_table_and_the_scores_of_the_case(tmp_path: Path) -> None:
    tool = a_tool(tmp_path)
    run_all({"fake": sys.executable}, [CASE], 5.0, tmp_path, Journal(tmp_path / "runs.jsonl", {}), (tool,))
    folder = tmp_path / CASE / "fake--tells-the-truth"
    case = reference.load(CASE)
    values = np.loadtxt(folder / "table.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(values, case.table.codes().T)
    assert (folder / "scores.jkl").read_text().startswith(f"{len(case.names)}\n")


@pytest.mark.parametrize(("way", "status"), [("writes", "stopped"), ("is silent", "no answer in time")])
def test_who_does_not_end_is_stopped_and_what_was_written_counts(tmp_path: Path, way: str, status: str) -> None:
    script = tmp_path / "never.py"
    script.write_text(NEVER_ENDS)
    found = run_adapter(sys.executable, script, way, tmp_path, 0.1, grace=0.1)
    assert found["status"] == status
    assert found["cpu_seconds"] >= 0.2
    assert (answer_in(tmp_path) is not None) == (status == "stopped")


def test_every_program_has_its_adapter_with_all_its_ways() -> None:
    for tool in TOOLS:
        text = tool.script.read_text(encoding="utf-8")
        assert all(part in text for way in tool.ways for part in way.name.split(", ") if part not in way.answers)


def test_figures_are_short() -> None:
    assert [small(value) for value in (0.0, 1e-9, 2e-5, 0.01234)] == ["0", "0", "2e-05", "0.0123"]
    assert [whole(value) for value in (float("inf"), 12_345.6, 3.21)] == ["all", "12,346", "3.2"]
