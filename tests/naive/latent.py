"""Slow, obvious twins of latent numbers: shares of truncated normals, their log target, and exact draws from it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from tests.naive import completion

from dagpost.data.table import Table

if TYPE_CHECKING:
    from dagpost import BGe

QUADRATURE = np.polynomial.legendre.leggauss(40)


def share_below(number: float, low: float, high: float) -> float:
    """The share of standard normal numbers between bounds that lies below a number, by quadrature of the density."""
    if low < -high:
        return 1.0 - share_below(-number, -high, -low)
    # From here on the density is largest at 0 or at `low`; beyond 40 / max(low, 1) from there it is nothing.
    start = max(low, -40.0)
    end = min(high, max(start, 0.0) + 40.0 / max(start, 1.0))
    return _area(start, min(max(number, start), end)) / _area(start, end)


def _area(start: float, end: float) -> float:
    """The integral of the density, divided by that at the start if this is above 0."""
    nodes, weights = QUADRATURE
    top, total = max(start, 0.0), 0.0
    pieces = max(1, math.ceil((end - start) * max(end, 1.0) / 8.0))
    for piece in range(min(pieces, 200)):
        length = (end - start) / min(pieces, 200)
        away = (start - top) + length * (piece + 0.5 + nodes / 2)
        total += length / 2 * float(weights @ np.exp(-away * (away + 2 * top) / 2))
    return total


def number_at(share: float, low: float, high: float) -> float:
    """The number that this share lies below, by looking for it."""
    left, right = max(low, -40.0), min(high, 40.0)
    return float(brentq(lambda number: share_below(number, low, high) - share, left, right, xtol=1e-13))


def bounds_of(table: Table, values: np.ndarray, column: int, row: int) -> tuple[float, float]:
    """Between which numbers the number of a cell lies, given the others of its column."""
    low, high = -math.inf, math.inf
    if table.bounds and table.bounds[column] is not None:
        low, high = table.bounds[column][row]
    if table.ranks and table.ranks[column] is not None:
        own = int(table.ranks[column][row])
        for other, rank in enumerate(table.ranks[column].tolist()):
            if own >= 0 and rank >= 0:
                if rank < own:
                    low = max(low, values[other, column])
                if rank > own:
                    high = min(high, values[other, column])
    return low, high


def agrees(table: Table, values: np.ndarray) -> bool:
    """Whether all numbers (rows, columns) are strictly between what is known of them."""
    assert table.gaps is not None
    for column, row in zip(*np.nonzero(table.gaps), strict=True):
        low, high = bounds_of(table, values, column, row)
        if not low < values[row, column] < high:
            return False
    return True


def redraw(
    table: Table, values: np.ndarray, families: np.ndarray, score: BGe, generator: np.random.Generator
) -> np.ndarray:
    """A round with the random numbers of the generator: parameters, then columns, ranks rising, row after row."""
    assert table.gaps is not None
    values, nodes = values.copy(), len(table.names)
    parents = [completion.parents_of(families, node, nodes) for node in range(nodes)]
    assert score.degrees_of_freedom is not None
    squares = generator.chisquare(
        np.array([score.degrees_of_freedom + table.rows - nodes + len(own) + 1 for own in parents])
    )
    normals = generator.standard_normal((nodes, families.shape[1] + 1))
    complete = replace(table, columns=tuple(values.T), gaps=None, bounds=(), ranks=())
    drawn = []
    for node, own in enumerate(parents):
        order = [*normals[node, : len(own)], normals[node, len(own)]]
        drawn.append(completion.gaussian_family(complete, node, own, score, squares[node], np.array(order)))
    uniforms = iter(generator.random(int(table.gaps.sum())).tolist())
    for column in range(nodes):
        ranks = np.full(table.rows, -1) if not table.ranks or table.ranks[column] is None else table.ranks[column]
        rows = np.flatnonzero(table.gaps[column])
        for row in sorted(rows, key=lambda row: (ranks[row] if ranks[row] >= 0 else math.inf, row)):
            mean, variance = completion.gaussian_row(values[row], [column], drawn, [])
            low, high = bounds_of(table, values, column, row)
            deviation = math.sqrt(variance[0, 0])
            share = next(uniforms) + 2.0**-54
            found = number_at(share, (low - mean[0]) / deviation, (high - mean[0]) / deviation)
            values[row, column] = mean[0] + deviation * found
    return values


def tables_from_prior(
    count: int, rows: int, families: np.ndarray, score: BGe, generator: np.random.Generator
) -> np.ndarray:
    """Tables (tables, rows, columns) with the density p_BGe(Z | G): parameters from the prior, then rows."""
    nodes = len(families)
    degrees, weight = score.degrees_of_freedom, score.mean_weight
    assert degrees is not None
    mean, unit = completion.by_column(score.prior_mean, nodes), completion.by_column(score.prior_scale, nodes)
    scale = weight * (degrees - nodes - 1) / (weight + 1)
    tables = np.zeros((count, rows, nodes))
    placed: list[int] = []
    while len(placed) < nodes:
        for node in range(nodes):
            own = completion.parents_of(families, node, nodes)
            if node in placed or not set(own) <= set(placed):
                continue
            placed.append(node)
            deviation = np.sqrt(scale / generator.chisquare(degrees - nodes + len(own) + 1, count))
            slopes = generator.standard_normal((count, len(own))) * (deviation / math.sqrt(scale))[:, np.newaxis]
            start = generator.standard_normal(count) * deviation / math.sqrt(weight)
            away = tables[:, :, own]
            noise = generator.standard_normal((count, rows)) * deviation[:, np.newaxis]
            tables[:, :, node] = start[:, np.newaxis] + np.einsum("trp,tp->tr", away, slopes) + noise
    result: np.ndarray = mean + unit * tables
    return result


def exact_tables(
    count: int, table: Table, families: np.ndarray, score: BGe, generator: np.random.Generator
) -> np.ndarray:
    """Independent tables from the target given a graph: those from the prior that agree with all ranks.

    Rows may be exchanged, so those of a table are put in the order of the first column, and by chance within a level.
    """
    found: list[np.ndarray] = []
    while sum(map(len, found)) < count:
        tables = tables_from_prior(50_000, table.rows, families, score, generator)
        every = np.arange(len(tables))[:, np.newaxis]
        places = np.argsort(table.ranks[0] + generator.random(tables.shape[:2]), axis=1)
        tables[every, places] = tables[every, np.argsort(tables[:, :, 0], axis=1)]
        for column, ranks in enumerate(table.ranks):
            own = [] if ranks is None else [ranks == rank for rank in sorted(set(ranks[ranks >= 0].tolist()))]
            for below, above in pairwise(own):
                tables = tables[tables[:, below, column].max(axis=1) < tables[:, above, column].min(axis=1)]
        found.append(tables)
    return np.concatenate(found)[:count]
