"""What is a missing number, given the rest of a row? A mixture over graphs, worked out for all rows at once.

In one graph the density of the number is proportional to the product of Student's densities of its own family and of
those of its children (gaussian.py). Graphs that agree in these families are one component of the mixture, with the
weight of what the rest of the row says for them. Each product is tabulated at points `m + s sinh(u)`, evenly spaced in
`u`, around the normal distribution that fits it (integration.py). Sums over these points have its integral, mean and
variance to about ten digits. Its distribution function is the running sum with the correction of Euler and Maclaurin,
and between points a cubic with the right slopes; quantiles of the mixture are found by bisection.

Time: for each row and component, 161 points times its families; then some 60 steps times the components a quantile.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.gaussian import GaussianFamilies, factorise
from dagpost.prediction.graph_products import Paths

#: Points on either side of the middle, and their distance.
_HALF, _STEP = 80, 0.125
#: The same for the mixture itself.
GRID_HALF, GRID_STEP = 24, 0.25
#: Rounds in which the normal distribution is fitted, and steps of bisection.
_ROUNDS, _BISECTIONS = 8, 70
#: Components this many nats below the largest are not seen in a result.
_NEGLIGIBLE = -30.0


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
def fill_mixtures(
    families: GaussianFamilies,
    parts: NDArray[np.int32],
    target: int,
    cells: Floats,
    log_sums: Floats,
    probabilities: Floats,
    moments: Floats,
    quantiles: Floats,
    grid: Floats,
    cancel: Integers,
) -> None:
    """For each row: `moments` (log of its total, mean, variance), quantiles, and on a grid what `grid` keeps.

    `parts` has a row for each component: the numbers of its families by node, -1 for none. `grid[row]` has the
    distribution function and the density in `u` at `mean + deviation sinh(u)`.
    """
    count = len(families.children)
    widest = families.lists.shape[1] + 1
    members = np.empty(widest, dtype=np.int64)
    factors = np.zeros((count, widest, widest))
    for family in range(count):
        size = _members(families, family, members)
        factorise(families.matrices[families.groups[family]], members[: size + 1], families.floors, factors[family])
    points = 2 * _HALF + 1
    fixed, slopes = np.zeros((count, widest)), np.zeros((count, widest))
    middles, scales = np.empty(len(parts)), np.empty(len(parts))
    density, cumulated = np.empty((len(parts), points)), np.empty((len(parts), points))
    log_weights, means, squares = np.empty(len(parts)), np.empty(len(parts)), np.empty(len(parts))
    for row in range(cells.shape[1]):
        if cancel[0] != 0:
            return
        for family in range(count):
            size = _members(families, family, members)
            mean = families.means[families.groups[family]]
            for place in range(size + 1):
                node = members[place]
                left = -mean[node]
                slope = 0.0
                if node == target:
                    slope = 1.0
                else:
                    left += cells[node, row]
                for before in range(place):
                    left -= factors[family, place, before] * fixed[family, before]
                    slope -= factors[family, place, before] * slopes[family, before]
                fixed[family, place] = left / factors[family, place, place]
                slopes[family, place] = slope / factors[family, place, place]
        largest = -math.inf
        for part in range(len(parts)):
            middles[part], scales[part] = _fitted(families, parts[part], fixed, slopes)
            # About what the integral of the product is, which says whether it is worth while.
            height = _log_product(families, parts[part], factors, fixed, slopes, middles[part])
            log_weights[part] = log_sums[part, row] + height + math.log(scales[part])
            largest = max(largest, log_weights[part])
        least = largest + _NEGLIGIBLE
        largest = -math.inf
        for part in range(len(parts)):
            if log_weights[part] < least:
                log_weights[part] = -math.inf
                continue
            log_integral = _tabulate(
                families, parts[part], factors, fixed, slopes, middles[part], scales[part], density[part]
            )
            log_weights[part] = log_sums[part, row] + log_integral
            largest = max(largest, log_weights[part])
            means[part], squares[part] = _cumulate(middles[part], scales[part], density[part], cumulated[part])
        total = 0.0
        for part in range(len(parts)):
            log_weights[part] -= largest
            if log_weights[part] > _NEGLIGIBLE:
                total += math.exp(log_weights[part])
        mean_of_all = 0.0
        for part in range(len(parts)):
            # From here on they are weights, 0 for those that are not seen.
            seen = log_weights[part] > _NEGLIGIBLE
            log_weights[part] = math.exp(log_weights[part]) / total if seen else 0.0
            if seen:
                mean_of_all += log_weights[part] * means[part]
        variance = 0.0
        for part in range(len(parts)):
            if log_weights[part] > 0.0:
                away = means[part] - mean_of_all
                variance += log_weights[part] * (squares[part] + away * away)
        moments[row, 0] = largest + math.log(total)
        moments[row, 1] = mean_of_all
        moments[row, 2] = variance
        deviation = math.sqrt(variance)
        for number in range(len(probabilities)):
            low, high = mean_of_all - deviation, mean_of_all + deviation
            while _at(low, log_weights, middles, scales, density, cumulated)[0] > probabilities[number]:
                low = mean_of_all - 2.0 * (mean_of_all - low)
            while _at(high, log_weights, middles, scales, density, cumulated)[0] < probabilities[number]:
                high = mean_of_all + 2.0 * (high - mean_of_all)
            for _ in range(_BISECTIONS):
                between = (low + high) / 2.0
                if _at(between, log_weights, middles, scales, density, cumulated)[0] < probabilities[number]:
                    low = between
                else:
                    high = between
            quantiles[row, number] = (low + high) / 2.0
        for place in range(grid.shape[2]):
            u = (place - GRID_HALF) * GRID_STEP
            value = mean_of_all + deviation * math.sinh(u)
            found = _at(value, log_weights, middles, scales, density, cumulated)
            grid[row, 0, place] = found[0]
            grid[row, 1, place] = found[1] * deviation * math.cosh(u)


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


@inlined
def _tabulate(
    families: GaussianFamilies, part: NDArray[np.int32], factors: Floats, fixed: Floats, slopes: Floats, middle: float,
    scale: float, density: Floats,
) -> float:  # fmt: skip
    """The density in `u`, normalised; returns the log of the integral of the product."""
    largest = -math.inf
    for point in range(len(density)):
        u = (point - _HALF) * _STEP
        value = middle + scale * math.sinh(u)
        total = math.log(scale * math.cosh(u)) + _log_product(families, part, factors, fixed, slopes, value)
        density[point] = total
        largest = max(largest, total)
    total = 0.0
    for point in range(len(density)):
        density[point] = math.exp(density[point] - largest)
        total += density[point] * _STEP
    for point in range(len(density)):
        density[point] /= total
    return largest + math.log(total)


@inlined
def _cumulate(middle: float, scale: float, density: Floats, cumulated: Floats) -> tuple[float, float]:
    """The distribution function at the points; returns mean and variance."""
    points = len(density)
    running = 0.0
    mean = 0.0
    for point in range(points):
        slope = 0.0
        if 1 < point < points - 2:
            slope = 8.0 * (density[point + 1] - density[point - 1]) - (density[point + 2] - density[point - 2])
        # The trapezoidal sum up to here, less what the slope of its last point adds; slopes are of twelve steps.
        cumulated[point] = _STEP * (running + density[point] / 2.0) - _STEP * slope / 144.0
        running += density[point]
        mean += _STEP * density[point] * math.sinh((point - _HALF) * _STEP)
    variance = 0.0
    for point in range(points):
        away = math.sinh((point - _HALF) * _STEP) - mean
        variance += _STEP * density[point] * away * away
    return middle + scale * mean, scale * scale * variance


@inlined
def _at(
    value: float, weights: Floats, middles: Floats, scales: Floats, density: Floats, cumulated: Floats
) -> tuple[float, float]:
    """Distribution function and density of the mixture at a value."""
    below = 0.0
    height = 0.0
    for part in range(len(weights)):
        if weights[part] == 0.0:
            continue
        standard = (value - middles[part]) / scales[part]
        u = math.asinh(standard)
        found = between_points(u, _HALF, _STEP, cumulated[part], density[part])
        below += weights[part] * found[0]
        height += weights[part] * found[1] / (scales[part] * math.sqrt(1.0 + standard * standard))
    return below, height


@inlined
def between_points(u: float, half: int, step: float, values: Floats, slopes: Floats) -> tuple[float, float]:
    """The cubic through two points with their slopes, and its own slope; 0 and 1 beyond the first and the last."""
    along = u / step + half
    if along <= 0.0:
        return 0.0, 0.0
    if along >= 2 * half:
        return 1.0, 0.0
    place = int(along)
    t = along - place
    first, second = values[place], values[place + 1]
    left, right = step * slopes[place], step * slopes[place + 1]
    rise = second - first
    cubic = left + right - 2.0 * rise
    square = 3.0 * rise - 2.0 * left - right
    return first + t * (left + t * (square + t * cubic)), (left + t * (2.0 * square + 3.0 * t * cubic)) / step


@kernel
def mixed_quantiles(
    starts: Integers, weights: Floats, means: Floats, deviations: Floats, grids: Floats, probabilities: Floats,
    result: Floats,
) -> None:  # fmt: skip
    """Quantiles of mixtures of distributions that are known on grids; those of row `r` begin at `starts[r]`."""
    for row in range(len(starts) - 1):
        low, high = math.inf, -math.inf
        for own in range(starts[row], starts[row + 1]):
            reach = deviations[own] * math.sinh(GRID_HALF * GRID_STEP)
            low, high = min(low, means[own] - reach), max(high, means[own] + reach)
        for number in range(len(probabilities)):
            first, last = low, high
            for _ in range(_BISECTIONS):
                between = (first + last) / 2.0
                below = 0.0
                for own in range(starts[row], starts[row + 1]):
                    u = math.asinh((between - means[own]) / deviations[own])
                    found = between_points(u, GRID_HALF, GRID_STEP, grids[own, 0], grids[own, 1])
                    below += weights[own] * found[0]
                if below < probabilities[number]:
                    first = between
                else:
                    last = between
            result[row, number] = (first + last) / 2.0
