"""Log determinants of every small principal submatrix: the kernel under the score of continuous data.

The sets are walked depth-first as in `dagpost.scores.counting`; adding a node to a set is one new row of its
Cholesky factor. Time: about `size^2` per set.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import kernel
from dagpost.scores.set_functions import Target, Task, insert_sorted, write_set


@kernel
def determinant_sets(
    matrix: Floats, floor: float, constants: Floats, factors: Floats, target: Target, task: Task, cancel: Integers
) -> None:
    """Write `constants[size] - factors[size] * log det` of the submatrix of each set of one task.

    No pivot of the matrix is below `floor` in exact arithmetic, so none is taken to be.
    """
    top, first, last = task
    levels = target.max_size + 1
    members = np.zeros(levels, np.int64)
    cholesky = np.zeros((levels, levels), np.float64)
    log_determinant = np.zeros(levels, np.float64)
    nodes = np.zeros((levels, levels), np.int64)
    next_node = np.zeros(levels, np.int64)
    if top == 0:
        target.base[0, 0] = constants[0]
    level = 0
    next_node[0] = top
    while level >= 0:
        node = next_node[level]
        lowest = top if level == 0 else (last if level == 1 else 0)
        if node < lowest:
            level -= 1
            continue
        if cancel[0] != 0:
            return
        next_node[level] = node - 1
        size = level + 1
        pivot = matrix[node, node]
        for column in range(level):
            entry = matrix[node, members[column]]
            for before in range(column):
                entry -= cholesky[level, before] * cholesky[column, before]
            entry /= cholesky[column, column]
            cholesky[level, column] = entry
            pivot -= entry * entry
        pivot = max(pivot, floor)
        members[level] = node
        cholesky[level, level] = math.sqrt(pivot)
        log_determinant[size] = log_determinant[level] + math.log(pivot)
        insert_sorted(nodes[level], level, node, nodes[size])
        if size > 1 or first == top - 1:
            value = constants[size] - factors[size] * log_determinant[size]
            number = write_set(nodes[size], size, value, target)
            if size < target.max_size:
                target.base[0, number] = value
        if size < target.max_size:
            level = size
            next_node[level] = first if size == 1 else node - 1
