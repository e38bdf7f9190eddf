"""Which regression may a column of numbers follow, for each combination of levels of its discrete parents?

The conditional Gaussian score integrates over an intercept, coefficients and a deviation of every combination, with the
prior of `BGe` in each. They are drawn here from the posterior given a completed table, with the matrix `R` and the mean
of the rows of the combination (gaussian_completion.py has the formulas); a combination that no row has comes from the
prior. Rows are added one by one to a mean and a scatter that begin with those of the prior, so that nothing cancels.

Time: rows times the square of the members of each family; a microsecond for each combination that occurs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.families.considered_sets import Members
from dagpost.scores.cholesky import draw_regression, factorise
from dagpost.scores.family_counts import Tally, place_for, set_key


class NumberPrior(NamedTuple):
    """The normal-Wishart prior of standardised columns: its matrix is the identity times `scale`.

    `degrees` are those of the Wishart prior, less the number of columns of numbers.
    """

    weight: float
    mean: Floats
    scale: float
    degrees: float


class Moments(NamedTuple):
    """Weight, mean and scatter of the rows of each combination of one family, the prior among them.

    The rest is for one combination at a time: members by their places, and what the prior alone leaves of each; how far
    a row is from the mean, and random numbers.
    """

    weight: Floats
    mean: Floats
    scatter: Floats
    places: Integers
    floors: Floats
    distance: Floats
    normals: Floats


class Regressions(NamedTuple):
    """The families of columns of numbers: their members among these columns, the node itself last.

    A combination of levels has the place of its key (family_counts.py), and `number_at` has the number of its
    regression there, or -1. `deviation` is what the regression leaves.
    """

    members: Integers
    sizes: Integers
    number_at: Integers
    intercept: Floats
    coefficients: Floats
    deviation: Floats


class Fit(NamedTuple):
    """The regressions of a graph, and what they are drawn from."""

    prior: NumberPrior
    regressions: Regressions
    moments: Moments


@inline_no_refcount
def list_numbers(families: Members, number_of: Integers, regressions: Regressions) -> None:
    """The members of each family that are columns of numbers; none for a column of levels."""
    columns = len(number_of)
    for node in range(len(families)):
        size = 0
        if number_of[node] >= 0:
            for place in range(families.shape[1]):
                parent = int(families[node, place])
                if parent < columns and number_of[parent] >= 0:
                    regressions.members[node, size] = number_of[parent]
                    size += 1
            regressions.members[node, size] = number_of[node]
            size += 1
        regressions.sizes[node] = size


@inline_no_refcount
def draw_regressions(
    node: int, first: int, values: Floats, tally: Tally, fit: Fit, generator: np.random.Generator
) -> int:
    """Draw a regression for each combination of levels that occurs, numbered from `first` on; returns how many."""
    regressions, found = fit.regressions, 0
    for row in range(len(tally.weights)):
        if not tally.counted[node, row]:
            continue
        set_key(node, row, tally)
        place = place_for(node, 1, tally)
        if regressions.number_at[place] < 0:
            regressions.number_at[place] = first + found
            _begin(node, found, fit)
            found += 1
        _add_row(node, regressions.number_at[place] - first, row, values, float(tally.weights[row]), fit)
    for number in range(found):
        _draw_regression(node, first + number, number, fit, generator)
    return found


@inline_no_refcount
def draw_unseen(node: int, number: int, fit: Fit, generator: np.random.Generator) -> None:
    """Draw the regression of a combination that no row has: from the prior."""
    _begin(node, 0, fit)
    _draw_regression(node, number, 0, fit, generator)


@inline_no_refcount
def _begin(node: int, number: int, fit: Fit) -> None:
    """The moments of no row: those of the prior."""
    prior, regressions, moments = fit.prior, fit.regressions, fit.moments
    moments.weight[number] = prior.weight
    for place in range(regressions.sizes[node]):
        moments.mean[number, place] = prior.mean[regressions.members[node, place]]
        for before in range(place):
            moments.scatter[number, place, before] = 0.0
        moments.scatter[number, place, place] = prior.scale


@inline_no_refcount
def _add_row(node: int, number: int, row: int, values: Floats, weight: float, fit: Fit) -> None:
    """Add a row that counts `weight` times to the moments of its combination."""
    regressions, moments = fit.regressions, fit.moments
    before = moments.weight[number]
    after = before + weight
    moments.weight[number] = after
    for place in range(regressions.sizes[node]):
        distance = values[regressions.members[node, place], row] - moments.mean[number, place]
        moments.distance[place] = distance
        moments.mean[number, place] += weight / after * distance
        for other in range(place + 1):
            moments.scatter[number, place, other] += weight * before / after * distance * moments.distance[other]


@inline_no_refcount
def _draw_regression(node: int, target: int, number: int, fit: Fit, generator: np.random.Generator) -> None:
    """Draw deviation, intercept and coefficients from the moments with this number; `scatter` is left factored."""
    prior, regressions, moments = fit.prior, fit.regressions, fit.moments
    size, matrix, weight = regressions.sizes[node], moments.scatter[number], moments.weight[number]
    factorise(matrix, moments.places, size, moments.floors, matrix)
    square = generator.chisquare(prior.degrees + weight - prior.weight + size)
    for place in range(size - 1, -1, -1):
        moments.normals[place] = generator.standard_normal()
    regressions.intercept[target], regressions.deviation[target] = draw_regression(
        moments.places, size - 1, matrix, moments.mean[number], weight, square, moments.normals,
        regressions.coefficients[target],
    )  # fmt: skip
