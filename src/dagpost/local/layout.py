"""Of which parts a regression on some parents is made: their features, and the numbers by which it is evaluated.

Each parent brings its lines and curve; two parents, and three, bring products of these, so that what one does may
depend on the others. A number enters a product by Hermite polynomials of its score, levels in no order by a contrast
each. A part has `features` columns in the matrix of the regression, and `numbers` behind the intercept from which it
is evaluated at any values of the parents: the coefficients of a spline, or what each level adds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.local.margins import NUMBER, UNORDERED, Features, Margins, score_at, spline_at

#: Kinds of parts: a curve, what levels add, a product of two or three columns.
CURVE, TABLE, PRODUCT = range(3)
#: Products see no score farther out than this.
_FARTHEST = 8.0
#: The degrees of a product sum to this at most (a contrast has one); of one number among two columns, and among three.
_MOST_DEGREES, _OF_TWO, _OF_THREE = 4, 3, 1
#: Two columns of levels, and three columns of any kind, with more features than this have no product.
_MOST_TOGETHER = 12


class Part(NamedTuple):
    """A part of a regression: one parent, or the product of several, and how many features and numbers it has.

    `free`: the coefficients of the first few features are hardly shrunk. A product lists columns of levels in no order
    first, and has a term for each way to give the others their `degrees`.
    """

    kind: int
    columns: tuple[int, ...]
    features: int
    numbers: int
    free: int = 0
    degrees: tuple[tuple[int, ...], ...] = ()


def parts_of(parents: Sequence[int], margins: Margins, features: Sequence[Features]) -> list[Part]:
    """The parts of a regression on some columns."""
    parts = []
    for parent in parents:
        own = features[parent]
        kind = CURVE if margins.kinds[parent] == NUMBER else TABLE
        parts.append(Part(kind, (parent,), own.matrix.shape[1], own.basis.shape[0], own.lines))
    for count in (2, 3):
        products = (_product(columns, margins, features) for columns in combinations(parents, count))
        parts += [part for part in products if part is not None]
    return parts


def _product(columns: Sequence[int], margins: Margins, features: Sequence[Features]) -> Part | None:
    levels = [column for column in columns if margins.kinds[column] == UNORDERED]
    others = [column for column in columns if margins.kinds[column] != UNORDERED]
    most = _OF_TWO if len(columns) == 2 else _OF_THREE
    ways = product(*(range(1, 1 + (most if margins.kinds[column] == NUMBER else 1)) for column in others))
    degrees = tuple(way for way in ways if sum(way) + len(levels) <= _MOST_DEGREES)
    contrasts = math.prod(features[column].matrix.shape[1] for column in levels)
    few = contrasts * len(degrees) <= _MOST_TOGETHER
    if not contrasts or not (few or (len(columns) == 2 and others)):
        return None
    cells = math.prod(int(margins.arities[column]) for column in levels)
    return Part(PRODUCT, (*levels, *others), contrasts * len(degrees), cells * len(degrees), degrees=degrees)


def feature_matrix(parts: Sequence[Part], features: Sequence[Features], rows: Integers) -> Floats:
    """The features in some rows, behind a column of ones."""
    width = 1 + sum(part.features for part in parts)
    matrix = np.ones((len(rows), width))
    at = 1
    for part in parts:
        matrix[:, at : at + part.features] = _features_of(part, features, rows)
        at += part.features
    return matrix


def _features_of(part: Part, features: Sequence[Features], rows: Integers) -> Floats:
    seen = [features[column].matrix[features[column].codes[rows]] for column in part.columns]
    if part.kind != PRODUCT:
        return seen[0]
    levels = len(part.columns) - len(part.degrees[0])
    terms = np.stack(
        [
            math.prod(
                (_polynomials(own[:, 0])[degree] for own, degree in zip(seen[levels:], way, strict=True)),
                start=np.ones(len(rows)),
            )
            for way in part.degrees
        ],
        axis=1,
    )
    result: Floats = reduce(_times, [*seen[:levels], terms])
    return result


def _polynomials(scores: Floats) -> tuple[Floats, ...]:
    """Hermite's, of variance 1 where scores are normal."""
    x = np.clip(scores, -_FARTHEST, _FARTHEST)
    return np.ones(len(x)), x, (x**2 - 1.0) / math.sqrt(2.0), (x**3 - 3.0 * x) / math.sqrt(6.0)


