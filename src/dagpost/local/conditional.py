"""Nodes of conditional Gaussian networks: tables of levels, and a regression for each combination of levels.

A column of levels, which has parents of levels only, has a Dirichlet posterior in every combination of these. A column
of numbers has there a regression of its own on its parents of numbers. With `R`, `m`, `w` and `u` of the normal and
Wishart distribution of a combination's `N` rows (scores/bge.py), `b = R_PP^-1 R_Pi`, `s` what the parents leave of `R`
at the node, and `v = w + N - n + (number of parents) + 1` degrees of freedom,

    variance ~ s / chi^2(v),   mean ~ normal(m_i, variance / (N + u)),   slopes ~ normal(b, variance R_PP^-1),

and a new number has Student's distribution with `v` degrees of freedom (Geiger & Heckerman 2002). That is what the
parameters in the middle stand for here, so that sums over what is missing of a row are over new numbers, too.

Combinations that no row has follow the prior: a few draws stand for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.schema import require
from dagpost._tools.spelling import bare
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.local.base import Fitter, LevelModel, LocalModel, NumberModel
from dagpost.scores.columns import part_of
from dagpost.scores.parameter_priors import (
    ConditionalGaussianPrior,
    DirichletPrior,
    LocalPrior,
    centre,
    refuse_far,
    standard_deviations,
)

__all__ = ["ASSUMPTION", "fitter", "kept", "restorer"]

#: Draws that stand for combinations without rows; combinations that can be numbered.
_SPARE, _MOST = 32, 2**62
#: Shares this near to 0 and 1 have no value.
_LEAST, _LARGEST = 1e-300, 1.0 - 2.0**-53

ASSUMPTION = (
    "Every column of numbers is a linear function of its causes with normal noise, a different one for each "
    "combination of levels among them, and no column of numbers causes one of levels."
)

Arrays = Mapping[str, NDArray[Any]]


class _Combinations(NamedTuple):
    """Combinations of the levels of some parents: those that rows have, ascending, and `spare` ones for all others."""

    parents: tuple[int, ...]
    arities: tuple[int, ...]
    seen: Integers
    spare: int

    def places(self, values: Floats) -> Integers:
        """The combination that values (all parents, ...) are in."""
        numbers = np.zeros(values.shape[1:], dtype=np.int64)
        for parent, arity in zip(self.parents, self.arities, strict=True):
            numbers = numbers * arity + values[parent].astype(np.int64)
        if not self.spare:
            # Every combination was seen.
            return numbers
        places = np.searchsorted(self.seen, numbers)
        known = np.append(self.seen, -1)[places] == numbers
        found: Integers = np.where(known, places, len(self.seen) + numbers % self.spare)
        return found


class _Seen(NamedTuple):
    """Of every combination that rows have its number, and how often each level was seen, or numbers.

    `means` and `scatters` are of the parents of numbers and the node itself; nothing of levels.
    """

    combinations: Integers
    counts: Floats
    means: Floats
    scatters: Floats


class _Prior(NamedTuple):
    """What all families share: how many levels columns have (0: numbers), and the prior, that of numbers by column."""

    names: tuple[str, ...]
    arities: tuple[int, ...]
    dirichlet: DirichletPrior
    mean_weight: float
    degrees: float
    means: Floats
    floors: Floats

    def cells(self, columns: Sequence[int]) -> int:
        """How many combinations of levels there are."""
        return math.prod(max(self.arities[node], 1) for node in columns)

    def model(self, child: int, parents: tuple[int, ...], seen: _Seen) -> LocalModel:
        """The model of a column given others."""
        of_levels = tuple(place for place, node in enumerate(parents) if self.arities[node])
        arities = tuple(self.arities[parents[place]] for place in of_levels)
        spare = min(self.cells(parents) - len(seen.combinations), _SPARE)
        combinations = _Combinations(of_levels, arities, seen.combinations, spare)
        more = seen._replace(
            counts=np.pad(seen.counts, ((0, spare), (0, 0))),
            means=np.pad(seen.means, ((0, spare), (0, 0))),
            scatters=np.pad(seen.scatters, ((0, spare), (0, 0), (0, 0))),
        )
        if self.arities[child]:
            pseudocount = float(self.dirichlet.of_cells(np.array([float(self.cells((*parents, child)))]))[0])
            return TableLevel(combinations, seen, more.counts + pseudocount)
        members = [*(node for node in parents if not self.arities[node]), child]
        return RegressedNumber(combinations, seen, self.posterior(members, more))

    def posterior(self, members: list[int], seen: _Seen) -> _Posterior:
        """The normal and Wishart distribution of some columns of numbers in every combination."""
        weight, rows = self.mean_weight, seen.counts
        away = self.means[members] - seen.means
        shrunken = (rows * weight / (rows + weight))[:, :, np.newaxis]
        matrices = np.diag(self.floors[members]) + seen.scatters
        matrices = matrices + shrunken * away[:, :, np.newaxis] * away[:, np.newaxis, :]
        return _Posterior(
            (weight * self.means[members] + rows * seen.means) / (rows + weight),
            _cholesky(matrices, self.floors[members]),
            rows[:, 0] + weight,
            self.degrees + rows[:, 0] + len(members),
        )


class _Posterior(NamedTuple):
    """By combination: means, the Cholesky factor of `R`, of the node last; the weight `N + u`, and `v`."""

    means: Floats
    factors: Floats
    weights: Floats
    freedoms: Floats


def _cholesky(matrices: Floats, floors: Floats) -> Floats:
    """Cholesky factors; no pivot is below the floor of its column in exact arithmetic, nor is any here."""
    result = np.zeros_like(matrices)
    for row in range(len(floors)):
        for column in range(row + 1):
            left = matrices[:, row, column] - (result[:, row, :column] * result[:, column, :column]).sum(axis=1)
            pivot = result[:, column, column]
            result[:, row, column] = np.sqrt(np.maximum(left, floors[row])) if row == column else left / pivot
    return result


def fitter(table: Table, prior: LocalPrior) -> Fitter:
    """What makes local models of a complete table."""
    assert isinstance(prior, ConditionalGaussianPrior)
    return _Families(table, prior)


def kept(fit: Fitter) -> dict[str, NDArray[Any]]:
    """What a file keeps that all families share."""
    assert isinstance(fit, _Families)
    prior = fit.prior
    strength = [prior.dirichlet.pseudocount, float(prior.dirichlet.shared), prior.mean_weight, prior.degrees]
    return {"strength": np.array(strength), "means": prior.means, "floors": prior.floors}


def restorer(levels: Sequence[Any], arrays: Arrays) -> Callable[[int, tuple[int, ...], Arrays], LocalModel]:
    """What makes local models of their arrays; what does not fit together is a ValueError."""
    nodes, arities = len(levels), tuple(len(own or ()) for own in levels)
    strength, means, floors = (np.asarray(arrays[name], dtype=np.float64) for name in ("strength", "means", "floors"))
    fits = strength.shape == (4,) and means.shape == floors.shape == (nodes,)
    require(fits and bool(np.isfinite([*strength, *means, *floors]).all()), "a prior of other columns")
    require(bool((strength[[0, 2, 3]] > 0.0).all() and (floors > 0.0).all()), "a prior that cannot be")
    dirichlet = DirichletPrior(float(strength[0]), bool(strength[1]))
    names = tuple(map(str, range(nodes)))
    prior = _Prior(names, arities, dirichlet, float(strength[2]), float(strength[3]), means, floors)

    def restore(child: int, parents: tuple[int, ...], own: Arrays) -> LocalModel:
        combinations = np.asarray(own["combinations"]).astype(np.int64).reshape(-1)
        counts, means, scatters = (np.asarray(own[name], dtype=np.float64) for name in ("counts", "means", "scatters"))
        size, width = len(combinations), 0 if arities[child] else 1 + sum(not arities[node] for node in parents)
        require(bool((np.diff(combinations, prepend=-1) > 0).all()), "combinations out of order")
        require(prior.cells(parents) > combinations.max(initial=-1), "unknown combinations")
        require(not arities[child] or all(arities[node] for node in parents), "numbers that lead to levels")
        require(counts.size == size * max(arities[child], 1), "counts of other combinations")
        require(means.size == size * width and scatters.size == size * width**2, "means of other combinations")
        every = np.concatenate([counts.reshape(-1), means.reshape(-1), scatters.reshape(-1)])
        require(bool(np.isfinite(every).all() and (counts >= 0.0).all()), "counts that cannot be")
        shapes = (size, max(arities[child], 1)), (size, width), (size, width, width)
        parts = (array.reshape(shape) for array, shape in zip((counts, means, scatters), shapes, strict=True))
        return prior.model(child, parents, _Seen(combinations, *parts))

    return restore


class _Families:
    """Makes the local models of a table."""

    def __init__(self, table: Table, prior: ConditionalGaussianPrior) -> None:
        self._table = table
        self._weights = table.weights.astype(np.float64)
        nodes, gaussian = len(table.names), prior.gaussian
        numbers = [node for node, levels in enumerate(table.levels) if levels is None]
        means, floors = np.zeros(nodes), np.ones(nodes)
        if numbers:
            names, data = tuple(table.names[node] for node in numbers), part_of(table, numbers).values()
            found = standard_deviations(data, self._weights)
            refuse_far(names, np.add(*centre(data, self._weights)[1:]), found)
            means[numbers] = gaussian.mean(names, data, self._weights)
            floors[numbers] = gaussian.scale(len(numbers)) * gaussian.deviations(names, found) ** 2
        degrees = gaussian.spare(len(numbers)) + 1.0
        self.prior = _Prior(
            table.names, table.arities, prior.dirichlet, gaussian.mean_weight, degrees, means, floors
        )  # fmt: skip

    def __call__(self, child: int, parents: tuple[int, ...]) -> LocalModel:
        """The model of a column given others."""
        return self.prior.model(child, parents, self._seen(child, parents))

    def _seen(self, child: int, parents: tuple[int, ...]) -> _Seen:
        table, arities = self._table, self.prior.arities
        of_levels = [node for node in parents if arities[node]]
        of_numbers = [node for node in parents if not arities[node]]
        self._refuse(child, of_levels, of_numbers)
        rows = self._weights > 0
        if table.interventions is not None:
            rows = rows & (table.interventions >> np.uint64(child) & np.uint64(1) == 0)
        weights, numbers = self._weights[rows], np.zeros(int(rows.sum()), dtype=np.int64)
        for node in of_levels:
            numbers = numbers * arities[node] + table.columns[node][rows]
        found, member = np.unique(numbers, return_inverse=True)
        size, arity = len(found), arities[child]
        if arity:
            cells = member * arity + table.columns[child][rows]
            counts = np.bincount(cells, weights, minlength=size * arity).astype(np.float64).reshape(size, arity)
            return _Seen(found, counts, np.zeros((size, 0)), np.zeros((size, 0, 0)))
        data = np.stack([table.columns[node][rows].astype(np.float64) for node in (*of_numbers, child)])
        return _Seen(found, *_moments(data, weights, member.reshape(-1), size))

    def _refuse(self, child: int, of_levels: list[int], of_numbers: list[int]) -> None:
        names = self.prior.names
        if self.prior.arities[child] and of_numbers:
            raise InputError(
                f"A graph has an edge from {names[of_numbers[-1]]!r}, a column of numbers, to {names[child]!r}, a "
                "column of levels; the conditional Gaussian model has none. Leave that edge out."
            )
        cells = self.prior.cells((*of_levels, child))
        if cells > _MOST:
            raise InputError(
                f"The parents of {names[child]!r} in a graph have {cells:.2g} combinations of levels; at most "
                f"{_MOST:.2g} can be numbered. Use a smaller {bare('max_parents')}, or merge levels."
            )


def _moments(data: Floats, weights: Floats, member: Integers, size: int) -> tuple[Floats, Floats, Floats]:
    """How many rows, means and scatter by combination; in two passes, so that nothing is lost to rounding."""
    counts = np.bincount(member, weights, minlength=size).astype(np.float64)
    # Sums of large numbers that hardly differ would lose what they differ by.
    shifts = data.mean(axis=1) if data.shape[1] else np.zeros(len(data))
    away = data - shifts[:, np.newaxis]
    means = np.stack([np.bincount(member, weights * own, minlength=size) for own in away], axis=1) / counts[:, None]
    away -= means.T[:, member]
    scatters = np.zeros((size, len(data), len(data)))
    for row, first in enumerate(away):
        for column, second in enumerate(away[: row + 1]):
            sums = np.bincount(member, weights * first * second, minlength=size)
            scatters[:, row, column] = scatters[:, column, row] = sums
    return counts[:, np.newaxis], means + shifts, scatters


class _Combined:
    """A model with parameters of its own in each combination of levels."""

    def __init__(self, combinations: _Combinations, seen: _Seen) -> None:
        self._combinations, self._seen = combinations, seen

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What rows said."""
        seen = self._seen
        return {
            "combinations": seen.combinations[np.newaxis],
            "counts": seen.counts,
            "means": seen.means,
            "scatters": seen.scatters.reshape(seen.means.shape[0] * seen.means.shape[1], seen.means.shape[1]),
        }

    def parameters(self, theta: Floats, places: Integers, width: int) -> Floats:
        """The parameters of some combinations: (draws, rows, width)."""
        combinations = theta.shape[1] // width
        begins = np.arange(len(theta))[:, np.newaxis] * combinations
        found: Floats = np.take(theta.reshape(-1, width), begins + places, axis=0)
        return found


