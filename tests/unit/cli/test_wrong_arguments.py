"""Every command is called with wrong words for each of its arguments and options in turn: it works, or says why not.

Exit status 2, a message on standard error that a terminal can show, nothing on standard output, and never a traceback.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from tests.tools.cli_checks import ESCAPE_CODE, write_table

from dagpost import DagPosterior, StructureMCMC, reference
from dagpost.cli import app
from dagpost.explorer.serving import Explorer
from dagpost.methods.augmentation import Augmentation

#: A valid line of every command; a command without one fails the test.
LINES: dict[str, dict[str, list[str]]] = {
    "fit": {"table": ["table.csv"], "--quiet": [], "--score": ["bdeu"], "--samples": ["20"], "--threads": ["1"]},
    "edges": {"source": ["model.dagpost"]},
    "query": {"source": ["model.dagpost"], "statements": ["A -> B"], "--threads": ["1"]},
    "effect": {"model": ["model.dagpost"], "columns": ["A", "B"], "--draws": ["200"], "--threads": ["1"]},
    "sample": {"model": ["model.dagpost"], "--output": ["drawn"], "--number": ["20"], "--threads": ["1"]},
    "best": {"source": ["table.csv"], "--score": ["bdeu"], "--threads": ["1"]},
    "predict": {"model": ["model.dagpost"], "rows": ["table.csv"], "--threads": ["1"]},
    "complete": {"model": ["gaps.dagpost"], "--number": ["2"], "--output": ["completed.csv"]},
    "plot": {"source": ["model.dagpost"], "--output": ["graph.svg"], "--threads": ["1"]},
    "report": {"source": ["model.dagpost"], "--output": ["report.html"], "--threads": ["1"]},
    "explore": {"model": ["model.dagpost"], "--no-browser": [], "--threads": ["1"]},
    "info": {"source": ["table.csv"], "--threads": ["1"]},
    "demo": {"--output": ["demo"], "--threads": ["1"]},
    "data list": {},
    "data export": {"name": ["coronary"], "--output": ["exported.csv"]},
    "reference list": {},
    "reference export": {"folder": ["cases"], "--case": ["iris"], "--quiet": []},
    "reference score": {"file": ["iris.csv"], "--case": ["iris"]},
}

WRONG = {
    "nothing": "",
    "a name": "no such name",
    "a statement": "A -> B",
    "bytes that are no text": os.fsdecode(b"\xff\xfe"),
    "half a character": "\ud800",
    "less than nothing": "-1",
    "nan": "nan",
    "inf": "inf",
    "a fraction": "0.5",
    "beyond floats": "1e400",
    "400 digits": "9" * 400,
    "5000 digits": "9" * 5_000,
    "a folder": "directory",
    "a file that is not there": "missing/file.csv",
    "a damaged file": "damaged.bin",
    "a damaged model": "damaged.dagpost",
    "an empty table": "empty.csv",
    "another kind of file": "chains.dagpost",
    "a long text": "x" * 5_000,
    "brackets": "(" * 2_000,
    "marks": "=:,;",
    "colours": "\x1b[31mred",
    "a private character": "\ue000o\ue001\ue002",
    "an option": "--no-such-option",
}
#: What computes for longest where a word is not wrong: a part of the words each.
_SLOW = {"fit": 3, "report": 4, "demo": 12, "best": 2, "predict": 2, "effect": 3, "plot": 2, "explore": 12}


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    # Commands are loaded when they are first asked for.
    context = group.context_class(group, info_name="dagpost")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


GROUP: Any = typer.main.get_command(app)
COMMANDS = dict(commands(GROUP))


def parameters(command: Any) -> Iterator[str]:
    """The arguments and the options that take a value, by the name that a valid line has them under."""
    for parameter in command.params:
        longest = max(parameter.opts, key=len)
        if longest != "--help" and not getattr(parameter, "is_flag", False):
            yield longest


def words(name: str, line: Mapping[str, list[str]]) -> list[str]:
    """A line as the system hands it over: options first, then arguments after the mark that ends the options."""
    options = [word for key, values in line.items() if key.startswith("--") for word in (key, *values)]
    arguments = [word for key, values in line.items() if not key.startswith("--") for word in values]
    return [*name.split(), *options, "--", *arguments]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("commands")
    write_table(place)
    DagPosterior(score="bdeu", seed=1, samples=50, threads=1).fit(place / "table.csv").save(place / "model.dagpost")
    chains = DagPosterior(score="bdeu", seed=1, method=StructureMCMC(chains=2, burn_in=0, thinning=1), threads=1)
    table = pd.read_csv(place / "table.csv")
    table.iloc[0, 0] = None
    completing = DagPosterior(score="bdeu", seed=1, samples=40, method=Augmentation(chains=2, burn_in=0), threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so short a run is not to be trusted
        completing.fit(table).save(place / "gaps.dagpost")
        chains.fit(place / "table.csv").sample(20, seed=1).save(place / "chains.dagpost")
    reference.load("iris").truth.edges.to_csv(place / "iris.csv")
    (place / "directory").mkdir()
    (place / "empty.csv").touch()
    (place / "damaged.bin").write_bytes(bytes(range(256)))
    (place / "damaged.dagpost").write_bytes((place / "model.dagpost").read_bytes()[:-200])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        # Whatever it serves, it serves until somebody ends it.
        patch.setattr(Explorer, "wait", Explorer.stop)
        yield place


def run(line: list[str]) -> tuple[int, str, str]:
    """Exit status, standard output and standard error, with streams that show what they cannot write, as ours do."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]), pytest.raises(SystemExit) as ended:
        GROUP(line, prog_name="dagpost")
    written = []
    for stream in streams:
        stream.flush()
        written.append(stream.buffer.getvalue().decode())
    return int(ended.value.code or 0), written[0], written[1]


