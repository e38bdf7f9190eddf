"""The additive score of every family: regressions first, then one pass over all sets of columns.

Each set of parents is regressed on once, for all children together (additive_regression.py). The evidence `R(c | P)` of
a child waits in the entry of the result that its family has. Then `F` of every set is found from smaller ones,
`F(S) = log mean over c of exp[F(S - c) + R(c | S - c)]`, and takes the place of the evidences; `F(P)` is taken off at
the end (set_functions.py).

A task writes only its own entries and no sum crosses a task, so that threads change nothing, and a checkpoint may be
written after any of them.
"""

from __future__ import annotations

import math
import queue
from functools import partial
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.spelling import bare
from dagpost.data.table import Table
from dagpost.families.numbering import family_count
from dagpost.scores.additive_columns import Design, Features, design_of, features_of
from dagpost.scores.additive_regression import Bench, Precisions, bench_for, find_evidence
from dagpost.scores.set_functions import (
    Run,
    Target,
    Task,
    next_set,
    runs_of,
    subtract_bases,
    target_of,
    tasks_of,
    write_set,
)

if TYPE_CHECKING:
    from dagpost.scores.additive import Additive
    from dagpost.scores.base import Filling


class Others(NamedTuple):
    """Where the evidences of columns wait whose scores are not wanted: each has a row, -1 where they are.

    Of sets of as many columns as parents may be, only those with a wanted column count. Where the wanted ones are the
    last, these come last among the sets of their size: the first `skipped` have no place. A set has at most so many
    ordinary columns and indicators of regimes, which are `exclusive`, as `limits` says.
    """

    row: Integers
    values: Floats
    skipped: int
    exclusive: Flags
    limits: Integers


def others_for(table: Table, wanted: tuple[int, ...], max_parents: int) -> Others:
    """Room for the evidences of the columns that are not wanted."""
    columns = len(table.names)
    row, lowest = np.full(columns, -1, dtype=np.int64), columns - len(wanted)
    others = np.setdiff1d(np.arange(columns), wanted)
    row[others] = np.arange(len(others))
    skipped = comb(lowest - 1, max_parents) if lowest and sorted(wanted) == list(range(lowest, columns)) else 0
    width = family_count(columns - 1, max_parents) - skipped
    memory.require(
        8 * len(others) * width,
        f"Evidences of {len(others)} columns beside {len(wanted)} that are scored",
        f"Use a smaller {bare('max_parents')}, or leave the columns fewer candidates.",
    )
    limits = np.array((columns, columns) if table.limits is None else table.limits, dtype=np.int64)
    return Others(row, np.zeros((len(others), width)), skipped, table.exclusive, limits)


def fill_additive(score: Additive, asked: Filling) -> None:
    """Write the score of some columns with every set of parents."""
    table, nodes, max_parents, values, engine = asked[:5]
    columns, features, prior = len(table.names), features_of(table), precisions_of(score)
    runs, tasks = runs_of(table.interventions, columns, nodes), tasks_of(columns, max(max_parents, 1))
    with asked.reporter.stage("local scores", len(runs) * (len(tasks) + 1) + len(nodes)) as stage:
        for number, run in enumerate(runs):
            others = others_for(table, run.nodes, max_parents)
            target = target_of(values, columns, {node: nodes.index(node) for node in run.nodes}, max_parents, 1)
            written = [*(values[nodes.index(node)] for node in run.nodes), others.values]
            saved = asked.checkpoint.stage(f"local scores, run {number}", tasks, running=partial(list, written))
            stage.advance(len(saved.finished))
            benches = benches_for(design_of_run(table, features, run), prior, max_parents, engine.workers)
            visit = partial(_visit, others, target, benches)
            for _ in saved.run(engine, visit, [*saved.finished, *saved.left]):
                stage.advance(1)
            for _ in engine.run(partial(_join_all, others, target), [number]):
                stage.advance(1)
            subtract_bases(dict.fromkeys(run.nodes, 0), target, engine, stage)


def precisions_of(score: Additive) -> Precisions:
    """The prior of a score as the regressions take it."""
    return Precisions(1.0 / score.slope_variance, 1.0 / score.curve_variance)


def design_of_run(table: Table, features: Features, run: Run) -> Design:
    """The sums over the rows that count for the columns of a run."""
    return design_of(table, features, np.ones(table.rows, dtype=np.bool_) if run.observed is None else run.observed)


def benches_for(design: Design, prior: Precisions, max_parents: int, workers: int) -> queue.SimpleQueue[Bench]:
    """Room for every thread."""
    benches: queue.SimpleQueue[Bench] = queue.SimpleQueue()
    for _ in range(max(workers, 1)):
        benches.put(bench_for(design, prior, max_parents))
    return benches


def _join_all(others: Others, target: Target, _: int, cancel: Integers) -> None:
    _join(others, target, cancel)


def _visit(others: Others, target: Target, benches: queue.SimpleQueue[Bench], task: Task, cancel: Integers) -> None:
    bench = benches.get()
    try:
        _regress(*task, others, target, bench, cancel)
    finally:
        benches.put(bench)


