"""The integral over the missing values of a row, for one part of a graph of continuous columns.

With the parameters integrated out, a row has one Student's distribution for each family (gaussian.py). The families'
parameters are independent, so a row as a whole has a t distribution only where the graph is complete, and the integral
over missing values has a closed form only for some graphs. Those are found first: an edge from a missing node `m` to
`c` is covered if the parents of `c` are those of `m` and `m` itself. Turning it round does not change the product,

    p(m | P) p(c | P, m) = p(c | P) p(m | P, c),

and a missing node whose edges can all be turned round integrates to 1. (Both nodes must have been counted in the same
rows.) What is left is integrated numerically, in the coordinates of the normal distribution that fits the product at
its largest: one value, by the trapezoidal rule in `sinh u`, which converges exponentially for such tails; two, by the
same in a grid; more, by importance sampling from a t distribution with the tails of the product, at points of a
quasi-random sequence. The same with half the points says how far off it is.

Time: for a part of `k` values and `f` families, points times `f k` steps and `2 f` logarithms a row.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.gaussian import GaussianFamilies
from dagpost.scores.cholesky import factorise

#: Trapezoidal rules: points on either side of the middle, and their distance, for one value and for two.
_ONE, _TWO = (80, 0.125), (20, 0.35)
#: Points of a quasi-random sequence for three values and more.
_POINTS = 2048
#: Degrees of freedom that importance sampling tells apart.
_FREEDOMS = np.array([1, 2, 3, 4, 6, 9, 14, 21, 34, 55, 89, 144])
#: Rounds in which the normal distribution is fitted.
_ROUNDS = 8


class Integrals(NamedTuple):
    """What all rows of a pattern share."""

    families: GaussianFamilies
    #: One row a part: the number of the family of each node, -1 for nodes that are not in it.
    parts: NDArray[np.int32]
    missing: NDArray[np.bool_]
    #: Sets of points (points, values), one after the other, with their log weights; which set each part has.
    points: Floats
    log_weights: Floats
    starts: Integers
    set_of: Integers


def integrals_of(families: GaussianFamilies, parts: NDArray[np.int32], gaps: int) -> Integrals:
    """Make the parts of a pattern ready."""
    nodes = parts.shape[1]
    missing = np.array([gaps >> node & 1 == 1 for node in range(nodes)], dtype=np.bool_)
    own = parts[:, missing]
    values = (own >= 0).sum(axis=1)
    freedom = np.where(own >= 0, families.freedom[own], np.inf).min(axis=1, initial=np.inf)
    rounded = _FREEDOMS[np.searchsorted(_FREEDOMS, np.minimum(freedom, _FREEDOMS[-1]), side="right") - 1]
    kinds, set_of = np.unique(np.column_stack([values, np.where(values > 2, rounded, 0)]), axis=0, return_inverse=True)
    sets = [_points_for(int(count), int(degrees)) for count, degrees in kinds]
    widest = max((points.shape[1] for points, _ in sets), default=1)
    points = [np.pad(points, ((0, 0), (0, widest - points.shape[1]))) for points, _ in sets]
    starts = np.cumsum([0, *(len(each) for each in points)])
    empty = np.empty((0, widest))
    return Integrals(
        families,
        parts,
        missing,
        np.concatenate([empty, *points]),
        np.concatenate([empty[:, 0], *(weights for _, weights in sets)]),
        starts.astype(np.int64),
        set_of.reshape(-1).astype(np.int64),
    )


@cache
def _points_for(values: int, degrees: int) -> tuple[Floats, Floats]:
    """Points and log weights with which a sum over points is the integral of a product of Student's densities."""
    if values <= 2:
        half, step = _ONE if values == 1 else _TWO
        places = np.arange(-half, half + 1) * step
        line, weights = np.sinh(places), np.log(step * np.cosh(places))
        if values == 1:
            return line[:, np.newaxis], weights
        grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
        return grid, (weights[:, np.newaxis] + weights).reshape(-1)
    from scipy.special import gammaincinv, gammaln, ndtri

    # The quasi-random sequence of Roberts, which generalises the golden ratio: the root of x^(d + 1) = x + 1.
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (values + 2))
    steps = root ** -np.arange(1.0, values + 2)
    uniform = (0.5 + np.arange(1, _POINTS + 1)[:, np.newaxis] * steps) % 1.0
    radius = np.sqrt(degrees / (2.0 * gammaincinv(degrees / 2, uniform[:, -1])))
    # At its middle the density is as curved as the normal one that was fitted.
    spread = math.sqrt((degrees + values) / degrees)
    points = ndtri(uniform[:, :-1]) * radius[:, np.newaxis]
    log_density = (
        gammaln((degrees + values) / 2)
        - gammaln(degrees / 2)
        - values / 2 * math.log(degrees * math.pi)
        - (degrees + values) / 2 * np.log1p((points**2).sum(axis=1) / degrees)
    )
    return points * spread, values * math.log(spread) - log_density - math.log(_POINTS)


