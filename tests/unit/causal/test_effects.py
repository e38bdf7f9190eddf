"""Effects: what is shown, what is refused, and cases whose answer is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost.causal import Effect
from dagpost.causal import effect as effect_of
from dagpost.causal.averages import shared_out
from dagpost.data import Table, as_table
from dagpost.errors import DagpostWarning, InputError, ResourceError
from dagpost.families.masks import mask_type
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.scores import BDeu, BGe


def sample_of(names: tuple[str, ...], graphs: list[list[int]], weights: list[float] | None = None) -> DagSample:
    nan = np.full(len(graphs), np.nan)
    shares = np.full(len(graphs), 1.0 / len(graphs)) if weights is None else np.array(weights)
    parents = np.array(graphs, dtype=mask_type(len(names)))
    return DagSample(names, parents, nan, nan, nan, shares, STRUCTURE, "exact-layers", "independent", "given weights")


@pytest.fixture(scope="module")
def coronary() -> Table:
    return datasets.load("coronary")


@pytest.fixture(scope="module")
def coronary_sample(coronary: Table) -> DagSample:
    return DagPosterior(prior="uniform", score="bdeu").fit(coronary).sample(2_000, seed=1)


@pytest.fixture(scope="module")
def effect(coronary: Table, coronary_sample: DagSample) -> Effect:
    return effect_of(coronary_sample, coronary, "bdeu", "Smoking", "Pressure", seed=3)


def three_levels(rows: int = 30) -> Table:
    generator = np.random.default_rng(0)
    columns = tuple(generator.integers(0, arity, rows).astype(np.uint8) for arity in (3, 2, 3))
    return Table(("A", "B", "C"), columns, (("low", "mid", "high"), (False, True), (0, 1, 2)))


def linear(rows: int, generator: np.random.Generator) -> Table:
    """C causes A and B, and A causes B by 2."""
    third = generator.normal(size=rows)
    first = third + generator.normal(size=rows)
    second = 2.0 * first - 3.0 * third + generator.normal(size=rows)
    return Table(("A", "B", "C"), (first, second, third), (None,) * 3)


# Cases whose answer is known


def test_adjusting_for_a_common_cause_gives_least_squares_when_the_prior_is_flat() -> None:
    table = linear(5_000, np.random.default_rng(1))
    sample = sample_of(table.names, [[4, 5, 0]])
    effect = effect_of(sample, table, BGe(mean_weight=1e-9), "A", "B", seed=1)
    data = table.values()
    design = np.column_stack([data[:, 0], data[:, 2], np.ones(len(data))])
    coefficients, residual, *_ = np.linalg.lstsq(design, data[:, 1])
    assert effect.mean == pytest.approx(coefficients[0], abs=1e-8)
    error = np.sqrt(residual[0] / (len(data) - 3) * np.linalg.inv(design.T @ design)[0, 0])
    assert effect.samples.std() == pytest.approx(error, rel=0.05)
    assert effect.mean == pytest.approx(2.0, abs=5 * error)


def test_without_the_common_cause_the_effect_is_confounded() -> None:
    table = linear(5_000, np.random.default_rng(1))
    effect = effect_of(sample_of(table.names, [[0, 1, 0]]), table, "bge", "A", "B", seed=1)
    # The covariance of A and B, 2 * 2 - 3, by the variance of A, 2.
    assert effect.mean == pytest.approx(0.5, abs=0.1)


def test_an_edge_without_direction_gives_a_mixture_of_zero_and_the_effect() -> None:
    generator = np.random.default_rng(2)
    cause = generator.normal(size=300)
    table = as_table(np.column_stack([cause, cause + generator.normal(size=300)]))
    sample = DagPosterior("bge", prior="uniform").fit(table).sample(2_000, seed=1)
    effect = effect_of(sample, table, "bge", "V0", "V1", seed=1)
    assert effect.zero_probability == pytest.approx(0.5, abs=1e-9)
    assert effect.positive_probability == pytest.approx(0.5, abs=0.01)
    assert effect.interval()[0] == 0.0
    assert effect.mean == pytest.approx(0.5 * np.polyfit(table.values()[:, 0], table.values()[:, 1], 1)[0], rel=0.02)


def test_no_path_is_no_effect_at_all() -> None:
    table = three_levels()
    sample = sample_of(table.names, [[0, 0, 0], [2, 0, 0], [0, 4, 1], [6, 0, 0]])
    effect = effect_of(sample, table, "bdeu", "B", "C", outcome_level=1, seed=1)
    assert (effect.samples == 0.0).all()
    assert (effect.mean, effect.median, effect.interval()) == (0.0, 0.0, (0.0, 0.0))
    assert effect.zero_probability == 1.0
    assert effect.direct is not None
    assert (effect.direct.mean, effect.direct.probability) == (0.0, 0.0)
    assert effect.through == ()
    assert "not at all with probability 1.000" in repr(effect)


def test_a_path_through_other_variables_is_an_effect() -> None:
    table = three_levels()
    effect = effect_of(sample_of(table.names, [[0, 4, 1]]), table, "bdeu", "A", "B", do=("high", "low"), seed=1)
    assert effect.zero_probability == 0.0
    assert (effect.samples != 0.0).all()


@pytest.mark.parametrize("score", ["bdeu", "bge"])
def test_rows_in_which_a_mediator_was_set_do_not_dilute_the_effect(score: str) -> None:
    """A causes B and B causes C; in half of the rows B was set by lot, so that C does not follow A there."""
    generator = np.random.default_rng(3)
    rows = 4_000
    was_set = np.arange(rows) % 2 == 1
    if score == "bge":
        first = generator.normal(size=rows)
        second = np.where(was_set, generator.normal(size=rows), first + 0.5 * generator.normal(size=rows))
        third = second + 0.5 * generator.normal(size=rows)
        columns: tuple = (first, second, third)
        levels: tuple = (None,) * 3
    else:
        first = generator.integers(0, 2, rows).astype(np.uint8)
        second = np.where(was_set, generator.integers(0, 2, rows), first).astype(np.uint8)
        columns, levels = (first, second, second), ((0, 1),) * 3
    masks = np.where(was_set, np.uint64(2), np.uint64(0))
    table = Table(("A", "B", "C"), columns, levels, interventions=masks)
    effect = effect_of(sample_of(table.names, [[0, 1, 2]]), table, score, "A", "C", seed=1)
    assert effect.mean == pytest.approx(1.0, abs=0.05)
    (through,) = effect.through
    assert (through.through, through.probability) == ("B", 1.0)
    assert through.mean == pytest.approx(effect.mean, abs=1e-9 if score == "bge" else 0.01)


def test_rows_in_which_the_treatment_was_set_count() -> None:
    table = three_levels()
    set_treatment = replace(table, interventions=np.full(table.rows, 2, dtype=np.uint64))
    sample = sample_of(table.names, [[0, 1, 2]])
    effects = [effect_of(sample, one, "bdeu", "B", "C", outcome_level=1, seed=1) for one in (table, set_treatment)]
    assert effects[0].mean == effects[1].mean


def test_effects_come_from_the_prior_with_a_warning_where_no_row_speaks(said: Said) -> None:
    table = three_levels()
    blind = replace(table, interventions=np.full(table.rows, 4, dtype=np.uint64))
    sample = sample_of(table.names, [[0, 0, 2]])
    with said.warns(DagpostWarning):
        effect = effect_of(sample, blind, BDeu(10.0), "B", "C", outcome_level=1, seed=1)
    assert effect.mean == pytest.approx(0.0, abs=1e-15)
    # Ten imagined rows in six cells: the difference of two variates of the Beta(5/3, 10/3) distribution.
    assert effect.samples.var() == pytest.approx(2 * (2 / 9) / 6, rel=0.1)
    continuous = linear(10, np.random.default_rng(1))
    blind = replace(continuous, interventions=np.full(10, 2, dtype=np.uint64))
    with said.warns(DagpostWarning):
        assert effect_of(sample_of(blind.names, [[0, 1, 0]]), blind, "bge", "A", "B", seed=1).mean == 0.0
    model = DagPosterior("bge", prior="uniform", seed=1).fit(blind)
    with said.warns(DagpostWarning):
        model.effect("A", "B", draws=10)


def test_counts_are_repeated_rows() -> None:
    table = three_levels()
    counts = np.random.default_rng(4).integers(0, 4, table.rows)
    repeated = replace(table, columns=tuple(np.repeat(column, counts) for column in table.columns))
    sample = sample_of(table.names, [[4, 1, 0], [0, 1, 0]])
    first, second = (
        effect_of(sample, one, "k2", "A", "B", do=("high", "low"), seed=1)
        for one in (replace(table, counts=counts), repeated)
    )
    assert first.mean == pytest.approx(second.mean, abs=1e-12)
    assert first.observations == second.observations == counts.sum()


def test_the_two_levels_compared_change_sign_when_swapped() -> None:
    table = three_levels()
    sample = sample_of(table.names, [[4, 1, 0]])
    up, down, rest = (
        effect_of(sample, table, "bdeu", "A", "B", do=do, seed=1).mean
        for do in (("high", "low"), ("low", "high"), ("mid", "low"))
    )
    assert up == pytest.approx(-down, abs=1e-15)
    assert up != pytest.approx(rest, abs=1e-3)


def test_the_second_level_is_compared_with_the_first_where_there_are_two(effect: Effect) -> None:
    assert (effect.do, effect.outcome_level) == (("yes", "no"), ">140")


def test_outcomes_of_all_levels_differ_by_the_mean_effect(effect: Effect) -> None:
    found = effect.outcome_table().set_index(["do Smoking", "level"])
    assert found.loc[("yes", ">140"), "mean"] - found.loc[("no", ">140"), "mean"] == pytest.approx(effect.mean)
    assert found.groupby(level=0)["mean"].sum().to_numpy() == pytest.approx(1.0)
    assert (found["lower"] <= found["upper"]).all()


def test_of_levels_in_an_order_the_last_is_compared_with_the_first_and_of_others_the_farthest(said: Said) -> None:
    table, graphs = three_levels(), [[0, 1, 2]]
    farthest = effect_of(sample_of(table.names, graphs), table, "bdeu", "A", "B", draws=10, seed=1)
    seen = {own.do[0]: own.mean for own in farthest.outcomes if own.level is True}
    assert farthest.do == (max(seen, key=seen.__getitem__), min(seen, key=seen.__getitem__))
    assert "farthest apart" in farthest.note
    in_order = replace(table, in_order=("A",))
    last = effect_of(sample_of(table.names, graphs), in_order, "bdeu", "A", "B", draws=10, seed=1)
    assert last.do == ("high", "low")
    said(last.note)
    assert last.mean == pytest.approx(seen["high"] - seen["low"])


def test_the_level_of_an_outcome_is_the_last_or_that_which_changes_most() -> None:
    table, graphs = three_levels(), [[2, 0, 2]]
    numbers = effect_of(sample_of(table.names, graphs), table, "bdeu", "B", "C", draws=10, seed=1)
    # Levels that are numbers are in an order.
    assert numbers.outcome_level == 2
    words = effect_of(sample_of(table.names, graphs), table, "bdeu", "B", "A", draws=10, seed=1)
    rows = {own.level: own.mean for own in words.outcomes if own.do[0] is True}
    other = {own.level: own.mean for own in words.outcomes if own.do[0] is False}
    assert words.outcome_level == max(rows, key=lambda level: abs(rows[level] - other[level]))
    assert "changes most" in words.note


def test_several_columns_are_set_at_once_or_held(said: Said) -> None:
    table = linear(200, np.random.default_rng(6))
    sample = sample_of(table.names, [[4, 5, 0], [0, 1, 1]], [0.75, 0.25])
    both = effect_of(sample, table, "bge", {"A": (1, 0), "C": (2, 0)}, "B", draws=100, seed=1)
    held = effect_of(sample, table, "bge", {"A": (1, 0), "C": 5}, "B", draws=100, seed=1)
    alone = effect_of(sample, table, "bge", "A", "B", draws=100, seed=1)
    assert (both.causes, both.do) == (("A", "C"), {"A": (1.0, 0.0), "C": (2.0, 0.0)})
    assert both.direct is None
    assert len(both.outcomes) == 2
    # C is not on the way from A.
    assert held.mean == pytest.approx(alone.mean)
    said(held.deed)
    units = effect_of(sample, table, "bge", ["A", "C"], "B", draws=100, seed=1)
    doubled = effect_of(sample, table, "bge", {"A": None, "C": (2, 0)}, "B", draws=100, seed=1)
    assert 2 * (both.mean - held.mean) == pytest.approx(2 * (doubled.mean - alone.mean))
    assert doubled.mean - units.mean == pytest.approx((both.mean - held.mean) / 2)


def test_parts_of_a_linear_effect_are_sums_over_paths() -> None:
    table = linear(300, np.random.default_rng(6))
    # C -> A -> B and C -> B.
    effect = effect_of(sample_of(table.names, [[4, 5, 0]]), table, "bge", "C", "B", seed=1)
    (through,) = effect.through
    assert effect.direct is not None
    np.testing.assert_allclose(effect.samples, effect.direct.samples + through.samples, atol=1e-12)
    assert effect.mean == pytest.approx(effect.direct.mean + through.mean)
    assert (through.through, through.probability, effect.direct.probability) == ("A", 1.0, 1.0)
    assert effect.parts_table()["part"].to_list() == ["total", "direct", "through A"]


def test_a_condition_restricts_the_graphs_and_says_how_probable_it_is(said: Said) -> None:
    table = linear(50, np.random.default_rng(6))
    graphs = [[4, 5, 0], [0, 1, 2], [0, 0, 0]]
    sample = sample_of(table.names, graphs, [0.5, 0.3, 0.2])
    given = effect_of(sample, table, "bge", "A", "B", given="C -> A", draws=100, seed=1)
    assert given.condition is not None
    assert given.condition.statement == "C -> A"
    assert given.condition.probability == pytest.approx(0.5)
    alone = effect_of(sample_of(table.names, graphs[:1]), table, "bge", "A", "B", draws=100, seed=1)
    assert given.mean == pytest.approx(alone.mean)
    assert (given.graphs, given.zero_probability) == (1, 0.0)
    assert repr(given).startswith("Given C -> A: with one unit more of A")
    with said.raises(InputError):
        effect_of(sample, table, "bge", "A", "B", given="B -> A")
    with said.raises(InputError):
        effect_of(sample, table, "bge", "A", "B", given="P(B -> A | A -> C)")


def test_graphs_that_a_condition_leaves_are_counted_once_whatever_is_averaged_over() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=list("ABC"))
    effect = DagPosterior(BDeu([1, 5]), prior="uniform", seed=1).fit(frame).effect("A", "B", given="C -> B", draws=50)
    # Of the 25 graphs of three columns, eight have a given edge.
    assert (effect.exact, effect.graphs) == (True, 8)


def test_assumptions_say_who_decided_the_directions() -> None:
    table = linear(300, np.random.default_rng(6))
    ruled = (
        DagPosterior("bge", prior="uniform", tiers=[["C"], ["A"], ["B"]], seed=1).fit(table).effect("A", "B", draws=10)
    )
    assert any("No common cause" in sentence for sentence in ruled.assumptions)
    assert ruled.assumptions[-1] == "Directions on the way from cause to outcome: decided by your rules: A ⇒ B."
    free = DagPosterior("bge", prior="uniform", seed=1).fit(table).effect("A", "B", draws=10)
    assert "open, the data cannot tell: " in free.assumptions[-1]
    assert "No common cause" in free._repr_html_()


def test_very_small_pseudocounts_give_draws_between_minus_one_and_one() -> None:
    table = three_levels(3)
    sample = sample_of(table.names, [[4, 1, 0]])
    effect = effect_of(sample, table, BDeu(1e-100), "A", "B", do=("high", "low"), draws=200, seed=1)
    assert np.isfinite(effect.samples).all()
    assert np.abs(effect.samples).max() <= 1.0


@pytest.mark.parametrize(("nodes", "score"), [(3, "bdeu"), (6, "bdeu"), (6, "bge")])
def test_all_pairs_agree_with_one_pair_at_a_time(nodes: int, score: str) -> None:
    generator = np.random.default_rng(6)
    behind = np.cumsum(generator.normal(size=(60, nodes)), axis=1)
    table = as_table(behind if score == "bge" else (behind > 0).astype(int))
    model = DagPosterior(score, prior="uniform", seed=1, samples=400).fit(table)
    found: Any = model.effects(draws=400).set_index(["cause", "outcome"])
    assert len(found) == nodes * (nodes - 1)
    for pair in (("V0", "V1"), ("V2", "V0"), ("V1", "V2")):
        one = model.effect(*pair, draws=2_000)
        row: Any = found.loc[pair]
        assert one.direct is not None
        assert row["no_effect"] == pytest.approx(one.zero_probability)
        # Of levels, means come from as many graphs as are drawn.
        error = 1e-9 if one.exact or score == "bge" else 0.05
        assert row["mean"] == pytest.approx(one.mean, abs=error)
        assert row["direct"] == pytest.approx(one.direct.mean, abs=error)
        assert row["raises"] == pytest.approx(one.positive_probability, abs=0.1)
        assert (row["lower"], row["upper"]) == pytest.approx(one.interval(), abs=0.3)


@pytest.mark.parametrize(
    ("offset", "scale", "score"),
    [
        (1e12, 1.0, "bge"),
        (1e15, 1e3, "bge"),
        (1.7e18, 1e9, "bge"),
        (0.0, 1e60, "bge"),
    ],
)
def test_one_unit_more_is_not_lost_next_to_large_numbers(offset: float, scale: float, score: str) -> None:
    first, second, third = linear(80, np.random.default_rng(3)).columns
    # What the large numbers keep of the digits; the same in small ones.
    large = first * scale + offset
    small = (large - offset) / scale
    sample = sample_of(("A", "B", "C"), [[4, 5, 0], [0, 1, 2]])

    def found(column: np.ndarray, cause: Any, **settings: Any) -> Effect:
        table = Table(("A", "B", "C"), (column, second, third), (None,) * 3)
        return effect_of(sample, table, score, cause, "B", draws=50, seed=1, **settings)

    one, same = found(large, "A"), found(small, "A")
    assert one.mean * scale == pytest.approx(same.mean, rel=1e-6)
    assert one.samples * scale == pytest.approx(same.samples, rel=0.1)
    assert one.direct is not None
    assert same.direct is not None
    assert one.direct.mean * scale == pytest.approx(same.direct.mean, rel=1e-6)
    joint = found(large, {"A": None, "C": (2.0, 1.0)})
    apart = found(large, {"A": None, "C": 1.0}), found(large, {"C": (2.0, 1.0), "A": float(large[0])})
    assert joint.mean == pytest.approx(apart[0].mean + apart[1].mean, rel=1e-6)


@pytest.mark.parametrize("nodes", [3, 6])
def test_all_effects_of_large_numbers_are_those_of_one_pair(nodes: int) -> None:
    generator = np.random.default_rng(6)
    data = np.cumsum(generator.normal(size=(60, nodes)), axis=1)
    data[:, 0] = 1.7e18 + 1e9 * data[:, 0]
    model = DagPosterior("bge", prior="uniform", seed=1, samples=200).fit(as_table(data))
    one = model.effect("V0", "V1", draws=200)
    row: Any = model.effects(draws=200).set_index(["cause", "outcome"]).loc[("V0", "V1")]
    assert one.mean == pytest.approx(1e-9 * (1.0 - one.zero_probability), rel=0.3)
    assert row["mean"] == pytest.approx(one.mean, rel=1e-6)
    assert row["raises"] == pytest.approx(one.positive_probability, abs=0.1)
    assert row["upper"] == pytest.approx(one.interval()[1], rel=0.3)


def test_a_path_of_no_drawn_graph_is_as_probable_in_all_effects_as_in_one() -> None:
    generator = np.random.default_rng(6)
    table = as_table((np.cumsum(generator.normal(size=(60, 6)), axis=1) > 0).astype(int))
    model = DagPosterior("bdeu", prior="uniform", seed=1, samples=2).fit(table)
    found: Any = model.effects(draws=2).set_index(["cause", "outcome"])
    paths = model.probability_matrix("~>")
    expected = [1.0 - paths.loc[pair] for pair in found.index]
    assert found["no_effect"].tolist() == pytest.approx(expected)
    (cause, outcome) = found.index[(found["raises"] + found["lowers"] == 0.0) & (found["no_effect"] < 1.0)][0]
    one = model.effect(cause, outcome, draws=50)
    assert found.loc[(cause, outcome), "no_effect"] == pytest.approx(one.zero_probability)


def test_few_columns_are_summed_over_all_graphs_and_more_are_not() -> None:
    table = linear(50, np.random.default_rng(6))
    model = DagPosterior("bge", prior="uniform", seed=1).fit(table)
    effect = model.effect("A", "B", draws=10)
    assert (effect.exact, effect.zero_exact, effect.graphs) == (True, True, 25)
    assert effect.zero_probability == pytest.approx(1.0 - model.probability("A ~> B"))
    given = model.effect("A", "B", given="A -> C", draws=10)
    assert given.condition is not None
    assert given.condition.probability == pytest.approx(float(model.probability("A -> C")))
    assert given.zero_probability == pytest.approx(1.0 - model.probability("A ~> B", given="A -> C"))


def test_the_probability_of_no_effect_is_exact_and_draws_agree_with_it() -> None:
    generator = np.random.default_rng(6)
    table = as_table((np.cumsum(generator.normal(size=(60, 6)), axis=1) > 0).astype(int))
    model = DagPosterior("bdeu", prior="uniform", seed=1, samples=300).fit(table)
    effect = model.effect("V1", "V3", draws=1_000)
    assert (effect.exact, effect.zero_exact) == (False, True)
    assert effect.zero_probability == pytest.approx(1.0 - model.probability("V1 ~> V3"))
    assert (effect.samples == 0.0).mean() == pytest.approx(effect.zero_probability, abs=0.002)


class Largest:
    """A generator whose uniform variate is as near to 1 as can be."""

    def random(self) -> float:
        return float(np.nextafter(1.0, 0.0))


@pytest.mark.parametrize("last", [0.0, 0.25])
def test_rounding_gives_no_draw_to_graphs_that_are_not_there(last: float) -> None:
    generator: Any = Largest()
    for draws in range(1, 20):
        first, second = shared_out([np.array([0.5]), np.array([0.5 - last, last])], draws, generator)
        assert first.sum() + second.sum() == draws
        assert second[-1] == 0 or last > 0.0


# What is shown


def test_more_draws_than_fit_are_refused(coronary: Table, coronary_sample: DagSample, said: Said) -> None:
    with said.raises(ResourceError):
        effect_of(coronary_sample, coronary, "bdeu", "Smoking", "Pressure", draws=10**12, seed=1)


def test_draws_repeat_with_the_seed_and_differ_without(coronary: Table, coronary_sample: DagSample) -> None:
    draws = [
        effect_of(coronary_sample, coronary, "bdeu", "Smoking", "Pressure", draws=100, seed=seed).samples
        for seed in (3, 3, 4)
    ]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()


def test_draws_stand_in_no_particular_order(effect: Effect) -> None:
    half = len(effect.samples) // 2
    shares = [(part == 0.0).mean() for part in (effect.samples[:half], effect.samples[half:])]
    assert shares[0] == pytest.approx(shares[1], abs=0.05)


def test_results_cannot_be_written_to(effect: Effect) -> None:
    assert not effect.samples.flags.writeable


def test_the_numbers_of_an_effect_belong_together(effect: Effect) -> None:
    samples = effect.samples
    assert effect.mean == pytest.approx(samples.mean(), abs=5 * samples.std() / np.sqrt(len(samples)))
    assert (samples == 0.0).mean() == pytest.approx(effect.zero_probability, abs=1 / len(samples))
    assert effect.positive_probability + effect.negative_probability == pytest.approx((samples != 0.0).mean())
    lower, upper = effect.interval(0.5)
    assert ((lower <= samples) & (samples <= upper)).mean() >= 0.5
    assert effect.interval(0.5)[0] >= effect.interval()[0]
    assert effect.median == np.median(samples)


def test_an_effect_reads_as_one_sentence(effect: Effect) -> None:
    assert repr(effect).startswith("With Smoking set to yes rather than no, P(Pressure = >140) changes by -0.0")
    assert repr(effect).endswith("(2,000 graphs; each graph counted once).")
    table = linear(50, np.random.default_rng(6))
    slope = effect_of(sample_of(table.names, [[4, 5, 0]]), table, "bge", "A", "B", seed=1)
    assert repr(slope).startswith("With one unit more of A, the mean of B changes by ")


def test_names_are_never_obeyed_as_markup() -> None:
    table = three_levels()
    odd = replace(table, names=("<script>a</script>", "B\x1b[31m", "C"), levels=(("<b>", "y", "z"), *table.levels[1:]))
    effect = effect_of(
        sample_of(odd.names, [[4, 1, 0]]), odd, "bdeu", odd.names[0], odd.names[1], do=("<b>", "y"), seed=1
    )
    assert "<script>" not in effect._repr_html_()
    assert "&lt;script&gt;" in effect._repr_html_()
    assert "<b>" not in effect._repr_html_()
    assert "\x1b" not in repr(effect)
    other_way = effect_of(sample_of(odd.names, [[0, 1, 2]]), odd, "bdeu", "B\x1b[31m", "C", outcome_level=1, seed=1)
    assert "<script>" not in other_way._repr_html_()


def test_the_summary_survives_json(effect: Effect) -> None:
    summary = json.loads(json.dumps(effect.summary(), allow_nan=False))
    assert summary == effect.summary()
    assert summary["interval"] == list(effect.interval())
    assert summary["do"] == ["yes", "no"]
    table = three_levels()
    of_numbers = effect_of(sample_of(table.names, [[0, 1, 2]]), table, "bdeu", "B", "C", outcome_level=1, seed=1)
    assert json.loads(json.dumps(of_numbers.summary()))["do"] == [True, False]


def test_the_frame_has_the_draws_of_all_parts(effect: Effect) -> None:
    frame = effect.to_frame()
    assert (frame["effect"].to_numpy() == effect.samples).all()
    assert list(frame.columns[:2]) == ["effect", "direct"]
    assert [name.removeprefix("through ") for name in frame.columns[2:]] == [part.through for part in effect.through]
    # Without a path there is no part of an effect.
    assert not frame[frame["effect"] == 0.0].to_numpy().any()


def test_the_plot_is_drawn_where_it_is_told_to(effect: Effect) -> None:
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    figure, axes = plt.subplots()
    assert effect.plot(axes) is axes
    plt.close(figure)


# What is refused


def test_names_must_be_known_and_different(coronary: Table, coronary_sample: DagSample, said: Said) -> None:
    with said.raises(InputError):
        effect_of(coronary_sample, coronary, "bdeu", "Smokin", "Pressure")
    with said.raises(InputError):
        effect_of(coronary_sample, coronary, "bdeu", "Smoking", "Pressur")
    with pytest.raises(InputError, match="both 'Smoking'"):
        effect_of(coronary_sample, coronary, "bdeu", "Smoking", "Smoking")


def test_graphs_and_table_must_have_the_same_variables(coronary: Table, coronary_sample: DagSample, said: Said) -> None:
    with said.raises(InputError):
        effect_of(coronary_sample, three_levels(), "bdeu", "Smoking", "Pressure")


@pytest.mark.parametrize(
    "settings",
    [
        {"do": ("high", "huge")},
        {"do": ("high", ["low"])},
        {"do": ("high", "low"), "outcome_level": "maybe"},
        {"do": ("high", "high")},
        {"do": "high"},
        {"do": ("low", "mid", "high")},
        {"do": {"high"}},
        {"do": ("high", "low"), "draws": -5},
        {"do": ("high", "low"), "draws": True},
        {"do": ("high", "low"), "draws": 2.5},
        {"do": ("high", "low"), "confidence": 95},
        {"do": ("high", "low"), "seed": -1},
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(settings: dict, said: Said) -> None:
    table = three_levels()
    with said.raises(InputError):
        effect_of(sample_of(table.names, [[4, 1, 0]]), table, "bdeu", "A", "B", **settings)


@pytest.mark.parametrize(
    ("cause", "settings"),
    [
        ({"A": ("high", "low"), "C": (1, 0)}, {"do": ("high", "low")}),
        ({}, {}),
        (5, {}),
        (["A", "A"], {}),
        (["A", "C"], {}),
        ({"A": "high", "C": 1}, {}),
        ({"A": ("high", "low"), "B": (True, False)}, {}),
    ],
)
def test_wrong_causes_are_refused_with_what_is_allowed(cause: object, settings: dict, said: Said) -> None:
    table = three_levels()
    with said.raises(InputError):
        effect_of(sample_of(table.names, [[4, 1, 0]]), table, "bdeu", cause, "B", **settings)


def test_a_variable_of_one_level_cannot_change(said: Said) -> None:
    table = replace(three_levels(), columns=(np.zeros(30, np.uint8),) * 3, levels=((0,), (0, 1), (0, 1)))
    sample = sample_of(table.names, [[0, 1, 0]])
    for pair in (("A", "B"), ("B", "A")):
        with said.raises(InputError):
            effect_of(sample, table, "bdeu", *pair)


def test_discrete_and_continuous_are_not_mixed_up(said: Said) -> None:
    table, numbers = three_levels(), linear(9, np.random.default_rng(1))
    sample = sample_of(table.names, [[4, 1, 0]])
    with said.raises(InputError):
        effect_of(sample, table, "bge", "A", "B")
    with said.warns(DagpostWarning):
        cut = effect_of(sample, numbers, "bdeu", "A", "B", draws=10)
    assert len(cut.outcomes) == 9
    with said.raises(InputError):
        effect_of(sample, numbers, "bge", "A", "B", do=("x", 0.0))
    with said.raises(InputError):
        effect_of(sample, numbers, "bge", "A", "B", do=(1.0, 1.0))
    with said.raises(InputError):
        effect_of(sample, numbers, "bge", "A", "B", outcome_level=1.0)


def test_scores_without_known_parameters_are_refused(said: Said) -> None:
    class Mine:
        def fill(self, *arguments: object) -> None: ...

    table = three_levels()
    with said.raises(InputError):
        effect_of(sample_of(table.names, [[4, 1, 0]]), table, Mine(), "A", "B")


@pytest.mark.parametrize("score", ["bdeu", "bge"])
def test_negative_counts_are_refused(score: str, said: Said) -> None:
    table = three_levels() if score == "bdeu" else linear(30, np.random.default_rng(1))
    counts = np.ones(30, dtype=np.int64)
    counts[4] = -2
    sample = sample_of(table.names, [[4, 1, 0]])
    with said.raises(InputError):
        effect_of(
            sample,
            replace(table, counts=counts),
            score,
            "A",
            "B",
            **({"do": ("high", "low")} if score == "bdeu" else {}),
        )
