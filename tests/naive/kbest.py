"""Slow, obvious twins of the list of the best DAGs.

The order of the list is defined by what it does: among the DAGs not yet listed, those whose log weight is within a
tolerance of the best of them are tied, and the one of these with the smallest tuple of parent masks comes next.
"""

from __future__ import annotations

import math

import numpy as np
from tests.naive import posterior as naive

Weighted = tuple[float, naive.Dag]


def tolerance(log_weights: naive.Logs) -> float:
    """A billionth of a nat, and a hundredth of a trillionth of what the best parent sets of all nodes weigh."""
    return 1e-9 + 1e-14 * float(sum(abs(max(row)) for row in log_weights.tolist()))


def every_dag(log_weights: naive.Logs, max_parents: int) -> list[Weighted]:
    """Every DAG that has any weight, with its log weight."""
    nodes = len(log_weights)
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    logs = [
        math.fsum(row)
        for row in by_mask[np.arange(nodes), naive.parents_in_every_dag(nodes).reshape(-1, nodes)].tolist()
    ]
    return [(log, dag) for log, dag in zip(logs, naive.all_dags(nodes), strict=True) if log > -math.inf]


def listed(dags: list[Weighted], tolerance: float, count: int) -> tuple[list[Weighted], bool]:
    """The first `count` DAGs of the list, and whether the best of the others ties with the last of them."""
    left = sorted(dags, reverse=True)
    result: list[Weighted] = []
    while left and len(result) < count:
        best = left[0][0]
        end = next((place for place, (log, _) in enumerate(left) if log < best - tolerance), len(left))
        chosen = min(left[:end], key=lambda one: one[1])
        left.remove(chosen)
        result.append(chosen)
    return result, bool(left) and left[0][0] >= result[-1][0] - tolerance


def best_by_enumeration(log_weights: naive.Logs, max_parents: int, count: int) -> tuple[list[Weighted], bool]:
    """The definition itself, up to five nodes."""
    return listed(every_dag(log_weights, max_parents), tolerance(log_weights), count)


def best_by_lists(log_weights: naive.Logs, max_parents: int, count: int) -> list[Weighted]:
    """The textbook (Tian, He & Ram 2010): for every set of nodes the best DAGs on it, a last node added to each.

    A DAG comes up once for each node that can be the last; equal ones are merged. Ties are left to chance.
    """
    nodes = len(log_weights)
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    best: dict[int, list[Weighted]] = {0: [(0.0, (0,) * nodes)]}
    for members in range(1, 1 << nodes):
        found: dict[naive.Dag, float] = {}
        for last in (node for node in range(nodes) if members >> node & 1):
            before = members ^ (1 << last)
            parents = [mask for mask in naive.parent_masks(last, nodes, max_parents) if mask & ~before == 0]
            weights = sorted(((float(by_mask[last, mask]), mask) for mask in parents), reverse=True)[:count]
            for log, dag in best[before]:
                for weight, mask in weights:
                    if weight > -math.inf:
                        found[(*dag[:last], mask, *dag[last + 1 :])] = log + weight
        best[members] = sorted(((log, dag) for dag, log in found.items()), reverse=True)[:count]
    return best[(1 << nodes) - 1]
