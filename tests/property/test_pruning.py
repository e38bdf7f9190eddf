"""Which parent sets stay, against sums over subsets one by one, and what the posterior loses without the others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import families as naive_families
from tests.naive import posterior as naive
from tests.naive import pruning as naive_pruning
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost.engines import ThreadEngine
from dagpost.errors import NoGraphError, ResourceError
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.family_sums import FamilyWeights
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import ParentLists
from dagpost.families.pruning import (
    considered_from_all,
    considered_from_candidates,
    considered_from_lists,
    node_without_core,
)
from dagpost.mcmc.candidates import weights_inside


def weights_of(seed: int, nodes: int, max_parents: int, span: float, holes: float) -> naive.Logs:
    """Random log weights; every node may be without parents, some other sets have no weight."""
    generator = np.random.default_rng(seed)
    logs = generator.normal(-1000.0, span, (nodes, family_count(nodes - 1, max_parents)))
    logs[:, 1:][generator.random(logs[:, 1:].shape) < holes] = -np.inf
    return logs


def sets_in(considered: ConsideredSets, node: int) -> dict[int, float]:
    """The sets of a node as masks, with their log weights; those that lead come first, both by falling weight."""
    here = slice(considered.start[node], considered.start[node + 1])
    logs, leading = considered.log_weights[here], considered.leading[node]
    assert 1 <= leading <= len(logs)
    assert logs[0] == logs.max()
    assert (np.diff(logs[:leading]) <= 0.0).all()
    assert (np.diff(logs[leading:]) <= 0.0).all()
    found = {}
    for row, log in zip(considered.members[here].tolist(), logs.tolist(), strict=True):
        present = [member for member in row if member < considered.nodes]
        assert row == sorted(row)
        assert node not in present
        found[naive.mask_of(present)] = log
    assert len(found) == len(logs)
    return found


def check_node(considered: ConsideredSets, node: int, sets: naive_families.Sets, allowance: float) -> None:
    """What stays and what goes of one node, against the naive sums."""
    kept = sets_in(considered, node)
    shares = naive_pruning.shares(sets)
    lost = math.fsum(shares[mask] for mask in sets if mask not in kept)
    assert all(sets[mask] == log for mask, log in kept.items())
    assert considered.lost[node] == pytest.approx(lost, rel=1e-9, abs=1e-15)
    assert lost <= allowance * (1 + 1e-9)
    gone = naive_pruning.that_go(sets, allowance * (1 - 1e-9))
    assert len(gone) <= len(sets) - len(kept) <= len(naive_pruning.that_go(sets, allowance * (1 + 1e-9)))


weights = st.builds(
    weights_of,
    st.integers(0, 2**32 - 1),
    st.integers(2, 6),
    st.integers(1, 4),
    st.sampled_from([0.5, 5.0, 3000.0]),
    st.sampled_from([0.0, 0.3]),
)


@given(weights, st.sampled_from([1e-6, 1e-2, 0.5]))
@settings(max_examples=examples(60))
def test_the_smallest_shares_go_while_the_allowance_lasts(log_weights: naive.Logs, allowance: float) -> None:
    nodes = len(log_weights)
    limit = next(size for size in range(nodes) if family_count(nodes - 1, size) == log_weights.shape[1])
    considered = considered_from_all(log_weights, limit, allowance=allowance, engine=ThreadEngine(2))
    everyone = np.array([[other for other in range(nodes) if other != node] for node in range(nodes)])
    sets = naive_families.considered(log_weights, limit, everyone, limit)
    for node in range(nodes):
        check_node(considered, node, sets[node], allowance / nodes)
    assert (considered.missed == 0.0).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 4.0]), st.sampled_from([1e-2, 0.3]))
@settings(max_examples=40)
def test_the_posterior_changes_by_no_more_than_what_is_lost(seed: int, span: float, allowance: float) -> None:
    log_weights = weights_of(seed, 4, 3, span, 0.1)
    log_weights[:, 0] += 2.0 * span
    considered = considered_from_all(log_weights, 3, allowance=allowance)
    everyone = np.array([[other for other in range(4) if other != node] for node in range(4)])
    with_all = naive_pruning.graph_probabilities(naive_families.considered(log_weights, 3, everyone, 3))
    without = naive_pruning.graph_probabilities(tuple(sets_in(considered, node) for node in range(4)))
    distance = 0.5 * np.abs(with_all - without).sum()
    assert distance <= considered.lost.sum() + 1e-12
    assert considered.lost.sum() <= allowance * (1 + 1e-9)


def test_sets_do_go_and_cost_something() -> None:
    log_weights = weights_of(5, 4, 3, 4.0, 0.0)
    log_weights[:, 0] += 8.0
    considered = considered_from_all(log_weights, 3, allowance=0.1)
    assert 4 <= len(considered.log_weights) < 20
    assert 0.001 < considered.lost.sum() <= 0.1


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=30)
def test_sets_of_candidates_and_small_sets_count_once(seed: int, width: int, small_size: int) -> None:
    nodes, max_parents = 6, 3
    log_weights = weights_of(seed, nodes, max_parents, 4.0, 0.1)
    generator = np.random.default_rng(seed)
    others = [[other for other in range(nodes) if other != node] for node in range(nodes)]
    candidates = np.array([sorted(generator.choice(own, width, replace=False)) for own in others], dtype=np.int64)
    inner = weights_inside(log_weights, candidates, max_parents)
    small = np.ascontiguousarray(log_weights[:, : family_count(nodes - 1, small_size)])
    among = FamilyWeights(max_parents, small_size, candidates, inner, small)
    considered = considered_from_candidates(among, allowance=0.06)
    sets = naive_families.considered(log_weights, max_parents, candidates, small_size)
    for node in range(nodes):
        check_node(considered, node, sets[node], 0.01)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_lists_of_more_columns_than_a_word_has_bits(seed: int) -> None:
    nodes = 100
    generator = np.random.default_rng(seed)
    columns = generator.choice(nodes - 1, 7, replace=False) + 1
    allowed = np.zeros((nodes, nodes), dtype=np.bool_)
    allowed[0, columns] = True
    lists = ParentLists.of_matrix(allowed, 4)
    logs = generator.normal(0.0, 4.0, lists.counts[0])
    weighed = (logs, *(np.zeros(1) for _ in range(nodes - 1)))
    considered = considered_from_lists(lists, weighed, allowance=5.0)
    sets = {naive.mask_of(lists.parents(0, number)): float(log) for number, log in enumerate(logs)}
    check_node(considered, 0, sets, 0.05)
    assert considered.counts[1:].tolist() == [1] * (nodes - 1)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_what_all_sets_share_is_one_of_them(seed: int) -> None:
    generator = np.random.default_rng(seed)
    log_weights = weights_of(seed, 4, 3, 0.1, 0.0)
    log_weights[generator.random(log_weights.shape) < 0.6] = -np.inf
    log_weights[:, -1] = 0.0
    considered = considered_from_all(log_weights, 3, allowance=1e-12)
    sets = [[{bit for bit in range(4) if mask >> bit & 1} for mask in sets_in(considered, node)] for node in range(4)]
    wrong = [node for node in range(4) if not naive_pruning.common_set_is_there(sets[node])]
    assert node_without_core(considered) == (wrong[0] if wrong else None)


def test_a_node_without_any_set_is_named(said: Said) -> None:
    log_weights = np.zeros((3, 4))
    log_weights[1] = -np.inf
    with said.raises(NoGraphError):
        considered_from_all(log_weights, 2)


def test_lists_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10)
    with said.raises(ResourceError):
        considered_from_all(np.zeros((3, 4)), 2)
