"""Slow, obvious twins of what is done with drawn graphs: counting the orders that a graph fits, weighing the draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

Dag = tuple[int, ...]


def extensions_by_permutations(parents: Dag) -> int:
    """How many of all the orders of the nodes have every parent before its child."""
    fitting = 0
    for order in permutations(range(len(parents))):
        place = {node: position for position, node in enumerate(order)}
        fitting += all(
            place[parent] < place[child]
            for child, mask in enumerate(parents)
            for parent in range(len(parents))
            if mask >> parent & 1
        )
    return fitting


def extensions_by_down_sets(parents: Dag) -> int:
    """The textbook sum over down-sets: the last node of a set is one that is no parent of another in it."""
    everything = (1 << len(parents)) - 1

    @cache
    def orders(members: int) -> int:
        if members == 0:
            return 1
        needed = 0
        for node, mask in enumerate(parents):
            needed |= mask if members >> node & 1 else 0
        return sum(orders(members ^ (1 << node)) for node in range(len(parents)) if members & ~needed & 1 << node)

    return orders(everything)


def random_dag(nodes: int, density: float, rng: np.random.Generator) -> Dag:
    """A random order, then each edge along it by a coin."""
    order = rng.permutation(nodes)
    masks = [0] * nodes
    for place, child in enumerate(order.tolist()):
        masks[child] = naive.mask_of([p for p in order[:place].tolist() if rng.random() < density])
    return tuple(masks)


def rectangle(rows: int, columns: int) -> Dag:
    """Each cell after the one to its left and the one above it; its orders are the standard Young tableaux."""
    return tuple(
        naive.mask_of([row * columns + column - 1] * (column > 0) + [(row - 1) * columns + column] * (row > 0))
        for row in range(rows)
        for column in range(columns)
    )


def tableaux(rows: int, columns: int) -> int:
    """The number of standard Young tableaux of a rectangle (Frame, Robinson & Thrall 1954)."""
    cells = rows * columns
    hooks = prod(rows - row + columns - column - 1 for row in range(rows) for column in range(columns))
    return prod(range(1, cells + 1)) // hooks


def alternating_orders(nodes: int) -> int:
    """Orders of a zigzag a < b > c < d ...: the numbers of Euler (André 1881)."""
    numbers = [1, 1]
    while len(numbers) <= nodes:
        last = len(numbers) - 1
        numbers.append(sum(comb(last, k) * numbers[k] * numbers[last - k] for k in range(last + 1)) // 2)
    return numbers[nodes]


@dataclass(frozen=True)
class Enumerated:
    """All graphs on a few nodes under some weights: parents, orders they fit, log weights, and both posteriors."""

    parents: NDArray[np.uint8]
    log_joint: NDArray[np.float64]
    log_extensions: NDArray[np.float64]
    log_evidence: float
    log_order_evidence: float

    @property
    def structure_posterior(self) -> NDArray[np.float64]:
        return np.exp(self.log_joint - self.log_evidence)

    @property
    def log_order_posterior(self) -> NDArray[np.float64]:
        return self.log_joint + self.log_extensions - self.log_order_evidence


def enumerated(nodes: int, scale: float, seed: int, *, cost: float = 0.0) -> Enumerated:
    """Every graph, under random weights of that spread, every edge at a cost."""
    families = 1 << (nodes - 1)
    log_weights = np.random.default_rng(seed).normal(scale=scale, size=(nodes, families))
    parents = naive.parents_in_every_dag(nodes).astype(np.uint8)
    log_joint = naive.log_joint_of_every_dag(log_weights, nodes - 1) - cost * np.bitwise_count(parents).sum(axis=1)
    log_extensions = np.log(list(naive.orders_of_every_dag(nodes).values()))
    return Enumerated(
        parents,
        log_joint,
        log_extensions,
        naive.log_sum(log_joint),
        naive.log_sum(log_joint + log_extensions),
    )


def weights_of_distinct(
    graphs: list[Dag], masses: list[float], proposals: list[float], *, by_inclusion: bool
) -> dict[Dag, float]:
    """The weight of each distinct graph, by its mass or its mass over the chance that it was drawn; they sum to 1."""
    draws = len(graphs)
    weights = {}
    for graph, mass, proposal in zip(graphs, masses, proposals, strict=True):
        weights[graph] = mass / (1 - (1 - proposal) ** draws) if by_inclusion else mass
    total = sum(weights.values())
    return {graph: weight / total for graph, weight in weights.items()}


def parted_among_repeats(graphs: list[Dag], weights: dict[Dag, float]) -> list[float]:
    """The weight of each draw."""
    count = Counter(graphs)
    return [weights[graph] / count[graph] for graph in graphs]
