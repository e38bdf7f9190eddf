"""What a user reads on the way through a table of more than 64 columns: which method, why, what was considered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, InputError, StructureMCMC, top_graphs
from dagpost.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")


def run(*words: object, status: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, result.output
    return result


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """70 yes/no columns of which each takes after the one before it."""
    drawn = np.random.default_rng(1)
    rows = drawn.integers(0, 2, (60, 70))
    for column in range(1, 70):
        rows[:, column] = np.where(drawn.random(60) < 0.8, rows[:, column - 1], rows[:, column])
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    pd.DataFrame(rows, columns=[f"q{number}" for number in range(70)]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(table: Path) -> tuple[Path, str]:
    """A model of it, and what was printed."""
    file = table.with_name("wide.dagpost")
    options = ("--max-parents", "1", "--samples", "400", "--score", "bdeu", "--seed", "1", "-o", file)
    result = run("fit", table, *options)
    return file, result.stdout + result.stderr


def test_a_fit_says_which_method_why_and_what_was_considered(fitted: tuple[Path, str]) -> None:
    _, printed = fitted
    assert "Estimated from graphs by block-gibbs (each graph counted once): tables over all sets of 70" in printed
    assert "parents considered: every set of at most 1 parent (" in printed
    assert "4 chains of 100 graphs" in printed
    assert "of promising candidates" not in printed


def test_info_shows_the_same_of_a_model_and_can_be_read_of_a_table(fitted: tuple[Path, str], table: Path) -> None:
    file, _ = fitted
    about = run("info", file).stdout
    assert "BlockGibbs" in about
    assert "parents considered: every set of at most 1 parent (" in about
    costs = run("info", table).stdout
    assert "more than a million TB (more than is free)  edges sampled, graphs by block-gibbs" in costs


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (("--method", "partition-mcmc"), "takes at most 64 columns; there are 70. Use --method block-gibbs, which"),
        (("--modularity", "order"), "use --method auto and --modularity structure"),
        (("--method", "exact-layers"), "For instance: --method block-gibbs."),
        (("--ess", "average"), "Choose one, such as --ess 10, and compare a few; or use fewer columns"),
    ],
)
def test_refusals_name_the_remedy(table: Path, options: tuple[str, str], remedy: str) -> None:
    assert remedy in run("fit", table, *options, status=2).stderr


def test_python_refuses_in_its_own_spelling(fitted: tuple[Path, str], table: Path, said: Said) -> None:
    model = DagPosterior.load(fitted[0])
    with said.raises(InputError):
        model.best(1)
    assert len(top_graphs(model, 3).probabilities) == 3
    with said.raises(InputError):
        DagPosterior(method=StructureMCMC()).fit(table)
