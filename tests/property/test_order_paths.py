"""The exact path probabilities under the order-modular prior against their slow twins, and the laws they obey.

Tolerance: 1e-9, absolute, on probabilities; wide floats carry twelve digits, and a dozen nodes use up one or two.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import paths as naive_paths
from tests.naive import posterior as naive
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost._tools.progress import reporter_for
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, ResourceError
from dagpost.exact import order, paths
from dagpost.exact.walk import Split

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

TOLERANCE = 1e-9
Floats = NDArray[np.float64]
#: Weights, the largest number of parents, and a split.
Case = tuple[Floats, int, tuple[int, int]]
#: Numbers of low nodes and of nodes inside a task: as delivered, then so small that a few nodes give several leaves
#: of alpha and several tasks of one source.
SPLITS = [(11, 12), (1, 1), (1, 3), (2, 2), (3, 4), (4, 3), (5, 12), (11, 2)]


def random_weights(nodes: int, max_parents: int, seed: int, scale: float, forbidden: float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    families = sum(comb(nodes - 1, size) for size in range(min(nodes - 1, max_parents) + 1))
    weights = rng.normal(size=(nodes, families)) * scale + rng.normal(size=(nodes, 1)) * scale
    weights[rng.random(weights.shape) < forbidden] = -np.inf
    return weights


@st.composite
def cases(draw: st.DrawFn, smallest: int = 1, largest: int = 5) -> Case:
    nodes = draw(st.integers(smallest, largest))
    max_parents = draw(st.integers(0, nodes - 1))
    scale = draw(st.sampled_from([0.0, 1.0, 10.0, 100.0, 1000.0, 5000.0]))
    forbidden = draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]))
    weights = random_weights(nodes, max_parents, draw(st.integers(0, 2**32)), scale, forbidden)
    if draw(st.booleans()):
        # Some node must have parents: then whole sets of nodes fit no order.
        weights[draw(st.integers(0, nodes - 1)), 0] = -np.inf
    return weights, max_parents, draw(st.sampled_from(SPLITS))


def forward_or_skip(weights: Floats, max_parents: int, low: int) -> order.ForwardTable:
    try:
        return forward_of(weights, max_parents, low)
    except InputError:
        assume(False)
        raise


def forward_of(weights: Floats, max_parents: int, low: int = 11) -> order.ForwardTable:
    return order.forward_table(weights, max_parents, engine=ThreadEngine(1), split=Split(low))


def descendant_sets(forward: order.ForwardTable, node: int, threads: int = 1, in_task: int = 12) -> Floats:
    return paths.order_descendant_sets(forward, node, engine=ThreadEngine(threads), nodes_in_a_task=in_task)


def path_matrix(forward: order.ForwardTable, threads: int = 1, in_task: int = 12) -> Floats:
    return paths.order_path_probabilities(forward, engine=ThreadEngine(threads), nodes_in_a_task=in_task)


@contextmanager
def room_for(nodes: int) -> Iterator[None]:
    """As much memory as so many nodes need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available_bytes", lambda: paths.memory_needed(nodes))
        yield


# Against the slow twins


@settings(max_examples=examples(200))
@given(cases())
def test_descendant_sets_and_paths_match_enumeration(case: Case) -> None:
    weights, max_parents, (low, in_task) = case
    nodes = len(weights)
    forward = forward_or_skip(weights, max_parents, low)
    found = [descendant_sets(forward, node, in_task=in_task) for node in range(nodes)]
    matrix = path_matrix(forward, in_task=in_task)
    expected = [naive_paths.descendant_sets_by_enumeration(weights, max_parents, node) for node in range(nodes)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)
    expected_matrix = naive_paths.paths_from_descendant_sets(expected)
    np.testing.assert_allclose(matrix, expected_matrix, rtol=0, atol=TOLERANCE)


