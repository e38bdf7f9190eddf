"""The conditional Gaussian score from its meaning: how well is each row predicted by those before it?

Observation by observation, with no set functions and no determinants of sums: a column of levels by the Dirichlet
predictive probabilities of its parents' combination, a column of numbers by the Student t density of the normal-Wishart
distribution that the rows with the same levels before it have left.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tests.naive.scores import rows_for

if TYPE_CHECKING:
    from dagpost.data.table import Table


class Prior(NamedTuple):
    """How many rows each part is worth, and for the columns of numbers the mean and deviation of each."""

    equivalent_sample_size: float
    mean_weight: float
    degrees: float
    means: dict[int, float]
    deviations: dict[int, float]


def prior_of(
    table: Table,
    equivalent_sample_size: float = 5.0,
    mean_weight: float = 1.0,
    degrees: float | None = None,
    mean: float | None = None,
    scale: float | None = None,
) -> Prior:
    """The prior, with the mean and standard deviation of all observations where none is given."""
    times = [1] * table.rows if table.counts is None else table.counts.tolist()
    means, deviations = {}, {}
    for column, levels in enumerate(table.levels):
        if levels is None:
            values = [v for v, count in zip(table.columns[column].tolist(), times, strict=True) for _ in range(count)]
            means[column] = statistics.fmean(values) if mean is None else mean
            spread = statistics.stdev(values) if len(set(values)) > 1 else 1.0
            deviations[column] = spread if scale is None else scale
    return Prior(equivalent_sample_size, mean_weight, degrees or len(means) + mean_weight + 1, means, deviations)


class Cloud:
    """What the rows so far say about some columns of numbers: a normal-Wishart distribution."""

    def __init__(self, columns: list[int], prior: Prior) -> None:
        nodes = len(prior.means)
        self.weight, self.degrees = prior.mean_weight, prior.degrees - nodes + len(columns)
        self.mean = np.array([prior.means[column] for column in columns])
        units = np.array([prior.deviations[column] for column in columns])
        self.matrix = prior.mean_weight * (prior.degrees - nodes - 1) / (prior.mean_weight + 1) * np.diag(units**2)

    def log_density(self, row: np.ndarray) -> float:
        """The log density of the next row, which has a Student t distribution."""
        size = len(row)
        if size == 0:
            return 0.0
        freedom = self.degrees - size + 1
        shape = (self.weight + 1) / (self.weight * freedom) * self.matrix
        away = row - self.mean
        return float(
            math.lgamma((freedom + size) / 2)
            - math.lgamma(freedom / 2)
            - size / 2 * math.log(freedom * math.pi)
            - np.linalg.slogdet(shape)[1] / 2
            - (freedom + size) / 2 * math.log1p(away @ np.linalg.solve(shape, away) / freedom)
        )

    def add(self, row: np.ndarray) -> None:
        """Learn from a row."""
        away = row - self.mean
        self.matrix = self.matrix + self.weight / (self.weight + 1) * np.outer(away, away)
        self.mean = self.mean + away / (self.weight + 1)
        self.weight += 1
        self.degrees += 1


def family_score(table: Table, child: int, parents: list[int], prior: Prior) -> float:
    """The log density of a column given its parents, row by row; minus infinity for levels given numbers."""
    discrete = [parent for parent in parents if table.levels[parent] is not None]
    numbers = [parent for parent in parents if table.levels[parent] is None]
    observations = [row for row, count in rows_for(table, child) for _ in range(count)]
    if table.levels[child] is None:
        return _of_numbers(table, child, discrete, numbers, observations, prior)
    if numbers:
        return -math.inf
    cells = math.prod(table.arities[column] for column in [*discrete, child])
    seen: dict[tuple[int, ...], list[float]] = {}
    total = 0.0
    for row in observations:
        levels = tuple(int(table.columns[parent][row]) for parent in discrete)
        own = seen.setdefault(levels, [prior.equivalent_sample_size / cells] * table.arities[child])
        code = int(table.columns[child][row])
        total += math.log(own[code] / sum(own))
        own[code] += 1
    return total


def _of_numbers(
    table: Table, child: int, discrete: list[int], numbers: list[int], observations: list[int], prior: Prior
) -> float:
    clouds: dict[tuple[int, ...], tuple[Cloud, Cloud]] = {}
    total = 0.0
    for row in observations:
        levels = tuple(int(table.columns[parent][row]) for parent in discrete)
        if levels not in clouds:
            clouds[levels] = Cloud([*numbers, child], prior), Cloud(numbers, prior)
        everyone, given = clouds[levels]
        values = np.array([table.columns[column][row] for column in [*numbers, child]])
        total += everyone.log_density(values) - given.log_density(values[:-1])
        everyone.add(values)
        given.add(values[:-1])
    return total