def _times(first: Floats, second: Floats) -> Floats:
    """All products of two features of a row, those of the second side by side."""
    return (first[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(len(first), -1)


def numbers_matrix(parts: Sequence[Part], features: Sequence[Features]) -> Floats:
    """What takes the coefficients of the features, intercept first, to the numbers of the parts, intercept first."""
    height, width = 1 + sum(part.numbers for part in parts), 1 + sum(part.features for part in parts)
    matrix = np.zeros((height, width))
    matrix[0, 0] = 1.0
    row, column = 1, 1
    for part in parts:
        blocks: list[Any] = [features[own].basis for own in part.columns]
        if part.kind == PRODUCT:
            levels = len(part.columns) - len(part.degrees[0])
            blocks = [*blocks[:levels], np.eye(len(part.degrees))]
        matrix[row : row + part.numbers, column : column + part.features] = reduce(np.kron, blocks)
        row, column = row + part.numbers, column + part.features
    return matrix


class Form(NamedTuple):
    """The parts of a regression as kernels read them.

    `members` are places among the parents (parts, 3), -1 where there are fewer; `levels` says how many of them have
    levels in no order. A part is evaluated from `numbers`; `terms` says where its ways to share degrees begin in
    `degrees` (terms, 3), which has those of levels, all 0, too.
    """

    parents: Integers
    kinds: Integers
    members: Integers
    levels: Integers
    numbers: Integers
    terms: Integers
    degrees: Integers


def form_of(parts: Sequence[Part], parents: Sequence[int]) -> Form:
    """The form of a regression on some parents, ascending."""
    place = {parent: at for at, parent in enumerate(parents)}
    members = [[place[column] for column in part.columns] + [-1] * (3 - len(part.columns)) for part in parts]
    levels = [len(part.columns) - len(part.degrees[0]) if part.degrees else 0 for part in parts]
    degrees = [
        [0] * count + list(way) + [0] * (3 - count - len(way))
        for part, count in zip(parts, levels, strict=True)
        for way in part.degrees
    ]
    terms = np.cumsum([0, *(len(part.degrees) for part in parts)])
    rest = [[part.kind for part in parts], members, levels, [part.numbers for part in parts], terms, degrees]
    shapes = [(-1,), (-1, 3), (-1,), (-1,), (-1,), (-1, 3)]
    arrays = [np.array(own, dtype=np.int64).reshape(shape) for own, shape in zip(rest, shapes, strict=True)]
    return Form(np.array(parents, dtype=np.int64), *arrays)


@kernel
def predict(form: Form, margins: Margins, values: Floats, theta: Floats, begin: int, result: Floats) -> None:
    """A regression at values of its parents (parents, draws, rows); `theta` has its numbers from `begin` on.

    Where values or parameters have one draw, that holds for all. Rows are innermost: a processor takes several at once.
    """
    parents, given, rows = values.shape
    scores, powers = np.empty((parents, rows)), np.empty((_OF_TWO, parents, rows))
    cells, shown = np.empty(rows, dtype=np.int64), np.empty(rows)
    for draw in range(len(result)):
        seen, own, total = values[:, min(draw, given - 1)], theta[min(draw, len(theta) - 1)], result[draw]
        if draw < given:
            _find_scores(form, margins, values, draw, scores, powers)
        total[:] = own[begin]
        at = begin + 1
        for part in range(len(form.kinds)):
            kind, first = form.kinds[part], form.members[part, 0]
            if kind == CURVE:
                for row in range(rows):
                    total[row] += spline_at(margins, form.parents[first], scores[first, row], own, at)
            elif kind == TABLE:
                for row in range(rows):
                    total[row] += own[at + int(seen[first, row])]
            else:
                _find_cells(form, margins, part, seen, cells)
                count = form.terms[part + 1] - form.terms[part]
                for term in range(count):
                    for row in range(rows):
                        shown[row] = own[at + cells[row] * count + term]
                    for member in range(form.levels[part], 3):
                        degree = form.degrees[form.terms[part] + term, member]
                        if degree > 0:
                            parent = form.members[part, member]
                            for row in range(rows):
                                shown[row] *= powers[degree - 1, parent, row]
                    for row in range(rows):
                        total[row] += shown[row]
            at += form.numbers[part]


@inline_no_refcount
def _find_scores(form: Form, margins: Margins, values: Floats, draw: int, scores: Floats, powers: Floats) -> None:
    """The score of each value, and the polynomials of it; a row that is as in the draw before keeps what it has."""
    for parent in range(values.shape[0]):
        for row in range(values.shape[2]):
            value = values[parent, draw, row]
            if draw > 0 and value == values[parent, draw - 1, row]:
                continue
            score = score_at(margins, form.parents[parent], value)
            scores[parent, row] = score
            x = min(max(score, -_FARTHEST), _FARTHEST)
            powers[0, parent, row] = x
            powers[1, parent, row] = (x * x - 1.0) / math.sqrt(2.0)
            powers[2, parent, row] = (x * x * x - 3.0 * x) / math.sqrt(6.0)


@inline_no_refcount
def _find_cells(form: Form, margins: Margins, part: int, values: Floats, cells: Integers) -> None:
    """Which combination of the levels in a product each row has."""
    for row in range(len(cells)):
        cells[row] = 0
        for member in range(form.levels[part]):
            own = form.members[part, member]
            cells[row] = cells[row] * margins.arities[form.parents[own]] + int(values[own, row])
