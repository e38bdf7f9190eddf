"""Slow, obvious twins of what decides which parent sets are considered: sums over subsets, one by one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive
from tests.naive.families import Sets, log_sum


def shares(sets: Sets) -> dict[int, float]:
    """The weight of every set relative to the sum over all of its subsets, itself too."""
    return {
        mask: math.exp(weight - log_sum(other for inside, other in sets.items() if inside & ~mask == 0))
        for mask, weight in sets.items()
    }


def that_go(sets: Sets, allowance: float) -> list[int]:
    """The sets of the smallest shares, as many as sum to no more than the allowance."""
    gone: list[int] = []
    total = 0.0
    for mask, share in sorted(shares(sets).items(), key=lambda item: item[1]):
        total += share
        if total > allowance:
            break
        gone.append(mask)
    return gone


def graph_probabilities(sets: tuple[Sets, ...]) -> NDArray[np.float64]:
    """The probability of every graph without cycles on these nodes, in the order of `naive.all_dags`."""
    logs = np.array(
        [sum(sets[node].get(mask, -math.inf) for node, mask in enumerate(dag)) for dag in naive.all_dags(len(sets))]
    )
    weights = np.exp(logs - logs.max())
    result: NDArray[np.float64] = weights / weights.sum()
    return result


def common_set_is_there(sets: list[set[int]]) -> bool:
    """Whether what all sets have in common is one of them."""
    return set.intersection(*sets) in sets
