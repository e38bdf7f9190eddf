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
    """Parent sets and their log weights as the naive twin has them, in the order of the tables, and these."""

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
    in_group: int = 1,
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
        first = int(rng.integers(1, 1 + len(chosen) // 2))
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
    context = block_context(considered, in_group=in_group)
    tables = context.tables
    rows = [range(start[node], start[node + 1]) for node in range(nodes)]
    return MadeUp(
        [[tuple(int(other) for other in tables.members[place] if other < nodes) for place in row] for row in rows],
        [[float(tables.log_weights[place]) for place in row] for row in rows],
        considered,
        context,
    )


def given_groups(
    made: MadeUp, numbers: NDArray[np.int64], begins: NDArray[np.int64]
) -> tuple[list[list[int]], list[list[float]]]:
    """Which sets each node may get, and the log weights of all sets, given the groups in play.

    `begins`: where the group of each node begins, by number; -1 for a node that is not in the block.
    """
    choices, weights = [], []
    for node, begin in enumerate(begins.tolist()):
        own, leading = made.log_weights[node], int(made.considered.leading[node])
        groups = 1 << int(made.context.tables.bits[node])
        if begin < 0:
            choices.append([int(numbers[node])])
            weights.append(own)
            continue
        others = len(own) - leading
        sizes = [len(range(group, others, groups)) for group in range(groups)]
        starts = [leading + sum(sizes[:group]) for group in range(groups)]
        size = max(size for start, size in zip(starts, sizes, strict=True) if start == begin)
        choices.append([*range(leading), *range(begin, begin + size)])
        lift = float(np.log(groups))
        weights.append([*own[:leading], *(weight + lift for weight in own[leading:])])
    return choices, weights


@kernel
def sums_of_block(
    context: BlockContext,
    numbers: NDArray[np.int64],
    block: NDArray[np.int64],
    generator: np.random.Generator,
    edges: NDArray[np.float64],
    begins: NDArray[np.int64],
) -> tuple[float, float]:
    """Add the edges given the rest to `edges` (child, parent or none); `B` of no member, and its exponent.

    `begins` becomes what `given_groups` takes.
    """
    space = room_for_blocks(len(numbers))
    for place in range(len(block)):
        space.members[place] = block[place]
    _sum_block(context, numbers, len(block), 1, space, generator)
    for node in range(len(numbers)):
        begins[node] = -1
    for place in range(len(block)):
        begins[block[place]] = space.first[place, 1] - context.tables.start[block[place]]
    add_edge_probabilities(context.tables, len(block), space, edges)
    return space.completions[0], float(space.after[0])


@kernel
def draws_of_block(
    context: BlockContext,
    numbers: NDArray[np.int64],
    block: NDArray[np.int64],
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
        _sum_block(context, drawn[draw], len(block), draw + 1, space, generator)
        failed += not draw_layers(context.tables, len(block), drawn[draw], space, generator)
    return failed
