"""`import dagpost` and `dagpost --help` start at once: they load none of the heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dagpost import DagPosterior

HEAVY = ("matplotlib", "networkx", "numba", "pandas", "pyarrow", "polars", "scipy", "sklearn")

COMMANDS = ("edges", "query", "sample", "best", "predict", "report", "explore", "info", "demo", "data", "data list")

RUN_COMMAND = """
import sys
from dagpost.cli import main
sys.argv = ["dagpost", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""

REPORT = """
import json, sys
sys.stderr.write(json.dumps([name for name in {heavy!r} if name in sys.modules]))
"""


def heavy_imports_of(program: str) -> list[str]:
    """The heavy libraries that are loaded once `program` has run in a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-c", program + REPORT.format(heavy=HEAVY)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    return list(json.loads(finished.stderr.splitlines()[-1]))


def test_import_loads_no_heavy_library() -> None:
    assert heavy_imports_of("import dagpost; dagpost.__version__; dir(dagpost)") == []


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["fit", "--help"], ["data", "export", "--help"]],
    ids=" ".join,
)
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    assert heavy_imports_of(RUN_COMMAND.format(arguments=arguments)) == []


def test_every_help_is_built_without_a_heavy_library() -> None:
    """One process for all of them: the module of every command is loaded before the first help is shown."""
    helps = [[*command.split(), "--help"] for command in COMMANDS]
    program = "".join(RUN_COMMAND.format(arguments=arguments) for arguments in helps)
    assert heavy_imports_of(program) == []


def test_a_stored_model_answers_without_a_heavy_library(tmp_path: Path) -> None:
    model = tmp_path / "model.dagpost"
    table = pd.DataFrame({"A": [0, 0, 1, 1, 0, 1], "B": [0, 1, 1, 1, 0, 1]})
    DagPosterior(score="bdeu", seed=1).fit(table).save(model)
    arguments = ["query", str(model), "A -> B", "A ~> B", "pa(B) = {A}"]
    assert heavy_imports_of(RUN_COMMAND.format(arguments=arguments)) == []


def test_the_class_of_models_is_there_without_a_heavy_library() -> None:
    assert heavy_imports_of("import dagpost; dagpost.DagPosterior(score='bdeu', max_parents=2).get_params()") == []


def test_the_check_itself_sees_a_heavy_library() -> None:
    loading = "from dagpost.families.numbering import squeeze; squeeze.signatures"
    assert "numba" in heavy_imports_of(loading)


def test_every_public_name_can_be_loaded() -> None:
    dagpost: Any = import_module("dagpost")
    for name in dagpost.__all__:
        assert getattr(dagpost, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'DagPrior'"):
        dagpost.DagPrior  # noqa: B018
