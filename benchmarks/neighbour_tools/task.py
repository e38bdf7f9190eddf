"""What an adapter is handed and how it hands back what its tool found; standard library and NumPy only.

An adapter is a script that the tool's own interpreter runs:

    PYTHON use_TOOL.py WAY FOLDER SECONDS

FOLDER holds `table.csv` (level codes and numbers, one column a variable), `task.json` (names, levels, most parents
and so on) and `scores.jkl` (the log score of every family). What was found goes into `graphs.csv` (one graph a line) or
`edges.csv` (a probability an edge). It is on disk at any time: a tool that is stopped has answered with what is there.
SECONDS are CPU seconds of this process and its children, from the start of the interpreter.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    #: What a tool learns from the values of a table: at [i, j] 1 for i -> j, and 0.5 both ways for i -- j.
    Learner = Callable[[NDArray[np.float64]], NDArray[np.float64]]

DISCRETE, GAUSSIAN, MIXED = "discrete", "gaussian", "mixed"
#: Averages of a bootstrap are written no more often than this.
SECONDS_BETWEEN_WRITES = 0.5


class Task:
    """A case to be answered, the time for it, and where the answer goes."""

    def __init__(self, folder: Path, seconds: float) -> None:
        described = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        self.folder, self.seconds = folder, seconds
        self.case: str = described["case"]
        self.kind: str = described["kind"]
        self.names: list[str] = described["names"]
        #: How many levels each column has; 0 for a column of numbers.
        self.levels: list[int] = described["levels"]
        self.max_parents: int = described["max_parents"]
        self.seed: int = described["seed"]
        self.values = np.loadtxt(folder / "table.csv", delimiter=",", skiprows=1, ndmin=2)
        self._graphs: Any = None

    def used(self) -> float:
        """The CPU seconds that this process and its ended children took."""
        return sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )

    def left(self) -> float:
        """The CPU seconds that are left."""
        return self.seconds - self.used()

    def scores(self) -> list[dict[tuple[int, ...], float]]:
        """For each node, the log score of every set of parents that it may have."""
        lines = iter((self.folder / "scores.jkl").read_text(encoding="utf-8").splitlines()[1:])
        places = {name: place for place, name in enumerate(self.names)}
        found: list[dict[tuple[int, ...], float]] = [{} for _ in places]
        for line in lines:
            name, count = line.split()
            own = found[places[unquote(name)]]
            for _ in range(int(count)):
                score, _, *parents = next(lines).split()
                own[tuple(sorted(places[unquote(parent)] for parent in parents))] = float(score)
        return found

    def keep_graph(self, graph: NDArray[Any], weight: float = 1.0) -> None:
        """Add a graph to the answer, with the time at which it was found."""
        if self._graphs is None:
            self._graphs = (self.folder / "graphs.csv").open("w", encoding="utf-8", newline="")
            self._graphs.write("edges,weight,seconds\n")
        csv.writer(self._graphs, lineterminator="\n").writerow([self.edge_text(graph), weight, f"{self.used():.3f}"])
        self._graphs.flush()

    def keep_graphs(self, graphs: Iterable[NDArray[Any]], weights: Iterable[float]) -> None:
        """Let these graphs be the answer, in place of those before."""
        used = f"{self.used():.3f}"
        rows = [[self.edge_text(graph), weight, used] for graph, weight in zip(graphs, weights, strict=True)]
        self._write("graphs.csv", ["edges", "weight", "seconds"], rows)

    def keep_edges(self, probabilities: NDArray[np.float64]) -> None:
        """Let these probabilities, from row to column, be the answer, in place of those before."""
        rows = [
            [source, target, float(probabilities[i, j])]
            for i, source in enumerate(self.names)
            for j, target in enumerate(self.names)
            if i != j
        ]
        self._write("edges.csv", ["from", "to", "probability"], rows)

    def edge_text(self, graph: NDArray[Any]) -> str:
        """The edges of an adjacency matrix, from row to column, as text."""
        return ";".join(f"{self.names[i]}->{self.names[j]}" for i, j in np.argwhere(graph))

    def _write(self, name: str, header: list[str], rows: list[list[Any]]) -> None:
        with (self.folder / f"{name}.part").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        os.replace(self.folder / f"{name}.part", self.folder / name)


def one_graph(task: Task, learn: Learner, *, directed: bool) -> None:
    """Answer with what the tool learns from the table itself; an edge without direction is half an edge each way."""
    found = learn(task.values)
    task.keep_graph(found) if directed else task.keep_edges(found)


def bootstrap(task: Task, learn: Learner, *, directed: bool) -> None:
    """Answer with how often the tool finds each edge in tables of rows drawn again, as many as fit into the time."""
    rng = np.random.default_rng(task.seed)
    total, tables, longest, written = np.zeros((len(task.names),) * 2), 0, 0.0, -np.inf
    while not tables or task.left() > longest:
        began = task.used()
        found = learn(task.values[rng.integers(len(task.values), size=len(task.values))])
        longest = max(longest, task.used() - began)
        total, tables = total + found, tables + 1
        if directed:
            task.keep_graph(found)
        elif task.used() > written + SECONDS_BETWEEN_WRITES:
            task.keep_edges(total / tables)
            written = task.used()
    if not directed:
        task.keep_edges(total / tables)


def both(learn: Callable[[Task], Learner], *, directed: bool) -> dict[str, Callable[[Task], None]]:
    """The two ways in which a tool that finds one graph is run."""
    return {
        "one graph": lambda task: one_graph(task, learn(task), directed=directed),
        "bootstrap": lambda task: bootstrap(task, learn(task), directed=directed),
    }


def named(algorithm: str, ways: dict[str, Callable[[Task], None]]) -> dict[str, Callable[[Task], None]]:
    """The ways of one algorithm among several."""
    return {f"{algorithm}, {way}": do for way, do in ways.items()}


def run(ways: dict[str, Callable[[Task], None]]) -> None:
    """Do what the command line asks for."""
    way, folder, seconds = sys.argv[1:]
    ways[way](Task(Path(folder), float(seconds)))
