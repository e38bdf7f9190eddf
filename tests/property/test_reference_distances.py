"""Distances from an exact posterior against slow twins, for random posteriors and random answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import reference as naive

from dagpost.reference.pair_distances import expected_sad
from dagpost.reference.scorer import score

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=15)
@given(seeds, st.integers(2, 4), st.integers(1, 40))
def test_all_distances_match_their_definitions(seed: int, nodes: int, graphs: int) -> None:
    dags, exact = naive.random_posterior(nodes, seed)
    truth = naive.truth_of(dags, exact.tolist())
    rng = np.random.default_rng(seed)
    drawn = [dags[at] for at in rng.integers(0, len(dags), graphs)]
    weights = rng.exponential(3.0, graphs)
    found = score((naive.stack_of(drawn), weights), truth)

    p, q = np.array(truth.edges), naive.edge_matrix(drawn, weights.tolist())
    assert found.edges.sad == pytest.approx(abs(p - q).sum())
    assert found.edges.maximum == pytest.approx(abs(p - q).max())
    assert abs(truth.edges.loc[found.edges.where] - q[tuple(map(truth.names.index, found.edges.where))]) == (
        pytest.approx(found.edges.maximum)
    )
    paths = abs(np.array(truth.paths) - naive.path_matrix(drawn, weights.tolist()))
    assert found.paths is not None
    assert found.families is not None
    assert found.classes is not None
    assert (found.paths.sad, found.paths.maximum) == pytest.approx((paths.sum(), paths.max()))
    by_node = [
        naive.total_variation(
            naive.family_shares(dags, exact.tolist(), node), naive.family_shares(drawn, weights, node)
        )
        for node in range(nodes)
    ]
    assert (found.families.mean, found.families.maximum) == pytest.approx((np.mean(by_node), max(by_node)))
    classes = naive.total_variation(naive.class_shares(dags, exact), naive.class_shares(drawn, weights))
    assert found.classes.total_variation == pytest.approx(classes)
    assert found.classes.exact
    assert found.calibration.error == pytest.approx(naive.calibration_error(p, q), abs=1e-9)
    assert found.divergence.nats == pytest.approx(naive.divergence(p, q))
    assert found.calibration.table["pairs"].sum() == nodes * (nodes - 1)


@settings(max_examples=15)
@given(seeds, st.floats(0.0, 0.2))
def test_what_is_not_listed_leaves_a_lower_bound_with_its_slack(seed: int, least: float) -> None:
    dags, exact = naive.random_posterior(3, seed)
    rng = np.random.default_rng(seed)
    drawn, weights = [dags[at] for at in rng.integers(0, len(dags), 10)], rng.exponential(1.0, 10)
    answer = naive.stack_of(drawn), weights
    whole = score(answer, naive.truth_of(dags, exact.tolist()))
    part = score(answer, naive.truth_of(dags, exact.tolist(), families=least, classes=least))
    for name, value in (("families", "maximum"), ("families", "mean"), ("classes", "total_variation")):
        true, bound = (getattr(getattr(one, name), value) for one in (whole, part))
        assert bound <= true + 1e-9 <= bound + getattr(part, name).left_out + 2e-9


@given(seeds, st.integers(1, 60))
def test_the_expected_sad_of_draws_is_that_of_binomial_shares(seed: int, draws: int) -> None:
    matrix = np.random.default_rng(seed).beta(0.3, 0.3, (4, 4))
    apart = matrix[~np.eye(4, dtype=bool)]
    assert expected_sad(apart, draws) == pytest.approx(naive.expected_sad(matrix, draws))


def test_the_expected_sad_goes_over_into_that_of_a_normal_distribution() -> None:
    p = np.array([0.3, 0.01, 1e-5])
    for draws in (10**5, 10**6, 10**8):
        normal = np.sqrt(2 * p * (1 - p) / (math.pi * draws)).sum()
        assert expected_sad(p, draws) == pytest.approx(normal, rel=0.1)
    steps = [expected_sad(np.array([0.3]), draws) for draws in (47_600, 47_618, 47_620, 47_640)]
    assert steps == sorted(steps, reverse=True)
