"""Averages over trees at sizes beyond enumeration, what is refused, and what draws do not depend on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.naive import trees as naive_trees
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost._tools.progress import reporter_for
from dagpost._tools.uniforms import SEED_BLOCK
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, NoGraphError
from dagpost.exact import trees
from dagpost.exact.trees import TreePosterior, draw_trees, tree_posterior
from dagpost.methods.trees import Trees


def random_weights(nodes: int, spread: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(nodes, nodes)) * spread


def draws(
    posterior: TreePosterior, count: int, seed: int = 1, threads: int = 2, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    return draw_trees(posterior, count, seed=np.random.SeedSequence(seed), engine=ThreadEngine(threads), **options)


@pytest.mark.parametrize("nodes", [1, 2, 5, 20, 64])
def test_equal_weights_count_the_graphs(nodes: int) -> None:
    """Cayley (1889): n^(n-1) rooted trees, (n+1)^(n-1) rooted forests."""
    spanning = tree_posterior(np.zeros((nodes, nodes)))
    assert spanning.log_evidence == pytest.approx((nodes - 1) * math.log(nodes), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(spanning.families, 1.0 / nodes, rtol=1e-12)
    forests = tree_posterior(np.zeros((nodes, nodes)), spanning=False)
    assert forests.log_evidence == pytest.approx((nodes - 1) * math.log(nodes + 1), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(np.diag(forests.families), 2.0 / (nodes + 1), rtol=1e-12)


@pytest.mark.parametrize("spanning", [True, False])
@pytest.mark.parametrize("nodes", [2, 20, 40])
def test_the_evidence_is_the_log_determinant_for_mild_weights(nodes: int, spanning: bool) -> None:
    log_weights = random_weights(nodes, 1.5, seed=nodes)
    expected = naive_trees.log_determinant(log_weights, spanning)
    assert tree_posterior(log_weights, spanning=spanning).log_evidence == pytest.approx(expected, rel=0, abs=1e-9)


def test_nodes_that_hold_on_to_each_other_are_let_go_as_rarely_as_they_should() -> None:
    """Pairs tied by e^5000, of which one edge outwards each is left in the end."""
    pairs = 8
    log_weights = np.full((2 * pairs, 2 * pairs), -5000.0)
    for node in range(2 * pairs):
        log_weights[node, node ^ 1] = 0.0
    # Contracted, each pair has 2 ways in and weight 2 for each of the pairs to go to, and for the outside.
    found = tree_posterior(log_weights, spanning=False)
    expected = naive_trees.log_determinant(
        np.full((pairs, pairs), math.log(4.0)) - np.eye(pairs) * math.log(2.0), False
    )
    assert found.log_evidence == pytest.approx(expected - 5000.0 * pairs, rel=0, abs=1e-9)
    tied = [found.families[node, node ^ 1] for node in range(2 * pairs)]
    np.testing.assert_allclose(tied, 0.5, rtol=1e-9)


def test_a_weight_common_to_all_choices_of_a_node_moves_the_evidence_only() -> None:
    log_weights = random_weights(6, 2.0, seed=3)
    shifts = np.array([-9000.0, 0.0, 12.5, -3000.0, 700.0, 1.0])
    for spanning in (True, False):
        plain = tree_posterior(log_weights, spanning=spanning)
        shifted = tree_posterior(log_weights + shifts[:, None], spanning=spanning)
        assert shifted.log_evidence == pytest.approx(plain.log_evidence + shifts.sum(), rel=0, abs=1e-9)
        np.testing.assert_allclose(shifted.families, plain.families, rtol=1e-9)


def test_the_weights_given_are_left_alone() -> None:
    log_weights = random_weights(5, 1.0, seed=2)
    log_weights.flags.writeable = False
    before = log_weights.copy()
    posterior = tree_posterior(log_weights)
    draws(posterior, 10)
    np.testing.assert_array_equal(log_weights, before)
    np.testing.assert_array_equal(posterior.log_weights, before)
    assert posterior.spanning is True


# What is refused


@pytest.mark.parametrize("shape", [(0, 0), (3,), (2, 3), (65, 65), (2, 2, 2)])
def test_weights_of_another_shape_are_refused(shape: tuple[int, ...], said: Said) -> None:
    with said.raises(InputError):
        tree_posterior(np.zeros(shape))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(value: float, said: Said) -> None:
    log_weights = np.zeros((3, 3))
    log_weights[1, 2] = value
    with said.raises(InputError):
        tree_posterior(log_weights)


def test_a_node_with_nothing_to_choose_is_named(said: Said) -> None:
    log_weights = np.zeros((3, 3))
    log_weights[1] = -np.inf
    with said.raises(NoGraphError):
        tree_posterior(log_weights)


def test_constraints_that_leave_only_cycles_are_refused(said: Said) -> None:
    log_weights = np.zeros((3, 3))
    np.fill_diagonal(log_weights, -np.inf)
    with said.raises(NoGraphError):
        tree_posterior(log_weights)
    with said.raises(NoGraphError):
        tree_posterior(log_weights, spanning=False)


def test_constraints_that_need_two_roots_leave_forests_only(said: Said) -> None:
    log_weights = np.zeros((4, 4))
    log_weights[:2, 2:] = log_weights[2:, :2] = -np.inf
    with said.raises(NoGraphError):
        tree_posterior(log_weights)
    assert math.exp(tree_posterior(log_weights, spanning=False).log_evidence) == pytest.approx(9.0)


# Draws


@pytest.mark.parametrize("spanning", [True, False])
def test_the_first_draws_are_the_same_however_many_are_asked_for(spanning: bool) -> None:
    posterior = tree_posterior(random_weights(9, 2.0, seed=4), spanning=spanning)
    many, many_logs = draws(posterior, 3 * SEED_BLOCK)
    assert len(np.unique(many, axis=0)) > 100
    for count in (0, 1, SEED_BLOCK - 1, SEED_BLOCK, 2 * SEED_BLOCK + 7):
        few, few_logs = draws(posterior, count)
        np.testing.assert_array_equal(few, many[:count])
        np.testing.assert_array_equal(few_logs, many_logs[:count])


@pytest.mark.parametrize("threads", [1, 3])
def test_draws_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    posterior = tree_posterior(random_weights(12, 3.0, seed=5))
    parents, log_joint = draws(posterior, 5_000)
    others, other_logs = draws(posterior, 5_000, threads=threads)
    np.testing.assert_array_equal(others, parents)
    np.testing.assert_array_equal(other_logs, log_joint)


def test_another_seed_gives_other_draws() -> None:
    posterior = tree_posterior(random_weights(12, 1.0, seed=6))
    assert (draws(posterior, 100, seed=1)[0] != draws(posterior, 100, seed=2)[0]).any()


@pytest.mark.parametrize("spanning", [True, False])
def test_a_single_node_has_no_parents(spanning: bool) -> None:
    parents, log_joint = draws(tree_posterior(np.array([[-7.0]]), spanning=spanning), 3)
    np.testing.assert_array_equal(parents, np.zeros((3, 1), dtype=np.uint64))
    np.testing.assert_array_equal(log_joint, [-7.0, -7.0, -7.0])


def test_the_last_of_64_nodes_can_be_a_parent() -> None:
    log_weights = np.full((64, 64), -np.inf)
    log_weights[:, 63] = 0.0
    parents, _ = draws(tree_posterior(log_weights), 2)
    np.testing.assert_array_equal(parents[:, :63], np.uint64(1) << np.uint64(63))
    np.testing.assert_array_equal(parents[:, 63], 0)


def test_progress_tells_of_every_draw() -> None:
    told: list[tuple[str, int, int]] = []
    reporter = reporter_for(lambda *progress: told.append(progress))
    posterior = tree_posterior(random_weights(5, 1.0, seed=1))
    draw_trees(posterior, 2_500, seed=np.random.SeedSequence(1), engine=ThreadEngine(2), reporter=reporter)
    assert {title for title, _, _ in told} == {"graphs"}
    assert len(told) > 2
    assert told[-1] == ("graphs", 2_500, 2_500)


def test_a_raised_cancel_flag_ends_the_draws() -> None:
    log_weights = random_weights(4, 1.0, seed=1)
    detours, choices = np.zeros((4, 4, 4)), np.ones((4, 4))
    parents, log_joint = np.full((10, 4), 77, dtype=np.uint64), np.zeros(10)
    arguments = (log_weights, detours, choices, np.zeros((10, 9)), parents, log_joint)
    trees.draw_forests(*arguments, np.ones(1, dtype=np.int64))
    assert (parents == 77).all()
    trees.draw_forests(*arguments, np.zeros(1, dtype=np.int64))
    assert (parents != 77).all()


def test_a_variable_that_has_no_place_in_a_tree_is_named(said: Said) -> None:
    required = [("Smoking", "Family"), ("M. Work", "Family")]
    with said.raises(NoGraphError):
        DagPosterior(prior="uniform", score="bdeu", method="trees", required=required).fit(datasets.load("coronary"))


def test_trees_without_parents_are_refused_by_that_setting() -> None:
    table = datasets.load("coronary")
    with pytest.raises(InputError, match="max_parents is 0"):
        DagPosterior(prior="uniform", score="bdeu", method="trees", max_parents=0).fit(table)
    forests = DagPosterior(prior="uniform", score="bdeu", method=Trees(spanning=False), max_parents=0).fit(table)
    assert not forests.edge_probabilities_.to_numpy().any()
