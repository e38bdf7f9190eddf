"""The sums behind block draws against every choice of parent sets, one by one."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import blocks as naive
from tests.tools.blocks import given_groups, made_up_sets, sums_of_block
from tests.tools.examples import examples

from dagpost.mcmc import block_gibbs

#: Parent sets of less than 2^-22 in all are left out of the edges, and graphs of less than 2^-28 out of the sums.
EDGES, SUMS = 1e-6, 1e-8


@settings(max_examples=examples(60), deadline=None)
@given(
    nodes=st.integers(2, 6),
    size=st.integers(1, 6),
    spread=st.sampled_from([0.1, 1.0, 10.0, 300.0, 5000.0]),
    nearly_equal=st.booleans(),
    rules=st.booleans(),
    in_group=st.sampled_from([1, 2, 32]),
    seed=st.integers(0, 2**32 - 1),
)
def test_edges_and_sums_of_a_block_are_those_of_all_its_graphs(
    nodes: int, size: int, spread: float, nearly_equal: bool, rules: bool, in_group: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    required = ((0, 1), (1, nodes - 1)) if rules and nodes > 2 else ()
    each = {2: 2, 3: 4, 4: 7, 5: 6, 6: 4}[nodes]
    made = made_up_sets(nodes, each, rng, spread, required=required, nearly_equal=nearly_equal, in_group=in_group)
    numbers = block_gibbs.start(made.context, rng).numbers
    block = rng.permutation(nodes)[:size]
    edges, begins = np.zeros((nodes, nodes + 1)), np.zeros(nodes, dtype=np.int64)
    fraction, exponent = sums_of_block(made.context, numbers, block, rng, edges, begins)
    choices, weights = given_groups(made, numbers, begins)
    graphs, total = naive.given_rest(made.sets, weights, tuple(numbers.tolist()), choices)
    expected = naive.edges_of(made.sets, graphs)
    assert np.abs(edges[block, :nodes] - expected[block]).max() < EDGES
    heaviest = [max(made.log_weights[node]) for node in block]
    rest = [made.log_weights[node][numbers[node]] for node in range(nodes) if node not in block]
    found = math.log(fraction) + exponent * math.log(2.0) + sum(heaviest) + sum(rest)
    assert abs(found - total) < SUMS * max(1.0, abs(total))


def test_a_large_block_of_nearly_equal_weights() -> None:
    """Ten nodes that are all indifferent: the most terms, and signs that cancel."""
    rng = np.random.default_rng(5)
    made = made_up_sets(10, 3, rng, 1e-3, max_parents=1, in_group=32)
    numbers = block_gibbs.start(made.context, rng).numbers
    block = rng.permutation(10)
    edges, begins = np.zeros((10, 11)), np.zeros(10, dtype=np.int64)
    sums_of_block(made.context, numbers, block, rng, edges, begins)
    choices, weights = given_groups(made, numbers, begins)
    graphs, _ = naive.given_rest(made.sets, weights, tuple(numbers.tolist()), choices)
    assert np.abs(edges[:, :10] - naive.edges_of(made.sets, graphs)).max() < EDGES
