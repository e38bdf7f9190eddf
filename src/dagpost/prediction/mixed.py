"""How probable is the cell of a node in a new row of levels and numbers, given its parents and all rows of training?

A level has a Dirichlet predictive given its parents, which are levels (discrete.py). A number has Student's
distribution given its continuous parents, as in gaussian.py, from the rows of training in which its discrete parents
have the levels that they have in the new row; in a combination that training does not have, from the prior alone.

Time: one triangular system of the size of the family a cell, and a Cholesky factor for each combination in 64 rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.families.masks import distinct_rows
from dagpost.prediction.discrete import discrete_filler
from dagpost.prediction.gaussian import (
    FamiliesByRow,
    GaussianFamilies,
    GaussianPosterior,
    factorise,
    gaussian_families,
    gaussian_posterior,
    refuse_far,
)
from dagpost.prediction.mixed_statistics import MixedStatistics, compressed
from dagpost.prediction.strips import LANES, Fill, Wanted, parent_lists
from dagpost.scores import ConditionalGaussianPrior


class MixedFamilies(NamedTuple):
    """Families of columns of numbers; nodes are columns of the table, those in `numbers` places among the numbers."""

    children: Integers
    #: The child among the columns of numbers, and its continuous parents there.
    numbers: Integers
    lists: NDArray[np.int64]
    sizes: Integers
    #: The discrete parents, and where their combinations stand in `configurations`.
    level_lists: NDArray[np.int64]
    level_sizes: Integers
    begins: Integers
    ends: Integers
    configurations: Integers
    arities: Integers
    #: The level of the target in each column, -1 for that of the row.
    levels: Integers
    #: Which columns are numbers.
    columns: Integers
    #: By group of rows; group 0 has none. Constants by group and number of continuous parents.
    means: Floats
    matrices: Floats
    shrinkage: Floats
    degrees: Floats
    constants: Floats
    floors: Floats

    def chosen(self, numbers: Integers) -> MixedFamilies:
        """Some of the families, each as often as it is named."""
        by_family = (
            *("children", "numbers", "lists", "sizes", "level_lists", "level_sizes", "begins", "ends", "levels"),
        )
        return self._replace(**{name: np.ascontiguousarray(getattr(self, name)[numbers]) for name in by_family})


def posterior_of_groups(statistics: MixedStatistics, prior: ConditionalGaussianPrior) -> GaussianPosterior:
    """The normal and Wishart distribution of the numbers in each combination; that of the prior comes first."""
    return gaussian_posterior(statistics.numbers, prior.gaussian)


def mixed_families(
    statistics: MixedStatistics, posterior: GaussianPosterior, children: Integers, parents: Masks, levels: Integers
) -> MixedFamilies:
    """What prediction needs of some families of columns of numbers."""
    from scipy.special import betaln

    of_levels, of_numbers = statistics.level_columns, statistics.number_columns
    own = np.searchsorted(of_numbers, children)
    sets = statistics.locate_sets(statistics.run_of[own], compressed(parents, of_levels))
    lists, sizes = parent_lists(compressed(parents, of_numbers), len(of_numbers))
    nodes = len(statistics.names)
    bits = np.bitwise_or.reduce(np.uint64(1) << of_levels.astype(np.uint64), initial=np.uint64(0))
    level_lists, level_sizes = parent_lists(parents & bits, nodes)
    shrinkage = posterior.weights / (posterior.weights + 1)
    freedom = posterior.degrees[:, np.newaxis] + np.arange(int(sizes.max(initial=0)) + 1) + 1
    return MixedFamilies(
        children,
        own,
        lists,
        sizes,
        level_lists,
        level_sizes,
        statistics.starts[sets],
        statistics.starts[sets + 1],
        statistics.configurations,
        np.array(statistics.arities, dtype=np.int64),
        levels,
        of_numbers,
        posterior.means,
        posterior.matrices,
        shrinkage,
        posterior.degrees,
        np.log(shrinkage)[:, np.newaxis] / 2 - betaln(freedom / 2, 0.5),
        posterior.floors,
    )


def mixed_filler(statistics: MixedStatistics, prior: ConditionalGaussianPrior, wanted: Wanted, target: int) -> Fill:
    """Make ready what all rows share: the columns of levels, and those of numbers."""
    refuse_far(statistics.numbers)
    of_levels = statistics.level_columns
    numeric = np.isin(wanted.children, statistics.number_columns)
    place_of = np.full(len(statistics.names) + 1, -1)
    place_of[of_levels] = np.arange(len(of_levels))
    discrete = Wanted(
        place_of[wanted.children[~numeric]], compressed(wanted.parents[~numeric], of_levels), wanted.levels[~numeric]
    )
    fill_levels = None
    if len(of_levels):
        fill_levels = discrete_filler(statistics.discrete, prior.dirichlet, discrete, place_of[target])
    own = wanted.children[numeric], wanted.parents[numeric], wanted.levels[numeric]
    families = mixed_families(statistics, posterior_of_groups(statistics, prior), *own)

    def fill(cells: NDArray[Any], interventions: Masks, result: Floats) -> None:
        logs = np.zeros((int((~numeric).sum()), LANES))
        if fill_levels is not None:
            codes = np.ascontiguousarray(cells[of_levels].astype(np.int32))
            fill_levels(codes, compressed(interventions, of_levels), logs)
        result[~numeric] = logs
        logs = np.empty((len(families.children), LANES))
        fill_numbers(families, target, np.ascontiguousarray(cells, dtype=np.float64), interventions, logs)
        result[numeric] = logs

    return fill


def mixed_by_row(
    statistics: MixedStatistics, prior: ConditionalGaussianPrior, children: Integers, parents: Masks
) -> FamiliesByRow:
    """Some families of columns of numbers, among these: rows with the same levels have the same training rows."""
    refuse_far(statistics.numbers)
    posterior = posterior_of_groups(statistics, prior)
    every = mixed_families(statistics, posterior, children, parents, np.full(len(children), -1))
    among_numbers = compressed(parents, statistics.number_columns)
    of_levels = statistics.level_columns

    def by_row(cells: NDArray[Any]) -> Iterator[tuple[Integers, GaussianFamilies]]:
        # A column of zeros, for where there are no levels.
        first, member = distinct_rows(np.column_stack([np.zeros(cells.shape[1]), cells[of_levels].T]))
        groups = row_groups(every, np.ascontiguousarray(cells[:, first], dtype=np.float64))
        for number in range(len(first)):
            families = gaussian_families(posterior, every.numbers, among_numbers, groups[:, number].copy())
            yield np.flatnonzero(member == number), families

    return by_row


@kernel
def fill_numbers(families: MixedFamilies, target: int, cells: Floats, interventions: Masks, result: Floats) -> None:
    """The log density of each family of numbers in 64 rows: 0 where its node was set."""
    largest = families.lists.shape[1] + 1
    members = np.empty(largest, dtype=np.int64)
    cholesky = np.zeros((largest, largest))
    standard = np.empty(largest)
    groups = np.empty(LANES, dtype=np.int64)
    for column in range(len(families.children)):
        child = families.children[column]
        size = families.sizes[column]
        for place in range(size):
            members[place] = families.lists[column, place]
        members[size] = families.numbers[column]
        for lane in range(LANES):
            groups[lane] = group_of(families, column, target, cells, lane)
            if interventions[lane] >> np.uint64(child) & np.uint64(1):
                groups[lane] = -1
                result[column, lane] = 0.0
        for first in range(LANES):
            group = groups[first]
            if group < 0:
                continue
            mean = families.means[group]
            factorise(families.matrices[group], members[: size + 1], families.floors, cholesky)
            shrinkage = families.shrinkage[group]
            constant = families.constants[group, size] - math.log(cholesky[size, size])
            power = (families.degrees[group] + size + 2.0) / 2.0
            for lane in range(first, LANES):
                if groups[lane] != group:
                    continue
                groups[lane] = -1
                spread = 1.0
                for place in range(size + 1):
                    left = cells[families.columns[members[place]], lane] - mean[members[place]]
                    for before in range(place):
                        left -= cholesky[place, before] * standard[before]
                    standard[place] = left / cholesky[place, place]
                    if place < size:
                        spread += shrinkage * standard[place] * standard[place]
                excess = shrinkage * standard[size] * standard[size] / spread
                result[column, lane] = constant - math.log(spread) / 2.0 - power * math.log1p(excess)


@inlined
def group_of(families: MixedFamilies, family: int, target: int, cells: Floats, lane: int) -> int:
    """The group of training rows with the levels that the discrete parents have in a row; 0 if there are none."""
    configuration = 0
    for place in range(families.level_sizes[family]):
        parent = families.level_lists[family, place]
        arity = families.arities[parent]
        code = families.levels[family] if parent == target else np.int64(cells[parent, lane])
        if code >= arity:
            return 0
        configuration = configuration * arity + code
    low, high = families.begins[family], families.ends[family]
    while low < high:
        middle = (low + high) // 2
        if families.configurations[middle] < configuration:
            low = middle + 1
        else:
            high = middle
    if low < families.ends[family] and families.configurations[low] == configuration:
        found: int = low + 1
        return found
    return 0


@kernel
def row_groups(families: MixedFamilies, cells: Floats) -> Integers:
    """The group of training rows of every family in each of some rows, as (families, rows)."""
    result = np.empty((len(families.children), cells.shape[1]), dtype=np.int64)
    for family in range(len(families.children)):
        for row in range(cells.shape[1]):
            result[family, row] = group_of(families, family, -1, cells, row)
    return result
