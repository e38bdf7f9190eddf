"""Slow, obvious twins of prediction: one graph, one row and one family at a time, straight from the definition.

Rows are given in the codes (or values) of the training table; a code past the last level stands for a level that is not
known. Graphs are tuples of parent masks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from tests.naive import scores as naive_scores

if TYPE_CHECKING:
    from dagpost.data.table import Table

#: Probability of the node in a row given its parents, after training: (child, parents, row) -> log.
Family = Callable[[int, list[int], Sequence[float]], float]


def members(mask: int) -> list[int]:
    return [node for node in range(64) if mask >> node & 1]


def discrete_family(table: Table, parameter: Callable[[int, list[int]], float]) -> Family:
    """The share of a level among equal rows of training, with `parameter` imagined rows of every level."""

    def log_probability(child: int, parents: list[int], row: Sequence[float]) -> float:
        cells, pooled = naive_scores.family_counts(table, child, parents)
        configuration = tuple(int(row[parent]) for parent in parents)
        pseudo = parameter(child, parents)
        seen = cells[configuration, int(row[child])]
        return math.log((pseudo + seen) / (pseudo * table.arities[child] + pooled[configuration]))

    return log_probability


def bdeu_parameter(table: Table, size: float) -> Callable[[int, list[int]], float]:
    return lambda child, parents: size / math.prod(table.arities[node] for node in [child, *parents])


def gaussian_family(
    table: Table, weight: float, degrees: float, prior_mean: np.ndarray, prior_deviations: np.ndarray
) -> Family:
    """The score of all rows less that of the rows of training."""

    def log_probability(child: int, parents: list[int], row: Sequence[float]) -> float:
        prior = weight, degrees, prior_mean, prior_deviations
        before = naive_scores.bge(table, child, parents, *prior)
        return naive_scores.bge(with_row(table, row), child, parents, *prior) - before

    return log_probability


def with_row(table: Table, row: Sequence[float]) -> Table:
    """The table with one more row, in which nothing was set."""
    from dagpost.data.table import Table

    columns = tuple(
        np.append(column, np.array(cell, column.dtype)) for column, cell in zip(table.columns, row, strict=True)
    )
    counts = None if table.counts is None else np.append(table.counts, 1)
    masks = None if table.interventions is None else np.append(table.interventions, np.uint64(0))
    return Table(table.names, columns, table.levels, counts, masks)


def log_predictive(
    family: Family, dags: Sequence[Sequence[int]], weights: Sequence[float], row: Sequence[float], was_set: int = 0
) -> float:
    """Sum over the graphs, the nodes that were set in this row counting as given."""
    logs = [
        math.log(weight)
        + math.fsum(
            family(child, members(int(mask)), row) for child, mask in enumerate(dag) if not was_set >> child & 1
        )
        for dag, weight in zip(dags, weights, strict=True)
        if weight > 0
    ]
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs))


def shares_of_target(
    family: Family,
    dags: Sequence[Sequence[int]],
    weights: Sequence[float],
    row: Sequence[int],
    target: int,
    levels: int,
) -> list[float]:
    """The joint probability with each level of the target in turn, divided by their sum."""
    logs = [
        log_predictive(family, dags, weights, [*row[:target], level, *row[target + 1 :]]) for level in range(levels)
    ]
    largest = max(logs)
    total = math.fsum(math.exp(log - largest) for log in logs)
    return [math.exp(log - largest) / total for log in logs]


def log_predictive_of_observed(
    family: Family,
    dags: Sequence[Sequence[int]],
    weights: Sequence[float],
    row: Sequence[int | None],
    arities: Sequence[int],
    was_set: int = 0,
) -> float:
    """The sum over all ways to fill the cells that are None."""
    choices = [range(arity) if cell is None else [cell] for cell, arity in zip(row, arities, strict=True)]
    logs = [log_predictive(family, dags, weights, completed, was_set) for completed in product(*choices)]
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs))


def shares_given_observed(
    family: Family,
    dags: Sequence[Sequence[int]],
    weights: Sequence[float],
    row: Sequence[int | None],
    target: int,
    arities: Sequence[int],
) -> list[float]:
    """The joint probability of what is observed and each level of the target in turn, divided by their sum."""
    logs = [
        log_predictive_of_observed(family, dags, weights, [*row[:target], level, *row[target + 1 :]], arities)
        for level in range(arities[target])
    ]
    largest = max(logs)
    total = math.fsum(math.exp(log - largest) for log in logs)
    return [math.exp(log - largest) / total for log in logs]
