"""A folder of its own for every test, with a table and a model in it if the test asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.tools.cli_checks import Run, write_table
from typer.testing import CliRunner

from dagpost import DagPosterior
from dagpost.cli import app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder; whatever is no error of ours comes out as it is."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, status: int = 0, standard_input: str | None = None) -> Any:
        result = CliRunner().invoke(app, arguments, input=standard_input, prog_name="dagpost")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    return call


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write_table(tmp_path)


@pytest.fixture
def model(tmp_path: Path, table: str) -> str:
    DagPosterior(score="bdeu", seed=1, samples=500).fit(tmp_path / table).save(tmp_path / "model.dagpost")
    return "model.dagpost"


@pytest.fixture
def chained(tmp_path: Path, table: str) -> str:
    """A model whose graphs come from chains."""
    from dagpost import StructureMCMC

    method = StructureMCMC(chains=2, thinning=2, burn_in=0)
    DagPosterior(score="bdeu", seed=1, samples=500, method=method).fit(tmp_path / table).save(
        tmp_path / "chained.dagpost"
    )
    return "chained.dagpost"
