"""Of which parts a regression on some parents is made: their features, and the numbers by which it is evaluated.

Each parent brings its lines and curve; each pair of parents brings products of these, so that what one does may depend
on the other. A part has `features` columns in the matrix of the regression, and `numbers` behind the intercept from
which it is evaluated at any values of the parents: the coefficients of a spline, or what each level adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.local.margins import IN_ORDER, NUMBER, UNORDERED, Features, Margins, spline_at

#: Kinds of parts: a curve, what levels add; products of two numbers, of two lines, of a line (with its bend) and a
#: line, of levels and a line, of levels and levels.
CURVE, TABLE, NUMBERS, LINES, BENT, SLOPES, TABLES = range(7)
#: Products see no score farther out than this.
_FARTHEST = 8.0
#: Pairs of levels in no order with more combinations than this have no products.
_MOST_PAIRED = 12
_ROOT = float(np.sqrt(0.5))


class Part(NamedTuple):
    """A part of a regression: one parent, or two, and how many features and numbers it has.

    `free`: the coefficients of the first few features are hardly shrunk.
    """

    kind: int
    first: int
    second: int
    features: int
    numbers: int
    free: int


def parts_of(parents: Sequence[int], margins: Margins, features: Sequence[Features]) -> list[Part]:
    """The parts of a regression on some columns."""
    parts = []
    for parent in parents:
        own = features[parent]
        kind = CURVE if margins.kinds[parent] == NUMBER else TABLE
        parts.append(Part(kind, parent, -1, own.matrix.shape[1], own.basis.shape[0], own.lines))
    for place, first in enumerate(parents):
        for second in parents[place + 1 :]:
            part = _pair(first, second, margins, features)
            if part is not None:
                parts.append(part)
    return parts


def _pair(first: int, second: int, margins: Margins, features: Sequence[Features]) -> Part | None:
    # Numbers come before levels in an order, those after levels in none.
    rank = {UNORDERED: 0, NUMBER: 1, IN_ORDER: 2}
    first, second = sorted((first, second), key=lambda column: rank[int(margins.kinds[column])])
    kinds = int(margins.kinds[first]), int(margins.kinds[second])
    if kinds[0] == UNORDERED:
        own, other = features[first].matrix.shape[1], features[second].matrix.shape[1]
        if kinds[1] != UNORDERED:
            return Part(SLOPES, first, second, own, int(margins.arities[first]), 0) if own else None
        if not 0 < own * other <= _MOST_PAIRED:
            return None
        return Part(TABLES, first, second, own * other, int(margins.arities[first] * margins.arities[second]), 0)
    if kinds[0] == NUMBER:
        count = 3 if kinds[1] == NUMBER else 2
        return Part(NUMBERS if kinds[1] == NUMBER else BENT, first, second, count, count, 0)
    return Part(LINES, first, second, 1, 1, 0)


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
    own = features[part.first]
    if part.second < 0:
        return own.matrix[own.codes[rows]]
    other = features[part.second]
    if part.kind == TABLES:
        first, second = own.matrix[own.codes[rows]], other.matrix[other.codes[rows]]
        return (first[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(len(rows), -1)
    line = np.clip(other.matrix[:, 0], -_FARTHEST, _FARTHEST)[other.codes[rows]][:, np.newaxis]
    if part.kind == SLOPES:
        return own.matrix[own.codes[rows]] * line
    first = np.clip(own.matrix[:, 0], -_FARTHEST, _FARTHEST)[own.codes[rows]][:, np.newaxis]
    columns = [first * line]
    if part.kind != LINES:
        columns.append((first**2 - 1.0) * _ROOT * line)
    if part.kind == NUMBERS:
        columns.append(first * (line**2 - 1.0) * _ROOT)
    return np.hstack(columns)


def numbers_matrix(parts: Sequence[Part], features: Sequence[Features]) -> Floats:
    """What takes the coefficients of the features, intercept first, to the numbers of the parts, intercept first."""
    height, width = 1 + sum(part.numbers for part in parts), 1 + sum(part.features for part in parts)
    matrix = np.zeros((height, width))
    matrix[0, 0] = 1.0
    row, column = 1, 1
    for part in parts:
        block: Any = np.eye(part.features)
        if part.kind in (CURVE, TABLE, SLOPES):
            block = features[part.first].basis
        elif part.kind == TABLES:
            block = np.kron(features[part.first].basis, features[part.second].basis)
        matrix[row : row + part.numbers, column : column + part.features] = block
        row, column = row + part.numbers, column + part.features
    return matrix


class Form(NamedTuple):
    """The parts of a regression as kernels read them: `firsts` and `seconds` are places among the parents.

    `numbers` says how many numbers each part is evaluated from.
    """

    parents: Integers
    kinds: Integers
    firsts: Integers
    seconds: Integers
    numbers: Integers


def form_of(parts: Sequence[Part], parents: Sequence[int]) -> Form:
    """The form of a regression on some parents, ascending."""
    place = {parent: at for at, parent in enumerate(parents)} | {-1: -1}
    columns = np.array(
        [(part.kind, place[part.first], place[part.second], part.numbers) for part in parts], dtype=np.int64
    )
    return Form(np.array(parents, dtype=np.int64), *np.ascontiguousarray(columns.reshape(-1, 4).T))


@inline_no_refcount
def predictor_at(form: Form, margins: Margins, values: Floats, scores: Floats, theta: Floats, begin: int) -> float:
    """A regression at some values of its parents; `theta` has its numbers from `begin` on, intercept first."""
    total: float = theta[begin]
    at = begin + 1
    for part in range(len(form.kinds)):
        kind, first, second = form.kinds[part], form.firsts[part], form.seconds[part]
        if kind == CURVE:
            total += spline_at(margins, form.parents[first], scores[first], theta, at)
        elif kind == TABLE:
            total += theta[at + int(values[first])]
        elif kind == TABLES:
            total += theta[at + int(values[first]) * margins.arities[form.parents[second]] + int(values[second])]
        else:
            line = min(max(scores[second], -_FARTHEST), _FARTHEST)
            if kind == SLOPES:
                total += theta[at + int(values[first])] * line
            else:
                own = min(max(scores[first], -_FARTHEST), _FARTHEST)
                total += theta[at] * own * line
                if kind != LINES:
                    total += theta[at + 1] * (own * own - 1.0) * _ROOT * line
                if kind == NUMBERS:
                    total += theta[at + 2] * own * (line * line - 1.0) * _ROOT
        at += form.numbers[part]
    return total
