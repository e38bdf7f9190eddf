"""Latent numbers given the parameters of a graph, column by column, each between what is known of it.

In a row, the number of a column given those of all others is normal: with the residuals of the families that it is in,
`z_i - a_i - sum b_ij z_j`, divided by their deviations `s_i`, as rows of a matrix, `K` that matrix' square and `h` what
it makes of the intercepts,

    z_c | others  ~  N((h_c - sum over k of K_ck z_k) / K_cc,  1 / K_cc),

and `K_ck` is 0 unless `k` is in a family with `c`. It lies between the bounds of its cell and, where it has a rank,
above the largest number of the rank below and below the smallest of the rank above. Numbers of the same rank do not
bound each other, so those of a rank are drawn independently, rank after rank. The order of ranks stays strict: a number
that rounding puts on a bound goes to the next double inside. The old number was inside, so there is one.

Time: rows times the columns in a family with it, and about 50 nanoseconds for each number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.scores.gaussian_completion import Families
from dagpost.scores.truncated_normals import normal_between


class LatentCells(NamedTuple):
    """The numbers that are not known, column by column and, in a column, group by group.

    Column `c` has the groups from `groups[c]` to `groups[c + 1]`: its ranks, rising, and then the numbers without a
    rank, if any. Group `g` has the places from `starts[g]` to `starts[g + 1]`, which are numbers in the rows `row`,
    with the places `cell` among the cells of `Table.filled`, between the bounds `low` and `high`.
    """

    groups: Integers
    starts: Integers
    ranked: Flags
    row: Integers
    cell: Integers
    low: Floats
    high: Floats


def latent_cells(table: Table, rows: Integers, centre: Floats, unit: Floats) -> LatentCells:
    """The unknown numbers of a table; `rows` has the row of each in the order of `Table.filled`."""
    assert table.gaps is not None
    groups, starts, ranked = [0], [0], []
    cell: list[Integers] = []
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    first = 0
    for column, gaps in enumerate(table.gaps):
        own = np.arange(first, first + int(gaps.sum()))
        first += len(own)
        if table.bounds and (bounds := table.bounds[column]) is not None:
            low[own], high[own] = ((bounds[gaps] - centre[column]) / unit[column]).T
        known = table.ranks[column] if table.ranks else None
        ranks = np.full(len(own), -1) if known is None else known[gaps]
        for rank in [*np.unique(ranks[ranks >= 0]), -1]:
            members = own[ranks == rank]
            if len(members):
                cell.append(members)
                starts.append(starts[-1] + len(members))
                ranked.append(rank >= 0)
        groups.append(len(ranked))
    order = np.concatenate(cell)
    return LatentCells(
        np.array(groups), np.array(starts), np.array(ranked), rows[order], order, low[order], high[order]
    )


@kernel
def draw_cells(
    latent: LatentCells, graph: Families, values: Floats, uniforms: Floats, work: Floats, mean: Floats, cancel: Integers
) -> None:
    """Draw all unknown numbers, in place, each by the uniform number of its place.

    `work` (3, columns or groups) and `mean` (rows) are working memory.
    """
    for column in range(len(values)):
        first, end = latent.groups[column], latent.groups[column + 1]
        if first == end:
            continue
        if cancel[0] != 0:
            return
        precision = _condition(column, graph, values, work[0], mean)
        deviation = 1.0 / np.sqrt(precision)
        own, least, most = values[column], work[1], work[2]
        for group in range(first, end):
            _note_extremes(latent, group, own, least, most)
        for group in range(first, end):
            below, above = -np.inf, np.inf
            if latent.ranked[group]:
                if group > first:
                    below = most[group - 1]
                if group + 1 < end and latent.ranked[group + 1]:
                    above = least[group + 1]
            for place in range(latent.starts[group], latent.starts[group + 1]):
                row = latent.row[place]
                low, high = max(below, latent.low[place]), min(above, latent.high[place])
                centre = mean[row]
                found = centre + deviation * normal_between(
                    uniforms[place], (low - centre) / deviation, (high - centre) / deviation
                )
                if not found > low:
                    found = np.nextafter(low, high)
                if not found < high:
                    found = np.nextafter(high, low)
                if low < found < high:
                    own[row] = found
            _note_extremes(latent, group, own, least, most)


@inline_no_refcount
def _condition(column: int, graph: Families, values: Floats, weights: Floats, mean: Floats) -> float:
    """The precision of a number of the column given the others of its row, and its mean in each row."""
    for other in range(len(values)):
        weights[other] = 0.0
    linear = 0.0
    for entry in range(graph.starts[column], graph.starts[column + 1]):
        node = graph.lists[entry]
        last = graph.sizes[node] - 1
        own = 1.0
        for place in range(last):
            if graph.members[node, place] == column:
                own = -graph.coefficients[node, place]
        own /= graph.spread[node] * graph.spread[node]
        linear += own * graph.intercept[node]
        weights[node] += own
        for place in range(last):
            weights[graph.members[node, place]] -= own * graph.coefficients[node, place]
    precision: float = weights[column]
    start = linear / precision
    for row in range(len(mean)):
        mean[row] = start
    for other in range(len(values)):
        if other != column and weights[other] != 0.0:
            share, numbers = weights[other] / precision, values[other]
            for row in range(len(mean)):
                mean[row] -= share * numbers[row]
    return precision


@inline_no_refcount
def _note_extremes(latent: LatentCells, group: int, numbers: Floats, least: Floats, most: Floats) -> None:
    low, high = np.inf, -np.inf
    for place in range(latent.starts[group], latent.starts[group + 1]):
        number = numbers[latent.row[place]]
        low, high = min(low, number), max(high, number)
    least[group], most[group] = low, high