@kernel
def turn_covered_edges(parents: Masks, gaps: np.uint64, given: np.uint64, group_of: Integers, result: Masks) -> None:
    """Graphs in which covered edges from missing nodes are turned round, so that more missing nodes have no children.

    Nodes in `given` are not modelled: what leads to them does not count.
    """
    nodes = parents.shape[1]
    one = np.uint64(1)
    for graph in range(len(parents)):
        own = result[graph]
        for node in range(nodes):
            own[node] = parents[graph, node]
        # Observed nodes, and missing ones with children that count.
        live = ~given
        progress = True
        while progress:
            progress = False
            for node in range(nodes):
                bit = one << np.uint64(node)
                if not gaps & live & bit:
                    continue
                children = 0
                turned = -1
                for child in range(nodes):
                    if live >> np.uint64(child) & one and own[child] & bit:
                        children += 1
                        covered = own[child] == own[node] | bit and group_of[child] == group_of[node]
                        if covered and turned < 0:
                            turned = child
                if children == 0:
                    live &= ~bit
                    progress = True
                elif turned >= 0 and (children == 1 or not gaps >> np.uint64(turned) & one):
                    own[turned] = own[node]
                    own[node] |= one << np.uint64(turned)
                    progress = True
                    if children == 1:
                        live &= ~bit


@kernel
def fill_integrals(integrals: Integrals, cells: Floats, result: Floats, coarse: Floats, cancel: Integers) -> None:
    """The log of the integral of every part, for some rows; `coarse`, with half the points."""
    families, parts = integrals.families, integrals.parts
    nodes = parts.shape[1]
    widest = families.lists.shape[1] + 1
    values = integrals.points.shape[1]
    place_of = np.empty(nodes, dtype=np.int64)
    own = np.empty(nodes, dtype=np.int64)
    members = np.empty(widest, dtype=np.int64)
    factors = np.zeros((nodes, widest, widest))
    # Standardised residuals of each family are `fixed + slopes @ missing values`; the last is that of the child.
    slopes = np.zeros((nodes, widest, values))
    fixed = np.zeros((nodes, widest))
    constants = np.empty(nodes)
    unknown = np.empty(values)
    shape = np.zeros((values, values))
    logs = np.empty(max(1, len(integrals.points)))
    for part in range(len(parts)):
        if cancel[0] != 0:
            return
        count = 0
        missing = 0
        for node in range(nodes):
            place_of[node] = -1
            if parts[part, node] >= 0:
                own[count] = parts[part, node]
                count += 1
                if integrals.missing[node]:
                    place_of[node] = missing
                    missing += 1
        first, last = integrals.starts[integrals.set_of[part]], integrals.starts[integrals.set_of[part] + 1]
        for which in range(count):
            family = own[which]
            size = members_of_family(families, family, members)
            factorise(families.matrices[families.groups[family]], members, size + 1, families.floors, factors[which])
            constants[which] = families.constants[family] - math.log(factors[which, size, size])
        for lane in range(cells.shape[1]):
            for which in range(count):
                family = own[which]
                size = members_of_family(families, family, members)
                standardise(
                    members[: size + 1], families.means[families.groups[family]], factors[which], place_of, cells,
                    lane, fixed[which], slopes[which], missing,
                )  # fmt: skip
            fit_normal(families, own[:count], fixed, slopes, missing, unknown, shape)
            jacobian = 0.0
            for place in range(missing):
                jacobian -= math.log(shape[place, place])
            log_sums = _log_sums(
                families, own[:count], fixed, slopes, constants, missing, unknown, shape,
                integrals.points[first:last, :], integrals.log_weights[first:last], logs,
            )  # fmt: skip
            result[part, lane] = log_sums[0] + jacobian
            coarse[part, lane] = log_sums[1] + jacobian


@inlined
def members_of_family(families: GaussianFamilies, family: int, members: Integers) -> int:
    """The parents of a family, and after them the child; returns how many parents there are."""
    size: int = families.sizes[family]
    for place in range(size):
        members[place] = families.lists[family, place]
    members[size] = families.children[family]
    return size