class TableLevel(_Combined, LevelModel):
    """Levels: a Dirichlet distribution in each combination."""

    def __init__(self, combinations: _Combinations, seen: _Seen, shapes: Floats) -> None:
        super().__init__(combinations, seen)
        self._shapes = shapes

    @property
    def likeliest(self) -> Floats:
        """The means, which are also the probabilities of a new row."""
        means: Floats = (self._shapes / self._shapes.sum(axis=1, keepdims=True)).reshape(-1)
        return means

    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """In logs: numbers with a tiny shape underflow."""
        size = (count, *self._shapes.shape)
        logs = np.log(generator.standard_gamma(self._shapes + 1.0, size))
        logs -= generator.standard_exponential(size) / self._shapes
        drawn = np.exp(logs - logs.max(axis=2, keepdims=True))
        drawn /= drawn.sum(axis=2, keepdims=True)
        result: Floats = np.maximum(drawn, _LEAST).reshape(count, -1)
        return result

    def chances(self, values: Floats, theta: Floats) -> Floats:
        """Those of the combination."""
        return self.parameters(theta, self._combinations.places(values), self._shapes.shape[1])

    def predictive(self, values: Floats) -> Floats:
        """The mean of the posterior."""
        found: Floats = self.chances(values[:, np.newaxis], self.likeliest[np.newaxis])[0]
        return found


