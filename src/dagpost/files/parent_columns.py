"""Graphs of more than 64 columns in a file: how many parents each node has in each graph, and which columns they are.

In words of 64 bits 10,000 graphs of 220 columns take 70 MB, nearly all of it zeros. Here they take a byte for each node
and two for each edge, some 4 MB. Which nodes are parents comes in ascending order for each node of each graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Integers
from dagpost._tools.schema import ArrayRule, Sizes, check_arrays, require, wholes
from dagpost._tools.wide_graphs import blocks_of_graphs, edges_in_words, graphs_with_cycles, words_of_edges
from dagpost.families.parent_lists import MOST_COLUMNS, words_of

Arrays = Mapping[str, NDArray[Any]]

_COUNTS, _COLUMNS = "parent_counts", "parent_columns"
RULES: Mapping[str, ArrayRule] = {
    _COUNTS: wholes("graphs", "nodes", most=MOST_COLUMNS),
    _COLUMNS: wholes("edges", most=MOST_COLUMNS - 1),
}


def parents_to_keep(parents: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The arrays of a file for the parents of graphs: up to 64 columns the parents themselves."""
    if parents.ndim == 2:
        return {"parents": parents}
    counts, columns = np.empty(parents.shape[:2], dtype=np.uint16), [np.empty(0, dtype=np.uint16)]
    for block in blocks_of_graphs(parents):
        graph, child, parent = edges_in_words(parents[block])
        rows = counts[block]
        rows[...] = np.bincount(graph * rows.shape[1] + child, minlength=rows.size).reshape(rows.shape)
        columns.append(parent.astype(np.uint16))
    fewer = np.uint8 if int(counts.max(initial=0)) < 256 else np.uint16
    return {_COUNTS: counts.astype(fewer), _COLUMNS: np.concatenate(columns)}


def check_parents(arrays: Arrays, sizes: Sizes) -> None:
    """Refuse, with a `ValueError`, what are not the parents of graphs without cycles."""
    nodes = sizes["nodes"]
    check_arrays(RULES, arrays, sizes)
    counted, columns = int(arrays[_COUNTS].sum(dtype=np.int64)), arrays[_COLUMNS]
    require(counted == len(columns), f"{len(columns)} parents where {counted} are counted")
    require(int(columns.max(initial=0)) < nodes, f"parents beyond the {nodes} nodes")
    graphs = len(arrays[_COUNTS])
    memory.require(8 * words_of(nodes) * nodes * graphs, f"{graphs:,} graphs of {nodes:,} columns", "Free some memory.")
    graph, child, parent = _edges(arrays)
    require(bool((np.diff((graph * nodes + child) * nodes + parent) > 0).all()), "parents that do not ascend")
    cyclic = graphs_with_cycles(graph, child, parent, nodes)
    if len(cyclic):
        raise ValueError(f"parents has a cycle in graph {cyclic[0]}")


def kept_parents(arrays: Arrays) -> NDArray[Any]:
    """The parents that `parents_to_keep` took apart, once `check_parents` has seen them."""
    return arrays["parents"] if "parents" in arrays else words_of_edges(*_edges(arrays), *arrays[_COUNTS].shape)


def _edges(arrays: Arrays) -> tuple[Integers, Integers, Integers]:
    """The graph, the child and the parent of every edge."""
    counts = arrays[_COUNTS]
    graph, child = np.divmod(np.repeat(np.arange(counts.size), counts.reshape(-1)), counts.shape[1])
    return graph, child, arrays[_COLUMNS].astype(np.int64)
