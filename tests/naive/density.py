"""The slow, obvious twin of averaging over the density of edges: every graph under every density and size, added up.

The prior of a density over the graphs that rules and limits allow is made to sum to 1 by adding up all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def edges_of_every_dag(nodes: int) -> NDArray[np.int64]:
    """How many edges each graph has."""
    return np.array([sum(mask.bit_count() for mask in dag) for dag in naive.parents_in_every_dag(nodes).tolist()])


def allowed_dags(
    nodes: int,
    max_parents: int,
    required: Collection[tuple[int, int]] = (),
    forbidden: Collection[tuple[int, int]] = (),
) -> Flags:
    """In which graphs no node has too many parents, all required edges are there and no forbidden one is."""
    dags = naive.parents_in_every_dag(nodes).tolist()
    return np.array(
        [
            all(mask.bit_count() <= max_parents for mask in dag)
            and all(dag[child] >> parent & 1 for parent, child in required)
            and not any(dag[child] >> parent & 1 for parent, child in forbidden)
            for dag in dags
        ]
    )


class AveragedDensity:
    """Log p(cell, graph, data) for every size and density, in the rows, and graph, in the order of `naive.all_dags`.

    `scores` has the log score of every graph for each equivalent sample size. With `orders`, a graph counts once for
    every order that it fits.
    """

    def __init__(self, scores: Sequence[Numbers], densities: Sequence[float], allowed: Flags, *, orders: bool) -> None:
        nodes = {3: 2, 25: 3, 543: 4, 29_281: 5}[len(allowed)]
        times = np.log(list(naive.orders_of_every_dag(nodes).values())) if orders else np.zeros(len(allowed))
        edges, barred = edges_of_every_dag(nodes), np.where(allowed, 0.0, -np.inf)
        joint, priors = [], []
        for own in scores:
            for density in densities:
                prior = edges * math.log(density / (1.0 - density)) + barred
                log_sum = naive.log_sum(prior + times)
                priors.append(np.exp(prior + times - log_sum) / len(densities))
                joint.append(own + prior - log_sum - math.log(len(scores) * len(densities)))
        #: Each graph once, whatever counts.
        self.log_joint = np.array(joint)
        self.logs = self.log_joint + times
        #: The probability of each graph before the data.
        self.prior = np.sum(priors[: len(densities)], axis=0)
        self.log_evidence = naive.log_sum(self.logs.ravel())

    @property
    def shares(self) -> Numbers:
        """The posterior probability of each cell."""
        return np.exp([naive.log_sum(row) - self.log_evidence for row in self.logs])

    @property
    def graphs(self) -> Numbers:
        """The posterior probability of each graph."""
        return np.exp(self.logs - self.log_evidence).sum(axis=0)

    def probability(self, holds: Flags, given: Flags | None = None) -> float:
        """The probability of the graphs in which a statement holds, among those in which another does."""
        among = np.ones_like(holds) if given is None else given
        return float(self.graphs[holds & among].sum() / self.graphs[among].sum())
