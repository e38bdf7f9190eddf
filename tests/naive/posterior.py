"""Slow, obvious twins of the fast paths: plain Python and NumPy, nothing shared with the package.

Weights come as the package takes them: an array with one row per node and one column per parent set, natural
logs, minus infinity where a parent set is not allowed. The numbering of the parent sets is derived here anew
from its definition: by size first, and among sets of one size colexicographically, that is, comparing the
largest elements first.

Two roads lead to every posterior. *Enumeration* lists all graphs (and all orders that each of them fits) and
adds up; it is the definition itself and ends at five nodes. The *textbook* dynamic programme works in logs
over all sets of nodes (Koivisto & Sood 2004; Koivisto 2006) and is affordable up to about twelve.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

Dag = tuple[int, ...]
Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Posterior:
    """Log evidence, probability of each family (shaped like the weights) and of each edge [parent, child]."""

    log_evidence: float
    families: NDArray[np.float64]
    edges: NDArray[np.float64]


# Parent sets


def subsets_in_order(universe: int, max_parents: int) -> list[tuple[int, ...]]:
    """All sets of at most `max_parents` elements out of `universe`: by size, then colexicographically."""
    result: list[tuple[int, ...]] = []
    for size in range(min(universe, max_parents) + 1):
        result += sorted(combinations(range(universe), size), key=lambda members: members[::-1])
    return result


def all_subsets(elements: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All subsets of some elements."""
    return [chosen for size in range(len(elements) + 1) for chosen in combinations(elements, size)]


def mask_of(members: tuple[int, ...] | list[int] | set[int]) -> int:
    """The bit mask of a set."""
    return sum(1 << member for member in members)


@cache
def parent_masks(node: int, nodes: int, max_parents: int) -> tuple[int, ...]:
    """The parent sets of `node`, in their numbering, as masks over all nodes."""
    others = [other for other in range(nodes) if other != node]
    return tuple(
        mask_of([others[element] for element in members]) for members in subsets_in_order(nodes - 1, max_parents)
    )


def weights_by_mask(log_weights: Logs, max_parents: int) -> Logs:
    """Row i, column S: log weight of node i with the set S as its parents, minus infinity if not allowed."""
    nodes = len(log_weights)
    table = np.full((nodes, 1 << nodes), -np.inf)
    for node in range(nodes):
        table[node, list(parent_masks(node, nodes, max_parents))] = log_weights[node]
    return table


def families_from_masks(by_mask: Logs, max_parents: int) -> Logs:
    """The other way: from one column per mask to one column per numbered parent set."""
    nodes = len(by_mask)
    return np.array([by_mask[node, list(parent_masks(node, nodes, max_parents))] for node in range(nodes)])


