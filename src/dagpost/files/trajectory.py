"""Sampled graphs as Benchpress keeps them: a CSV file with the edges that each graph adds and removes.

    index,score,added,removed
    -2,0.0,[a->b;a->c],[]
    -1,0.0,[],[a->b;a->c]
    0,-2325.52,[b->c],[]
    34,-2311.94,[a->c],[b->c]
    90,-2311.94,[],[]

The first two rows name the columns in their order. From then on `index` counts graphs from 0, and a graph stays until
the index of the next row: above, the first one 34 times and the second one 56 times. Benchpress (Rios, Moffa and
Kuipers, 2025) takes the last index for the number of graphs, so what is written here ends with a row that changes
nothing; without it the last graph would not count there. Graphs of unequal weight get a column `time`, whose steps are
their weights, as Benchpress has it for chains in continuous time.

Time: some 10 microseconds a row either way. Memory: writing goes block by block; reading takes some 500 bytes a row and
the masks of its graph.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.checks import file_path
from dagpost._tools.text import shown
from dagpost._tools.whole_files import replacing
from dagpost._tools.wide_graphs import blocks_of_graphs, edges_in_words, graphs_with_cycles, words_of_edges
from dagpost.errors import InputError
from dagpost.families.masks import UnsignedMasks, mask_type
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import MOST_COLUMNS, words_of
from dagpost.files.delimited import number_in, table_of, text_of
from dagpost.posterior.sources import sample_of

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample
    from dagpost.posterior.sources import GraphSource

_ARROW = "->"
_COLUMNS = ("index", "score", "added", "removed")
#: What ends a name, an edge, a list of edges or a row.
_NOT_IN_NAMES = (_ARROW, ";", ",", '"', "\n", "\r")
_BYTES_A_BYTE = 12


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Graphs that a file of Benchpress lists, one for each of its rows from index 0 on.

    `parents[s, i]` is the mask of the parents of column i in graph s, as in a `DagSample`. `index` is where each graph
    begins, `weights` its share of the whole trajectory (they sum to 1), and `scores` what the file says of it (nan: not
    known).
    """

    names: tuple[str, ...]
    parents: UnsignedMasks
    index: Integers
    scores: Floats
    weights: Floats

    def __len__(self) -> int:
        return len(self.parents)


# Writing


def write_trajectory(source: GraphSource, path: str | os.PathLike[str]) -> None:
    """Write the graphs of a sample, or of a model's own one, as a trajectory that Benchpress reads.

    `score` is the log joint probability of graph and data. Graphs come in the order in which they were drawn, and equal
    ones in a row share a line. Draws count once each; graphs of a method that weighs them have a column `time`, whose
    steps are the weights times the number of graphs.

    >>> from dagpost import DagPosterior, datasets
    >>> sample = DagPosterior().fit(datasets.load("coronary")).sample(100, seed=1)
    >>> folder = getfixture("tmp_path")
    >>> write_trajectory(sample, folder / "graphs.csv")
    >>> len(read_trajectory(folder / "graphs.csv")) <= 100
    True
    """
    sample = sample_of(source)
    _check_names(sample.names)
    weighted = not (sample.independent or sample.from_chains)
    with replacing(path) as file:
        for text in _blocks_of_text(sample, weighted):
            file.write(text.encode("utf-8"))


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise InputError("A trajectory names its columns by the edges between them, so it needs at least 2 columns.")
    for name in names:
        wrong = next((mark for mark in _NOT_IN_NAMES if mark in name), None)
        if wrong is not None or not name:
            what = f"has {shown(wrong)} in it" if name else "is empty"
            raise InputError(
                f"The name {shown(name)} {what}, so it cannot stand in a trajectory, which writes edges as [A->B;C->D] "
                "between commas. Rename the column."
            )


def _blocks_of_text(sample: DagSample, weighted: bool) -> Iterator[str]:
    names, graphs = sample.names, len(sample)
    moments = np.concatenate([[0.0], np.cumsum(sample.weights * graphs)]) if weighted else None
    star = _edge_list([0] * (len(names) - 1), range(1, len(names)), names)
    unset = ",0.0" if weighted else ""
    yield ",".join([*_COLUMNS[:2], *(["time"] if weighted else []), *_COLUMNS[2:]])
    yield f"\n-2,0.0{unset},{star},[]\n-1,0.0{unset},[],{star}\n"
    before = np.zeros((1, len(names), words_of(len(names))), dtype=np.uint64)
    for part in blocks_of_graphs(sample.parents):
        graphs_here = sample.parents[part].astype(np.uint64).reshape(-1, *before.shape[1:])
        yield _changes(graphs_here, before, part.start, sample, moments)
        before = graphs_here[-1:]
    end = f",{float(graphs)!r}" if weighted else ""
    yield f"{graphs},{float(sample.log_joint[-1])!r}{end},[],[]\n"


