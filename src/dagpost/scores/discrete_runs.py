"""From a table of discrete columns to the scores of its families, by counting (counting.py).

Nodes that are scored from the same rows, and whose functions `B` fit into memory together, make up a run. An engine may
count in a way of its own, on a device or a cluster; else the sets are walked on the threads at hand, and a checkpoint
keeps what their tasks have finished. Cost and memory are those of counting.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost.checkpoints import Checkpoint
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.families.numbering import MAX_NODES, family_count
from dagpost.scores.cells import CellFunction, with_indicators
from dagpost.scores.counting import count_sets, scratch_pool
from dagpost.scores.rows import Rows, check_countable, distinct_rows
from dagpost.scores.set_functions import (
    Target,
    Task,
    fill_run,
    runs_of,
    saved_tasks,
    split_by_variant,
    subtract_bases,
    target_of,
    tasks_of,
    write_totals,
)

if TYPE_CHECKING:
    from dagpost.scores.base import Filling
    from dagpost.scores.counted import CountedScore


def fill_by_counting(score: CountedScore, asked: Filling) -> None:
    """Write the scores of some columns, with a score that says what is summed over the cells."""
    table, wanted, max_parents, values, engine, reporter, checkpoint, apart = asked
    codes, weights, variant_of = table.codes(), table.weights, score.variants(table.arities)
    check_countable(table.names, table.arities, int(weights.sum()))
    nodes = len(table.names)
    row_of = {node: row for row, node in enumerate(wanted)}
    runs = [
        (group, run.observed, wanted if apart else group)
        for run in runs_of(table.interventions, nodes, wanted)
        for group in split_by_variant(run.nodes, variant_of, max_parents)
    ]
    counts = [len(tasks_of(nodes, max_parents + 1, nodes - len(on_top), apart)) for *_, on_top in runs]
    with reporter.stage("local scores", sum(counts) + len(wanted)) as stage:
        for number, (chosen, observed, on_top) in enumerate(runs):
            used = weights > 0 if observed is None else observed & (weights > 0)
            if not used.any():
                values[[row_of[node] for node in chosen]] = 0.0
                stage.advance(counts[number] + len(chosen))
                continue
            variants = sorted({variant_of[node] for node in chosen})
            own_codes = codes if used.all() else codes[:, used]
            rows = distinct_rows(own_codes, weights[used], table.arities, on_top, table.exclusive, table.limits)
            cells = terms_of(score, table, max_parents + 1, variants, int(weights[used].sum()))
            own_rows = {node: row_of[node] for node in chosen}
            target = target_of(values, nodes, own_rows, max_parents, len(variants), nodes - len(on_top), apart)
            by_node = {node: variants.index(variant_of[node]) for node in chosen}
            saved = saved_tasks(target, number, checkpoint)
            # What was begun one way is ended that way: a device may round otherwise. Nor does it know indicators.
            few = apart or bool(table.regimes) or _few_wanted(nodes, len(wanted), max_parents + 1)
            by_threads = bool(saved.finished) or few
            totals = None if by_threads else _counted_by(engine, rows, cells, target, number, checkpoint)
            if totals is None:
                fill_run(_pooled_walk(rows, cells, target, engine.workers), by_node, target, engine, stage, saved)
            else:
                stage.advance(counts[number])
                write_totals(totals, target)
                subtract_bases(by_node, target, engine, stage)


def _few_wanted(nodes: int, wanted: int, max_size: int) -> bool:
    """Whether an engine that counts all sets would count mostly such as nobody wants, or more than it can number."""
    return nodes > MAX_NODES or 2 * comb(nodes - wanted, max_size) > family_count(nodes, max_size)


def terms_of(score: CountedScore, table: Table, max_size: int, variants: list[int], observations: int) -> CellFunction:
    """What a score sums over the cells of the sets of a table."""
    ordinary = tuple(arity for arity, one in zip(table.arities, table.exclusive, strict=True) if not one)
    cells = score.terms(ordinary, max_size, variants, observations)
    return with_indicators(cells, min(len(table.regimes), max_size), observations)


def _counted_by(
    engine: Engine, rows: Rows, cells: CellFunction, target: Target, run: int, checkpoint: Checkpoint
) -> Floats | None:
    """The sums of every set from an engine that counts in a way of its own, where it has one that suits the table.

    It counts in one go, and a checkpoint has all of it or nothing.
    """
    shape = 1 + cells.penalties.size, family_count(len(target.row), target.max_size)
    totals: list[Floats] = []

    def kept(_: str) -> list[Floats]:
        # Room only where there is something to read.
        if not totals:
            totals.append(np.empty(shape))
        return totals

    for _ in checkpoint.stage(f"local scores, run {run}, counted by the engine", ["all"], kept):
        found = engine.sum_cells(rows, cells, target.max_size)
        if found is None:
            return None
        totals[:] = [found]
    return totals[0]


def _pooled_walk(rows: Rows, cells: CellFunction, target: Target, workers: int) -> Callable[[Task, Integers], None]:
    pool = scratch_pool(rows, target.max_size, workers)

    def walk(task: Task, cancel: Integers) -> None:
        scratch = pool.get()
        try:
            count_sets(*task, cells, target, scratch, cancel)
        finally:
            pool.put(scratch)

    return walk
