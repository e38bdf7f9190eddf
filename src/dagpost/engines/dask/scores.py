"""The sums behind the scores of discrete data, as tasks of a cluster: each counts some ranges of sets of columns.

The ranges are those of scores/set_functions.py, dealt out in groups of about equal work; a task counts as a thread
does, so the scores are the same to the last bit. A task has the distinct rows and returns a number for each of its
sets: 8 bytes per set and variant come back in all. Counting that takes a second or so stays with the threads.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost.engines.dask.cluster import Cluster, no_cancel, writeable
from dagpost.families.numbering import family_count
from dagpost.scores.cells import CellFunction
from dagpost.scores.counting import count_sets, scratch_pool
from dagpost.scores.rows import Rows
from dagpost.scores.set_functions import Task, target_of, tasks_of

#: Rows times sets that are worth a cluster: some seconds on one core.
_LEAST_WORK = 2_000_000_000
_GROUPS_PER_THREAD = 4


def sum_cells(
    cluster: Cluster, rows: Rows, cells: CellFunction, max_size: int, *, least_work: int = _LEAST_WORK
) -> Floats | None:
    """Row 0: `A` of every set of at most `max_size` columns, by its number; then the variants of `B`.

    None where the rows times the sets are fewer than `least_work`.
    """
    nodes = len(rows.order)
    sets = family_count(nodes, max_size)
    if rows.weights.size * sets < least_work:
        return None
    tasks = tasks_of(nodes, max_size)
    count = min(_GROUPS_PER_THREAD * cluster.threads(), len(tasks))
    shared = cluster.hand_over("rows", (rows, cells))
    futures = [cluster.submit("scores", _sums_of, shared, max_size, tasks[group::count]) for group in range(count)]
    totals = np.zeros((1 + cells.penalties.size, sets))
    for future in futures:
        numbers, values = cluster.result(future)
        totals[:, numbers] = values
    return totals


def _sums_of(shared: tuple[Rows, CellFunction], max_size: int, tasks: list[Task]) -> tuple[Integers, Floats]:
    """The numbers of the sets of some tasks, and their sums."""
    rows, cells = Rows._make(map(_owned, shared[0])), CellFunction._make(map(_owned, shared[1]))
    nodes, variants = len(rows.order), cells.penalties.size
    values = np.full((nodes, family_count(nodes - 1, max_size - 1)), np.nan)
    target = target_of(values, nodes, {node: node for node in range(nodes)}, max_size - 1, variants)
    target.base[:] = np.nan
    scratch = scratch_pool(rows, max_size, 1).get()
    for task in tasks:
        count_sets(*task, cells, target, scratch, no_cancel())
    totals = np.full((1 + variants, family_count(nodes, max_size)), np.nan)
    totals[1:, : target.base.shape[1]] = target.base
    for node in range(nodes):
        _copy_sets_below(values[node], node, nodes, max_size, totals[0])
    numbers = np.flatnonzero(~np.isnan(totals).all(axis=0))
    return numbers, totals[:, numbers]


def _copy_sets_below(scores: Floats, node: int, nodes: int, max_size: int, sums: Floats) -> None:
    """`A` of the sets whose largest node is `node`: parent sets below it come first in each size."""
    for size in range(max_size):
        count = comb(node, size)
        begin = family_count(nodes - 1, size - 1) if size else 0
        into = family_count(nodes, size) + comb(node, size + 1)
        sums[into : into + count] = scores[begin : begin + count]


def _owned(value: Any) -> Any:
    return writeable(value) if isinstance(value, np.ndarray) else value
