"""Order MCMC: its steps one by one, and what is its own.

Every test has a fixed seed. Where chance decides, the false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import orders as twin
from tests.naive import posterior as naive
from tests.tools.chain_checks import (
    assert_steps,
    constrained,
    one_step_counts,
    random_tables,
    run,
    sets_of,
)

from dagpost.mcmc.order import OrderState
from dagpost.methods.order_mcmc import OrderMCMC
from dagpost.posterior.exact_workspace import ExactWorkspace

LONG = OrderMCMC(chains=4, thinning=30, burn_in=6_000)
#: How often the chain tries to swap two neighbours, to swap any two nodes, to shift one.
CHANCES = (0.4, 0.3, 0.3)


def state_of(tables: ExactWorkspace, order: twin.Order) -> OrderState:
    logs = np.zeros(len(order))
    logs[list(order)] = twin.weights_given_predecessors(sets_of(tables), order)
    return OrderState(np.array(order), logs - tables.families.heaviest)


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