@settings(max_examples=examples(80))
@given(cases(smallest=5, largest=8), st.integers(0, 7))
def test_descendant_sets_match_the_dictionary_form(case: Case, which: int) -> None:
    weights, max_parents, (low, in_task) = case
    node = which % len(weights)
    found = descendant_sets(forward_or_skip(weights, max_parents, low), node, in_task=in_task)
    expected = naive_paths.descendant_sets_by_dictionary(weights, max_parents, node)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("max_parents", [0, 1, 4])
def test_the_two_slow_twins_agree(max_parents: int) -> None:
    weights = random_weights(5, max_parents, seed=max_parents, scale=3.0, forbidden=0.3)
    weights[1:, 0] = 0.0
    weights[0, 0] = 0.0 if max_parents == 0 else -np.inf
    for node in range(5):
        np.testing.assert_allclose(
            naive_paths.descendant_sets_by_dictionary(weights, max_parents, node),
            naive_paths.descendant_sets_by_enumeration(weights, max_parents, node),
            rtol=0,
            atol=1e-12,
        )


# Laws


@settings(max_examples=50)
@given(cases(smallest=2, largest=10))
def test_every_distribution_sums_to_one_and_gives_the_matrix(case: Case) -> None:
    weights, max_parents, (low, in_task) = case
    nodes = len(weights)
    forward = forward_or_skip(weights, max_parents, low)
    found = [descendant_sets(forward, node, in_task=in_task) for node in range(nodes)]
    matrix = path_matrix(forward, in_task=in_task)
    for node, distribution in enumerate(found):
        assert distribution.shape == (1 << nodes,)
        assert (distribution >= 0.0).all()
        assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
        assert not distribution[np.arange(1 << nodes) >> node & 1 == 1].any()
    np.testing.assert_allclose(matrix, naive_paths.paths_from_descendant_sets(found), rtol=0, atol=1e-12)
    assert (matrix <= 1.0).all()
    assert not matrix.diagonal().any()