def fault_of(line: list[str]) -> str | None:
    """What is wrong with how a command ends; None where it works, or says in words why not."""
    try:
        status, written, said = run(line)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"[:300]
    if status == 0:
        return None
    if status != 2 or "Traceback" in said:
        return f"status {status}: {said[:300]}"
    if not said.startswith(("dagpost: ", "Usage: dagpost ")) or ESCAPE_CODE.search(said):
        return f"not a message of ours: {said[:300]!r}"
    return "something on standard output" if written else None if len(said) < 9_000 else "too long"


def test_every_command_has_a_valid_line() -> None:
    assert COMMANDS.keys() == LINES.keys()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if any(parameters(command))])
def test_wrong_words_are_refused_in_words(name: str) -> None:
    line = LINES[name]
    assert run(words(name, line))[0] == 0
    faults = {}
    for place, parameter in enumerate(parameters(COMMANDS[name])):
        chosen = [label for number, label in enumerate(WRONG) if (number + place) % _SLOW.get(name, 1) == 0]
        for label in chosen:
            fault = fault_of(words(name, {**line, parameter: [WRONG[label]]}))
            if fault is not None:
                faults[f"{parameter} {label}"] = fault
    assert faults == {}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "line",
    [
        ["fit", "table.csv", "--resume", "x"],
        ["sample", "model.dagpost", "-n", "5", "--precision", "0.1", "-o", "x"],
        ["sample", "model.dagpost", "--resume", "sample.dagpost", "-o", "x"],
        ["sample", "chains.dagpost", "-o", "x"],
        ["predict", "chains.dagpost", "table.csv"],
        ["predict", "model.dagpost", "model.dagpost"],
        ["best", "model.dagpost", "--score", "bic"],
        ["info", "model.dagpost", "--bins", "3"],
        ["query", "model.dagpost", ""],
        ["no-such-command"],
        ["data", "no-such-command"],
        ["data", "export", "coronary", "--seed", "1", "-o", "directory"],
        ["reference", "list", "--kind", "mixed", "--tag", "paper"],
        ["reference", "score", "iris.csv"],
        ["--no-such-option"],
        ["fit", "table.csv", "table.csv"],
        ["fit"],
    ],
    ids=" ".join,
)
def test_wrong_combinations_are_refused_in_words(line: list[str]) -> None:
    assert fault_of(line) is None
