"""Scores, priors, methods and engines of other packages, by the names under which their entry points bring them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.tools.cli_checks import process, write_table

CLASSES = """
from dataclasses import dataclass

from dagpost import BDeu, OrderMCMC, Score, ThreadEngine
from dagpost.priors.base import SizePrior


@dataclass(frozen=True)
class Borrowed(Score):
    name = "borrowed"
    summary = "BDeu under another name"
    size: float = 1.0
    note: str | None = None

    def fill(self, *arguments):
        BDeu(self.size).fill(*arguments)


@dataclass(frozen=True)
class Needy(Score):
    size: float
    name = "needy"
    summary = "a score that has to be told something"

    def fill(self, *arguments):
        BDeu(self.size).fill(*arguments)


@dataclass(frozen=True)
class Steps(SizePrior):
    name = "steps"
    summary = "every parent costs so much"
    argument = "COST"
    cost: float = 1.0

    @classmethod
    def from_text(cls, argument=None):
        return cls() if argument is None else cls(float(argument))

    def log_weight_of_size(self, nodes, size):
        return -self.cost * size


@dataclass(frozen=True)
class Walk(OrderMCMC):
    name = "walk"
    summary = "order MCMC under another name"


class Elsewhere(ThreadEngine):
    name = "elsewhere"
    summary = "threads under another name"
"""
POINTS = """
[dagpost.scores]
borrowed = outside_dagpost:Borrowed
[dagpost.priors]
steps = outside_dagpost:Steps
[dagpost.methods]
walk = outside_dagpost:Walk
[dagpost.engines]
elsewhere = outside_dagpost:Elsewhere
"""


@pytest.fixture
def outside(tmp_path: Path) -> dict[str, str]:
    """An environment in which a package that brings one of each is installed."""
    folder = tmp_path / "installed"
    about = folder / "outside_dagpost-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "outside_dagpost.py").write_text(CLASSES)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside_dagpost\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.long
def test_what_other_packages_bring_is_used_by_name(tmp_path: Path, outside: dict[str, str]) -> None:
    write_table(tmp_path)
    settings = ["--score", "borrowed:size=2,note=ours", "--prior", "steps:0.5", "--engine", "elsewhere"]
    method = ["--method", "walk:chains=2,thinning=2", "--modularity", "order", "--samples", "50", "--seed", "1"]
    result = process(tmp_path, "fit", "table.csv", *settings, *method, "--json", environment=outside)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["method"] == "walk"
    about = json.loads(process(tmp_path, "info", "table.dagpost", "--json", environment=outside).stdout)
    package = {"package": "outside_dagpost"}
    assert about["settings"]["score"] == {"kind": "Borrowed", **package, "size": 2.0, "note": "ours"}
    assert about["settings"]["prior"] == {"kind": "Steps", **package, "cost": 0.5}
    assert about["settings"]["method"]["kind"] == "Walk"
    assert process(tmp_path, "edges", "table.dagpost", environment=outside).returncode == 0
    # Where the package is not installed, the file still says what it is, and what is missing.
    assert "Walk (chains 2, thinning 2" in process(tmp_path, "info", "table.dagpost").stdout
    assert "Install the package 'outside_dagpost'" in process(tmp_path, "edges", "table.dagpost").stderr


def test_help_and_complaints_name_what_other_packages_bring(tmp_path: Path, outside: dict[str, str]) -> None:
    write_table(tmp_path)
    text = " ".join(process(tmp_path, "fit", "--help", environment=outside).stdout.split())
    for name in ("borrowed", "steps:COST", "walk", "elsewhere"):
        assert name in text
    for arguments, message in (
        (["--score", "borrowd"], "--score has no 'borrowd'. Did you mean 'borrowed'?"),
        (["--score", "borrowed:size=large"], "borrowed:size must be a number. Got 'large' instead."),
        (["--score", "needy"], "needy needs the setting 'size'. Write it as needy:size=value."),
        (["--method", "walk:chains=0"], "walk:chains must be a whole number from 1 to"),
    ):
        result = process(tmp_path, "fit", "table.csv", *arguments, environment=outside)
        assert (result.returncode, message in result.stderr) == (2, True), result.stderr
