"""Slow, obvious twins for tables of levels and numbers: row by row and combination by combination, by the definition.

Graphs are tuples of parent masks, rows are lists of codes and numbers. Missing numbers are integrated on a fine grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tests.naive import prediction as naive_prediction
from tests.naive import scores as naive_scores

from dagpost.data.table import Table


@dataclass(frozen=True)
class Prior:
    """Imagined rows of levels, and the prior of numbers with all its parts settled."""

    size: float
    weight: float
    degrees: float
    mean: np.ndarray
    deviations: np.ndarray


def numeric(table: Table) -> list[int]:
    return [node for node, levels in enumerate(table.levels) if levels is None]


def prior_of(table: Table, size: float = 5.0, weight: float = 1.0) -> Prior:
    """The prior of `ConditionalGaussian` where it is left to the data: means and deviations of all rows."""
    numbers = part(table, numeric(table))
    counts = np.ones(table.rows) if table.counts is None else table.counts
    if not numbers.names:
        return Prior(size, weight, weight + 1, np.empty(0), np.empty(0))
    mean = np.average(numbers.values(), axis=0, weights=counts)
    return Prior(size, weight, len(mean) + weight + 1, mean, naive_scores.deviations(numbers, None))


def part(table: Table, nodes: Sequence[int]) -> Table:
    """Some columns; interventions on the others are forgotten."""
    masks = None
    if table.interventions is not None:
        masks = np.array(
            [
                sum(1 << place for place, node in enumerate(nodes) if int(mask) >> node & 1)
                for mask in table.interventions
            ],
            dtype=np.uint64,
        )
    columns = tuple(table.columns[node] for node in nodes)
    return Table(
        tuple(table.names[node] for node in nodes), columns, tuple(table.levels[node] for node in nodes), table.counts,
        masks,
    )  # fmt: skip


def rows_with(table: Table, levels: dict[int, int]) -> Table:
    """The rows in which some columns have these codes."""
    kept = [row for row in range(table.rows) if all(int(table.columns[n][row]) == code for n, code in levels.items())]
    return replace(
        table,
        columns=tuple(column[kept] for column in table.columns),
        counts=None if table.counts is None else table.counts[kept],
        interventions=None if table.interventions is None else table.interventions[kept],
    )


def family_of(table: Table, prior: Prior) -> naive_prediction.Family:
    """The score of a family with the row less that without it, of numbers among the rows with the same levels."""
    numbers = numeric(table)
    discrete = [node for node in range(len(table.names)) if node not in numbers]
    levels = part(table, discrete)
    of_levels = naive_prediction.discrete_family(levels, naive_prediction.bdeu_parameter(levels, prior.size))

    def log_probability(child: int, parents: list[int], row: Sequence[float]) -> float:
        if child in discrete:
            places = [discrete.index(parent) for parent in parents]
            return of_levels(discrete.index(child), places, [row[node] for node in discrete])
        alike = rows_with(table, {node: int(row[node]) for node in parents if node in discrete})
        own = part(alike, numbers)
        family = naive_prediction.gaussian_family(own, prior.weight, prior.degrees, prior.mean, prior.deviations)
        places = [numbers.index(parent) for parent in parents if parent in numbers]
        return family(numbers.index(child), places, [row[node] for node in numbers])

    return log_probability


def possible(table: Table, dags: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """The graphs in which no column of numbers leads to one of levels."""
    bits = sum(1 << node for node in numeric(table))
    return [dag for dag in dags if all(not int(mask) & bits for node, mask in enumerate(dag) if not bits >> node & 1)]
