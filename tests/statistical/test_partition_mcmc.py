"""Partition MCMC: its steps one by one, and what is its own.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py), for each comparison
with a transition matrix or a table of edges.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import graph_chains
from tests.naive import partition as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    NOT_CANCELLED,
    assert_agreed,
    assert_edges_given_states,
    assert_long_run,
    assert_steps,
    constrained,
    empty_round,
    exact_edges,
    generator,
    random_tables,
    run,
)

from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.families.family_sums import FamilyTables, FamilyWeights, log_weight_of
from dagpost.families.numbering import family_count
from dagpost.mcmc.partition import CHANCES, PartitionState
from dagpost.mcmc.partition_moves import REVERSALS
from dagpost.methods.partition_mcmc import PartitionMCMC
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.workspace import Workspace

LONG = PartitionMCMC(chains=4, thinning=10, burn_in=2_000)


def state_of(tables: ExactWorkspace, partition: twin.Partition) -> PartitionState:
    part_of = np.zeros(tables.nodes, dtype=np.int64)
    for number, part in enumerate(partition):
        part_of[twin.members(part)] = number
    logs = twin.weights_of_nodes(partition, naive.weights_by_mask(tables.log_weights, tables.max_parents))
    return PartitionState(part_of, logs - tables.families.heaviest)


def counted_steps(tables: ExactWorkspace, states: list[twin.Partition], repeats: int, seed: int) -> np.ndarray:
    """How often one step of each kind leads from each partition to each other."""
    place = {partition: number for number, partition in enumerate(states)}
    counts = np.zeros((len(CHANCES), len(states), len(states)), dtype=np.int64)
    steps = generator(seed)
    for number, partition in enumerate(states):
        start = state_of(tables, partition)
        for _ in range(repeats):
            state = PartitionState(*(part.copy() for part in start))
            output = empty_round(PartitionMCMC, tables.nodes, 1, 1)
            PartitionMCMC().advance(tables.families, state, steps, output, NOT_CANCELLED)
            kind = int(np.flatnonzero(output.proposed)[0])
            counts[kind, number, place[twin.numbered(state.part_of.tolist())]] += 1
    return counts


@pytest.mark.parametrize("spread", [1.0, 4.0])
@pytest.mark.parametrize("required", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("max_parents", [1, 2])
def test_every_step_is_that_of_the_twin_and_balances(max_parents: int, required: bool, spread: float) -> None:
    tables = random_tables(3, max_parents, 3, spread)
    if required:
        tables = constrained(tables)
    states, logs = twin.possible_partitions(tables.log_weights, max_parents)
    assert len(states) == ((4 if max_parents == 2 else 3) if required else 13)
    moves = [
        twin.splits_and_joins(states, logs),
        twin.swaps_of_neighbours(states, logs),
        twin.swaps(states, logs),
        twin.moves_of_one(states, logs),
        twin.edge_reversals(states, tables.log_weights, max_parents, REVERSALS),
    ]
    counts = counted_steps(tables, states, 3000, 1)
    for own_counts, transition in zip(counts, moves, strict=True):
        assert_steps(own_counts, transition, logs)
    mixture = sum(chance * transition for chance, transition in zip(CHANCES, moves, strict=True))
    assert_steps(counts.sum(axis=0), np.asarray(mixture), logs)


def test_one_node_of_four_is_put_back_as_the_twin_does() -> None:
    """With four nodes it can pass a part that is neither its own nor the next one."""
    tables = random_tables(4, 3, 1, 1.0)
    states, logs = twin.possible_partitions(tables.log_weights, 3)
    assert len(states) == 75
    counts = counted_steps(tables, states, 1000, 2)
    assert_steps(counts[PartitionMCMC.moves.index("move one")], twin.moves_of_one(states, logs), logs)
    assert_steps(counts[PartitionMCMC.moves.index("swap any two")], twin.swaps(states, logs), logs)


@given(st.integers(1, 7), st.integers(0, 4), st.integers(0, 1000), st.sampled_from([1.0, 30.0, 3000.0]), st.booleans())
@settings(max_examples=40)
def test_what_is_kept_beside_a_partition_stays_true_to_it(
    nodes: int, max_parents: int, seed: int, spread: float, required: bool
) -> None:
    tables = random_tables(nodes, max_parents, seed, spread)
    if required and nodes > 1 and max_parents > 0:
        tables = constrained(tables)
    families = tables.families
    by_mask = naive.weights_by_mask(tables.log_weights, max_parents)
    state = PartitionMCMC().start(families, generator(seed))
    for number in range(15):
        output = empty_round(PartitionMCMC, nodes, 1, 3)
        PartitionMCMC().advance(families, state, generator(1000 * seed + number), output, NOT_CANCELLED)
        partition = twin.numbered(state.part_of.tolist())
        expected = twin.weights_of_nodes(partition, by_mask)
        assert np.isfinite(expected).all()
        assert state.log_sums + families.heaviest == pytest.approx(expected, rel=1e-9, abs=1e-4)
        assert output.log_state[0] == pytest.approx(expected.sum(), rel=1e-9, abs=1e-3)
        graph = tuple(output.parents[0].tolist())
        assert twin.partition_of(graph) == partition
        weights = [by_mask[node, parents] for node, parents in enumerate(graph)]
        assert output.log_joint[0] == pytest.approx(sum(weights), rel=1e-9, abs=1e-9)


def test_long_run_matches_exact_edges_where_some_sets_are_not_among_the_candidates() -> None:
    tables = random_tables(7, 3, 4, 3.0)
    candidates = np.array([[other for other in range(7) if other != node][:3] for node in range(7)], dtype=np.int64)
    masks = [[naive.mask_of(row[list(inner)].tolist()) for inner in naive.subsets_in_order(3, 3)] for row in candidates]
    by_mask = naive.weights_by_mask(tables.log_weights, 3)
    inner = np.array([by_mask[node, masks[node]] for node in range(7)])
    weights = FamilyWeights(3, 3, candidates, inner, tables.log_weights)
    chains = run(LONG, Workspace(weights, tables.engine, NO_PROGRESS), 8000, 6)
    assert_agreed(chains)
    assert_long_run(chains, exact_edges(tables, "structure"))
    assert_edges_given_states(chains, exact_edges(tables, "structure"), 0.03)


def many_nodes(nodes: int, seed: int) -> FamilyTables:
    """Random weights where not all others are candidates, and single parents are the only sets beyond these."""
    drawn = np.random.default_rng(seed)
    others = [[other for other in range(nodes) if other != node] for node in range(nodes)]
    candidates = np.array([np.sort(drawn.choice(row, 10, replace=False)) for row in others], dtype=np.int64)
    inner = drawn.normal(-4.0, 3.0, (nodes, family_count(10, 3)))
    small = drawn.normal(-4.0, 3.0, (nodes, family_count(nodes - 1, 1)))
    weights = FamilyWeights(3, 1, candidates, inner, small)
    return Workspace(weights, ThreadEngine(2), NO_PROGRESS).families


def test_all_is_well_with_64_nodes() -> None:
    families = many_nodes(64, 1)
    state = PartitionMCMC().start(families, generator(1))
    output = empty_round(PartitionMCMC, 64, 100, 20)
    PartitionMCMC().advance(families, state, generator(2), output, NOT_CANCELLED)
    assert len(np.unique(output.parents, axis=0)) > 90
    for row, log_joint in zip(output.parents, output.log_joint, strict=True):
        assert graph_chains.is_acyclic(row.tolist())
        weights = [log_weight_of(families, node, row[node]) for node in range(64)]
        assert log_joint == pytest.approx(sum(weights), abs=1e-9)
    assert twin.partition_of(tuple(output.parents[-1].tolist())) == twin.numbered(state.part_of.tolist())
    assert (output.proposed > 0).all()
    # Swaps and splits are rarely accepted.
    assert (output.accepted[3:] > 0).all()


def test_chains_start_from_different_partitions_of_positive_weight() -> None:
    tables = constrained(random_tables(8, 3, 1, 1000.0))
    starts = [PartitionMCMC().start(tables.families, generator(seed)) for seed in range(20)]
    for state in starts:
        assert np.isfinite(state.log_sums).all()
        assert state.part_of[0] < state.part_of[1]
    assert len({tuple(state.part_of.tolist()) for state in starts}) > 10


def test_a_round_is_given_up_when_asked_to() -> None:
    tables = random_tables(4, 2, 1, 1.0)
    output = empty_round(PartitionMCMC, 4, 1, 10**12)
    state = PartitionMCMC().start(tables.families, generator(1))
    PartitionMCMC().advance(tables.families, state, generator(2), output, np.ones(1, dtype=np.int64))
    assert output.proposed.sum() == 0
