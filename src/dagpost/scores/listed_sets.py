"""Scores of listed families from sums over the sets of columns behind them, again and again, with other cells in gaps.

The score of a family is a difference of the sums of two sets (families/distinct_sets.py). Sets that no gap touches are
summed once and for all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.families.distinct_sets import DistinctSets
from dagpost.scores.completing import FamilyScorer
from dagpost.scores.set_functions import Run

#: Adds the sums of the wanted sets to values, given the cells of the gaps and the flag of an engine; returns what is to
#: be taken off the scores of each node.
SumOfSets = Callable[[Floats, Flags, Floats, Integers], Floats]


def scorer_of_sets(sets: DistinctSets, start: Integers, changing: Flags, sum_sets: SumOfSets) -> FamilyScorer:
    """The function that scores families, which begin at `start` for each node, by the sums of the sets behind them.

    `changing` columns are such that sets with them must be summed anew.
    """
    node_of = np.repeat(np.arange(len(start) - 1), np.diff(start))
    lasting = ~np.append(changing, False)[sets.members].any(axis=1)
    known = np.full(len(sets.members), np.nan)

    def score_families(cells: Floats, places: Integers, cancel: Integers) -> Floats:
        plus, minus = sets.plus[places], sets.minus[places]
        values = known.copy()
        wanted = np.zeros(len(values), dtype=np.bool_)
        wanted[plus] = wanted[minus] = True
        wanted &= np.isnan(values)
        values[wanted] = 0.0
        taken_off = sum_sets(cells, wanted, values, cancel)
        if not cancel[0]:
            stay = wanted & lasting
            known[stay] = values[stay]
        scores: Floats = values[plus] - values[minus] - taken_off[node_of[places]]
        return scores

    return score_families


def numbers_of_runs(runs: list[Run], nodes: int) -> Integers:
    """The number of the run of each node."""
    result = np.zeros(nodes, dtype=np.int64)
    for number, run in enumerate(runs):
        result[list(run.nodes)] = number
    return result
