"""Which column, or which edge, holds a strongly connected component together?

Without it the component falls apart into smaller ones, and the sums over graphs (components.py) cost what the largest
of those does. Every column and every edge is left out in turn and the components of the rest are counted anew. Time:
some steps for every edge there is, each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dagpost._tools.arrays import Flags, Integers


def largest_without_columns(edges: Flags, columns: Integers) -> Integers:
    """For each of some columns, the size of the largest component that is left without it.

    >>> ring = np.roll(np.eye(4, dtype=bool), 1, axis=1)
    >>> largest_without_columns(ring, np.array([0, 2])).tolist()
    [1, 1]
    """
    child, parent = np.nonzero(edges)
    return _largest(edges, ((child == column) | (parent == column) for column in columns))


def largest_without_edges(edges: Flags, children: Integers, parents: Integers) -> Integers:
    """For each of some edges, the size of the largest component that is left without it.

    >>> ring = np.roll(np.eye(4, dtype=bool), 1, axis=1) | np.eye(4, k=-1, dtype=bool)
    >>> largest_without_edges(ring, np.array([0, 3]), np.array([1, 0])).tolist()
    [3, 4]
    """
    child, parent = np.nonzero(edges)
    places = np.searchsorted(child * len(edges) + parent, children * len(edges) + parents)
    return _largest(edges, ([place] for place in places))


def _largest(edges: Flags, left_out: Iterable[Flags | list[int]]) -> Integers:
    """The size of the largest component each time some edges, by their numbers row by row, are left out."""
    return np.array([max(sizes) for sizes in _sizes(edges, left_out)], dtype=np.int64)


def _sizes(edges: Flags, left_out: Iterable[Flags | list[int]]) -> Iterator[Integers]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    whole = csr_array(edges, dtype=np.float64)
    child = np.repeat(np.arange(len(edges)), np.diff(whole.indptr))
    for gone in left_out:
        # An edge from a column to itself joins nothing.
        parent = whole.indices.copy()
        parent[gone] = child[gone]
        graph = csr_array((whole.data, parent, whole.indptr), shape=whole.shape)
        yield np.bincount(connected_components(graph, directed=True, connection="strong")[1])
