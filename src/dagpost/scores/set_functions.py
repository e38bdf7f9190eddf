"""How a function of node sets becomes a local score of every node with every parent set.

Every score here is a difference of two set functions, `score_i(P) = A(P + i) - B_i(P)`, where `B_i` depends
on node `i` through few properties only (its number of levels, or nothing at all). So a kernel visits each set
of at most `max_parents + 1` nodes once: it writes `A(Z)` to node `i` with parents `Z - i` for every `i` in
`Z`, which hits every entry of the result exactly once, and `B(P)` into a small table, which `subtract_base`
takes off at the end. At 20 nodes and 5 parents that is 60,460 sets in place of 333,280 families.

The sets are split into tasks by their two top elements. A task writes only its own entries and no sum crosses
a task, so the result is the same bit for bit whatever the number of threads. For the same reason a checkpoint
may be written after any task while others are under way: what those have left half done, they do again.

Beside the result there is one number per set of at most `max_parents` nodes and per variant of `B`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from math import comb
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.progress import Stage
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, SavedSteps
from dagpost.engines import Engine
from dagpost.families.numbering import MAX_NODES, binomials, family_count, size_offsets

#: Top position, first and last second position of the sets of a task.
Task = tuple[int, int, int]

#: Bytes that the table of `B` may take; nodes with more variants than fit are scored in several runs.
BASE_BYTES = 96 * 2**20

_SMALLEST_SHARE = 128


class Target(NamedTuple):
    """Where a kernel writes: the result, the table of `B`, and the numbering of both.

    `row[node]` is the row of `values` that has the scores of a node, -1 where they are not wanted. No node that stands
    below `lowest` is wanted. Nodes that stand `apart`, from `lowest` on, are never parents of each other: a set has at
    most one of them, and parent sets are numbered over those below.
    """

    values: Floats
    base: Floats
    binomial: Integers
    parent_offset: Integers
    node_offset: Integers
    row: Integers
    lowest: int
    apart: bool
    max_size: int


class Run(NamedTuple):
    """Nodes that are scored from the same rows: `observed` is None where all rows count."""

    nodes: tuple[int, ...]
    observed: Flags | None


def target_of(
    values: Floats,
    nodes: int,
    row_of: Mapping[int, int],
    max_parents: int,
    variants: int,
    lowest: int = 0,
    apart: bool = False,
) -> Target:
    """The place to write the scores of some of `nodes` nodes, each with its row, and `variants` functions `B`.

    All of those nodes stand at `lowest` or above where the sets are walked; `apart`: they are the last ones, too.
    """
    rows = np.full(nodes, -1, dtype=np.int64)
    rows[list(row_of)] = list(row_of.values())
    elements = max(nodes, MAX_NODES)
    offsets = size_offsets(max_parents, elements)
    members, parents = (lowest, lowest) if apart else (nodes, nodes - 1)
    base = np.zeros((variants, family_count(members, max_parents)))
    numbering = binomials(max_parents, elements), offsets[parents], offsets[members]
    return Target(values, base, *numbering, rows, lowest, apart, max_parents + 1)


def runs_of(interventions: Masks | None, nodes: int, wanted: tuple[int, ...] | None = None) -> list[Run]:
    """Nodes grouped by the rows that count for them: those where the node was not set (Cooper & Yoo 1999).

    All `nodes` of them, or some.
    """
    chosen = tuple(range(nodes)) if wanted is None else wanted
    if interventions is None:
        return [Run(chosen, None)]
    groups: dict[bytes, list[int]] = {}
    for node in chosen:
        observed = (interventions >> np.uint64(node)) & np.uint64(1) == 0
        groups.setdefault(np.packbits(observed).tobytes(), []).append(node)
    runs = []
    for pattern, members in groups.items():
        bits = np.unpackbits(np.frombuffer(pattern, dtype=np.uint8), count=len(interventions))
        runs.append(Run(tuple(members), None if bits.all() else bits.astype(np.bool_)))
    return runs


def split_by_variant(nodes: tuple[int, ...], variant_of: tuple[int, ...], max_parents: int) -> list[tuple[int, ...]]:
    """The nodes in groups with few enough variants that the table of `B` keeps within its bytes."""
    variants = sorted({variant_of[node] for node in nodes})
    room = max(1, BASE_BYTES // (8 * family_count(len(variant_of), max_parents)))
    groups = []
    for start in range(0, len(variants), room):
        chosen = set(variants[start : start + room])
        groups.append(tuple(node for node in nodes if variant_of[node] in chosen))
    return groups


def tasks_of(nodes: int, max_size: int, lowest: int = 0, apart: bool = False) -> list[Task]:
    """Tasks `(top, first, last)`: sets with this top position and the second from `first` down to `last`.

    The task that begins right below the top also sees to the set of the top alone. Large tasks come first, so
    that the threads end together; small neighbours are joined so that handing them out costs next to nothing.
    Sets with nothing from `lowest` on are walked only as far as they can be parent sets; of nodes that stand `apart`
    there, a set has at most one.
    """
    below = [min(top, lowest) if apart else top for top in range(nodes)]
    if max_size == 1:
        return [(top, below[top] - 1, below[top]) for top in range(nodes)]
    work = [sum(comb(second, size) for size in range(max_size - 1)) for second in range(nodes)]
    less = [sum(comb(second, size) for size in range(max_size - 2)) for second in range(nodes if lowest else 0)]
    all_work, all_less = (list(accumulate(each, initial=0)) for each in (work, less))
    total = sum(all_work[below[top]] if top >= lowest else all_less[top] for top in range(nodes))
    share = total // _SMALLEST_SHARE
    tasks = []
    for top in range(nodes):
        each, all_below = (work, all_work) if top >= lowest else (less, all_less)
        first = below[top] - 1
        while first >= 0:
            last, own = first, each[first]
            if all_below[first + 1] <= share:
                last, own = 0, all_below[first + 1]
            while last > 0 and own + each[last - 1] <= share:
                last -= 1
                own += each[last]
            tasks.append((own, (top, first, last)))
            first = last - 1
        if top == 0:
            tasks.append((0, (0, -1, 0)))
    return [task for _, task in sorted(tasks, key=lambda entry: -entry[0])]


def saved_tasks(target: Target, run: int, checkpoint: Checkpoint = NO_CHECKPOINT) -> SavedSteps[Task]:
    """The tasks of a run as a stage of the checkpoint, which keeps all that they wrote before `B` is taken off."""
    rows = [target.values[row] for row in target.row[target.row >= 0]]
    tasks = tasks_of(len(target.row), target.max_size, target.lowest, target.apart)
    return checkpoint.stage(f"local scores, run {run}", tasks, running=lambda: [*rows, target.base])


def fill_run(
    walk: Callable[[Task, Integers], None],
    variant_of: dict[int, int],
    target: Target,
    engine: Engine,
    stage: Stage,
    saved: SavedSteps[Task],
) -> None:
    """Run `walk` on all tasks that are left, then take `B` off the nodes of `variant_of`."""
    for _ in saved.finished:
        stage.advance(1)
    for _ in saved.run(engine, walk, [*saved.finished, *saved.left]):
        stage.advance(1)
    subtract_bases(variant_of, target, engine, stage)


def subtract_bases(variant_of: dict[int, int], target: Target, engine: Engine, stage: Stage) -> None:
    """Take `B` off the nodes of `variant_of`."""

    def subtract(node: int, cancel: Integers) -> None:
        subtract_base(node, variant_of[node], target, cancel)

    for _ in engine.run(subtract, list(variant_of)):
        stage.advance(1)


@inline_no_refcount
def write_set(nodes: Integers, size: int, value: float, target: Target) -> np.int64:
    """Write `A(Z)` for the ascending `nodes` of `Z`; return the number of `Z` among all sets of nodes.

    Taking `z_j` out of `Z` moves the elements above it down by one place in the universe and by one rank in
    the set.
    """
    above = 0
    for rank in range(1, size):
        above += target.binomial[nodes[rank] - 1, rank]
    below = 0
    for rank in range(size):
        node = nodes[rank]
        row = target.row[node]
        if row >= 0:
            target.values[row, target.parent_offset[size - 1] + below + above] = value
        below += target.binomial[node, rank + 1]
        if rank + 1 < size:
            above -= target.binomial[nodes[rank + 1] - 1, rank + 1]
    number: np.int64 = target.node_offset[size] + below
    return number


@inline_no_refcount
def next_set(members: Integers, size: int, universe: int) -> bool:
    """Step to the next set of `size` ascending members in colexicographic order; False after the last one.

    The lowest member that can go up does, and those below it start again.
    """
    rising = 0
    while rising + 1 < size and members[rising] + 1 == members[rising + 1]:
        rising += 1
    if size == 0 or members[rising] + 1 == universe:
        return False
    members[rising] += 1
    for place in range(rising):
        members[place] = place
    return True


@kernel
def write_totals(totals: Floats, target: Target) -> None:
    """Write `A` and the variants of `B` of all sets, whose numbers are the columns of `totals` (row 0 is `A`)."""
    universe = target.row.size
    nodes = np.empty(target.max_size + 1, dtype=np.int64)
    number = 0
    for size in range(min(target.max_size, universe) + 1):
        for place in range(size):
            nodes[place] = place
        more = True
        while more:
            write_set(nodes, size, totals[0, number], target)
            if size < target.max_size:
                for variant in range(target.base.shape[0]):
                    target.base[variant, number] = totals[variant + 1, number]
            number += 1
            more = next_set(nodes, size, universe)


@inline_no_refcount
def can_go_on(size: int, position: int, has_wanted: bool, target: Target) -> bool:
    """Whether sets with more members, below `position`, are to be visited.

    The largest sets only say how well their wanted nodes do; the others are parent sets, too.
    """
    deepest = target.max_size if has_wanted or position > target.lowest else target.max_size - 1
    return size < deepest and position > 0


@inline_no_refcount
def below_top(top: int, target: Target) -> int:
    """The highest position that the second member of a set with this top may have."""
    return min(top, target.lowest) - 1 if target.apart else top - 1


@inline_no_refcount
def is_unwanted(top: int, node: int, target: Target) -> bool:
    """Whether no set with `node` on top is to be visited: one of those apart, in a run that is about others."""
    return target.apart and top >= target.lowest and target.row[node] < 0


@inline_no_refcount
def can_be_parents(size: int, has_wanted: bool, target: Target) -> bool:
    """Whether a set can be the parents of somebody, so that its `B` is due."""
    return size < target.max_size and not (target.apart and has_wanted)


@inline_no_refcount
def insert_sorted(nodes: Integers, size: int, node: int, result: Integers) -> None:
    """`result` becomes the `size` ascending `nodes` with `node` put in its place."""
    place = size
    while place > 0 and nodes[place - 1] > node:
        result[place] = nodes[place - 1]
        place -= 1
    result[place] = node
    for rank in range(place):
        result[rank] = nodes[rank]


@kernel
def subtract_base(node: int, variant: int, target: Target, cancel: Integers) -> None:
    """Take `B(P)` off every entry of `node`.

    The sets of all nodes that leave `node` out, in their order, are its parent sets in theirs. Sets that differ in
    their lowest member alone have numbers in a row, so that only the members above it are walked.
    """
    universe = target.row.size
    scores = target.values[target.row[node]]
    base = target.base[variant]
    if target.apart:
        for place in range(base.size):
            scores[place] -= base[place]
        return
    scores[0] -= base[0]
    number = 1
    parents = 1
    above = np.empty(target.max_size + 1, dtype=np.int64)
    for size in range(1, min(target.max_size - 1, universe) + 1):
        # The members above the lowest one, less 1: a set of numbers from 0 on.
        for place in range(size - 1):
            above[place] = place
        more = True
        while more:
            if cancel[0] != 0:
                return
            below = universe
            has_node = False
            for place in range(size - 1):
                has_node = has_node or above[place] + 1 == node
            if size > 1:
                below = above[0] + 1
            if not has_node:
                first = min(node, below)
                for place in range(first):
                    scores[parents + place] -= base[number + place]
                parents += first
                for place in range(first + 1, below):
                    scores[parents + place - first - 1] -= base[number + place]
                parents += max(below - first - 1, 0)
            number += below
            more = next_set(above, size - 1, universe - 1)
