"""Slow, obvious twins of the distances from an exact posterior: the definitions, pair by pair and graph by graph."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tests.naive.posterior import all_dags
from tests.naive.summaries import Dag, edges_of, essential_graph_of_every_dag, skeleton, v_structures

from dagpost._tools.arrays import labelled
from dagpost.reference.truth import Truth

Matrix = NDArray[np.float64]
Weights = Sequence[float]

NAMES = ("A", "B", "C", "D", "E")


def edge_matrix(dags: Sequence[Dag], weights: Weights) -> Matrix:
    """The share of the weight of the graphs that have each edge."""
    nodes = len(dags[0])
    matrix = np.zeros((nodes, nodes))
    for dag, weight in zip(dags, weights, strict=True):
        for parent, child in edges_of(dag):
            matrix[parent, child] += weight
    return matrix / sum(weights)


def path_matrix(dags: Sequence[Dag], weights: Weights) -> Matrix:
    """The share of the weight of the graphs that have a directed path for each pair."""
    nodes = len(dags[0])
    matrix = np.zeros((nodes, nodes))
    for dag, weight in zip(dags, weights, strict=True):
        reached = set(edges_of(dag))
        for _ in range(nodes):
            reached |= {(a, d) for a, b in reached for c, d in reached if b == c}
        for source, target in reached:
            matrix[source, target] += weight
    return matrix / sum(weights)


def family_shares(dags: Sequence[Dag], weights: Weights, node: int) -> dict[int, float]:
    """The share of the weight of each parent set of a node."""
    shares: dict[int, float] = defaultdict(float)
    total = sum(weights)
    for dag, weight in zip(dags, weights, strict=True):
        shares[dag[node]] += weight / total
    return dict(shares)


def class_shares(dags: Sequence[Dag], weights: Weights) -> dict[Any, float]:
    """The share of the weight of each class, known by its adjacencies and v-structures."""
    shares: dict[Any, float] = defaultdict(float)
    total = sum(weights)
    for dag, weight in zip(dags, weights, strict=True):
        edges = edges_of(dag)
        shares[skeleton(edges), v_structures(edges)] += weight / total
    return dict(shares)


def total_variation(one: dict[Any, float], other: dict[Any, float]) -> float:
    """Half the sum of all absolute differences."""
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other}) / 2


def pairs(nodes: int) -> list[tuple[int, int]]:
    return list(permutations(range(nodes), 2))


def calibration_error(exact: Matrix, stated: Matrix) -> float:
    """The mean over tenths of the stated probability of |mean stated - mean exact|, counted by pairs."""
    bins = defaultdict(list)
    for pair in pairs(len(exact)):
        bins[min(int(stated[pair] * 10 + 1e-9), 9)].append(pair)
    total = 0.0
    for members in bins.values():
        total += abs(sum(stated[pair] - exact[pair] for pair in members))
    return total / len(pairs(len(exact)))


def divergence(exact: Matrix, stated: Matrix) -> float:
    """The Kullback-Leibler divergence, pair by pair."""
    total = 0.0
    for pair in pairs(len(exact)):
        for p, q in ((exact[pair], stated[pair]), (1 - exact[pair], 1 - stated[pair])):
            if q <= 0.0 and p > 1e-9:
                return math.inf
            total += p * math.log(p / q) if p > 0.0 and q > 0.0 else 0.0
    return total


def expected_sad(exact: Matrix, draws: int) -> float:
    """The mean SAD of independent draws, from all counts that an edge can have."""
    total = 0.0
    for pair in pairs(len(exact)):
        p = exact[pair]
        for count in range(draws + 1):
            probability = math.comb(draws, count) * p**count * (1 - p) ** (draws - count)
            total += probability * abs(count / draws - p)
    return total


def class_text(dag: Dag, names: Sequence[str]) -> str:
    """The essential graph of a DAG as text."""
    pattern = essential_graph_of_every_dag(len(dag))[dag]
    edges = []
    for parent, child in pairs(len(dag)):
        if pattern[child] >> parent & 1:
            if not pattern[parent] >> child & 1:
                edges.append(f"{names[parent]}->{names[child]}")
            elif parent < child:
                edges.append(f"{names[parent]}--{names[child]}")
    return ";".join(sorted(edges))


def truth_of(
    dags: Sequence[Dag], weights: Weights, *, families: float = 0.0, classes: float = 0.0, names: Sequence[str] = NAMES
) -> Truth:
    """A truth made by hand: these graphs, with all families and classes that are at least so probable."""
    names = tuple(names[: len(dags[0])])
    listed = [
        (name, ";".join(names[at] for at in range(len(names)) if mask >> at & 1), share)
        for node, name in enumerate(names)
        for mask, share in family_shares(dags, weights, node).items()
        if share >= families
    ]
    shares: dict[str, float] = defaultdict(float)
    total = sum(weights)
    for dag, weight in zip(dags, weights, strict=True):
        shares[class_text(dag, names)] += weight / total
    kept = [(text, 1, share) for text, share in shares.items() if share >= classes]
    return Truth(
        names=names,
        log_evidence=0.0,
        error_bound=0.0,
        edges=labelled(edge_matrix(dags, weights), names),
        paths=labelled(path_matrix(dags, weights), names),
        families=pd.DataFrame(listed, columns=["node", "parents", "probability"]),
        classes=pd.DataFrame(kept, columns=["class", "graphs", "probability"]),
        classes_bound=classes,
    )


def random_posterior(nodes: int, seed: int, spread: float = 2.0) -> tuple[list[Dag], Matrix]:
    """Every graph of a few nodes, and weights that differ a lot."""
    dags = all_dags(nodes)
    weights = np.exp(np.random.default_rng(seed).normal(0.0, spread, len(dags)))
    return dags, weights / weights.sum()


def stack_of(dags: Sequence[Dag]) -> NDArray[np.int64]:
    """Graphs as matrices [graph, parent, child]."""
    nodes = len(dags[0])
    stack = np.zeros((len(dags), nodes, nodes), dtype=np.int64)
    for at, dag in enumerate(dags):
        for parent, child in edges_of(dag):
            stack[at, parent, child] = 1
    return stack
