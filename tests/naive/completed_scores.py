"""Slow twins of the scores for tables with gaps: one family at a time, for many completions of the rows at once.

A row with gaps that counts more than once is as many rows, each with cells of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, multigammaln, xlogy

if TYPE_CHECKING:
    from dagpost.data.table import Table

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """A table as rows of codes or numbers, nan in the gaps; how often each counts; which of its cells were set."""

    values: Numbers
    weights: Numbers
    was_set: Flags
    arities: tuple[int, ...]

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """The column and the row of each gap, column by column."""
        return [(int(column), int(row)) for column, row in np.argwhere(np.isnan(self.values.T))]


#: Log score of a child given parents, for rows that were completed in many ways (ways, rows, columns).
FamilyScore = Callable[[Rows, Numbers, int, list[int]], Numbers]


def written_out(table: Table) -> Table:
    """The table with each row that has gaps as often as it counts."""
    times = np.ones(table.rows, dtype=int) if table.counts is None else table.counts
    gaps = np.zeros((len(table.names), table.rows), bool) if table.gaps is None else table.gaps
    repeats = np.where(gaps.any(axis=0), times, 1)
    kept = np.repeat(np.arange(table.rows), repeats)
    return replace(
        table,
        columns=tuple(column[kept] for column in table.columns),
        counts=(times // repeats)[kept],
        interventions=None if table.interventions is None else table.interventions[kept],
        gaps=gaps[:, kept],
    )


def rows_of(table: Table) -> Rows:
    """The rows of a table, those with gaps written out."""
    table = written_out(table)
    masks = np.zeros(table.rows, dtype=int) if table.interventions is None else table.interventions.astype(int)
    values = np.array([np.where(gaps, np.nan, column) for column, gaps in zip(table.columns, table.gaps, strict=True)])
    was_set = masks[:, None] >> np.arange(len(table.names)) & 1 == 1
    return Rows(values.T, table.counts.astype(float), was_set, table.arities)


def counted(rows: Rows, filled: Numbers, child: int, parents: list[int]) -> tuple[Numbers, int]:
    """How often each level of the child occurs with each configuration (ways, configurations, levels); and rows."""
    codes = filled.astype(np.int64)
    cell = np.zeros(codes.shape[:2], dtype=np.int64)
    configurations = 1
    for parent in parents:
        cell = cell * rows.arities[parent] + codes[:, :, parent]
        configurations *= rows.arities[parent]
    cell = cell * rows.arities[child] + codes[:, :, child]
    counts = np.zeros((len(codes), configurations * rows.arities[child]))
    for row in np.flatnonzero(~rows.was_set[:, child]):
        counts[np.arange(len(codes)), cell[:, row]] += rows.weights[row]
    return counts.reshape(len(codes), configurations, rows.arities[child]), int(counts[0].sum())


def dirichlet(pseudocount: Callable[[Rows, int, list[int]], float]) -> FamilyScore:
    """Every cell of a family has one Dirichlet parameter, which may depend on the family."""

    def score(rows: Rows, filled: Numbers, child: int, parents: list[int]) -> Numbers:
        counts, _ = counted(rows, filled, child, parents)
        alpha = pseudocount(rows, child, parents)
        pool = alpha * rows.arities[child]
        cells: Numbers = (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=(1, 2))
        return cells + (gammaln(pool) - gammaln(pool + counts.sum(axis=2))).sum(axis=1)

    return score


def bdeu(size: float) -> FamilyScore:
    return dirichlet(lambda rows, child, parents: size / math.prod(rows.arities[node] for node in [child, *parents]))


def k2(pseudocount: float = 1.0) -> FamilyScore:
    return dirichlet(lambda *_: pseudocount)


def bic(rows: Rows, filled: Numbers, child: int, parents: list[int]) -> Numbers:
    counts, observations = counted(rows, filled, child, parents)
    pooled = counts.sum(axis=2)
    likelihood: Numbers = xlogy(counts, counts).sum(axis=(1, 2)) - xlogy(pooled, pooled).sum(axis=1)
    return likelihood - np.log(max(observations, 1)) / 2 * (rows.arities[child] - 1) * counts.shape[1]


def bge(rows: Rows, mean_weight: float = 1.0) -> FamilyScore:
    """The Gaussian score; prior mean and scale are those of the cells of each column that have a value."""
    subset = gaussian_subsets(rows, list(range(rows.values.shape[1])), mean_weight)

    def score(rows: Rows, filled: Numbers, child: int, parents: list[int]) -> Numbers:
        weights = np.broadcast_to(np.where(rows.was_set[:, child], 0.0, rows.weights), filled.shape[:2])
        return subset(filled, weights, [*parents, child]) - subset(filled, weights, parents)

    return score


def gaussian_subsets(
    rows: Rows, numbers: list[int], mean_weight: float
) -> Callable[[Numbers, Numbers, list[int]], Numbers]:
    """Log density of some of the columns of numbers by themselves, for rows that count `weights` (ways, rows) times."""
    degrees = len(numbers) + mean_weight + 1
    mean, deviations = observed_moments(rows)
    factor = mean_weight * (degrees - len(numbers) - 1) / (mean_weight + 1)

    def subset(data: Numbers, weights: Numbers, members: list[int]) -> Numbers:
        """As in Kuipers, Moffa & Heckerman (2014), A.2."""
        size, total = len(members), weights.sum(axis=1)
        if size == 0:
            return np.zeros(len(data))
        own = data[:, :, members]
        prior = factor * np.diag(deviations[members] ** 2)
        centre = np.einsum("kr,krc->kc", weights, own) / np.maximum(total, 1)[:, None]
        off, distance = own - centre[:, None], mean[members] - centre
        matrix = prior + np.einsum("kr,krc,krd->kcd", weights, off, off)
        shrinkage = total * mean_weight / (total + mean_weight)
        matrix += shrinkage[:, None, None] * distance[:, :, None] * distance[:, None, :]
        before = (degrees - len(numbers) + size) / 2
        after = before + total / 2
        logs = size / 2 * np.log(mean_weight / (total + mean_weight)) - size * total / 2 * np.log(np.pi)
        logs += multigammaln(after, size) - multigammaln(before, size) + before * np.linalg.slogdet(prior)[1]
        result: Numbers = logs - after * np.linalg.slogdet(matrix)[1]
        return result

    return subset


def observed_moments(rows: Rows) -> tuple[Numbers, Numbers]:
    """Mean and standard deviation of the cells of each column that have a value; 1 if they are all the same."""
    moments = []
    for column in rows.values.T:
        there = ~np.isnan(column)
        own = np.repeat(column[there], rows.weights[there].astype(int))
        moments.append((own.mean(), own.std(ddof=1) if own.min() < own.max() else 1.0))
    return np.array([mean for mean, _ in moments]), np.array([deviation for _, deviation in moments])
