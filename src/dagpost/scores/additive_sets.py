"""The additive score of every family: regressions first, then one pass over all sets of columns.

Each set of parents is regressed on once, for all children together (additive_regression.py). The evidence `R(c | P)` of
a child waits in the entry of the result that its family has. Then `F` of every set is found from smaller ones,
`F(S) = log mean over c of exp[F(S - c) + R(c | S - c)]`, over the columns of the last stage in `S`, and takes the place
of the evidences; `F(P)` is taken off at the end (set_functions.py).

A task writes only its own entries and no sum crosses a task, so that threads change nothing, and a checkpoint may be
written after any of them.
"""

from __future__ import annotations

import math
import queue
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.progress import Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.data.table import Table
from dagpost.engines import Engine
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


class Needs(NamedTuple):
    """Which evidences are needed: of `modelled` children, with parents of no later `stage`.

    Of sets of as many columns as parents may be, only where they, or the child, are wanted. A set has at most so many
    ordinary columns and indicators of regimes, which are `exclusive`, as `limits` says.
    """

    modelled: Flags
    wanted: Flags
    stage: Integers
    exclusive: Flags
    limits: Integers


def needs_of(score: Additive, table: Table, wanted: tuple[int, ...]) -> Needs:
    """What the scores of some columns need.

    Where all of those come after every other column, what is known of the others before cancels.
    """
    columns, stage = len(table.names), score.stage_of(table.names)
    chosen = np.isin(np.arange(columns), wanted)
    last = stage[~chosen].max(initial=-1) < stage[chosen].min()
    limits = (columns, columns) if table.limits is None else table.limits
    return Needs(chosen if last else np.ones_like(chosen), chosen, stage, table.exclusive, np.array(limits))


