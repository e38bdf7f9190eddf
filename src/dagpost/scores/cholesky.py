"""Cholesky factors of small submatrices, row by row, and regressions drawn with them.

A Gaussian node given its parents is drawn from its posterior with the factor of `R`, the node after its parents:
gaussian_completion.py has the formulas. Time: about the cube of the size for a factor, its square for a draw.
"""

from __future__ import annotations

import math

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount


@inline_no_refcount
def next_row(matrix: Floats, cholesky: Floats, members: Integers, size: int, column: int, row: Floats) -> float:
    """The row of the Cholesky factor that a column adds to those of the first `size` members, and its pivot squared."""
    pivot: float = matrix[column, column]
    for place in range(size):
        entry = matrix[column, members[place]]
        for before in range(place):
            entry -= row[before] * cholesky[place, before]
        entry /= cholesky[place, place]
        row[place] = entry
        pivot -= entry * entry
    return pivot


@inline_no_refcount
def factorise(matrix: Floats, members: Integers, size: int, floors: Floats, cholesky: Floats) -> None:
    """The Cholesky factor of the submatrix of the first `size` members.

    No pivot is below the floor of its column in exact arithmetic, nor is any here. Where the members are the first
    columns in their order, the upper triangle is not read, and the factor may be written over the matrix.
    """
    for place in range(size):
        pivot = next_row(matrix, cholesky, members, place, members[place], cholesky[place])
        cholesky[place, place] = math.sqrt(max(pivot, floors[members[place]]))


@inline_no_refcount
def draw_regression(
    members: Integers,
    parents: int,
    cholesky: Floats,
    means: Floats,
    weight: float,
    square: float,
    normals: Floats,
    coefficients: Floats,
) -> tuple[float, float]:
    """Write coefficients drawn from their posterior; returns the intercept and the deviation that go with them.

    The node comes after its parents, among the members and in the factor of `R`; `weight` is `u + N`. The draw is made
    of a number with a chi-squared distribution and standard normal ones, that of the node for the intercept.
    """
    deviation = cholesky[parents, parents] / math.sqrt(square)
    intercept = means[members[parents]] + deviation / math.sqrt(weight) * normals[parents]
    for place in range(parents - 1, -1, -1):
        value = cholesky[parents, place] + deviation * normals[place]
        for later in range(place + 1, parents):
            value -= cholesky[later, place] * coefficients[later]
        value /= cholesky[place, place]
        coefficients[place] = value
        intercept -= value * means[members[place]]
    return intercept, deviation
