"""The exact order-modular posterior against its slow twins, and the laws it must obey.

Tolerance: 1e-9, absolute, on probabilities and on log evidence. The weights here keep the log evidence below
2e5 in size, where neighbouring doubles are 3e-11 apart, so the absolute figure leaves room for the rounding
of the twin itself; only the tests that go to a million nats state their own.
"""

from __future__ import annotations

from math import comb, factorial
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import posterior as naive
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, ResourceError
from dagpost.exact import order
from dagpost.exact.walk import SPLIT, Split, make_layout

TOLERANCE = 1e-9
Weights = NDArray[np.float64]
#: Weights, the largest number of parents, and a split.
Case = tuple[Weights, int, Split]
#: Numbers of low nodes and of nodes inside a chunk: as delivered, then so small that even a few nodes give
#: high nodes, several chunks, and tables too small for the lane layout (which takes three low nodes or more).
SPLITS = [
    SPLIT,
    *(Split(*sizes) for sizes in [(1, 1), (1, 3), (2, 2), (2, 4), (3, 3), (3, 5), (4, 4), (5, 6), (4, 16)]),
]


def family_count(nodes: int, max_parents: int) -> int:
    return sum(comb(nodes - 1, size) for size in range(min(nodes - 1, max_parents) + 1))


def random_weights(
    nodes: int, max_parents: int, seed: int, scale: float, forbidden: float = 0.0, forbid_empty: bool = False
) -> Weights:
    rng = np.random.default_rng(seed)
    shape = (nodes, family_count(nodes, max_parents))
    weights = rng.normal(size=shape) * scale + rng.normal(size=(nodes, 1)) * scale
    weights[rng.random(shape) < forbidden] = -np.inf
    if forbid_empty:
        weights[rng.random(nodes) < 0.5, 0] = -np.inf
    return weights


@st.composite
def cases(draw: st.DrawFn, smallest: int = 2, largest: int = 5, splits: list[Split] = SPLITS) -> Case:
    nodes = draw(st.integers(smallest, largest))
    max_parents = draw(st.integers(0, nodes - 1))
    scale = draw(st.sampled_from([0.0, 1.0, 10.0, 100.0, 1000.0, 5000.0]))
    forbidden = draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]))
    weights = random_weights(nodes, max_parents, draw(st.integers(0, 2**32)), scale, forbidden, draw(st.booleans()))
    return weights, max_parents, draw(st.sampled_from(splits))


def posterior(
    weights: Weights, max_parents: int, split: Split = SPLIT, *, threads: int = 1, keep_forward: bool = True
) -> naive.Posterior:
    engine = ThreadEngine(threads)
    forward = order.forward_table(weights, max_parents, engine=engine, split=split)
    families = order.family_probabilities(forward, engine=engine, keep_forward=keep_forward)
    return naive.Posterior(forward.log_evidence, families, order.edge_probabilities(families, max_parents))


def assert_close(found: naive.Posterior, expected: naive.Posterior) -> None:
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=TOLERANCE, rel=0)
    np.testing.assert_allclose(found.families, expected.families, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found.edges, expected.edges, rtol=0, atol=TOLERANCE)


def assert_identical(found: naive.Posterior, expected: naive.Posterior) -> None:
    assert found.log_evidence == expected.log_evidence
    assert (found.families == expected.families).all()
    assert (found.edges == expected.edges).all()


def assert_agrees(weights: Weights, max_parents: int, split: Split, expected: naive.Posterior) -> None:
    if expected.log_evidence == -np.inf:
        with pytest.raises(InputError, match=r"no allowed parent set|No graph satisfies"):
            posterior(weights, max_parents, split)
    else:
        assert_close(posterior(weights, max_parents, split), expected)


# Against the slow twins


@settings(max_examples=examples(200))
@given(cases())
def test_evidence_families_and_edges_match_enumeration(case: Case) -> None:
    weights, max_parents, split = case
    assert_agrees(weights, max_parents, split, naive.order_modular_by_enumeration(weights, max_parents))


