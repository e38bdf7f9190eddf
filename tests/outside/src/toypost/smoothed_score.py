"""A score of our own: Dirichlet with the same pseudo-count in every cell, summed family by family in plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import lgamma
from typing import Any

from dagpost import DirichletPrior, Score


@dataclass(frozen=True)
class Smoothed(Score):
    """The marginal likelihood under a Dirichlet prior of `pseudocount` in every cell."""

    pseudocount: float = 2.0

    name = "smoothed"
    summary = "a toy: the same pseudo-count in every cell"
    citation = "Nobody (2026). Toys that plug into dagpost."

    def in_words(self) -> str:
        return f"the toy score with pseudo-count {self.pseudocount:g}"

    def parameter_prior(self) -> DirichletPrior:
        return DirichletPrior(self.pseudocount, shared=False)

    def fill(  # type: ignore[override]  # without the last parameter: a checkpoint has all of it or nothing
        self, table: Any, max_parents: int, values: Any, engine: Any, reporter: Any
    ) -> None:
        nodes = len(table.names)
        for node in range(nodes):
            others = [column for column in range(nodes) if column != node]
            number = 0
            for size in range(max_parents + 1):
                # By size, then colexicographically: the order in which dagpost numbers parent sets.
                for parents in sorted(combinations(others, size), key=lambda parents: parents[::-1]):
                    values[node, number] = self._family(table, node, parents)
                    number += 1

    def _family(self, table: Any, node: int, parents: tuple[int, ...]) -> float:
        weights = [1] * table.rows if table.counts is None else table.counts.tolist()
        cells: Counter[tuple[int, ...]] = Counter()
        configurations: Counter[tuple[int, ...]] = Counter()
        columns = [table.columns[parent].tolist() for parent in parents]
        for row, weight in enumerate(weights):
            configuration = tuple(column[row] for column in columns)
            configurations[configuration] += weight
            cells[(*configuration, int(table.columns[node][row]))] += weight
        prior, levels = self.pseudocount, table.arities[node]
        log_score = sum(lgamma(prior + count) - lgamma(prior) for count in cells.values())
        return log_score + sum(lgamma(prior * levels) - lgamma(prior * levels + n) for n in configurations.values())
