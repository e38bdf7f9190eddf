"""Which numbers may the missing cells of a row have, given its levels and a regression for each combination of them?

With `x` the missing numbers, the residuals of the families that they touch are `A x - t` once divided by their
deviations `s`. With `A = Q R`, and `e` what `Q` leaves of `t`,

    integral of the density over x  =  exp(-e'e / 2) / (prod s  prod R_jj)      up to what all levels share
    x  =  R^-1 (Q't + normal errors)                                           a draw of them

so that missing levels can be weighed with the missing numbers integrated out. The matrix of the coefficients itself is
made orthogonal, and not its square (gaussian_completion.py).

Time: for `g` missing numbers in `f` families, `f g^2` for a row and, if levels are missing too, each of their
configurations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.scores.family_counts import Tally, find_place, set_key
from dagpost.scores.gaussian_completion import orthonormalise
from dagpost.scores.regression_draws import Regressions
from dagpost.scores.row_weights import Work


class NumberWork(NamedTuple):
    """What the numbers of a row need: the gaps among them, the families these touch, and orthogonal columns.

    `choices[k]` has the regressions of the family `touched[k]` for each configuration of its missing levels, and
    `steps[k]` how far each cell of the block moves on among them.
    """

    values: Floats
    gap_of: Integers
    touched: Integers
    seen: Integers
    choices: Integers
    steps: Integers
    at: Integers
    columns: Floats
    triangle: Floats
    residuals: Floats
    solution: Floats


@inline_no_refcount
def unexplained(node: int, number: int, row: int, regressions: Regressions, work: NumberWork) -> float:
    """What the missing numbers of a family have to explain: its intercept and known parents, less the node if known."""
    last = regressions.sizes[node] - 1
    target: float = regressions.intercept[number]
    own = regressions.members[node, last]
    if work.gap_of[own] < 0:
        target -= work.values[own, row]
    for member in range(last):
        other = regressions.members[node, member]
        if work.gap_of[other] < 0:
            target += regressions.coefficients[number, member] * work.values[other, row]
    return target


@inline_no_refcount
def weigh_jointly(
    row: int,
    size: int,
    configurations: int,
    missing: int,
    touched: int,
    arities: Integers,
    regressions: Regressions,
    work: Work,
    number_work: NumberWork,
) -> None:
    """Add the density of the known numbers in the families that have missing ones, for each configuration."""
    for cell in range(size):
        work.digits[cell] = 0
    for place in range(touched):
        number_work.at[place] = number_work.choices[place, 0]
    for configuration in range(configurations):
        work.joint[configuration] += _orthogonalise(row, missing, touched, regressions, number_work)
        for cell in range(size):
            work.digits[cell] += 1
            if work.digits[cell] < arities[work.block[cell]]:
                break
            work.digits[cell] = 0
        for place in range(touched):
            choice = 0
            for cell in range(size):
                choice += number_work.steps[place, cell] * work.digits[cell]
            number_work.at[place] = number_work.choices[place, choice]


@inline_no_refcount
def _orthogonalise(row: int, missing: int, touched: int, regressions: Regressions, work: NumberWork) -> float:
    """The families with missing numbers, with the regressions `at`: orthonormal columns times a triangle.

    Returns the log density of the known numbers, up to a constant; `solution` is left with `Q' t`.
    """
    density = 0.0
    for gap in range(missing):
        for place in range(touched):
            work.columns[gap, place] = 0.0
    for place in range(touched):
        node, number = work.touched[place], work.at[place]
        deviation = regressions.deviation[number]
        density -= math.log(deviation)
        work.residuals[place] = unexplained(node, number, row, regressions, work) / deviation
        last = regressions.sizes[node] - 1
        for member in range(last + 1):
            gap = work.gap_of[regressions.members[node, member]]
            if gap >= 0:
                coefficient = 1.0 if member == last else -regressions.coefficients[number, member]
                work.columns[gap, place] = coefficient / deviation
    orthonormalise(missing, touched, work.columns, work.triangle)
    for gap in range(missing):
        density -= math.log(work.triangle[gap, gap])
        share = 0.0
        for place in range(touched):
            share += work.columns[gap, place] * work.residuals[place]
        work.solution[gap] = share
        for place in range(touched):
            work.residuals[place] -= share * work.columns[gap, place]
    for place in range(touched):
        density -= 0.5 * work.residuals[place] * work.residuals[place]
    return density


@inline_no_refcount
def draw_numbers(
    row: int,
    missing: int,
    touched: int,
    tally: Tally,
    regressions: Regressions,
    work: NumberWork,
    generator: np.random.Generator,
) -> None:
    """Draw the missing numbers of a row jointly, given its levels and its other numbers."""
    for place in range(touched):
        node = work.touched[place]
        set_key(node, row, tally)
        work.at[place] = regressions.number_at[find_place(node, 1, tally)]
    _orthogonalise(row, missing, touched, regressions, work)
    for gap in range(missing - 1, -1, -1):
        value = work.solution[gap] + generator.standard_normal()
        for later in range(gap + 1, missing):
            value -= work.triangle[gap, later] * work.solution[later]
        work.solution[gap] = value / work.triangle[gap, gap]
