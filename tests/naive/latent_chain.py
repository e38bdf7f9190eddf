"""Another algorithm for the posterior of graphs given ranks: many chains side by side that move one number or one edge.

The target is p(G) p_BGe(Z | G) for latent tables Z in the order of the ranks, every graph with the same prior. A number
moves by a normal step, a graph by one edge more or less, and both are taken or left as Metropolis has it. Nothing is
shared with dagpost: `p_BGe` comes from its formula, determinants by cofactors.
"""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np


def graphs_of(nodes: int) -> list[tuple[frozenset[int], ...]]:
    """The parents of each node, in all graphs without cycles."""
    others = [[node for node in range(nodes) if node != own] for own in range(nodes)]
    sets = [[frozenset(kept) for size in range(nodes) for kept in combinations(own, size)] for own in others]
    return [graph for graph in product(*sets) if _has_no_cycle(graph)]


def _has_no_cycle(graph: tuple[frozenset[int], ...]) -> bool:
    placed: set[int] = set()
    for _ in graph:
        placed |= {node for node, own in enumerate(graph) if own <= placed}
    return len(placed) == len(graph)


def determinant(matrices: np.ndarray) -> np.ndarray:
    """Of matrices (..., size, size), by cofactors of the first row."""
    size = matrices.shape[-1]
    if size == 1:
        return np.asarray(matrices[..., 0, 0])
    total = np.zeros(matrices.shape[:-2])
    for column in range(size):
        left = [other for other in range(size) if other != column]
        total = total + (-1) ** column * matrices[..., 0, column] * determinant(matrices[..., 1:, left])
    return total


class ReferenceChains:
    """Chains over latent tables (chains, rows, columns) and graphs; the prior of parameters has mean 0, scale 1."""

    def __init__(self, ranks: np.ndarray, chains: int, seed: int) -> None:
        self.ranks, self.generator = ranks, np.random.default_rng(seed)
        self.rows, self.nodes = ranks.shape
        self.graphs = graphs_of(self.nodes)
        number = {graph: place for place, graph in enumerate(self.graphs)}
        self.sets = [frozenset(own) for size in range(self.nodes + 1) for own in combinations(range(self.nodes), size)]
        self.with_node = np.array([[self.sets.index(own | {node}) for node, own in enumerate(g)] for g in self.graphs])
        self.without = np.array([[self.sets.index(own) for own in g] for g in self.graphs])
        #: The graph with one edge more or less; -1 where it has a cycle.
        every = range(self.nodes)
        self.flipped = np.array(
            [[[number.get(_flip(g, parent, child), -1) for child in every] for parent in every] for g in self.graphs]
        )
        self.values = self._start(chains)
        self.graph = self.generator.integers(len(self.graphs), size=chains)

    def _start(self, chains: int) -> np.ndarray:
        values = self.generator.standard_normal((chains, self.rows, self.nodes))
        for column in range(self.nodes):
            order = np.argsort(self.ranks[:, column], kind="stable")
            values[:, order, column] = np.sort(values[:, :, column], axis=1)
        width = np.exp(self.generator.standard_normal((chains, 1, self.nodes)) / 2)
        return np.asarray(width * values + self.generator.standard_normal((chains, 1, self.nodes)))

    def log_sets(self, values: np.ndarray) -> np.ndarray:
        """Log p(columns of the set), for each chain and set (Geiger & Heckerman 2002), weight 1, degrees n + 2."""
        rows, nodes, weight, degrees = self.rows, self.nodes, 1.0, self.nodes + 2.0
        scale = weight * (degrees - nodes - 1) / (weight + 1)
        mean = values.mean(axis=1)
        centred = values - mean[:, np.newaxis]
        matrix = np.swapaxes(centred, 1, 2) @ centred
        matrix += rows * weight / (rows + weight) * mean[:, :, np.newaxis] * mean[:, np.newaxis] + scale * np.eye(nodes)
        result = np.zeros((len(values), len(self.sets)))
        for place, own in enumerate(self.sets):
            size = len(own)
            if size == 0:
                continue
            half = (degrees - nodes + size) / 2
            constant = size / 2 * math.log(weight / (rows + weight)) - size * rows / 2 * math.log(math.pi)
            constant += half * size * math.log(scale)
            constant += sum(math.lgamma(half + rows / 2 - j / 2) - math.lgamma(half - j / 2) for j in range(size))
            members = sorted(own)
            part = determinant(matrix[:, members][:, :, members])
            result[:, place] = constant - (half + rows / 2) * np.log(part)
        return result

    def log_joint(self, sets: np.ndarray) -> np.ndarray:
        """Log p(Z | G) of the graph of each chain."""
        every = np.arange(len(sets))[:, np.newaxis]
        difference = sets[every, self.with_node[self.graph]] - sets[every, self.without[self.graph]]
        return np.asarray(difference.sum(axis=1))

    def edges(self, sets: np.ndarray) -> np.ndarray:
        """The probability of each edge given the latent tables."""
        logs = (sets[:, self.with_node] - sets[:, self.without]).sum(axis=2)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        there = np.array([[[parent in own for own in g] for parent in range(self.nodes)] for g in self.graphs])
        return np.einsum("cg,gpn->cpn", shares, there)

    def sweep(self) -> np.ndarray:
        """Move every number once, and edges as often; the log probabilities of all sets."""
        chains, generator = len(self.values), self.generator
        sets = self.log_sets(self.values)
        for row, column in product(range(self.rows), range(self.nodes)):
            step = generator.choice([0.2, 1.0]) * generator.standard_normal(chains)
            moved = self.values.copy()
            moved[:, row, column] += step
            own = self.ranks[row, column]
            below, above = self.ranks[:, column] < own, self.ranks[:, column] > own
            inside = moved[:, row, column] > moved[:, below, column].max(axis=1, initial=-math.inf)
            inside &= moved[:, row, column] < moved[:, above, column].min(axis=1, initial=math.inf)
            others = self.log_sets(moved)
            ratio = self.log_joint(others) - self.log_joint(sets)
            taken = inside & (np.log(1 - generator.random(chains)) < ratio)
            self.values[taken], sets[taken] = moved[taken], others[taken]
            self._move_edge(sets)
        return sets

    def _move_edge(self, sets: np.ndarray) -> None:
        chains, before = len(sets), self.graph
        pair = self.generator.integers(self.nodes, size=(2, chains))
        proposed = self.flipped[before, pair[0], pair[1]]
        old = self.log_joint(sets)
        self.graph = np.where(proposed < 0, before, proposed)
        ratio = self.log_joint(sets) - old
        self.graph = np.where(np.log(1 - self.generator.random(chains)) < ratio, self.graph, before)

    def run(self, burn_in: int, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean probability of each edge (parent, child), and its standard error from one chain to the other."""
        total = np.zeros((len(self.values), self.nodes, self.nodes))
        for sweep in range(burn_in + sweeps):
            sets = self.sweep()
            if sweep >= burn_in:
                total += self.edges(sets) / sweeps
        return total.mean(axis=0), total.std(axis=0, ddof=1) / math.sqrt(len(total))


def _flip(graph: tuple[frozenset[int], ...], parent: int, child: int) -> tuple[frozenset[int], ...]:
    return tuple(own ^ {parent} if node == child else own for node, own in enumerate(graph))
