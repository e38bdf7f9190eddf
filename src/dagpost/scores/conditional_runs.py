"""From a table of levels and numbers to the scores of its families (conditional_determinants.py).

Columns of levels are scored by counting, among themselves, and their scores put where parent sets of all columns have
them. For columns of numbers, sets of columns of levels are shared out in tasks of about the same work; where a single
one has more than that, the sets of columns of numbers that go with it are shared out too. A task writes only its own
entries and no sum crosses a task, so the result is the same bit for bit whatever the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import kernel
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart, SavedSteps
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.families.numbering import binomials, family_count, size_offsets
from dagpost.scores.bge import Standardised
from dagpost.scores.columns import part_of
from dagpost.scores.conditional_determinants import NumberColumns, conditional_sets
from dagpost.scores.conditional_tasks import Tasks, tasks_for
from dagpost.scores.parameter_priors import refuse_lost_digits
from dagpost.scores.row_groups import GroupRooms, LevelColumns, level_columns
from dagpost.scores.set_functions import Run, Target, next_set, runs_of, subtract_bases, target_of

if TYPE_CHECKING:
    from dagpost.scores.conditional_gaussian import ConditionalGaussian


class Kinds(NamedTuple):
    """Which columns of a table have levels, and which have numbers."""

    levels: list[int]
    numbers: list[int]


class _Walk(NamedTuple):
    """What the walk over the sets of a run takes."""

    tasks: Tasks
    columns: LevelColumns
    numbers: NumberColumns


def kinds_of(table: Table) -> Kinds:
    """The columns of a table by their kind."""
    own = np.array([levels is None for levels in table.levels], dtype=np.bool_)
    return Kinds(np.flatnonzero(~own).tolist(), np.flatnonzero(own).tolist())


def standardised(score: ConditionalGaussian, table: Table) -> Standardised:
    """The columns of numbers of a table; where the prior is left to the data, it takes those of all rows."""
    own = score.gaussian.standardised(part_of(table, kinds_of(table).numbers))
    most, spare = len(own.names), score.gaussian.coefficient_prior().spare(len(own.names))
    # No group of rows has larger sums than all of them.
    score.gaussian.added(own, slice(None), most)
    # In a group of fewer rows than columns, columns follow from each other but for the prior.
    largest = most * np.abs(own.distances - own.away).max(axis=0, initial=0.0) ** 2
    refuse_lost_digits(np.diag(largest), spare / 2 + most, most, own.names, few_rows=True)
    return own


def used_rows(table: Table, run: Run) -> Flags:
    """The rows that count for the nodes of a run."""
    used: Flags = table.weights > 0 if run.observed is None else run.observed & (table.weights > 0)
    return used


def number_columns(
    score: ConditionalGaussian,
    table: Table,
    data: Standardised,
    order: list[int] | None = None,
    scored: int = 0,
    apart: bool = False,
) -> NumberColumns:
    """Columns of numbers as kernels take them, in some order (None: that of the table), the last `scored` on top."""
    numbers = kinds_of(table).numbers
    nodes = numbers if order is None else order
    return NumberColumns(
        distances=np.ascontiguousarray(data.distances.T),
        places=np.searchsorted(numbers, nodes).astype(np.int64),
        nodes=np.array(nodes, dtype=np.int64),
        lowest=len(nodes) - scored,
        apart=apart,
        weights=data.weights,
        root=np.sqrt(data.weights),
        away=data.away,
        mean_weight=score.mean_weight,
        spare=score.parameter_prior().gaussian.spare(len(numbers)),
    )


def fill_levels(
    score: ConditionalGaussian,
    table: Table,
    wanted: tuple[int, ...],
    max_parents: int,
    values: Floats,
    engine: Engine,
    reporter: Reporter,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    apart: bool = False,
) -> None:
    """Write the scores of those of the `wanted` columns that have levels; a set with a column of numbers has -inf."""
    levels, scored = kinds_of(table).levels, [node for node in wanted if table.levels[node] is not None]
    if not scored:
        return
    own = tuple(levels.index(node) for node in scored)
    others = len(levels) - (len(own) if apart else 1)
    limit = min(max_parents, others)
    found = np.zeros((len(own), family_count(others, limit)))
    kept = CheckpointPart(checkpoint, "columns of levels")
    # Where numbers are scored too, these are what progress is about.
    shown = reporter if len(scored) == len(wanted) else NO_PROGRESS
    score.dirichlet.fill_nodes(part_of(table, levels), own, limit, found, engine, shown, kept, apart)
    nodes = len(table.names)
    candidates = range(nodes - len(wanted)) if apart else range(nodes)
    for row, node in enumerate(scored):
        universe = [other for other in candidates if other != node]
        places = np.flatnonzero([table.levels[other] is not None for other in universe])
        numbering = binomials(max_parents, nodes).copy(), size_offsets(max_parents, nodes)[len(universe)].copy()
        whole = values[wanted.index(node)]
        whole[:] = -np.inf
        _put_into(found[row], limit, places, *numbering, whole)


def fill_numbers(
    score: ConditionalGaussian,
    table: Table,
    wanted: tuple[int, ...],
    max_parents: int,
    values: Floats,
    engine: Engine,
    reporter: Reporter,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    apart: bool = False,
) -> None:
    """Write the scores of those of the `wanted` columns that have numbers."""
    nodes, (_, numbers) = len(table.names), kinds_of(table)
    scored = tuple(node for node in wanted if table.levels[node] is None)
    if not scored:
        return
    data, lowest = standardised(score, table), nodes - len(wanted) if apart else 0
    runs = runs_of(table.interventions, nodes, scored)
    walks = [_walk_of(score, table, data, run, max_parents, lowest if apart else nodes) for run in runs]
    with reporter.stage("local scores", sum(len(walk.tasks.steps) for walk in walks) + len(scored)) as stage:
        for number, (run, walk) in enumerate(zip(runs, walks, strict=True)):
            row_of = {node: wanted.index(node) for node in run.nodes}
            target = target_of(values, nodes, row_of, max_parents, 1, lowest, apart)
            saved = _saved(target, range(len(walk.tasks.steps)), number, checkpoint)
            stage.advance(len(saved.finished))
            used = used_rows(table, run)
            rooms = GroupRooms(table, used, min(max_parents, len(walk.columns.nodes)), engine.workers)
            visit = partial(_visit, walk, target, rooms)
            for _ in saved.run(engine, visit, [*saved.finished, *saved.left]):
                stage.advance(1)
            subtract_bases(dict.fromkeys(run.nodes, 0), target, engine, stage)
            for node, row in row_of.items():
                values[row] -= table.weights[used].sum() * np.log(data.units[numbers.index(node)])


def _walk_of(
    score: ConditionalGaussian, table: Table, data: Standardised, run: Run, max_parents: int, candidates: int
) -> _Walk:
    """The sets that the nodes of a run need; their parents are among the first `candidates` columns."""
    levels, numbers = kinds_of(table)
    apart = candidates < len(table.names)
    # Those that are scored on top: the walk then never comes to the largest sets of the others.
    below = [node for node in numbers if node not in run.nodes and node < candidates]
    own = number_columns(score, table, data, [*below, *run.nodes], len(run.nodes), apart)
    columns = level_columns(table, [node for node in levels if node < candidates])
    tasks = tasks_for(columns, len(own.nodes), own.lowest, apart, table.arities, max_parents)
    return _Walk(tasks, columns, own)


def _saved(target: Target, tasks: range, run: int, checkpoint: Checkpoint) -> SavedSteps[int]:
    """The tasks of a run as a stage of the checkpoint, which keeps all that they wrote before `B` is taken off."""
    written = [*(target.values[row] for row in target.row[target.row >= 0]), target.base]
    return checkpoint.stage(f"local scores of numbers, run {run}", tasks, running=lambda: written)


def _visit(walk: _Walk, target: Target, rooms: GroupRooms, task: int, cancel: Integers) -> None:
    with rooms.room() as room:
        conditional_sets(task, *walk, target, room, cancel)


@kernel
def _put_into(
    found: Floats, max_parents: int, places: Integers, binomial: Integers, offset: Integers, whole: Floats
) -> None:
    """Scores of parent sets that are numbered over some columns, where those over all columns have them.

    `places` has the positions of those columns among all.
    """
    members = np.zeros(max_parents + 1, dtype=np.int64)
    number = 0
    for size in range(max_parents + 1):
        for rank in range(size):
            members[rank] = rank
        more = True
        while more:
            place = offset[size]
            for rank in range(size):
                place += binomial[places[members[rank]], rank + 1]
            whole[place] = found[number]
            number += 1
            more = next_set(members, size, places.size)
