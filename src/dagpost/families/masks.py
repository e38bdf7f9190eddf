"""Graphs as rows of parent masks: checking them, telling the distinct ones apart, and as networkx has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Integers
from dagpost._tools.checks import array_refusal, fits_shape, texts
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES

if TYPE_CHECKING:
    import networkx as nx


def check_masks(parents: object) -> None:
    """Refuse what is not an array of graphs, each a row of parent masks."""
    if not isinstance(parents, np.ndarray):
        raise InputError(f"The parents must be an array of masks. Got {shown(parents)} instead.")
    if parents.ndim != 2 or parents.dtype.kind != "u":
        raise InputError(
            "The parents must be an array of unsigned integers, one row per DAG and one column per variable. "
            f"Got {parents.ndim} dimensions of {parents.dtype} instead."
        )
    nodes = parents.shape[1]
    if not 1 <= nodes <= MAX_NODES:
        raise InputError(f"DAGs have 1 to {MAX_NODES} nodes. Got {nodes} columns of masks.")
    if int(parents.max(initial=0)) >> nodes:
        sample = int(np.argmax(parents.max(axis=1)))
        raise InputError(
            f"DAG number {sample} has a parent beyond its {nodes} nodes. Bit j of a mask stands for column j."
        )


def check_row_of_masks(masks: object, nodes: int) -> None:
    """Refuse what is not one mask for each of some nodes."""
    whole = isinstance(masks, np.ndarray) and masks.dtype.kind in "iu" and masks.shape == (nodes,)
    if not whole or int(masks.min(initial=0)) < 0 or int(masks.max(initial=0)) >> nodes:  # type: ignore[attr-defined]
        raise InputError(
            f"A row of parent masks has {nodes} whole numbers below 2^{nodes}. Got {shown(masks)} instead."
        )


def check_masks_of(parents: object, nodes: int, owner: str) -> None:
    """Refuse what are not masks of graphs over so many nodes: kernels write to the places that masks name."""
    if not isinstance(parents, np.ndarray) or parents.dtype.kind != "u" or not fits_shape(parents, (None, nodes)):
        raise array_refusal(parents, "parents", owner, f"an array of unsigned masks of shape (graphs, {nodes})")
    check_masks(parents)


def distinct_rows(rows: NDArray[Any]) -> tuple[Integers, Integers]:
    """The first place of each distinct row, and for every row the number of the distinct row that it equals.

    >>> first, member = distinct_rows(np.array([[2, 1], [0, 1], [2, 1]], dtype=np.uint8))
    >>> first.tolist(), member.tolist()
    ([1, 0], [1, 0, 1])
    """
    rows = np.ascontiguousarray(rows)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    return first, member.reshape(-1)


def graph_of_masks(masks: NDArray[np.unsignedinteger[Any]], names: Iterable[str]) -> nx.DiGraph[str]:
    """One row of parent masks as a networkx graph.

    >>> sorted(graph_of_masks(np.array([0, 1], dtype=np.uint8), ["A", "B"]).edges)
    [('A', 'B')]
    """
    import networkx as nx

    known = texts(names, "names")
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(known)
    check_row_of_masks(masks, len(known))
    for child, mask in zip(known, masks.tolist(), strict=True):
        graph.add_edges_from((parent, child) for bit, parent in enumerate(known) if mask >> bit & 1)
    return graph


def mask_type(nodes: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds a set of `nodes` nodes."""
    return next(kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if nodes <= 8 * np.dtype(kind).itemsize)
