"""The additive score of every family: regressions first, then one pass over all sets of columns.

Each set of parents is regressed on once, for all children together (additive_regression.py), by the columns of levels
in it: these are walked depth first, and the sums over their combinations serve all sets of numbers. The evidence
`R(c | P)` of a child waits in the entry of the result that its family has. Then `F` of every set is found from smaller
ones, `F(S) = log mean over c of exp[F(S - c) + R(c | S - c)]`, over the columns of numbers of the last stage in `S`,
and takes the place of the evidences; `F(P)` is taken off at the end (set_functions.py).

A task writes only its own entries and no sum crosses a task, so that threads change nothing, and a checkpoint may be
written after any of them.
"""

from __future__ import annotations

import math
import queue
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.progress import Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.scores.additive_columns import Design, design_of, features_of
from dagpost.scores.additive_regression import (
    Bench,
    Precisions,
    additive_evidence,
    average_with_separate,
    bench_for,
    gather_groups,
    log_dirichlet,
)
from dagpost.scores.row_groups import LevelColumns, RowGroups, next_columns, split_groups
from dagpost.scores.set_functions import Target, next_set, runs_of, subtract_bases, target_of, write_set

if TYPE_CHECKING:
    from dagpost.scores.additive import Additive

#: First two columns of levels in a set (-1: none), and between which columns its first number is.
Task = tuple[int, int, int, int]

#: With so many columns of levels, sets that differ in their first number go into one task.
_MANY_LEVELS = 6


class Plan(NamedTuple):
    """Which evidences are needed: of `modelled` numbers, with parents of no later `stage`.

    Sets of as many columns as parents may be count only where they, or the child, are wanted.
    """

    numbers: Integers
    modelled: Flags
    wanted: Flags
    stage: Integers


class Room(NamedTuple):
    """Working memory of a thread."""

    groups: RowGroups
    bench: Bench


def plan_of(score: Additive, table: Table, wanted: tuple[int, ...]) -> Plan:
    """What the scores of some columns need.

    Where all of those are numbers that come after every other number, what is known of these before cancels.
    """
    numbers = np.array([place for place, own in enumerate(table.levels) if own is None], dtype=np.int64)
    chosen = np.zeros(len(table.names), dtype=np.bool_)
    chosen[list(wanted)] = True
    stage = score.stage_of(table.names)
    others = numbers[~chosen[numbers]]
    last = chosen.sum() == chosen[numbers].sum() and (
        not len(others) or stage[others].max() < stage[list(wanted)].min()
    )
    modelled = np.zeros(len(chosen), dtype=np.bool_)
    modelled[numbers] = chosen[numbers] if last else True
    return Plan(numbers, modelled, chosen, stage)


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
    features, chosen = features_of(table), runs_of(table.interventions, len(table.names), nodes)
    plans = [plan_of(score, table, run.nodes) for run in chosen]
    runs = [(own, tasks_of(table, len(own.numbers), max_parents)) for own in plans]
    with reporter.stage("local scores", sum(len(tasks) + 1 for _, tasks in runs) + len(nodes)) as stage:
        for number, (run, (plan, tasks)) in enumerate(zip(chosen, runs, strict=True)):
            used = np.ones(table.rows, dtype=np.bool_) if run.observed is None else run.observed
            design, rows = design_of(table, features, used), np.flatnonzero(plan.modelled | plan.wanted).tolist()
            # Other rows are worked on, too, and may have been finished by another run.
            alone = rows == list(nodes) == list(run.nodes)
            whole = values if alone else np.zeros((len(rows), values.shape[1]))
            row_of = {node: place for place, node in enumerate(rows)}
            target = target_of(whole, len(table.names), row_of, max_parents, 1)
            saved = checkpoint.stage(f"local scores, run {number}", tasks, running=partial(_written, target))
            stage.advance(len(saved.finished))
            rooms: queue.SimpleQueue[Room] = queue.SimpleQueue()
            for _ in range(max(engine.workers, 1)):
                rooms.put(room_for(design, table, max_parents))
            visit = partial(_visit, design, plan, precisions_of(score), score.equivalent_sample_size, target, rooms)
            for _ in saved.run(engine, visit, [*saved.finished, *saved.left]):
                stage.advance(1)
            for _ in engine.run(partial(_join_all, design, plan, target), [number]):
                stage.advance(1)
            subtract_bases(dict.fromkeys(run.nodes, 0), target, engine, stage)
            if whole is not values:
                for node in run.nodes:
                    values[nodes.index(node)] = whole[row_of[node]]


def _written(target: Target) -> list[Floats]:
    """What tasks write."""
    return [target.values, target.base]


def _join_all(design: Design, plan: Plan, target: Target, _: int, cancel: Integers) -> None:
    _join(design, plan, target, cancel)


def precisions_of(score: Additive) -> Precisions:
    """The prior of a score as the regressions take it."""
    return Precisions(1.0 / score.slope_variance, 1.0 / score.curve_variance, 0.5)


