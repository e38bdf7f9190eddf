"""How much does the mean of a column of numbers change, in tables of levels and numbers, given an adjustment set?

With `z` running over the combinations of levels that are adjusted for, and each with Gaussian columns of its own,

    of a treatment of levels:    E[y | do(x)]       = sum over z of P(z) E[y | x, z],
    of a treatment of numbers:   d E[y | do(x)]/dx  = sum over z of P(z) (slope of y on x in the rows with z),

where regressions also have the columns of numbers that are adjusted for (beside a treatment of levels only exogenous
ones, which are taken at their mean given `z`). The sum over `z` is exact. That is what the whole network says, whatever
lies between x and y: the parents of a treatment of numbers leave a residual that is independent of all that is not
caused by it, so that the regression gives the average of the slopes of all combinations of levels behind `y`.

`P(z)` has a Dirichlet distribution, as in discrete.py. By combination, the columns of numbers have a normal and Wishart
distribution; with `R`, `w`, `n` as in scores/bge.py, `N` rows, `u` the weight of the prior mean and `l` columns in the
regression, outcome included, a slope has the distribution of gaussian.py and the mean of `y` at the point `c` of the
other columns is Student's with `v = w + N - n + l` degrees of freedom,

    location   m_y + b'(c - m_c),        scale^2   R_yy.c / v (1 / (N + u) + (c - m_c)' R_cc^-1 (c - m_c)).

Combinations that do not occur have the prior. Beyond `_SEPARATE` of them they are put together in that many parts, each
drawn with the mean and the variance that its share of the sum has.

Time: a sort of the rows for each adjustment set, and a few random numbers for each draw and combination that occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.causal.discrete import dirichlet_weights
from dagpost.causal.groups import Effects, Groups, observations_in, speaking_rows
from dagpost.data.table import Table
from dagpost.families.masks import members_of
from dagpost.prediction.counting import blocks_within
from dagpost.prediction.discrete import cell_parameters
from dagpost.prediction.gaussian import GaussianPosterior, gaussian_posterior
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.grouped_rows import combinations_of, grouped_rows
from dagpost.prediction.mixed_statistics import compressed
from dagpost.scores import ConditionalGaussianPrior, DirichletPrior, standard_deviations
from dagpost.scores.columns import part_of

#: How many combinations that do not occur are told apart.
_SEPARATE = 64
#: How many random numbers of a kind are worked on at a time.
_BLOCK_CELLS = 2**20


def _columns(table: Table, *, numbers: bool) -> list[int]:
    return [node for node, levels in enumerate(table.levels) if (levels is None) == numbers]


def among_levels(
    table: Table, prior: ConditionalGaussianPrior, treatment: int, outcome: int, groups: Groups
) -> tuple[Table, DirichletPrior, int, int, Groups]:
    """The question about two columns of levels, among these alone: columns of numbers lead to none of them."""
    levels = _columns(table, numbers=False)
    own = groups._replace(masks=compressed(groups.masks, np.array(levels)))
    return part_of(table, levels), prior.dirichlet, levels.index(treatment), levels.index(outcome), own


def no_effects(table: Table, treatment: int, set_of: Integers) -> Effects:
    """Of a column of numbers on one of levels: no graph has a path."""
    return Effects(np.empty(0), np.zeros(len(set_of)), observations_in(table, speaking_rows(table, treatment)))


class _Elements(NamedTuple):
    """What the sum over the combinations of one set is made of: weights, and Student's distributions that are added.

    `outer` are the parameters of `P(z)`; the others have a row for each term and a column for each combination.
    """

    outer: Floats
    locations: Floats
    scales: Floats
    freedoms: Floats


class _Numbers:
    """The rows that speak of a treatment, and the posterior of their columns of numbers, group by group."""

    def __init__(self, table: Table, prior: ConditionalGaussianPrior, treatment: int) -> None:
        self.table, self.prior = table, prior
        self.columns = _columns(table, numbers=True)
        self.rows = np.flatnonzero(speaking_rows(table, treatment))
        part, weights = part_of(table, self.columns), table.weights.astype(np.float64)
        data = part.values()
        self._facts = part.names, np.average(data, axis=0, weights=weights), standard_deviations(data, weights)
        self._data, self.weights = data[self.rows], weights[self.rows]

    def posterior(self, member: Integers, groups: int, chosen: NDArray[np.bool_]) -> GaussianPosterior:
        """Of the rows that are chosen, by their group, and of no rows at the end."""
        found = grouped_rows(self._data[chosen], self.weights[chosen], member[chosen], groups + 1)
        nodes = np.zeros(len(self.columns), dtype=np.int64)
        return gaussian_posterior(GaussianStatistics(*self._facts, nodes, *found), self.prior.gaussian)

    def combinations(self, levels: list[int]) -> tuple[Integers, int, float]:
        """The combination of each row among those that occur; how many of these there are, and how many do not."""
        arities = [self.table.arities[node] for node in levels]
        codes = [self.table.columns[node][self.rows] for node in levels]
        if np.prod(arities, dtype=np.float64) > 2.0**62:
            stacked = np.column_stack(codes)
            found, member = np.unique(stacked, axis=0, return_inverse=True)
        else:
            found, member = np.unique(combinations_of(codes, arities, len(self.rows)), return_inverse=True)
        return member.reshape(-1), len(found), float(np.prod(arities, dtype=np.float64)) - len(found)

    def outer(self, levels: list[int], treatment: int) -> float:
        """The Dirichlet parameter of one combination of levels that is adjusted for."""
        if not levels:
            return 1.0
        own = _columns(self.table, numbers=False)
        table = part_of(self.table, own)
        child, *others = [own.index(node) for node in levels]
        merged = 1.0
        if self.table.levels[treatment] is not None:
            others, child = [child, *others], own.index(treatment)
            merged = float(table.arities[child])
        mask = np.array([sum(1 << other for other in others)], dtype=np.uint64)
        parameters = cell_parameters(self.prior.dirichlet, table, np.array([child]), mask)
        return float(self.prior.dirichlet.of_merged(parameters, merged)[0])


def slopes_by_levels(
    table: Table,
    prior: ConditionalGaussianPrior,
    treatment: int,
    outcome: int,
    groups: Groups,
    set_of: Integers,
    generator: np.random.Generator,
) -> Effects:
    """The change of a column of numbers with one unit more of another: mean by set, and a draw for each of `set_of`."""
    numbers = _Numbers(table, prior, treatment)
    x, y = numbers.columns.index(treatment), numbers.columns.index(outcome)

    def elements(mask: int) -> _Elements:
        levels, others = _split(table, mask)
        member, occurring, absent = numbers.combinations(levels)
        posterior = numbers.posterior(member, occurring, np.ones(len(member), dtype=np.bool_))
        explaining = [*(numbers.columns.index(node) for node in others), x]
        inverse = np.linalg.inv(posterior.matrices[:, explaining][:, :, explaining])
        slopes = (inverse @ posterior.matrices[:, explaining, y][:, :, np.newaxis])[:, :, 0]
        left = posterior.matrices[:, y, y] - (slopes * posterior.matrices[:, explaining, y]).sum(axis=1)
        freedom = posterior.degrees + len(explaining) + 1
        scales = np.sqrt(np.maximum(left, posterior.floors[y]) / freedom * inverse[:, -1, -1])
        weight = numbers.outer(levels, treatment)
        pooled = np.bincount(member, weights=numbers.weights, minlength=occurring).astype(np.float64)
        return _with_absent(weight, pooled, absent, slopes[np.newaxis, :, -1], scales[np.newaxis], freedom[np.newaxis])

    return _effects(elements, groups, set_of, generator, numbers)


def changes_of_mean(
    table: Table,
    prior: ConditionalGaussianPrior,
    treatment: int,
    outcome: int,
    groups: Groups,
    set_of: Integers,
    generator: np.random.Generator,
    levels: tuple[int, int],
) -> Effects:
    """The change of the mean of a column of numbers from one level of the treatment to another, in the same way."""
    numbers = _Numbers(table, prior, treatment)
    y, codes = numbers.columns.index(outcome), table.columns[treatment][numbers.rows]

    def elements(mask: int) -> _Elements:
        own, others = _split(table, mask)
        member, occurring, absent = numbers.combinations(own)
        given = [numbers.columns.index(node) for node in others]
        points = numbers.posterior(member, occurring, np.ones(len(member), dtype=np.bool_)).means[:, given]
        first, second = (
            _means_at(numbers.posterior(member, occurring, codes == level), given, y, points) for level in levels
        )
        pooled = np.bincount(member, weights=numbers.weights, minlength=occurring).astype(np.float64)
        # Student's distributions are symmetric, so that the scale of what is taken away may stay as it is.
        locations = np.stack([first[0], -second[0]])
        scales, freedoms = np.stack([first[1], second[1]]), np.stack([first[2], second[2]])
        return _with_absent(numbers.outer(own, treatment), pooled, absent, locations, scales, freedoms)

    return _effects(elements, groups, set_of, generator, numbers)


def _split(table: Table, mask: int) -> tuple[list[int], list[int]]:
    """The columns of levels and those of numbers in a set."""
    nodes = list(members_of(mask))
    return [node for node in nodes if table.levels[node] is not None], [n for n in nodes if table.levels[n] is None]


def _means_at(posterior: GaussianPosterior, given: list[int], y: int, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Location, scale and freedom of the mean of `y` where some other columns are at a point, by group."""
    inverse = np.linalg.inv(posterior.matrices[:, given][:, :, given])
    slopes = (inverse @ posterior.matrices[:, given, y][:, :, np.newaxis])[:, :, 0]
    distance = points - posterior.means[:, given]
    left = posterior.matrices[:, y, y] - (slopes * posterior.matrices[:, given, y]).sum(axis=1)
    freedom = posterior.degrees + len(given) + 1
    spread = 1.0 / posterior.weights + np.einsum("gi,gij,gj->g", distance, inverse, distance)
    locations = posterior.means[:, y] + (slopes * distance).sum(axis=1)
    return locations, np.sqrt(np.maximum(left, posterior.floors[y]) / freedom * spread), freedom