def _changes(graphs: Masks, before: Masks, start: int, sample: DagSample, moments: Floats | None) -> str:
    """The lines of the graphs that differ from the one before; graph 0 has one whatever it is."""
    earlier = np.concatenate([before, graphs[:-1]])
    differs = (graphs != earlier).any(axis=(1, 2))
    differs[0] |= start == 0
    rows = np.flatnonzero(differs)
    added, removed = (
        _edge_lists(edges, sample.names) for edges in (graphs[rows] & ~earlier[rows], earlier[rows] & ~graphs[rows])
    )
    places = rows + start
    scores = sample.log_joint[places].tolist()
    times = [""] * len(rows) if moments is None else [f",{moment!r}" for moment in moments[places].tolist()]
    lines = zip(places.tolist(), scores, times, added, removed, strict=True)
    return "".join(f"{index},{score!r}{time},{plus},{minus}\n" for index, score, time, plus, minus in lines)


def _edge_lists(sets: Masks, names: Sequence[str]) -> list[str]:
    """The edges of each graph as text."""
    graph, child, parent = edges_in_words(sets)
    bounds = np.searchsorted(graph, np.arange(len(sets) + 1)).tolist()
    children, parents = child.tolist(), parent.tolist()
    return [_edge_list(parents[first:last], children[first:last], names) for first, last in pairwise(bounds)]


def _edge_list(parents: Sequence[int], children: Sequence[int], names: Sequence[str]) -> str:
    listed = (f"{names[parent]}{_ARROW}{names[child]}" for parent, child in zip(parents, children, strict=True))
    return f"[{';'.join(listed)}]"


# Reading


def read_trajectory(path: str | os.PathLike[str]) -> Trajectory:
    """Read a trajectory of directed graphs, by whichever algorithm of Benchpress it was written.

    A graph weighs as many steps of `index` as it stays, or of `time` if there is such a column. The last one weighs one
    step, or nothing if its row changes nothing and only says where the trajectory ends.
    """
    reader = _Reader(file_path(path))
    names = reader.names()
    parents, last_changes = reader.graphs(names)
    count = len(parents)
    index, time = reader.rising("index"), reader.rising("time") if "time" in reader.columns else None
    if index[0] != 0:
        reader.fail(2, "the third row must have index 0, where the first graph begins")
    scores = np.array([reader.score(row) for row in range(2, count + 2)])
    steps = np.diff(index if time is None else time)
    ends = count > 1 and not last_changes
    kept = count - 1 if ends else count
    weights = steps if ends else np.append(steps, 1.0 if time is None or not len(steps) else steps.mean())
    if weights.sum() <= 0.0:
        reader.fail(reader.count - 1, "no graph has any weight: 'index', or 'time', never goes on")
    nodes = len(names)
    masks = parents[:kept, :, 0].astype(mask_type(nodes)) if nodes <= MAX_NODES else parents[:kept]
    return Trajectory(names, masks, index[:kept].astype(np.int64), scores[:kept], weights / weights.sum())


