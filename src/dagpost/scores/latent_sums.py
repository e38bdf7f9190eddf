"""What the moves of whole columns share (latent_moves.py): sums over the levels of a column, and `R` of BGe around it.

Along a move the numbers of a level are linear functions of one number, so that these sums say where everything goes,
and rows are read twice: once to make the sums, once to move the numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.scores.gaussian_completion import Families
from dagpost.scores.latent_cells import LatentCells

# What is kept for each group of numbers (rows of `Sums.groups`).
COUNT, SUM, SQUARES, LEAST, MOST, SLOPE, OFFSET = range(7)
# The direction of a move: of a number `z` of the group it is `turn z + push`; and the border above the group, if any.
TURN, PUSH, BORDER = range(7, 10)
_FIELDS = 10


class Posterior(NamedTuple):
    """`R` of BGe as sums: `R = second - first first' / weight`; half the degrees of freedom by the size of a set.

    `prior` is the part of the prior in the first sums, its mean times its weight. The prior matrix is `floor` on the
    diagonal, so no pivot of `R` is below it.
    """

    first: Floats
    second: Floats
    weight: float
    factors: Floats
    floor: float
    prior: Floats
    prior_weight: float


class Space(NamedTuple):
    """Working memory: for groups, for their products with each column, and for the sets of the families of a column.

    A set has the columns `sets`, without the one that moves, and counts `factor` times; it has the factor `cholesky` of
    `R`, the row `solved` that the column adds to that, what a move adds to this row (`turned`), and the pivot of the
    column as a polynomial (`pivots`).
    """

    groups: Floats
    products: Floats
    totals: Floats
    sets: Integers
    sizes: Integers
    factor: Floats
    cholesky: Floats
    solved: Floats
    turned: Floats
    pivots: Floats
    blanket: Integers
    seen: Flags
    direction: Floats


class Moved(NamedTuple):
    """A column that moves: how many groups of numbers it has, how many of them are ranks, and what lies around it.

    `neighbours` is how many other columns are in a family with it, `sets` how many determinants change with it.
    """

    column: int
    groups: int
    ranked: int
    neighbours: int
    sets: int
    posterior: Posterior
    space: Space


def working_memory(columns: int, groups: int, members: int) -> Space:
    """Room for the moves of a table with so many columns, groups in a column and columns in a family."""
    sets = 2 * columns + 1
    return Space(
        groups=np.zeros((groups, _FIELDS)),
        products=np.zeros((groups, columns)),
        totals=np.zeros((groups, columns)),
        sets=np.zeros((sets, members), dtype=np.int64),
        sizes=np.zeros(sets, dtype=np.int64),
        factor=np.zeros(sets),
        cholesky=np.zeros((sets, members, members)),
        solved=np.zeros((sets, members)),
        turned=np.zeros((sets, members)),
        pivots=np.zeros((sets, 3)),
        blanket=np.zeros(columns, dtype=np.int64),
        seen=np.zeros(columns, dtype=np.bool_),
        direction=np.zeros(columns),
    )


@inline_no_refcount
def blanket_of(column: int, graph: Families, space: Space) -> int:
    """List the other columns in a family with this one; how many there are."""
    for other in range(len(space.seen)):
        space.seen[other] = False
    space.seen[column] = True
    count = 0
    for entry in range(graph.starts[column], graph.starts[column + 1]):
        node = graph.lists[entry]
        for place in range(graph.sizes[node]):
            other = graph.members[node, place]
            if not space.seen[other]:
                space.seen[other] = True
                space.blanket[count] = other
                count += 1
    return count


@inline_no_refcount
def sum_up(column: int, neighbours: int, latent: LatentCells, values: Floats, space: Space) -> tuple[int, int]:
    """Sums over the numbers of each group; how many groups there are, and how many of them are ranks."""
    first, end = latent.groups[column], latent.groups[column + 1]
    own, ranked = values[column], 0
    for group in range(end - first):
        begin, stop = latent.starts[first + group], latent.starts[first + group + 1]
        ranked += latent.ranked[first + group]
        kept = space.groups[group]
        total, squares, least, most = 0.0, 0.0, np.inf, -np.inf
        for place in range(begin, stop):
            number = own[latent.row[place]]
            total += number
            squares += number * number
            least, most = min(least, number), max(most, number)
        kept[COUNT], kept[SUM], kept[SQUARES] = stop - begin, total, squares
        kept[LEAST], kept[MOST], kept[SLOPE], kept[OFFSET] = least, most, 1.0, 0.0
        for near in range(neighbours):
            other = space.blanket[near]
            numbers = values[other]
            product, whole = 0.0, 0.0
            for place in range(begin, stop):
                row = latent.row[place]
                product += own[row] * numbers[row]
                whole += numbers[row]
            space.products[group, other], space.totals[group, other] = product, whole
    return end - first, ranked


@inline_no_refcount
def factorise(column: int, graph: Families, posterior: Posterior, space: Space) -> int:
    """The sets whose determinants change with a column, with all that does not change; how many there are."""
    count = 0
    for entry in range(graph.starts[column], graph.starts[column + 1]):
        node = graph.lists[entry]
        size = graph.sizes[node]
        # The family, and its parents alone, where the column is one of them.
        for skipped in range(1 if node == column else 2):
            end = size - skipped
            kept = 0
            for place in range(end):
                if graph.members[node, place] != column:
                    space.sets[count, kept] = graph.members[node, place]
                    kept += 1
            space.sizes[count] = kept
            space.factor[count] = posterior.factors[end] * (2.0 * skipped - 1.0)
            _factorise_set(column, count, posterior, space)
            count += 1
    return count


@inline_no_refcount
def _factorise_set(column: int, number: int, posterior: Posterior, space: Space) -> None:
    members, cholesky, size = space.sets[number], space.cholesky[number], space.sizes[number]
    for place in range(size + 1):
        node = column if place == size else members[place]
        pivot = _entry(node, node, posterior)
        for other in range(place):
            entry = _entry(node, members[other], posterior)
            row = space.solved[number] if place == size else cholesky[place]
            for before in range(other):
                entry -= row[before] * cholesky[other, before]
            entry /= cholesky[other, other]
            row[other] = entry
            pivot -= entry * entry
        if place == size:
            space.pivots[number, 0] = max(pivot, posterior.floor)
        else:
            cholesky[place, place] = math.sqrt(max(pivot, posterior.floor))


@inline_no_refcount
def _entry(row: int, column: int, posterior: Posterior) -> float:
    value: float = posterior.second[row, column] - posterior.first[row] * posterior.first[column] / posterior.weight
    return value


@inline_no_refcount
def write_back(moved: Moved, latent: LatentCells, values: Floats) -> None:
    """Move the numbers, and the sums of the posterior. Nothing moves where rounding would make levels meet."""
    column, groups, space, posterior = moved.column, moved.groups, moved.space, moved.posterior
    kept, numbers, first = space.groups, values[column], latent.groups[column]
    meets = False
    for group in range(groups):
        slope, offset = kept[group, SLOPE], kept[group, OFFSET]
        least, most = np.inf, -np.inf
        for place in range(latent.starts[first + group], latent.starts[first + group + 1]):
            number = slope * numbers[latent.row[place]] + offset
            least, most = min(least, number), max(most, number)
        kept[group, LEAST], kept[group, MOST] = least, most
        if 0 < group < moved.ranked and not kept[group - 1, MOST] < least:
            meets = True
        if not (math.isfinite(least) and math.isfinite(most)):
            meets = True
    if meets:
        return
    for group in range(groups):
        slope, offset = kept[group, SLOPE], kept[group, OFFSET]
        for place in range(latent.starts[first + group], latent.starts[first + group + 1]):
            row = latent.row[place]
            numbers[row] = slope * numbers[row] + offset
    prior, second = posterior.prior, posterior.second
    posterior.first[column] = total_of(groups, space) + prior[column]
    squares = prior[column] * prior[column] / posterior.prior_weight + posterior.floor
    for group in range(groups):
        squares += kept[group, SQUARES]
    second[column, column] = squares
    for near in range(moved.neighbours):
        other = space.blanket[near]
        product = prior[column] * prior[other] / posterior.prior_weight
        for group in range(groups):
            product += space.products[group, other]
        second[column, other] = second[other, column] = product


@inline_no_refcount
def total_of(groups: int, space: Space) -> float:
    """The sum of the numbers of a column."""
    total = 0.0
    for group in range(groups):
        total += space.groups[group, SUM]
    return total
