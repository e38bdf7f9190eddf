"""Slow, obvious twin of completing a table of levels and numbers: dictionaries of regressions, dense matrices.

It asks a generator for the same random numbers in the same order, so that its cells must be the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from tests.naive import completion, regimes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagpost import ConditionalGaussian
    from dagpost.data.table import Table


@dataclass
class Round:
    """One round over a completed table, `rows` of codes and numbers; the prior of the score is settled."""

    table: Table
    families: np.ndarray
    score: ConditionalGaussian
    generator: np.random.Generator
    rows: np.ndarray
    known: dict[tuple[int, tuple[float, ...]], completion.GaussianFamily]

    @property
    def numbers(self) -> list[int]:
        return [column for column, levels in enumerate(self.table.levels) if levels is None]

    def parents(self, node: int, *, of_numbers: bool) -> list[int]:
        everyone = completion.parents_of(self.families, node, len(self.table.names))
        return [parent for parent in everyone if (parent in self.numbers) == of_numbers]

    def members(self, node: int) -> list[int]:
        return [*completion.parents_of(self.families, node, len(self.table.names)), node]

    def counts(self, node: int, row: int) -> bool:
        masks = self.table.interventions
        return masks is None or not int(masks[row]) >> node & 1

    def levels_at(self, node: int, row: int) -> tuple[float, ...]:
        return tuple(self.rows[row, self.parents(node, of_numbers=False)].tolist())

    def draw_regression(self, node: int, own: list[int]) -> completion.GaussianFamily:
        """From the posterior of BGe given some rows: R and its mean, as in the module of the score."""
        numbers, parents, weight = self.numbers, self.parents(node, of_numbers=True), self.score.mean_weight
        size = len(numbers)
        degrees = size + weight + 1 if self.score.degrees_of_freedom is None else self.score.degrees_of_freedom
        prior_mean = completion.by_column(self.score.prior_mean, size)
        scale = completion.by_column(self.score.prior_scale, size)
        matrix = weight * (degrees - size - 1) / (weight + 1) * np.diag(scale**2)
        points = [self.rows[row, numbers] for row in own for _ in range(int(self.table.weights[row]))]
        mean = (weight * prior_mean + np.sum(points, axis=0)) / (weight + len(points)) if points else prior_mean
        for point, times in [*((point, 1.0) for point in points), (prior_mean, weight)]:
            matrix = matrix + times * np.outer(point - mean, point - mean)
        child, before = numbers.index(node), [numbers.index(parent) for parent in parents]
        inner = matrix[np.ix_(before, before)]
        slope = np.linalg.solve(inner, matrix[before, child])
        left = matrix[child, child] - matrix[child, before] @ slope
        square = self.generator.chisquare(degrees + len(points) - size + len(parents) + 1)
        deviation = math.sqrt(left / square)
        own_normal = self.generator.standard_normal()
        normals = np.array([self.generator.standard_normal() for _ in parents][::-1])
        factor = np.linalg.cholesky(inner) if parents else np.empty((0, 0))
        slope = slope + deviation * np.linalg.solve(factor.T, normals)
        intercept = mean[child] - slope @ mean[before] + deviation / math.sqrt(weight + len(points)) * own_normal
        return completion.GaussianFamily(parents, intercept, slope, deviation)

    def draw_regressions(self, order: list[int]) -> None:
        """One for each combination that occurs, in families that have gaps."""
        gaps = np.asarray(self.table.gaps).any(axis=1)
        for node in range(len(self.families)):
            if node not in self.numbers or not gaps[self.members(node)].any():
                continue
            found: dict[tuple[float, ...], list[int]] = {}
            for row in order:
                if self.counts(node, row):
                    found.setdefault(self.levels_at(node, row), []).append(row)
            for levels, own in found.items():
                self.known[node, levels] = self.draw_regression(node, own)

    def touched(self, row: int, columns: list[int]) -> list[int]:
        """The families of columns of numbers that have one of these columns."""
        found = []
        for column in columns:
            for node in range(len(self.families)):
                if node in self.numbers and column in self.members(node) and self.counts(node, row):
                    found.append(node)
        return list(dict.fromkeys(found))

    def normal(self, row: int, missing: list[int]) -> tuple[float, np.ndarray, np.ndarray]:
        """Log density of the known numbers of a row, with mean and precision of the missing ones.

        The log density of all numbers is that of the residuals of all families that count.
        """
        columns = len(self.table.names)
        precision, linear, constant = np.zeros((columns, columns)), np.zeros(columns), 0.0
        for node in range(len(self.families)):
            known = self.known.get((node, self.levels_at(node, row))) if node in self.numbers else None
            if known is None or not self.counts(node, row):
                continue
            residual = np.zeros(columns)
            residual[node] = 1.0
            residual[known.parents] = -known.coefficients
            precision += np.outer(residual, residual) / known.deviation**2
            linear += residual * known.intercept / known.deviation**2
            constant -= math.log(known.deviation) + known.intercept**2 / known.deviation**2 / 2
        seen = [column for column in self.numbers if column not in missing]
        values = self.rows[row, seen]
        constant += linear[seen] @ values - values @ precision[np.ix_(seen, seen)] @ values / 2
        own = precision[np.ix_(missing, missing)]
        rest = linear[missing] - precision[np.ix_(missing, seen)] @ values
        mean = np.linalg.solve(own, rest)
        return float(constant + rest @ mean / 2 - np.linalg.slogdet(own)[1] / 2), mean, own

    def draw_levels(self, row: int, block: list[int], missing: list[int]) -> None:
        """The levels of a block jointly; the first one is the fastest digit."""
        ranges = [range(self.table.arities[column]) for column in reversed(block)]
        choices = [tuple(reversed(choice)) for choice in product(*ranges)]
        with_levels, with_numbers = self.touched(row, block), self.touched(row, missing)
        first = with_numbers if set(with_levels) & set(with_numbers) else []
        unseen = []
        for node in dict.fromkeys([*first, *with_levels]):
            for choice in choices:
                self.rows[row, block] = choice
                key = node, self.levels_at(node, row)
                if key not in self.known:
                    self.known[key] = self.draw_regression(node, [])
                    unseen.append(key)
        logs = []
        for choice in choices:
            self.rows[row, block] = choice
            logs.append(self.normal(row, missing)[0] + self.level_score())
        borders = np.cumsum(completion.shares(logs))[:-1]
        chosen = int(np.searchsorted(borders, self.generator.random(), side="right"))
        self.rows[row, block] = choices[chosen]
        for node, levels in unseen:
            if self.levels_at(node, row) != levels:
                del self.known[node, levels]

    def level_score(self) -> float:
        """The Dirichlet scores of the columns of levels, from nothing."""
        table = completed(self.table, self.rows)
        total = 0.0
        for node in range(len(self.families)):
            if node not in self.numbers:
                parents = self.parents(node, of_numbers=False)
                total += regimes.bdeu(table, node, parents, self.score.equivalent_sample_size)
        return total

    def draw_numbers(self, row: int, missing: list[int]) -> None:
        """All missing numbers of a row, given its levels."""
        _, mean, precision = self.normal(row, missing)
        normals = np.array([self.generator.standard_normal() for _ in missing][::-1])
        self.rows[row, missing] = mean + np.linalg.solve(np.linalg.cholesky(precision).T, normals)

    def blocks(self, missing: list[int], limit: int) -> Iterator[list[int]]:
        """Missing levels that are drawn together."""
        arities, turn = self.table.arities, 0
        if math.prod(arities[column] for column in missing) > limit:
            turn = int(self.generator.random() * len(missing))
        block: list[int] = []
        for column in np.roll(missing, -turn).tolist():
            if block and math.prod(arities[other] for other in [*block, column]) > limit:
                yield block
                block = []
            block.append(int(column))
        if block:
            yield block


def redraw(
    table: Table,
    cells: np.ndarray,
    families: np.ndarray,
    score: ConditionalGaussian,
    generator: np.random.Generator,
    limit: int,
) -> np.ndarray:
    """One round: the cells after it."""
    gaps = np.asarray(table.gaps)
    rows = np.column_stack([column.astype(float) for column in table.filled(cells).columns])
    found = Round(table, families, score, generator, rows, {})
    incomplete = gaps.any(axis=0)
    found.draw_regressions([*np.flatnonzero(~incomplete).tolist(), *np.flatnonzero(incomplete).tolist()])
    for row in np.flatnonzero(incomplete).tolist():
        columns = np.flatnonzero(gaps[:, row]).tolist()
        missing = [column for column in columns if column in found.numbers]
        for block in found.blocks([column for column in columns if column not in missing], limit):
            found.draw_levels(row, block, missing)
        if missing:
            found.draw_numbers(row, missing)
    return found.rows.T[gaps]


def completed(table: Table, rows: np.ndarray) -> Table:
    columns, at = np.nonzero(np.asarray(table.gaps))
    return table.filled(rows[at, columns])