@settings(max_examples=examples(300))
@given(cases(smallest=4, largest=9))
def test_evidence_families_and_edges_match_the_textbook_form(case: Case) -> None:
    weights, max_parents, split = case
    assert_agrees(weights, max_parents, split, naive.order_modular_by_textbook(weights, max_parents))


@settings(max_examples=examples(60))
@given(cases(smallest=10, largest=12, splits=[SPLIT, Split(3, 5), Split(5, 8), Split(8, 9), Split(2, 10)]))
def test_larger_tables_match_the_textbook_form(case: Case) -> None:
    weights, max_parents, split = case
    assert_agrees(weights, max_parents, split, naive.order_modular_by_textbook(weights, max_parents))


def test_twelve_nodes_with_all_parent_sets_match_the_textbook_form() -> None:
    weights = random_weights(12, 11, seed=3, scale=5000.0, forbidden=0.2)
    assert_agrees(weights, 11, SPLIT, naive.order_modular_by_textbook(weights, 11))


def test_every_split_gives_the_same_posterior() -> None:
    weights = random_weights(9, 4, seed=5, scale=3.0)
    expected = naive.order_modular_by_textbook(weights, 4)
    for low in range(1, 10):
        for chunk_bits in range(1, 10):
            assert_agrees(weights, 4, Split(low, chunk_bits), expected)


def test_the_two_slow_twins_agree_with_each_other() -> None:
    for nodes in range(2, 6):
        weights = random_weights(nodes, nodes - 1, seed=nodes, scale=50.0, forbidden=0.1)
        by_enumeration = naive.order_modular_by_enumeration(weights, nodes - 1)
        assert_close(naive.order_modular_by_textbook(weights, nodes - 1), by_enumeration)


def test_the_twins_enumerate_as_many_graphs_as_there_are() -> None:
    # Robinson's numbers. Each of the n! orders fits 2^(n (n - 1) / 2) graphs.
    for nodes, dags in [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29281)]:
        counts = naive.orders_of_every_dag(nodes)
        assert len(counts) == dags
        assert sum(counts.values()) == factorial(nodes) * 2 ** (nodes * (nodes - 1) // 2)


def test_a_single_node_has_the_weight_of_its_empty_parent_set() -> None:
    found = posterior(np.array([[-7.25]]), 0)
    assert found.log_evidence == pytest.approx(-7.25, abs=TOLERANCE)
    assert found.families == pytest.approx(1.0, abs=TOLERANCE)
    assert found.edges.shape == (1, 1)
    assert found.edges[0, 0] == 0.0


@pytest.mark.parametrize("nodes", [3, 7, 13, 17])
def test_without_parents_the_evidence_counts_the_orders(nodes: int) -> None:
    found = posterior(np.zeros((nodes, 1)), 0)
    assert found.log_evidence == pytest.approx(float(np.log(float(factorial(nodes)))), abs=TOLERANCE)
    assert (found.edges == 0).all()


def test_allowing_more_parents_than_there_are_nodes_allows_all_parent_sets() -> None:
    weights = random_weights(5, 4, seed=8, scale=20.0)
    for split in SPLITS:
        assert_identical(posterior(weights, 9, split), posterior(weights, 4, split))


def test_parent_sets_hopeless_beside_the_empty_one_keep_their_tiny_probability() -> None:
    # 300 nats below the empty set no sum feels them, but e^-300 is still a number.
    weights = np.array([[0.0, -300.0], [0.0, -300.0]])
    found = posterior(weights, 1)
    np.testing.assert_allclose(found.families[:, 1], np.exp(-300.0) / 2, rtol=1e-9)
    np.testing.assert_allclose(found.families[:, 0], 1.0, rtol=1e-9)


def test_a_million_nats_keep_the_probabilities() -> None:
    # Neighbouring doubles at 1e6 are 1.2e-10 apart and weights in logs are no better than that, so what is
    # asked here is 1e-8 of probabilities, and 1e-14 of the size of the log evidence.
    weights = random_weights(5, 4, seed=11, scale=1.0)
    weights[:, 0] -= 4e5
    weights[:, 1:] -= np.linspace(0, 3e5, weights.shape[1] - 1)
    weights[0, 1:] = -np.inf
    expected = naive.order_modular_by_enumeration(weights, 4)
    found = posterior(weights, 4)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-14)
    np.testing.assert_allclose(found.families, expected.families, rtol=0, atol=1e-8)


