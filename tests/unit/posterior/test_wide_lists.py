"""Tables of more than 64 columns: the numbers of parent sets among many candidates, and best graphs of a mixture."""

from __future__ import annotations

import numpy as np
from tests.naive.wide import wide_mask

from dagpost import BDeu, DagPosterior
from dagpost.families.parent_lists import ParentLists, words_of
from dagpost.sampling.outside_parents import numbers_of_masks

COLUMNS = 70


def test_a_set_among_more_candidates_than_a_word_has_bits_has_its_number() -> None:
    edges = np.zeros((COLUMNS, COLUMNS), dtype=np.bool_)
    edges[COLUMNS - 1, : COLUMNS - 1] = True
    lists = ParentLists.of_matrix(edges, 2)
    sets = [(), (0,), (68,), (0, 68), (63, 64), (66, 67)]
    words = np.stack([wide_mask(members, words_of(COLUMNS)) for members in (*sets, (69,), (1, 2, 65))])
    expected = [lists.number(COLUMNS - 1, members) for members in sets]
    assert numbers_of_masks(lists, COLUMNS - 1, words).tolist() == [*expected, -1, -1]


def test_the_best_graph_of_a_mixture_has_the_parents_that_the_rows_were_made_with() -> None:
    rows = np.random.default_rng(1).integers(0, 2, (100, COLUMNS))
    rows[:, 66] = rows[:, 65] = rows[:, 2]
    tiers = {f"V{column}": column for column in range(COLUMNS)}
    model = DagPosterior(score=BDeu((1.0, 5.0)), prior="edge:0.001", tiers=tiers, max_parents=1).fit(rows)
    best = model.best(2)
    assert {("V2", "V65")} < set(best[0].edges)
    assert len({frozenset(best[place].edges) for place in range(2)}) == 2
    assert best.log_joint[0] >= best.log_joint[1]
    # Both parents explain V66 equally well.
    assert model.edge_probabilities_.loc[["V2", "V65"], "V66"].round(3).tolist() == [0.5, 0.5]
