"""From the columns of a table to the latent numbers behind them, and back.

A column of numbers is an increasing image of its latent numbers, and the image is estimated from the column alone:
normal scores are the normal quantiles of the share of values up to each one,

    z(v) = quantile of (N F(v) + 1/2) / (N + 1),    F(v) = share below v + half the share at v,

for `N` observations; raw numbers are standardised. Censored cells share in `F` as the self-consistent estimate has it
(Turnbull 1976: each spreads over the values between its bounds as all others do). That these images are estimated and
then taken as known makes answers conditional on them. Of levels in an order only the ranks of the latent numbers are
known. Time: the sort of each column, and some hundred rounds over its values where cells are censored.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.spelling import setting
from dagpost.data.encoding import is_number
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.scores.parameter_priors import standard_deviations

#: Rounds of the self-consistent estimate: the share at a value then changes by less than what a row is worth.
_ROUNDS = 200


class Margin(NamedTuple):
    """The image of the latent numbers of a column: its values, rising, with the latent number of each.

    `edges` are latent numbers between neighbouring values, below the first one and above the last. Of a column that is
    taken as it is there is one value, on a line: `slope` is what a latent number more makes of it (0: not on a line).
    """

    values: Floats
    latents: Floats
    edges: Floats
    slope: float = 0.0

    def latent(self, numbers: Floats) -> Floats:
        """The latent numbers of values of the column; in between they are interpolated, and outside those at the ends.

        >>> Margin(np.array([1.0, 2.0]), np.array([-1.0, 1.0]), np.array([-2.0, 0.0, 2.0])).latent(np.array([1.5, 9.0]))
        array([0., 1.])
        """
        found: Floats = np.interp(numbers, self.values, self.latents)
        if self.slope:
            found = self.latents[0] + (numbers - self.values[0]) / self.slope
        return found

    def below(self, limits: Floats) -> Floats:
        """The latent number that divides values below a limit from all others."""
        return self.latent(limits) if self.slope else self.edges[np.searchsorted(self.values, limits, side="left")]

    def above(self, limits: Floats) -> Floats:
        """The latent number that divides values above a limit from all others."""
        return self.latent(limits) if self.slope else self.edges[np.searchsorted(self.values, limits, side="right")]


def latent_table(table: Table, margins: str, exogenous: Collection[str] = ()) -> Table:
    """The table of the latent numbers behind the columns: gaps where they are not known, with bounds and ranks.

    >>> from dagpost.data import as_table
    >>> found = latent_table(as_table(np.array([[1.5, 0], [2.5, 1], [7.5, 1], [3.5, 0]])), "normal-scores")
    >>> found.columns[0].round(2).tolist(), found.ranks[1].tolist(), found.gap_count
    ([-0.84, -0.25, 0.84, 0.25], [0, 1, 1, 0], 4)
    """
    table.refuse_other_than("ordered")
    _refuse_levels_for_gaps(table)
    _refuse_set_cells(table)
    rows, count = table.rows, len(table.names)
    gaps = np.zeros((count, rows), dtype=np.bool_) if table.gaps is None else table.gaps.copy()
    columns, bounds, ranks = [], [], []
    for place, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        own_bounds, own_ranks = None, None
        if levels is not None and name not in exogenous:
            own_ranks = np.where(gaps[place], -1, ranks_of(levels)[table.columns[place]]).astype(np.int32)
            columns.append(np.full(rows, np.nan))
            gaps[place] = True
        elif levels is not None:
            codes = ranks_of(levels)[table.columns[place]].astype(np.float64)
            columns.append(standardised(codes, table.weights))
        else:
            margin = margin_of(table, place, margins)
            known = np.where(gaps[place], margin.values[0], table.columns[place])
            columns.append(np.where(gaps[place], np.nan, margin.latent(known)))
            if table.bounds and (given := table.bounds[place]) is not None:
                own_bounds = latent_bounds(margin, given)
        bounds.append(own_bounds)
        ranks.append(own_ranks)
    return replace(
        table,
        columns=tuple(columns),
        levels=(None,) * count,
        gaps=gaps if gaps.any() else None,
        bounds=tuple(bounds),
        ranks=tuple(ranks),
        recipe=None,
        numbers=(),
        in_order=(),
    )


def margin_of(table: Table, place: int, margins: str) -> Margin:
    """The image of the latent numbers of a column of numbers."""
    from scipy.special import ndtri

    column, weights = table.columns[place], table.weights.astype(np.float64)
    known = np.isfinite(column) & (weights > 0)
    if table.gaps is not None:
        known &= ~table.gaps[place]
    bounds = table.bounds[place] if table.bounds else None
    if not known.any():
        raise InputError(
            f"Column {table.names[place]!r} has no number in any row: nothing says how its values are spread. Leave it "
            "out."
        )
    if margins == "raw":
        mean = np.average(column[known], weights=weights[known])
        unit = float(standard_deviations(column[known, np.newaxis], weights[known])[0])
        return Margin(np.array([mean]), np.zeros(1), np.array([-np.inf, np.inf]), unit)
    values, before = np.unique(column[known]), 0.0
    if bounds is not None:
        censored = np.isfinite(bounds).any(axis=1) & ~known & (weights > 0)
        values = _with_places_between(values, bounds[censored])
    which = np.searchsorted(values, column[known])
    shares: Floats = np.bincount(which, weights=weights[known], minlength=len(values)).astype(np.float64)
    total = shares.sum()
    if bounds is not None:
        total += weights[censored].sum()
        shares, before = _self_consistent(values, shares, bounds[censored], weights[censored])
    up_to = before + np.cumsum(shares)
    latents = ndtri((up_to - shares / 2.0 + 0.5) / (total + 1.0))
    edges = ndtri((np.concatenate([[before], up_to]) + 0.5) / (total + 1.0))
    return Margin(values, latents, edges)


def latent_bounds(margin: Margin, bounds: Floats) -> Floats:
    """The bounds of latent numbers that bounds of the column stand for; infinite ones stay so."""
    lower, upper = bounds[:, 0], bounds[:, 1]
    low = np.where(np.isfinite(lower), margin.above(np.where(np.isfinite(lower), lower, 0.0)), lower)
    high = np.where(np.isfinite(upper), margin.below(np.where(np.isfinite(upper), upper, 0.0)), upper)
    return np.stack([low, high], axis=1)


def ranks_of(levels: tuple[object, ...]) -> NDArray[np.int64]:
    """The rank of each level: by the numbers that they are, or as they are listed.

    >>> ranks_of((10, 2, 5)).tolist(), ranks_of(("never", "former", "current")).tolist()
    ([2, 0, 1], [0, 1, 2])
    """
    if all(is_number(level) for level in levels):
        return np.argsort(np.argsort(np.array(levels, dtype=np.float64), kind="stable"))
    return np.arange(len(levels))


def standardised(numbers: Floats, weights: NDArray[np.int64]) -> Floats:
    """Numbers with mean 0 and deviation 1."""
    own = weights.astype(np.float64)
    result: Floats = (numbers - np.average(numbers, weights=own)) / standard_deviations(numbers[:, np.newaxis], own)[0]
    return result


def _with_places_between(values: Floats, bounds: Floats) -> Floats:
    """The values, and one in the middle of each pair of bounds without any: a censored cell must have a place.

    >>> _with_places_between(np.array([3.0, 8.0]), np.array([[5.0, 6.0], [-np.inf, 1.0], [2.0, 4.0]])).tolist()
    [3.0, 5.5, 8.0]
    """
    finite = bounds[np.isfinite(bounds).all(axis=1)]
    inside = np.searchsorted(values, finite[:, 1], side="left") - np.searchsorted(values, finite[:, 0], side="right")
    return np.unique(np.concatenate([values, finite[inside <= 0].mean(axis=1)]))


def _self_consistent(values: Floats, known: Floats, bounds: Floats, weights: Floats) -> tuple[Floats, float]:
    """How many observations fall on each value, below the first and above the last, with censored ones spread."""
    kinds, which = np.unique(bounds, axis=0, return_inverse=True)
    times = np.bincount(which.ravel(), weights=weights, minlength=len(kinds))
    # Places: one below all values, the values, one above.
    first = np.where(np.isneginf(kinds[:, 0]), 0, 1 + np.searchsorted(values, kinds[:, 0], side="right"))
    last = np.where(np.isposinf(kinds[:, 1]), len(values) + 1, np.searchsorted(values, kinds[:, 1], side="left"))
    fixed = np.concatenate([[0.0], known, [0.0]])
    shares = fixed + times.sum() / len(fixed)
    for _ in range(_ROUNDS):
        below = np.concatenate([[0.0], np.cumsum(shares)])
        # At least the cells themselves lie between their bounds, so that no such sum is near zero.
        rates = times / (below[last + 1] - below[first])
        steps = np.bincount(first, rates, len(below)) - np.bincount(last + 1, rates, len(below))
        shares = fixed + shares * np.maximum(np.cumsum(steps)[:-1], 0.0)
    return shares[1:-1], float(shares[0])


def _refuse_levels_for_gaps(table: Table) -> None:
    for name, levels in zip(table.names, table.levels, strict=True):
        if levels is not None and MISSING_LEVEL in levels:
            raise InputError(
                f"Column {name!r} has a level for gaps, which is neither above nor below the others, and the latent "
                f"Gaussian score needs an order. Have gaps completed ({setting('missing', 'augment')}), or drop the "
                f"incomplete rows ({setting('missing', 'drop')})."
            )


def _refuse_set_cells(table: Table) -> None:
    if table.interventions is None or not table.interventions.any():
        return
    raise InputError(
        "Some cells were set by intervention, and the latent Gaussian score cannot say which latent number a cell was "
        f"set to. Use {setting('score', 'conditional-gaussian')}."
    )
