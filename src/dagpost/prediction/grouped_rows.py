"""Rows of numbers in groups, such as those with the same levels: how many, their means and their scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import kernel


class GroupedRows(NamedTuple):
    """By group: the number of rows, their means (groups, columns), and the scatter around them."""

    observations: Floats
    means: Floats
    scatters: Floats


def combinations_of(codes: Sequence[NDArray[Any]], arities: Sequence[int], rows: int) -> Integers:
    """The combination of levels of each row, as a number whose digits are the codes of the columns, the first first.

    >>> combinations_of([np.array([0, 1]), np.array([2, 1])], [2, 3], 2).tolist()
    [2, 4]
    """
    result = np.zeros(rows, dtype=np.int64)
    for own, arity in zip(codes, arities, strict=True):
        result = result * arity + own
    return result


def grouped_rows(data: Floats, weights: Floats, member: NDArray[Any], groups: int) -> GroupedRows:
    """The rows of each group; `member` says which one each row is in."""
    columns = data.shape[1]
    found = GroupedRows(np.zeros(groups), np.zeros((groups, columns)), np.zeros((groups, columns, columns)))
    # Sums of large numbers that hardly differ would lose what they differ by.
    shift = data.mean(axis=0) if len(data) else np.zeros(columns)
    _add_up(data - shift, weights, member.astype(np.int64), *found)
    found.means[found.observations > 0] += shift
    return found


@kernel
def _add_up(
    data: Floats, weights: Floats, member: Integers, observations: Floats, means: Floats, scatters: Floats
) -> None:
    """In two passes, so that nothing is lost to rounding."""
    columns = data.shape[1]
    for row in range(len(data)):
        observations[member[row]] += weights[row]
        for column in range(columns):
            means[member[row], column] += weights[row] * data[row, column]
    for group in range(len(observations)):
        if observations[group] > 0.0:
            for column in range(columns):
                means[group, column] /= observations[group]
    for row in range(len(data)):
        mean = means[member[row]]
        scatter = scatters[member[row]]
        for column in range(columns):
            weighted = weights[row] * (data[row, column] - mean[column])
            for other in range(columns):
                scatter[column, other] += weighted * (data[row, other] - mean[other])
