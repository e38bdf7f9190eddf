"""How long scoring takes: the sets that a walk visits are counted right, and time grows with what there is to do."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dagpost.data import as_table
from dagpost.families.parent_lists import ParentLists, all_others
from dagpost.scores import BDeu, BGe, ConditionalGaussian
from dagpost.scores.allowed_scores import Group, groups_of
from dagpost.scores.scoring_time import _sets, seconds_of_rescoring, seconds_of_scoring


def visited(group: Group, limit: int) -> int:
    """The parent sets of anybody, and every family as a set, each counted once."""
    wanted = set(group.wanted)
    others = [place for place in range(len(group.columns)) if not (group.apart and place in wanted)]
    sets = {frozenset(chosen) for size in range(limit + 1) for chosen in combinations(others, size)}
    return len(sets | {parents | {node} for parents in sets for node in wanted - parents})


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_walk_visits_parent_sets_and_families(apart: bool, limit: int) -> None:
    allowed = np.zeros((8, 8), dtype=np.bool_)
    allowed[5:, : 5 if apart else 8] = True
    np.fill_diagonal(allowed, False)
    (group,) = groups_of(ParentLists.of_matrix(allowed, limit), np.arange(8) >= 5)
    assert group.apart == apart
    assert _sets(group, limit) == visited(group, limit)


def test_more_rows_columns_and_levels_take_longer_and_workers_share() -> None:
    usual = seconds_of_scoring(all_others(20, 3), 1000, BDeu(), 1)
    assert seconds_of_scoring(all_others(20, 3), 1000, BDeu(), 2) == usual / 2
    assert seconds_of_scoring(all_others(20, 3), 9000, BDeu(), 1) > usual
    assert seconds_of_scoring(all_others(25, 3), 1000, BDeu(), 1) > usual
    assert seconds_of_scoring(all_others(20, 3), 1000, BDeu(), 1, levels=4.0) > usual
    assert seconds_of_scoring(all_others(20, 3), 1000, BGe(), 1) < usual


def test_both_kinds_of_columns_take_longer_with_more_rows_and_levels() -> None:
    half = np.arange(20) % 2 == 0

    def seconds(rows: int, numbers: np.ndarray, levels: float = 3.0, lists: ParentLists | None = None) -> float:
        score = ConditionalGaussian()
        return seconds_of_scoring(lists or all_others(20, 4), rows, score, 1, levels=levels, numbers=numbers)

    usual = seconds(1000, half)
    assert seconds(5000, half) > usual
    assert seconds(1000, half, 5.0) > usual
    # Numbers alone are as quick as a Gaussian network, but for looking at the rows, and levels as counting.
    assert seconds(10, np.ones(20, dtype=np.bool_)) < 2 * seconds_of_scoring(all_others(20, 4), 10, BGe(), 1)
    counted = seconds_of_scoring(all_others(20, 4), 1000, BDeu(), 1, levels=3.0)
    assert seconds(1000, np.zeros(20, dtype=np.bool_)) == counted
    # No column of levels has one of numbers for a parent.
    rules = ~np.eye(20, dtype=np.bool_) & (half[:, np.newaxis] | ~half)
    assert seconds(1000, half, lists=ParentLists.of_matrix(rules, 4)) < 2 * usual


def test_scoring_a_table_again_takes_longer_with_more_parents_and_levels() -> None:
    table = as_table(np.random.default_rng(3).integers(0, 2, (4_000, 12)))
    gaps = np.random.default_rng(4).random((12, 4_000)) < 0.1
    usual = replace(table, gaps=gaps)
    seconds = seconds_of_rescoring(usual, 5, BDeu())
    assert seconds < seconds_of_scoring(all_others(12, 5), 4_000, BDeu(), 1)
    assert seconds_of_rescoring(usual, 5, BDeu(), levels=3.0) > seconds
    assert seconds_of_rescoring(usual, 3, BDeu()) < seconds
    assert 0.0 < seconds_of_rescoring(usual, 5, BGe()) < 0.01
    assert seconds_of_rescoring(table, 5, BDeu()) == 0.0