class _At(NamedTuple):
    """What is expected of numbers, the scale of what lies around it, and its degrees of freedom: (draws, rows)."""

    expected: Floats
    scale: Floats
    freedom: Floats

    @property
    def is_normal(self) -> bool:
        """Whether parameters were drawn; in the middle of their posterior stands Student's distribution."""
        return bool(np.isinf(self.freedom).all())


class RegressedNumber(_Combined, NumberModel):
    """A number: a regression in each combination.

    Its parameters there: the mean where all parents have theirs, the slopes, the scale, and the degrees of freedom.
    """

    def __init__(self, combinations: _Combinations, seen: _Seen, posterior: _Posterior) -> None:
        super().__init__(combinations, seen)
        self._posterior = posterior
        self._slopes = posterior.means.shape[1] - 1

    @property
    def likeliest(self) -> Floats:
        """Those of a new row, but for how far it is from others."""
        means, factors, weights, freedoms = self._posterior
        slopes = self._solved(factors[np.newaxis, :, -1, :-1])[0]
        scales = factors[:, -1, -1] * np.sqrt((weights + 1.0) / weights / freedoms)
        return np.column_stack([means[:, -1], slopes, scales, freedoms]).reshape(-1)

    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """Variance, mean, and slopes given the variance."""
        means, factors, weights, freedoms = self._posterior
        size, slopes = len(means), self._slopes
        spreads = factors[:, -1, -1] / np.sqrt(generator.chisquare(freedoms, (count, size)))
        noise = spreads[:, :, np.newaxis] * generator.standard_normal((count, size, slopes + 1))
        result = np.empty((count, size, slopes + 3))
        result[:, :, 0] = means[:, -1] + noise[:, :, 0] / np.sqrt(weights)
        result[:, :, 1:-2] = self._solved(factors[:, -1, :-1] + noise[:, :, 1:])
        result[:, :, -2], result[:, :, -1] = spreads, np.inf
        return result.reshape(count, -1)

    def _solved(self, right: Floats) -> Floats:
        """What the Cholesky factor of the parents, transposed, makes these: (draws, combinations, slopes)."""
        factors, result = self._posterior.factors, np.empty(right.shape)
        for place in range(self._slopes - 1, -1, -1):
            later = (factors[:, place + 1 : -1, place] * result[:, :, place + 1 :]).sum(axis=2)
            result[:, :, place] = (right[:, :, place] - later) / factors[:, place, place]
        return result

    def _at(self, values: Floats, theta: Floats) -> _At:
        places = self._combinations.places(values)
        own = self.parameters(theta, places, self._slopes + 3)
        others = [place for place in range(len(values)) if place not in self._combinations.parents]
        away = [values[node] - self._posterior.means[places, place] for place, node in enumerate(others)]
        expected = own[:, :, 0] + sum(own[:, :, 1 + place] * far for place, far in enumerate(away))
        found = _At(expected, own[:, :, -2], own[:, :, -1])
        return found if found.is_normal else found._replace(scale=found.scale * self._widening(away, places))

    def _widening(self, away: list[Floats], places: Integers) -> Floats:
        """How much less is known of a row whose parents have values that are `away` from their means."""
        factors, weights = self._posterior.factors, self._posterior.weights
        standard: list[Floats] = []
        for place, far in enumerate(away):
            known = sum(factors[places, place, before] * own for before, own in enumerate(standard))
            standard.append((far - known) / factors[places, place, place])
        shrinkage = (weights / (weights + 1.0))[places]
        widening: Floats = np.sqrt(1.0 + shrinkage * sum((own**2 for own in standard), np.zeros(places.shape)))
        return widening

    def expected(self, values: Floats, theta: Floats) -> Floats:
        """On the line."""
        return self._at(values, theta).expected

    def log_density(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """Normal, or Student's."""
        from scipy.special import betaln

        at = self._at(values, theta)
        away = (numbers - at.expected) / at.scale
        if at.is_normal:
            found: Floats = -0.5 * away**2 - np.log(at.scale) - 0.5 * math.log(2.0 * math.pi)
            return found
        found = -np.log(at.scale) - 0.5 * np.log(at.freedom) - betaln(at.freedom / 2.0, 0.5)
        found -= (at.freedom + 1.0) / 2.0 * np.log1p(away**2 / at.freedom)
        return found

    def below(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """The share of the distribution."""
        from scipy.special import ndtr, stdtr

        at = self._at(values, theta)
        away = (numbers - at.expected) / at.scale
        found: Floats = ndtr(away) if at.is_normal else stdtr(at.freedom, away)
        return found

    def with_share(self, values: Floats, theta: Floats, shares: Floats) -> Floats:
        """Quantiles of the distribution."""
        from scipy.special import ndtri, stdtrit

        at = self._at(values, theta)
        shares = np.clip(shares, _LEAST, _LARGEST)
        away = ndtri(shares) if at.is_normal else stdtrit(at.freedom, shares)
        found: Floats = at.expected + at.scale * away
        return found

    def moved(self, before: Floats, after: Floats, theta: Floats, numbers: Floats) -> Floats:
        """Numbers stay as many deviations from what is expected."""
        first, second = self._at(before, theta), self._at(after, theta)
        moved: Floats = second.expected + second.scale * (numbers - first.expected) / first.scale
        return moved

    def log_predictive(self, values: Floats, numbers: Floats) -> Floats:
        """The parameters in the middle stand for a new row."""
        found: Floats = self.log_density(values[:, np.newaxis], self.likeliest[np.newaxis], numbers[np.newaxis])[0]
        return found
