"""Block chains at extremes: long chains of required edges, weights out of range, draws that rounding leads astray."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tools.blocks import made_up_sets

from dagpost import InputError
from dagpost._tools.kernels import kernel
from dagpost.families.considered_sets import ConsideredSets
from dagpost.mcmc import block_gibbs
from dagpost.mcmc.block_choice import block_context
from dagpost.mcmc.block_completions import NOTHING
from dagpost.mcmc.block_draw import draw_layers
from dagpost.mcmc.block_gibbs import _sum_block
from dagpost.mcmc.block_scratch import BlockContext, room_for_blocks


@kernel
def _draw_where_nothing_leads_on(
    context: BlockContext, numbers: np.ndarray, first: int, generator: np.random.Generator
) -> bool:
    """A draw of all nodes where every set of `first` members or more, but not all of them, is out of reach."""
    size = len(numbers)
    space = room_for_blocks(size)
    for place in range(size):
        space.members[place] = place
    _sum_block(context, numbers, size, 1, space, generator)
    for members in range(1, (1 << size) - 1):
        count = 0
        for place in range(size):
            count += members >> place & 1
        if count >= first:
            space.after[members] = NOTHING
    return draw_layers(context.tables, size, numbers, space, generator)


@pytest.mark.parametrize("first", [1, 2])
def test_a_draw_that_comes_to_a_place_out_of_reach_changes_nothing(first: int) -> None:
    rng = np.random.default_rng(1)
    made = made_up_sets(4, 3, rng, 1.0, max_parents=1, required=((0, 1), (1, 2), (2, 3)))
    begun = block_gibbs.start(made.context, rng).numbers
    numbers = begun.copy()
    assert not _draw_where_nothing_leads_on(made.context, numbers, first, rng)
    assert numbers.tolist() == begun.tolist()


def test_a_start_follows_a_thousand_required_edges() -> None:
    nodes = 1_000
    members = np.arange(-1, nodes - 1, dtype=np.int16)[:, np.newaxis].copy()
    members[0] = nodes
    nothing = np.zeros(nodes)
    ones = np.ones(nodes, dtype=np.int64)
    lists = ConsideredSets(np.arange(nodes + 1), members, nothing, ones, nothing, nothing, "a chain of nodes")
    context = block_context(lists)
    state = block_gibbs.start(context, np.random.default_rng(1), np.arange(nodes)[::-1].copy())
    assert block_gibbs.is_possible(context, state)


def test_weights_that_span_too_much_for_a_block_are_refused() -> None:
    def lists(nodes: int, span: float) -> ConsideredSets:
        """Each node has the next one for a parent or, much less likely, none."""
        members = [[(node + 1) % nodes] if place == 0 else [nodes] for node in range(nodes) for place in range(2)]
        logs = np.tile([0.0, -span], nodes)
        each, nothing = np.full(nodes, 2), np.zeros(nodes)
        return ConsideredSets(
            2 * np.arange(nodes + 1), np.array(members, dtype=np.int16), logs, each, nothing, nothing, "a ring"
        )

    # What counts is a block, not the whole table.
    assert len(block_context(lists(100, 200_000.0)).movable) == 100
    with pytest.raises(InputError, match="span 3,000,000 nats"):
        block_context(lists(100, 300_000.0))
