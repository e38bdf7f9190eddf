"""Columns of log probabilities for 64 rows at a time: what is asked for, and how rows are cut into strips.

Kernels work on all 64 rows of a strip in step, which is what lets them use vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.prediction.rows import NewRows

#: Rows that are worked on together.
LANES = 64

#: Writes the columns of 64 rows, given their cells (nodes, 64) and their interventions, into (columns, 64).
Fill = Callable[[NDArray[Any], Masks, Floats], None]


class Wanted(NamedTuple):
    """Columns: a node (-1: a column of zeros) and its parents; the level of the target, or -1 for that of the row."""

    children: Integers
    parents: Masks
    levels: Integers


def strip_of(rows: NewRows, start: int) -> tuple[NDArray[Any], Masks]:
    """The cells and interventions of 64 rows; zeros stand beyond the last."""
    part = rows.cells[:, start : start + LANES]
    cells = np.zeros((len(part), LANES), dtype=part.dtype)
    cells[:, : part.shape[1]] = part
    interventions = np.zeros(LANES, dtype=np.uint64)
    interventions[: part.shape[1]] = rows.interventions[start : start + LANES]
    return cells, interventions


def parent_lists(parents: Masks, nodes: int) -> tuple[NDArray[np.int64], Integers]:
    """The parents of each family, ascending, in rows of equal length, and how many there are.

    >>> lists, sizes = parent_lists(np.array([0b101, 0b000], dtype=np.uint64), 3)
    >>> lists[0].tolist(), sizes.tolist()
    ([0, 2], [2, 0])
    """
    member = parents[:, np.newaxis] >> np.arange(nodes, dtype=np.uint64) & np.uint64(1) == 1
    sizes = member.sum(axis=1)
    # Members first, in their order.
    lists = np.argsort(~member, axis=1, kind="stable")[:, : max(int(sizes.max(initial=0)), 1)]
    return np.ascontiguousarray(lists), sizes
