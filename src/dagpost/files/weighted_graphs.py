"""Graphs with weights, for programs that average over structures, as text that any language reads.

- CSV has one row a graph: `graph` (its rank), `weight` (they sum to 1), `probability` (their sum is what these graphs
  hold of the posterior) and `edges`, such as `A->B;C->B`, which is empty for a graph without edges.
- JSON lines hold everything: the first line `{"dagpost": "graphs", "format": 1, "names": [...], "exact": ...}`, then a
  line `{"weight": ..., "probability": ..., "log_joint": ..., "edges": [["A", "B"], ...]}` for each graph.

Reading takes CSV from elsewhere, too (graph_rows.py): only the column `edges` is needed, and graphs that come more than
once are put together. Some 30 microseconds a graph of ten edges to write, 100 to read.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dagpost._tools.checks import different_texts, file_path, is_finite, kind
from dagpost._tools.text import shown
from dagpost._tools.whole_files import read_text, write_text
from dagpost._version import __version__
from dagpost.errors import InputError
from dagpost.families.masks import graph_of_masks
from dagpost.files.archive import check_format
from dagpost.files.delimited import table_of, text_of
from dagpost.files.graph_rows import (
    ARROW,
    BETWEEN_EDGES,
    EDGES,
    PROBABILITY,
    WEIGHT,
    check_columns,
    edges_in,
    ends_of,
    weights_in,
)
from dagpost.posterior.distinct import distinct_graphs_in
from dagpost.posterior.summaries.given import masks_of_graph
from dagpost.posterior.summaries.graphs import TopGraphs

FORMAT_VERSION = 1
_CSV, _JSON_LINES = ".csv", ".jsonl"
#: What a sum of probabilities may be above 1.
_ROUNDING = 1e-6
Pairs = list[tuple[str, str]]


# Writing


def write_graphs(graphs: TopGraphs, path: str | os.PathLike[str]) -> None:
    """Write weighted graphs, such as `top_graphs` gives, as CSV or as JSON lines: the ending of the name says which.

    `graphs.csv` has one row a graph, with the columns graph, weight, probability and edges; `graphs.jsonl` one line a
    graph after a line with the names.
    """
    kind(graphs, "graphs", TopGraphs, "what top_graphs gives", "write_graphs")
    text = _as_csv if _ending(file_path(path)) == _CSV else _as_json_lines
    write_text(path, text(graphs))


def _as_csv(graphs: TopGraphs) -> str:
    for name in graphs.names:
        if not name or BETWEEN_EDGES in name or ARROW in name or name != name.strip():
            raise InputError(
                f"The name {shown(name)} cannot stand in a list of edges such as 'A->B;C->B': it has '->' or ';' in "
                "it, a space at an end, or nothing. Rename the column, or write a .jsonl file."
            )
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(["graph", "weight", "probability", "edges"])
    rows = zip(graphs.weights.tolist(), graphs.probabilities.tolist(), _pairs_of(graphs), strict=True)
    for rank, (weight, probability, pairs) in enumerate(rows, start=1):
        edges = BETWEEN_EDGES.join(f"{parent}{ARROW}{child}" for parent, child in pairs)
        writer.writerow([rank, repr(weight), repr(probability), edges])
    return content.getvalue()


def _as_json_lines(graphs: TopGraphs) -> str:
    about = {
        "dagpost": "graphs",
        "format": FORMAT_VERSION,
        "version": __version__,
        "names": list(graphs.names),
        "exact": graphs.exact,
    }
    numbers = zip(graphs.weights.tolist(), graphs.probabilities.tolist(), graphs.log_joint.tolist(), strict=True)
    lines: list[dict[str, Any]] = [about]
    for (weight, probability, log_joint), pairs in zip(numbers, _pairs_of(graphs), strict=True):
        known = log_joint if math.isfinite(log_joint) else None
        lines.append({"weight": weight, "probability": probability, "log_joint": known, "edges": pairs})
    return "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines)


def _pairs_of(graphs: TopGraphs) -> Iterable[Pairs]:
    """The edges of each graph, in the order of the columns."""
    return (list(graph_of_masks(row, graphs.names).edges) for row in graphs.parents)


# Reading


@dataclass(frozen=True)
class _Read:
    """One graph of a file, and the line on which it stands."""

    line: int
    pairs: Pairs
    weight: float
    probability: float
    log_joint: float = math.nan


def read_graphs(path: str | os.PathLike[str], names: Iterable[str] | None = None) -> TopGraphs:
    """Read weighted graphs that `write_graphs` wrote, or a CSV file from elsewhere with a column `edges`.

    Without a column `weight` all graphs count the same; without `probability`, the weights stand for it. `names` are
    the variables, in order. A CSV file does not list them: without `names` they come in the order in which its edges
    name them, and a variable that has no edge in any graph is not known.
    """
    source = file_path(path)
    wanted = None if names is None else different_texts(names, "names", "read_graphs")
    if _ending(source) == _CSV:
        graphs, exact = _from_csv(source), False
        known = wanted or tuple(dict.fromkeys(name for graph in graphs for pair in graph.pairs for name in pair))
        if not known:
            raise InputError(f"No graph in {str(source)!r} has an edge: give the names of the variables as 'names'.")
    else:
        graphs, known, exact = _from_json_lines(source)
        if wanted is not None and set(wanted) != set(known):
            raise InputError(f"{str(source)!r} is about the variables {shown(list(known))}, not {shown(list(wanted))}.")
        known = wanted or known
    return _put_together(source, graphs, known, exact)


def _put_together(source: Path, graphs: Sequence[_Read], names: tuple[str, ...], exact: bool) -> TopGraphs:
    """The distinct graphs, those of most weight first."""
    parents = np.stack([_masks(source, graph, names) for graph in graphs])
    weights, probabilities, log_joint = (
        np.array([getattr(graph, name) for graph in graphs]) for name in ("weight", "probability", "log_joint")
    )
    if not (weights.any() and probabilities.any()):
        raise InputError(f"All weights in {str(source)!r} are 0. At least one must be more.")
    if np.isnan(probabilities).any():
        # The sum of huge weights would not be finite.
        weights /= weights.max()
        probabilities = weights / weights.sum()
    found = distinct_graphs_in(parents, probabilities)
    return TopGraphs(
        names=names,
        parents=parents[found.rows],
        probabilities=found.weights,
        log_joint=log_joint[found.rows],
        covered=min(float(found.weights.sum()), 1.0),
        exact=exact,
    )


def _masks(source: Path, graph: _Read, names: tuple[str, ...]) -> Any:
    try:
        return masks_of_graph(graph.pairs, names)
    except InputError as error:
        raise _wrong(source, graph.line, str(error)) from error


def _from_csv(source: Path) -> list[_Read]:
    """One graph a row."""
    table = table_of(text_of(source), source)
    if EDGES not in table.header:
        raise _wrong(source, 1, f"there is no column 'edges'. Got {shown(table.header)}.")
    if not table.rows:
        raise InputError(f"{str(source)!r} holds no graph: one row a graph is needed below the names of the columns.")
    columns = table.columns()
    try:
        check_columns(columns)
    except InputError as error:
        raise _wrong(source, 1, str(error)) from error
    found = []
    for at, line in enumerate(table.lines):
        cells: dict[str, Any] = {name: column[at] for name, column in columns.items()}
        try:
            cells[EDGES] = [ends_of(edge) for edge in edges_in(cells[EDGES])]
        except InputError as error:
            raise _wrong(source, line, str(error)) from error
        found.append(_graph(source, line, cells))
    return found


def _graph(source: Path, line: int, cells: dict[str, Any]) -> _Read:
    """A graph from the cells of a row, or from a line of JSON."""
    pairs, log_joint, counted = cells.get(EDGES), cells.get("log_joint"), weights_in(cells)
    if not isinstance(pairs, list) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise _wrong(source, line, f"'edges' must be a list of pairs [parent, child]. Got {shown(pairs)}.")
    return _Read(
        line,
        [(parent, child) for parent, child in pairs],
        1.0 if counted is None else _number(source, line, *counted),
        _number(source, line, PROBABILITY, cells[PROBABILITY]) if PROBABILITY in cells else math.nan,
        float(log_joint) if is_finite(log_joint) else math.nan,  # type: ignore[arg-type]
    )


def _from_json_lines(source: Path) -> tuple[list[_Read], tuple[str, ...], bool]:
    """The graphs, the names and whether the probabilities are exact."""
    lines = [(number, line) for number, line in enumerate(read_text(source).split("\n"), start=1) if line.strip()]
    contents = [(number, _object(source, number, line)) for number, line in lines]
    about = contents[0][1] if contents else {}
    names = about.get("names")
    named = isinstance(names, list) and all(isinstance(name, str) for name in names) and len({*names}) == len(names)
    if about.get("dagpost") != "graphs" or not named:
        raise InputError(f"{str(source)!r} does not hold graphs written by dagpost. Give a file of write_graphs.")
    check_format(source, about, FORMAT_VERSION)
    graphs = [_graph(source, at, {WEIGHT: None, PROBABILITY: None, **content}) for at, content in contents[1:]]
    if not graphs:
        raise InputError(f"{str(source)!r} holds no graph, or it was cut short.")
    return graphs, tuple(about["names"]), about.get("exact") is True


def _object(source: Path, number: int, line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _wrong(source, number, f"this is not JSON, or it was cut short ({error}).") from error
    if not isinstance(content, dict):
        raise _wrong(source, number, f"an object is needed. Got {shown(content)}.")
    return content


def _number(source: Path, line: int, name: str, value: object) -> float:
    """A weight, which is at least 0, or a probability, which is at most 1, too."""
    try:
        found = float(value) if isinstance(value, str) or is_finite(value) else math.nan  # type: ignore[arg-type]
    except ValueError:
        found = math.nan
    if name == PROBABILITY and not found <= 1.0 + _ROUNDING:
        raise _wrong(source, line, f"'probability' must be a number from 0 to 1. Got {shown(value)}.")
    if found >= 0.0 and math.isfinite(found):
        return found
    raise _wrong(source, line, f"{name!r} must be a number of at least 0. Got {shown(value)}.")


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in (_CSV, _JSON_LINES):
        raise InputError(f"Graphs are kept in .csv or .jsonl files. Got {str(path)!r}: name it so.")
    return ending


def _wrong(source: Path, line: int, problem: str) -> InputError:
    return InputError(f"{str(source)!r}, line {line}: {problem}")
