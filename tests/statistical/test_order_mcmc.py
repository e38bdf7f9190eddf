"""Order MCMC: its steps one by one, and its long run, against what is exact.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive import families as naive_families
from tests.naive import orders as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    assert_edges_given_states,
    assert_long_run,
    assert_steps,
    one_step_counts,
    random_tables,
    run,
)

from dagpost import DagPosterior, datasets
from dagpost.errors import InputError, NoGraphError
from dagpost.exact.order import edge_probabilities
from dagpost.mcmc.chains import ChainRun, run_chains
from dagpost.mcmc.diagnostics import diagnose
from dagpost.mcmc.order import OrderMCMC, OrderState
from dagpost.posterior.workspace import ExactWorkspace

LONG = OrderMCMC(chains=4, thinning=30, burn_in=6_000)
#: How often the chain tries to swap two neighbours, to swap any two nodes, to shift one.
CHANCES = (0.4, 0.3, 0.3)


def exact_edges(tables: ExactWorkspace) -> np.ndarray:
    # A required edge may come out as 1 + 1e-16.
    return np.minimum(edge_probabilities(tables.order_families(tables.forward()), tables.max_parents), 1.0)


def sets_of(tables: ExactWorkspace) -> tuple[naive_families.Sets, ...]:
    return naive_families.considered(
        tables.log_weights, tables.max_parents, tables.weights.candidates, tables.max_parents
    )


def state_of(tables: ExactWorkspace, order: twin.Order) -> OrderState:
    logs = np.zeros(len(order))
    logs[list(order)] = twin.weights_given_predecessors(sets_of(tables), order)
    return OrderState(np.array(order), logs - tables.families.heaviest)


def constrained(tables: ExactWorkspace) -> ExactWorkspace:
    """The edge 0 -> 1 is required, the edges 2 -> 0 and 0 -> 3 are forbidden."""
    nodes = len(tables.log_weights)
    for node, is_kept in ((1, lambda mask: mask & 1), (0, lambda mask: not mask & 4), (3, lambda mask: not mask & 1)):
        if node < nodes:
            refused = [not is_kept(mask) for mask in naive.parent_masks(node, nodes, tables.max_parents)]
            tables.log_weights[node, refused] = -np.inf
    return tables


def assert_trusted(chains: ChainRun) -> None:
    """The intervals that the chains are held to are those of a run that has converged, not wide for want of draws."""
    names = [f"V{node}" for node in range(chains.parents.shape[1])]
    found = diagnose(chains.parents, names, chains.record.lengths, chains.record.acceptance)
    assert found.trusted, found.verdict


@pytest.mark.parametrize("spread", [1.0, 3.0])
@pytest.mark.parametrize("required", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("max_parents", [1, 2])
def test_every_step_is_that_of_the_twin_and_balances(max_parents: int, required: bool, spread: float) -> None:
    tables = random_tables(3, max_parents, 3, spread)
    if required:
        tables = constrained(tables)
    weights = twin.possible_orders(sets_of(tables))
    assert len(weights) == (3 if required else 6)
    orders, logs = list(weights), list(weights.values())
    moves = [twin.swap_neighbours(orders, logs), twin.swap_any(orders, logs), twin.shift_one(orders, logs)]
    transition = sum(chance * move for chance, move in zip(CHANCES, moves, strict=True))
    states = [state_of(tables, order) for order in orders]
    counts = one_step_counts(OrderMCMC(), tables.families, 3, states, lambda state: tuple(state.order), 3000, 1)
    assert_steps(counts, np.asarray(transition), np.array(logs))


@pytest.mark.parametrize("spread", [1.5, 6.0])
@pytest.mark.parametrize(("nodes", "max_parents"), [(5, 4), (6, 2), (8, 3)])
def test_long_run_matches_exact_edges_of_random_weights(nodes: int, max_parents: int, spread: float) -> None:
    tables = random_tables(nodes, max_parents, nodes, spread)
    chains = run(LONG, tables, 8000, 5)
    assert_trusted(chains)
    assert_long_run(chains, exact_edges(tables))
    assert_edges_given_states(chains, exact_edges(tables), 0.03)


def test_long_run_matches_exact_edges_under_constraints() -> None:
    tables = constrained(random_tables(7, 3, 2, 1.5))
    chains = run(LONG, tables, 8000, 6)
    assert np.isfinite(chains.log_joint).all()
    assert_trusted(chains)
    assert_long_run(chains, exact_edges(tables))


def test_long_run_matches_exact_edges_on_coronary() -> None:
    model = DagPosterior(modularity="order").fit(datasets.load("coronary"))
    chains = run(LONG, model._tables, 8000, 7)
    assert_trusted(chains)
    assert_long_run(chains, model.edge_probabilities_.to_numpy())
    assert_edges_given_states(chains, model.edge_probabilities_.to_numpy(), 0.03)


def test_long_run_matches_exact_edges_on_some_rows_of_tic_tac_toe(shared_data: Path) -> None:
    """The whole table has modes that chains over orders do not cross (the next test)."""
    rows = pd.read_csv(shared_data / "paper" / "tictactoe.csv").sample(100, random_state=0)
    model = DagPosterior(modularity="order", score="k2", prior="indegree").fit(rows)
    chains = run(LONG, model._tables, 8000, 8)
    assert_trusted(chains)
    assert_long_run(chains, model.edge_probabilities_.to_numpy())


def test_chains_caught_by_different_modes_of_tic_tac_toe_are_not_trusted(shared_data: Path) -> None:
    rows = pd.read_csv(shared_data / "paper" / "tictactoe.csv")
    model = DagPosterior(modularity="order", score="k2", prior="indegree").fit(rows)
    chains = run(OrderMCMC(), model._tables, 2000, 9)
    found = diagnose(chains.parents, model.names_, chains.record.lengths, chains.record.acceptance)
    assert found.largest_r_hat > 1.05
    assert not found.trusted


def test_what_is_kept_beside_an_order_stays_true_to_it() -> None:
    """Weights of nodes given their predecessors are carried from step to step."""
    tables = random_tables(7, 3, 4, 200.0)
    chains = run(OrderMCMC(chains=2, thinning=7, burn_in=0), tables, 400, 9)
    for chain in range(2):
        order = tuple(chains.record.standing["state_order"][chain].tolist())
        expected = state_of(tables, order)
        assert chains.record.standing["state_log_sums"][chain] == pytest.approx(expected.log_sums, abs=1e-8)
        log_state = chains.record.log_state[200 * chain + 199]
        assert log_state == pytest.approx(twin.log_weight(sets_of(tables), order), abs=1e-7)
    assert (chains.record.accepted > 0).all()


def test_log_joint_is_the_weight_of_the_graph() -> None:
    tables = random_tables(6, 2, 1, 30.0)
    chains = run(OrderMCMC(chains=2, burn_in=0), tables, 100, 3)
    by_mask = naive.weights_by_mask(tables.log_weights, 2)
    expected = by_mask[np.arange(6), chains.parents.astype(np.int64)].sum(axis=1)
    assert chains.log_joint == pytest.approx(expected, abs=1e-9)


def test_a_run_that_goes_on_equals_an_unbroken_one() -> None:
    tables = random_tables(5, 2, 1, 2.0)
    method = OrderMCMC(chains=2, thinning=5, burn_in=700)
    seed = np.random.SeedSequence(1)
    unbroken = run_chains(method, tables.families, 5, 500, seed=seed, engine=tables.engine)
    shorter = run_chains(method, tables.families, 5, 300, seed=seed, engine=tables.engine)
    longer = run_chains(method, tables.families, 5, 500, seed=seed, engine=tables.engine, previous=shorter)
    assert (longer.parents == unbroken.parents).all()
    assert (longer.log_joint == unbroken.log_joint).all()
    assert np.array_equal(longer.record.edges, unbroken.record.edges)


def test_one_node_has_one_order() -> None:
    chains = run(OrderMCMC(chains=1, burn_in=0), random_tables(1, 0, 1, 1.0), 10, 1)
    assert not chains.parents.any()
    assert chains.record.proposed.sum() == 0


def test_constraints_that_no_graph_satisfies_are_named() -> None:
    tables = random_tables(2, 1, 1, 1.0)
    tables.log_weights[:, 0] = -np.inf
    with pytest.raises(NoGraphError, match="No graph satisfies the constraints"):
        run(OrderMCMC(), tables, 10, 1)


@pytest.mark.parametrize(("setting", "value"), [("chains", 0), ("thinning", 0), ("burn_in", -1), ("chains", "four")])
def test_settings_out_of_range_are_refused(setting: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"'{setting}' parameter of OrderMCMC must be an int of at least"):
        OrderMCMC(**{setting: value})
