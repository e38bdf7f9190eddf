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
from dagpost.local.base import Fitter, LocalModel
from dagpost.local.combined import Combinations, Counted, RegressedNumber, Regressions, TableLevel
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

ASSUMPTION = (
    "Every column of numbers is a linear function of its causes with normal noise, a different one for each "
    "combination of levels among them, and no column of numbers causes one of levels."
)

Arrays = Mapping[str, NDArray[Any]]


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

    def model(self, child: int, parents: tuple[int, ...], seen: Counted) -> LocalModel:
        """The model of a column given others."""
        of_levels = tuple(place for place, node in enumerate(parents) if self.arities[node])
        arities = tuple(self.arities[parents[place]] for place in of_levels)
        spare = min(self.cells(parents) - len(seen.combinations), _SPARE)
        combinations = Combinations(of_levels, arities, seen.combinations, spare)
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

    def posterior(self, members: list[int], seen: Counted) -> Regressions:
        """The normal and Wishart distribution of some columns of numbers in every combination."""
        weight, rows = self.mean_weight, seen.counts
        away = self.means[members] - seen.means
        shrunken = (rows * weight / (rows + weight))[:, :, np.newaxis]
        matrices = np.diag(self.floors[members]) + seen.scatters
        matrices = matrices + shrunken * away[:, :, np.newaxis] * away[:, np.newaxis, :]
        return Regressions(
            (weight * self.means[members] + rows * seen.means) / (rows + weight),
            _cholesky(matrices, self.floors[members]),
            rows[:, 0] + weight,
            self.degrees + rows[:, 0] + len(members),
        )


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
        return prior.model(child, parents, Counted(combinations, *parts))

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

    def _seen(self, child: int, parents: tuple[int, ...]) -> Counted:
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
            return Counted(found, counts, np.zeros((size, 0)), np.zeros((size, 0, 0)))
        data = np.stack([table.columns[node][rows].astype(np.float64) for node in (*of_numbers, child)])
        return Counted(found, *_moments(data, weights, member.reshape(-1), size))

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
