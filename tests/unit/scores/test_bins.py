"""BDeu that cuts columns of numbers itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, InputError, Recipe, local_scores
from dagpost._tools.json_settings import from_json, to_json
from dagpost.data import as_table, discretise
from dagpost.scores import SCORES

GENERATOR = np.random.default_rng(1)
FRAME = pd.DataFrame(GENERATOR.normal(size=(200, 2)), columns=["A", "B"]).assign(C=GENERATOR.choice(list("xy"), 200))


def test_bins_are_those_of_equally_full_levels_and_leave_levels_alone() -> None:
    cut = local_scores(discretise(FRAME, bins=5), BDeu(3))
    assert np.array_equal(local_scores(FRAME, BDeu(3, bins=5)).values, cut.values)
    # Beside other kinds of models the table keeps its numbers.
    score, table = BDeu(3, bins=5), as_table(FRAME)
    assert score.modelled(table).arities == (5, 5, 2)
    assert BDeu(3).modelled(table) is table


def test_what_a_recipe_says_comes_first() -> None:
    model = DagPosterior(BDeu(3, bins=5), recipe=Recipe(cut={"A": 2})).fit(FRAME)
    assert [len(levels or ()) for levels in model.fitted_.data.levels] == [2, 5, 2]
    model = DagPosterior(BDeu(3, bins=5), recipe=Recipe(bins=3)).fit(FRAME)
    assert [len(levels or ()) for levels in model.fitted_.data.levels] == [3, 3, 2]


def test_bins_are_kept_and_said_only_where_there_are_any(said: Said) -> None:
    score = BDeu(5, bins=4)
    assert repr(score) == "BDeu(equivalent_sample_size=5.0, bins=4)"
    assert repr(BDeu(5)) == "BDeu(equivalent_sample_size=5.0)"
    said(score.in_words())
    assert from_json(to_json(score), SCORES) == score
    assert all(other.setting.bins == 4 for other in score.alternatives())  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="bins"):
        BDeu(5, bins=1)
