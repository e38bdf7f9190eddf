"""What is a missing number, given the rest of a row? A mixture over graphs, worked out for all rows at once.

In one graph the density of the number is proportional to the product of Student's densities of its own family and of
those of its children (gaussian.py). Graphs that agree in these families are one component of the mixture, with the
weight of what the rest of the row says for them. A normal distribution is fitted to each (integration.py), which says
where the mixture lies and which components are seen in it; the density of the mixture is asked at points there.

Time: for each row and component, its families at some 251 points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.gaussian import GaussianFamilies
from dagpost.prediction.graph_products import Paths
from dagpost.prediction.integration import fit_normal, log_product, members_of_family, standardise
from dagpost.scores.cholesky import factorise


@kernel
def log_sums_by_group(logs: Floats, graphs: Paths, log_weights: Floats, groups: Integers, result: Floats) -> None:
    """Log of the sum over the graphs of each group of weight times product, for rows side by side."""
    nodes = graphs.columns.shape[1]
    lanes = logs.shape[1]
    running = np.zeros((nodes + 1, lanes))
    largest = np.full(result.shape, -math.inf)
    result[:] = 0.0
    for graph in range(len(log_weights)):
        for place in range(graphs.changed[graph], nodes):
            column = logs[graphs.columns[graph, place]]
            for lane in range(lanes):
                running[place + 1, lane] = running[place, lane] + column[lane]
        group = groups[graph]
        for lane in range(lanes):
            value = running[nodes, lane] + log_weights[graph]
            if value > largest[group, lane]:
                result[group, lane] = result[group, lane] * math.exp(largest[group, lane] - value) + 1.0
                largest[group, lane] = value
            else:
                result[group, lane] += math.exp(value - largest[group, lane])
    for group in range(len(result)):
        for lane in range(lanes):
            result[group, lane] = largest[group, lane] + math.log(result[group, lane])


@kernel
def fill_factors(families: GaussianFamilies, factors: Floats) -> None:
    """The Cholesky factor of each family, its parents before its child: (families, members, members)."""
    members = np.empty(factors.shape[1], dtype=np.int64)
    for family in range(len(factors)):
        size = members_of_family(families, family, members)
        factorise(families.matrices[families.groups[family]], members, size + 1, families.floors, factors[family])


class _Part(NamedTuple):
    """The families of one component, and their standardised residuals as linear functions of the target."""

    families: Integers
    fixed: Floats
    slopes: Floats
    constants: Floats
    members: Integers
    place_of: Integers


@inlined
def _room_for(nodes: int, widest: int, target: int) -> _Part:
    place_of = np.full(nodes, -1, dtype=np.int64)
    place_of[target] = 0
    return _Part(
        np.empty(nodes, dtype=np.int64),
        np.zeros((nodes, widest)),
        np.zeros((nodes, widest, 1)),
        np.empty(nodes),
        np.empty(widest, dtype=np.int64),
        place_of,
    )


@inlined
def _take(
    families: GaussianFamilies, factors: Floats, numbers: NDArray[np.int32], cells: Floats, row: int, part: _Part
) -> int:
    """Make a component ready; returns how many families it has."""
    count = 0
    for family in numbers:
        if family < 0:
            continue
        size = members_of_family(families, family, part.members)
        standardise(
            part.members[: size + 1], families.means[families.groups[family]], factors[family], part.place_of, cells,
            row, part.fixed[count], part.slopes[count], 1,
        )  # fmt: skip
        part.families[count] = family
        part.constants[count] = families.constants[family] - math.log(factors[family, size, size])
        count += 1
    return count


@kernel
def fill_fits(
    families: GaussianFamilies, factors: Floats, parts: NDArray[np.int32], target: int, cells: Floats, fits: Floats
) -> None:
    """By component and row: middle and deviation of the normal distribution that fits it, and log of its integral.

    `parts` has a row for each component: the numbers of its families by node, -1 for none.
    """
    part = _room_for(parts.shape[1], factors.shape[1], target)
    middle, shape = np.empty(1), np.empty((1, 1))
    for row in range(cells.shape[1]):
        for number in range(len(parts)):
            own = part.families[: _take(families, factors, parts[number], cells, row, part)]
            fit_normal(families, own, part.fixed, part.slopes, 1, middle, shape)
            height = log_product(families, own, part.fixed, part.slopes, part.constants, 1, middle)
            fits[0, number, row], fits[1, number, row] = middle[0], 1.0 / shape[0, 0]
            fits[2, number, row] = height - math.log(shape[0, 0])


@kernel
def fill_densities(
    families: GaussianFamilies,
    factors: Floats,
    parts: NDArray[np.int32],
    target: int,
    cells: Floats,
    log_weights: Floats,
    values: Floats,
    result: Floats,
    cancel: Integers,
) -> None:
    """Log of the sum over components of weight times product, at some values of the target: (rows, values).

    The log of a weight that is not seen is minus infinity.
    """
    part = _room_for(parts.shape[1], factors.shape[1], target)
    value, totals = np.empty(1), np.empty(values.shape[1])
    for row in range(cells.shape[1]):
        if cancel[0] != 0:
            return
        # Of each point the largest addend so far, and the sum of all beside it.
        largest = result[row]
        largest[:], totals[:] = -math.inf, 0.0
        for number in range(len(parts)):
            if log_weights[number, row] == -math.inf:
                continue
            own = part.families[: _take(families, factors, parts[number], cells, row, part)]
            for point in range(len(totals)):
                value[0] = values[row, point]
                log = log_weights[number, row]
                log += log_product(families, own, part.fixed, part.slopes, part.constants, 1, value)
                if log > largest[point]:
                    totals[point] = totals[point] * math.exp(largest[point] - log) + 1.0
                    largest[point] = log
                else:
                    totals[point] += math.exp(log - largest[point])
        for point in range(len(totals)):
            if totals[point] > 0.0:
                result[row, point] += math.log(totals[point])
