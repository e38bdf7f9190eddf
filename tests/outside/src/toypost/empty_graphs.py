"""A method of our own, with a target of its own: only the graph without edges, as often as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dagpost import Draws, Method, Target, Wanted


@dataclass(frozen=True)
class EmptyGraphs(Method):
    """The graph without edges, `repeats` times for each one asked for."""

    repeats: int = 1

    name = "empty-graphs"
    summary = "a toy: the graph without edges"
    citation = "Nobody (2026). Toys that plug into dagpost."
    draws = "independent"
    quick_nodes = float("inf")

    @property
    def target(self) -> Target:
        return Target(
            "no-edges",
            "the graph without edges only",
            "Only the graph without edges is considered.",
            "the one graph without edges",
        )

    def draw(self, workspace: Any, wanted: Wanted) -> Draws:
        number = self.repeats * wanted.number
        nodes = len(wanted.names)
        return Draws(np.zeros((number, nodes), dtype=np.uint64), np.zeros(number))
