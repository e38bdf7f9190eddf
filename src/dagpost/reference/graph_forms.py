"""Graphs as samplers hold them (stacks of matrices, networkx graphs, lists of edges), as rows of parent masks.

Graphs with directed cycles are found here: several samplers return some (DiBS, continuous relaxations), and they belong
to no posterior over DAGs. Time: 100,000 graphs of 20 columns take 0.1 s as a stack, 0.5 s as lists of 40 edges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import nearest, printable, shown
from dagpost.errors import InputError
from dagpost.families.masks import UnsignedMasks, graph_of_masks, mask_type, matrices_of_masks
from dagpost.files.graph_rows import edges_in, ends_of
from dagpost.reference.edge_forms import Place, graph_number, labels_of, put_in_order

if TYPE_CHECKING:
    import pandas as pd


#: So many graphs are read together.
_AT_A_TIME = 1 << 14
_FORMS = (
    "Graphs are an array of 0 and 1 of shape (graphs, columns, columns) with parents in the rows, or a list of "
    "networkx DiGraphs or of lists of pairs (parent, child)."
)


def masks_of_graphs(graphs: Any, names: Sequence[str]) -> UnsignedMasks:
    """Graphs in any form as rows of parent masks, cyclic ones included."""
    # What has names besides numbers (pandas, xarray) is taken matrix by matrix, by its names.
    if hasattr(graphs, "__array__") and not hasattr(graphs, "columns") and not hasattr(graphs, "to_pandas"):
        return masks_of_stack(np.asarray(graphs), names)
    if not isinstance(graphs, Iterable) or isinstance(graphs, str | bytes | Mapping) or hasattr(graphs, "columns"):
        raise InputError(f"{_FORMS} Got {shown(graphs)} instead.")
    listed = list(graphs)
    if listed and all(getattr(graph, "ndim", 0) == 2 for graph in listed):
        return masks_of_stack(_stacked(listed, names), names)
    known = frozenset(names)
    return EdgeTexts(names).masks([_pairs(graph, at, known) for at, graph in enumerate(listed)])


def _stacked(graphs: Sequence[Any], names: Sequence[str]) -> NDArray[Any]:
    """Matrices as one array; tables are matched by their names, as those of probabilities are."""
    tables = (graph.to_pandas() if hasattr(graph, "to_pandas") else graph for graph in graphs)
    matrices = [_in_order(table, names) if hasattr(table, "columns") else np.asarray(table) for table in tables]
    nodes = len(names)
    wrong = next((at for at, matrix in enumerate(matrices) if matrix.shape != (nodes, nodes)), None)
    if wrong is not None:
        raise InputError(
            f"Graph {wrong} is a matrix of shape {matrices[wrong].shape}, and the case has {nodes} columns: give "
            f"({nodes}, {nodes}), parents in the rows."
        )
    return np.stack(matrices)


def _in_order(graph: pd.DataFrame, names: Sequence[str]) -> NDArray[Any]:
    labels, matrix = labels_of(graph), graph.to_numpy()
    return matrix if labels is None else put_in_order(matrix, *labels, names)


def masks_of_stack(stack: NDArray[Any], names: Sequence[str]) -> UnsignedMasks:
    """A stack of matrices [graph, parent, child] of 0 and 1.

    >>> masks_of_stack(np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]]), ["A", "B"]).tolist()
    [[0, 1], [0, 0]]
    """
    nodes = len(names)
    if stack.ndim != 3 or stack.shape[1:] != (nodes, nodes) or stack.dtype.kind not in "biuf":
        raise InputError(
            f"{_FORMS} Here that is (graphs, {nodes}, {nodes}). Got an array of {stack.dtype} of shape {stack.shape}."
        )
    flags = stack if stack.dtype.kind == "b" else stack != 0
    if stack.dtype.kind != "b" and (stack[flags] != 1).any():
        graph, parent, child = np.argwhere(flags & (stack != 1))[0]
        raise InputError(
            f"A graph has an edge (1) or not (0). Graph {graph} has {stack[graph, parent, child]} for {names[parent]} "
            f"-> {names[child]}. Cut weights at a threshold first, or give the matrix of edge probabilities."
        )
    kind = np.dtype(mask_type(nodes))
    packed = np.packbits(flags.swapaxes(1, 2), axis=2, bitorder="little")
    whole = np.zeros((len(stack), nodes, kind.itemsize), dtype=np.uint8)
    whole[:, :, : packed.shape[2]] = packed
    return whole.view(kind.newbyteorder("<")).astype(kind).reshape(len(stack), nodes)


class EdgeTexts:
    """Reads edges by their names, many times the same ones: each is looked up once.

    An edge is a pair of names, or a text such as "A->B".
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        #: The place of an edge in a matrix [parent, child] whose rows lie one after the other.
        self._known: dict[Any, int] = {}
        for parent, source in enumerate(names):
            for child, to in enumerate(names):
                if parent != child:
                    self._known[source, to] = self._known[f"{source}->{to}"] = parent * len(names) + child

    def masks(self, graphs: Sequence[Collection[Any]], place: Place = graph_number) -> UnsignedMasks:
        """Graphs, each given by its edges or a text of them, as rows of parent masks; an edge may come twice."""
        nodes = len(self.names)
        rows = np.zeros((len(graphs), nodes), dtype=mask_type(nodes))
        for start in range(0, len(graphs), _AT_A_TIME):
            # Texts are taken apart some at a time: millions of small texts would fill the memory.
            chosen = graphs[start : start + _AT_A_TIME]
            part = [edges_in(edges) if isinstance(edges, str) else edges for edges in chosen]
            flags = np.zeros((len(part), nodes**2), dtype=np.bool_)
            which = np.repeat(np.arange(len(part)), [len(edges) for edges in part])
            flags[which, self._places(part, start, place)] = True
            rows[start : start + len(part)] = masks_of_stack(flags.reshape(len(part), nodes, nodes), self.names)
        return rows

    def _places(self, graphs: Sequence[Collection[Any]], start: int, place: Place) -> NDArray[np.int64]:
        try:
            return np.fromiter(map(self._known.__getitem__, chain.from_iterable(graphs)), dtype=np.int64)
        except (KeyError, TypeError):
            # Some edge is wrong, or written another way: one by one.
            found: list[int] = []
        for at, edges in enumerate(graphs, start):
            try:
                found.extend(self._place(edge) for edge in edges)
            except InputError as error:
                raise InputError(f"{place(at)}: {error.marked}") from None
        return np.array(found, dtype=np.int64)

    def _place(self, edge: Any) -> int:
        try:
            return self._known[edge]
        except (KeyError, TypeError):
            found = self._known[self._read(edge)]
        if isinstance(edge, str):
            self._known[edge] = found
        return found

    def _read(self, edge: Any) -> tuple[str, str]:
        ends = ends_of(edge) if isinstance(edge, str) else edge
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            raise InputError(f"an edge is a pair (parent, child), written 'A->B'. Got {shown(edge)} instead.")
        for end in ends:
            if end not in self.names:
                raise InputError(f"the case has no column {shown(end)}.{nearest(str(end), self.names)}")
        if ends[0] == ends[1]:
            raise InputError(f"{ends[0]} -> {ends[1]} leads from a column to itself. Leave it out.")
        return ends[0], ends[1]


