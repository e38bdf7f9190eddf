"""Slow, obvious twins of what chains look up: explicit lists of parent sets, summed one by one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

#: The parent sets of one node, as masks over all nodes, with their log weights; those of weight zero are not there.
Sets = dict[int, float]


def considered(
    log_weights: naive.Logs, max_parents: int, candidates: NDArray[np.int64], small_size: int
) -> tuple[Sets, ...]:
    """Of all weighed sets those of at most `small_size` parents, and those made of candidates alone."""
    nodes = len(log_weights)
    result = []
    for node in range(nodes):
        among = naive.mask_of(candidates[node].tolist())
        result.append(
            {
                mask: float(weight)
                for mask, weight in zip(naive.parent_masks(node, nodes, max_parents), log_weights[node], strict=True)
                if weight > -np.inf and (mask.bit_count() <= small_size or mask & ~among == 0)
            }
        )
    return tuple(result)


def fitting(sets: Sets, allowed: int, to_meet: int = 0) -> Sets:
    """The sets inside `allowed` that have a node of `to_meet`, unless that is empty."""
    return {
        mask: weight for mask, weight in sets.items() if mask & ~allowed == 0 and (to_meet == 0 or mask & to_meet != 0)
    }


def log_sum(logs: Iterable[float]) -> float:
    """Log of the sum; minus infinity if there is nothing to sum."""
    return naive.log_sum(np.array([-np.inf, *logs]))


def shares(sets: Sets) -> dict[int, float]:
    """The probability of every set."""
    total = log_sum(sets.values())
    return {mask: float(np.exp(weight - total)) for mask, weight in sets.items()}


def edge_probabilities(sets: tuple[Sets, ...], allowed: list[int], to_meet: list[int]) -> NDArray[np.float64]:
    """Probability of each edge [parent, child] where every node chooses its parents by itself."""
    nodes = len(sets)
    edges = np.zeros((nodes, nodes))
    for child in range(nodes):
        for mask, share in shares(fitting(sets[child], allowed[child], to_meet[child])).items():
            for parent in range(nodes):
                edges[parent, child] += share * (mask >> parent & 1)
    return edges
