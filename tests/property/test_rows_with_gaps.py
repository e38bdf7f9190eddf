"""Rows with gaps against the sum over all ways to fill them, and against integrals over a fine grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import prediction as naive
from tests.property.test_prediction import (
    DISCRETE_SCORES,
    continuous_tables,
    discrete_tables,
    every_dag,
    rows_from,
    sample_of,
    twin_of,
    weights_for,
)

from dagpost.data.table import Table
from dagpost.prediction import (
    averaging,
    gap_kinds,
    log_predictive,
    predictive_of_target,
    sufficient_statistics,
)
from dagpost.prediction.rows import NewRows


def with_gaps(generator: np.random.Generator, rows: NewRows, share: float) -> NewRows:
    """Cells taken out at random, but for those that were set."""
    gaps = generator.random(rows.cells.shape) < share
    was_set = rows.interventions >> np.arange(len(rows.cells), dtype=np.uint64)[:, np.newaxis] & np.uint64(1) == 1
    return rows._replace(gaps=gaps & ~was_set, cells=np.where(gaps & ~was_set, 0, rows.cells))


def observed(rows: NewRows, row: int) -> list[Any]:
    return [None if rows.gaps[node, row] else rows.cells[node, row] for node in range(len(rows.cells))]


def remembering(family: naive.Family) -> naive.Family:
    """The same, each cell of each family worked out once."""
    known: dict[Any, float] = {}

    def log_probability(child: int, parents: list[int], row: Any) -> float:
        key = child, tuple(parents), tuple(row[node] for node in [child, *parents])
        if key not in known:
            known[key] = family(child, parents, row)
        return known[key]

    return log_probability


@settings(max_examples=12, deadline=None)
@given(
    discrete_tables(),
    st.sampled_from(DISCRETE_SCORES),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 4, 256]),
    st.floats(0.1, 1.0),
)
def test_gaps_are_summed_over_in_every_graph(table: Table, score: Any, seed: int, few: int, share: float) -> None:
    """Completions as rows of their own, elimination in each graph, or some of both: all give the same."""
    generator = np.random.default_rng(seed)
    dags = every_dag(len(table.names))
    dags = dags[generator.permutation(len(dags))[:40]]
    weights = weights_for(generator, len(dags), 3.0)
    sample, statistics = sample_of(table.names, dags, weights), sufficient_statistics(table, dags, score)
    rows = with_gaps(generator, rows_from(generator, table, 6, unknown=True), share)
    twin = remembering(twin_of(table, score))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(averaging, "_FEW_COMPLETIONS", few)
        found = log_predictive(sample, statistics, score, rows)
        target = int(generator.integers(len(table.names)))
        free = rows._replace(interventions=np.zeros_like(rows.interventions))
        shares = predictive_of_target(sample, statistics, score, free, table.names[target])
    for row in range(6):
        expected = naive.log_predictive_of_observed(
            twin, dags.tolist(), weights.tolist(), observed(rows, row), table.arities, int(rows.interventions[row])
        )
        assert found[row] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        expected_shares = naive.shares_given_observed(
            twin, dags.tolist(), weights.tolist(), observed(free, row), target, table.arities
        )
        np.testing.assert_allclose(shares[row], expected_shares, rtol=1e-8, atol=1e-12)


@settings(max_examples=6, deadline=None)
@given(continuous_tables(), st.integers(0, 2**32 - 1))
def test_gaps_in_continuous_columns_are_integrated_over(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    nodes = len(table.names)
    dags = every_dag(nodes)
    dags = dags[generator.permutation(len(dags))[:30]]
    weights = weights_for(generator, len(dags), 3.0)
    sample, statistics = sample_of(table.names, dags, weights), sufficient_statistics(table, dags, "bge")
    row = rows_from(generator, table, 1)
    missing = generator.permutation(nodes)[: generator.integers(1, min(nodes, 2) + 1)].tolist()
    missing = [node for node in missing if not int(row.interventions[0]) >> node & 1]
    gaps = np.zeros((nodes, 1), dtype=bool)
    gaps[missing] = True
    found = log_predictive(sample, statistics, "bge", row._replace(gaps=gaps))
    assert found[0] == pytest.approx(log_integral(sample, statistics, row, missing), abs=1e-4)


@pytest.mark.parametrize(("missing", "error"), [(1, 1e-9), (2, 1e-5), (4, 0.005)])
def test_integrals_agree_with_the_closed_form_of_a_complete_graph(missing: int, error: float) -> None:
    """All edges of a complete graph can be turned round, so that nothing is left to be integrated."""
    generator = np.random.default_rng(1)
    nodes, count = 6, 5
    data = generator.normal(size=(20, nodes)) @ generator.normal(size=(nodes, nodes))
    names = tuple(f"v{node}" for node in range(nodes))
    table = Table(names, tuple(np.ascontiguousarray(data.T)), (None,) * nodes)
    dags = np.array([[(1 << node) - 1 for node in range(nodes)]], dtype=np.uint8)
    sample, statistics = sample_of(names, dags, np.ones(1)), sufficient_statistics(table, dags, "bge")
    gaps = np.zeros((nodes, count), dtype=bool)
    gaps[:missing] = True
    rows = NewRows(np.ascontiguousarray(data[:count].T), np.zeros(count, dtype=np.uint64), gaps)
    closed = log_predictive(sample, statistics, "bge", rows)

    def leave(parents: Any, gaps: Any, given: Any, group_of: Any, result: Any) -> None:
        result[...] = parents

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gap_kinds, "turn_covered_edges", leave)
        integrated = log_predictive(sample, statistics, "bge", rows)
    assert not np.array_equal(closed, integrated)
    np.testing.assert_allclose(integrated, closed, atol=error)


def log_integral(sample: Any, statistics: Any, row: NewRows, missing: list[int]) -> float:
    """The density of whole rows on a grid that is fine in the middle and reaches far out."""
    places = np.arange(-14, 14.01, 0.05 if len(missing) < 2 else 0.1)
    grids = np.meshgrid(*[np.sinh(places)] * len(missing), indexing="ij")
    weights = np.meshgrid(*[np.cosh(places) * (places[1] - places[0])] * len(missing), indexing="ij")
    count = max(1, grids[0].size if grids else 1)
    cells = np.repeat(row.cells, count, axis=1)
    log_weight = np.zeros(count)
    for node, grid, weight in zip(missing, grids, weights, strict=True):
        scale = statistics.deviations[node]
        cells[node] = statistics.centre[node] + scale * grid.reshape(-1)
        log_weight += np.log(scale * weight.reshape(-1))
    rows = NewRows(cells, np.repeat(row.interventions, count), np.zeros(cells.shape, dtype=bool))
    logs = log_predictive(sample, statistics, "bge", rows) + log_weight
    return float(np.logaddexp.reduce(logs))
