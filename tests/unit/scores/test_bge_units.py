"""BGe does not depend on the units of the columns, unless it is told to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagpost import BGe, DagPosterior, Table, local_scores
from dagpost.causal import effect

SIZES = st.lists(st.integers(-8, 8), min_size=4, max_size=4)


def linear(rows: int = 60, seed: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    data = generator.normal(size=(rows, 4))
    data[:, 1] += 0.5 * data[:, 0]
    data[:, 2] += 0.4 * data[:, 1] - 0.3 * data[:, 3]
    return data + np.array([3.0, 0.0, -1.0, 10.0])


def table_of(data: np.ndarray, counts: np.ndarray | None = None, interventions: np.ndarray | None = None) -> Table:
    names = tuple("abcd")
    return Table(names, tuple(np.ascontiguousarray(data.T)), (None,) * 4, counts=counts, interventions=interventions)


def counted(data: np.ndarray) -> Table:
    """With counts, and column b set to a value of its own in every third row."""
    data = data.copy()
    data[::3, 1] *= 2.0
    set_there = np.where(np.arange(len(data)) % 3 == 0, 2, 0).astype(np.uint64)
    return table_of(data, 1 + np.arange(len(data)) % 4, set_there)


@settings(max_examples=25)
@given(SIZES, st.booleans(), st.sampled_from([BGe(), BGe(2.0, 9.0)]))
def test_other_units_change_no_probability(sizes: list[int], with_counts: bool, score: BGe) -> None:
    make = counted if with_counts else table_of
    units = 10.0 ** np.array(sizes, dtype=float)
    before = DagPosterior(score, prior="uniform").fit(make(linear()))
    after = DagPosterior(score, prior="uniform").fit(make(linear() * units))
    np.testing.assert_allclose(after.edge_probabilities_, before.edge_probabilities_, atol=1e-9)
    np.testing.assert_allclose(after.probability_matrix("~>"), before.probability_matrix("~>"), atol=1e-9)


def test_the_evidence_is_the_density_of_the_values_in_their_own_units() -> None:
    units = np.array([1e-8, 100.0, 1e8, 2.54])
    before, after = (
        DagPosterior("bge", prior="uniform").fit(table_of(data)).log_evidence_ for data in (linear(), linear() * units)
    )
    assert after == pytest.approx(before - 60 * float(np.log(units).sum()), abs=1e-8)


def test_the_evidence_counts_a_node_only_in_the_rows_in_which_it_was_not_set() -> None:
    table, units = counted(linear()), np.array([10.0, 1e3, 1e-3, 7.0])
    before, after = (
        DagPosterior("bge", prior="uniform").fit(one).log_evidence_ for one in (table, counted(linear() * units))
    )
    total = table.weights.sum()
    rows = np.array([total, table.weights[np.arange(60) % 3 > 0].sum(), total, total])
    assert after == pytest.approx(before - float(rows @ np.log(units)), abs=1e-8)


def test_the_default_is_the_score_with_scale_one_of_standardised_columns() -> None:
    data = linear() * np.array([1e-3, 5.0, 700.0, 1.0])
    deviations = data.std(axis=0, ddof=1)
    standard = (data - data.mean(axis=0)) / deviations
    found = local_scores(table_of(data), BGe(2.0)).values
    old = local_scores(table_of(standard), BGe(2.0, prior_scale=1.0)).values
    np.testing.assert_allclose(found, old - 60 * np.log(deviations)[:, np.newaxis], rtol=1e-12, atol=1e-9)


def test_a_scale_that_is_given_takes_part_in_what_the_units_mean() -> None:
    data, units = linear(), np.array([1e-3, 5.0, 700.0, 1.0])
    scale = np.array([1.0, 2.0, 0.5, 1.0])
    before = DagPosterior(BGe(prior_scale=tuple(scale)), prior="uniform").fit(table_of(data)).edge_probabilities_
    after = (
        DagPosterior(BGe(prior_scale=tuple(scale * units)), prior="uniform")
        .fit(table_of(data * units))
        .edge_probabilities_
    )
    raw = DagPosterior(BGe(prior_scale=tuple(scale)), prior="uniform").fit(table_of(data * units)).edge_probabilities_
    np.testing.assert_allclose(after, before, atol=1e-9)
    assert np.abs(raw.to_numpy() - before.to_numpy()).max() > 0.1


def test_a_column_that_does_not_vary_has_no_unit_and_no_edges_of_interest() -> None:
    data = linear()
    data[:, 3] = 0.1
    units = np.array([1.0, 100.0, 1.0, 1e6])
    before, after = (DagPosterior("bge", prior="uniform").fit(table_of(values)) for values in (data, data * units))
    np.testing.assert_allclose(after.edge_probabilities_, before.edge_probabilities_, atol=1e-9)
    assert before.edge_probabilities_.loc["d"].max() < 0.3


def test_predictions_are_densities_in_the_units_of_the_rows() -> None:
    units = np.array([1e-6, 1e4])
    data = linear(80)[:, :2] * units
    model = DagPosterior("bge", prior="uniform", samples=300, seed=1).fit(data)
    # Student's distributions with some 80 degrees of freedom have nothing beyond 12 standard deviations.
    steps = np.linspace(-12, 12, 241)
    grid = np.array([[first, second] for first in steps for second in steps])
    rows = data.mean(axis=0) + grid * data.std(axis=0)
    cell = (steps[1] - steps[0]) ** 2 * float(data.std(axis=0).prod())
    assert math.fsum(np.exp(model.score_samples(rows))) * cell == pytest.approx(1.0, abs=1e-9)


def test_effects_and_networks_follow_the_units() -> None:
    units = np.array([1e-3, 50.0, 1.0, 1e6])
    tables = [table_of(data) for data in (linear(), linear() * units)]
    models = [DagPosterior("bge", prior="uniform", samples=500, seed=3).fit(table) for table in tables]
    graphs = models[0].sample(500, seed=3)
    effects = [effect(graphs, table, "bge", "a", "b", seed=2) for table in tables]
    assert effects[1].mean == pytest.approx(effects[0].mean * units[1] / units[0], rel=1e-9)
    networks = [model.to_bayesian_network([("a", "b"), ("d", "b")]) for model in models]
    slopes = [np.asarray(network.coefficients[1]) for network in networks]
    np.testing.assert_allclose(slopes[1], slopes[0] * units[1] / units[[0, 3]], rtol=1e-9)
    assert networks[1].variances[1] == pytest.approx(networks[0].variances[1] * units[1] ** 2, rel=1e-9)
    new = linear(5, seed=9)
    found = [model.score_samples(rows) for model, rows in zip(models, (new, new * units), strict=True)]
    np.testing.assert_allclose(found[1], found[0] - float(np.log(units).sum()), atol=1e-7)
    assert math.isfinite(found[0].sum())
