"""A kind of score of our own: the Bayesian information criterion of linear regressions of numbers.

With straight_lines.py, what it says of sizes, these two files are all that a new kind needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dagpost import Score
from dagpost.scores import LocalPrior


@dataclass(frozen=True)
class Straight(Score):
    """Half the log of the rows for every slope, and the largest likelihood of each line."""

    name = "straight"
    summary = "a toy: lines by the Bayesian information criterion"
    columns = "continuous"

    def in_words(self) -> str:
        return "the toy score of straight lines"

    def parameter_prior(self) -> LocalPrior:
        return LocalPrior("toypost.straight_lines")

    def fill(self, table: Any, max_parents: int, values: Any, engine: Any, reporter: Any) -> None:  # type: ignore[override]
        nodes, data = len(table.names), table.values()
        for node in range(nodes):
            others = [column for column in range(nodes) if column != node]
            number = 0
            for size in range(max_parents + 1):
                for parents in sorted(combinations(others, size), key=lambda parents: parents[::-1]):
                    design = np.column_stack([np.ones(len(data)), data[:, list(parents)]])
                    left = data[:, node] - design @ np.linalg.lstsq(design, data[:, node], rcond=None)[0]
                    fit = -0.5 * len(data) * math.log(float(left @ left) / len(data))
                    values[node, number] = fit - 0.5 * size * math.log(len(data))
                    number += 1