def fill_additive(
    score: Additive,
    table: Table,
    nodes: tuple[int, ...],
    max_parents: int,
    values: Floats,
    engine: Engine,
    reporter: Reporter,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> None:
    """Write the score of some columns with every set of at most `max_parents` parents."""
    columns, features, prior = len(table.names), features_of(table), precisions_of(score)
    runs, tasks = runs_of(table.interventions, columns, nodes), tasks_of(columns, max(max_parents, 1))
    with reporter.stage("local scores", len(runs) * (len(tasks) + 1) + len(nodes)) as stage:
        for number, run in enumerate(runs):
            design, needs = design_of_run(table, features, run), needs_of(score, table, run.nodes)
            rows = np.flatnonzero(needs.modelled).tolist()
            # Columns that are not wanted have evidences too, and runs must not write over each other's scores.
            whole = values if rows == list(nodes) == list(run.nodes) else np.zeros((len(rows), values.shape[1]))
            row_of = {node: place for place, node in enumerate(rows)}
            target = target_of(whole, columns, row_of, max_parents, 1)
            saved = checkpoint.stage(f"local scores, run {number}", tasks, running=partial(_written, target))
            stage.advance(len(saved.finished))
            benches = benches_for(design, max_parents, engine.workers)
            visit = partial(_visit, design, needs, prior, target, benches)
            for _ in saved.run(engine, visit, [*saved.finished, *saved.left]):
                stage.advance(1)
            for _ in engine.run(partial(_join_all, needs, target), [number]):
                stage.advance(1)
            subtract_bases(dict.fromkeys(run.nodes, 0), target, engine, stage)
            if whole is not values:
                for node in run.nodes:
                    values[nodes.index(node)] = whole[row_of[node]]


def precisions_of(score: Additive) -> Precisions:
    """The prior of a score as the regressions take it."""
    return Precisions(1.0 / score.slope_variance, 1.0 / score.curve_variance)


def design_of_run(table: Table, features: Features, run: Run) -> Design:
    """The sums over the rows that count for the columns of a run."""
    return design_of(table, features, np.ones(table.rows, dtype=np.bool_) if run.observed is None else run.observed)


def benches_for(design: Design, max_parents: int, workers: int) -> queue.SimpleQueue[Bench]:
    """Room for every thread."""
    benches: queue.SimpleQueue[Bench] = queue.SimpleQueue()
    for _ in range(max(workers, 1)):
        benches.put(bench_for(design, max_parents))
    return benches


def _written(target: Target) -> list[Floats]:
    """What tasks write."""
    return [target.values]


def _join_all(needs: Needs, target: Target, _: int, cancel: Integers) -> None:
    _join(needs, target, cancel)


def _visit(
    design: Design,
    needs: Needs,
    prior: Precisions,
    target: Target,
    benches: queue.SimpleQueue[Bench],
    task: Task,
    cancel: Integers,
) -> None:
    bench = benches.get()
    try:
        _regress(*task, design, needs, prior, target, bench, cancel)
    finally:
        benches.put(bench)


@kernel
def _regress(
    top: int,
    first: int,
    last: int,
    design: Design,
    needs: Needs,
    prior: Precisions,
    target: Target,
    bench: Bench,
    cancel: Integers,
) -> None:
    """The evidences of a task, for sets of parents by their two highest columns (set_functions.py)."""
    most = target.max_size - 1
    path = np.zeros(most + 2, dtype=np.int64)
    path[0] = top
    if top == 0:
        _regress_on(path, 0, design, needs, prior, target, bench)
    if most > 0 and first == top - 1:
        _regress_on(path, 1, design, needs, prior, target, bench)
    size, following = 1, first
    while most > 1 and cancel[0] == 0:
        if size < most and following >= (last if size == 1 else 0):
            path[size] = following
            if _is_of_interest(path, size + 1, needs):
                size += 1
                _regress_on(path, size, design, needs, prior, target, bench)
            following -= 1
        elif size > 1:
            size -= 1
            following = path[size] - 1
        else:
            return


@inline_no_refcount
def _is_of_interest(path: Integers, size: int, needs: Needs) -> bool:
    """Whether a set has no more ordinary columns, and no more indicators, than parent sets of interest have."""
    indicators = 0
    for place in range(size):
        indicators += 1 if needs.exclusive[path[place]] else 0
    return size - indicators <= needs.limits[0] and indicators <= needs.limits[1]


@inline_no_refcount
def _regress_on(
    path: Integers, size: int, design: Design, needs: Needs, prior: Precisions, target: Target, bench: Bench
) -> None:
    """Regress every column that may need it on a set, whose columns stand from the highest down."""
    last_stage, wanted = np.int64(0), size < target.max_size - 1
    for place in range(size):
        wanted = wanted or needs.wanted[path[place]]
        last_stage = max(last_stage, needs.stage[path[place]])
    count = 0
    for child in range(needs.stage.size):
        own = needs.modelled[child] and needs.stage[child] >= last_stage and (wanted or needs.wanted[child])
        for place in range(size):
            own = own and path[place] != child
        if own:
            bench.children[count] = child
            count += 1
    if count == 0:
        return
    find_evidence(path, size, count, design, prior, bench)
    for place in range(count):
        child = bench.children[place]
        number = target.parent_offset[size]
        for rank in range(size):
            # Columns above the child are numbered one lower without it.
            member = path[size - 1 - rank]
            number += target.binomial[member - (1 if member > child else 0), rank + 1]
        target.values[target.row[child], number] = bench.evidence[place]


@kernel
def _join(needs: Needs, target: Target, cancel: Integers) -> None:
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
            last, wanted = np.int64(-1), size < target.max_size
            for rank in range(size):
                wanted = wanted or needs.wanted[nodes[rank]]
                last = max(last, needs.stage[nodes[rank]])
            if wanted:
                value = _join_set(nodes, size, last, terms, needs, target) if size > 0 else 0.0
                if size < target.max_size:
                    target.base[0, number] = value
                write_set(nodes, size, value, target)
            number += 1
            more = next_set(nodes, size, universe)


@inline_no_refcount
def _join_set(nodes: Integers, size: int, last: int, terms: Floats, needs: Needs, target: Target) -> float:
    """The mean over the columns of the last stage: what is known of the others, and of this one given them."""
    above, without = np.int64(0), np.int64(0)
    for rank in range(1, size):
        above += target.binomial[nodes[rank] - 1, rank]
        without += target.binomial[nodes[rank], rank]
    below, count = np.int64(0), 0
    for rank in range(size):
        node = nodes[rank]
        if needs.stage[node] == last and needs.modelled[node]:
            evidence = target.values[target.row[node], target.parent_offset[size - 1] + below + above]
            terms[count] = evidence + target.base[0, target.node_offset[size - 1] + below + without]
            count += 1
        below += target.binomial[node, rank + 1]
        if rank + 1 < size:
            above -= target.binomial[nodes[rank + 1] - 1, rank + 1]
            without -= target.binomial[nodes[rank + 1], rank + 1]
    return log_mean(terms, count) if count > 0 else 0.0


@inline_no_refcount
def log_mean(terms: Floats, count: int) -> float:
    """The log of the mean of what some logs stand for."""
    largest, total = -math.inf, 0.0
    for place in range(count):
        largest = max(largest, terms[place])
    for place in range(count):
        total += math.exp(terms[place] - largest)
    return largest + math.log(total / count)
