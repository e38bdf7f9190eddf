"""The distinct families of some graphs: a family is a node with its parents, and graphs share most of theirs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Integers, Masks
from dagpost.families.masks import check_masks, refuse_wide


class Families(NamedTuple):
    """The distinct families of some graphs, and the number of that of each node in each graph."""

    children: Integers
    parents: Masks
    numbers: NDArray[np.int32]


def families_in(parents: NDArray[Any]) -> Families:
    """The distinct families of graphs given as rows of parent masks, sorted by node and then by parents.

    >>> families = families_in(np.array([[0, 1], [2, 0], [0, 1]], dtype=np.uint8))
    >>> families.children.tolist(), families.parents.tolist()
    ([0, 0, 1, 1], [0, 2, 0, 1])
    >>> families.numbers.tolist()
    [[0, 3], [1, 2], [0, 3]]
    """
    check_masks(parents)
    refuse_wide(parents.shape[1], "Predictions are made")
    numbers = np.empty(parents.shape, dtype=np.int32)
    masks: list[Masks] = []
    total = 0
    for node in range(parents.shape[1]):
        distinct, member = np.unique(parents[:, node], return_inverse=True)
        numbers[:, node] = total + member
        masks.append(distinct.astype(np.uint64))
        total += len(distinct)
    children = np.repeat(np.arange(len(masks)), [len(distinct) for distinct in masks])
    return Families(children, np.concatenate(masks), numbers)
