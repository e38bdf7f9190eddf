"""Unions of lists of parent sets, and the sets of columns behind families, one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

Sets = list[frozenset[int]]


def sets_of(members: np.ndarray, nodes: int) -> Sets:
    """Rows of columns as sets."""
    return [frozenset(member for member in row if member < nodes) for row in members.tolist()]


def lost(known: Sets, fresh: Sets, log_weights: Sequence[float]) -> float:
    """The shares of the sets that are not known: the weight of each relative to all its subsets that are fresh."""
    weight = dict(zip(fresh, log_weights, strict=True))
    total = 0.0
    for own in set(fresh) - set(known):
        subsets = [frozenset(some) for size in range(len(own) + 1) for some in combinations(sorted(own), size)]
        logs = np.array([weight[subset] for subset in subsets if subset in weight])
        total += math.exp(weight[own] - logs.max()) / float(np.exp(logs - logs.max()).sum())
    return total
