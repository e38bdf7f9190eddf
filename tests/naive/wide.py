"""Graphs of more than 64 columns: a small graph placed among them, and random ones, bit by bit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

Wide = Any


def words_for(nodes: int) -> int:
    return (nodes + 63) // 64


def place_among(dags: Any, columns: int, seed: int) -> tuple[Wide, list[int]]:
    """The graphs with their nodes at random places among `columns` columns, and these places."""
    places = [int(place) for place in np.random.default_rng(seed).permutation(columns)[: dags.shape[1]]]
    return place_among_given(dags, places, columns), places


def place_among_given(dags: Any, places: list[int], columns: int) -> Wide:
    """The graphs with their nodes at these places."""
    wide = np.zeros((len(dags), columns, words_for(columns)), dtype=np.uint64)
    for graph, row in enumerate(dags.tolist()):
        for child, mask in enumerate(row):
            for parent in range(dags.shape[1]):
                if mask >> parent & 1:
                    add_edge(wide[graph], places[parent], places[child])
    return wide


def add_edge(graph: Wide, parent: int, child: int) -> None:
    graph[child, parent // 64] |= np.uint64(1 << parent % 64)


def has_edge(graph: Wide, parent: int, child: int) -> bool:
    return bool(int(graph[child, parent // 64]) >> parent % 64 & 1)


def random_wide(columns: int, count: int, modelled: int, max_parents: int, seed: int) -> Wide:
    """Random graphs in which only `modelled` of the columns have parents, at most so many."""
    rng = np.random.default_rng(seed)
    wide = np.zeros((count, columns, words_for(columns)), dtype=np.uint64)
    for graph in wide:
        order = rng.permutation(columns)
        for place in range(columns - modelled, columns):
            for _ in range(int(rng.integers(0, max_parents + 1))):
                # Half of the parents are columns that have parents themselves, where there are any before.
                first = columns - modelled if rng.random() < 0.5 and place > columns - modelled else 0
                add_edge(graph, int(order[rng.integers(first, place)]), int(order[place]))
    return wide


def graph_of_wide(graph: Wide, names: list[str]) -> nx.DiGraph:
    result: nx.DiGraph = nx.DiGraph()
    result.add_nodes_from(names)
    for child in range(len(names)):
        for parent in range(len(names)):
            if has_edge(graph, parent, child):
                result.add_edge(names[parent], names[child])
    return result


def names_for(places: list[int], names: list[str], columns: int) -> list[str]:
    """Names of all columns: those of the placed nodes at their places."""
    result = [f"column {column}" for column in range(columns)]
    for place, name in zip(places, names, strict=True):
        result[place] = name
    return result


def wide_mask(members: Iterable[int], words: int) -> np.ndarray:
    """A set of columns as words of 64 bits: column `j` is bit `j % 64` of word `j // 64`."""
    whole = sum(1 << member for member in set(members))
    return np.array([whole >> 64 * word & (1 << 64) - 1 for word in range(words)], dtype=np.uint64)
