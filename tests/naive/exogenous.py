"""Slow, obvious twins of models with columns that are not modelled: sums and products over the modelled ones only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from tests.naive import essential
from tests.naive.posterior import all_dags, log_sum, weights_by_mask
from tests.naive.summaries import Dag, Edge, edges_of


@cache
def dags_given(nodes: int, exogenous: frozenset[int]) -> list[Dag]:
    """All graphs in which the exogenous columns have no parents."""
    return [dag for dag in all_dags(nodes) if not any(dag[node] for node in exogenous)]


def weighed(
    log_weights: NDArray[np.float64], max_parents: int, exogenous: Iterable[int]
) -> Iterator[tuple[Dag, float]]:
    """Every graph with its log weight: a product over the modelled nodes."""
    left_out = frozenset(exogenous)
    by_mask = weights_by_mask(log_weights, max_parents)
    for dag in dags_given(len(log_weights), left_out):
        yield dag, sum(by_mask[node, mask] for node, mask in enumerate(dag) if node not in left_out)


def posterior(
    log_weights: NDArray[np.float64], max_parents: int, exogenous: Iterable[int]
) -> tuple[float, NDArray[np.float64]]:
    """The log evidence, and the probability of each edge [parent, child]."""
    found = list(weighed(log_weights, max_parents, exogenous))
    log_evidence = log_sum(np.array([log for _, log in found]))
    edges = np.zeros((len(log_weights), len(log_weights)))
    for dag, log in found:
        for edge in edges_of(dag):
            edges[edge] += np.exp(log - log_evidence)
    return log_evidence, edges


def joined(dag: Dag, exogenous: Iterable[int]) -> Dag:
    """The graph in which all exogenous columns are joined to each other: whatever they are to each other."""
    among: set[Edge] = set(combinations(sorted(exogenous), 2))
    return essential.as_masks(edges_of(dag) | among, len(dag))


def compelled(dag: Dag, exogenous: Iterable[int], *, rules: bool) -> set[Edge]:
    """The edges that all graphs have that say the same, whatever exogenous columns are to each other.

    With `rules`, only graphs in which no other column is a parent of these are considered.
    """
    given = set(exogenous)
    into = {(node, column) for column in given for node in range(len(dag)) if node not in given}
    found = essential.compelled(joined(dag, given), forbidden=into if rules else ())
    return {(parent, child) for parent, child in found if not {parent, child} <= given}
