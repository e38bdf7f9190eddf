"""Slow, obvious twins of the averages over trees.

A graph with at most one parent a node is a tuple of *targets*: the parent of each node, or the node itself if it has
none. Weights are laid out likewise. *Enumeration* tries all tuples and ends at five nodes; *determinants* (the
matrix-tree theorem of Tutte) are exact in whole numbers, and in doubles good enough for weights of one size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

Targets = tuple[int, ...]


@dataclass(frozen=True)
class Posterior:
    """Log evidence, and the probability of every target of every node."""

    log_evidence: float
    families: NDArray[np.float64]


def leads_outside(targets: Targets, node: int) -> bool:
    """Whether one comes to a node without parents, going from parent to parent."""
    for _ in targets:
        node = targets[node]
    return targets[node] == node


def roots(targets: Targets) -> int:
    """How many nodes have no parents."""
    return sum(target == node for node, target in enumerate(targets))


@cache
def all_graphs(nodes: int, spanning: bool) -> tuple[Targets, ...]:
    """All spanning trees, or all forests."""
    return tuple(
        targets
        for targets in product(range(nodes), repeat=nodes)
        if all(leads_outside(targets, node) for node in range(nodes)) and (not spanning or roots(targets) == 1)
    )


def targets_of(parents: list[int]) -> Targets:
    """From masks of parents to targets."""
    assert all(mask.bit_count() <= 1 for mask in parents)
    return tuple(mask.bit_length() - 1 if mask else node for node, mask in enumerate(parents))


def log_joint_of_all(log_weights: naive.Logs, spanning: bool) -> naive.Logs:
    """The log weight of every graph."""
    nodes = len(log_weights)
    return log_weights[np.arange(nodes), np.array(all_graphs(nodes, spanning))].sum(axis=1)


def by_enumeration(log_weights: naive.Logs, spanning: bool) -> Posterior | None:
    """The definition itself; None if no graph has any weight."""
    logs = log_joint_of_all(log_weights, spanning)
    if (logs == -np.inf).all():
        return None
    log_evidence = naive.log_sum(logs)
    families = np.zeros_like(log_weights)
    for targets, probability in zip(
        all_graphs(len(log_weights), spanning), np.exp(logs - log_evidence).tolist(), strict=True
    ):
        families[np.arange(len(targets)), targets] += probability
    return Posterior(log_evidence, families)


def in_families_numbering(layout: NDArray[np.float64]) -> NDArray[np.float64]:
    """One column for no parents and one for each other node, as all other exact methods have it."""
    nodes = len(layout)
    return np.array([[layout[i, i], *(layout[i, j] for j in range(nodes) if j != i)] for i in range(nodes)])


# Whole numbers

WholeWeights = list[list[int]]


def determinant(matrix: WholeWeights) -> int:
    """By the elimination of Bareiss, in which every division leaves no rest."""
    rows = [list(row) for row in matrix]
    sign, before = 1, 1
    for place in range(len(rows)):
        pivot = next((row for row in range(place, len(rows)) if rows[row][place]), None)
        if pivot is None:
            return 0
        if pivot != place:
            rows[place], rows[pivot] = rows[pivot], rows[place]
            sign = -sign
        for row in range(place + 1, len(rows)):
            for column in range(place + 1, len(rows)):
                cross = rows[row][column] * rows[place][place] - rows[row][place] * rows[place][column]
                rows[row][column] = cross // before
        before = rows[place][place]
    return sign * before


def laplacian(weights: WholeWeights) -> WholeWeights:
    """All that a node may take on the diagonal, minus its weights beside it."""
    nodes = range(len(weights))
    return [[sum(weights[i]) if i == j else -weights[i][j] for j in nodes] for i in nodes]


def exact_evidence(weights: WholeWeights, spanning: bool) -> int:
    """The sum over all graphs: one determinant for the forests, one for every root of spanning trees."""
    if not spanning:
        return determinant(laplacian(weights))
    total = 0
    nodes = range(len(weights))
    inner = laplacian([[weights[i][j] if i != j else 0 for j in nodes] for i in nodes])
    for root in nodes:
        minor = [[inner[i][j] for j in nodes if j != root] for i in nodes if i != root]
        total += weights[root][root] * determinant(minor)
    return total


def exact_family(weights: WholeWeights, node: int, target: int, spanning: bool) -> float:
    """The share of the graphs in which a node has this target."""
    kept = [list(row) for row in weights]
    kept[node] = [weight if place == target else 0 for place, weight in enumerate(weights[node])]
    # Whole numbers divide as such: the quotient is rounded once.
    return exact_evidence(kept, spanning) / exact_evidence(weights, spanning)


# Doubles


def log_determinant(log_weights: naive.Logs, spanning: bool) -> float:
    """The log evidence by the matrix-tree theorem, for weights that differ by little."""
    weights = np.exp(log_weights)
    inner = weights - np.diag(np.diag(weights))
    if not spanning:
        return float(np.linalg.slogdet(np.diag(weights.sum(axis=1)) - inner)[1])
    matrix = np.diag(inner.sum(axis=1)) - inner
    logs = []
    for root in range(len(weights)):
        minor = np.delete(np.delete(matrix, root, axis=0), root, axis=1)
        logs.append(log_weights[root, root] + np.linalg.slogdet(minor)[1])
    return naive.log_sum(np.array(logs))
