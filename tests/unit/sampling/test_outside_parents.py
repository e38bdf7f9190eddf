"""Parent sets outside a component, and their numbers, for any number of columns."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive.wide import wide_mask

from dagpost.families.parent_lists import ParentLists, words_of
from dagpost.sampling.outside_parents import numbers_of_masks


@pytest.mark.parametrize("columns", [40, 90, 700])
def test_sets_of_many_candidates_have_the_numbers_of_their_lists(columns: int) -> None:
    rng = np.random.default_rng(columns)
    lists = ParentLists.of_matrix(~np.eye(columns, dtype=np.bool_), 3)
    chosen = [tuple(sorted(rng.choice(columns - 1, size, replace=False).tolist())) for size in (0, 1, 2, 3, 3, 2)]
    words = np.array([wide_mask(own, words_of(columns)) for own in chosen])
    expected = [lists.number(columns - 1, own) for own in chosen]
    assert numbers_of_masks(lists, columns - 1, words).tolist() == expected
    four = np.array([wide_mask(range(4), words_of(columns))])
    assert numbers_of_masks(lists, columns - 1, four).tolist() == [-1]