def _with_absent(
    outer: float, pooled: Floats, absent: float, locations: Floats, scales: Floats, freedoms: Floats
) -> _Elements:
    """The combinations that occur, and those that do not in some equal parts; the last column is the prior."""
    parts = int(min(max(absent, 0.0), _SEPARATE))
    if parts == 0:
        return _Elements(outer + pooled, locations[:, :-1], scales[:, :-1], freedoms[:, :-1])
    share = absent / parts
    # The squares of the shares of `g` equal combinations of parameter `a` sum to `(a + 1) / (g a + 1)` on average.
    narrower = np.sqrt((outer + 1.0) / (share * outer + 1.0))
    columns = [*range(len(pooled)), *[len(pooled)] * parts]
    factors = np.append(np.ones(len(pooled)), np.full(parts, narrower))
    weights = np.append(outer + pooled, np.full(parts, share * outer))
    return _Elements(weights, locations[:, columns], scales[:, columns] * factors, freedoms[:, columns])


def _effects(
    elements_of: Callable[[int], _Elements],
    groups: Groups,
    set_of: Integers,
    generator: np.random.Generator,
    numbers: _Numbers,
) -> Effects:
    """The mean given each set, and one draw for each entry of `set_of` (ascending): 0 where that is none."""
    means, draws = np.zeros(len(groups.masks)), np.zeros(len(set_of))
    for number, mask in enumerate(groups.masks.tolist()):
        elements = elements_of(mask)
        means[number] = elements.outer @ elements.locations.sum(axis=0) / elements.outer.sum()
        first, last = np.searchsorted(set_of, [number, number + 1])
        draws[first:last] = _draw(elements, int(last - first), generator)
    return Effects(means, draws, observations_in(numbers.table, numbers.rows))


def _draw(elements: _Elements, draws: int, generator: np.random.Generator) -> Floats:
    result = np.empty(draws)
    size = len(elements.outer)
    for block in blocks_within(np.full(draws, size), _BLOCK_CELLS):
        count = block.stop - block.start
        weights = dirichlet_weights(np.tile(elements.outer, count), np.arange(count) * size, generator)
        total = np.zeros((count, size))
        for location, scale, freedom in zip(elements.locations, elements.scales, elements.freedoms, strict=True):
            total += location + scale * generator.standard_t(freedom, size=(count, size))
        result[block] = (weights.reshape(count, size) * total).sum(axis=1)
    return result
