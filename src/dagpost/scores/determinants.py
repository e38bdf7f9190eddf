"""Log determinants of small principal submatrices: the kernels under the score of continuous data.

The sets are walked depth-first as in `dagpost.scores.counting`; adding a node to a set is one new row of its
Cholesky factor. Time: about `size^2` per set.

The matrices are the prior's, which is the identity, plus what the data add, and only the latter is passed: a strong
prior is no reason to lose the digits of a little data. So every pivot is one and an *excess*, which is never negative
in exact arithmetic, and is not taken to be.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.considered_sets import Members
from dagpost.scores.cells import log_rising
from dagpost.scores.cholesky import next_row
from dagpost.scores.set_functions import (
    Target,
    Task,
    below_top,
    can_be_parents,
    can_go_on,
    insert_sorted,
    is_unwanted,
    write_set,
)


@inline_no_refcount
def log_pivot(excess: float) -> float:
    """The log of one and an excess; beyond one, the quicker logarithm has all the digits."""
    return math.log(1.0 + excess) if excess > 1.0 else math.log1p(excess)


@inline_no_refcount
def write_constants(
    observations: float, mean_weight: float, spare: float, most: int, constants: Floats, factors: Floats
) -> None:
    """By the size of a set, up to `most`: what the data do not change, and half the posterior degrees of freedom.

    `spare` has the degrees of freedom of the prior above the number of columns and one.
    """
    each = -(math.log1p(observations / mean_weight) + observations * math.log(math.pi)) / 2
    total = 0.0
    for size in range(most + 1):
        before = (spare + 1 + size) / 2
        if size > 0:
            total += each + log_rising(before, observations / 2)
        constants[size] = total
        factors[size] = before + observations / 2


@kernel
def size_constants(observations: float, mean_weight: float, spare: float, constants: Floats, factors: Floats) -> None:
    """The same for all sizes that there is room for."""
    write_constants(observations, mean_weight, spare, len(constants) - 1, constants, factors)


@kernel
def determinant_sets(
    matrix: Floats,
    order: Integers,
    constants: Floats,
    factors: Floats,
    target: Target,
    task: Task,
    cancel: Integers,
) -> None:
    """Write `constants[size] - factors[size] * log det` of the submatrix of each set of one task.

    Row `p` of the matrix belongs to the node `order[p]`.
    """
    top, first, last = task
    levels = target.max_size + 1
    members = np.zeros(levels, np.int64)
    cholesky = np.zeros((levels, levels), np.float64)
    log_determinant = np.zeros(levels, np.float64)
    nodes = np.zeros((levels, levels), np.int64)
    next_position = np.zeros(levels, np.int64)
    has_wanted = np.zeros(levels, np.bool_)
    if top == 0:
        target.base[0, 0] = constants[0]
    if is_unwanted(top, order[top], target):
        return
    level = 0
    next_position[0] = top
    while level >= 0:
        position = next_position[level]
        lowest = top if level == 0 else (last if level == 1 else 0)
        if position < lowest:
            level -= 1
            continue
        next_position[level] = position - 1
        size = level + 1
        node = order[position]
        wanted = has_wanted[level] or target.row[node] >= 0
        if size == target.max_size and not wanted:
            continue
        if cancel[0] != 0:
            return
        excess = max(next_row(matrix, cholesky, members, level, position, cholesky[level]), 0.0)
        members[level] = position
        has_wanted[size] = wanted
        cholesky[level, level] = math.sqrt(1.0 + excess)
        log_determinant[size] = log_determinant[level] + log_pivot(excess)
        insert_sorted(nodes[level], level, node, nodes[size])
        if size > 1 or first == below_top(top, target):
            value = constants[size] - factors[size] * log_determinant[size]
            number = write_set(nodes[size], size, value, target)
            if can_be_parents(size, wanted, target):
                target.base[0, number] = value
        if can_go_on(size, position, wanted, target):
            level = size
            next_position[level] = first if size == 1 else position - 1


@kernel
def add_determinants(
    matrix: Floats,
    constants: Floats,
    factors: Floats,
    first: int,
    end: int,
    members: Members,
    wanted: Flags,
    values: Floats,
    cancel: Integers,
) -> None:
    """Add `constants[size] - factors[size] * log det` of the submatrix of each wanted set from `first` to `end`.

    A set has a row of columns, and the number of columns in the places that are left. The rows of the Cholesky factor
    are kept for what a set has in common with the one before it.
    """
    columns, most = len(matrix), members.shape[1]
    cholesky = np.zeros((most, most), np.float64)
    path = np.zeros(most, np.int64)
    log_determinants = np.zeros(most + 1, np.float64)
    size = 0
    for number in range(first, end):
        if not wanted[number]:
            continue
        if cancel[0] != 0:
            return
        common = 0
        while common < size and path[common] == members[number, common]:
            common += 1
        size = common
        while size < most and members[number, size] < columns:
            path[size] = members[number, size]
            excess = max(next_row(matrix, cholesky, path, size, path[size], cholesky[size]), 0.0)
            cholesky[size, size] = math.sqrt(1.0 + excess)
            log_determinants[size + 1] = log_determinants[size] + log_pivot(excess)
            size += 1
        values[number] += constants[size] - factors[size] * log_determinants[size]
