"""The slow, obvious twin of averaging over the equivalent sample size: every graph under every size, added up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive
from tests.naive import scores

if TYPE_CHECKING:
    from dagpost.data.table import Table

Numbers = NDArray[np.float64]


def bdeu_weights(table: Table, size: float, max_parents: int) -> Numbers:
    """The score of every family, in the numbering of the parent sets."""
    nodes = len(table.names)
    return np.array(
        [
            [
                scores.bdeu(table, child, [node for node in range(nodes) if mask >> node & 1], size)
                for mask in naive.parent_masks(child, nodes, max_parents)
            ]
            for child in range(nodes)
        ]
    )


class Mixture:
    """Log p(value, graph, data) for every value, in the rows, and graph, in the order of `naive.all_dags`.

    With `orders`, a graph counts once for every order that it fits.
    """

    def __init__(self, weights: Sequence[Numbers], max_parents: int, *, orders: bool) -> None:
        nodes = len(weights[0])
        times = np.log(list(naive.orders_of_every_dag(nodes).values())) if orders else 0.0
        one = [naive.log_joint_of_every_dag(own, max_parents) - math.log(len(weights)) for own in weights]
        #: Each graph once, whatever counts.
        self.log_joint = np.array(one)
        self.logs = self.log_joint + times
        self.log_evidence = naive.log_sum(self.logs.ravel())

    @property
    def shares(self) -> Numbers:
        """The posterior probability of each value."""
        return np.exp([naive.log_sum(row) - self.log_evidence for row in self.logs])

    @property
    def graphs(self) -> Numbers:
        """The posterior probability of each graph."""
        return np.exp(self.logs - self.log_evidence).sum(axis=0)

    def probability(self, holds: NDArray[np.bool_], given: NDArray[np.bool_] | None = None) -> float:
        """The probability of the graphs in which a statement holds, among those in which another does."""
        among = np.ones_like(holds) if given is None else given
        inside = naive.log_sum(self.logs[:, holds & among].ravel()) if (holds & among).any() else -math.inf
        return math.exp(inside - naive.log_sum(self.logs[:, among].ravel()))

    def best(self) -> Numbers:
        """The log weight of every graph, each counted once, best first."""
        return np.sort([naive.log_sum(column) for column in self.log_joint.T])[::-1]