@kernel
def _regress(top: int, first: int, last: int, others: Others, target: Target, bench: Bench, cancel: Integers) -> None:
    """The evidences of a task, for sets of parents by their two highest columns (set_functions.py)."""
    most = target.max_size - 1
    path = np.zeros(most + 2, dtype=np.int64)
    path[0] = top
    if top == 0:
        _regress_on(path, 0, others, target, bench)
    if most > 0 and first == top - 1:
        _regress_on(path, 1, others, target, bench)
    size, following = 1, first
    while most > 1 and cancel[0] == 0:
        if size < most and following >= (last if size == 1 else 0):
            path[size] = following
            if _is_of_interest(path, size + 1, others):
                size += 1
                _regress_on(path, size, others, target, bench)
            following -= 1
        elif size > 1:
            size -= 1
            following = path[size] - 1
        else:
            return


@inline_no_refcount
def _is_of_interest(path: Integers, size: int, others: Others) -> bool:
    """Whether a set is a parent set of interest, or one with its child in the place of an indicator."""
    indicators = _indicators(path, size, others)
    return bool(size - indicators <= others.limits[0] + 1 and indicators <= others.limits[1])


@inline_no_refcount
def _indicators(path: Integers, size: int, others: Others) -> int:
    """How many columns of a set are indicators of regimes."""
    found = 0
    for place in range(size):
        found += 1 if others.exclusive[path[place]] else 0
    return found


@inline_no_refcount
def _regress_on(path: Integers, size: int, others: Others, target: Target, bench: Bench) -> None:
    """Regress every column that may need it on a set, whose columns stand from the highest down."""
    wanted, count = size < target.max_size - 1, 0
    crowded = size - _indicators(path, size, others) > others.limits[0]
    for place in range(size):
        wanted = wanted or target.row[path[place]] >= 0
    for child in range(target.row.size):
        own = (wanted or target.row[child] >= 0) and (not crowded or others.exclusive[child])
        for place in range(size):
            own = own and path[place] != child
        if own:
            bench.children[count] = child
            count += 1
    if count == 0:
        return
    find_evidence(path, size, count, bench)
    for place in range(count):
        child = bench.children[place]
        number = target.parent_offset[size]
        for rank in range(size):
            # Columns above the child are numbered one lower without it.
            member = path[size - 1 - rank]
            number += target.binomial[member - (1 if member > child else 0), rank + 1]
        if target.row[child] >= 0:
            target.values[target.row[child], number] = bench.evidence[place]
        else:
            number -= others.skipped if size == target.max_size - 1 else 0
            others.values[others.row[child], number] = bench.evidence[place]


@kernel
def _join(others: Others, target: Target, cancel: Integers) -> None:
    """`F` of every set, from the evidences that wait in the entries of its families; then it takes their place."""
    universe, number = target.row.size, 0
    nodes, terms = np.empty(target.max_size + 1, dtype=np.int64), np.empty(target.max_size + 1)
    for size in range(min(target.max_size, universe) + 1):
        for place in range(size):
            nodes[place] = place
        more = True
        while more:
            if cancel[0] != 0:
                return
            wanted = size < target.max_size
            for rank in range(size):
                wanted = wanted or target.row[nodes[rank]] >= 0
            if wanted:
                value = _join_set(nodes, size, terms, others, target) if size > 0 else 0.0
                if size < target.max_size:
                    target.base[0, number] = value
                write_set(nodes, size, value, target)
            number += 1
            more = next_set(nodes, size, universe)


@inline_no_refcount
def _join_set(nodes: Integers, size: int, terms: Floats, others: Others, target: Target) -> float:
    """The mean over the columns of a set: what is known of the others, and of this one given them."""
    above, without = np.int64(0), np.int64(0)
    for rank in range(1, size):
        above += target.binomial[nodes[rank] - 1, rank]
        without += target.binomial[nodes[rank], rank]
    below = np.int64(0)
    for rank in range(size):
        node = nodes[rank]
        family = target.parent_offset[size - 1] + below + above
        terms[rank] = target.base[0, target.node_offset[size - 1] + below + without]
        if target.row[node] >= 0:
            terms[rank] += target.values[target.row[node], family]
        else:
            family -= others.skipped if size == target.max_size else 0
            terms[rank] += others.values[others.row[node], family]
        below += target.binomial[node, rank + 1]
        if rank + 1 < size:
            above -= target.binomial[nodes[rank + 1] - 1, rank + 1]
            without -= target.binomial[nodes[rank + 1], rank + 1]
    return log_mean(terms, size)


@inline_no_refcount
def log_mean(terms: Floats, count: int) -> float:
    """The log of the mean of what some logs stand for."""
    largest, total = -math.inf, 0.0
    for place in range(count):
        largest = max(largest, terms[place])
    for place in range(count):
        total += math.exp(terms[place] - largest)
    return largest + math.log(total / count)
