"""Graphs that cool by blocks: starts for probes of block chains, for any number of columns."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from tests.tools.considered import wide_workspace

from dagpost import BlockGibbs, OrderMCMC
from dagpost._tools.arrays import Integers
from dagpost.families.set_tables import heated
from dagpost.mcmc.annealed_blocks import start_from_blocks
from dagpost.mcmc.block_gibbs import BlockState
from dagpost.mcmc.block_scratch import BlockContext
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.checks import SAME
from dagpost.mcmc.probe import probe

COLUMNS = 70
METHOD = BlockGibbs(burn_in=20)
WORKSPACE = wide_workspace(COLUMNS)


@pytest.fixture(scope="module")
def context() -> BlockContext:
    prepared: BlockContext = METHOD.prepare(WORKSPACE)
    return prepared


def annealed(context: BlockContext, seed: int, cancel: Integers | None = None) -> BlockState:
    cancelled = np.zeros(1, dtype=np.int64) if cancel is None else cancel
    return start_from_blocks(METHOD, context, np.arange(COLUMNS), 100.0, np.random.default_rng(seed), cancelled)[0]


def test_what_cools_is_a_graph_that_depends_on_the_seed_alone(context: BlockContext) -> None:
    first, again, other = annealed(context, 1), annealed(context, 1), annealed(context, 2)
    assert METHOD.can_be_at(context, first)
    assert first.numbers.tolist() == again.numbers.tolist()
    assert first.numbers.tolist() != other.numbers.tolist()


def test_an_annealed_graph_weighs_more_than_one_from_a_random_order(context: BlockContext) -> None:
    def weight(state: BlockState) -> float:
        return float(context.tables.log_weights[context.tables.start[:-1] + state.numbers].sum())

    begun = [weight(METHOD.start(context, np.random.default_rng(seed))) for seed in range(5)]
    assert weight(annealed(context, 1)) > max(begun) + 5.0


def test_a_wish_to_cancel_ends_the_annealing(context: BlockContext) -> None:
    stopped = annealed(context, 1, np.ones(1, dtype=np.int64))
    begun = METHOD.start(context, np.random.default_rng(1), np.arange(COLUMNS))
    assert stopped.numbers.tolist() == begun.numbers.tolist()


def test_heat_flattens_the_weights_and_leaves_the_log_weights(context: BlockContext) -> None:
    tables = context.tables
    flat = heated(tables, 0.0)
    assert len(set(flat.weights.tolist())) == 1
    assert flat.log_weights is tables.log_weights
    assert heated(tables, 1.0).tails.tolist() == tables.tails.tolist()


def test_chains_of_many_columns_are_probed(context: BlockContext) -> None:
    run = run_chains(METHOD, context, COLUMNS, 4_000, seed=np.random.SeedSequence(1), engine=WORKSPACE.engine)
    starts = METHOD.annealed(WORKSPACE, context)
    assert starts is not None
    look = partial(probe, METHOD, context, starts, run, engine=WORKSPACE.engine)
    found = look(seed=np.random.SeedSequence(2))
    assert found == look(seed=np.random.SeedSequence(2))
    assert found.outcome == SAME
    assert abs(found.gain) < 10.0


def test_a_method_says_how_it_is_annealed() -> None:
    class Unprobed(OrderMCMC):
        name = "unprobed-mcmc"
        takes_orders = False

    assert Unprobed().annealed(WORKSPACE, None) is None
    made = METHOD.annealed(WORKSPACE, METHOD.prepare(WORKSPACE))
    assert isinstance(made, partial)
    assert made.func is start_from_blocks
