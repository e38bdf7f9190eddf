"""Sampled orders and graphs against the exact posterior.

Each test has a fixed seed and compares a statistic with its distribution if the sampler is right. The false-alarm rate
of each test is at most a few times `RATE`, below one in a million, so that a failure is a fault and not bad luck.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.sampled_orders import sample_orders
from scipy.stats import chi2, norm
from tests.naive import posterior as naive

from dagpost._tools.uniforms import row_blocks, uniform_rows
from dagpost.engines import ThreadEngine
from dagpost.exact.order import edge_probabilities, family_probabilities, forward_table
from dagpost.exact.structure import structure_posterior
from dagpost.exact.walk import SPLIT, Split
from dagpost.families.numbering import family_count
from dagpost.sampling.dags import draw_dags, rank_families
from dagpost.sampling.layers import sample_layers

RATE = 1e-7
ENGINE = ThreadEngine(2)


def random_weights(nodes: int, max_parents: int, spread: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(nodes, family_count(nodes - 1, max_parents))) * spread


def assert_counts_fit(observed: np.ndarray, probabilities: np.ndarray) -> None:
    """Chi-square test; cells with fewer than ten expected counts are merged into one."""
    expected = observed.sum() * probabilities
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    assert not observed[~kept].any(), "something impossible was drawn"
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    assert statistic < chi2.isf(RATE, max(kept.sum() - 1, 1))


def assert_frequencies_fit(frequencies: np.ndarray, probabilities: np.ndarray, draws: int) -> None:
    """Every frequency within its binomial limits (Bernstein's inequality, Bonferroni over all entries)."""
    log_rate = np.log(2 * probabilities.size / RATE)
    variance = probabilities * (1 - probabilities) / draws
    limit = np.sqrt(2 * variance * log_rate) + 2 * log_rate / (3 * draws) + 1e-9
    assert (np.abs(frequencies - probabilities) < limit).all()


def counts_of_graphs(parents: np.ndarray, nodes: int) -> np.ndarray:
    place = {tuple(row): position for position, row in enumerate(naive.parents_in_every_dag(nodes).tolist())}
    rows, counts = np.unique(parents, axis=0, return_counts=True)
    result = np.zeros(len(place))
    for row, count in zip(rows.tolist(), counts, strict=True):
        result[place[tuple(row)]] = count
    return result


def dds(
    log_weights: np.ndarray, max_parents: int, draws: int, seed: int, split: Split = SPLIT
) -> tuple[np.ndarray, np.ndarray]:
    nodes = len(log_weights)
    forward = forward_table(log_weights, max_parents, engine=ENGINE, split=split)
    orders = sample_orders(forward, draws, seed=np.random.SeedSequence(seed), engine=ENGINE)
    uniforms = np.random.default_rng(seed + 1).random((draws, nodes))
    ranked = rank_families(log_weights, max_parents)
    parents, log_joint = draw_dags(ranked, orders.orders, orders.log_alpha, uniforms, engine=ENGINE)
    return parents, log_joint


def layers(
    log_weights: np.ndarray, max_parents: int, draws: int, seed: int, split: Split = SPLIT
) -> tuple[np.ndarray, np.ndarray]:
    tables = structure_posterior(log_weights, max_parents, engine=ENGINE, split=split).tables
    ranked = rank_families(log_weights, max_parents)
    return sample_layers(tables, ranked, draws, seed=np.random.SeedSequence(seed), engine=ENGINE)


#: Small splits send the samples through several leaves and chunks.
in_leaves = pytest.mark.parametrize(
    "split", [SPLIT, Split(3, 4), Split(1, 2)], ids=["one leaf", "three low nodes", "one low node"]
)


@in_leaves
@pytest.mark.parametrize(("nodes", "max_parents", "spread"), [(4, 3, 1.5), (5, 2, 1.0), (5, 4, 4.0)])
def test_orders_have_their_exact_probabilities(nodes: int, max_parents: int, spread: float, split: Split) -> None:
    log_weights = random_weights(nodes, max_parents, spread, seed=nodes)
    forward = forward_table(log_weights, max_parents, engine=ENGINE, split=split)
    sample = sample_orders(forward, 60_000, seed=np.random.SeedSequence(7), engine=ENGINE)
    alpha = naive.log_alpha(log_weights, max_parents)
    logs = []
    for order in itertools.permutations(range(nodes)):
        before = [sum(1 << other for other in order[:position]) for position in range(nodes)]
        logs.append(sum(alpha[node, mask] for node, mask in zip(order, before, strict=True)))
    probabilities = np.exp(np.array(logs) - naive.log_sum(np.array(logs)))
    place = {order: position for position, order in enumerate(itertools.permutations(range(nodes)))}
    numbers = np.array([place[tuple(order)] for order in sample.orders.tolist()])
    assert_counts_fit(np.bincount(numbers, minlength=len(place)), probabilities)
    found = np.exp(sample.log_alpha.sum(axis=1) - forward.log_evidence)
    np.testing.assert_allclose(found, probabilities[numbers], rtol=1e-9)


@in_leaves
@pytest.mark.parametrize(("nodes", "max_parents", "spread"), [(4, 3, 1.0), (4, 2, 4.0), (5, 4, 2.0)])
def test_graphs_of_orders_match_enumeration(nodes: int, max_parents: int, spread: float, split: Split) -> None:
    log_weights = random_weights(nodes, max_parents, spread, seed=10 + nodes)
    parents, log_joint = dds(log_weights, max_parents, 100_000, 3, split)
    logs = naive.log_joint_of_every_dag(log_weights, max_parents)
    times = np.array(list(naive.orders_of_every_dag(nodes).values()))
    probabilities = np.exp(logs - logs.max()) * times
    counts = counts_of_graphs(parents, nodes)
    assert_counts_fit(counts, probabilities / probabilities.sum())
    assert np.isin(np.round(log_joint, 8), np.round(logs[counts > 0], 8)).all()


@in_leaves
@pytest.mark.parametrize(("nodes", "max_parents", "spread"), [(3, 2, 1.0), (4, 3, 1.0), (4, 2, 30.0), (5, 4, 2.0)])
def test_graphs_of_layers_match_enumeration(nodes: int, max_parents: int, spread: float, split: Split) -> None:
    log_weights = random_weights(nodes, max_parents, spread, seed=20 + nodes)
    parents, log_joint = layers(log_weights, max_parents, 100_000, 4, split)
    logs = naive.log_joint_of_every_dag(log_weights, max_parents)
    probabilities = np.exp(logs - naive.log_sum(logs))
    counts = counts_of_graphs(parents, nodes)
    assert_counts_fit(counts, probabilities)
    assert np.isin(np.round(log_joint, 8), np.round(logs[counts > 0], 8)).all()


@pytest.mark.parametrize("draw", [dds, layers])
def test_forbidden_parent_sets_are_never_drawn(draw: object) -> None:
    log_weights = random_weights(5, 4, 3.0, seed=1)
    log_weights[0, 1:] = -np.inf
    log_weights[3, 0] = -np.inf
    parents, _ = draw(log_weights, 4, 20_000, 5)
    assert (parents[:, 0] == 0).all()
    assert (parents[:, 3] != 0).all()


@pytest.mark.parametrize("nodes", [8, 12, 13])
def test_edge_frequencies_match_exact_edges(nodes: int) -> None:
    log_weights = random_weights(nodes, 3, 3.0, seed=nodes)
    draws = 50_000
    forward = forward_table(log_weights, 3, engine=ENGINE)
    order_edges = edge_probabilities(family_probabilities(forward, engine=ENGINE), 3)
    graph_edges = edge_probabilities(structure_posterior(log_weights, 3, engine=ENGINE).families, 3)
    for (parents, _), edges in (
        (dds(log_weights, 3, draws, 6), order_edges),
        (layers(log_weights, 3, draws, 6), graph_edges),
    ):
        bits = np.arange(nodes, dtype=np.uint64)
        frequencies = ((parents[:, None, :] >> bits[None, :, None]) & np.uint64(1)).mean(axis=0)
        assert_frequencies_fit(frequencies, edges, draws)


@pytest.mark.parametrize("draw", [dds, layers])
def test_draws_along_the_sample_are_not_correlated(draw: object) -> None:
    """Neighbours in the sample, and samples a seed block apart, are as unlike as any two."""
    log_weights = random_weights(6, 3, 1.0, seed=2)
    _, log_joint = draw(log_weights, 3, 60_000, 8)
    centred = (log_joint - log_joint.mean()) / log_joint.std()
    limit = norm.isf(RATE / 12)
    for lag in (1, 2, 3, 5, 1024, 2048):
        correlation = (centred[lag:] * centred[:-lag]).mean() * np.sqrt(len(centred) - lag)
        assert abs(correlation) < limit


@pytest.mark.parametrize("threads", [1, 3])
def test_first_draws_do_not_depend_on_how_many_follow_or_on_threads(threads: int) -> None:
    log_weights = random_weights(13, 2, 2.0, seed=3)
    engine = ThreadEngine(threads)
    tables = structure_posterior(log_weights, 2, engine=engine).tables
    ranked = rank_families(log_weights, 2)
    long, _ = sample_layers(tables, ranked, 3_000, seed=np.random.SeedSequence(9), engine=ENGINE)
    short, _ = sample_layers(tables, ranked, 1_500, seed=np.random.SeedSequence(9), engine=engine)
    np.testing.assert_array_equal(short, long[:1_500])
    forward = forward_table(log_weights, 2, engine=engine)
    many = sample_orders(forward, 3_000, seed=np.random.SeedSequence(9), engine=ENGINE).orders
    few = sample_orders(forward, 1_500, seed=np.random.SeedSequence(9), engine=engine).orders
    np.testing.assert_array_equal(few, many[:1_500])


def test_uniform_numbers_do_not_depend_on_the_block_they_are_asked_in() -> None:
    seed = np.random.SeedSequence(5)
    whole = uniform_rows(seed, slice(0, 5_000), 3)
    parts = np.concatenate([uniform_rows(seed, rows, 3) for rows in row_blocks(5_000, 2_048)])
    np.testing.assert_array_equal(whole, parts)
    assert len(np.unique(whole)) == whole.size
