"""How probable is the value of a node in a new row, given the values of its parents and all rows of training?

The parameters have a normal and a Wishart distribution (scores/bge.py); with them integrated out the value has
Student's distribution. With `R` as in the score, `m` the posterior mean, `d` the distance of the row from it, `N` rows
of training, `c = (N + u) / (N + u + 1)` and `Q = d' R^-1 d` over the parents,

    log p(x | p) = log Gamma((v+1)/2) - log Gamma(v/2) + log(c / (pi s)) / 2 - log(1 + c Q) / 2
                 - (v+1)/2 log(1 + c e^2 / (s (1 + c Q))),       v = w + N - n + (number of parents) + 1,

where `s` is what the parents leave of `R` at the node and `e` the residual of the row. This is, family by family, the
score of all rows less that of the rows of training (Geiger & Heckerman 2002).

Time: one triangular system of the size of the family a cell.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.strips import LANES, Fill, Wanted, parent_lists
from dagpost.scores import NormalWishartPrior
from dagpost.scores.cholesky import factorise
from dagpost.scores.parameter_priors import refuse_far


class GaussianPosterior(NamedTuple):
    """By group of rows: posterior mean, matrix `R`, weight `N + u`, degrees of freedom `w + N - n`.

    The pivot of `R` at a node is never below its entry in `floors`.
    """

    means: Floats
    matrices: Floats
    weights: Floats
    degrees: Floats
    floors: Floats


def gaussian_posterior(statistics: GaussianStatistics, prior: NormalWishartPrior) -> GaussianPosterior:
    """The normal and Wishart distribution of the parameters after training."""
    nodes = len(statistics.names)
    weight = prior.mean_weight
    floors = prior.scale(nodes) * prior.deviations(statistics.names, statistics.deviations) ** 2
    prior_mean = prior.mean(statistics.names, statistics.centre[np.newaxis], np.ones(1))
    observations = statistics.observations[:, np.newaxis]
    distance = prior_mean - statistics.means
    shrink = (observations * weight / (observations + weight))[:, :, np.newaxis]
    outer = distance[:, :, np.newaxis] * distance[:, np.newaxis, :]
    return GaussianPosterior(
        means=(weight * prior_mean + observations * statistics.means) / (observations + weight),
        matrices=np.ascontiguousarray(np.diag(floors) + statistics.scatters + shrink * outer),
        weights=statistics.observations + weight,
        degrees=prior.spare(nodes) + 1 + statistics.observations,
        floors=floors,
    )


class GaussianFamilies(NamedTuple):
    """What all rows share; `shrinkage` is `c`, `freedom` is `v`."""

    children: Integers
    lists: NDArray[np.int64]
    sizes: Integers
    groups: Integers
    shrinkage: Floats
    freedom: Floats
    constants: Floats
    means: Floats
    matrices: Floats
    floors: Floats


def gaussian_filler(statistics: GaussianStatistics, prior: NormalWishartPrior, wanted: Wanted, target: int) -> Fill:
    """The distribution of the parameters, worked out once for all rows; no column has levels, so `target` is none."""
    del target
    refuse_far(statistics.names, statistics.centre, statistics.deviations)
    posterior, groups = gaussian_posterior(statistics, prior), statistics.group_of[np.maximum(wanted.children, 0)]
    return partial(fill_gaussian, gaussian_families(posterior, wanted.children, wanted.parents, groups))


def gaussian_families(
    posterior: GaussianPosterior, children: Integers, parents: Masks, groups: Integers
) -> GaussianFamilies:
    """What prediction needs of some families, each with the group of rows that counts; a child of -1 is none."""
    from scipy.special import betaln

    lists, sizes = parent_lists(parents, len(posterior.floors))
    shrinkage = (posterior.weights / (posterior.weights + 1))[groups]
    freedom = posterior.degrees[groups] + sizes + 1
    constants = np.log(shrinkage) / 2 - betaln(freedom / 2, 0.5)
    return GaussianFamilies(
        children, lists, sizes, groups, shrinkage, freedom, constants, posterior.means, posterior.matrices,
        posterior.floors,
    )  # fmt: skip


@kernel
def fill_gaussian(columns: GaussianFamilies, cells: Floats, interventions: Masks, result: Floats) -> None:
    """The log density of each column in 64 rows: 0 where its node was set."""
    largest = columns.lists.shape[1] + 1
    members = np.empty(largest, dtype=np.int64)
    cholesky = np.zeros((largest, largest))
    standard = np.empty((largest, LANES))
    spread = np.empty(LANES)
    for column in range(len(columns.children)):
        child = columns.children[column]
        values = result[column]
        if child < 0:
            for lane in range(LANES):
                values[lane] = 0.0
            continue
        size = columns.sizes[column]
        for place in range(size):
            members[place] = columns.lists[column, place]
        members[size] = child
        group = columns.groups[column]
        mean = columns.means[group]
        factorise(columns.matrices[group], members, size + 1, columns.floors, cholesky)
        shrinkage = columns.shrinkage[column]
        for lane in range(LANES):
            spread[lane] = 1.0
        for place in range(size + 1):
            row = standard[place]
            cell = cells[members[place]]
            for lane in range(LANES):
                row[lane] = cell[lane] - mean[members[place]]
            for before in range(place):
                factor = cholesky[place, before]
                earlier = standard[before]
                for lane in range(LANES):
                    row[lane] -= factor * earlier[lane]
            for lane in range(LANES):
                row[lane] /= cholesky[place, place]
            if place < size:
                for lane in range(LANES):
                    spread[lane] += shrinkage * row[lane] * row[lane]
        constant = columns.constants[column] - math.log(cholesky[size, size])
        power = (columns.freedom[column] + 1) / 2
        residual = standard[size]
        for lane in range(LANES):
            if interventions[lane] >> np.uint64(child) & np.uint64(1):
                values[lane] = 0.0
            else:
                excess = shrinkage * residual[lane] * residual[lane] / spread[lane]
                values[lane] = constant - math.log(spread[lane]) / 2 - power * math.log1p(excess)
