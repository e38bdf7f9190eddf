"""Distributions of a column of numbers against the density of whole rows on a fine grid, averaged over graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_prediction import continuous_tables, every_dag, sample_of, weights_for
from tests.tools.wording import Said

from dagpost._tools.progress import NO_PROGRESS
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.posterior.sample import DagSample
from dagpost.prediction import log_predictive, sufficient_statistics
from dagpost.prediction.numbers import NumberDistribution, Piece, number_distributions
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import Statistics

ASKED = np.array([0.5, 0.025, 0.975])


def compare(
    found: NumberDistribution, sample: DagSample, statistics: Statistics, score: str, rows: NewRows, node: int
) -> None:
    """Compare with the density of each row with each of many values, closest to each other about the mean."""
    step = 0.004
    places = np.arange(-10.0, 10.0, step)
    for number in range(rows.cells.shape[1]):
        row = rows.chosen(np.full(len(places), number))
        values = found.means[number] + found.deviations[number] * np.sinh(places)
        cells, gaps = row.cells.astype(np.float64), row.gaps.copy()
        cells[node], gaps[node] = values, False
        logs = log_predictive(sample, statistics, score, NewRows(cells, row.interventions, gaps))
        shares = np.exp(logs - logs.max()) * np.cosh(places)
        shares /= shares.sum()
        mean = float(shares @ values)
        deviation = float(np.sqrt(shares @ (values - mean) ** 2))
        assert found.means[number] == pytest.approx(mean, abs=1e-5 * deviation)
        # Tails of few degrees of freedom reach beyond any grid.
        assert found.deviations[number] == pytest.approx(deviation, rel=1e-3)
        below = np.interp(found.quantiles[number], values, np.cumsum(shares) - shares / 2)
        np.testing.assert_allclose(below, ASKED, atol=3e-5)


def predicted(sample: DagSample, statistics: Statistics, score: str, rows: NewRows, node: int) -> NumberDistribution:
    pieces = [Piece(sample, statistics, score)]
    return number_distributions(pieces, rows, sample.names[node], ASKED, ThreadEngine(1), NO_PROGRESS)


@settings(max_examples=12)
@given(continuous_tables(), st.integers(0, 2**32 - 1))
def test_numbers_have_the_distribution_of_direct_integration(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    nodes = len(table.names)
    node = int(generator.integers(nodes))
    # More rows, so that the tails have a second moment that a grid can tell.
    table = table.of_rows(np.repeat(np.arange(table.rows), 5))
    dags = every_dag(nodes)
    dags = dags[generator.permutation(len(dags))[:30]]
    weights = weights_for(generator, len(dags), 2.0)
    sample, statistics = sample_of(table.names, dags, weights), sufficient_statistics(table, dags, "bge")
    masks = generator.integers(0, 1 << nodes, 2, dtype=np.uint64) & ~(np.uint64(1) << np.uint64(node))
    # Rows that lie so far out that all depends on the tails are beyond the grid of the twin.
    data = table.values()
    cells = data.mean(axis=0)[:, np.newaxis] + 2.0 * data.std(axis=0)[:, np.newaxis] * generator.normal(size=(nodes, 2))
    rows = NewRows(cells, masks, np.zeros(cells.shape, dtype=bool))
    found = predicted(sample, statistics, "bge", rows, node)
    compare(found, sample, statistics, "bge", rows, node)


def test_other_numbers_that_are_missing_are_refused(said: Said) -> None:
    table = Table(("x", "y"), (np.arange(5.0), np.arange(5.0) ** 2), (None, None))
    dags = np.array([[0, 1], [2, 0]], dtype=np.uint8)
    sample = sample_of(table.names, dags, np.array([0.5, 0.5]))
    statistics = sufficient_statistics(table, dags, "bge")
    lacking = NewRows(np.zeros((2, 1)), np.zeros(1, dtype=np.uint64), np.array([[True], [True]]))
    with said.raises(InputError):
        predicted(sample, statistics, "bge", lacking, 1)
