"""The additive scores of given families: one node, some sets of parents, and each of many columns added.

Every set of the columns of a family is regressed on, and `F` of the whole and of the parents found from smaller ones,
as additive_sets.py does for all columns of a table. Time: 3^k regressions for `k` columns, some ten microseconds with
two parents and some hundred with five, where there are no combinations of levels to go through.
"""

from __future__ import annotations

import math
import queue
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.additive_columns import Design, design_of, features_of
from dagpost.scores.additive_regression import (
    Precisions,
    additive_evidence,
    average_with_separate,
    gather_groups,
    log_dirichlet,
)
from dagpost.scores.additive_sets import Room, cells_of, precisions_of, room_for
from dagpost.scores.base import Extender
from dagpost.scores.row_groups import split_groups
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.additive import Additive


def additive_extender(score: Additive, table: Table, max_parents: int, workers: int) -> Extender:
    """The function that scores sets of at most `max_parents` parents, the added one included."""
    columns, features, stage = len(table.names), features_of(table), score.stage_of(table.names)
    prior, sample_size = precisions_of(score), score.equivalent_sample_size
    known: dict[int, tuple[Design, queue.SimpleQueue[Room]]] = {}
    for run in runs_of(table.interventions, columns):
        used = np.ones(table.rows, dtype=np.bool_) if run.observed is None else run.observed
        design, rooms = design_of(table, features, used), queue.SimpleQueue[Room]()
        for _ in range(max(workers, 1)):
            rooms.put(room_for(design, table, max_parents))
        known.update(dict.fromkeys(run.nodes, (design, rooms)))

    def extend(node: int, sets: Members, others: Integers, cancel: Integers) -> Floats:
        values = np.zeros((len(sets), len(others)))
        design, rooms = known[node]
        room = rooms.get()
        try:
            places = np.where(sets < columns, sets, -1).astype(np.int64)
            _extend(places, others, node, design, stage, prior, sample_size, room, values, cancel)
        finally:
            rooms.put(room)
        return values

    return extend


@kernel
def _extend(
    sets: Integers,
    others: Integers,
    node: int,
    design: Design,
    stage: Integers,
    prior: Precisions,
    sample_size: float,
    room: Room,
    values: Floats,
    cancel: Integers,
) -> None:
    """`values[k, j]`: the score of `node` with set `k` and column `j` for its parents."""
    most = sets.shape[1] + 2
    level_of = np.full(design.number.size, -1, dtype=np.int64)
    for place in range(design.levels.nodes.size):
        level_of[design.levels.nodes[place]] = place
    family, chosen, path = (
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
    )
    evidence, joint = np.zeros((most, 1 << most)), np.zeros(1 << most)
    for number in range(len(sets)):
        size = 0
        while size < sets.shape[1] and sets[number, size] >= 0:
            size += 1
        for place in range(len(others)):
            if cancel[0] != 0:
                return
            # Levels first, so that sets of them are the lowest bits; the node is found again by its name.
            width, levels = 0, 0
            for wanted in range(2):
                for member in range(size + 2):
                    own = node if member == size + 1 else others[place] if member == size else sets[number, member]
                    if (level_of[own] >= 0) == (wanted == 0):
                        family[width] = own
                        width += 1
                levels = width if wanted == 0 else levels
            _join_family(
                family, width, levels, chosen, path, level_of, evidence, joint, design, stage, prior, sample_size, room
            )
            bit = 0
            while family[bit] != node:
                bit += 1
            everyone = (1 << width) - 1
            values[number, place] = joint[everyone] - joint[everyone - (1 << bit)]


@inline_no_refcount
def _join_family(
    family: Integers,
    width: int,
    levels: int,
    chosen: Integers,
    path: Integers,
    level_of: Integers,
    evidence: Floats,
    joint: Floats,
    design: Design,
    stage: Integers,
    prior: Precisions,
    sample_size: float,
    room: Room,
) -> None:
    """`joint[s]`: `F` of the subset `s` of a family."""
    groups, bench = room.groups, room.bench
    for own in range(1 << levels):
        depth = 0
        for bit in range(levels):
            if own >> bit & 1:
                path[depth], chosen[depth] = level_of[family[bit]], family[bit]
                split_groups(depth, design.levels.codes[path[depth]], groups)
                depth += 1
        cells = cells_of(path, depth, design.levels, design.arities)
        joint[own] = log_dirichlet(depth, cells, sample_size, groups, design)
        if depth == width:
            continue
        if depth > 0:
            gather_groups(depth, groups, design, bench)
        for numbers in range((1 << width - levels) - 1):
            size = depth
            for bit in range(levels, width):
                if numbers >> (bit - levels) & 1:
                    chosen[size] = family[bit]
                    size += 1
            count = 0
            for bit in range(levels, width):
                if not numbers >> (bit - levels) & 1:
                    bench.children[count] = family[bit]
                    count += 1
            additive_evidence(chosen, size, count, design, prior, bench)
            if depth > 0:
                average_with_separate(groups.found[depth], chosen, depth, size - depth, count, design, prior, bench)
            count = 0
            for bit in range(levels, width):
                if not numbers >> (bit - levels) & 1:
                    evidence[bit, own | numbers << levels] = bench.evidence[count]
                    count += 1
    for subset in range(1 << levels, 1 << width):
        last, largest = np.int64(-1), -math.inf
        for bit in range(levels, width):
            if subset >> bit & 1:
                last = max(last, stage[family[bit]])
        total, count = 0.0, 0
        for again in range(2):
            for bit in range(levels, width):
                if subset >> bit & 1 and stage[family[bit]] == last:
                    term = evidence[bit, subset - (1 << bit)] + joint[subset - (1 << bit)]
                    if again == 0:
                        largest = max(largest, term)
                        count += 1
                    else:
                        total += math.exp(term - largest)
        joint[subset] = largest + math.log(total / count)