@settings(max_examples=examples(60))
@given(cases(smallest=2, largest=9), st.randoms(use_true_random=False))
def test_new_labels_permute_the_paths(case: Case, random: Random) -> None:
    weights, max_parents, (low, in_task) = case
    new_label = list(range(len(weights)))
    random.shuffle(new_label)
    renamed = naive.relabel_weights(weights, max_parents, new_label)
    before = path_matrix(forward_or_skip(weights, max_parents, low), in_task=in_task)
    after = path_matrix(forward_of(renamed, max_parents, low), in_task=in_task)
    np.testing.assert_allclose(after[np.ix_(new_label, new_label)], before, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(("nodes", "scale"), [(10, 1.0), (12, 30.0), (13, 2000.0)])
def test_a_path_is_at_least_as_probable_as_an_edge(nodes: int, scale: float) -> None:
    weights = random_weights(nodes, 3, seed=nodes, scale=scale)
    forward = forward_of(weights, 3)
    families = order.family_probabilities(forward, engine=ThreadEngine(1))
    assert (path_matrix(forward) >= order.edge_probabilities(families, 3) - TOLERANCE).all()


@pytest.mark.parametrize("nodes", [6, 12, 13])
def test_paths_equal_edges_where_only_the_last_node_may_have_parents(nodes: int) -> None:
    weights = random_weights(nodes, 3, seed=7, scale=2.0)
    weights[:-1, 1:] = -np.inf
    forward = forward_of(weights, 3)
    families = order.family_probabilities(forward, engine=ThreadEngine(1))
    edges = order.edge_probabilities(families, 3)
    found = path_matrix(forward)
    np.testing.assert_allclose(found, edges, rtol=0, atol=TOLERANCE)
    assert not found[:, :-1].any()


def test_a_forced_chain_is_certain_and_its_reverse_impossible() -> None:
    nodes = 9
    weights = random_weights(nodes, 2, seed=5, scale=1000.0)
    for node in range(nodes):
        for number, mask in enumerate(naive.parent_masks(node, nodes, 2)):
            if mask != (1 << node) >> 1:
                weights[node, number] = -np.inf
    found = path_matrix(forward_of(weights, 2))
    np.testing.assert_array_equal(found, np.triu(np.ones((nodes, nodes)), 1))


def test_what_no_chain_of_allowed_edges_connects_has_probability_zero() -> None:
    weights = random_weights(10, 3, seed=8, scale=300.0)
    half = 0b11111
    for node in range(10):
        for number, mask in enumerate(naive.parent_masks(node, 10, 3)):
            if mask & (~half if half >> node & 1 else half):
                weights[node, number] = -np.inf
    found = path_matrix(forward_of(weights, 3))
    assert not found[:5, 5:].any()
    assert not found[5:, :5].any()
    assert found[:5, :5].any()


@pytest.mark.parametrize("nodes", [8, 13, 14])
def test_the_result_is_the_same_for_any_number_of_threads(nodes: int) -> None:
    forward = forward_of(random_weights(nodes, 4, seed=nodes, scale=50.0, forbidden=0.1), 4)
    matrix = path_matrix(forward, threads=1)
    distribution = descendant_sets(forward, 3, threads=1)
    for threads in (2, 5):
        assert (path_matrix(forward, threads) == matrix).all()
        assert (descendant_sets(forward, 3, threads) == distribution).all()


# What the caller sees


def test_one_node_alone_has_no_descendants() -> None:
    forward = forward_of(np.array([[-3.0]]), 0)
    assert descendant_sets(forward, 0).tolist() == [1.0, 0.0]
    assert path_matrix(forward).tolist() == [[0.0]]


def test_too_little_memory_is_refused_with_both_figures_and_what_fits() -> None:
    forward = forward_of(random_weights(9, 2, seed=0, scale=1.0), 2)
    needed = memory.readable(paths.memory_needed(9))
    free = memory.readable(paths.memory_needed(7))
    message = f"9 variables.* needs {needed} of memory and {free} are free.* fits now is 7"
    with room_for(7):
        with pytest.raises(ResourceError, match=message):
            descendant_sets(forward, 0)
        with pytest.raises(ResourceError, match=message):
            path_matrix(forward)


@pytest.mark.parametrize("node", [-1, 4])
def test_a_node_that_is_not_there_is_refused(node: int, said: Said) -> None:
    forward = forward_of(random_weights(4, 2, seed=0, scale=1.0), 2)
    with said.raises(InputError):
        descendant_sets(forward, node)


def test_progress_reaches_the_end_of_every_stage() -> None:
    seen: dict[str, tuple[int, int]] = {}
    reporter = reporter_for(lambda title, done, total: seen.update({title: (done, total)}))
    forward = forward_of(random_weights(6, 2, seed=0, scale=1.0), 2, low=2)
    paths.order_path_probabilities(forward, engine=ThreadEngine(2), reporter=reporter, nodes_in_a_task=3)
    paths.order_descendant_sets(forward, 1, engine=ThreadEngine(2), reporter=reporter, nodes_in_a_task=3)
    assert seen == {
        "weights of all sets": (16, 16),
        "paths": (48, 48),
        "descendants": (8, 8),
    }


def test_a_raised_cancel_flag_ends_the_work_at_once() -> None:
    nodes = 15
    forward = forward_of(random_weights(nodes, 2, seed=0, scale=1.0), 2)
    alpha = np.zeros((nodes, 1 << (nodes - 1)), dtype=np.int64)
    table = np.full(3 ** (nodes - 1), -1.0)
    offsets = paths.table_offsets(nodes)
    raised = np.ones(1, dtype=np.int64)
    paths.place_nodes(alpha, forward.sums, offsets, table, 0, 0, 1 << (nodes - 1), raised)
    assert (table == -1.0).all()


def test_the_expected_time_grows_with_the_sources_and_shrinks_with_the_workers() -> None:
    assert paths.expected_seconds(16, 16, 2) == pytest.approx(8 * paths.expected_seconds(16, 1, 1))
    assert 1.0 < paths.expected_seconds(16, 16, 2) < 60.0
