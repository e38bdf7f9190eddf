"""Structure MCMC and the new edge reversal: their steps one by one, and what is their own.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import graph_chains as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    assert_steps,
    constrained,
    generator,
    graph_step_counts,
    random_tables,
    run,
)

from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.families.family_sums import FamilyWeights, candidate_count, log_weight_of
from dagpost.families.numbering import family_count
from dagpost.mcmc import structure
from dagpost.mcmc.reversal import find_descendants, is_acyclic, nth_member, with_descendants
from dagpost.methods.structure_mcmc import StructureMCMC
from dagpost.posterior.workspace import Workspace

LONG = StructureMCMC(chains=4, thinning=60, burn_in=12_000, reversals=0.2)


def masks(parents: Any) -> np.ndarray:
    return np.array(parents, dtype=np.uint64)


@st.composite
def random_dags(draw: st.DrawFn, most_nodes: int = 6) -> list[int]:
    nodes = draw(st.integers(1, most_nodes))
    order = draw(st.permutations(range(nodes)))
    parents = [0] * nodes
    for place, node in enumerate(order):
        before = naive.mask_of(order[:place])
        parents[node] = draw(st.integers(0, (1 << nodes) - 1)) & before
    return parents


@st.composite
def random_digraphs(draw: st.DrawFn) -> list[int]:
    nodes = draw(st.integers(1, 7))
    # Few edges, so that both kinds come up.
    sparse = st.integers(0, (1 << nodes) - 1)
    return [draw(sparse) & draw(sparse) & ~(1 << node) for node in range(nodes)]


@given(random_dags(most_nodes=8))
def test_descendants_are_those_of_networkx(parents: list[int]) -> None:
    graph = twin.graph_of(parents)
    expected = [naive.mask_of(nx.descendants(graph, node)) for node in range(len(parents))]
    found = np.full(len(parents), 7, dtype=np.uint64)
    find_descendants(masks(parents), found)
    assert found.tolist() == expected
    for node, below in enumerate(expected):
        assert with_descendants(masks(parents), node) == below | 1 << node


@given(random_digraphs())
def test_cycles_are_found_where_networkx_finds_them(parents: list[int]) -> None:
    assert is_acyclic(masks(parents)) == twin.is_acyclic(parents)


def test_masks_reach_to_the_64th_node() -> None:
    chain = masks([0] + [1 << node for node in range(63)])
    found = np.zeros(64, dtype=np.uint64)
    find_descendants(chain, found)
    assert found[0] == np.uint64(2**64 - 2)
    assert found[63] == 0
    assert is_acyclic(chain)
    chain[0] = np.uint64(1) << np.uint64(63)
    assert not is_acyclic(chain)


LOCAL_MOVES = StructureMCMC.moves[:3]


@given(random_dags(), st.integers(0, 4))
def test_neighbours_are_those_of_the_definition(parents: list[int], max_parents: int) -> None:
    parents = [mask if mask.bit_count() <= max_parents else 0 for mask in parents]
    expected = twin.neighbours(tuple(parents), max_parents)
    around = structure.no_surroundings(len(parents))
    structure.survey(max_parents, masks(parents), around)
    assert around.counts.tolist() == [len(expected[kind]) for kind in LOCAL_MOVES]
    found: dict[str, set[naive.Dag]] = {kind: set() for kind in LOCAL_MOVES}
    for kind, sets in zip(LOCAL_MOVES, (around.addable, masks(parents), around.reversible), strict=True):
        for number in range(len(expected[kind])):
            child, bit = nth_member(sets, number)
            graph = twin.with_family(tuple(parents), child, parents[child] ^ int(bit))
            if kind == "reverse":
                parent = int(bit).bit_length() - 1
                graph = twin.with_family(graph, parent, parents[parent] | 1 << child)
            found[kind].add(graph)
    assert found == {kind: set(graphs) for kind, graphs in expected.items()}


@given(st.integers(1, 7), st.integers(0, 3), st.integers(0, 1000), st.sampled_from([1.0, 30.0, 3000.0]))
@settings(max_examples=25)
def test_what_is_kept_beside_a_graph_stays_true_to_it(nodes: int, max_parents: int, seed: int, spread: float) -> None:
    families = random_tables(nodes, max_parents, seed, spread).families
    steps = generator(seed)
    parents = structure.start(families, steps).parents
    here, there, fresh = (structure.no_surroundings(nodes) for _ in range(3))
    structure.survey(max_parents, parents, here)
    structure.weigh(families, parents, here.log_weights)
    for _ in range(60):
        before = parents.copy()
        kind, moved = structure.local_step(families, parents, here, there, steps)
        assert moved == (parents != before).any()
        assert kind >= 0 or here.counts.sum() == 0
        structure.survey(max_parents, parents, fresh)
        structure.weigh(families, parents, fresh.log_weights)
        for kept, found in zip(here, fresh, strict=True):
            assert kept.tolist() == found.tolist()


@pytest.mark.parametrize("required", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("max_parents", [1, 2])
@pytest.mark.parametrize("reversals", [0.0, 0.3, 0.95], ids=["Madigan and York", "mixture", "new edge reversal"])
def test_every_step_is_that_of_the_twin_and_balances(reversals: float, max_parents: int, required: bool) -> None:
    tables = random_tables(3, max_parents, 3, 1.0)
    if required:
        tables = constrained(tables)
    states, log_weights = twin.possible_dags(tables.log_weights, max_parents)
    assert len(states) == 25 or required or max_parents == 1
    local = twin.local_steps(states, log_weights, max_parents)
    by_mask = naive.weights_by_mask(tables.log_weights, max_parents)
    turning = twin.new_edge_reversals(states, log_weights, by_mask)
    counts = graph_step_counts(StructureMCMC(reversals=reversals), tables.families, states)
    assert_steps(counts, reversals * turning + (1.0 - reversals) * local, log_weights)


def candidate_weights(nodes: int, max_parents: int, small_size: int, seed: int) -> FamilyWeights:
    """Random weights where not all others can be candidates, with a taste for few parents."""
    drawn = np.random.default_rng(seed)
    width = candidate_count(nodes)
    others = [[other for other in range(nodes) if other != node] for node in range(nodes)]
    candidates = np.array([np.sort(drawn.choice(row, width, replace=False)) for row in others], dtype=np.int64)
    inner = drawn.normal(-4.0, 6.0, (nodes, family_count(width, max_parents)))
    small = drawn.normal(-8.0, 6.0, (nodes, family_count(nodes - 1, small_size)))
    return FamilyWeights(max_parents, small_size, candidates, inner, small)


@pytest.mark.parametrize("nodes", [20, 64])
def test_graphs_stay_graphs_after_many_steps(nodes: int) -> None:
    engine = ThreadEngine(2)
    tables = (
        random_tables(20, 3, 1, 6.0) if nodes == 20 else Workspace(candidate_weights(64, 4, 2, 1), engine, NO_PROGRESS)
    )
    chains = run(StructureMCMC(chains=2, thinning=200, burn_in=0, reversals=0.2), tables, 200, 3)
    assert len(np.unique(chains.parents, axis=0)) > 100
    for row, log_joint in zip(chains.parents, chains.log_joint, strict=True):
        assert twin.is_acyclic(row.tolist())
        weights = [log_weight_of(tables.families, node, row[node]) for node in range(nodes)]
        assert np.isfinite(weights).all()
        assert log_joint == pytest.approx(sum(weights), abs=1e-9)
    assert (chains.record.accepted.sum(axis=0) > 0).all()


def test_chains_start_from_different_graphs_of_positive_weight() -> None:
    tables = random_tables(8, 3, 1, 1000.0)
    starts = [LONG.start(tables.families, generator(seed)).parents for seed in range(20)]
    for parents in starts:
        assert twin.is_acyclic(parents.tolist())
        assert all(log_weight_of(tables.families, node, parents[node]) > -np.inf for node in range(8))
    assert len({tuple(parents.tolist()) for parents in starts}) > 10


@pytest.mark.parametrize("reversals", [-0.1, 1.0, 2, True, "often", float("nan")])
def test_a_share_of_reversals_out_of_range_is_refused(reversals: Any) -> None:
    with pytest.raises(
        InputError, match="'reversals' parameter of StructureMCMC must be a number from 0 to less than 1"
    ):
        StructureMCMC(reversals=reversals)
