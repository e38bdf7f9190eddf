"""The log evidence of the regressions of the additive score, of many children on the same parents at once.

Given its parents, a child is normal around an intercept, lines and, perhaps, curves of each of them; coefficients are
normal in units of the noise, whose covariance is inverse Wishart (one number for most children, a matrix for levels in
no order), so that the evidence is known. With `q` features of a child, `N` rows and `q + 1` prior degrees of freedom,

    log p(Y) = const(N, q) - q / 2 log(|posterior| / |prior precision|) - (q + 1 + N) / 2 log|1 + what is left of Y'Y|

Precisions and what is left come from a Cholesky factor of the products of features, to which every child adds columns.
The lines of all parents stand first in it; the sets of parents with curves are then walked depth first, so that each
costs the rows of its last parent alone. All sets are equally probable beforehand, and averaged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.scores.additive_columns import Design

_INTERCEPT_PRECISION = 0.01


class Precisions(NamedTuple):
    """Of the prior of slopes and of curves, in units of the noise."""

    slope: float
    curve: float


class Bench(NamedTuple):
    """What is regressed with which prior, and room for one thread.

    Rows of `factor` are pivots; `feature` has the features in the order of its columns.
    """

    design: Design
    prior: Precisions
    feature: Integers
    gram: Floats
    factor: Floats
    #: By depth: the last parent with curves, how many pivots there are, and the log of their squares so far.
    path: Integers
    pivots: Integers
    log_determinant: Floats
    #: Where each parent with curves has these among the columns.
    begin: Integers
    #: The children, where each has its lines among the columns, and its products among the `rest`.
    children: Integers
    column: Integers
    place: Integers
    #: By depth: what is left of the products of each child's lines, and room for their factor.
    rest: Floats
    block: Floats
    #: The average so far, in logs: its largest term, and the sum over it.
    largest: Floats
    sums: Floats
    evidence: Floats


def bench_for(design: Design, prior: Precisions, most: int) -> Bench:
    """Room for sets of at most `most` parents."""
    columns, lines = len(design.first), design.lines
    pivots = 1 + int(np.sort(lines + design.curves)[::-1][:most].sum())
    width, widest = pivots + int(lines.sum()), int(lines.max(initial=1))
    return Bench(
        design=design,
        prior=prior,
        feature=np.zeros(width, dtype=np.int64),
        gram=np.zeros((pivots, width)),
        factor=np.zeros((pivots, width)),
        path=np.zeros(most + 1, dtype=np.int64),
        pivots=np.zeros(most + 1, dtype=np.int64),
        log_determinant=np.zeros(most + 1),
        begin=np.zeros(most + 1, dtype=np.int64),
        children=np.zeros(columns, dtype=np.int64),
        column=np.zeros(columns, dtype=np.int64),
        place=np.zeros(columns, dtype=np.int64),
        rest=np.zeros((most + 1, int((lines * (lines + 1) // 2).sum()))),
        block=np.zeros((widest, widest)),
        largest=np.zeros(columns),
        sums=np.zeros(columns),
        evidence=np.zeros(columns),
    )


@inline_no_refcount
def find_evidence(parents: Integers, size: int, count: int, bench: Bench) -> None:
    """`bench.evidence[: count]`: of the first children of the bench given these parents."""
    design, prior = bench.design, bench.prior
    width, curved = 1, 0
    bench.feature[0] = 0
    for place in range(size):
        for own in range(design.lines[parents[place]]):
            bench.feature[width] = design.first[parents[place]] + own
            width += 1
    lines = width
    for place in range(size):
        column = parents[place]
        if design.curves[column] > 0:
            bench.begin[curved] = width
            curved += 1
            for own in range(design.curves[column]):
                bench.feature[width] = design.first[column] + design.lines[column] + own
                width += 1
    bench.begin[curved] = width
    products = 0
    for child in range(count):
        column = bench.children[child]
        bench.column[child], bench.place[child] = width, products
        bench.largest[child], bench.sums[child] = -math.inf, 0.0
        for own in range(design.lines[column]):
            bench.feature[width] = design.first[column] + own
            width += 1
            for other in range(own + 1):
                bench.rest[0, products] = design.gram[design.first[column] + own, design.first[column] + other]
                products += 1
    for row in range(bench.begin[curved]):
        for column in range(row, width):
            bench.gram[row, column] = design.gram[bench.feature[row], bench.feature[column]]
    bench.pivots[0], bench.log_determinant[0] = 0, 0.0
    for column in range(lines):
        _add_pivot(0, column, _INTERCEPT_PRECISION if column == 0 else prior.slope, width, count, bench)
    _take_in(0, count, bench)
    # All sets of parents with curves, each right after the one without its last parent.
    depth, following = 0, 0
    while True:
        if following < curved:
            bench.path[depth] = following
            bench.pivots[depth + 1], bench.log_determinant[depth + 1] = (
                bench.pivots[depth],
                bench.log_determinant[depth],
            )
            for place in range(products):
                bench.rest[depth + 1, place] = bench.rest[depth, place]
            depth += 1
            for column in range(bench.begin[following], bench.begin[following + 1]):
                _add_pivot(depth, column, prior.curve, width, count, bench)
            _take_in(depth, count, bench)
            following += 1
        elif depth > 0:
            depth -= 1
            following = bench.path[depth] + 1
        else:
            break
    for child in range(count):
        bench.evidence[child] = bench.largest[child] + math.log(bench.sums[child]) - curved * math.log(2.0)


@inline_no_refcount
def _add_pivot(depth: int, column: int, precision: float, width: int, count: int, bench: Bench) -> None:
    """One more feature: the next row of the factor, and what it leaves of the children."""
    row, factor = bench.pivots[depth], bench.factor
    for place in range(column, width):
        factor[row, place] = bench.gram[column, place]
    for before in range(row):
        share = factor[before, column]
        for place in range(column, width):
            factor[row, place] -= share * factor[before, place]
    # Rounding may leave less than the prior has; never less than that.
    square = max(factor[row, column], 0.0) + precision
    scale = 1.0 / math.sqrt(square)
    factor[row, column] = square * scale
    for place in range(column + 1, width):
        factor[row, place] *= scale
    rest = bench.rest[depth]
    for child in range(count):
        at, first = bench.place[child], bench.column[child]
        for own in range(first, first + bench.design.lines[bench.children[child]]):
            for other in range(first, own + 1):
                rest[at] -= factor[row, own] * factor[row, other]
                at += 1
    bench.pivots[depth] += 1
    bench.log_determinant[depth] += math.log(square / precision)


@inline_no_refcount
def _take_in(depth: int, count: int, bench: Bench) -> None:
    """Add the evidence of one set of curves to the average of every child."""
    rest, block, design = bench.rest[depth], bench.block, bench.design
    for child in range(count):
        column, at = bench.children[child], bench.place[child]
        width = design.lines[column]
        if width == 1:
            log_left = math.log(1.0 + max(rest[at], 0.0))
        else:
            log_left = 0.0
            for row in range(width):
                for place in range(row + 1):
                    entry = rest[at] + (1.0 if place == row else 0.0)
                    at += 1
                    for before in range(place):
                        entry -= block[row, before] * block[place, before]
                    if place < row:
                        block[row, place] = entry / block[place, place]
                    else:
                        block[row, row] = math.sqrt(max(entry, 1.0))
                        log_left += 2.0 * math.log(block[row, row])
        value = design.constants[column] - width / 2.0 * bench.log_determinant[depth]
        value -= (width + 1.0 + design.observations) / 2.0 * log_left
        if value > bench.largest[child]:
            bench.sums[child] = bench.sums[child] * math.exp(bench.largest[child] - value) + 1.0
            bench.largest[child] = value
        else:
            bench.sums[child] += math.exp(value - bench.largest[child])
