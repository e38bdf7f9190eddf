"""Predictive probabilities against direct summation over all graphs, and against the scores they belong to."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import posterior as naive
from tests.naive import prediction as naive_prediction
from tests.naive import scores as naive_scores
from tests.tools.examples import examples
from tests.tools.family_columns import family_log_predictive

from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.families.masks import mask_type
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.prediction import (
    averaging,
    counting,
    discrete,
    encode_rows,
    log_predictive,
    predictive_of_target,
    statistics_from,
    sufficient_statistics,
)
from dagpost.prediction.family_lists import families_in
from dagpost.prediction.rows import NewRows
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, local_scores

DISCRETE_SCORES = [BDeu(1.0), BDeu(7.5), BDe(0.5), BDe(1e-3), K2(), BIC()]


def extra_of(draw: st.DrawFn, generator: np.random.Generator, nodes: int, count: int) -> dict:
    """Counts and interventions, each there or not."""
    extra: dict = {}
    if draw(st.booleans()):
        extra["counts"] = generator.integers(0, 4, count)
        extra["counts"][0] = 1
    if draw(st.booleans()):
        extra["interventions"] = generator.integers(0, 1 << nodes, count, dtype=np.uint64)
        extra["interventions"] &= generator.integers(0, 1 << nodes, count, dtype=np.uint64)
        if draw(st.booleans()):
            # One node that was set in every row.
            extra["interventions"] |= np.uint64(1)
    return extra


@st.composite
def discrete_tables(draw: st.DrawFn, most_nodes: int = 4) -> Table:
    arities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most_nodes))
    count = draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = tuple(f"v{node}" for node in range(len(arities)))
    # Some levels do not occur.
    columns = tuple(
        generator.integers(0, generator.integers(1, arity + 1), count).astype(np.uint8) for arity in arities
    )
    levels = tuple(tuple(range(arity)) for arity in arities)
    return Table(names, columns, levels, **extra_of(draw, generator, len(arities), count))


@st.composite
def continuous_tables(draw: st.DrawFn) -> Table:
    nodes = draw(st.integers(1, 4))
    count = draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = generator.normal(size=(count, nodes)) @ generator.normal(size=(nodes, nodes)) + generator.choice([0.0, 3.0])
    names = tuple(f"v{node}" for node in range(nodes))
    return Table(names, tuple(np.ascontiguousarray(data.T)), (None,) * nodes, **extra_of(draw, generator, nodes, count))


def twin_of(table: Table, score: Any) -> naive_prediction.Family:
    match score:
        case BDeu(equivalent_sample_size=size):
            return naive_prediction.discrete_family(table, naive_prediction.bdeu_parameter(table, size))
        case BDe(pseudocount=pseudocount):
            return naive_prediction.discrete_family(table, lambda *_: pseudocount)
        case K2():
            return naive_prediction.discrete_family(table, lambda *_: 1.0)
        case BIC():
            return naive_prediction.discrete_family(table, lambda *_: 0.5)
    assert isinstance(score, BGe)
    nodes = len(table.names)
    counts = np.ones(table.rows) if table.counts is None else table.counts
    mean = np.average(table.values(), axis=0, weights=counts)
    if score.prior_mean is not None:
        mean = np.full(nodes, score.prior_mean)
    deviations = naive_scores.deviations(table, score.prior_scale)
    degrees = nodes + score.mean_weight + 1 if score.degrees_of_freedom is None else score.degrees_of_freedom
    return naive_prediction.gaussian_family(table, score.mean_weight, degrees, mean, deviations)


def all_families(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(child, mask) for child in range(nodes) for mask in range(1 << nodes) if not mask >> child & 1]
    return np.array([child for child, _ in pairs]), np.array([mask for _, mask in pairs], dtype=np.uint64)


def every_dag(nodes: int) -> np.ndarray:
    return np.array(naive.all_dags(nodes), dtype=mask_type(nodes)).reshape(-1, nodes)


def sample_of(names: tuple[str, ...], parents: np.ndarray, weights: np.ndarray) -> DagSample:
    nan = np.full(len(parents), np.nan)
    return DagSample(names, parents, nan, nan, nan, weights, STRUCTURE, "exact-layers", "independent", "given weights")


def weights_for(generator: np.random.Generator, count: int, spread: float) -> np.ndarray:
    """Weights over many orders of magnitude, some of them 0."""
    logs = generator.normal(size=count) * spread
    weights = np.exp(logs - logs.max())
    weights[generator.random(count) < 0.1] = 0.0
    weights[logs.argmax()] = 1.0
    return weights / weights.sum()


def rows_from(generator: np.random.Generator, table: Table, count: int, *, unknown: bool = False) -> NewRows:
    """Rows of any levels, also some that are not known; in a few, columns were set."""
    nodes = len(table.names)
    if table.discrete:
        cells = np.array([generator.integers(0, arity + unknown, count) for arity in table.arities], dtype=np.int32)
    else:
        cells = generator.normal(size=(nodes, count)) * generator.choice([1.0, 30.0], count)
    masks = generator.integers(0, 1 << nodes, count, dtype=np.uint64)
    masks = np.where(generator.random(count) < 0.8, np.uint64(0), masks)
    return NewRows(cells, masks, np.zeros((nodes, count), dtype=bool))


def as_new_table(table: Table, rows: NewRows) -> Table:
    kind = np.uint8 if table.discrete else np.float64
    return Table(
        table.names, tuple(cells.astype(kind) for cells in rows.cells), table.levels, interventions=rows.interventions
    )


# One family


@given(discrete_tables(), st.sampled_from(DISCRETE_SCORES), st.integers(0, 2**32 - 1))
def test_discrete_families_match_their_definition_also_where_levels_are_not_known(
    table: Table, score: Any, seed: int
) -> None:
    nodes = len(table.names)
    statistics = sufficient_statistics(table, every_dag(nodes), score)
    children, parents = all_families(nodes)
    rows = rows_from(np.random.default_rng(seed), table, 5, unknown=True)
    found = family_log_predictive(statistics, score, children, parents, rows)
    twin = twin_of(table, score)
    for number, (child, mask) in enumerate(zip(children, parents, strict=True)):
        for row in range(5):
            was_set = int(rows.interventions[row]) >> int(child) & 1
            expected = 0.0 if was_set else twin(int(child), naive_prediction.members(int(mask)), rows.cells[:, row])
            assert found[number, row] == pytest.approx(expected, abs=1e-12, rel=1e-12)


@given(
    discrete_tables(),
    st.sampled_from([score for score in DISCRETE_SCORES if score != BIC()]),
    st.integers(0, 2**32 - 1),
)
def test_a_discrete_family_predicts_the_rise_of_its_score(table: Table, score: Any, seed: int) -> None:
    assert_predicts_the_rise(table, score, rows_from(np.random.default_rng(seed), table, 2))


@given(
    continuous_tables(),
    st.sampled_from([BGe(prior_mean=0.0, prior_scale=1.0), BGe(2.5, None, 1.0, 0.3), BGe(0.5, 11.0, -2.0, 4.0)]),
    st.integers(0, 2**32 - 1),
)
def test_a_continuous_family_predicts_the_rise_of_its_score(table: Table, score: Any, seed: int) -> None:
    assert_predicts_the_rise(table, score, rows_from(np.random.default_rng(seed), table, 2))


def assert_predicts_the_rise(table: Table, score: Any, rows: NewRows) -> None:
    nodes = len(table.names)
    statistics = sufficient_statistics(table, every_dag(nodes), score)
    children, parents = all_families(nodes)
    rows = rows._replace(interventions=np.zeros_like(rows.interventions))
    found = family_log_predictive(statistics, score, children, parents, rows)
    before = local_scores(table, score, nodes)
    for row in range(rows.cells.shape[1]):
        after = local_scores(naive_prediction.with_row(table, rows.cells[:, row]), score, nodes)
        for number, (child, mask) in enumerate(zip(children, parents, strict=True)):
            family = int(child), naive_prediction.members(int(mask))
            assert found[number, row] == pytest.approx(after.score(*family) - before.score(*family), abs=1e-9)


@settings(max_examples=40)
@given(continuous_tables(), st.integers(0, 2**32 - 1))
def test_a_prior_mean_and_scale_that_are_not_given_are_those_of_the_rows_of_training(table: Table, seed: int) -> None:
    nodes = len(table.names)
    statistics = sufficient_statistics(table, every_dag(nodes), "bge")
    children, parents = all_families(nodes)
    rows = rows_from(np.random.default_rng(seed), table, 1)._replace(interventions=np.zeros(1, dtype=np.uint64))
    found = family_log_predictive(statistics, "bge", children, parents, rows)
    twin = twin_of(table, BGe())
    for number, (child, mask) in enumerate(zip(children, parents, strict=True)):
        expected = twin(int(child), naive_prediction.members(int(mask)), rows.cells[:, 0])
        assert found[number, 0] == pytest.approx(expected, abs=1e-8)


# All graphs


@settings(max_examples=examples(60))
@given(discrete_tables(), st.sampled_from(DISCRETE_SCORES), st.sampled_from([1.0, 300.0]), st.integers(0, 2**32 - 1))
def test_discrete_prediction_matches_the_sum_over_all_graphs(
    table: Table, score: Any, spread: float, seed: int
) -> None:
    assert_matches_the_sum(table, score, spread, seed, tolerance=1e-9)


@settings(max_examples=30)
@given(
    continuous_tables(), st.sampled_from([BGe(), BGe(2.0, 20.0, 1.0), BGe(prior_scale=2.0)]),
    st.sampled_from([1.0, 300.0]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_continuous_prediction_matches_the_sum_over_all_graphs(
    table: Table, score: Any, spread: float, seed: int
) -> None:
    assert_matches_the_sum(table, score, spread, seed, tolerance=1e-8)


def assert_matches_the_sum(table: Table, score: Any, spread: float, seed: int, tolerance: float) -> None:
    generator = np.random.default_rng(seed)
    dags = every_dag(len(table.names))
    dags = dags[generator.permutation(len(dags))[:60]]
    weights = weights_for(generator, len(dags), spread)
    statistics = sufficient_statistics(table, dags, score)
    rows = rows_from(generator, table, 3)
    found = log_predictive(sample_of(table.names, dags, weights), statistics, score, as_new_table(table, rows))
    twin = twin_of(table, score)
    for row in range(3):
        expected = naive_prediction.log_predictive(
            twin, dags.tolist(), weights, rows.cells[:, row].tolist(), int(rows.interventions[row])
        )
        assert found[row] == pytest.approx(expected, abs=tolerance)


@settings(max_examples=40)
@given(discrete_tables(), st.sampled_from(DISCRETE_SCORES), st.integers(0, 2**32 - 1))
def test_the_probabilities_of_all_cells_sum_to_one(table: Table, score: Any, seed: int) -> None:
    dags = every_dag(len(table.names))
    weights = weights_for(np.random.default_rng(seed), len(dags), 5.0)
    statistics = sufficient_statistics(table, dags, score)
    cells = np.array(list(product(*(range(arity) for arity in table.arities))), dtype=np.uint8)
    every_cell = Table(table.names, tuple(cells.T), table.levels)
    found = log_predictive(sample_of(table.names, dags, weights), statistics, score, every_cell)
    assert math.fsum(np.exp(found)) == pytest.approx(1.0, abs=1e-9)


@settings(max_examples=40)
@given(
    st.one_of(
        st.tuples(discrete_tables(), st.sampled_from([BDeu(1.0), BDeu(20.0), BDe(0.5), K2()])),
        st.tuples(continuous_tables(), st.sampled_from([BGe(1.0, None, 0.0, 1.0), BGe(2.0, 20.0, 1.0, 0.5)])),
    ),
    st.integers(0, 2**32 - 1),
)
def test_the_average_over_all_graphs_is_the_rise_of_the_log_evidence(case: Any, seed: int) -> None:
    """The weights are the posterior of the graphs, so the average is p(row and rows) / p(rows)."""
    table, score = case
    nodes = len(table.names)
    dags = every_dag(nodes)
    log_joint = naive.log_joint_of_every_dag(local_scores(table, score, nodes).values, nodes - 1)
    weights = np.exp(log_joint - naive.log_sum(log_joint))
    rows = rows_from(np.random.default_rng(seed), table, 1)._replace(interventions=np.zeros(1, dtype=np.uint64))
    statistics = sufficient_statistics(table, dags, score)
    found = log_predictive(sample_of(table.names, dags, weights), statistics, score, as_new_table(table, rows))
    after = local_scores(naive_prediction.with_row(table, rows.cells[:, 0]), score, nodes)
    expected = naive.log_sum(naive.log_joint_of_every_dag(after.values, nodes - 1)) - naive.log_sum(log_joint)
    assert found[0] == pytest.approx(expected, abs=1e-8)


@settings(max_examples=examples(60))
@given(discrete_tables(), st.sampled_from(DISCRETE_SCORES), st.sampled_from([1.0, 300.0]), st.data())
def test_levels_of_a_target_match_the_sum_over_all_graphs(table: Table, score: Any, spread: float, data: Any) -> None:
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    target = data.draw(st.integers(0, len(table.names) - 1))
    dags = every_dag(len(table.names))
    dags = dags[generator.permutation(len(dags))[:60]]
    weights = weights_for(generator, len(dags), spread)
    statistics = sufficient_statistics(table, dags, score)
    rows = rows_from(generator, table, 3)._replace(interventions=np.zeros(3, dtype=np.uint64))
    found = predictive_of_target(
        sample_of(table.names, dags, weights), statistics, score, as_new_table(table, rows), table.names[target]
    )
    assert found.shape == (3, table.arities[target])
    twin = twin_of(table, score)
    for row in range(3):
        expected = naive_prediction.shares_of_target(
            twin, dags.tolist(), weights, rows.cells[:, row].tolist(), target, table.arities[target]
        )
        np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-12)


# Fast paths against slow ones


@st.composite
def larger_cases(draw: st.DrawFn) -> tuple[Table, DagSample, Table]:
    """Seven columns, random graphs that repeat, and a number of rows that may or may not fill a strip."""
    nodes = 7
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arities = generator.integers(2, 5, nodes)
    names = tuple(f"v{node}" for node in range(nodes))
    columns = tuple(generator.integers(0, arity, 50).astype(np.uint8) for arity in arities)
    table = Table(names, columns, tuple(tuple(range(arity)) for arity in arities))
    order = generator.permutation(nodes)
    before = np.array([sum(1 << int(order[j]) for j in range(np.flatnonzero(order == i)[0])) for i in range(nodes)])
    dags = (generator.integers(0, 1 << nodes, (30, nodes)) & before)[generator.integers(0, 30, 80)]
    count = draw(st.sampled_from([1, 63, 64, 65, 130]))
    new = Table(names, tuple(generator.integers(0, arity, count).astype(np.uint8) for arity in arities), table.levels)
    return table, sample_of(names, dags.astype(np.uint8), weights_for(generator, 80, 3.0)), new


@settings(max_examples=25)
@given(larger_cases(), st.sampled_from([(averaging, "_SAFE", np.inf), (discrete, "_TABLE_CELLS", 0)]))
def test_slow_paths_agree_with_fast_ones(case: Any, switch: Any) -> None:
    table, sample, new = case
    statistics = sufficient_statistics(table, sample.parents, "bdeu")
    fast = log_predictive(sample, statistics, "bdeu", new)
    shares = predictive_of_target(sample, statistics, "bdeu", new, "v2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*switch)
        np.testing.assert_allclose(log_predictive(sample, statistics, "bdeu", new), fast, rtol=1e-12)
        np.testing.assert_allclose(predictive_of_target(sample, statistics, "bdeu", new, "v2"), shares, rtol=1e-11)


@settings(max_examples=25)
@given(discrete_tables(), st.sampled_from([{"_DENSE_CELLS": 0, "_DENSE_CELLS_A_ROW": 0}, {"_BLOCK_CELLS": 3}]))
def test_cells_are_counted_the_same_whatever_the_room(table: Table, limits: dict) -> None:
    dags = every_dag(len(table.names))
    expected = sufficient_statistics(table, dags, "bdeu").arrays()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(counting, name, value)
        found = sufficient_statistics(table, dags, "bdeu").arrays()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


@settings(max_examples=10)
@given(larger_cases())
def test_prediction_is_the_same_for_any_number_of_threads_and_for_merged_graphs(case: Any) -> None:
    table, sample, new = case
    one, three = (
        log_predictive(
            sample,
            sufficient_statistics(table, sample.parents, "k2", engine=ThreadEngine(threads)),
            "k2",
            new,
            engine=ThreadEngine(threads),
        )
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(one, three)
    statistics = sufficient_statistics(table, sample.parents, "k2")
    np.testing.assert_allclose(log_predictive(sample.unique(), statistics, "k2", new), one, rtol=1e-12)


@settings(max_examples=30)
@given(continuous_tables(), st.integers(0, 2**32 - 1), st.floats(1e2, 1e30))
def test_rows_that_are_thousands_of_nats_away_keep_their_digits(table: Table, seed: int, scale: float) -> None:
    generator = np.random.default_rng(seed)
    # Many rows make the tails of Student's distribution thin.
    table = Table(table.names, table.columns, table.levels, counts=np.full(table.rows, 500))
    dags = every_dag(len(table.names))
    weights = weights_for(generator, len(dags), 2.0)
    statistics = sufficient_statistics(table, dags, "bge")
    cells = generator.normal(size=(len(table.names), 3)) * scale
    new = Table(table.names, tuple(cells), table.levels)
    found = log_predictive(sample_of(table.names, dags, weights), statistics, "bge", new)
    families = families_in(dags)
    logs = family_log_predictive(
        statistics,
        "bge",
        families.children,
        families.parents,
        NewRows(cells, np.zeros(3, dtype=np.uint64), np.zeros((len(table.names), 3), dtype=bool)),
    )
    for row in range(3):
        of_graphs = logs[:, row][families.numbers].sum(axis=1)[weights > 0] + np.log(weights[weights > 0])
        assert found[row] == pytest.approx(naive.log_sum(of_graphs), rel=1e-13)


@settings(max_examples=30)
@given(st.one_of(discrete_tables(), continuous_tables()))
def test_statistics_come_back_from_their_arrays(table: Table) -> None:
    score = "bdeu" if table.discrete else "bge"
    dags = every_dag(len(table.names))
    statistics = sufficient_statistics(table, dags, score)
    again = statistics_from(statistics.about(), statistics.arrays())
    assert again.about() == statistics.about()
    for name, array in statistics.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
    sample = sample_of(table.names, dags, np.full(len(dags), 1 / len(dags)))
    expected = log_predictive(sample, statistics, score, table)
    np.testing.assert_array_equal(log_predictive(sample, again, score, table), expected)


@settings(max_examples=30)
@given(discrete_tables())
def test_a_table_reads_back_as_its_own_rows(table: Table) -> None:
    statistics = sufficient_statistics(table, every_dag(len(table.names)), "bdeu")
    rows = encode_rows(table, statistics)
    np.testing.assert_array_equal(rows.cells, np.array(table.columns))
    expected = np.zeros(table.rows) if table.interventions is None else table.interventions
    np.testing.assert_array_equal(rows.interventions, expected)
