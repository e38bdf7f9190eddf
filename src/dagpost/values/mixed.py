"""Means and covariances of columns of numbers given each lane of levels, with drawn parameters of each graph.

A column of numbers has a regression of its own for each combination of its discrete parents (prediction/mixed.py),
drawn once for each graph and combination that some lane has, as in prediction/parameter_draws.py. Numbers are then
jointly normal in each lane.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.family_lists import families_in
from dagpost.prediction.gap_patterns import numbered
from dagpost.prediction.gaussian import GaussianPosterior, factorise
from dagpost.prediction.mixed import mixed_families, posterior_of_groups, row_groups
from dagpost.prediction.mixed_statistics import MixedStatistics
from dagpost.scores import ConditionalGaussianPrior


class Regressions(NamedTuple):
    """Families of columns of numbers, among these: their parents, and the group of rows of each of their slots."""

    lists: Integers
    sizes: Integers
    #: Where the slots of each family begin; the group of each; which slot each lane has, (families, lanes).
    starts: Integers
    groups: Integers
    slots: Integers


def drawn_moments(
    statistics: MixedStatistics,
    prior: ConditionalGaussianPrior,
    graphs: Masks,
    cells: Integers,
    fixed: Mapping[int, float],
    wanted: Sequence[int],
    generator: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Means (graphs, lanes, wanted) and covariances of the wanted columns of numbers; `fixed` ones are set."""
    columns = statistics.number_columns
    place_of = {int(node): place for place, node in enumerate(columns)}
    families = families_in(graphs)
    used, numbers = numbered(families.numbers[:, columns], len(families.children))
    posterior = posterior_of_groups(statistics, prior)
    children, parents = families.children[used], families.parents[used]
    every = mixed_families(statistics, posterior, children, parents, np.full(len(used), -1))
    groups = row_groups(every, np.ascontiguousarray(cells, dtype=np.float64))
    regressions = _slots(every.lists, every.sizes, every.level_lists, every.level_sizes, statistics, cells, groups)
    values = np.full(len(columns), np.nan)
    for node, value in fixed.items():
        values[place_of[node]] = value
    lanes, count = cells.shape[1], len(wanted)
    memory.require(8 * len(graphs) * lanes * count * (count + 1), "The answer", "Give more of the columns.")
    means, covariances = np.empty((len(graphs), lanes, count)), np.empty((len(graphs), lanes, count, count))
    chosen = np.array([place_of[node] for node in wanted], dtype=np.int64)
    is_fixed = ~np.isnan(values)
    _fill_moments(
        numbers.astype(np.int64), regressions, posterior, is_fixed, np.where(is_fixed, values, 0.0), chosen, generator,
        means, covariances,
    )  # fmt: skip
    return means, covariances


def _slots(
    lists: Integers,
    sizes: Integers,
    level_lists: Integers,
    level_sizes: Integers,
    statistics: MixedStatistics,
    cells: Integers,
    groups: Integers,
) -> Regressions:
    """Lanes with the same levels of the discrete parents of a family share its regression."""
    arities = np.array(statistics.arities, dtype=np.int64)
    slots, own_groups, starts = np.empty(groups.shape, dtype=np.int64), [], [0]
    for family in range(len(groups)):
        configuration = np.zeros(cells.shape[1], dtype=np.int64)
        for parent in level_lists[family, : level_sizes[family]]:
            configuration = configuration * arities[parent] + cells[parent]
        _, first, member = np.unique(configuration, return_index=True, return_inverse=True)
        slots[family] = member.reshape(-1)
        own_groups.append(groups[family, first])
        starts.append(starts[-1] + len(first))
    return Regressions(lists, sizes, np.array(starts), np.concatenate(own_groups), slots)


