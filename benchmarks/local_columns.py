"""What a column brings to the local models of others, tabulated: lines, curves and contrasts at its values.

A column of numbers is seen through its normal score z (of the middle of the ranks that equal values share): a line, and
natural cubic splines in the basis in which their roughness is a sum of squares, freed of constant and line, of mean
square 1 together; and the freed square of z, which products use. All are tabulated on a grid of z and interpolated.
Levels bring contrasts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from benchmarks.world_columns import Floats
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.special import ndtri

Integers = NDArray[np.int64]
GRID = 201
#: Values of a column of numbers from which the normal score of any other is interpolated.
MOST_VALUES = 400
#: The outermost knots, as shares of the rows.
OUTERMOST = 0.015


class Source(NamedTuple):
    """A column as a parent. `table[g]`: features at place g of the grid, or of a level: lines first, then curves.

    `short[g]`: those that products are made of. `values`, `scores`: of a number, its value at normal scores.
    """

    table: Floats
    lines: int
    short: Floats
    values: Floats | None
    scores: Floats
    low: float
    step: float

    def place(self, column: Floats) -> tuple[Integers, Floats]:
        """Where values are in the table, and the share of the way to the next place."""
        if self.values is None:
            codes = column.astype(np.int64)
            return codes, np.zeros(codes.shape)
        at = (np.interp(column, self.values, self.scores) - self.low) / self.step
        cell = np.minimum(at.astype(np.int64), GRID - 2)
        return cell, at - cell


def gathered(table: Floats, place: tuple[Integers, Floats]) -> Floats:
    """Rows of a table at places, interpolated."""
    cell, share = place
    if not share.any():
        return table[cell]
    here = table[cell]
    here += share[..., np.newaxis] * (table[np.minimum(cell + 1, len(table) - 1)] - here)
    return here


def number_source(column: Floats, knots: int) -> Source:
    """A column of numbers."""
    values, codes = np.unique(column, return_inverse=True)
    each = np.bincount(codes).astype(np.float64)
    scores = ndtri((np.cumsum(each) - each / 2.0) / each.sum())
    scores -= each @ scores / each.sum()
    scores /= math.sqrt(each @ scores**2 / each.sum())
    row_scores = scores[codes]
    if len(values) > MOST_VALUES:
        kept = np.unique(np.linspace(0, len(values) - 1, MOST_VALUES).astype(np.int64))
        # The ends in full: that is where scores are far apart.
        kept = np.union1d(kept, [*range(40), *range(len(values) - 40, len(values))])
    else:
        kept = np.arange(len(values))
    low, high = float(scores[0]), float(scores[-1])
    step = (high - low) / (GRID - 1)
    grid = low + step * np.arange(GRID)
    ends = np.quantile(row_scores, [OUTERMOST, 1 - OUTERMOST])
    wanted = np.linspace(float(ends[0]), float(ends[1]), max(knots, 3))
    nearest = np.unique(scores[np.abs(scores[:, np.newaxis] - wanted).argmin(axis=0)])
    raw = [grid**2, grid**3] if len(values) > 3 else [grid**2, grid**2] if len(values) > 2 else []
    if len(nearest) > 2:
        raw += list(_splines(nearest, grid.astype(np.float64)).T)
    curves = np.array(raw).T if raw else np.zeros((GRID, 0))
    source = Source(curves, 0, curves, values[kept], scores[kept], low, step)
    at_rows = gathered(curves, source.place(column))
    straight = np.column_stack([np.ones(len(column)), row_scores])
    fitted = np.linalg.lstsq(straight, at_rows, rcond=None)[0]
    free = curves - np.column_stack([np.ones(GRID), grid]) @ fitted
    left = at_rows - straight @ fitted
    size = (left**2).mean(axis=0)
    bends = free[:, :2] / np.sqrt(np.maximum(size[:2], 1e-12))
    splines = free[:, 2:] / math.sqrt(max(size[2:].sum(), 1e-12))
    short = np.column_stack([grid, bends])
    return source._replace(table=np.column_stack([grid, splines]), lines=1, short=short)


def _splines(knots: Floats, grid: Floats) -> Floats:
    """Natural cubic splines on the grid, in the basis in which the integral of the squared bend is a sum of squares."""
    gaps = np.diff(knots)
    inner = len(knots) - 2
    second = np.zeros((len(knots), inner))
    band = np.zeros((inner, inner))
    for place in range(inner):
        second[place : place + 3, place] = [
            1 / gaps[place], -1 / gaps[place] - 1 / gaps[place + 1], 1 / gaps[place + 1],
        ]  # fmt: skip
        band[place, place] = (gaps[place] + gaps[place + 1]) / 3
        if place + 1 < inner:
            band[place, place + 1] = band[place + 1, place] = gaps[place + 1] / 6
    roughness, vectors = np.linalg.eigh(second @ np.linalg.solve(band, second.T))
    basis = vectors[:, 2:] / np.sqrt(roughness[2:])
    spline = CubicSpline(knots, basis, bc_type="natural")
    inside = np.clip(grid, knots[0], knots[-1])
    result: Floats = spline(inside) + spline(inside, 1) * (grid - inside)[:, np.newaxis]
    return result


def level_source(levels: int) -> Source:
    """A column of levels: orthonormal contrasts, times the root of 2."""
    basis = np.zeros((levels, levels - 1))
    for place in range(levels - 1):
        basis[: place + 1, place] = 1.0
        basis[place + 1, place] = -(place + 1.0)
        basis[:, place] /= math.sqrt((place + 1.0) * (place + 2.0))
    table = math.sqrt(2.0) * basis
    return Source(table, levels - 1, table, None, np.zeros(0), 0.0, 1.0)
