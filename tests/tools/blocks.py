"""Block draws for tests: made-up parent sets, and kernels that run one block from a fixed graph."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.kernels import kernel
from dagpost.families.considered_sets import ConsideredSets
from dagpost.mcmc.block_choice import block_context
from dagpost.mcmc.block_draw import draw_layers
from dagpost.mcmc.block_edges import add_edge_probabilities
from dagpost.mcmc.block_gibbs import _sum_block
from dagpost.mcmc.block_scratch import BlockContext, room_for_blocks


class MadeUp(NamedTuple):
    """Parent sets and their log weights as the naive twin has them, and the same for chains."""

    sets: list[list[tuple[int, ...]]]
    log_weights: list[list[float]]
    considered: ConsideredSets
    context: BlockContext


def made_up_sets(
    nodes: int,
    each: int,
    rng: np.random.Generator,
    spread: float,
    *,
    max_parents: int = 3,
    required: tuple[tuple[int, int], ...] = (),
    nearly_equal: bool = False,
) -> MadeUp:
    """At most `each` sets for every node; with required parents (parent, child) all its sets have them.

    `nearly_equal`: weights come in groups that hardly differ, so that differences of sums cancel.
    """
    sets: list[list[tuple[int, ...]]] = []
    logs: list[list[float]] = []
    leading = []
    for node in range(nodes):
        always = {parent for parent, child in required if child == node}
        others = [other for other in range(nodes) if other not in {node, *always}]
        every = [
            tuple(sorted({*always, *more})) for size in range(max_parents + 1) for more in combinations(others, size)
        ]
        chosen = [every[0], *(every[place] for place in 1 + rng.permutation(len(every) - 1)[: each - 1])]
        weights = rng.normal(0.0, spread, len(chosen))
        if nearly_equal:
            weights = spread * rng.integers(-1, 2, len(chosen)) + 1e-9 * rng.normal(size=len(chosen))
        first = int(rng.integers(1, len(chosen) + 1))
        behind = rng.permutation(len(chosen)) >= first
        behind[np.argmax(weights)] = False
        order = np.lexsort((-weights, behind))
        sets.append([chosen[place] for place in order])
        logs.append([float(weights[place]) for place in order])
        leading.append(int((~behind).sum()))
    width = max(1, *(len(own) for rows in sets for own in rows))
    members = [[*own, *[nodes] * (width - len(own))] for rows in sets for own in rows]
    start = np.concatenate([[0], np.cumsum([len(rows) for rows in sets])]).astype(np.int64)
    considered = ConsideredSets(
        start,
        np.array(members, dtype=np.int16),
        np.concatenate([np.array(own) for own in logs]),
        np.array(leading, dtype=np.int64),
        np.zeros(nodes),
        np.zeros(nodes),
        "some made-up sets",
    )
    return MadeUp(sets, logs, considered, block_context(considered))


def choices_of(made: MadeUp, numbers: NDArray[np.int64], block: list[int], whole: bool) -> list[list[int]]:
    """Which sets each node may get when a block is redrawn, out of whole lists or out of those that lead."""
    choices = [[int(number)] for number in numbers]
    for node in block:
        leading = int(made.considered.leading[node])
        if whole:
            choices[node] = list(range(len(made.sets[node])))
        elif numbers[node] < leading:
            choices[node] = list(range(leading))
    return choices


@kernel
def sums_of_block(
    context: BlockContext, numbers: NDArray[np.int64], block: NDArray[np.int64], whole: bool, edges: NDArray[np.float64]
) -> tuple[float, float]:
    """Add the edges given the rest to `edges` (child, parent or none); `B` of no member, and its exponent."""
    space = room_for_blocks(len(numbers))
    for place in range(len(block)):
        space.members[place] = block[place]
    _sum_block(context, numbers, len(block), 1, whole, space)
    add_edge_probabilities(context.tables, len(block), space, edges)
    return space.completions[0], float(space.after[0])


@kernel
def draws_of_block(
    context: BlockContext,
    numbers: NDArray[np.int64],
    block: NDArray[np.int64],
    whole: bool,
    generator: np.random.Generator,
    drawn: NDArray[np.int64],
) -> int:
    """As many draws of a block as `drawn` has rows, each from the same graph; how many failed."""
    space = room_for_blocks(len(numbers))
    failed = 0
    for draw in range(len(drawn)):
        for node in range(len(numbers)):
            drawn[draw, node] = numbers[node]
        for place in range(len(block)):
            space.members[place] = block[place]
        _sum_block(context, drawn[draw], len(block), draw + 1, whole, space)
        failed += not draw_layers(context.tables, len(block), drawn[draw], space, generator)
    return failed