@kernel
def _fill_moments(
    numbers: Integers,
    regressions: Regressions,
    posterior: GaussianPosterior,
    is_fixed: Flags,
    values: Floats,
    wanted: Integers,
    generator: np.random.Generator,
    means: Floats,
    covariances: Floats,
) -> None:
    """Draw the regressions of each graph, and go from parents to children in every lane."""
    nodes, lanes = numbers.shape[1], means.shape[1]
    largest = regressions.lists.shape[1]
    most = 0
    for family in range(len(regressions.sizes)):
        most = max(most, regressions.starts[family + 1] - regressions.starts[family])
    coefficients = np.zeros((nodes, most, largest))
    intercepts, spreads = np.zeros((nodes, most)), np.zeros((nodes, most))
    members = np.empty(largest + 1, dtype=np.int64)
    cholesky = np.zeros((largest + 1, largest + 1))
    order = np.empty(nodes, dtype=np.int64)
    done = np.zeros(nodes, dtype=np.bool_)
    mean = np.zeros(nodes)
    loading = np.zeros((nodes, nodes))
    for graph in range(len(numbers)):
        for node in range(nodes):
            if not is_fixed[node]:
                family = numbers[graph, node]
                for slot in range(regressions.starts[family + 1] - regressions.starts[family]):
                    group = regressions.groups[regressions.starts[family] + slot]
                    size = regressions.sizes[family]
                    for place in range(size):
                        members[place] = regressions.lists[family, place]
                    members[size] = node
                    _draw(
                        posterior, group, size, members, cholesky, coefficients[node, slot], intercepts, spreads, node,
                        slot, generator,
                    )  # fmt: skip
        _sort(numbers[graph], regressions, is_fixed, done, order)
        for lane in range(lanes):
            for step in range(nodes):
                node = order[step]
                for other in range(nodes):
                    loading[node, other] = 0.0
                if is_fixed[node]:
                    mean[node] = values[node]
                    continue
                family = numbers[graph, node]
                slot = regressions.slots[family, lane]
                mean[node] = intercepts[node, slot]
                for place in range(regressions.sizes[family]):
                    parent = regressions.lists[family, place]
                    slope = coefficients[node, slot, place]
                    mean[node] += slope * mean[parent]
                    for other in range(nodes):
                        loading[node, other] += slope * loading[parent, other]
                loading[node, node] = spreads[node, slot]
            for first in range(len(wanted)):
                means[graph, lane, first] = mean[wanted[first]]
                for second in range(len(wanted)):
                    total = 0.0
                    for other in range(nodes):
                        total += loading[wanted[first], other] * loading[wanted[second], other]
                    covariances[graph, lane, first, second] = total


@inlined
def _sort(family_of: Integers, regressions: Regressions, is_fixed: Flags, done: Flags, order: Integers) -> None:
    """Parents before children."""
    nodes = len(family_of)
    for node in range(nodes):
        done[node] = False
    found = 0
    while found < nodes:
        for node in range(nodes):
            ready = not done[node]
            if ready and not is_fixed[node]:
                family = family_of[node]
                for place in range(regressions.sizes[family]):
                    ready = ready and done[regressions.lists[family, place]]
            if ready:
                done[node] = True
                order[found] = node
                found += 1


@inlined
def _draw(
    posterior: GaussianPosterior,
    group: int,
    size: int,
    members: Integers,
    cholesky: Floats,
    coefficients: Floats,
    intercepts: Floats,
    spreads: Floats,
    node: int,
    slot: int,
    generator: np.random.Generator,
) -> None:
    """One regression from its posterior, as in prediction/parameter_draws.py."""
    factorise(posterior.matrices[group], members[: size + 1], posterior.floors, cholesky)
    square = generator.chisquare(posterior.degrees[group] + size + 1.0)
    spread = cholesky[size, size] / math.sqrt(square)
    intercept = posterior.means[group, node]
    intercept += spread / math.sqrt(posterior.weights[group]) * generator.standard_normal()
    for place in range(size - 1, -1, -1):
        value = cholesky[size, place] + spread * generator.standard_normal()
        for later in range(place + 1, size):
            value -= cholesky[later, place] * coefficients[later]
        value /= cholesky[place, place]
        coefficients[place] = value
        intercept -= value * posterior.means[group, members[place]]
    intercepts[node, slot] = intercept
    spreads[node, slot] = spread