# Laws


@settings(max_examples=examples(100))
@given(cases(smallest=2, largest=8), st.randoms(use_true_random=False))
def test_relabelling_the_nodes_permutes_the_result(case: Case, random: Random) -> None:
    weights, max_parents, split = case
    weights = np.where(np.isneginf(weights), -50.0, weights)
    nodes = len(weights)
    labels = list(range(nodes))
    random.shuffle(labels)
    before = posterior(weights, max_parents, split)
    after = posterior(naive.relabel_weights(weights, max_parents, labels), max_parents, split)
    assert after.log_evidence == pytest.approx(before.log_evidence, abs=TOLERANCE, rel=0)
    np.testing.assert_allclose(after.edges[np.ix_(labels, labels)], before.edges, rtol=0, atol=TOLERANCE)
    renamed = naive.relabel_weights(before.families, max_parents, labels)
    np.testing.assert_allclose(after.families, renamed, rtol=0, atol=TOLERANCE)


@settings(max_examples=examples(100))
@given(cases(smallest=2, largest=8), st.data())
@example((np.array([[0.0, 1.0], [2.0, 0.5]]), 1, Split(1, 1)), None)
def test_a_constant_added_to_a_node_moves_the_evidence_only(case: Case, data: st.DataObject | None) -> None:
    weights, max_parents, split = case
    weights = np.where(np.isneginf(weights), -50.0, weights)
    node = data.draw(st.integers(0, len(weights) - 1)) if data else 0
    constant = data.draw(st.floats(-1e4, 1e4)) if data else 123.0
    moved = weights.copy()
    moved[node] += constant
    before, after = posterior(weights, max_parents, split), posterior(moved, max_parents, split)
    assert after.log_evidence == pytest.approx(before.log_evidence + constant, abs=TOLERANCE, rel=0)
    np.testing.assert_allclose(after.families, before.families, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(after.edges, before.edges, rtol=0, atol=TOLERANCE)


@settings(max_examples=examples(100))
@given(cases(smallest=2, largest=9))
def test_the_families_of_a_node_sum_to_one_and_edges_are_probabilities(case: Case) -> None:
    weights, max_parents, split = case
    weights = np.where(np.isneginf(weights), -50.0, weights)
    found = posterior(weights, max_parents, split)
    np.testing.assert_allclose(found.families.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)
    assert (found.families >= 0).all()
    assert (found.edges <= 1 + TOLERANCE).all()
    assert (np.diag(found.edges) == 0).all()
    # An edge and its reverse exclude each other.
    assert (found.edges + found.edges.T <= 1 + TOLERANCE).all()


@settings(max_examples=examples(60))
@given(cases(smallest=3, largest=9))
def test_overwriting_the_forward_table_changes_no_bit(case: Case) -> None:
    weights, max_parents, split = case
    weights = np.where(np.isneginf(weights), -50.0, weights)
    kept = posterior(weights, max_parents, split, keep_forward=True)
    assert_identical(posterior(weights, max_parents, split, keep_forward=False), kept)


def test_keeping_the_forward_table_leaves_it_as_it_was() -> None:
    engine = ThreadEngine(2)
    weights = random_weights(8, 3, seed=2, scale=9.0)
    forward = order.forward_table(weights, 3, engine=engine, split=Split(3, 4))
    sums = forward.sums.copy()
    first = order.family_probabilities(forward, engine=engine)
    assert (forward.sums == sums).all()
    assert (order.family_probabilities(forward, engine=engine) == first).all()


@settings(max_examples=20)
@given(cases(smallest=6, largest=10, splits=[Split(1, 2), Split(2, 3), Split(3, 4), Split(3, 6)]))
def test_any_number_of_threads_gives_the_same_bits(case: Case) -> None:
    weights, max_parents, split = case
    weights = np.where(np.isneginf(weights), -50.0, weights)
    alone = posterior(weights, max_parents, split, threads=1)
    for threads in (2, 3):
        assert_identical(posterior(weights, max_parents, split, threads=threads), alone)


def test_any_number_of_threads_gives_the_same_bits_with_the_delivered_split() -> None:
    weights = random_weights(18, 3, seed=4, scale=30.0, forbidden=0.05)
    assert make_layout(18, 3).top > 0
    alone = posterior(weights, 3, threads=1)
    for threads in (2, 3):
        assert_identical(posterior(weights, 3, threads=threads, keep_forward=False), alone)


def test_the_caller_s_weights_are_left_alone() -> None:
    weights = random_weights(6, 3, seed=6, scale=40.0, forbidden=0.1, forbid_empty=True)
    copy = weights.copy()
    posterior(weights, 3)
    assert (weights == copy).all()


# Refusals


def test_nan_and_infinite_weights_are_refused(said: Said) -> None:
    for bad in (np.nan, np.inf):
        weights = np.zeros((3, 4))
        weights[1, 2] = bad
        with said.raises(InputError):
            posterior(weights, 2)


def test_weights_of_the_wrong_shape_are_refused_with_the_right_one() -> None:
    with pytest.raises(InputError, match=r"\(4, 7\).*\(4, 8\)"):
        posterior(np.zeros((4, 8)), 2)


def test_a_node_without_any_parent_set_is_named() -> None:
    weights = np.zeros((4, 7))
    weights[2] = -np.inf
    with pytest.raises(InputError, match="Node 2"):
        posterior(weights, 2)


def test_constraints_that_only_a_cycle_satisfies_are_refused(said: Said) -> None:
    # Each of two nodes must have the other as its parent.
    weights = np.array([[-np.inf, 0.0], [-np.inf, 0.0]])
    with said.raises(InputError):
        posterior(weights, 1)


def test_weights_beyond_the_range_of_the_tables_are_refused_with_both_figures(said: Said) -> None:
    # Whoever comes first has no parents.
    weights = np.zeros((4, 8))
    weights[:, 0] = -2.4e6
    with said.raises(InputError):
        posterior(weights, 3)


def test_weights_just_inside_the_range_are_taken_and_right() -> None:
    # The only order is 0, 1, 2, 3, and every node but the first pays dearly for it.
    weights = np.full((4, 8), -np.inf)
    weights[0, 0] = 0.0
    weights[1:, 0] = -7e5
    weights[1:, 7] = 0.0
    weights[0, 7] = 0.0
    expected = naive.order_modular_by_enumeration(weights, 3)
    found = posterior(weights, 3)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-14)
    np.testing.assert_allclose(found.families, expected.families, rtol=0, atol=1e-8)


def test_too_little_memory_is_refused_before_anything_is_allocated(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 3_000_000)
    with said.raises(ResourceError) as refusal:
        order.forward_table(np.zeros((20, 20)), 1, engine=ThreadEngine(1))
    largest = int(str(refusal.value).split("fits now is ")[1].split(":")[0])
    # The largest that is said to fit does, and one more does not.
    order.require_memory(largest, 1, tables=1, workers=1)
    with pytest.raises(ResourceError):
        order.require_memory(largest + 1, 1, tables=1, workers=1)


def test_a_second_table_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = order.forward_table(np.zeros((12, 12)), 1, engine=ThreadEngine(1))
    monkeypatch.setattr(memory, "available_bytes", lambda: 20_000)
    with pytest.raises(ResourceError, match="12 variables"):
        order.family_probabilities(forward, engine=ThreadEngine(1))
