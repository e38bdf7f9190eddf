"""Slow, obvious twins of questions about values: the whole joint distribution of every graph, cell by cell.

Graphs are tuples of parent masks; what is said of columns is a mapping from the column to the codes that it may have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from tests.naive.prediction import Family, members

Codes = Mapping[int, Sequence[int]]


def probability(
    family: Family,
    dags: Sequence[Sequence[int]],
    weights: Sequence[float],
    arities: Sequence[int],
    target: Codes,
    evidence: Codes,
    do: Mapping[int, int],
    background: Sequence[tuple[Mapping[int, int], float]] = (({}, 1.0),),
) -> float:
    """P(target | evidence, do): sums over all rows, truncated at the columns that are set, and over all graphs.

    `background` has the combinations of columns that are not modelled with their shares.
    """
    both = evidence_alone = 0.0
    for outside, share in background:
        fixed = {**outside, **do}
        for row in product(*(range(arity) for arity in arities)):
            if any(row[node] != code for node, code in fixed.items()):
                continue
            if any(row[node] not in codes for node, codes in evidence.items()):
                continue
            total = sum(
                weight * math.exp(sum(family(child, members(int(dag[child])), row) for child in range(len(arities))
                                      if child not in fixed))
                for dag, weight in zip(dags, weights, strict=True)
            )  # fmt: skip
            evidence_alone += share * total
            if all(row[node] in codes for node, codes in target.items()):
                both += share * total
    return both / evidence_alone


def conditioned(
    mean: NDArray[np.float64], covariance: NDArray[np.float64], points: Mapping[int, float], target: int
) -> tuple[float, float]:
    """Mean and deviation of one number of a normal distribution, given others."""
    given = list(points)
    distance = np.array([points[node] - mean[node] for node in given])
    inverse = np.linalg.inv(covariance[np.ix_(given, given)])
    slopes = covariance[target, given] @ inverse
    return float(mean[target] + slopes @ distance), math.sqrt(
        covariance[target, target] - slopes @ covariance[given, target]
    )
