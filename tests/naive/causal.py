"""Slow, obvious twins of causal effects: one graph, one configuration and one row at a time, from the definition.

Also the other way round: networks with known parameters, what setting a variable does in them, and data from them.
Graphs are tuples of parent masks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from dagpost.data.table import Table

Graph = Sequence[int]
Generator = np.random.Generator


def members(mask: int) -> list[int]:
    return [node for node in range(64) if int(mask) >> node & 1]


def has_path(graph: Graph, source: int, target: int) -> bool:
    return any(parent == source or has_path(graph, source, parent) for parent in members(graph[target]))


def rows_of(table: Table, treatment: int) -> list[tuple[int, int]]:
    """The rows in which nothing but the treatment was set, each with its count."""
    return [
        (row, 1 if table.counts is None else int(table.counts[row]))
        for row in range(table.rows)
        if table.interventions is None or members(table.interventions[row]) in ([], [treatment])
    ]


# Discrete columns


@dataclass(frozen=True)
class Pseudocounts:
    """The parameter of a cell of a node whose families has so many cells: a share of a sample size, or fixed."""

    size: float | None = None
    fixed: float | None = None

    def of(self, cells: int) -> float:
        if self.size is not None:
            return self.size / cells
        assert self.fixed is not None
        return self.fixed


def configurations_of(table: Table, nodes: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*(range(table.arities[node]) for node in nodes)))


def count(table: Table, treatment: int, wanted: dict[int, int]) -> int:
    """How often some columns have these codes at once."""
    return sum(
        times
        for row, times in rows_of(table, treatment)
        if all(int(table.columns[node][row]) == code for node, code in wanted.items())
    )


def parameters_of(
    table: Table, pseudo: Pseudocounts, adjust: Sequence[int], x: int, y: int, level: int
) -> tuple[list[float], list[list[float]]]:
    """Dirichlet parameters of P(z), and those of P(y | x = level, z) for every z."""
    everything = configurations_of(table, adjust)
    cells = len(everything) * table.arities[x] * table.arities[y]
    outer, inner = [], []
    for configuration in everything:
        here = dict(zip(adjust, configuration, strict=True))
        outer.append(pseudo.of(len(everything)) + count(table, x, here))
        inner.append(
            [pseudo.of(cells) + count(table, x, here | {x: level, y: outcome}) for outcome in range(table.arities[y])]
        )
    return outer, inner


def mean_probability(table: Table, pseudo: Pseudocounts, graph: Graph, x: int, level: int, y: int) -> list[float]:
    """Mean of P(y | do(x = level)) for every y, given the graph."""
    if not has_path(graph, x, y):
        shares = [pseudo.of(table.arities[y]) + count(table, x, {y: outcome}) for outcome in range(table.arities[y])]
        return [share / math.fsum(shares) for share in shares]
    outer, inner = parameters_of(table, pseudo, members(graph[x]), x, y, level)
    return [
        math.fsum(
            weight / math.fsum(outer) * shares[outcome] / math.fsum(shares)
            for weight, shares in zip(outer, inner, strict=True)
        )
        for outcome in range(table.arities[y])
    ]


def draw_change(
    table: Table,
    pseudo: Pseudocounts,
    adjust: Sequence[int],
    x: int,
    y: int,
    levels: tuple[int, int],
    outcome: int,
    draws: int,
    generator: Generator,
) -> np.ndarray:
    """Draws of P(outcome | do(first level)) - P(outcome | do(second level)), given what to adjust for."""
    outer, _ = parameters_of(table, pseudo, adjust, x, y, levels[0])
    weights = generator.dirichlet(outer, size=draws)
    change = np.zeros(draws)
    for level, sign in zip(levels, (1.0, -1.0), strict=True):
        _, inner = parameters_of(table, pseudo, adjust, x, y, level)
        for place, shares in enumerate(inner):
            change += sign * weights[:, place] * generator.dirichlet(shares, size=draws)[:, outcome]
    return change


# Continuous columns


def posterior_matrix(
    table: Table, treatment: int, weight: float, degrees: float, prior_mean: np.ndarray, prior_deviations: np.ndarray
) -> tuple[np.ndarray, float]:
    """The matrix of the Wishart distribution of all columns after training, and its degrees of freedom."""
    rows = [row for row, times in rows_of(table, treatment) for _ in range(times)]
    data = table.values()[rows]
    nodes = len(table.names)
    matrix = weight * (degrees - nodes - 1) / (weight + 1) * np.diag(prior_deviations**2)
    if rows:
        mean = data.mean(axis=0)
        for row in data:
            matrix = matrix + np.outer(row - mean, row - mean)
        matrix = matrix + len(rows) * weight / (len(rows) + weight) * np.outer(prior_mean - mean, prior_mean - mean)
    return matrix, degrees + len(rows)


def mean_slope(matrix: np.ndarray, adjust: Sequence[int], x: int, y: int) -> float:
    explaining = [x, *adjust]
    return float(np.linalg.solve(matrix[np.ix_(explaining, explaining)], matrix[explaining, y])[0])


def draw_slope(
    matrix: np.ndarray, degrees: float, adjust: Sequence[int], x: int, y: int, draws: int, generator: Generator
) -> np.ndarray:
    """Draw whole precision matrices, invert them, and read the regression off the covariance."""
    from scipy.stats import wishart

    precisions = wishart(df=degrees, scale=np.linalg.inv(matrix)).rvs(size=draws, random_state=generator)
    covariances = np.linalg.inv(precisions)
    explaining = [x, *adjust]
    rows = covariances[:, explaining]
    return np.linalg.solve(rows[:, :, explaining], rows[:, :, [y]])[:, 0, 0]


# Networks with known parameters


def draw_tables(graph: Graph, arities: Sequence[int], parameter: Callable[[int], float], generator: Generator) -> list:
    """For each node the probabilities of its levels given its parents, one axis a parent and the last for itself."""
    tables = []
    for node, mask in enumerate(graph):
        shape = tuple(arities[parent] for parent in members(mask))
        parameters = [parameter(math.prod(shape) * arities[node])] * arities[node]
        tables.append(generator.dirichlet(parameters, size=shape))
    return tables


def joint(graph: Graph, tables: list, arities: Sequence[int], setting: tuple[int, int] | None = None) -> np.ndarray:
    """Probability of every configuration of all nodes, if one node is set to one level."""
    result = np.zeros(arities)
    for configuration in product(*(range(arity) for arity in arities)):
        probability = 1.0
        for node, mask in enumerate(graph):
            if setting is not None and node == setting[0]:
                probability *= configuration[node] == setting[1]
            else:
                given = tuple(configuration[parent] for parent in members(mask))
                probability *= tables[node][(*given, configuration[node])]
        result[configuration] = probability
    return result


def true_change(
    graph: Graph, tables: list, arities: Sequence[int], x: int, y: int, levels: tuple[int, int], outcome: int
) -> float:
    """P(y = outcome) with x set to the first level, less that with x set to the second."""
    if not has_path(graph, x, y):
        return 0.0
    others = tuple(node for node in range(len(arities)) if node != y)
    first, second = (joint(graph, tables, arities, (x, level)).sum(axis=others)[outcome] for level in levels)
    return float(first - second)


def draw_rows(probabilities: np.ndarray, rows: int, generator: Generator) -> Table:
    """Rows from a joint distribution, as a table of columns A, B, C, ..."""
    cells = generator.choice(probabilities.size, size=rows, p=probabilities.reshape(-1) / probabilities.sum())
    columns = tuple(codes.astype(np.uint8) for codes in np.unravel_index(cells, probabilities.shape))
    levels = tuple(tuple(range(arity)) for arity in probabilities.shape)
    return Table(tuple("ABCDEFGH"[: len(columns)]), columns, levels)
