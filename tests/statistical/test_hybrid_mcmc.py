"""Hybrid MCMC: its steps one by one, and what is its own.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import graph_chains as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    assert_steps,
    constrained,
    exact_edges,
    generator,
    graph_step_counts,
    random_tables,
    run,
    tables_of,
)

from dagpost import datasets
from dagpost._tools.progress import NO_PROGRESS
from dagpost.errors import InputError
from dagpost.families.family_sums import log_weight_of
from dagpost.mcmc.hybrid import proposal_of
from dagpost.methods.hybrid_mcmc import HybridMCMC
from dagpost.posterior.workspace import Workspace

FLOOR = 1e-6
LONG = HybridMCMC(chains=4, thinning=40, burn_in=8000, local=0.5)


def masks(parents: Any) -> np.ndarray:
    return np.array(parents, dtype=np.uint64)


@st.composite
def edge_matrices(draw: st.DrawFn) -> np.ndarray:
    """Probabilities of edges of which at most one of a pair holds, certain ones among them."""
    nodes = draw(st.integers(1, 5))
    edges = np.zeros((nodes, nodes))
    for first in range(nodes):
        for second in range(first):
            either = draw(st.sampled_from([0.0, 1e-300, 1e-9, 0.3, 1.0 - 1e-12, 1.0, 1.0 + 1e-13]))
            share = draw(st.sampled_from([0.0, 1e-12, 0.5, 1.0]))
            edges[first, second], edges[second, first] = either * share, either * (1.0 - share)
    return edges


@given(edge_matrices())
def test_what_is_proposed_for_a_pair_follows_its_probabilities_and_is_never_impossible(edges: np.ndarray) -> None:
    chances, log_odds = proposal_of(edges)
    nodes = len(edges)
    off_diagonal = ~np.eye(nodes, dtype=bool)
    none = 1.0 - chances - chances.T
    assert (chances[off_diagonal] >= FLOOR).all()
    assert (none[off_diagonal] >= FLOOR * (1.0 - 1e-9)).all()
    assert np.abs(chances - edges)[off_diagonal].max(initial=0.0) <= 3.0 * FLOOR
    # Where an edge is certain, `none` as a difference has lost some of its digits.
    assert np.allclose((np.exp(log_odds) * none)[off_diagonal], chances[off_diagonal], rtol=1e-8)
    assert not chances.diagonal().any()


@pytest.mark.parametrize("required", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("max_parents", [1, 2])
@pytest.mark.parametrize("local", [0.0, 0.4, 1.0], ids=["global", "mixture", "local"])
def test_every_step_is_that_of_the_twin_and_balances(local: float, max_parents: int, required: bool) -> None:
    tables = random_tables(3, max_parents, 4, 1.0)
    if required:
        tables = constrained(tables, required=[(0, 1)], forbidden=[])
    states, log_weights = twin.possible_dags(tables.log_weights, max_parents)
    assert len(states) == 25 or required or max_parents == 1
    edges = naive.order_modular_by_enumeration(tables.log_weights, max_parents).edges
    transition = local * twin.local_steps(states, log_weights, max_parents)
    transition += (1.0 - local) * twin.global_steps(states, log_weights, edges, FLOOR)
    method = HybridMCMC(local=local)
    counts = graph_step_counts(method, method.prepare(tables), states)
    assert_steps(counts, transition, log_weights)


def test_global_steps_are_taken_on_coronary() -> None:
    chains = run(LONG, tables_of(datasets.load("coronary")), 2000, 7)
    assert chains.record.acceptance["global"] > 0.05


def test_graphs_stay_graphs_after_many_steps() -> None:
    tables = random_tables(16, 3, 1, 6.0)
    chains = run(HybridMCMC(chains=2, thinning=200, burn_in=0, local=0.5), tables, 200, 3)
    assert len(np.unique(chains.parents, axis=0)) > 50
    for row, log_joint in zip(chains.parents, chains.log_joint, strict=True):
        assert twin.is_acyclic(row.tolist())
        weights = [log_weight_of(tables.families, node, row[node]) for node in range(16)]
        assert log_joint == pytest.approx(sum(weights), abs=1e-9)


@pytest.mark.parametrize("local", [0.0, 0.1])
def test_a_graph_that_is_all_but_certain_is_found_from_anywhere(local: float) -> None:
    """Weights so far apart that the exact edges are 0 or 1 to the last digit."""
    tables = random_tables(6, 3, 1, 3000.0)
    exact = exact_edges(tables, "structure")
    assert np.isin(exact, [0.0, 1.0]).all()
    chains = run(HybridMCMC(chains=4, thinning=3, burn_in=300, local=local), tables, 400, 2)
    best = [naive.mask_of(np.flatnonzero(exact[:, child]).tolist()) for child in range(6)]
    assert (chains.parents == masks(best)).all()
    starts = {tuple(LONG.start(LONG.prepare(tables), generator(seed)).parents.tolist()) for seed in range(8)}
    assert starts - {tuple(best)}


def test_weights_without_sums_over_orders_are_refused() -> None:
    tables = random_tables(5, 2, 1, 1.0)
    with pytest.raises(InputError, match="'hybrid-mcmc' needs tables over all sets of variables; 5 are too many"):
        HybridMCMC().prepare(Workspace(tables.weights, tables.engine, NO_PROGRESS))


@pytest.mark.parametrize("local", [-0.1, 1.1, True, "some", float("nan")])
def test_a_share_of_local_steps_out_of_range_is_refused(local: Any) -> None:
    with pytest.raises(InputError, match="'local' parameter of HybridMCMC must be a number from 0 to 1"):
        HybridMCMC(local=local)
