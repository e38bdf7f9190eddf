"""What is a missing number, given the rest of a row? A mixture over graphs, worked out for all rows at once.

In one graph the density of the number is proportional to the product of Student's densities of its own family and of
those of its children (gaussian.py). Graphs that agree in these families are one component of the mixture, with the
weight of what the rest of the row says for them. A normal distribution is fitted to each (integration.py), which says
where the mixture lies and which components are seen in it; the density of the mixture is asked at points there.

Time: for each row and component, its families at some 161 points.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.gaussian import GaussianFamilies, factorise
from dagpost.prediction.graph_products import Paths

#: Rounds in which the normal distribution is fitted.
_ROUNDS = 8


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
        size = _members(families, family, members)
        factorise(families.matrices[families.groups[family]], members[: size + 1], families.floors, factors[family])


@kernel
def fill_fits(
    families: GaussianFamilies, factors: Floats, parts: NDArray[np.int32], target: int, cells: Floats, fits: Floats
) -> None:
    """By component and row: middle and deviation of the normal distribution that fits it, and log of its integral.

    `parts` has a row for each component: the numbers of its families by node, -1 for none.
    """
    fixed, slopes = np.zeros(factors.shape[:2]), np.zeros(factors.shape[:2])
    for row in range(cells.shape[1]):
        _standardise(families, factors, target, cells[:, row], fixed, slopes)
        for part in range(len(parts)):
            middle, scale = _fitted(families, parts[part], fixed, slopes)
            height = _log_product(families, parts[part], factors, fixed, slopes, middle)
            fits[0, part, row], fits[1, part, row], fits[2, part, row] = middle, scale, height + math.log(scale)


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
    fixed, slopes = np.zeros(factors.shape[:2]), np.zeros(factors.shape[:2])
    for row in range(cells.shape[1]):
        if cancel[0] != 0:
            return
        _standardise(families, factors, target, cells[:, row], fixed, slopes)
        for point in range(values.shape[1]):
            largest, total = -math.inf, 0.0
            for part in range(len(parts)):
                if log_weights[part, row] == -math.inf:
                    continue
                log = log_weights[part, row]
                log += _log_product(families, parts[part], factors, fixed, slopes, values[row, point])
                if log > largest:
                    total, largest = total * math.exp(largest - log) + 1.0, log
                else:
                    total += math.exp(log - largest)
            result[row, point] = largest + math.log(total) if total > 0.0 else -math.inf


@inlined
def _standardise(
    families: GaussianFamilies, factors: Floats, target: int, cells: Floats, fixed: Floats, slopes: Floats
) -> None:
    """The standardised residuals of all families as linear functions of the target."""
    members = np.empty(factors.shape[1], dtype=np.int64)
    for family in range(len(factors)):
        size = _members(families, family, members)
        mean = families.means[families.groups[family]]
        for place in range(size + 1):
            node = members[place]
            left, slope = -mean[node], 0.0
            if node == target:
                slope = 1.0
            else:
                left += cells[node]
            for before in range(place):
                left -= factors[family, place, before] * fixed[family, before]
                slope -= factors[family, place, before] * slopes[family, before]
            fixed[family, place] = left / factors[family, place, place]
            slopes[family, place] = slope / factors[family, place, place]


@inlined
def _members(families: GaussianFamilies, family: int, members: Integers) -> int:
    size: int = families.sizes[family]
    for place in range(size):
        members[place] = families.lists[family, place]
    members[size] = families.children[family]
    return size


@inlined
def _fitted(families: GaussianFamilies, part: NDArray[np.int32], fixed: Floats, slopes: Floats) -> tuple[float, float]:
    """Mean and standard deviation of a normal distribution near the largest value of the product."""
    middle = 0.0
    precision = 0.0
    for once in range(_ROUNDS):
        pull = 0.0
        precision = 0.0
        for node in range(len(part)):
            family = part[node]
            if family < 0:
                continue
            size = families.sizes[family]
            shrinkage = families.shrinkage[family]
            spread = 1.0
            if once > 0:
                for place in range(size + 1):
                    residual = fixed[family, place] + slopes[family, place] * middle
                    spread += shrinkage * residual * residual
            weight = (families.freedom[family] + 1.0) * shrinkage / spread
            pull -= weight * slopes[family, size] * fixed[family, size]
            precision += weight * slopes[family, size] * slopes[family, size]
        middle = pull / precision
    return middle, 1.0 / math.sqrt(precision)


@inlined
def _log_product(
    families: GaussianFamilies, part: NDArray[np.int32], factors: Floats, fixed: Floats, slopes: Floats, value: float
) -> float:
    """Log of the product of Student's densities of some families where the target has a value."""
    total = 0.0
    for node in range(len(part)):
        family = part[node]
        if family < 0:
            continue
        size = families.sizes[family]
        shrinkage = families.shrinkage[family]
        spread = 1.0
        for place in range(size):
            residual = fixed[family, place] + slopes[family, place] * value
            spread += shrinkage * residual * residual
        residual = fixed[family, size] + slopes[family, size] * value
        excess = shrinkage * residual * residual / spread
        constant = families.constants[family] - math.log(factors[family, size, size])
        total += constant - math.log(spread) / 2.0 - (families.freedom[family] + 1.0) / 2.0 * math.log1p(excess)
    return total
