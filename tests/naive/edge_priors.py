"""Slow, obvious twins of priors on single edges: three states for every pair, and every graph weighed pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from tests.naive.posterior import all_dags, orders_of_every_dag

#: A pair (i, j), i < j, to what was said: "->" of i -> j, "<-" of j -> i, "--" of either.
Said = Mapping[tuple[int, int], Mapping[str, float]]


def states(said: Mapping[str, float], otherwise: float, *, forth: bool, back: bool) -> tuple[float, float, float]:
    """The weights of i -> j, j -> i and no edge; `forth` and `back` say whether the rules allow the two edges."""
    ahead, behind, joined = said.get("->"), said.get("<-"), said.get("--")
    if ahead is not None and behind is not None:
        weights = ahead, behind, 1 - ahead - behind
    elif joined is not None and ahead is not None:
        weights = ahead, joined - ahead, 1 - joined
    elif joined is not None and behind is not None:
        weights = joined - behind, behind, 1 - joined
    elif joined is not None:
        weights = (joined / 2, joined / 2, 1 - joined) if forth and back else (joined, joined, 1 - joined)
    elif ahead is not None:
        left, other, none = 1 - ahead, otherwise if back else 0.0, 1 - 2 * otherwise
        weights = ahead, left * other / (other + none), left * none / (other + none)
    elif behind is not None:
        left, other, none = 1 - behind, otherwise if forth else 0.0, 1 - 2 * otherwise
        weights = left * other / (other + none), behind, left * none / (other + none)
    else:
        weights = otherwise, otherwise, 1 - 2 * otherwise
    one, two, none = weights[0] * forth, weights[1] * back, weights[2]
    return one, two, none


def graph_weights(
    said: Said, otherwise: float, nodes: int, forbidden: Iterable[tuple[int, int]], max_parents: int
) -> dict[tuple[int, ...], float]:
    """The weight of every graph: the product over its pairs of the states that these are in."""
    left_out = set(forbidden)
    of_pair = {
        (i, j): states(said.get((i, j), {}), otherwise, forth=(i, j) not in left_out, back=(j, i) not in left_out)
        for i, j in combinations(range(nodes), 2)
    }
    weights = {}
    for dag in all_dags(nodes):
        weight = float(all(mask.bit_count() <= max_parents for mask in dag))
        for (i, j), (one, two, none) in of_pair.items():
            state = one if dag[j] >> i & 1 else two if dag[i] >> j & 1 else none
            # Only what the rules allow is compared.
            weight *= state / (one + two + none)
        weights[dag] = weight
    return weights


def edges(weights: Mapping[tuple[int, ...], float], nodes: int, *, by_order: bool = False) -> NDArray[np.float64]:
    """The probability of each edge [parent, child]."""
    counts = orders_of_every_dag(nodes) if by_order else dict.fromkeys(weights, 1)
    found, total = np.zeros((nodes, nodes)), 0.0
    for dag, weight in weights.items():
        total += weight * counts[dag]
        for child, mask in enumerate(dag):
            for parent in range(nodes):
                if mask >> parent & 1:
                    found[parent, child] += weight * counts[dag]
    return found / total
