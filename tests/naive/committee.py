"""The slow, obvious twin of a committee: the posterior of every graph under each member, and their weighted sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.naive import posterior as naive
from tests.naive.density import AveragedDensity, Flags, Numbers


class Members:
    """The posterior probability of every graph under each member, members in the rows, and under all of them."""

    def __init__(
        self,
        log_scores: Sequence[Numbers],
        densities: Sequence[float],
        weights: Sequence[float],
        allowed: Flags,
        *,
        orders: bool,
    ) -> None:
        alone = [AveragedDensity([own], densities, allowed, orders=orders) for own in log_scores]
        self.weights = np.array(weights) / sum(weights)
        self.each = np.array([own.graphs for own in alone])
        self.graphs: Numbers = self.weights @ self.each
        #: Of every member and density.
        self.shares = np.concatenate([share * own.shares for share, own in zip(self.weights, alone, strict=True)])

    def probability(self, holds: Flags, given: Flags | None = None) -> float:
        """The probability of the graphs in which a statement holds, among those in which another does."""
        among = np.ones_like(holds) if given is None else given
        return float(self.graphs[holds & among].sum() / self.graphs[among].sum())

    def edges(self, graphs: Numbers) -> Numbers:
        """The probability of every edge (parent, child), given that of every graph."""
        nodes = {3: 2, 25: 3, 543: 4}[len(graphs)]
        masks = naive.parents_in_every_dag(nodes)
        return np.array([[graphs @ (masks[:, child] >> a & 1) for child in range(nodes)] for a in range(nodes)])
