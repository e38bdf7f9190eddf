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
from dagpost._tools.schema import ArrayRule, Sizes, check_arrays, require, wholes
from dagpost._tools.wide_graphs import WORD, blocks_of_graphs, edges_in_words, graphs_with_cycles, words_of_edges
from dagpost.families.parent_lists import MOST_COLUMNS

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
    counts = np.bitwise_count(parents).sum(axis=2, dtype=np.uint16)
    columns = [edges_in_words(parents[block])[2].astype(np.uint16) for block in blocks_of_graphs(parents)]
    fewer = np.uint8 if int(counts.max(initial=0)) < 256 else np.uint16
    return {_COUNTS: counts.astype(fewer), _COLUMNS: np.concatenate(columns)}


def check_parents(arrays: Arrays, sizes: Sizes) -> None:
    """Refuse, with a `ValueError`, what are not the parents of graphs without cycles."""
    nodes = sizes["nodes"]
    check_arrays(RULES, arrays, sizes)
    counts, columns = arrays[_COUNTS].astype(np.int64).reshape(-1), arrays[_COLUMNS].astype(np.int64)
    require(int(counts.sum()) == len(columns), f"{len(columns)} parents where {int(counts.sum())} are counted")
    require(int(columns.max(initial=0)) < nodes, f"parents beyond the {nodes} nodes")
    sets = np.repeat(np.arange(len(counts)), counts)
    require(bool((np.diff(sets * nodes + columns) > 0).all()), "parents that do not ascend")
    graph, child = np.divmod(sets, nodes)
    cyclic = graphs_with_cycles(graph, child, columns, nodes)
    require(not len(cyclic), f"parents has a cycle in graph {cyclic[0] if len(cyclic) else 0}")
    words = -(-nodes // WORD)
    memory.require(8 * words * len(counts), f"{sizes['graphs']:,} graphs of {nodes:,} columns", "Free some memory.")


def kept_parents(arrays: Arrays) -> NDArray[Any]:
    """The parents that `parents_to_keep` took apart, once `check_parents` has seen them."""
    if "parents" in arrays:
        return arrays["parents"]
    graphs, nodes = arrays[_COUNTS].shape
    sets = np.repeat(np.arange(graphs * nodes), arrays[_COUNTS].reshape(-1))
    return words_of_edges(*np.divmod(sets, nodes), arrays[_COLUMNS].astype(np.int64), graphs, nodes)
