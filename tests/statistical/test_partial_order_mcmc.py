"""Partial Order MCMC: its steps one by one, and what is its own.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.naive import orders as naive_orders
from tests.naive import partial_order as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    FALSE_ALARM,
    assert_agreed,
    assert_edges_given_states,
    assert_long_run,
    assert_steps,
    constrained,
    exact_edges,
    one_step_counts,
    random_tables,
    run,
    sets_of,
)

from dagpost._tools import memory
from dagpost._tools.progress import NO_PROGRESS
from dagpost.errors import InputError, ResourceError
from dagpost.families.family_sums import FamilyWeights
from dagpost.mcmc import buckets, partial_order
from dagpost.mcmc.candidates import choose_candidates
from dagpost.mcmc.partial_order import PartialOrderState
from dagpost.methods.partial_order_mcmc import PartialOrderMCMC
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.workspace import Workspace


def among_few(tables: ExactWorkspace, width: int) -> Workspace:
    """The same weights, but with few candidates, so that most parent sets stand in lists."""
    nodes, max_parents = tables.nodes, tables.max_parents
    nobody = np.zeros(nodes, dtype=np.uint64)
    candidates = choose_candidates(tables.log_weights, max_parents, width, nobody, nobody)
    by_mask = naive.weights_by_mask(tables.log_weights, max_parents)
    subsets = naive.subsets_in_order(width, max_parents)
    inner = [
        [by_mask[node, naive.mask_of([int(candidates[node, place]) for place in subset])] for subset in subsets]
        for node in range(nodes)
    ]
    weights = FamilyWeights(max_parents, max_parents, candidates, np.array(inner), tables.log_weights)
    return Workspace(weights, tables.engine, NO_PROGRESS)


def long_run(bucket_size: int, **settings: int) -> PartialOrderMCMC:
    return PartialOrderMCMC(bucket_size=bucket_size, thinning=10, burn_in=2_000, **settings)


# Steps


@pytest.mark.parametrize("required", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize(("nodes", "size", "states"), [(3, 1, 6), (3, 2, 3), (4, 2, 6), (4, 3, 4), (5, 2, 30)])
def test_every_step_is_that_of_the_twin_and_balances(nodes: int, size: int, states: int, required: bool) -> None:
    tables = random_tables(nodes, 2, 3, 1.0)
    if required:
        tables = constrained(tables)
    where = twin.space(sets_of(tables), size)
    assert required or len(where.buckets) == states
    assert sum(partial_order.CHANCES) == pytest.approx(1.0)
    transition = twin.transition(where, partial_order.CHANCES)
    method = PartialOrderMCMC(bucket_size=size)
    starts = [
        PartialOrderState(np.array([node for part in bucket_order for node in sorted(part)]))
        for bucket_order in where.buckets
    ]

    def key(state: PartialOrderState) -> twin.BucketOrder:
        return twin.buckets_of(tuple(state.order.tolist()), size)

    counts = one_step_counts(method, method.prepare(tables), nodes, starts, key, 10_000 // len(starts), 1)
    assert_steps(counts, transition, where.logs)


@pytest.mark.long
def test_orders_of_a_bucket_are_drawn_in_proportion_to_their_weights() -> None:
    tables = random_tables(6, 3, 1, 0.7)
    families = buckets.bucket_families(tables.families)
    members, before = np.array([4, 0, 3, 5]), np.uint64(0b000110)
    sums = buckets.room_for_buckets(1, 4)
    buckets.sum_bucket(families, members, before, sums, 0)
    expected = twin.Bucket(sets_of(tables), tuple(members.tolist()), int(before))
    place = {order: number for number, order in enumerate(permutations(members.tolist()))}
    counts = np.zeros(len(place))
    generator = np.random.Generator(np.random.PCG64(1))
    drawn, log_alpha = np.zeros(4, dtype=np.int64), np.zeros(6)
    for _ in range(20_000):
        buckets.draw_bucket(sums, 0, members, generator, drawn, log_alpha)
        counts[place[tuple(drawn.tolist())]] += 1
    shares = 20_000 * np.exp(np.array(list(expected.orders.values())) - expected.log_weight)
    assert (shares > 10.0).all()
    statistic = float(((counts - shares) ** 2 / shares).sum())
    assert chi2.sf(statistic, len(shares) - 1) > FALSE_ALARM


# Long runs


def test_long_run_matches_exact_edges_where_most_sets_are_beyond_the_candidates() -> None:
    tables = random_tables(7, 3, 8, 1.5)
    few = among_few(tables, 2)
    assert len(few.families.beyond_masks) > 100
    chains = run(long_run(3), few, 8000, 5)
    assert_agreed(chains)
    assert_long_run(chains, exact_edges(tables, "order"))
    assert_edges_given_states(chains, exact_edges(tables, "order"), 0.03)


@pytest.mark.parametrize("few", [False, True], ids=["all candidates", "few candidates"])
def test_one_bucket_gives_independent_graphs(few: bool) -> None:
    tables = random_tables(9, 3, 1, 6.0)
    chains = run(PartialOrderMCMC(chains=2), among_few(tables, 5) if few else tables, 4000, 3)
    assert_edges_given_states(chains, exact_edges(tables, "order"), 0.03)
    # What lists leave out may be worth 1e-8 a node.
    tolerance = 1e-7 if few else 1e-9
    assert chains.record.log_state == pytest.approx(tables.order_log_evidence, abs=tolerance)
    assert chains.record.proposed.sum() == 0
    assert_long_run(chains, exact_edges(tables, "order"))
    assert_agreed(chains)


# States, graphs, rounds


@pytest.mark.parametrize("few", [False, True], ids=["all candidates", "few candidates"])
def test_what_is_kept_beside_the_buckets_stays_true_to_them(few: bool) -> None:
    """Sums of buckets are carried from step to step."""
    tables = random_tables(7, 3, 4, 30.0)
    chains = run(PartialOrderMCMC(bucket_size=2, chains=2, thinning=3), among_few(tables, 3) if few else tables, 400, 9)
    for chain in range(2):
        order = chains.record.standing["state_order"][chain].tolist()
        logs = [
            twin.Bucket(sets_of(tables), tuple(order[start : start + 2]), naive.mask_of(order[:start])).log_weight
            for start in range(0, 7, 2)
        ]
        assert chains.record.log_state[200 * chain + 199] == pytest.approx(sum(logs), abs=1e-6)
    assert (chains.record.accepted > 0).all()


def test_log_joint_is_the_weight_of_the_graph_which_fits_some_order() -> None:
    tables = random_tables(6, 2, 1, 30.0)
    chains = run(PartialOrderMCMC(bucket_size=4, chains=2), tables, 100, 3)
    by_mask = naive.weights_by_mask(tables.log_weights, 2)
    graphs = chains.parents.astype(np.int64)
    assert chains.log_joint == pytest.approx(by_mask[np.arange(6), graphs].sum(axis=1), abs=1e-9)
    dags = [
        any(
            all(parents[node] & ~naive.mask_of(order[:place]) == 0 for place, node in enumerate(order))
            for order in permutations(range(6))
        )
        for parents in np.unique(graphs, axis=0).tolist()
    ]
    assert all(dags)


def test_chains_start_from_different_bucket_orders_that_are_possible() -> None:
    tables = constrained(random_tables(8, 3, 1, 1000.0))
    method = PartialOrderMCMC(bucket_size=3)
    starts = [
        tuple(method.start(method.prepare(tables), np.random.default_rng(seed)).order.tolist()) for seed in range(20)
    ]
    assert all(naive_orders.log_weight(sets_of(tables), order) > -np.inf for order in starts)
    assert len({twin.buckets_of(order, 3) for order in starts}) > 10


@pytest.mark.parametrize("size", [0, 2.0, 21])
def test_buckets_that_are_too_small_or_too_large_are_refused(size: Any) -> None:
    with pytest.raises(InputError, match=r"'bucket_size' parameter of PartialOrderMCMC must be an int in \[1, 20\]"):
        PartialOrderMCMC(bucket_size=size)


def test_sums_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = random_tables(12, 2, 1, 1.0)
    tables.families  # noqa: B018 - these are asked for before
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with pytest.raises(ResourceError, match=r"buckets of 10 nodes, 2 chains at a time, needs .* smaller buckets"):
        PartialOrderMCMC().prepare(tables)