@inlined
def standardise(
    members: Integers, mean: Floats, cholesky: Floats, place_of: Integers, cells: Floats, lane: int, fixed: Floats,
    slopes: Floats, missing: int,
) -> None:  # fmt: skip
    """The standardised residuals of a family as linear functions of the missing values."""
    for place in range(len(members)):
        node = members[place]
        fixed[place] = -mean[node]
        for value in range(missing):
            slopes[place, value] = 0.0
        if place_of[node] >= 0:
            slopes[place, place_of[node]] = 1.0
        else:
            fixed[place] += cells[node, lane]
        for before in range(place):
            factor = cholesky[place, before]
            fixed[place] -= factor * fixed[before]
            for value in range(missing):
                slopes[place, value] -= factor * slopes[before, value]
        fixed[place] /= cholesky[place, place]
        for value in range(missing):
            slopes[place, value] /= cholesky[place, place]


@inlined
def fit_normal(
    families: GaussianFamilies, own: Integers, fixed: Floats, slopes: Floats, missing: int, unknown: Floats,
    shape: Floats,
) -> None:  # fmt: skip
    """A normal distribution near the largest value: its mean, and the Cholesky factor of its precision.

    Every family pulls with the weight that Student's distribution gives to a residual of that size.
    """
    pull = np.empty(missing)
    for value in range(missing):
        unknown[value] = 0.0
    for once in range(_ROUNDS):
        for row in range(missing):
            pull[row] = 0.0
            for column in range(missing):
                shape[row, column] = 0.0
        for which in range(len(own)):
            family = own[which]
            size = families.sizes[family]
            shrinkage = families.shrinkage[family]
            spread = 1.0
            residual = 0.0
            for place in range(size + 1):
                residual = fixed[which, place]
                # What is not known yet is taken to be what its family leads to expect: residuals of 0.
                if once > 0:
                    for value in range(missing):
                        residual += slopes[which, place, value] * unknown[value]
                if place < size and once > 0:
                    spread += shrinkage * residual * residual
            excess = shrinkage * residual * residual if once > 0 else 0.0
            weight = (families.freedom[family] + 1.0) * shrinkage / (spread + excess)
            for row in range(missing):
                slope = weight * slopes[which, size, row]
                pull[row] -= slope * fixed[which, size]
                for column in range(missing):
                    shape[row, column] += slope * slopes[which, size, column]
        for row in range(missing):
            for column in range(row + 1):
                entry = shape[row, column]
                for before in range(column):
                    entry -= shape[row, before] * shape[column, before]
                shape[row, column] = math.sqrt(entry) if row == column else entry / shape[column, column]
        for row in range(missing):
            for before in range(row):
                pull[row] -= shape[row, before] * pull[before]
            pull[row] /= shape[row, row]
        for row in range(missing - 1, -1, -1):
            unknown[row] = pull[row]
            for after in range(row + 1, missing):
                unknown[row] -= shape[after, row] * unknown[after]
            unknown[row] /= shape[row, row]


@inlined
def log_product(
    families: GaussianFamilies, own: Integers, fixed: Floats, slopes: Floats, constants: Floats, missing: int,
    values: Floats,
) -> float:  # fmt: skip
    """Log of the product of Student's densities of some families where the missing values are these."""
    total = 0.0
    for which in range(len(own)):
        family = own[which]
        size = families.sizes[family]
        spread = 0.0
        residual = 0.0
        for place in range(size + 1):
            residual = fixed[which, place]
            for value in range(missing):
                residual += slopes[which, place, value] * values[value]
            if place < size:
                spread += residual * residual
        shrinkage = families.shrinkage[family]
        spread = 1.0 + shrinkage * spread
        excess = shrinkage * residual * residual / spread
        power = (families.freedom[family] + 1) / 2
        total += constants[which] - math.log(spread) / 2 - power * math.log1p(excess)
    return total


@inlined
def _log_sums(
    families: GaussianFamilies, own: Integers, fixed: Floats, slopes: Floats, constants: Floats, missing: int,
    middle: Floats, shape: Floats, points: Floats, log_weights: Floats, logs: Floats,
) -> tuple[float, float]:  # fmt: skip
    """Log of the weighted sum of the product over all points, and twice that over every other point."""
    values = np.empty(missing)
    largest = -math.inf
    for point in range(len(points)):
        for row in range(missing - 1, -1, -1):
            values[row] = points[point, row]
            for after in range(row + 1, missing):
                values[row] -= shape[after, row] * values[after]
            values[row] /= shape[row, row]
        for row in range(missing):
            values[row] += middle[row]
        total = log_weights[point] + log_product(families, own, fixed, slopes, constants, missing, values)
        logs[point] = total
        largest = max(largest, total)
    every = 0.0
    other = 0.0
    for point in range(len(points)):
        addend = math.exp(logs[point] - largest)
        every += addend
        if point % 2 == 0:
            other += 2.0 * addend
    return largest + math.log(every), largest + math.log(other)
