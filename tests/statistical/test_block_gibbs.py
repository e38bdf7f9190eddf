"""Chains of blocks: draws against all graphs of a block, and what one sweep makes of the posterior.

Every test has a fixed seed. Chi-square tests have a false-alarm rate of 1e-7 each.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2
from tests.naive import blocks as naive
from tests.tools.blocks import MadeUp, draws_of_block, made_up_sets
from tests.tools.chain_checks import assert_edges_given_states, assert_long_run, exact_edges, run, tables_of

from dagpost import BlockGibbs
from dagpost.data import datasets
from dagpost.mcmc import block_gibbs
from dagpost.mcmc.block_gibbs import BlockState
from dagpost.mcmc.records import Round

FALSE_ALARM = 1e-7
NOT_CANCELLED = np.zeros(1, dtype=np.int64)


def assert_follows(seen: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> None:
    """Counts against probabilities: nothing impossible, and chi-square with the rare ones taken together."""
    count = sum(seen.values())
    assert set(seen) <= set(expected)
    common = [graph for graph, probability in expected.items() if probability * count >= 10.0]
    hits = np.array([seen[graph] for graph in common], dtype=float)
    mean = np.array([expected[graph] * count for graph in common])
    hits, mean = np.append(hits, count - hits.sum()), np.append(mean, count - mean.sum())
    if mean[-1] < 10.0:
        hits, mean = np.append(hits[:-2], hits[-2:].sum()), np.append(mean[:-2], mean[-2:].sum())
    statistic = float(((hits - mean) ** 2 / mean).sum())
    assert chi2.sf(statistic, max(len(mean) - 1, 1)) > FALSE_ALARM


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("spread", [1.0, 400.0])
def test_draws_of_a_block(size: int, spread: float) -> None:
    """With all sets of a node in one group, a block is drawn from its distribution given the rest."""
    rng = np.random.default_rng(size)
    made = made_up_sets(5, 6, rng, spread, in_group=32)
    numbers = block_gibbs.start(made.context, rng).numbers
    block = rng.permutation(5)[:size]
    drawn = np.zeros((40_000, 5), dtype=np.int64)
    generator = np.random.Generator(np.random.PCG64(size))
    assert draws_of_block(made.context, numbers, block, generator, drawn) == 0
    choices = [list(range(6)) if node in block else [int(numbers[node])] for node in range(5)]
    graphs, _ = naive.given_rest(made.sets, made.log_weights, tuple(numbers.tolist()), choices)
    assert_follows(Counter(map(tuple, drawn.tolist())), graphs)


def posterior_of(made: MadeUp) -> dict[tuple[int, ...], float]:
    nodes = len(made.sets)
    start = tuple(block_gibbs.start(made.context, np.random.default_rng(0)).numbers.tolist())
    choices = [list(range(len(made.sets[node]))) for node in range(nodes)]
    return naive.given_rest(made.sets, made.log_weights, start, choices)[0]


@pytest.mark.parametrize("largest", [2, 3, 4, 5])
@pytest.mark.parametrize("rules", [False, True])
def test_a_sweep_leaves_the_posterior_as_it_is(largest: int, rules: bool) -> None:
    """Independent graphs from the posterior, each moved on by one sweep, follow the posterior; sets are in groups."""
    nodes = 4 if largest < 4 else 5
    required = ((0, 1), (1, 3)) if rules else ()
    made = made_up_sets(nodes, 5, np.random.default_rng(largest), 1.0, required=required)
    assert made.context.tables.bits.max() > 0
    posterior = posterior_of(made)
    graphs, chances = np.array(list(posterior)), np.array(list(posterior.values()))
    count = 20_000
    begun = graphs[np.random.default_rng(1).choice(len(graphs), count, p=chances / chances.sum())]
    generator = np.random.Generator(np.random.PCG64(largest))
    seen: Counter[tuple[int, ...]] = Counter()
    for numbers in begun:
        state, output = BlockState(numbers.copy()), _round(nodes)
        block_gibbs.advance(made.context, state, largest, generator, output, NOT_CANCELLED)
        seen[tuple(state.numbers.tolist())] += 1
    assert_follows(seen, posterior)


def _round(nodes: int) -> Round:
    masks, count = np.zeros((1, nodes), dtype=np.uint64), np.zeros(1, dtype=np.int64)
    return Round(1, masks, np.zeros(1), np.zeros(1), np.zeros((nodes, nodes)), count, count.copy())


def test_chains_of_blocks_on_a_table() -> None:
    """Edges of the drawn graphs (false alarm 1e-6), and the mean of the exact probabilities of blocks."""
    tables = tables_of(datasets.load("coronary"))
    chains = run(BlockGibbs(chains=2, burn_in=100), tables, 10_000, seed=3)
    exact = exact_edges(tables, "structure")
    assert_long_run(chains, exact)
    assert_edges_given_states(chains, exact, 0.02)
