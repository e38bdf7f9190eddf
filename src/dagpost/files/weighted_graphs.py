"""Graphs with weights, for programs that average over structures, as CSV that any language reads.

There is one row a graph: `graph` (its rank), `weight` (they sum to 1), `probability` (their sum is what these graphs
hold of the posterior) and `edges`, such as `A->B;C->B`, which is empty for a graph without edges.

Reading takes CSV from elsewhere, too (graph_rows.py): only the column `edges` is needed, and graphs that come more than
once are put together. Some 30 microseconds a graph of ten edges to write, 100 to read.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import different_texts, file_path, kind
from dagpost._tools.text import shown
from dagpost._tools.whole_files import write_text
from dagpost.errors import InputError
from dagpost.families.masks import graph_of_masks
from dagpost.files.delimited import CellTable, number_in, table_of, text_of
from dagpost.files.graph_rows import (
    ARROW,
    BETWEEN_EDGES,
    EDGES,
    PROBABILITY,
    WEIGHT,
    check_columns,
    edges_in,
    ends_of,
)
from dagpost.posterior.distinct import distinct_graphs_in
from dagpost.posterior.summaries.given import masks_of_graph
from dagpost.posterior.summaries.graphs import TopGraphs

#: What a sum of probabilities may be above 1.
_ROUNDING = 1e-6


def write_graphs(graphs: TopGraphs, path: str | os.PathLike[str]) -> None:
    """Write weighted graphs, such as `top_graphs` gives, as a CSV file.

    It has one row a graph, with the columns graph, weight, probability and edges.
    """
    kind(graphs, "graphs", TopGraphs, "what top_graphs gives", "write_graphs")
    _csv_file(path)
    for name in graphs.names:
        if not name or BETWEEN_EDGES in name or ARROW in name or name != name.strip():
            raise InputError(
                f"The name {shown(name)} cannot stand in a list of edges such as 'A->B;C->B': it has '->' or ';' in "
                "it, a space at an end, or nothing. Rename the column."
            )
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(["graph", "weight", "probability", "edges"])
    rows = zip(graphs.weights.tolist(), graphs.probabilities.tolist(), graphs.parents, strict=True)
    for rank, (weight, probability, parents) in enumerate(rows, start=1):
        pairs = graph_of_masks(parents, graphs.names).edges
        edges = BETWEEN_EDGES.join(f"{parent}{ARROW}{child}" for parent, child in pairs)
        writer.writerow([rank, repr(weight), repr(probability), edges])
    write_text(path, content.getvalue())


def read_graphs(path: str | os.PathLike[str], names: Iterable[str] | None = None) -> TopGraphs:
    """Read weighted graphs that `write_graphs` wrote, or a CSV file from elsewhere with a column `edges`.

    Without a column `weight` all graphs count the same; without `probability`, the weights stand for it. `names` are
    the variables, in order. A CSV file does not list them: without `names` they come in the order in which its edges
    name them, and a variable that has no edge in any graph is not known.
    """
    source = _csv_file(path)
    wanted = None if names is None else different_texts(names, "names", "read_graphs")
    table = table_of(text_of(source), source)
    if EDGES not in table.header:
        raise _wrong(source, 1, f"there is no column 'edges'. Got {shown(table.header)}.")
    if not table.rows:
        raise InputError(f"{str(source)!r} holds no graph: one row a graph is needed below the names of the columns.")
    columns = table.columns()
    with _about_line(source, 1):
        check_columns(columns)
    graphs = []
    for line, text in zip(table.lines, columns[EDGES], strict=True):
        with _about_line(source, line):
            graphs.append([ends_of(edge) for edge in edges_in(text)])
    known = wanted or tuple(dict.fromkeys(name for pairs in graphs for pair in pairs for name in pair))
    if not known:
        raise InputError(f"No graph in {str(source)!r} has an edge: give the names of the variables as 'names'.")
    masks = []
    for line, pairs in zip(table.lines, graphs, strict=True):
        with _about_line(source, line):
            masks.append(masks_of_graph(pairs, known))
    parents = np.stack(masks)
    found = distinct_graphs_in(parents, _probabilities(table, columns))
    return TopGraphs(
        names=known,
        parents=parents[found.rows],
        probabilities=found.weights,
        log_joint=np.full(len(found.rows), math.nan),
        covered=min(float(found.weights.sum()), 1.0),
        exact=False,
    )


def _probabilities(table: CellTable, columns: dict[str, list[str]]) -> Floats:
    """What each graph counts: its probability as it is, or its share of all weights."""
    name = next((name for name in (PROBABILITY, WEIGHT) if name in columns), None)
    numbers = np.ones(len(table.rows)) if name is None else _numbers(table, name, columns[name])
    if not numbers.any():
        raise InputError(f"All weights in {str(table.source)!r} are 0. At least one must be more.")
    if name == PROBABILITY:
        return numbers
    # The sum of huge weights would not be finite.
    numbers /= numbers.max()
    numbers /= numbers.sum()
    return numbers


def _numbers(table: CellTable, name: str, cells: list[str]) -> Floats:
    """Weights, which are at least 0, or probabilities, which are at most 1, too."""
    numbers = np.array([number_in(cell) for cell in cells])
    most, allowed = (1.0 + _ROUNDING, "from 0 to 1") if name == PROBABILITY else (math.inf, "of at least 0")
    wrong = np.flatnonzero(~((numbers >= 0.0) & np.isfinite(numbers) & (numbers <= most)))
    if len(wrong):
        at = int(wrong[0])
        raise _wrong(table.source, table.lines[at], f"{name!r} must be a number {allowed}. Got {shown(cells[at])}.")
    return numbers


@contextmanager
def _about_line(source: Path, line: int) -> Iterator[None]:
    """Errors name the line of the file that they are about."""
    try:
        yield
    except InputError as error:
        raise _wrong(source, line, str(error)) from error


def _csv_file(path: str | os.PathLike[str]) -> Path:
    source = file_path(path)
    if source.suffix.lower() != ".csv":
        raise InputError(f"Graphs are kept in .csv files. Got {str(source)!r}: name it so.")
    return source


def _wrong(source: Path, line: int, problem: str) -> InputError:
    return InputError(f"{str(source)!r}, line {line}: {problem}")
