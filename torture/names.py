"""Hostile names of columns and levels through every way out: pages, pictures, graph files, networks, the terminal."""

from __future__ import annotations

import os
import re
import warnings
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from dagpost import (
    DagPosterior,
    DagpostWarning,
    DagSample,
    InputError,
    edge,
    to_dot,
    write_graphml,
)
from dagpost.cli import app
from torture.campaign import Campaign, require
from torture.choices import Choices
from torture.tables import described

_PIECES = (
    "name",
    "<canary onload=canary()>",
    "</script><canary>",
    '" canary="1',
    "' canary='1",
    "<!-- ",
    "]]>",
    "&lt;canary&gt;",
    "&amp;",
    "${canary}",
    "{{canary}}",
    "`canary`",
    "\\",
    "\\n",
    "\\u003ccanary",
    "->",
    "A -> B",
    "~>",
    " | ",
    "&",
    "!",
    "{",
    "}",
    "(",
    ")",
    ",",
    ";",
    "=",
    ":",
    "in",
    "P(",
    "pa(B)",
    "\n",
    "\r",
    "\t",
    "\0",
    "\x1b[31m",
    "\u202e",
    "\u200b",
    "\ufeff",
    "é",
    "e\u0301",
    "💣",
    "漢字",
    "\U0010ffff",
    "=cmd()",
    "+1",
    "-1",
    "@x",
    "$x$",
    "$\\frac{",
    "%s",
    "%(x)d",
    "../../x",
    "CON",
    "digraph",
    "node",
    "variable",
    "0",
    "1.5",
    "NaN",
    "None",
    "true",
    "x" * 10_000,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def run_case(seed: int, folder: Path) -> int:
    """A small table under hostile names; the ways out, one after the other."""
    choices = Choices(seed)
    names = _different(choices, choices.integer(2, 3))
    levels = _different(choices, 2)
    frame = _frame(names, levels)
    with warnings.catch_warnings(), described(f"names {names!r}, levels {levels!r}"):
        warnings.simplefilter("ignore", DagpostWarning)
        try:
            model = DagPosterior(score="bdeu", seed=1, samples=50, threads=1).fit(frame)
        except InputError as error:
            return require(_clean(str(error)), "A name that is refused is shown without harm", repr(str(error)))
        checks = _kept(model, names, folder)
        ways = (_page, _graph_files, _statements, _terminal, _network, _picture)
        for way in ways:
            # A picture takes as long as all the others.
            if choices.chance(0.03 if way is _picture else 0.5):
                checks += way(model, frame, folder)
    return checks


def _different(choices: Choices, count: int) -> list[str]:
    """Texts that are different, also for those who strip blanks."""
    found: list[str] = []
    for number in range(count):
        made = "".join(choices.pick(_PIECES) for _ in range(choices.integer(1, 3)))
        clash = made.strip() in {other.strip() for other in found}
        found.append(f"{made}{number}" if clash else made)
    return found


def _frame(names: list[str], levels: list[str]) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    first = generator.integers(0, 2, 60)
    columns = [first, *(first ^ (generator.random(60) < 0.2) for _ in names[1:])]
    cells = [pd.Categorical.from_codes(column, pd.Index(levels)) for column in columns]
    return pd.DataFrame(dict(zip(names, cells, strict=True)))


def _clean(words: str) -> bool:
    return not _CONTROL.search(words)


def _kept(model: DagPosterior, names: list[str], folder: Path) -> int:
    """A model file keeps the names."""
    require(list(model.names_) == names, "The names are those of the table", model.names_)
    model.save(folder / "model.dagpost")
    loaded = DagPosterior.load(folder / "model.dagpost")
    require(list(loaded.names_) == names, "A model file keeps the names", loaded.names_)
    model.sample(5, seed=1).save(folder / "sample.dagpost")
    sample = DagSample.load(folder / "sample.dagpost")
    return require(list(sample.names) == names, "A sample file keeps the names", sample.names)


class _Elements(HTMLParser):
    """The elements of a page with their attributes, as a browser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.scripts = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.scripts += tag == "script"
        self.found |= {(tag, ""), *((tag, name) for name, _ in attrs)}


@cache
def _harmless() -> _Elements:
    """The elements of a page about harmless names: there are no others."""
    import tempfile

    every: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory() as folder:
        # Long names are shortened, and the whole of them is the title of an element.
        for names in (["first", "second"], ["first", "second", "third"], ["first", "long " * 1000]):
            frame = _frame(names, ["a", "long " * 1000])
            model = DagPosterior(score="bdeu", seed=1, samples=50, threads=1).fit(frame)
            page = _Elements(model.report(Path(folder) / "page.html").read_text(encoding="utf-8"))
            every |= page.found
    page.found = every
    return page


def _page(model: DagPosterior, frame: pd.DataFrame, folder: Path) -> int:  # noqa: ARG001
    """No element and no attribute of the report stems from the data, nor of what a notebook shows."""
    page = _Elements(model.report(folder / "page.html", title=model.names_[0]).read_text(encoding="utf-8"))
    strange = {pair for pair in page.found if pair not in _harmless().found}
    require(not strange, "No element or attribute of the report stems from the data", strange)
    require(page.scripts == _harmless().scripts, "No script of the report stems from the data", page.scripts)
    for shown in (model, model.own_sample()):
        words = getattr(shown, "_repr_html_", lambda: "")() or ""
        canaries = {pair for pair in _Elements(words).found if "canary" in "".join(pair)}
        require(not canaries, "No element of what a notebook shows stems from the data", canaries)
    return 1


def _graph_files(model: DagPosterior, frame: pd.DataFrame, folder: Path) -> int:  # noqa: ARG001
    """GraphML and DOT say the names as they are, or refuse them."""
    import networkx as nx

    names = list(model.names_)
    try:
        write_graphml(model, folder / "graph.graphml")
    except InputError as error:
        require(_clean(str(error)), "A name that is refused is shown without harm", repr(str(error)))
    else:
        read = nx.read_graphml(folder / "graph.graphml")
        # XML has one kind of line end, and readers turn the others into it.
        same = {_one_line_end(name) for name in read.nodes} == {_one_line_end(name) for name in names}
        require(same, "GraphML keeps the names", list(read.nodes))
    dot = to_dot(model)
    outside = _QUOTED.sub("", dot)
    law = "Nothing in DOT stems from the data but what is in quotes"
    require(re.fullmatch(r"[\w\s{};\[\]=,.>-]*", outside) and '"' not in outside, law, outside)
    return 3


def _one_line_end(name: str) -> str:
    return name.replace("\r\n", "\n").replace("\r", "\n")


def _statements(model: DagPosterior, frame: pd.DataFrame, folder: Path) -> int:  # noqa: ARG001
    """A statement about any names prints as text that asks the same."""
    statement = edge(model.names_[0], model.names_[1])
    first, second = model.probability(statement), model.probability(str(statement))
    require(first.value == second.value, "A statement prints as text that asks the same", statement)
    try:
        model.probability(model.names_[0] + " ->")
    except InputError as error:
        require(_clean(str(error)), "A name in an error is shown without harm", repr(str(error)))
    return 1


def _terminal(model: DagPosterior, frame: pd.DataFrame, folder: Path) -> int:  # noqa: ARG001
    """Commands show names without what a terminal obeys."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        frame.to_csv("table.csv", index=False)
        for arguments in (["edges", "model.dagpost"], ["info", "model.dagpost"], ["info", "table.csv"]):
            result = CliRunner().invoke(app, arguments, prog_name="dagpost")
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            said = f"{arguments} {result.exit_code}\n{result.stdout[:3000]!r}\n{result.stderr[:3000]!r}"
            require(result.exit_code in (0, 2), "The exit status is 0 or 2", said)
            require(arguments[1] == "table.csv" or result.exit_code == 0, "A model with any names can be shown", said)
            require(_clean(result.stdout + result.stderr), "Nothing comes out that a terminal obeys", said)
    finally:
        os.chdir(before)
    return 3


def _network(model: DagPosterior, frame: pd.DataFrame, folder: Path) -> int:  # noqa: ARG001
    """Networks come back from a file with their names and levels."""
    from dagpost import BayesianNetwork

    network = model.to_bayesian_network()
    assert isinstance(network, BayesianNetwork)
    path = folder / "network.bif"
    try:
        network.write(path)
    except InputError as error:
        return require(_clean(str(error)), "A name that is refused is shown without harm", repr(str(error)))
    read = BayesianNetwork.read(path)
    require(read.names == network.names, "A file of a network keeps the names", read.names)
    return require(read.levels == network.levels, "A file of a network keeps the levels", read.levels)


def _picture(model: DagPosterior, frame: pd.DataFrame, folder: Path) -> int:  # noqa: ARG001
    """Pictures can be drawn of any names."""
    if find_spec("matplotlib") is None:
        return 0
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    with warnings.catch_warnings():
        # A font lacks letters for some of them.
        warnings.simplefilter("ignore", UserWarning)
        axes: Any = model.plot()
        axes.figure.savefig(folder / "picture.svg")
        plt.close("all")
    return require((folder / "picture.svg").stat().st_size > 0, "A picture is drawn")


def prepare() -> None:
    """Make the page of harmless names."""
    _harmless()


CAMPAIGN = Campaign(
    "names",
    "hostile names of columns and levels through reports, pictures, files and the terminal",
    run_case,
    prepare=prepare,
    seconds=180,
)
