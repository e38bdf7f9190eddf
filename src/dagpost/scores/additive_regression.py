"""The log evidence of the regressions of the additive score, of many children on the same parents at once.

Given its parents, a child is normal around an intercept, a line for each parent and, perhaps, curves; coefficients are
normal in units of the noise, whose variance is inverse gamma, so that the evidence is known:

    log p(y) = const(N) + half log of the ratio of prior to posterior precisions - (shape + N / 2) log(scale + rest / 2)

where `rest` is what is left of the squares of `y`. Precisions and rest come from a Cholesky factor of the products of
features, to which every child is one more column. The lines of all parents stand first in it; the sets of parents
with curves are then walked depth first, so that each set costs the rows of its last parent alone. With levels among the
parents there is a second model, a regression on lines alone in every combination of their levels, with a noise of its
own; the two are averaged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.scores.additive_columns import Design
from dagpost.scores.row_groups import RowGroups

#: The noise: its variance is inverse gamma with this shape and scale. The intercept has a precision of its own.
SHAPE, SCALE = 1.0, 0.5
INTERCEPT_PRECISION = 0.01


class Precisions(NamedTuple):
    """Of the prior of slopes and of curves, and the share of the model with a regression in every combination."""

    slope: float
    curve: float
    separate: float


class Bench(NamedTuple):
    """Room for one thread. Rows of `factor` are pivots; `feature` has the features in the order of its columns."""

    feature: Integers
    gram: Floats
    factor: Floats
    #: By depth: the curved parents, and where each has its curves among the columns; pivots and log determinant so far.
    curved: Integers
    begin: Integers
    path: Integers
    pivots: Integers
    log_determinant: Floats
    #: What is left of each child's squares at each depth.
    rest: Floats
    children: Integers
    evidence: Floats
    #: Running largest and sum of an average in logs.
    largest: Floats
    sums: Floats
    #: Of each group of rows: sums of products, and what the number of rows alone adds to an evidence.
    moments: Floats
    sizes: Floats
    constants: Floats


def bench_for(design: Design, most: int) -> Bench:
    """Room for sets of at most `most` parents."""
    columns = len(design.first)
    widths = np.sort(design.lines + design.curves)[::-1]
    pivots = 1 + int(widths[:most].sum())
    width = pivots + columns
    groups = len(design.weights)
    return Bench(
        feature=np.zeros(width, dtype=np.int64),
        gram=np.zeros((width, width)),
        factor=np.zeros((pivots, width)),
        curved=np.zeros(most + 1, dtype=np.int64),
        begin=np.zeros(most + 2, dtype=np.int64),
        path=np.zeros(most + 1, dtype=np.int64),
        pivots=np.zeros(most + 2, dtype=np.int64),
        log_determinant=np.zeros(most + 2),
        rest=np.zeros((most + 2, columns)),
        children=np.zeros(columns, dtype=np.int64),
        evidence=np.zeros(columns),
        largest=np.zeros(columns),
        sums=np.zeros(columns),
        moments=np.zeros((groups, design.moments.shape[1])),
        sizes=np.zeros(groups),
        constants=np.zeros(groups),
    )


@inline_no_refcount
def evidence_of_rows(observations: float) -> float:
    """What the number of rows alone adds to the log evidence of a regression."""
    shape = SHAPE + observations / 2.0
    constant = -observations / 2.0 * math.log(2.0 * math.pi) + SHAPE * math.log(SCALE)
    result: float = constant - math.lgamma(SHAPE) + math.lgamma(shape)
    return result


@inline_no_refcount
def gather_groups(level: int, groups: RowGroups, design: Design, bench: Bench) -> None:
    """The sums of products of each group of rows of a level of the walk over columns of levels."""
    order, begin = groups.order[level], groups.begin[level]
    packed = design.moments.shape[1]
    for group in range(groups.found[level]):
        size = 0.0
        for place in range(packed):
            bench.moments[group, place] = 0.0
        for position in range(begin[group], begin[group + 1]):
            item = order[position]
            size += design.weights[item]
            for place in range(packed):
                bench.moments[group, place] += design.moments[item, place]
        bench.sizes[group] = size
        bench.constants[group] = evidence_of_rows(size)


@inline_no_refcount
def log_dirichlet(level: int, cells: float, sample_size: float, groups: RowGroups, design: Design) -> float:
    """The log evidence of the counts of a set of columns of levels that has so many cells."""
    order, begin, each = groups.order[level], groups.begin[level], sample_size / cells
    total = math.lgamma(sample_size) - math.lgamma(sample_size + design.observations)
    own = math.lgamma(each)
    for group in range(groups.found[level]):
        size = 0.0
        for position in range(begin[group], begin[group + 1]):
            size += design.weights[order[position]]
        total += math.lgamma(each + size) - own
    return total


@inline_no_refcount
def pivot(row: int, column: int, precision: float, width: int, bench: Bench) -> float:
    """The next row of the factor, for one more feature; the log of the square of its pivot."""
    own, factor = bench.factor[row], bench.factor
    for place in range(column, width):
        own[place] = bench.gram[column, place]
    for before in range(row):
        share = factor[before, column]
        for place in range(column, width):
            own[place] -= share * factor[before, place]
    # Rounding may leave less than the prior has; never less than that.
    square = max(own[column], 0.0) + precision
    scale = 1.0 / math.sqrt(square)
    for place in range(column + 1, width):
        own[place] *= scale
    own[column] = math.sqrt(square)
    return math.log(square)


@inline_no_refcount
def additive_evidence(
    parents: Integers, size: int, count: int, design: Design, prior: Precisions, bench: Bench
) -> None:
    """`bench.evidence[: count]`: of the children (bench.children) given these parents, averaged over curves or none."""
    width, lines = 1, 1
    bench.feature[0] = 0
    for place in range(size):
        column = parents[place]
        for own in range(design.lines[column]):
            bench.feature[width] = design.first[column] + own
            width += 1
    lines, curved = width, 0
    for place in range(size):
        column = parents[place]
        if design.curves[column] > 0:
            bench.begin[curved] = width
            curved += 1
            for own in range(design.curves[column]):
                bench.feature[width] = design.first[column] + design.lines[column] + own
                width += 1
    bench.begin[curved] = width
    first_child = width
    for child in range(count):
        bench.feature[width] = design.first[bench.children[child]]
        width += 1
    for row in range(first_child):
        for column in range(row, width):
            bench.gram[row, column] = design.gram[bench.feature[row], bench.feature[column]]
    for child in range(count):
        own = bench.feature[first_child + child]
        bench.rest[0, child] = design.gram[own, own]
        bench.largest[child], bench.sums[child] = -math.inf, 0.0
    log_determinant = 0.0
    for row in range(lines):
        precision = INTERCEPT_PRECISION if row == 0 else prior.slope
        log_determinant += pivot(row, row, precision, width, bench) - math.log(precision)
        for child in range(count):
            bench.rest[0, child] -= bench.factor[row, first_child + child] ** 2
    bench.pivots[0], bench.log_determinant[0] = lines, log_determinant
    constant, shape = evidence_of_rows(design.observations), SHAPE + design.observations / 2.0
    _take_in(0, count, constant, shape, bench)
    # All sets of parents with curves, each right after the one without its last parent.
    depth, following = 0, 0
    while True:
        if following < curved:
            bench.path[depth] = following
            depth += 1
            row, log_determinant = bench.pivots[depth - 1], bench.log_determinant[depth - 1]
            for child in range(count):
                bench.rest[depth, child] = bench.rest[depth - 1, child]
            for column in range(bench.begin[following], bench.begin[following + 1]):
                log_determinant += pivot(row, column, prior.curve, width, bench) - math.log(prior.curve)
                for child in range(count):
                    bench.rest[depth, child] -= bench.factor[row, first_child + child] ** 2
                row += 1
            bench.pivots[depth], bench.log_determinant[depth] = row, log_determinant
            _take_in(depth, count, constant, shape, bench)
            following += 1
        elif depth > 0:
            depth -= 1
            following = bench.path[depth] + 1
        else:
            break
    for child in range(count):
        mean = math.log(bench.sums[child]) - curved * math.log(2.0)
        bench.evidence[child] = bench.largest[child] + mean


@inline_no_refcount
def _take_in(depth: int, count: int, constant: float, shape: float, bench: Bench) -> None:
    """Add the evidence of one set of curves to the average of every child."""
    own = constant - bench.log_determinant[depth] / 2.0
    for child in range(count):
        value = own - shape * math.log(SCALE + max(bench.rest[depth, child], 0.0) / 2.0)
        if value > bench.largest[child]:
            bench.sums[child] = bench.sums[child] * math.exp(bench.largest[child] - value) + 1.0
            bench.largest[child] = value
        else:
            bench.sums[child] += math.exp(value - bench.largest[child])


@inline_no_refcount
def average_with_separate(
    groups: int, parents: Integers, first: int, size: int, count: int, design: Design, prior: Precisions, bench: Bench
) -> None:
    """Average `bench.evidence` with that of a regression on the lines of numbers in every group of rows.

    The numbers stand after the `first` of the parents.
    """
    for child in range(count):
        bench.sums[child] = 0.0
    width = 1 + size + count
    bench.feature[0] = 0
    for place in range(size):
        bench.feature[1 + place] = 1 + design.number[parents[first + place]]
    for child in range(count):
        bench.feature[1 + size + child] = 1 + design.number[bench.children[child]]
    fixed = -math.log(INTERCEPT_PRECISION) - size * math.log(prior.slope)
    for group in range(groups):
        for row in range(1 + size):
            for column in range(row, width):
                low, high = bench.feature[row], bench.feature[column]
                if low > high:
                    low, high = high, low
                bench.gram[row, column] = bench.moments[group, high * (high + 1) // 2 + low]
        for child in range(count):
            own = bench.feature[1 + size + child]
            bench.rest[0, child] = bench.moments[group, own * (own + 1) // 2 + own]
        log_determinant = fixed
        for row in range(1 + size):
            log_determinant += pivot(row, row, INTERCEPT_PRECISION if row == 0 else prior.slope, width, bench)
            for child in range(count):
                bench.rest[0, child] -= bench.factor[row, 1 + size + child] ** 2
        own_constant, shape = bench.constants[group] - log_determinant / 2.0, SHAPE + bench.sizes[group] / 2.0
        for child in range(count):
            rest = max(bench.rest[0, child], 0.0)
            bench.sums[child] += own_constant - shape * math.log(SCALE + rest / 2.0)
    apart, together = math.log(prior.separate), math.log(1.0 - prior.separate)
    for child in range(count):
        low, high = bench.evidence[child] + together, bench.sums[child] + apart
        if low > high:
            low, high = high, low
        bench.evidence[child] = high + math.log1p(math.exp(low - high))
