"""The package for R: its tests pass, the examples of its pages print what they show, its numbers are those of Python.

All of it happens in one session of R. Without R, or one of the packages it needs, the tests are skipped.
"""

from __future__ import annotations

import csv
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import dagpost
from dagpost import DagPosterior, datasets

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = PROJECT / "integrations" / "r"
PAGES = (PACKAGE / "README.md", PROJECT / "docs" / "r.md")
_NOT_INSTALLED = 77


class Session(NamedTuple):
    """What a session of R printed and left behind, and its exit status."""

    folder: Path
    printed: str
    status: int


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    folder = tmp_path_factory.mktemp("r")
    settings = {
        "RETICULATE_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(dagpost.__file__).parents[1]),
        "MPLBACKEND": "agg",
        "LC_ALL": "C.UTF-8",
    }
    script = PROJECT / "tests" / "tools" / "r_session.R"
    done = subprocess.run(
        [program, "--vanilla", str(script), str(PACKAGE), str(folder), *map(str, PAGES)],
        env={**os.environ, **settings},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode == _NOT_INSTALLED:
        pytest.skip(done.stdout.strip())
    return Session(folder, done.stdout, done.returncode)


def test_the_tests_of_the_package_pass(session: Session) -> None:
    assert session.status == 0, session.printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_print_what_it_shows(session: Session, page: Path) -> None:
    printed = session.folder / page.name
    assert printed.exists(), session.printed
    assert page.read_text(encoding="utf-8").splitlines() == printed.read_text(encoding="utf-8").splitlines()


def test_the_package_has_the_version_of_the_library() -> None:
    assert f"\nVersion: {dagpost.__version__}\n" in (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")


def test_the_defaults_are_those_of_python() -> None:
    code = (PACKAGE / "R" / "model.R").read_text(encoding="utf-8")
    signature = code[code.index("dagpost <- function(") : code.index(") {")]
    ours = dict(re.findall(r"(\w+) = ([^,)]+)", signature))
    theirs = inspect.signature(DagPosterior).parameters
    named = {name: theirs[name].default for name in ours if name in theirs and theirs[name].default != ()}
    assert {name: ours[name].strip('"').replace("NULL", "None") for name in named} == {
        name: str(default) for name, default in named.items()
    }
    assert {"score", "prior", "max_parents", "method"} <= set(named)


def test_numbers_from_r_are_those_of_python(session: Session) -> None:
    found = defaultdict(list)
    with (session.folder / "numbers.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["name"]].append(float(row["value"]))
    table = datasets.load("coronary")
    model = DagPosterior(score="bdeu", max_parents=3, seed=1).fit(table)
    drawn = model.sample(50, seed=2)
    frame = table.of_rows(np.repeat(np.arange(table.rows), table.weights)).to_pandas().drop(columns="counts")
    expected = {
        "evidence": [model.log_evidence_],
        # R stores columns one after the other.
        "edges": model.edge_probabilities_.to_numpy().ravel(order="F"),
        "path": [model.probability("Smoking ~> Pressure")],
        "values": [model.probability('P(Pressure = ">140" | Smoking = "yes")')],
        "graphs": drawn.adjacency().transpose(1, 2, 0).ravel(order="F"),
        "weights": drawn.weights,
        "best": model.best(5).posterior_probabilities(),
        "effect": model.effect("Smoking", "Pressure", draws=200).samples,
        "predicted": model.predict_proba(frame.iloc[[0, 999]], target="Pressure").to_numpy().ravel(order="F"),
    }
    assert set(found) == set(expected)
    for name, numbers in expected.items():
        np.testing.assert_allclose(found[name], np.asarray(numbers, dtype=float), rtol=1e-12, atol=1e-12, err_msg=name)