def edges_from_masks(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of each edge [parent, child] from the probability of each (node, mask of parents)."""
    nodes = len(probabilities)
    masks = np.arange(1 << nodes)
    edges = np.zeros((nodes, nodes))
    for parent, child in product(range(nodes), repeat=2):
        edges[parent, child] = probabilities[child, masks >> parent & 1 == 1].sum()
    return edges


def relabel_weights(log_weights: Logs, max_parents: int, new_label: list[int]) -> Logs:
    """The same weights once node `i` is called `new_label[i]`."""
    nodes = len(log_weights)
    before = weights_by_mask(log_weights, max_parents)
    after = np.full_like(before, -np.inf)
    for mask in range(1 << nodes):
        renamed = mask_of([new_label[node] for node in range(nodes) if mask >> node & 1])
        for node in range(nodes):
            after[new_label[node], renamed] = before[node, mask]
    return families_from_masks(after, max_parents)


# Enumeration


@cache
def orders_of_every_dag(nodes: int) -> dict[Dag, int]:
    """Every graph without cycles, as its parent masks, and the number of orders of the nodes that it fits.

    A node may take any of those before it in an order as parents, and every acyclic graph fits some order.
    """
    count: Counter[Dag] = Counter()
    for order in permutations(range(nodes)):
        choices: list[list[int]] = [[] for _ in range(nodes)]
        for place, node in enumerate(order):
            before = order[:place]
            choices[node] = [mask_of(members) for members in all_subsets(before)]
        count.update(product(*choices))
    return dict(count)


def all_dags(nodes: int) -> list[Dag]:
    """Every graph without cycles on a few nodes, as tuples of parent masks."""
    return list(orders_of_every_dag(nodes))


@cache
def parents_in_every_dag(nodes: int) -> NDArray[np.int64]:
    """The same as an array: row g, column i is the mask of the parents of node i in graph g."""
    return np.array(all_dags(nodes))


def order_modular_by_enumeration(log_weights: Logs, max_parents: int) -> Posterior:
    """The posterior when a graph counts once for every order that it fits."""
    counts = orders_of_every_dag(len(log_weights))
    return _by_enumeration(log_weights, max_parents, np.log(list(counts.values())))


def structure_modular_by_enumeration(log_weights: Logs, max_parents: int) -> Posterior:
    """The posterior when every graph counts once."""
    return _by_enumeration(log_weights, max_parents, np.zeros(len(all_dags(len(log_weights)))))


def log_joint_of_every_dag(log_weights: Logs, max_parents: int) -> Logs:
    """The log weight of each graph, in the order of `all_dags`."""
    by_mask = weights_by_mask(log_weights, max_parents)
    parents = parents_in_every_dag(len(log_weights))
    total = np.zeros(len(parents))
    for node in range(len(log_weights)):
        total += by_mask[node, parents[:, node]]
    return total


def _by_enumeration(log_weights: Logs, max_parents: int, log_multiplicity: Logs) -> Posterior:
    nodes = len(log_weights)
    parents = parents_in_every_dag(nodes)
    log_joint = log_joint_of_every_dag(log_weights, max_parents) + log_multiplicity
    log_evidence = log_sum(log_joint)
    if log_evidence == -np.inf:
        return _impossible(log_weights)
    probabilities = np.exp(log_joint - log_evidence)
    by_mask = np.zeros((nodes, 1 << nodes))
    for node in range(nodes):
        np.add.at(by_mask[node], parents[:, node], probabilities)
    return Posterior(log_evidence, families_from_masks(by_mask, max_parents), edges_from_masks(by_mask))


def _impossible(log_weights: Logs) -> Posterior:
    """What there is to say when no graph has any weight."""
    nodes = len(log_weights)
    return Posterior(-np.inf, np.full_like(log_weights, np.nan), np.full((nodes, nodes), np.nan))


def log_sum(logs: Logs) -> float:
    """Log of the sum of numbers given by their logs."""
    largest = logs.max()
    if largest == -np.inf:
        return -np.inf
    return float(largest + np.log(np.sum(np.exp(logs - largest))))


# The textbook dynamic programme


def subset_log_sums(logs: Logs) -> Logs:
    """Entry S: log of the sum over all subsets of S."""
    result = logs.copy()
    masks = np.arange(len(logs))
    bit = 1
    while bit < len(logs):
        having = masks[masks & bit != 0]
        result[having] = np.logaddexp(result[having], result[having ^ bit])
        bit <<= 1
    return result


def superset_log_sums(logs: Logs) -> Logs:
    """Entry S: log of the sum over all supersets of S."""
    return subset_log_sums(logs[::-1])[::-1]


def log_alpha(log_weights: Logs, max_parents: int) -> Logs:
    """Row i, column S: log of the sum of the weights of node i over all parent sets inside S."""
    return np.array([subset_log_sums(row) for row in weights_by_mask(log_weights, max_parents)])


def _masks_by_size(nodes: int) -> list[NDArray[np.int64]]:
    sizes = np.array([mask.bit_count() for mask in range(1 << nodes)])
    return [np.flatnonzero(sizes == size) for size in range(nodes + 1)]


def log_forward(alpha: Logs) -> Logs:
    """Log of L(S): the sum over all orders of S of the products of alpha."""
    nodes = len(alpha)
    result = np.full(1 << nodes, -np.inf)
    result[0] = 0.0
    for masks in _masks_by_size(nodes)[1:]:
        for node in range(nodes):
            having = masks[masks >> node & 1 == 1]
            before = having ^ (1 << node)
            result[having] = np.logaddexp(result[having], result[before] + alpha[node, before])
    return result


def log_backward(alpha: Logs) -> Logs:
    """Log of R(S): the sum over all orders of the nodes not in S, placed after those of S."""
    nodes = len(alpha)
    result = np.full(1 << nodes, -np.inf)
    result[-1] = 0.0
    for masks in _masks_by_size(nodes)[-2::-1]:
        for node in range(nodes):
            lacking = masks[masks >> node & 1 == 0]
            after = lacking | (1 << node)
            result[lacking] = np.logaddexp(result[lacking], result[after] + alpha[node, lacking])
    return result


def order_modular_by_textbook(log_weights: Logs, max_parents: int) -> Posterior:
    """The posterior when a graph counts once for every order that it fits, up to about twelve nodes."""
    nodes = len(log_weights)
    alpha = log_alpha(log_weights, max_parents)
    forward, backward = log_forward(alpha), log_backward(alpha)
    log_evidence = float(forward[-1])
    if log_evidence == -np.inf:
        return _impossible(log_weights)
    by_mask = np.zeros((nodes, 1 << nodes))
    weights = weights_by_mask(log_weights, max_parents)
    masks = np.arange(1 << nodes)
    for node in range(nodes):
        terms = np.full(1 << nodes, -np.inf)
        before = masks[masks >> node & 1 == 0]
        terms[before] = forward[before] + backward[before | (1 << node)]
        by_mask[node] = np.exp(weights[node] + superset_log_sums(terms) - log_evidence)
    return Posterior(log_evidence, families_from_masks(by_mask, max_parents), edges_from_masks(by_mask))
