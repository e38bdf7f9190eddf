"""The additive scores of given families: one node, some sets of parents, and each of many columns added.

Every set of the columns of a family is regressed on, and `F` of the whole and of the parents found from smaller ones,
as additive_sets.py does for all columns of a table. Time: 3^k regressions for `k` columns, some ten microseconds with
two parents and some hundred with five.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.additive_columns import features_of
from dagpost.scores.additive_regression import Bench, find_evidence
from dagpost.scores.additive_sets import benches_for, design_of_run, log_mean, precisions_of
from dagpost.scores.base import Extender
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.additive import Additive


def additive_extender(score: Additive, table: Table, max_parents: int, workers: int) -> Extender:
    """The function that scores sets of at most `max_parents` parents, the added one included."""
    columns, features, prior = len(table.names), features_of(table), precisions_of(score)
    benches_of: dict[int, queue.SimpleQueue[Bench]] = {}
    for run in runs_of(table.interventions, columns):
        benches = benches_for(design_of_run(table, features, run), prior, max_parents, workers)
        benches_of.update(dict.fromkeys(run.nodes, benches))

    def extend(node: int, sets: Members, others: Integers, cancel: Integers) -> Floats:
        values = np.zeros((len(sets), len(others)))
        bench = benches_of[node].get()
        try:
            places = np.where(sets < columns, sets, -1).astype(np.int64)
            _extend(places, others, node, bench, values, cancel)
        finally:
            benches_of[node].put(bench)
        return values

    return extend


@kernel
def _extend(sets: Integers, others: Integers, node: int, bench: Bench, values: Floats, cancel: Integers) -> None:
    """`values[k, j]`: the score of `node` with set `k` and column `j` for its parents."""
    most = sets.shape[1] + 2
    family, chosen = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    evidence, joint, terms = np.zeros((most, 1 << most)), np.zeros(1 << most), np.zeros(most)
    for number in range(len(sets)):
        width = 2
        family[0] = node
        while width - 2 < sets.shape[1] and sets[number, width - 2] >= 0:
            family[width] = sets[number, width - 2]
            width += 1
        for place in range(len(others)):
            if cancel[0] != 0:
                return
            family[1] = others[place]
            for subset in range((1 << width) - 1):
                _regress_within(subset, family, width, chosen, evidence, bench)
            for subset in range(1, 1 << width):
                joint[subset] = _join_within(subset, width, terms, evidence, joint)
            values[number, place] = joint[(1 << width) - 1] - joint[(1 << width) - 2]


@inline_no_refcount
def _regress_within(
    subset: int, family: Integers, width: int, chosen: Integers, evidence: Floats, bench: Bench
) -> None:
    """`evidence[k, subset]`: of each column of a family that is not in a subset, given those that are."""
    size, count = 0, 0
    for member in range(width):
        if subset >> member & 1:
            chosen[size] = family[member]
            size += 1
        else:
            bench.children[count] = family[member]
            count += 1
    find_evidence(chosen, size, count, bench)
    count = 0
    for member in range(width):
        if not subset >> member & 1:
            evidence[member, subset] = bench.evidence[count]
            count += 1


@inline_no_refcount
def _join_within(subset: int, width: int, terms: Floats, evidence: Floats, joint: Floats) -> float:
    """`F` of a subset of a family, from those of smaller ones."""
    count = 0
    for member in range(width):
        if subset >> member & 1:
            others = subset - (1 << member)
            terms[count] = evidence[member, others] + joint[others]
            count += 1
    return log_mean(terms, count)