class _Reader:
    """A file that is being read: every error names its line."""

    def __init__(self, source: Path) -> None:
        if source.is_file():
            size = source.stat().st_size
            memory.require(_BYTES_A_BYTE * size, f"Reading {str(source)!r}", "Use a file with fewer rows.")
        self.source, self.table = source, table_of(text_of(source), source)
        missing = [name for name in _COLUMNS if name not in self.table.header]
        if missing:
            self.fail(-1, f"the first line must name the columns {', '.join(_COLUMNS)}, and {missing[0]!r} is missing")
        self.columns, self.count = self.table.columns(), len(self.table.rows)
        if self.count < 3:
            self.fail(self.count - 1, "the file ends before index 0, so it holds no graph")

    def text(self, row: int, column: str) -> str:
        return self.columns[column][row]

    def names(self) -> tuple[str, ...]:
        """The columns, which the first two rows join to the first of them."""
        for row, (index, column, other) in enumerate((("-2", "added", "removed"), ("-1", "removed", "added"))):
            if self.text(row, "index") != index or self.text(row, other) != "[]":
                self.fail(
                    row,
                    f"row {row + 1} must have index {index}, the edges from the first column to all others in "
                    f"{column!r}, and [] in {other!r}",
                )
        star = self.text(0, "added")
        ends = [edge.split(_ARROW) for edge in self.edges(0, "added")]
        if ends and all(len(pair) == 1 and "-" in pair[0] for pair in ends):
            self.fail(0, "these graphs are undirected (edges are written A-B, not A->B), so they are not DAGs")
        if not ends or any(len(pair) != 2 or pair[0] != ends[0][0] for pair in ends):
            self.fail(
                0, f"the edges must lead from the first column to all others, as in [A->B;A->C], not {shown(star)}"
            )
        found = (ends[0][0], *(pair[1] for pair in ends))
        if len({*found}) < len(found) or not all(found) or len(found) > MOST_COLUMNS:
            self.fail(0, f"the columns must be at most {MOST_COLUMNS:,} with different names, not {shown(star)}")
        if self.text(1, "removed") != star:
            self.fail(1, "the edges of the first row must be removed again")
        return found

    def edges(self, row: int, column: str) -> list[str]:
        """The edges of a list as they are written."""
        text = self.text(row, column)
        if not (text.startswith("[") and text.endswith("]")):
            self.fail(row, f"{column!r} must be a list of edges such as [A->B;C->D], or [], not {shown(text)}")
        return text[1:-1].split(";") if len(text) > 2 else []

    def graphs(self, names: tuple[str, ...]) -> tuple[Masks, bool]:
        """The graphs (rows, columns, words) from index 0 on, and whether the last row changes anything."""
        count, nodes = self.count - 2, len(names)
        memory.require(
            5 * 8 * count * nodes * words_of(nodes), f"{count:,} graphs of {nodes:,} columns", "Use fewer rows."
        )
        added, removed = (self._sets(column, names) for column in ("added", "removed"))
        graphs = np.bitwise_xor.accumulate(added ^ removed, axis=0)
        earlier = np.concatenate([np.zeros_like(graphs[:1]), graphs[:-1]])
        self._refuse(added & removed, names, "is added and removed in the same row")
        self._refuse(added & earlier, names, "is added, but it is there already")
        self._refuse(removed & ~earlier, names, "is removed, but it is not there")
        for part in blocks_of_graphs(graphs):
            cyclic = graphs_with_cycles(*edges_in_words(graphs[part]), nodes)
            if len(cyclic):
                self.fail(2 + part.start + int(cyclic[0]), "after this row the graph has a directed cycle")
        return graphs, bool((added[-1] | removed[-1]).any())

    def _sets(self, column: str, names: tuple[str, ...]) -> Masks:
        known = {name: place for place, name in enumerate(names)}
        places: dict[str, int] = {}
        nodes, rows, codes = len(names), [], []
        for row in range(2, self.count):
            for edge in self.edges(row, column):
                if edge not in places:
                    places[edge] = self._place(row, column, edge, known)
                rows.append(row - 2)
                codes.append(places[edge])
        graph, edges = np.array(rows, dtype=np.int64), np.array(codes, dtype=np.int64)
        order = np.lexsort((edges, graph))
        child, parent = np.divmod(edges[order], nodes)
        return words_of_edges(graph[order], child, parent, self.count - 2, nodes)

    def _place(self, row: int, column: str, edge: str, known: dict[str, int]) -> int:
        """The number of an edge: child by child."""
        ends = edge.split(_ARROW)
        if len(ends) != 2 or ends[0] == ends[1] or not {*ends} <= known.keys():
            self.fail(row, f"in {column!r}, {shown(edge)} is not an edge such as A->B between two columns of this file")
        return known[ends[1]] * len(known) + known[ends[0]]

    def _refuse(self, sets: Masks, names: tuple[str, ...], what: str) -> None:
        if sets.any():
            graph, child, parent = (int(places[0]) for places in edges_in_words(sets))
            self.fail(graph + 2, f"the edge {names[parent]}{_ARROW}{names[child]} {what}")

    def rising(self, column: str) -> Floats:
        """A column of numbers that never fall, one for every graph; a graph that is replaced at once weighs nothing."""
        found = np.array([number_in(text) for text in self.columns[column][2:]])
        wrong = ~np.isfinite(found) | (np.diff(found, prepend=found[0]) < 0.0)
        wrong |= (column == "index") & (found != np.floor(found))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0]) + 2
            kind = "a whole number" if column == "index" else "a number"
            self.fail(row, f"{column!r} must be {kind} that does not fall, not {shown(self.text(row, column))}")
        return found

    def score(self, row: int) -> float:
        text = self.text(row, "score")
        score = math.nan if text in ("", "NA") else number_in(text)
        if math.isnan(score) and text.lower() not in ("", "na", "nan"):
            self.fail(row, f"the score must be a number, or NA where it is not known, not {shown(text)}")
        return score

    def fail(self, row: int, problem: str) -> NoReturn:
        """Refuse the file; row -1 is the line of the column names."""
        line = self.table.lines[row] if row >= 0 else 1
        raise InputError(f"{str(self.source)!r}, line {line}: {problem}.")
