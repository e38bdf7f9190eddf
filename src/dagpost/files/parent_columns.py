"""Graphs of more than 64 columns in a file: how many parents each node has in each graph, and which columns they are.

In words of 64 bits 10,000 graphs of 220 columns take 70 MB, nearly all of it zeros. Here they take a byte for each node
and two for each edge, some 4 MB. Which nodes are parents comes in ascending order for each node of each graph. Kernels
go over some graphs at a time, on all cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost._tools.schema import ArrayRule, Sizes, check_arrays, require, wholes
from dagpost.engines.threads import over_rows
from dagpost.families.graph_lists import add_column, graphs_together, lists_of
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
    counts = np.empty(parents.shape[:2], dtype=np.uint16)

    def columns_in(rows: slice) -> NDArray[np.uint16]:
        lists, _ = lists_of(np.array(parents[rows], order="C"))
        counts[rows] = np.diff(lists.starts, axis=1)
        return lists.members.astype(np.uint16)

    columns = list(over_rows(columns_in, len(parents), graphs_together(*parents.shape[1:])))
    fewer = np.uint8 if int(counts.max(initial=0)) < 256 else np.uint16
    return {_COUNTS: counts.astype(fewer), _COLUMNS: np.concatenate([*columns, np.empty(0, dtype=np.uint16)])}


def check_parents(arrays: Arrays, sizes: Sizes) -> None:
    """Refuse, with a `ValueError`, what are not the parents of graphs without cycles."""
    nodes = sizes["nodes"]
    check_arrays(RULES, arrays, sizes)
    counted, columns = int(arrays[_COUNTS].sum(dtype=np.int64)), arrays[_COLUMNS]
    require(counted == len(columns), f"{len(columns)} parents where {counted} are counted")
    require(int(columns.max(initial=0)) < nodes, f"parents beyond the {nodes} nodes")
    graphs = len(arrays[_COUNTS])
    memory.require(8 * words_of(nodes) * nodes * graphs, f"{graphs:,} graphs of {nodes:,} columns", "Free some memory.")

    def check(rows: slice, parents: Masks, ascending: bool) -> None:
        require(ascending, "parents that do not ascend")
        cyclic = lists_of(parents)[1]
        require(cyclic < 0, f"parents has a cycle in graph {rows.start + cyclic}")

    _over_graphs(arrays, check)


def kept_parents(arrays: Arrays) -> NDArray[Any]:
    """The parents that `parents_to_keep` took apart, once `check_parents` has seen them."""
    if "parents" in arrays:
        return arrays["parents"]
    graphs, nodes = arrays[_COUNTS].shape
    result = np.empty((graphs, nodes, words_of(nodes)), dtype=np.uint64)

    def write(rows: slice, parents: Masks, _: bool) -> None:
        result[rows] = parents

    _over_graphs(arrays, write)
    return result


def _over_graphs(arrays: Arrays, work: Callable[[slice, Masks, bool], None]) -> None:
    """Give some graphs at a time to `work`: which they are, their parents as words, and whether these ascended."""
    counts, columns = arrays[_COUNTS], arrays[_COLUMNS]
    graphs, nodes = counts.shape
    ends = np.cumsum(counts.sum(axis=1, dtype=np.int64))

    def expand(rows: slice) -> None:
        first, last = (int(ends[row - 1]) if row else 0 for row in (rows.start, rows.stop))
        parents = np.zeros((rows.stop - rows.start, nodes, words_of(nodes)), dtype=np.uint64)
        ascending = _expand(counts[rows].astype(np.int64), columns[first:last].astype(np.int64), parents)
        work(rows, parents, bool(ascending))

    deque(over_rows(expand, graphs, graphs_together(nodes, words_of(nodes))), maxlen=0)


@kernel
def _expand(counts: Integers, columns: Integers, parents: Masks) -> bool:
    """Write the parents as words; whether those of each node ascend."""
    place = 0
    ascending = True
    for graph in range(len(counts)):
        for node in range(counts.shape[1]):
            last = -1
            for _ in range(counts[graph, node]):
                column = columns[place]
                place += 1
                ascending = ascending and column > last
                last = column
                add_column(parents[graph, node], column)
    return ascending