def room_for(design: Design, table: Table, max_parents: int) -> Room:
    """Working memory for sets of at most `max_parents` parents of a child."""
    items, depth = len(design.weights), max_parents + 2
    order, begin = np.zeros((depth, items), dtype=np.uint32), np.zeros((depth, items + 1), dtype=np.uint32)
    order[0], begin[0, 1:2] = np.arange(items), items
    seen, place = (np.zeros(max((1, *table.arities)), dtype=np.uint32) for _ in range(2))
    groups = RowGroups(order, begin, np.full(depth, min(items, 1), dtype=np.int64), seen, place)
    return Room(groups, bench_for(design, max_parents))


def tasks_of(table: Table, numbers: int, max_parents: int) -> list[Task]:
    """The tasks of a run, the largest first."""
    levels = len(table.names) - numbers
    pairs = [(-1, -1)]
    pairs += [(first, second) for first in range(levels) for second in (-1, *range(first + 1, levels))]
    tasks = []
    for first, second in pairs:
        if second >= 0 and max_parents < 1:
            continue
        parts = 1 if levels >= _MANY_LEVELS and first >= 0 else max(numbers, 1)
        edges = [0, numbers] if parts == 1 else range(numbers + 1)
        tasks += [(first, second, low, high) for low, high in pairwise(edges)]
    return sorted(tasks, key=lambda task: (task[0] + task[1] + task[2], task))


def _visit(
    design: Design,
    plan: Plan,
    prior: Precisions,
    sample_size: float,
    target: Target,
    rooms: queue.SimpleQueue[Room],
    task: Task,
    cancel: Integers,
) -> None:
    room = rooms.get()
    try:
        _regress(*task, design, plan, prior, sample_size, target, room, cancel)
    finally:
        rooms.put(room)


@kernel
def _regress(
    first: int,
    second: int,
    low: int,
    high: int,
    design: Design,
    plan: Plan,
    prior: Precisions,
    sample_size: float,
    target: Target,
    room: Room,
    cancel: Integers,
) -> None:
    """The evidences of a task, and the joint ones of its sets of columns of levels."""
    levels, groups, most = design.levels, room.groups, target.max_size
    path, numbers = np.zeros(most + 2, dtype=np.int64), np.zeros(most + 2, dtype=np.int64)
    chosen, nodes = np.zeros(most + 2, dtype=np.int64), np.zeros(most + 2, dtype=np.int64)
    fixed, level = 0, 0
    if first >= 0:
        path[0] = first
        split_groups(0, levels.codes[first], groups)
        fixed = 1
    if second >= 0:
        if levels.exclusive[first] and levels.exclusive[second] and levels.limits[1] < 2:
            return
        path[1] = second
        split_groups(1, levels.codes[second], groups)
        fixed = 2
    level = fixed
    while True:
        for place in range(level):
            chosen[place] = levels.nodes[path[place]]
        if low == 0:
            own = log_dirichlet(level, cells_of(path, level, levels, design.arities), sample_size, groups, design)
            for place in range(level):
                nodes[place] = chosen[place]
            if level < most:
                target.base[0, _number_of(nodes, level, target)] = own
            else:
                write_set(nodes, level, own, target)
        if level < most:
            if level > 0:
                gather_groups(level, groups, design, room.bench)
            _regress_numbers(level, low, high, numbers, chosen, nodes, design, plan, prior, target, room, cancel)
        if cancel[0] != 0:
            return
        # The next set of columns of levels with the same beginning.
        if fixed < 2:
            return
        size = next_columns_after(path, level, most, fixed, levels)
        if size < 0:
            return
        split_groups(size - 1, levels.codes[path[size - 1]], groups)
        level = size


@inline_no_refcount
def next_columns_after(path: Integers, size: int, most: int, fixed: int, levels: LevelColumns) -> int:
    """The size of the next set that keeps its first columns; -1: none."""
    found = next_columns(path, size, most, levels)
    return found if found > fixed else -1


@inline_no_refcount
def cells_of(path: Integers, size: int, levels: LevelColumns, arities: Integers) -> float:
    """How many configurations columns of levels have: at most one of the indicators among them is 1."""
    cells, indicators = 1.0, 0
    for place in range(size):
        if levels.exclusive[path[place]]:
            indicators += 1
        else:
            cells *= arities[path[place]]
    return cells * (indicators + 1)


@inline_no_refcount
def _number_of(nodes: Integers, size: int, target: Target) -> int:
    """The number of ascending nodes among all sets of nodes."""
    number = target.node_offset[size]
    for rank in range(size):
        number += target.binomial[nodes[rank], rank + 1]
    result: int = number
    return result


