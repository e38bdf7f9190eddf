"""Slow, obvious twins of the scores: one family at a time, straight from the definition."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dagpost.data.table import Table


def rows_for(table: Table, child: int) -> list[tuple[int, int]]:
    """The rows in which `child` was not set, each with its count."""
    return [
        (row, 1 if table.counts is None else int(table.counts[row]))
        for row in range(table.rows)
        if table.interventions is None or not int(table.interventions[row]) >> child & 1
    ]


def family_counts(table: Table, child: int, parents: list[int]) -> tuple[Counter, Counter]:
    """How often each (parents, child) configuration occurs, and each configuration of the parents."""
    cells: Counter = Counter()
    pooled: Counter = Counter()
    for row, count in rows_for(table, child):
        configuration = tuple(int(table.columns[parent][row]) for parent in parents)
        cells[configuration, int(table.columns[child][row])] += count
        pooled[configuration] += count
    return cells, pooled


def dirichlet(table: Table, child: int, parents: list[int], pseudocount: float) -> float:
    cells, pooled = family_counts(table, child, parents)
    pool = pseudocount * table.arities[child]
    total = math.fsum(math.lgamma(pool) - math.lgamma(pool + count) for count in pooled.values())
    return total + math.fsum(math.lgamma(pseudocount + count) - math.lgamma(pseudocount) for count in cells.values())


def bdeu(table: Table, child: int, parents: list[int], equivalent_sample_size: float) -> float:
    configurations = math.prod(table.arities[parent] for parent in parents)
    return dirichlet(table, child, parents, equivalent_sample_size / (configurations * table.arities[child]))


def bic(table: Table, child: int, parents: list[int]) -> float:
    cells, pooled = family_counts(table, child, parents)
    observations = sum(pooled.values())
    if observations == 0:
        return 0.0
    likelihood = math.fsum(
        count * math.log(count / pooled[configuration]) for (configuration, _), count in cells.items() if count
    )
    configurations = math.prod(table.arities[parent] for parent in parents)
    return likelihood - math.log(observations) / 2 * (table.arities[child] - 1) * configurations


def deviations(table: Table, prior_scale: float | tuple[float, ...] | None = None) -> np.ndarray:
    """The unit of each column: given, or the standard deviation of all observations, one by one; 1 if that is 0."""
    if prior_scale is not None:
        return np.broadcast_to(prior_scale, len(table.names)).astype(float)
    times = [1] * table.rows if table.counts is None else table.counts.tolist()
    result = []
    for column in table.values().T:
        observed = [value for value, count in zip(column.tolist(), times, strict=True) for _ in range(count)]
        result.append(statistics.stdev(observed) if len(set(observed)) > 1 else 1.0)
    return np.array(result)


def bge(
    table: Table,
    child: int,
    parents: list[int],
    weight: float,
    degrees: float,
    prior_mean: np.ndarray,
    prior_deviations: np.ndarray,
) -> float:
    """The score of Kuipers, Moffa & Heckerman (2014), equation A.2, as a ratio of two subset likelihoods."""
    rows = [row for row, count in rows_for(table, child) for _ in range(count)]
    data = table.values()[rows]
    nodes = len(table.names)
    scale = weight * (degrees - nodes - 1) / (weight + 1)
    prior = scale * np.diag(prior_deviations**2)
    posterior = prior.copy()
    if rows:
        mean = data.mean(axis=0)
        for row in data:
            posterior += np.outer(row - mean, row - mean)
        posterior += len(rows) * weight / (len(rows) + weight) * np.outer(prior_mean - mean, prior_mean - mean)

    def log_gamma(size: int, value: float) -> float:
        pi_term = size * (size - 1) / 4 * math.log(math.pi)
        return pi_term + sum(math.lgamma(value + (1 - step) / 2) for step in range(1, size + 1))

    def subset(members: list[int]) -> float:
        size = len(members)
        before = (degrees - nodes + size) / 2
        after = before + len(rows) / 2
        part = np.ix_(members, members)
        return (
            size / 2 * math.log(weight / (len(rows) + weight))
            - size * len(rows) / 2 * math.log(math.pi)
            + log_gamma(size, after)
            - log_gamma(size, before)
            + before * (np.linalg.slogdet(prior[part])[1] if size else 0.0)
            - after * (np.linalg.slogdet(posterior[part])[1] if size else 0.0)
        )

    return subset([*parents, child]) - subset(parents)