def _pairs(graph: Any, at: int, names: frozenset[str]) -> list[Any]:
    if hasattr(graph, "is_directed"):
        if not graph.is_directed():
            raise InputError(f"Graph {at} is undirected: its edges do not say which end is the parent. Give a DiGraph.")
        other = next((node for node in graph.nodes if node not in names), None)
        if other is not None:
            raise InputError(f"Graph {at}: the case has no column {shown(other)}.{nearest(str(other), sorted(names))}")
        return [edge[:2] for edge in graph.edges]
    if isinstance(graph, str | Mapping) or not isinstance(graph, Iterable):
        raise InputError(f"{_FORMS} Got {shown(graph)} as graph {at}.")
    return graph if isinstance(graph, list) else list(graph)


def cycle_in(row: UnsignedMasks, names: Sequence[str]) -> str:
    """One directed cycle of a graph, as text."""
    import networkx as nx

    found = [edge[0] for edge in nx.find_cycle(graph_of_masks(row.astype(np.uint64), names))]
    return " -> ".join(printable(name) for name in [*found, found[0]])


def reordered(parents: UnsignedMasks, found: Sequence[str], names: Sequence[str]) -> UnsignedMasks:
    """Graphs over the same columns in another order."""
    if tuple(found) == tuple(names):
        return parents
    order = np.array([list(found).index(name) for name in names])
    return masks_of_stack(matrices_of_masks(parents)[:, order][:, :, order], names)
