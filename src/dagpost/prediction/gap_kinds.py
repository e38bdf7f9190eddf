"""What is left of all graphs where some columns of a row have no value, made ready for rows that lack the same ones.

Missing levels are summed over (elimination.py), missing numbers integrated (integration.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.families.masks import distinct_rows
from dagpost.prediction.discrete import fill_discrete, tabulated_families
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.elimination import fill_sums, sums_of
from dagpost.prediction.gap_patterns import Pattern, pattern_of, sorted_graphs
from dagpost.prediction.gaussian import fill_gaussian, gaussian_families, gaussian_posterior
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.integration import fill_integrals, integrals_of, turn_covered_edges
from dagpost.prediction.strips import LANES
from dagpost.scores import DirichletPrior, NormalWishartPrior
from dagpost.scores.parameter_priors import refuse_far


class Ready(NamedTuple):
    """The columns of one pattern of gaps; `fill` gives those of some rows, and those with half the points, if any."""

    pattern: Pattern
    fill: Callable[[NDArray[Any], Masks, int, Integers], list[Floats]]


#: Makes ready what is left of all graphs where some nodes are missing and others given.
Prepare = Callable[[int, int], Ready]


def prepare_discrete(
    statistics: DiscreteStatistics, prior: DirichletPrior, parents: NDArray[Any], weights: Floats
) -> Prepare:
    """For columns of levels."""
    graphs, weights = sorted_graphs(parents, weights)
    tables = tabulated_families(statistics, prior, statistics.locate(graphs.children, graphs.parents))

    def prepare(gaps: int, given: int) -> Ready:
        pattern = pattern_of(graphs, weights, gaps, given)
        plain, sums = tables.chosen(pattern.plain), sums_of(tables, graphs.parents, pattern.parts, gaps)

        def fill(cells: NDArray[Any], masks: Masks, width: int, cancel: Integers) -> list[Floats]:
            del cancel
            logs = np.zeros((len(pattern.nodes), LANES))
            fill_discrete(plain, -1, cells, masks, logs[: len(pattern.plain)])
            parts = np.empty((len(pattern.parts), width))
            fill_sums(sums, np.ascontiguousarray(cells[:, :width]), parts)
            logs[len(pattern.plain) + len(pattern.zeros) :, :width] = parts
            return [logs]

        return Ready(pattern, fill)

    return prepare


def prepare_gaussian(
    statistics: GaussianStatistics, prior: NormalWishartPrior, parents: NDArray[Any], weights: Floats
) -> Prepare:
    """For columns of numbers."""
    refuse_far(statistics.names, statistics.centre, statistics.deviations)
    posterior = gaussian_posterior(statistics, prior)
    found, member = distinct_rows(parents)
    weights = np.bincount(member, weights=weights).astype(np.float64)
    original = parents[found].astype(np.uint64)

    def prepare(gaps: int, given: int) -> Ready:
        turned = np.empty_like(original)
        turn_covered_edges(original, np.uint64(gaps), np.uint64(given), statistics.group_of, turned)
        graphs, own_weights = sorted_graphs(turned, weights)
        pattern = pattern_of(graphs, own_weights, gaps, given)
        every = gaussian_families(posterior, graphs.children, graphs.parents, statistics.group_of[graphs.children])
        children, own_parents = graphs.children[pattern.plain], graphs.parents[pattern.plain]
        plain = gaussian_families(posterior, children, own_parents, statistics.group_of[children])
        integrals = integrals_of(every, pattern.parts, gaps)

        def fill(cells: NDArray[Any], masks: Masks, width: int, cancel: Integers) -> list[Floats]:
            logs = np.zeros((len(pattern.nodes), LANES))
            fill_gaussian(plain, cells, masks, logs[: len(pattern.plain)])
            if not len(pattern.parts):
                return [logs]
            fine, coarse = (np.empty((len(pattern.parts), width)) for _ in range(2))
            fill_integrals(integrals, np.ascontiguousarray(cells[:, :width]), fine, coarse, cancel)
            return _both(pattern, logs, fine, coarse)

        return Ready(pattern, fill)

    return prepare


def _both(pattern: Pattern, logs: Floats, fine: Floats, coarse: Floats) -> list[Floats]:
    """The columns with the integrals of parts, and the same with half the points."""
    first, width = len(pattern.plain) + len(pattern.zeros), fine.shape[1]
    halved = logs.copy()
    logs[first:, :width], halved[first:, :width] = fine, coarse
    return [logs, halved]
