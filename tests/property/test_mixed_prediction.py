"""Predictions from tables of levels and numbers against direct sums over all graphs, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import mixed as naive_mixed
from tests.naive import posterior as naive
from tests.naive import prediction as naive_prediction
from tests.property.test_prediction import extra_of, sample_of, weights_for

from dagpost.data.table import Table
from dagpost.families.masks import mask_type
from dagpost.prediction import log_predictive, predictive_of_target, statistics_from, sufficient_statistics
from dagpost.prediction.rows import NewRows
from dagpost.scores import ConditionalGaussian


@st.composite
def mixed_tables(draw: st.DrawFn, *, plain: bool = False) -> Table:
    """Up to four columns of levels and numbers in any order."""
    kinds = draw(st.lists(st.booleans(), min_size=2, max_size=4))
    count = draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arities = [0 if number else int(generator.integers(1, 4)) for number in kinds]
    columns = tuple(
        generator.integers(0, generator.integers(1, arity + 1), count).astype(np.uint8)
        if arity
        else generator.normal(size=count) * 2 + 1
        for arity in arities
    )
    levels = tuple(tuple(range(arity)) if arity else None for arity in arities)
    extra = {} if plain else extra_of(draw, generator, len(kinds), count)
    return Table(tuple(f"v{node}" for node in range(len(kinds))), columns, levels, **extra)


def some_dags(generator: np.random.Generator, table: Table, most: int) -> np.ndarray:
    nodes = len(table.names)
    dags = naive_mixed.possible(table, naive.all_dags(nodes))
    chosen = generator.permutation(len(dags))[:most]
    return np.array([dags[number] for number in chosen], dtype=mask_type(nodes)).reshape(-1, nodes)


def rows_like(generator: np.random.Generator, table: Table, count: int, *, unknown: bool = False) -> NewRows:
    cells = np.array(
        [
            generator.integers(0, arity + unknown, count) if arity else generator.normal(size=count) * 3
            for arity in table.arities
        ],
        dtype=np.float64 if naive_mixed.numeric(table) else np.int32,
    )
    masks = generator.integers(0, 1 << len(table.names), count, dtype=np.uint64)
    masks = np.where(generator.random(count) < 0.8, np.uint64(0), masks)
    return NewRows(cells, masks, np.zeros(cells.shape, dtype=bool))


@settings(max_examples=25)
@given(mixed_tables(), st.integers(0, 2**32 - 1), st.booleans())
def test_rows_have_the_density_of_direct_summation(table: Table, seed: int, unknown: bool) -> None:
    generator = np.random.default_rng(seed)
    dags = some_dags(generator, table, 40)
    weights = weights_for(generator, len(dags), 3.0)
    sample, score = sample_of(table.names, dags, weights), ConditionalGaussian()
    rows = rows_like(generator, table, 5, unknown=unknown)
    statistics = sufficient_statistics(table, dags, score)
    assert statistics.covers(dags)
    family = naive_mixed.family_of(table, naive_mixed.prior_of(table))
    expected = [
        naive_prediction.log_predictive(family, dags.tolist(), weights.tolist(), row.tolist(), int(was_set))
        for row, was_set in zip(rows.cells.T, rows.interventions, strict=True)
    ]
    found = log_predictive(sample, statistics, score, rows)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    kept = statistics_from(statistics.about(), statistics.arrays())
    np.testing.assert_array_equal(log_predictive(sample, kept, score, rows), found)


@settings(max_examples=25)
@given(mixed_tables(), st.integers(0, 2**32 - 1))
def test_levels_have_the_shares_of_direct_summation(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    discrete = [node for node, arity in enumerate(table.arities) if arity]
    if not discrete:
        return
    target = int(generator.choice(discrete))
    dags = some_dags(generator, table, 30)
    weights = weights_for(generator, len(dags), 3.0)
    sample, score = sample_of(table.names, dags, weights), ConditionalGaussian(equivalent_sample_size=2.0)
    rows = rows_like(generator, table, 3)
    rows = rows._replace(interventions=np.zeros(3, dtype=np.uint64))
    statistics = sufficient_statistics(table, dags, score)
    family = naive_mixed.family_of(table, naive_mixed.prior_of(table, 2.0))
    found = predictive_of_target(sample, statistics, score, rows, table.names[target])
    arity = table.arities[target]
    for row, shares in zip(rows.cells.T.tolist(), found, strict=True):
        expected = naive_prediction.shares_of_target(family, dags.tolist(), weights.tolist(), row, target, arity)
        np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-12)


def gappy(rows: NewRows, cells: list[tuple[int, int]]) -> NewRows:
    gaps = np.zeros(rows.cells.shape, dtype=bool)
    for node, row in cells:
        gaps[node, row] = True
    cleared: Any = np.where(gaps, 0, rows.cells)
    return NewRows(cleared, np.zeros_like(rows.interventions), gaps)


@settings(max_examples=8)
@given(mixed_tables(plain=True), st.integers(0, 2**32 - 1))
def test_missing_levels_are_summed_over(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    discrete = [node for node, arity in enumerate(table.arities) if arity]
    dags = some_dags(generator, table, 10)
    weights = weights_for(generator, len(dags), 2.0)
    sample, score = sample_of(table.names, dags, weights), ConditionalGaussian()
    rows = gappy(rows_like(generator, table, 3), [(node, row) for node in discrete for row in range(2)])
    statistics = sufficient_statistics(table, dags, score)
    family = naive_mixed.family_of(table, naive_mixed.prior_of(table))
    found = log_predictive(sample, statistics, score, rows)
    for number, row in enumerate(rows.cells.T.tolist()):
        known = [None if rows.gaps[node, number] else cell for node, cell in enumerate(row)]
        expected = naive_mixed.log_predictive_of_observed(
            family, dags.tolist(), weights.tolist(), known, table.arities, np.zeros(2)
        )
        assert found[number] == pytest.approx(expected, abs=1e-9)


def test_missing_numbers_are_integrated() -> None:
    generator = np.random.default_rng(5)
    group = generator.integers(0, 2, 20).astype(np.uint8)
    first = generator.normal(size=20) + group
    second = first * (1.0 + group) + generator.normal(size=20)
    table = Table(("g", "x", "y", "h"), (group, first, second, (second > 1).astype(np.uint8)[::-1].copy()),
                  ((0, 1), None, None, (0, 1)))  # fmt: skip
    # x -> y with and without the group; y -> x; an observed child of the missing one that is not covered.
    dags = np.array([[0, 1, 3, 1], [0, 1, 2, 0], [0, 5, 1, 1], [0, 0, 3, 0], [0, 9, 10, 0]], dtype=np.uint8)
    weights = np.array([0.3, 0.2, 0.2, 0.2, 0.1])
    sample, score = sample_of(table.names, dags, weights), ConditionalGaussian()
    statistics = sufficient_statistics(table, dags, score)
    family = naive_mixed.family_of(table, naive_mixed.prior_of(table))
    cells = np.array([[0, 1], [1, 0.5], [0.3, 2.0], [0, 1]])
    rows = gappy(NewRows(cells, np.zeros(2, dtype=np.uint64), np.zeros((4, 2), bool)), [(1, 0), (1, 1), (0, 1)])
    grid = np.linspace(-20, 20, 121)
    found = log_predictive(sample, statistics, score, rows)
    for number in range(2):
        known = [None if rows.gaps[node, number] else float(cells[node, number]) for node in range(4)]
        expected = naive_mixed.log_predictive_of_observed(
            family, dags.tolist(), weights.tolist(), known, table.arities, grid
        )
        assert found[number] == pytest.approx(expected, abs=1e-5)
