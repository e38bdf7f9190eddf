"""A run that is killed at any moment, and begun again with the same call, gives what an unbroken one gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dagpost import DagPosterior

SCRIPT = Path(__file__).parents[2] / "tools" / "killed_runs.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def report_of(kind: str, folder: Path, how: str) -> dict[str, int]:
    command = [sys.executable, "-W", "ignore", str(SCRIPT), kind, str(folder), how]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    "kind",
    [
        "structure-modular fit",
        pytest.param("fit with gaps", marks=pytest.mark.long),
        *(
            pytest.param(kind, marks=pytest.mark.long)
            for kind in (
                "fit of latent numbers",
                "exact-layers sample",
                "block-gibbs sample",
                "fit by components",
                "order-modular fit",
                "scores of levels",
                "scores of numbers",
                "bootstrap",
                "dds sample",
                "linear-extensions sample",
            )
        ),
    ],
)
def test_a_run_that_is_killed_at_random_moments_ends_with_the_same_result(kind: str, tmp_path: Path) -> None:
    report = report_of(kind, tmp_path, "random")
    assert report["same"] == report["runs"] == 5
    assert report["kills"] >= 3
    assert report["resumed"] >= 1


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("structure-modular fit", marks=pytest.mark.long),
        pytest.param("block-gibbs sample", marks=pytest.mark.long),
        pytest.param("fit with gaps", marks=pytest.mark.long),
    ],
)
def test_a_run_that_is_killed_while_it_writes_ends_with_the_same_result(kind: str, tmp_path: Path) -> None:
    report = report_of(kind, tmp_path, "writes")
    assert report["same"] == report["runs"]
    assert report["kills"] == report["runs"] - 1 >= 10
    assert report["resumed"] >= report["kills"] // 2


def parts_in(folder: Path) -> int:
    """How many parts there are; the command removes the folder when it is through."""
    try:
        return len(list(folder.glob("part-*")))
    except FileNotFoundError:
        return 0


@pytest.mark.long
def test_a_command_that_is_killed_goes_on_when_it_is_given_again(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    rows = generator.integers(0, 2, (400, 15))
    for column in range(1, 15):
        rows[:, column] = np.where(generator.random(400) < 0.7, rows[:, column - 1], rows[:, column])
    np.savetxt(tmp_path / "table.csv", rows, "%d", ",", header=",".join(f"c{i}" for i in range(15)), comments="")
    command = [sys.executable, "-m", "dagpost.cli", "fit", "table.csv", "--max-parents", "3", "--seed", "1"]
    environment = {**os.environ, "DAGPOST_CHECKPOINT_SECONDS": "0"}
    place = {"cwd": tmp_path, "env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    whole = subprocess.run([*command, "-o", "whole.dagpost"], check=False, **place)  # type: ignore[call-overload]
    assert whole.returncode == 0, whole.stderr
    partial, kills = tmp_path / "model.dagpost.partial", 0
    done, said = False, ""
    while not done:
        # Killed once there are some parts more than before, in the middle of whatever comes then.
        wanted = parts_in(partial) + int(generator.integers(1, 4)) if kills < 4 else 10**6
        with subprocess.Popen([*command, "-o", "model.dagpost"], **place) as process:  # type: ignore[call-overload]
            while process.poll() is None and parts_in(partial) < wanted:
                time.sleep(0.001)
            process.kill()
            said = process.communicate()[1]
        done = process.returncode == 0
        kills += not done
        assert done or process.returncode == -9, said
    assert kills >= 2
    assert "earlier run" in said
    assert not partial.exists()
    expected, found = (DagPosterior.load(tmp_path / name) for name in ("whole.dagpost", "model.dagpost"))
    assert np.array_equal(expected.edge_probabilities_.to_numpy(), found.edge_probabilities_.to_numpy())
    assert np.array_equal(expected.own_sample().parents, found.own_sample().parents)
    assert expected.log_evidence_ == found.log_evidence_
