"""Worlds drawn from the very prior that a score stands for: a graph, its parameters, a table, and cells erased from it.

`Levels` draws each table of chances from the Dirichlet distributions of BDeu or K2. `Numbers` draws means and
precisions from the normal and Wishart distributions of BGe, family by family (Geiger & Heckerman 2002: those of one
are what a draw for all columns says about it, and those of two are independent). Both can also draw the
parameters given a graph and a complete table. The first column is never erased, and what is erased from the others
depends on it: missing at random, and not completely so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost import Table
from dagpost.scores import BGe, Score, local_scores

Floats = NDArray[np.float64]
#: The parents of each column.
Graph = tuple[tuple[int, ...], ...]
#: What a family needs to draw its child.
Parameters = list[Any]

#: Share of cells erased where the first column is low, and where it is high.
ERASED = (0.1, 0.4)


def members(mask: int) -> tuple[int, ...]:
    """The set that a mask stands for."""
    return tuple(node for node in range(mask.bit_length()) if mask >> node & 1)


def order_of(graph: Graph) -> list[int]:
    """Columns, parents before children; fewer than there are if the graph has a cycle."""
    placed: list[int] = []
    for _ in graph:
        placed += [node for node, own in enumerate(graph) if node not in placed and set(own) <= set(placed)]
    return placed


def draw_graph(nodes: int, rng: np.random.Generator, *, orders: bool) -> Graph:
    """Every graph without cycles with the same probability; with `orders`, in proportion to the orders it fits."""
    while True:
        there = rng.random((nodes, nodes)) < 0.5
        np.fill_diagonal(there, False)
        if orders:
            place = rng.permutation(nodes)
            there &= place[:, None] < place
        graph = tuple(tuple(np.flatnonzero(there[:, node]).tolist()) for node in range(nodes))
        if len(order_of(graph)) == nodes:
            return graph


def erased(table: Table, rng: np.random.Generator) -> Table:
    """Cells erased, more of them where the first column is high."""
    first = table.columns[0]
    chance = np.where(first > np.median(first), ERASED[1], ERASED[0])
    gaps = rng.random((len(table.names), table.rows)) < chance
    gaps[0] = False
    fill = 0 if table.discrete else np.nan
    columns = [np.where(own, fill, column) for column, own in zip(table.columns, gaps, strict=True)]
    kept = tuple(new.astype(column.dtype) for new, column in zip(columns, table.columns, strict=True))
    return replace(table, columns=kept, gaps=gaps)


def log_joint(graph: Graph, score: Score, table: Table) -> float:
    """The score of a graph for a complete table; every graph has the same prior."""
    found = local_scores(table, score, max_parents=len(graph) - 1)
    names = table.names
    return sum(found.score(names[child], [names[node] for node in own]) for child, own in enumerate(graph))


@dataclass(frozen=True)
class Levels:
    """Columns of levels, under Dirichlet priors."""

    arities: tuple[int, ...]
    scores: tuple[Score, ...]

    def draw(self, graph: Graph, score: Score, rng: np.random.Generator, given: Table | None = None) -> Parameters:
        """The chances of each level (configurations, levels) of each column."""
        result = []
        prior: Any = score.parameter_prior()
        for child, parents in enumerate(graph):
            shape = (math.prod(self.arities[parent] for parent in parents), self.arities[child])
            parameter = np.full(shape, prior.of_cells(np.array([float(math.prod(shape))]))[0])
            if given is not None:
                np.add.at(parameter, (self._configurations(given.columns, parents), given.columns[child]), 1.0)
            result.append(np.array([rng.dirichlet(row) for row in parameter]))
        return result

    def _configurations(self, columns: Any, parents: tuple[int, ...]) -> Any:
        place = np.zeros_like(columns[0], dtype=np.int64)
        for parent in parents:
            place = place * self.arities[parent] + columns[parent]
        return place

    def table(self, graph: Graph, parameters: Parameters, rows: int, rng: np.random.Generator) -> Table:
        """Rows of codes; levels that do not occur are levels too."""
        columns = [np.zeros(rows, dtype=np.uint8) for _ in graph]
        for node in order_of(graph):
            steps = parameters[node].cumsum(axis=1)[self._configurations(columns, graph[node])]
            codes = (rng.random((rows, 1)) > steps).sum(axis=1)
            columns[node] = np.minimum(codes, self.arities[node] - 1).astype(np.uint8)
        names = tuple("ABCDEFGH"[: len(graph)])
        return Table(names, tuple(columns), tuple(tuple(range(arity)) for arity in self.arities))

    def about_last(self, graph: Graph, parameters: Parameters) -> float:
        """The chance of the first level of the last column."""
        every = np.array(list(product(*(range(arity) for arity in self.arities)))).T
        chances = np.ones(every.shape[1])
        for child, parents in enumerate(graph):
            chances *= parameters[child][self._configurations(every, parents), every[child]]
        return float(chances[every[-1] == 0].sum())


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers, under the normal and Wishart prior with mean 0 and scale 1."""

    columns: int
    scores: tuple[Score, ...] = (BGe(prior_mean=0.0, prior_scale=1.0),)

    def draw(self, graph: Graph, score: Score, rng: np.random.Generator, given: Table | None = None) -> Parameters:
        """Intercept, coefficients and variance of each column."""
        prior: Any = score.parameter_prior()
        degrees, weight, mean = prior.degrees(self.columns), prior.mean_weight, np.zeros(self.columns)
        matrix = prior.scale(self.columns) * np.eye(self.columns)
        if given is not None:
            values, rows = given.values(), given.rows
            matrix += prior.added(values, np.ones(rows), mean)
            mean = rows * values.mean(axis=0) / (rows + weight)
            degrees, weight = degrees + rows, weight + rows
        return [self._family(child, list(own), mean, weight, degrees, matrix, rng) for child, own in enumerate(graph)]

    def _family(
        self,
        child: int,
        parents: list[int],
        mean: Floats,
        weight: float,
        degrees: float,
        matrix: Floats,
        rng: np.random.Generator,
    ) -> Any:
        from scipy.stats import wishart

        precision = wishart.rvs(degrees, np.linalg.inv(matrix), random_state=rng)
        covariance = np.linalg.inv(precision)
        centre = rng.multivariate_normal(mean, covariance / weight)
        slopes = np.linalg.solve(covariance[np.ix_(parents, parents)], covariance[parents, child])
        variance = covariance[child, child] - slopes @ covariance[parents, child]
        return centre[child] - slopes @ centre[parents], slopes, variance

    def table(self, graph: Graph, parameters: Parameters, rows: int, rng: np.random.Generator) -> Table:
        """Rows of numbers."""
        values = np.zeros((len(graph), rows))
        for node in order_of(graph):
            start, slopes, variance = parameters[node]
            values[node] = start + slopes @ values[list(graph[node])] + math.sqrt(variance) * rng.normal(size=rows)
        return Table(tuple("ABCDEFGH"[: len(graph)]), tuple(values), (None,) * len(graph))

    def about_last(self, graph: Graph, parameters: Parameters) -> float:
        """The log variance of the last column."""
        spread = np.diag([variance for _, _, variance in parameters])
        slopes = np.zeros((len(graph), len(graph)))
        for child, parents in enumerate(graph):
            slopes[child, list(parents)] = parameters[child][1]
        through = np.linalg.inv(np.eye(len(graph)) - slopes)
        return float(np.log((through @ spread @ through.T)[-1, -1]))
