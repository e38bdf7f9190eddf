"""How much does a continuous outcome change with one unit of the treatment, given an adjustment set?

With `R`, `w` and `n` as in scores/bge.py and `N` rows, the covariance of treatment, adjustment set and outcome, `l`
columns, has an inverse Wishart distribution with `v = w + N - n + l` degrees of freedom and the matrix `R` of these
columns. So the coefficient of the treatment in the regression of the outcome on treatment and adjustment set has
Student's distribution with `v` degrees of freedom,

    location   R_xy.z / R_xx.z,        scale   sqrt(R_yy.xz / (v R_xx.z)),

where `.z` marks what the adjustment set leaves (Geiger & Heckerman 2002). With the columns in the order of adjustment
set, treatment, outcome, all three are entries of one Cholesky factor. Time: one factor a set and one triangular system
an outcome.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.causal.groups import Effects, Groups, observations_in, speaking_rows
from dagpost.data.table import Table
from dagpost.prediction.gaussian import factorise, next_row
from dagpost.scores import NormalWishartPrior, standard_deviations


class Slopes(NamedTuple):
    """Student's distribution of the effect of one treatment: location and scale by set and outcome, and freedom by set.

    Entries of outcomes that are in the set, or the treatment itself, mean nothing.
    """

    locations: Floats
    scales: Floats
    freedom: Floats
    observations: int


def slopes_of(table: Table, prior: NormalWishartPrior, treatment: int, masks: Masks) -> Slopes:
    """The effects of one treatment on every other column, for each adjustment set."""
    data = table.values()
    rows = speaking_rows(table, treatment)
    weights = table.weights.astype(np.float64)
    nodes = data.shape[1]
    deviations = prior.deviations(table.names, standard_deviations(data, weights))
    floors = prior.scale(nodes) * deviations**2
    matrix = prior.matrix(data[rows], weights[rows], prior.mean(table.names, data, weights), deviations)
    observations = observations_in(table, rows)
    freedom = prior.degrees(nodes) + observations - nodes + np.bitwise_count(masks) + 2.0
    locations, scales = np.full((len(masks), nodes), np.nan), np.full((len(masks), nodes), np.nan)
    _regress(matrix, floors, treatment, masks.copy(), freedom, locations, scales)
    return Slopes(locations, scales, freedom, observations)


def continuous_effects(
    table: Table,
    prior: NormalWishartPrior,
    treatment: int,
    outcome: int,
    groups: Groups,
    set_of: Integers,
    generator: np.random.Generator,
) -> Effects:
    """The mean given each adjustment set, and one draw for each entry of `set_of`: 0 where it is not a set."""
    slopes = slopes_of(table, prior, treatment, groups.masks)
    draws = np.zeros(len(set_of))
    reached = set_of < len(groups.masks)
    draws[reached] = _draw(slopes, outcome, set_of[reached], generator)
    return Effects(slopes.locations[:, outcome].copy(), draws, slopes.observations)


def _draw(slopes: Slopes, outcome: int, set_of: Integers, generator: np.random.Generator) -> Floats:
    """One effect from the distribution of each of the sets in `set_of`."""
    standard = generator.standard_t(slopes.freedom[set_of])
    result: Floats = slopes.locations[set_of, outcome] + slopes.scales[set_of, outcome] * standard
    return result


@kernel
def _regress(
    matrix: Floats, floors: Floats, treatment: int, masks: Masks, freedom: Floats, locations: Floats, scales: Floats
) -> None:
    """No pivot of the Cholesky factor is below that node's floor in exact arithmetic, so none is taken to be."""
    nodes = len(matrix)
    members = np.empty(nodes, dtype=np.int64)
    cholesky = np.zeros((nodes, nodes))
    row = np.empty(nodes)
    for number in range(len(masks)):
        size = 0
        for node in range(nodes):
            if masks[number] >> np.uint64(node) & np.uint64(1):
                members[size] = node
                size += 1
        members[size] = treatment
        size += 1
        factorise(matrix, members[:size], floors, cholesky)
        pivot = cholesky[size - 1, size - 1]
        for outcome in range(nodes):
            if outcome != treatment and not masks[number] >> np.uint64(outcome) & np.uint64(1):
                left = next_row(matrix, outcome, members[:size], cholesky, row)
                locations[number, outcome] = row[size - 1] / pivot
                scales[number, outcome] = math.sqrt(max(left, floors[outcome]) / freedom[number]) / pivot
