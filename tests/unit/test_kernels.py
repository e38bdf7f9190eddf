"""Compiled kernels on disk: several processes at once, and the notice that they are being compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dagpost

NOTICE = "dagpost: compiling its kernels for this machine, once; later runs start at once."

# Small kernels, which the processes come to within moments of each other, and a large one.
RUN = """
import numpy as np
from dagpost.engines import ThreadEngine
from dagpost.exact.order import forward_table
weights = np.arange(25.0).reshape(5, 5) ** 1.1
print(forward_table(weights, 1, engine=ThreadEngine(2)).log_evidence.hex())
"""


def start(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *(path for path in sys.path if path)]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", RUN],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    )


def test_processes_that_start_at_once_on_an_empty_cache_succeed_and_say_that_they_compile(
    tmp_path: Path,
) -> None:
    # A copy of the package: whoever edits the original meanwhile makes no difference.
    shutil.copytree(Path(dagpost.__file__).parent, tmp_path / "dagpost", ignore=shutil.ignore_patterns("__pycache__"))
    processes = [start(tmp_path) for _ in range(3)]
    outcomes = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outcomes
    results = {output for output, _ in outcomes}
    assert len(results) == 1
    for _, errors in outcomes:
        # A process that finds everything compiled by the others has nothing to say.
        assert errors in ("", NOTICE + "\n")
    assert any(errors for _, errors in outcomes)

    kept = {path.suffix for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert kept == {".nbi", ".nbc"}, "something half-written was left behind"
    later = start(tmp_path)
    output, errors = later.communicate(timeout=300)
    assert (later.returncode, errors) == (0, ""), "a later run compiled again"
    assert {output} == results
