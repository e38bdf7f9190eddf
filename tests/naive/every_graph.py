"""Slow, obvious twins of the reference posteriors: every graph is listed, with its weight, and all is added up.

Graphs are arrays of truths, `edges[g, a, b]` saying that graph g has a -> b. Two graphs are of one class when they have
the same adjacencies and the same v-structures; the text of a class is read off its members, not derived by any rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from tests.naive.posterior import log_sum, parents_in_every_dag, weights_by_mask

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Everything:
    """The posterior: families by node and mask of parents, and of every class its text, its members, its mass."""

    log_evidence: float
    edges: Floats
    paths: Floats
    families: Floats
    classes: dict[str, tuple[int, float]]


@cache
def every_graph(nodes: int) -> Flags:
    """All graphs without cycles: up to 5 nodes by orders, beyond by adding a node in all ways to smaller graphs."""
    if nodes <= 5:
        masks = parents_in_every_dag(nodes)
        return np.swapaxes(masks[:, :, None] >> np.arange(nodes) & 1 == 1, 1, 2)
    smaller = every_graph(nodes - 1)
    found = []
    for kinds in product(("none", "parent", "child"), repeat=nodes - 1):
        larger = np.zeros((len(smaller), nodes, nodes), dtype=np.bool_)
        larger[:, :-1, :-1] = smaller
        larger[:, :-1, -1] = np.array(kinds) == "parent"
        larger[:, -1, :-1] = np.array(kinds) == "child"
        found.append(larger[without_cycle(larger)])
    return np.concatenate(found)


def without_cycle(edges: Flags) -> Flags:
    """Whether taking away nodes without parents, again and again, leaves nothing."""
    left = np.ones(edges.shape[:2], dtype=np.bool_)
    for _ in range(edges.shape[1]):
        left &= (edges & left[:, :, None]).any(axis=1)
    return np.asarray(~left.any(axis=1))


@cache
def paths_in_every_graph(nodes: int) -> Flags:
    """Whether there is a directed path, for every pair."""
    reached = every_graph(nodes).copy()
    for middle in range(nodes):
        reached |= reached[:, :, middle, None] & reached[:, None, middle, :]
    return reached


@cache
def class_numbers(nodes: int) -> NDArray[np.int64]:
    """A number for every graph, the same for graphs with the same adjacencies and v-structures."""
    edges = every_graph(nodes)
    joined = edges | np.swapaxes(edges, 1, 2)
    facts = [joined[:, 0, 0], *(joined[:, a, b] for a, b in combinations(range(nodes), 2))]
    for c in range(nodes):
        for a, b in combinations([node for node in range(nodes) if node != c], 2):
            facts.append(edges[:, a, c] & edges[:, b, c] & ~joined[:, a, b])
    packed = np.packbits(np.array(facts).T, axis=1)
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    return np.unique(rows, return_inverse=True)[1]


@cache
def edges_of_some_member(nodes: int) -> Flags:
    """By class: the edges that any of its members has."""
    numbers = class_numbers(nodes)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(numbers.max() + 1))
    return np.logical_or.reduceat(every_graph(nodes)[order], starts)


def class_texts(names: tuple[str, ...]) -> list[str]:
    """The text of every class: an edge is directed where all members have it that way."""
    texts = []
    for either in edges_of_some_member(len(names)).tolist():
        written = [
            f"{first}{'--' if either[b][a] else '->'}{second}"
            for a, first in enumerate(names)
            for b, second in enumerate(names)
            if either[a][b] and (a < b or not either[b][a])
        ]
        texts.append(";".join(sorted(written)))
    return texts


def share_of_pairs(held: Flags, probabilities: Floats) -> Floats:
    """How probable it is that something holds for a pair."""
    nodes = range(held.shape[1])
    return np.array([[probabilities[held[:, a, b]].sum() for b in nodes] for a in nodes])


def posterior_by_enumeration(log_weights: Floats, max_parents: int, names: tuple[str, ...]) -> Everything:
    """The posterior in which every graph counts once."""
    nodes = len(names)
    edges = every_graph(nodes)
    masks = (edges << np.arange(nodes)[None, :, None]).sum(axis=1)
    by_mask = weights_by_mask(log_weights, max_parents)
    log_joint = sum(by_mask[node, masks[:, node]] for node in range(nodes))
    possible = np.isfinite(log_joint)
    log_evidence = log_sum(log_joint)
    probabilities = np.exp(log_joint - log_evidence)
    families = np.zeros((nodes, 1 << nodes))
    for node in range(nodes):
        np.add.at(families[node], masks[:, node], probabilities)
    numbers = class_numbers(nodes)
    mass = np.bincount(numbers, weights=probabilities).tolist()
    count = np.bincount(numbers, weights=possible).astype(int).tolist()
    texts = class_texts(names)
    return Everything(
        log_evidence,
        share_of_pairs(edges, probabilities),
        share_of_pairs(paths_in_every_graph(nodes), probabilities),
        families,
        {text: (own, share) for text, own, share in zip(texts, count, mass, strict=True) if own},
    )
