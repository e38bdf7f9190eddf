"""Random command lines, right and damaged: exit status, one message, no traceback, and the answers of Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from dagpost import DagPosterior, DagpostWarning
from dagpost.cli import app
from torture.campaign import Campaign, require
from torture.choices import Choices
from torture.random_tables import NAMES, close
from torture.statements import random_statement, text
from torture.tables import described

# What a terminal would obey.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HOSTILE = (
    "",
    "-",
    "--",
    "--json",
    "-1",
    "0",
    "1e400",
    "nan",
    "99999999999999999999",
    "A",
    "A -> B",
    "nothing.csv",
    "table.csv",
    "model.dagpost",
    ".",
    "/",
    "/dev/null",
    "\x1b[31mred",
    "é" * 300,
    "--score",
    "--help",
    "bdeu:size=0",
    "partition-mcmc:chains=0",
    "edge:2",
    "\udcff",
    "'; rm -rf",
)


def run_case(seed: int, folder: Path) -> int:
    """A few command lines in one folder."""
    choices = Choices(seed)
    before = Path.cwd()
    os.chdir(folder)
    try:
        count = choices.integer(1, 4)
        for _ in range(count):
            _one_command(choices)
    finally:
        os.chdir(before)
    return count


def _one_command(choices: Choices) -> None:
    for path in _files().iterdir():
        shutil.copy(path, path.name)
    arguments, check = choices.pick((_query, _fit, _edges, _best, _info, _predict, _sample, _report, _data))(choices)
    damaged = choices.chance(0.5)
    if damaged:
        arguments = _damaged(arguments, choices)
    with described(f"dagpost {arguments}"):
        result = CliRunner().invoke(app, arguments, prog_name="dagpost", input="A,B\n0,1\n1,0\n1,1\n")
        error = result.exception
        if isinstance(error, UnicodeEncodeError):
            # The streams of the runner cannot write what the streams of a process can.
            return
        if error is not None and not isinstance(error, SystemExit):
            raise error
        said = f"status {result.exit_code}\n{result.stdout[:2000]}\n{result.stderr[:2000]}"
        require(damaged or result.exit_code == 0, "A command line that is right is obeyed", said)
        require(result.exit_code in (0, 2), "The exit status is 0 or 2", said)
        require("Traceback" not in result.stderr, "No traceback comes out", said)
        require(not _CONTROL.search(result.stderr + result.stdout), "Nothing comes out that a terminal obeys", said)
        if result.exit_code == 2:
            require(result.stderr.strip(), "What goes wrong has a message", said)
            require(not result.stdout, "Nothing but results goes to standard output", said)
        if not damaged:
            check(result.stdout)


def _damaged(arguments: list[str], choices: Choices) -> list[str]:
    """Words taken out, put in, doubled or broken."""
    words = list(arguments)
    for _ in range(choices.integer(1, 2)):
        place = choices.integer(0, max(len(words) - 1, 0))
        way = choices.pick(("out", "in", "other", "cut", "file"))
        if way == "in" or not words:
            words.insert(place, choices.pick(_HOSTILE))
        elif way == "out":
            del words[place]
        elif way == "other":
            words[place] = choices.pick(_HOSTILE)
        elif way == "cut":
            words[place] = words[place][: choices.integer(0, len(words[place]))]
        else:
            _break_file(choices)
    # A report of everything or a chain of any length could take for ever.
    return [word for word in words if word not in {"demo", "--install-completion", "--show-completion"}]


def _break_file(choices: Choices) -> None:
    path = Path(choices.pick(("table.csv", "model.dagpost", "sample.dagpost")))
    if not path.is_file():
        return
    content = bytearray(path.read_bytes())
    way = choices.pick(("cut", "flip", "empty"))
    if way == "cut":
        content = content[: choices.integer(0, len(content))]
    elif way == "flip" and content:
        content[choices.integer(0, len(content) - 1)] ^= 1 << choices.integer(0, 7)
    elif way == "empty":
        content = bytearray()
    path.write_bytes(content)


Check = Callable[[str], None]


def _query(choices: Choices) -> tuple[list[str], Check]:
    names = _model().names_
    statements = [text(random_statement(choices, 3), names, choices) for _ in range(choices.integer(1, 3))]
    # What starts with a dash would be an option.
    statements = [statement for statement in statements if not statement.startswith("-")] or ["A -> B"]

    def check(output: str) -> None:
        for found, expected in zip(json.loads(output), _model().probability(statements), strict=True):
            require(close(found["value"], expected.value, 1e-12), "A command answers as Python does", found, expected)

    return ["query", "model.dagpost", *statements, "--json"], check


def _fit(choices: Choices) -> tuple[list[str], Check]:
    score = choices.pick(("bdeu", "k2", "bic", "bde"))
    prior = choices.pick(("uniform", "indegree", "edge:0.2"))
    modularity = choices.pick(("structure", "order"))
    parents = choices.integer(0, 3)
    options = ["--score", score, "--prior", prior, "--modularity", modularity, "--max-parents", str(parents)]
    settings: dict[str, Any] = {"score": score, "prior": prior, "modularity": modularity, "max_parents": parents}
    if parents and choices.chance(0.3):
        options += ["--forbidden", "A -> B", "--required", "B -> C"]
        settings |= {"forbidden": ["A -> B"], "required": ["B -> C"]}
    if choices.chance(0.3):
        options += ["--tier", "A", "--tier", "B,C"]
        settings |= {"tiers": [["A"], ["B", "C"]]}

    def check(output: str) -> None:
        model = DagPosterior(seed=1, threads=1, **settings).fit("table.csv")
        _same_edges(json.loads(output), model)
        _same_edges(json.loads(output), DagPosterior.load("other.dagpost"))

    rest = ["--json", "--seed", "1", "--threads", "1", "--no-sensitivity", "-o", "other.dagpost", "--samples", "200"]
    return ["fit", "table.csv", *options, *rest], check


def _same_edges(found: dict[str, Any], model: DagPosterior) -> None:
    law = "A command fits as Python does"
    require(close(found["log_evidence"], model.log_evidence_, 1e-9), law, found["log_evidence"], model.log_evidence_)
    edges = model.edge_probabilities_
    for edge in found["edges"]:
        expected = float(edges.loc[edge["parent"], edge["child"]])
        require(close(edge["probability"], expected, 1e-12), law, edge, expected)


def _edges(choices: Choices) -> tuple[list[str], Check]:  # noqa: ARG001
    return ["edges", "model.dagpost", "--json"], lambda output: _same_edges(json.loads(output), _model())


def _best(choices: Choices) -> tuple[list[str], Check]:
    count = choices.integer(1, 5)

    def check(output: str) -> None:
        found = [graph["log_joint"] for graph in json.loads(output)["graphs"]]
        expected = [float(value) for value in _model().best(count).log_joint]
        require(found == expected, "A command lists the graphs that Python lists", found, expected)

    return ["best", "model.dagpost", "-k", str(count), "--json"], check


def _info(choices: Choices) -> tuple[list[str], Check]:
    source = choices.pick(("table.csv", "model.dagpost", "sample.dagpost"))

    def check(output: str) -> None:
        require(isinstance(json.loads(output), dict), "What is in a file is said as JSON", output)

    return ["info", source, "--json"], check


def _predict(choices: Choices) -> tuple[list[str], Check]:
    if choices.chance(0.5):
        return ["predict", "model.dagpost", "table.csv", "--target", choices.pick(NAMES[:3])], _some_lines

    def check(output: str) -> None:
        found = json.loads(output)["log_probability"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DagpostWarning)
            expected = _model().score_samples("table.csv").tolist()
        law = "A command predicts as Python does"
        require(all(close(*pair, 1e-12) for pair in zip(found, expected, strict=True)), law, found, expected)

    return ["predict", "model.dagpost", "table.csv", "--json"], check


def _sample(choices: Choices) -> tuple[list[str], Check]:
    count = choices.integer(1, 200)

    def check(output: str) -> None:
        require(json.loads(output)["graphs"] == count, "As many graphs are drawn as were asked for", output)

    return ["sample", "model.dagpost", "-n", str(count), "--seed", "3", "-o", "drawn.dagpost", "--json"], check


def _report(choices: Choices) -> tuple[list[str], Check]:
    title = choices.pick(("A title", "<script>", "ü"))

    def check(output: str) -> None:
        require(Path("page.html").stat().st_size > 1000, "A report is written", output)

    return ["report", "model.dagpost", "-o", "page.html", "--title", title], check


def _data(choices: Choices) -> tuple[list[str], Check]:
    name = choices.pick(("coronary", "asia", "iris"))
    options = ["--rows", str(choices.integer(1, 50)), "--seed", "7"] if name == "asia" else []
    return ["data", "export", name, *options], _some_lines


def _some_lines(output: str) -> None:
    require(output.count("\n") > 1, "A table has lines", output[:500])


@cache
def _files() -> Path:
    """A folder with a table, a model and a sample, copied for every case; gone with the process that made it."""
    folder = Path(_holder.name)
    rows = [f"{number % 2},{number // 2 % 3},{number * 7 % 5 % 2}" for number in range(40)]
    (folder / "table.csv").write_text("A,B,C\n" + "\n".join(rows) + "\n")
    model = DagPosterior(score="bdeu", seed=1, samples=300, threads=1).fit(folder / "table.csv")
    model.own_sample()
    model.save(folder / "model.dagpost")
    model.sample(100, seed=2).save(folder / "sample.dagpost")
    return folder


_holder = tempfile.TemporaryDirectory(prefix="torture-")


@cache
def _model() -> DagPosterior:
    return DagPosterior.load(_files() / "model.dagpost")


def prepare() -> None:
    """Make the files, and run every command once."""
    _model()
    for seed in range(30):
        with tempfile.TemporaryDirectory() as folder:
            run_case(seed, Path(folder))


CAMPAIGN = Campaign(
    "commands",
    "random command lines, right and damaged, in this process",
    run_case,
    counted="commands",
    prepare=prepare,
    seconds=180,
)
