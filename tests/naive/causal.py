"""What all naive effects share: parents and paths of a graph, a tuple of parent masks, and Dirichlet parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Graph = Sequence[int]
Generator = np.random.Generator


def members(mask: int) -> list[int]:
    return [node for node in range(64) if int(mask) >> node & 1]


def has_path(graph: Graph, source: int, target: int) -> bool:
    return any(parent == source or has_path(graph, source, parent) for parent in members(graph[target]))


@dataclass(frozen=True)
class Pseudocounts:
    """The parameter of a cell of a family that has so many cells: a share of a sample size, or fixed."""

    size: float | None = None
    fixed: float | None = None

    def of(self, cells: int) -> float:
        if self.size is not None:
            return self.size / cells
        assert self.fixed is not None
        return self.fixed
