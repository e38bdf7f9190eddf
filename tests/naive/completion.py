"""Slow, obvious twins of completing a table: every configuration of the missing cells, scored family by family."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from tests.naive import regimes, scores

from dagpost import BIC, K2, BDe, BDeu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dagpost import BGe, Score
    from dagpost.data.table import Table

    FamilyScore = Callable[[Table, int, list[int]], float]


def twin_of(score: Score) -> FamilyScore:
    """The slow twin of a discrete score, indicators of regimes included."""
    match score:
        case BDeu(equivalent_sample_size=float(size)):
            return partial(regimes.bdeu, size=size)
        case BDe(pseudocount=pseudocount):
            return partial(regimes.dirichlet, pseudocount=pseudocount)
        case K2():
            return partial(regimes.dirichlet, pseudocount=1.0)
        case BIC():
            return regimes.bic
    raise AssertionError(score)


def parents_of(families: np.ndarray, node: int, columns: int) -> list[int]:
    return [int(parent) for parent in families[node] if parent < columns]


def graph_score(table: Table, families: np.ndarray, twin: FamilyScore) -> float:
    """The score of a graph on a complete table."""
    columns = len(table.names)
    return math.fsum(twin(table, node, parents_of(families, node, columns)) for node in range(len(families)))


def completions(table: Table) -> np.ndarray:
    """All vectors of cells that fill the gaps of a table."""
    columns, _ = np.nonzero(table.gaps)
    return np.array(list(product(*(range(table.arities[column]) for column in columns))), dtype=float)


def exact(table: Table, families: np.ndarray, twin: FamilyScore) -> tuple[np.ndarray, np.ndarray]:
    """All completions of a table with their probabilities given a graph."""
    every = completions(table)
    return every, shares([graph_score(table.filled(cells), families, twin) for cells in every])


def shares(logs: list[float]) -> np.ndarray:
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


#: How near a random number comes to the border between two configurations.
NEAR = 1e-6


def redraw(
    table: Table,
    cells: np.ndarray,
    families: np.ndarray,
    twin: FamilyScore,
    generator: np.random.Generator,
    limit: int,
) -> tuple[np.ndarray, np.ndarray]:
    """A round over the incomplete rows, each block by its exact conditional distribution; also its random numbers.

    These are chosen `NEAR` a border between two configurations, so that no other distribution, rounding aside, gives
    the same cells. The first cell of a block is the fastest digit.
    """
    cells = cells.copy()
    numbers: list[float] = []
    columns, rows = np.nonzero(table.gaps)
    for row in sorted(set(rows.tolist())):
        for block in _blocks(np.flatnonzero(rows == row), columns, table.arities, limit, generator, numbers):
            ranges = [range(table.arities[columns[cell]]) for cell in reversed(block)]
            choices = [tuple(reversed(choice)) for choice in product(*ranges)]
            logs = []
            for choice in choices:
                cells[block] = choice
                logs.append(graph_score(table.filled(cells), families, twin))
            # The last border is 1, whatever the rounding of the sum.
            borders = np.cumsum(shares(logs))[:-1]
            numbers.append(_near_a_border(borders, generator))
            cells[block] = choices[int(np.searchsorted(borders, numbers[-1], side="right"))]
    return cells, np.array(numbers)


def _near_a_border(borders: np.ndarray, generator: np.random.Generator) -> float:
    """A number in [0, 1) just below or above a border, but not near another one."""
    numbers = generator.permutation([NEAR, 1 - NEAR, 0.5, *(borders - NEAR), *(borders + NEAR)])
    inside = numbers[(numbers >= 0.0) & (numbers < 1.0)]
    clear = [number for number in inside if np.abs(borders - number).min(initial=1.0) > NEAR / 2]
    return float(clear[0])


def _blocks(
    row_cells: np.ndarray,
    columns: np.ndarray,
    arities: tuple[int, ...],
    limit: int,
    generator: np.random.Generator,
    numbers: list[float],
) -> Iterator[list[int]]:
    """The missing cells of a row, in blocks of few configurations; where there are several, from a random one on."""
    turn = 0
    if math.prod(arities[columns[cell]] for cell in row_cells) > limit:
        numbers.append(generator.random())
        turn = int(numbers[-1] * len(row_cells))
    block: list[int] = []
    for cell in np.roll(row_cells, -turn).tolist():
        if block and math.prod(arities[columns[other]] for other in [*block, cell]) > limit:
            yield block
            block = []
        block.append(cell)
    yield block


def with_gaps(table: Table, gaps: np.ndarray) -> Table:
    """The table without the cells where there are to be gaps."""
    empty = [math.nan if levels is None else 0 for levels in table.levels]
    columns = [np.where(own, blank, column) for own, blank, column in zip(gaps, empty, table.columns, strict=True)]
    kept = tuple(column.astype(old.dtype) for column, old in zip(columns, table.columns, strict=True))
    return replace(table, columns=kept, gaps=gaps)


def by_column(chosen: float | tuple[float, ...] | None, nodes: int) -> np.ndarray:
    assert chosen is not None
    return np.full(nodes, chosen, dtype=float)


@dataclass(frozen=True)
class GaussianFamily:
    """A node given its parents: intercept, coefficients and deviation."""

    parents: list[int]
    intercept: float
    coefficients: np.ndarray
    deviation: float


def gaussian_family(
    table: Table, child: int, parents: list[int], score: BGe, square: float, normals: np.ndarray
) -> GaussianFamily:
    """Parameters from the posterior of BGe given a complete table, made of a chi-square and standard normal numbers.

    The coefficients are the first of the normal numbers; the last one belongs to the intercept.
    """
    weight, nodes = score.mean_weight, len(table.names)
    degrees = nodes + weight + 1 if score.degrees_of_freedom is None else score.degrees_of_freedom
    prior_mean, scale = by_column(score.prior_mean, nodes), by_column(score.prior_scale, nodes)
    rows = [row for row, count in scores.rows_for(table, child) for _ in range(count)]
    data = table.values()[rows]
    matrix = weight * (degrees - nodes - 1) / (weight + 1) * np.diag(scale**2)
    mean = (weight * prior_mean + data.sum(axis=0)) / (weight + len(rows))
    for point, times in [*((row, 1.0) for row in data), (prior_mean, weight)]:
        matrix = matrix + times * np.outer(point - mean, point - mean)
    own = matrix[np.ix_(parents, parents)]
    slope = np.linalg.solve(own, matrix[parents, child])
    left = matrix[child, child] - matrix[child, parents] @ slope
    deviation = math.sqrt(left / square)
    factor = np.linalg.cholesky(own) if parents else np.empty((0, 0))
    slope = slope + deviation * np.linalg.solve(factor.T, normals[: len(parents)])
    intercept = mean[child] - slope @ mean[parents] + deviation / math.sqrt(weight + len(rows)) * normals[len(parents)]
    return GaussianFamily(parents, intercept, slope, deviation)


def gaussian_row(
    row: np.ndarray, missing: list[int], families: list[GaussianFamily], was_set: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the missing cells of a row given the others: those of a multivariate normal."""
    nodes = len(row)
    precision, linear = np.zeros((nodes, nodes)), np.zeros(nodes)
    for node, family in enumerate(families):
        if node not in was_set:
            residual = np.zeros(nodes)
            residual[node] = 1.0
            residual[family.parents] = -family.coefficients
            precision += np.outer(residual, residual) / family.deviation**2
            linear += residual * family.intercept / family.deviation**2
    known = [node for node in range(nodes) if node not in missing]
    covariance = np.linalg.inv(precision[np.ix_(missing, missing)])
    return covariance @ (linear[missing] - precision[np.ix_(missing, known)] @ row[known]), covariance


def gaussian_log_scores(tables: np.ndarray, families: np.ndarray, score: BGe) -> np.ndarray:
    """The score of a graph, up to a constant, for each of many complete tables (tables, rows, columns)."""
    nodes, rows, weight = tables.shape[2], tables.shape[1], score.mean_weight
    degrees = nodes + weight + 1 if score.degrees_of_freedom is None else score.degrees_of_freedom
    prior_mean, scale = by_column(score.prior_mean, nodes), by_column(score.prior_scale, nodes)
    centred = tables - tables.mean(axis=1, keepdims=True)
    distance = tables.mean(axis=1) - prior_mean
    matrices = weight * (degrees - nodes - 1) / (weight + 1) * np.diag(scale**2)
    matrices = matrices + np.einsum("tri,trj->tij", centred, centred)
    matrices = matrices + rows * weight / (rows + weight) * np.einsum("ti,tj->tij", distance, distance)
    total = np.zeros(len(tables))
    for node in range(nodes):
        parents = parents_of(families, node, nodes)
        for members, sign in (([*parents, node], -1.0), (parents, 1.0)):
            after = (degrees - nodes + len(members) + rows) / 2
            if members:
                total += sign * after * np.linalg.slogdet(matrices[:, members][:, :, members])[1]
    return total
