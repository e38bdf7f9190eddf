"""What plans reckon with: formulas that grow as the work does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dagpost import BIC, BDeu, BGe, DagPosterior, OrderMCMC, PartitionMCMC
from dagpost.families.family_sums import seconds_of_tables, size_of_tables


def test_more_rows_and_more_levels_leave_fewer_parent_sets_in_play() -> None:
    for score in (BDeu(), BIC()):
        by_rows = [score.parents_in_play(rows, [2, 2, 2], 6) for rows in (10, 100, 10_000)]
        by_levels = [score.parents_in_play(1000, [levels] * 3, 6) for levels in (2, 3, 8)]
        assert by_rows == sorted(by_rows, reverse=True)
        assert by_levels == sorted(by_levels, reverse=True)
        assert by_rows[0] > by_rows[-1]
        assert by_levels[-1] == 1
    assert BGe().parents_in_play(1000, [], 5) == 5
    assert BDeu().parents_in_play(1, [2], 0) == 0


def test_tables_of_chains_take_a_sum_for_each_set_of_candidates() -> None:
    assert size_of_tables(18, 1) / size_of_tables(17, 1) == pytest.approx(2.0 * 18 / 17, rel=0.01)
    assert size_of_tables(21, 3) > 21 * 8 * 2**20
    # Beyond 21 columns only some of them are candidates.
    assert size_of_tables(22, 3) < size_of_tables(21, 3)
    assert seconds_of_tables(22, 5) < seconds_of_tables(25, 5)


@pytest.mark.parametrize("method", [OrderMCMC, PartitionMCMC])
def test_chains_over_numbers_are_planned_longer_than_over_levels(method: type) -> None:
    """With BGe no parent set drops out, and all of them are scanned at every step."""
    modularity = "order" if method is OrderMCMC else "structure"
    generator = np.random.default_rng(0)
    names = [f"V{node}" for node in range(25)]
    numbers = pd.DataFrame(generator.normal(size=(200, 25)), columns=names)
    levels = pd.DataFrame(generator.integers(3, size=(200, 25)), columns=names)
    plans = [
        DagPosterior(score=score, method=method(), modularity=modularity).plan(table)
        for score, table in (("bge", numbers), ("bdeu", levels))
    ]
    assert plans[0].seconds > 5.0 * plans[1].seconds
    assert [stage.stage for stage in plans[0].stages] == ["scores", "tables", "samples"]