@inline_no_refcount
def _regress_numbers(
    level: int,
    low: int,
    high: int,
    path: Integers,
    chosen: Integers,
    nodes: Integers,
    design: Design,
    plan: Plan,
    prior: Precisions,
    target: Target,
    room: Room,
    cancel: Integers,
) -> None:
    """Regress on the columns of levels of a set, with every set of numbers that begins between two of them."""
    count, most = len(plan.numbers), target.max_size - 1
    size, following = 0, low
    if low == 0:
        _regress_on(level, 0, chosen, nodes, design, plan, prior, target, room)
    while cancel[0] == 0:
        if level + size < most and following < (high if size == 0 else count):
            path[size] = following
            chosen[level + size] = plan.numbers[following]
            size += 1
            _regress_on(level, size, chosen, nodes, design, plan, prior, target, room)
            following += 1
        elif size > 0:
            size -= 1
            following = path[size] + 1
        else:
            return


@inline_no_refcount
def _regress_on(
    level: int,
    size: int,
    chosen: Integers,
    nodes: Integers,
    design: Design,
    plan: Plan,
    prior: Precisions,
    target: Target,
    room: Room,
) -> None:
    """Regress every number that may need it on a set of columns: levels first, then numbers."""
    bench, everyone = room.bench, level + size
    last_stage, wanted = np.int64(0), False
    for place in range(everyone):
        wanted = wanted or plan.wanted[chosen[place]]
        if place >= level:
            last_stage = max(last_stage, plan.stage[chosen[place]])
    count = 0
    for child in plan.numbers:
        among = False
        for place in range(level, everyone):
            among = among or chosen[place] == child
        needed = everyone < target.max_size - 1 or wanted or plan.wanted[child]
        if not among and needed and plan.modelled[child] and plan.stage[child] >= last_stage:
            bench.children[count] = child
            count += 1
    if count == 0:
        return
    additive_evidence(chosen, everyone, count, design, prior, bench)
    if level > 0:
        average_with_separate(room.groups.found[level], chosen, level, size, count, design, prior, bench)
    # Where the family of each child is: its parents in order, those above it moved down by one place.
    for place in range(everyone):
        own, rank = chosen[place], place
        while rank > 0 and nodes[rank - 1] > own:
            nodes[rank] = nodes[rank - 1]
            rank -= 1
        nodes[rank] = own
    for place in range(count):
        child = bench.children[place]
        number = target.parent_offset[everyone]
        for rank in range(everyone):
            number += target.binomial[nodes[rank] - (1 if nodes[rank] > child else 0), rank + 1]
        target.values[target.row[child], number] = bench.evidence[place]


@kernel
def _join(design: Design, plan: Plan, target: Target, cancel: Integers) -> None:
    """`F` of every set, from the evidences that wait in the entries of its families; then it takes their place."""
    universe = target.row.size
    nodes = np.empty(target.max_size + 1, dtype=np.int64)
    terms = np.empty(target.max_size + 1)
    number = 0
    for size in range(min(target.max_size, universe) + 1):
        for place in range(size):
            nodes[place] = place
        more = True
        while more:
            if cancel[0] != 0:
                return
            last, wanted, numbers = np.int64(-1), False, 0
            for rank in range(size):
                wanted = wanted or plan.wanted[nodes[rank]]
                if design.number[nodes[rank]] >= 0:
                    numbers += 1
                    last = max(last, plan.stage[nodes[rank]])
            value = 0.0
            if size < target.max_size or wanted:
                if numbers == 0 and size < target.max_size:
                    value = target.base[0, number]
                elif numbers > 0:
                    value = _join_set(nodes, size, last, terms, design, plan, target)
                if size < target.max_size:
                    target.base[0, number] = value
                if numbers > 0 or size < target.max_size:
                    write_set(nodes, size, value, target)
            number += 1
            more = next_set(nodes, size, universe)


@inline_no_refcount
def _join_set(
    nodes: Integers, size: int, last: int, terms: Floats, design: Design, plan: Plan, target: Target
) -> float:
    """The mean over the numbers of the last stage: what is known of the others, and of this one given them."""
    above = np.int64(0)
    without = np.int64(0)
    for rank in range(1, size):
        above += target.binomial[nodes[rank] - 1, rank]
        without += target.binomial[nodes[rank], rank]
    below, count = np.int64(0), 0
    largest = -math.inf
    for rank in range(size):
        node = nodes[rank]
        if design.number[node] >= 0 and plan.stage[node] == last:
            if not plan.modelled[node]:
                return 0.0
            family = target.parent_offset[size - 1] + below + above
            others = target.node_offset[size - 1] + below + without
            terms[count] = target.values[target.row[node], family] + target.base[0, others]
            largest = max(largest, terms[count])
            count += 1
        below += target.binomial[node, rank + 1]
        if rank + 1 < size:
            above -= target.binomial[nodes[rank + 1] - 1, rank + 1]
            without -= target.binomial[nodes[rank + 1], rank + 1]
    total = 0.0
    for place in range(count):
        total += math.exp(terms[place] - largest)
    return largest + math.log(total / count)
