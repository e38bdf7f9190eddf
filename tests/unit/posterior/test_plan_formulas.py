"""What plans reckon with: formulas that grow as the work does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

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
        DagPosterior(prior="uniform", score=score, method=method(), modularity=modularity).plan(table)
        for score, table in (("bge", numbers), ("bdeu", levels))
    ]
    assert plans[0].seconds > 5.0 * plans[1].seconds
    assert [stage.stage for stage in plans[0].stages] == ["scores", "tables", "samples"]


def tiers_of(sizes: list[int]) -> list[list[str]]:
    bounds = np.cumsum([0, *sizes])
    return [[f"V{column}" for column in range(first, last)] for first, last in pairwise(bounds)]


def random_levels(columns: int) -> pd.DataFrame:
    values = np.random.default_rng(2).integers(2, size=(50, columns))
    return pd.DataFrame(values, columns=[f"V{column}" for column in range(columns)])


def test_a_plan_counts_the_families_and_components_that_rules_leave(said: Said) -> None:
    plan = DagPosterior(prior="uniform", score="bdeu", tiers=tiers_of([3, 2, 1]), max_parents=2).plan(random_levels(6))
    scores, tables, samples = plan.stages
    families = 3 * 4 + 2 * (1 + 4 + 6) + (1 + 5 + 10)
    assert scores.what == f"{families} parent sets"
    assert scores.size == 8 * families
    said(tables.what)
    assert samples.stage == "samples"
    assert plan.method == "exact-layers"
    said(plan.reason)


def test_sums_of_a_plan_grow_with_the_components_and_not_with_the_columns() -> None:
    """Sixty columns in tiers of six, and of twelve: 3^12 and not 3^60 decides."""
    table = random_levels(60)
    small, large = (
        DagPosterior(
            prior="uniform", score="bdeu", tiers=tiers_of([size] * (60 // size)), max_parents=2, threads=1
        ).plan(table)
        for size in (6, 12)
    )
    sums = [next(stage.seconds for stage in plan.stages if stage.stage == "tables") for plan in (small, large)]
    assert sums[0] < sums[1] < 0.1
    assert small.exact
    assert large.exact


def test_rules_that_leave_one_component_do_not_change_a_plan() -> None:
    table = random_levels(5)
    plain = DagPosterior(prior="uniform", score="bdeu").plan(table)
    ruled = DagPosterior(prior="uniform", score="bdeu", forbidden=["V0 -> V1"]).plan(table)
    assert plain == ruled


def test_a_plan_speaks_of_what_the_fit_then_does(said: Said) -> None:
    """With an average too: as many scores and sums as there are values."""
    table, rules = random_levels(7), {"exogenous": ["V0", "V1"], "tiers": tiers_of([2, 5])}
    model = DagPosterior(max_parents=2, **{"prior": "uniform", **rules})
    plan = model.plan(table)
    model.fit(table)
    assert plan.reason == model.fitted_.reason
    assert plan.method == model.fitted_.method.name
    assert plan.exact
    assert model.exact_
    said(plan.stages[0].what)
    held = sum(array.nbytes for part in model.fitted_.workspace.parts for array in part.log_weights)
    assert plan.stages[0].size == held


def test_the_automatic_score_averages_where_groups_and_families_cost_no_more_than_eighteen_variables() -> None:
    averaged = [
        (random_levels(18), {}),
        (random_levels(24), {"tiers": tiers_of([8] * 3), "max_parents": 3}),
        (random_levels(60), {"tiers": tiers_of([15] * 4), "max_parents": 3}),
    ]
    for table, rules in averaged:
        assert "for each of 4" in str(DagPosterior(**{"prior": "uniform", **rules}).plan(table))
    single = [
        (random_levels(19), {}),
        (random_levels(24), {"tiers": tiers_of([19, 5]), "max_parents": 2}),
        # The families of two tiers would take as long as the sums.
        (random_levels(40), {"tiers": tiers_of([10] * 4), "max_parents": 5}),
    ]
    for table, rules in single:
        assert "for each of 4" not in str(DagPosterior(**{"prior": "uniform", **rules}).plan(table))
