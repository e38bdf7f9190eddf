"""One graph that the user has in mind: from a networkx graph or a list of edges to a row of parent masks, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost._tools.checks import different_texts, whole_number
from dagpost._tools.spelling import bare
from dagpost._tools.text import position_of, printable, shown
from dagpost.errors import InputError
from dagpost.families.masks import check_row_of_masks, graph_of_masks, masks_of_integers
from dagpost.families.parent_lists import MOST_COLUMNS

if TYPE_CHECKING:
    import networkx as nx

    from dagpost.posterior.sample import UnsignedMasks

    #: What a user may give as a graph; `masks_of_graph` says what each means.
    GivenGraph: TypeAlias = nx.DiGraph[str] | Iterable[tuple[str, str]] | Mapping[str, Iterable[str]] | UnsignedMasks


def masks_of_graph(graph: GivenGraph, names: Iterable[str], max_parents: int | None = None) -> Masks:
    """A graph as one row of parent masks: bit j of entry i says that variable j is a parent of variable i.

    Where there are more than 64 variables an entry is a row of words: bit j % 64 of word j // 64.

    Parameters
    ----------
    graph
        A directed networkx graph, pairs `(parent, child)`, a mapping from each child to its parents, or such a row of
        masks itself. Variables that are not named in it have no edges.
    names
        The variables, in the order of the columns.
    max_parents
        More parents than this are an error.

    >>> masks_of_graph([("A", "C"), ("B", "C")], ["A", "B", "C"]).tolist()
    [0, 0, 3]
    >>> masks_of_graph({"C": ["A", "B"]}, ["A", "B", "C"]).tolist()
    [0, 0, 3]
    """
    known = different_texts(names, "names", "masks_of_graph")
    if max_parents is not None:
        whole_number(max_parents, "max_parents", "masks_of_graph", least=0)
    if not 1 <= len(known) <= MOST_COLUMNS:
        raise InputError(f"A graph has 1 to {MOST_COLUMNS} variables. Got {len(known)} names.")
    pairs = _pairs(graph, known)
    _refuse_cycles(pairs)
    masks = [0] * len(known)
    for parent, child in pairs:
        masks[position_of(child, known)] |= 1 << position_of(parent, known)
    for child, mask in zip(known, masks, strict=True):
        if max_parents is not None and mask.bit_count() > max_parents:
            raise InputError(
                f"{child!r} has {mask.bit_count()} parents in this graph, and at most {max_parents} are allowed: its "
                f"probability is 0. Leave some out, or fit a model with a larger {bare('max_parents')}."
            )
    return masks_of_integers(masks, len(known))


def _pairs(graph: object, names: tuple[str, ...]) -> list[tuple[str, str]]:
    import networkx as nx

    if isinstance(graph, np.ndarray) and graph.dtype.kind in "ui":
        return _pairs_of_masks(graph, names)
    if isinstance(graph, nx.Graph):
        if not graph.is_directed():
            raise InputError("The edges of an undirected graph do not say which end is the parent. Give a DiGraph.")
        for node in graph.nodes:
            position_of(node, names)
        return [(edge[0], edge[1]) for edge in graph.edges]
    if isinstance(graph, str) or not isinstance(graph, Iterable) or getattr(graph, "ndim", 1) == 0:
        raise InputError(
            "A graph is a directed networkx graph, a list of pairs (parent, child), a mapping from each child to its "
            f"parents, or a row of parent masks. Got {shown(graph)} instead."
        )
    if not isinstance(graph, Mapping):
        return [_pair(edge, names) for edge in graph]
    for child, parents in graph.items():
        if isinstance(parents, str) or not isinstance(parents, Iterable) or getattr(parents, "ndim", 1) == 0:
            raise InputError(f"The parents of {shown(child)} must be a list of names. Got {shown(parents)} instead.")
        position_of(child, names)
    return [_pair((parent, child), names) for child, parents in graph.items() for parent in parents]


def _pairs_of_masks(masks: Any, names: tuple[str, ...]) -> list[tuple[str, str]]:
    check_row_of_masks(masks, len(names))
    return list(graph_of_masks(masks, names).edges)


def _pair(edge: object, names: tuple[str, ...]) -> tuple[str, str]:
    # A set does not say which comes first.
    listed = isinstance(edge, Iterable) and not isinstance(edge, str | Set) and getattr(edge, "ndim", 1) == 1
    ends: tuple[Any, ...] = tuple(edge) if listed else ()  # type: ignore[arg-type]
    if len(ends) != 2:
        raise InputError(f"An edge is a pair (parent, child) of names. Got {shown(edge)} instead.")
    for name in ends:
        position_of(name, names)
    return ends[0], ends[1]


def _refuse_cycles(pairs: list[tuple[str, str]]) -> None:
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(pairs)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [edge[0] for edge in nx.find_cycle(graph)]
        way = " -> ".join(printable(name) for name in [*cycle, cycle[0]])
        raise InputError(f"This graph has a directed cycle, so it is not a DAG: {way}. Leave one of these edges out.")
