"""Slow, obvious twins of what is exact when every graph counts once.

*Enumeration* lists all graphs and adds up, for the distribution of the descendants and of the ancestors of a node; it
ends at five nodes. Where the sums cancel most, doubles are no yardstick for doubles: there *fractions* give the very
numbers. For any weights they follow the recursion over sinks, up to about eight nodes; where the weight of a parent
set depends on nothing but its size, all sets of one size are alike, so that any number of nodes is affordable.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray
from tests.naive import paths as naive_paths
from tests.naive import posterior as naive

Probabilities = NDArray[np.float64]

# Enumeration


def probability_of_every_dag(log_weights: naive.Logs, max_parents: int, modularity: str = "structure") -> Probabilities:
    """The posterior of each graph, in the order of `naive.all_dags`, under either prior."""
    log_joint = naive.log_joint_of_every_dag(log_weights, max_parents)
    if modularity == "order":
        log_joint = log_joint + np.log(list(naive.orders_of_every_dag(len(log_weights)).values()))
    return np.exp(log_joint - naive.log_sum(log_joint))


def ancestors_in(dag: naive.Dag, node: int) -> int:
    """The mask of the proper ancestors of a node: take in parents until nothing changes."""
    found = dag[node]
    while True:
        wider = found
        for other, parents in enumerate(dag):
            if found >> other & 1:
                wider |= parents
        if wider == found:
            return found
        found = wider


@cache
def ancestors_in_every_dag(nodes: int, node: int) -> NDArray[np.int64]:
    """The mask of the proper ancestors of a node in each graph, in the order of `naive.all_dags`."""
    return np.array([ancestors_in(dag, node) for dag in naive.all_dags(nodes)])


def descendant_sets(log_weights: naive.Logs, max_parents: int, node: int) -> Probabilities:
    """Entry D: the probability that the descendants of a node are just D, every graph counted once."""
    return _distribution(log_weights, max_parents, naive_paths.descendants_in_every_dag(len(log_weights), node))


def ancestor_sets(log_weights: naive.Logs, max_parents: int, node: int) -> Probabilities:
    """Entry S: the probability that the ancestors of a node are just S, every graph counted once."""
    return _distribution(log_weights, max_parents, ancestors_in_every_dag(len(log_weights), node))


def _distribution(log_weights: naive.Logs, max_parents: int, sets: NDArray[np.int64]) -> Probabilities:
    result = np.zeros(1 << len(log_weights))
    np.add.at(result, sets, probability_of_every_dag(log_weights, max_parents))
    return result


# Fractions

#: For each node, the weight of every parent set that has one, by mask.
ExactWeights = list[dict[int, Fraction]]


def exact_evidence(weights: ExactWeights) -> Fraction:
    """The sum over all graphs, by the recursion over sets of sinks; every digit is right."""
    nodes = len(weights)
    graphs = [Fraction(0)] * (1 << nodes)
    graphs[0] = Fraction(1)
    alpha = [_subset_sums(row, nodes) for row in weights]
    for whole in range(1, 1 << nodes):
        sinks = whole
        while sinks:
            rest = whole ^ sinks
            term = graphs[rest]
            for node in range(nodes):
                if sinks >> node & 1:
                    term *= alpha[node][rest]
            graphs[whole] += term if sinks.bit_count() % 2 else -term
            sinks = (sinks - 1) & whole
    return graphs[-1]


def exact_edge(weights: ExactWeights, parent: int, child: int) -> Fraction:
    """The probability of an edge, as the share of the evidence that the graphs with it have."""
    kept = [dict(row) for row in weights]
    kept[child] = {mask: weight for mask, weight in weights[child].items() if mask >> parent & 1}
    return exact_evidence(kept) / exact_evidence(weights)


def _subset_sums(row: dict[int, Fraction], nodes: int) -> list[Fraction]:
    sums = [row.get(mask, Fraction(0)) for mask in range(1 << nodes)]
    for bit in range(nodes):
        for mask in range(1 << nodes):
            if mask >> bit & 1:
                sums[mask] += sums[mask ^ (1 << bit)]
    return sums


@dataclass(frozen=True)
class EqualNodes:
    """The posterior when a parent set of `s` nodes weighs `ratio ** s`, whatever the nodes.

    `families[s]` is the probability of one parent set of that size, `path` that of a directed path between two nodes,
    `descendants[u]` that all nodes but some given `u` of them are a given node and its descendants.
    """

    evidence: Fraction
    families: list[Fraction]
    path: Fraction
    descendants: list[Fraction]


def equal_nodes(nodes: int, max_parents: int, ratio: Fraction) -> EqualNodes:
    """The sums over source sets and sink sets, in which only the sizes of the sets matter."""
    alpha = [sum(comb(size, s) * ratio**s for s in range(min(size, max_parents) + 1)) for size in range(nodes)]
    graphs = [Fraction(1)]
    for size in range(1, nodes + 1):
        terms = (comb(size, t) * (-1) ** (t + 1) * alpha[size - t] ** t * graphs[size - t] for t in range(1, size + 1))
        graphs.append(sum(terms, Fraction(0)))
    completions = [Fraction(0)] * nodes + [Fraction(1)]
    for size in reversed(range(nodes)):
        left = nodes - size
        terms = (comb(left, t) * (-1) ** (t + 1) * alpha[size] ** t * completions[size + t] for t in range(1, left + 1))
        completions[size] = sum(terms, Fraction(0))
    evidence = graphs[nodes]
    assert evidence == completions[0]
    joins = [
        graphs[size]
        * sum(comb(nodes - 1 - size, x) * (-alpha[size]) ** x * completions[size + 1 + x] for x in range(nodes - size))
        for size in range(nodes)
    ]
    families = [
        ratio**s * sum(comb(nodes - 1 - s, size - s) * joins[size] for size in range(s, nodes)) / evidence
        for s in range(min(max_parents, nodes - 1) + 1)
    ]
    descendants = [alpha[size] * joins[size] / evidence for size in range(nodes)]
    path = sum((comb(nodes - 2, size) * descendants[size] for size in range(nodes - 1)), Fraction(0))
    return EqualNodes(evidence, families, path, descendants)
