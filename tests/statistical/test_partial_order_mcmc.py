"""Partial Order MCMC: its steps one by one, and its long run, against what is exact.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from tests.naive import families as naive_families
from tests.naive import orders as naive_orders
from tests.naive import partial_order as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    FALSE_ALARM,
    assert_edges_given_states,
    assert_long_run,
    assert_steps,
    one_step_counts,
    random_tables,
    run,
)

from dagpost import DagPosterior, datasets
from dagpost._tools import memory
from dagpost._tools.progress import NO_PROGRESS
from dagpost.errors import InputError, NoGraphError, ResourceError
from dagpost.exact.order import edge_probabilities
from dagpost.families.family_sums import FamilyWeights
from dagpost.mcmc import buckets, partial_order
from dagpost.mcmc.candidates import choose_candidates
from dagpost.mcmc.chains import ChainRun, Round, run_chains
from dagpost.mcmc.diagnostics import diagnose
from dagpost.mcmc.partial_order import PartialOrderMCMC, PartialOrderState
from dagpost.posterior.workspace import ExactWorkspace, Workspace


def exact_edges(tables: ExactWorkspace) -> np.ndarray:
    # A required edge may come out as 1 + 1e-16.
    return np.minimum(edge_probabilities(tables.order_families(tables.forward()), tables.max_parents), 1.0)


def sets_of(tables: ExactWorkspace) -> tuple[naive_families.Sets, ...]:
    return naive_families.considered(
        tables.log_weights, tables.max_parents, tables.weights.candidates, tables.max_parents
    )


def constrained(tables: ExactWorkspace) -> ExactWorkspace:
    """The edge 0 -> 1 is required, the edges 2 -> 0 and 0 -> 3 are forbidden."""
    nodes = len(tables.log_weights)
    for node, is_kept in ((1, lambda mask: mask & 1), (0, lambda mask: not mask & 4), (3, lambda mask: not mask & 1)):
        if node < nodes:
            refused = [not is_kept(mask) for mask in naive.parent_masks(node, nodes, tables.max_parents)]
            tables.log_weights[node, refused] = -np.inf
    return tables


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


def assert_trusted(chains: ChainRun) -> None:
    """The intervals that the chains are held to are those of a run that has converged, not wide for want of draws."""
    names = [f"V{node}" for node in range(chains.parents.shape[1])]
    found = diagnose(chains.parents, names, chains.record.lengths, chains.record.acceptance)
    assert found.trusted, found.verdict


def long_run(bucket_size: int, **settings: int) -> PartialOrderMCMC:
    return PartialOrderMCMC(bucket_size=bucket_size, thinning=10, burn_in=2_000, **settings)


# Steps


@pytest.mark.parametrize("swaps_only", [False, True], ids=["all moves", "swaps only"])
@pytest.mark.parametrize("required", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize(("nodes", "size", "states"), [(3, 1, 6), (3, 2, 3), (4, 2, 6), (4, 3, 4), (5, 2, 30)])
def test_every_step_is_that_of_the_twin_and_balances(
    nodes: int, size: int, states: int, required: bool, swaps_only: bool
) -> None:
    tables = random_tables(nodes, 2, 3, 1.0)
    if required:
        tables = constrained(tables)
    where = twin.space(sets_of(tables), size)
    assert required or len(where.buckets) == states
    chances = partial_order.SWAPS_ONLY if swaps_only else partial_order.CHANCES
    assert sum(chances) == pytest.approx(1.0)
    transition = twin.transition(where, chances)
    method = PartialOrderMCMC(bucket_size=size, swaps_only=swaps_only)
    starts = [
        PartialOrderState(np.array([node for part in bucket_order for node in sorted(part)]))
        for bucket_order in where.buckets
    ]

    def key(state: PartialOrderState) -> twin.BucketOrder:
        return twin.buckets_of(tuple(state.order.tolist()), size)

    counts = one_step_counts(method, method.prepare(tables), nodes, starts, key, 10_000 // len(starts), 1)
    assert_steps(counts, transition, where.logs)


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


@pytest.mark.parametrize("spread", [1.5, 6.0])
@pytest.mark.parametrize(("nodes", "max_parents", "size"), [(5, 4, 2), (6, 2, 3), (7, 3, 2), (8, 3, 3)])
def test_long_run_matches_exact_edges_of_random_weights(nodes: int, max_parents: int, size: int, spread: float) -> None:
    tables = random_tables(nodes, max_parents, nodes, spread)
    chains = run(long_run(size), tables, 8000, 5)
    assert_trusted(chains)
    assert_long_run(chains, exact_edges(tables))
    assert_edges_given_states(chains, exact_edges(tables), 0.03)


@pytest.mark.parametrize("size", [2, 3])
def test_long_run_matches_exact_edges_under_constraints(size: int) -> None:
    tables = constrained(random_tables(7, 3, 2, 1.5))
    chains = run(long_run(size), tables, 8000, 6)
    assert np.isfinite(chains.log_joint).all()
    assert_trusted(chains)
    assert_long_run(chains, exact_edges(tables))


def test_long_run_matches_exact_edges_where_most_sets_are_beyond_the_candidates() -> None:
    tables = random_tables(7, 3, 8, 1.5)
    few = among_few(tables, 2)
    assert len(few.families.beyond_masks) > 100
    chains = run(long_run(3), few, 8000, 5)
    assert_trusted(chains)
    assert_long_run(chains, exact_edges(tables))
    assert_edges_given_states(chains, exact_edges(tables), 0.03)


@pytest.mark.parametrize("size", [2, 4])
def test_long_run_matches_exact_edges_on_coronary(size: int) -> None:
    model = DagPosterior(modularity="order").fit(datasets.load("coronary"))
    chains = run(long_run(size), model._tables, 8000, 7)
    assert_trusted(chains)
    assert_long_run(chains, model.edge_probabilities_.to_numpy())
    assert_edges_given_states(chains, model.edge_probabilities_.to_numpy(), 0.03)


def test_long_run_matches_exact_edges_on_tic_tac_toe(shared_data: Path) -> None:
    """Buckets of five cross what catches chains over orders of one node after another."""
    rows = pd.read_csv(shared_data / "paper" / "tictactoe.csv")
    model = DagPosterior(modularity="order", score="k2", prior="indegree").fit(rows)
    chains = run(PartialOrderMCMC(bucket_size=5, thinning=20), model._tables, 8000, 8)
    assert_trusted(chains)
    assert_long_run(chains, model.edge_probabilities_.to_numpy())


@pytest.mark.parametrize("few", [False, True], ids=["all candidates", "few candidates"])
def test_one_bucket_gives_exact_edges_and_independent_graphs(few: bool) -> None:
    tables = random_tables(9, 3, 1, 6.0)
    chains = run(PartialOrderMCMC(chains=2), among_few(tables, 5) if few else tables, 4000, 3)
    assert chains.record.edges is not None
    # What lists leave out may be worth 1e-8 a node.
    tolerance = 1e-7 if few else 1e-9
    assert chains.record.edges == pytest.approx(np.stack([exact_edges(tables)] * 2), abs=tolerance)
    assert chains.record.log_state == pytest.approx(tables.order_log_evidence, abs=tolerance)
    assert chains.record.proposed.sum() == 0
    assert_long_run(chains, exact_edges(tables))
    assert_trusted(chains)


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


@pytest.mark.parametrize("graphs_a_state", [1, 7, 10])
def test_a_run_that_goes_on_equals_an_unbroken_one(graphs_a_state: int) -> None:
    tables = random_tables(6, 2, 1, 2.0)
    method = PartialOrderMCMC(bucket_size=2, chains=2, thinning=2, burn_in=300, graphs_a_state=graphs_a_state)
    context = method.prepare(tables)
    seed = np.random.SeedSequence(1)
    unbroken = run_chains(method, context, 6, 650, seed=seed, engine=tables.engine)
    shorter = run_chains(method, context, 6, 333, seed=seed, engine=tables.engine)
    longer = run_chains(method, context, 6, 650, seed=seed, engine=tables.engine, previous=shorter)
    assert (longer.parents == unbroken.parents).all()
    assert (longer.log_joint == unbroken.log_joint).all()
    assert (longer.record.log_state == unbroken.record.log_state).all()
    assert np.array_equal(longer.record.edges, unbroken.record.edges)


def test_graphs_of_one_state_come_after_steps_for_all_of_them() -> None:
    tables = random_tables(6, 2, 1, 2.0)
    method = PartialOrderMCMC(bucket_size=2, chains=1, thinning=3, burn_in=0, graphs_a_state=25)
    chains = run(method, tables, 160, 1)
    states = [chains.record.log_state[start : start + 25] for start in range(0, 160, 25)]
    assert all((state == state[0]).all() for state in states)
    assert len({state[0] for state in states}) > 4
    assert chains.record.proposed.sum() == 7 * 25 * 3
    # All graphs count the same, those of the last state, which are fewer, too.
    means = {count: run(method, tables, count, 1).record.edges[0] for count in (150, 151, 160)}
    of_last_state = 151 * means[151] - 150 * means[150]
    assert of_last_state.max() > 0.5
    assert 160 * means[160] - 150 * means[150] == pytest.approx(10 * of_last_state, abs=1e-9)


def test_many_graphs_of_a_state_match_exact_edges_too() -> None:
    tables = random_tables(6, 3, 2, 1.5)
    chains = run(long_run(3, graphs_a_state=3), tables, 9000, 4)
    assert_long_run(chains, exact_edges(tables))
    assert_edges_given_states(chains, exact_edges(tables), 0.03)


def test_a_round_is_given_up_when_asked_to() -> None:
    tables = random_tables(4, 2, 1, 1.0)
    method = PartialOrderMCMC(bucket_size=2)
    context = method.prepare(tables)
    output = Round(
        10**12,
        np.zeros((1, 4), dtype=np.uint64),
        np.zeros(1),
        np.zeros(1),
        np.zeros((4, 4)),
        np.zeros(4, dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
    generator = np.random.Generator(np.random.PCG64(1))
    state = method.start(context, generator)
    method.advance(context, state, generator, output, np.ones(1, dtype=np.int64))
    assert output.proposed.sum() == 0


def test_one_node_has_one_order() -> None:
    chains = run(PartialOrderMCMC(chains=1, burn_in=0), random_tables(1, 0, 1, 1.0), 10, 1)
    assert not chains.parents.any()
    assert chains.record.proposed.sum() == 0


def test_chains_start_from_different_bucket_orders_that_are_possible() -> None:
    tables = constrained(random_tables(8, 3, 1, 1000.0))
    method = PartialOrderMCMC(bucket_size=3)
    starts = [
        tuple(method.start(method.prepare(tables), np.random.default_rng(seed)).order.tolist()) for seed in range(20)
    ]
    assert all(naive_orders.log_weight(sets_of(tables), order) > -np.inf for order in starts)
    assert len({twin.buckets_of(order, 3) for order in starts}) > 10


def test_constraints_that_no_graph_satisfies_are_named() -> None:
    tables = random_tables(2, 1, 1, 1.0)
    tables.log_weights[:, 0] = -np.inf
    with pytest.raises(NoGraphError, match="No graph satisfies the constraints"):
        run(PartialOrderMCMC(bucket_size=1), tables, 10, 1)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("bucket_size", 0), ("bucket_size", 2.0), ("chains", 0), ("thinning", 0), ("burn_in", -1), ("graphs_a_state", 0)],
)
def test_settings_out_of_range_are_refused(setting: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"'{setting}' parameter of PartialOrderMCMC must be an int of at least"):
        PartialOrderMCMC(**{setting: value})


def test_buckets_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match=r"'bucket_size' parameter of PartialOrderMCMC must be an int in \[1, 20\]"):
        PartialOrderMCMC(bucket_size=21)


def test_swaps_only_is_yes_or_no() -> None:
    with pytest.raises(InputError, match=r"'swaps_only' parameter of PartialOrderMCMC must be True or False. Got 1\."):
        PartialOrderMCMC(swaps_only=1)  # type: ignore[arg-type]


def test_with_swaps_only_nothing_else_is_tried() -> None:
    chains = run(PartialOrderMCMC(bucket_size=2, swaps_only=True), random_tables(6, 2, 1, 1.0), 800, 1)
    assert (chains.record.proposed[:, :2] > 0).all()
    assert not chains.record.proposed[:, 2:].any()


def test_sums_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = random_tables(12, 2, 1, 1.0)
    tables.families  # noqa: B018 - these are asked for before
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with pytest.raises(ResourceError, match=r"buckets of 10 nodes, 2 chains at a time, needs .* smaller buckets"):
        PartialOrderMCMC().prepare(tables)
