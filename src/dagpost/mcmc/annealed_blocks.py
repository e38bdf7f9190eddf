"""Starts for a probe: graphs that cooled from where every graph is nearly as good as any other.

The chain of block_gibbs.py itself is run while every weight is taken to a power below 1, and the power rises step by
step to 1. Some graphs cool side by side: the method starts from the heaviest, and looks around from the others. Other
chains start from an order that the heaviest fits. Nothing but the considered sets is needed, so this works for any
number of columns.

Kirkpatrick, Gelatt & Vecchi, "Optimization by simulated annealing", Science 220 (1983).
"""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost.families.set_tables import heated
from dagpost.mcmc.block_gibbs import BlockState
from dagpost.mcmc.block_scratch import BlockContext
from dagpost.mcmc.chains import advance_chain

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

#: Graphs that are annealed for each start, at least, and at most if there is time.
_FEWEST, _MOST = 4, 20
#: The powers, one after another, each for as many sweeps.
POWERS = (0.02, 0.06, 0.15, 0.3, 0.5, 0.75, 1.0)
#: Sweeps at each power, at least.
_LEAST_SWEEPS = 5


def start_from_blocks(
    method: ChainMethod,
    context: BlockContext,
    wanted: Integers,
    graphs: float,
    generator: np.random.Generator,
    cancel: Integers,
) -> list[BlockState]:
    """Some annealed graphs, the heaviest first; one of them began with a graph that fits the order `wanted`.

    They may take as long as `graphs` kept graphs. Many graphs that cool fast find more than a few that cool slowly.
    """
    nodes = len(wanted)
    least = -(-_LEAST_SWEEPS // method.thinning)
    count = min(max(int(graphs / (least * len(POWERS))), _FEWEST), _MOST)
    rounds = max(int(graphs / (count * len(POWERS))), least)
    states = [method.start(context, generator, wanted if number == 0 else None) for number in range(count)]
    weights = np.zeros(count)
    for power in POWERS:
        hot = with_power(context, power)
        for number, state in enumerate(states):
            seed = np.random.SeedSequence(generator.integers(0, 2**32, size=4, dtype=np.uint32).tolist())
            states[number], output, *_ = advance_chain(method, hot, nodes, (state, rounds, seed), cancel)
            weights[number] = output.log_state[-1]
    return [states[number] for number in np.argsort(-weights, kind="stable").tolist()]


def start_along_graphs(
    method: ChainMethod,
    context: Any,
    blocks: ChainMethod,
    block_context: BlockContext,
    sweeps_a_graph: float,
    wanted: Integers,
    graphs: float,
    generator: np.random.Generator,
    cancel: Integers,
) -> list[Any]:
    """A state of another method, from an order that the heaviest of some annealed graphs fits.

    The graphs cool by `blocks`, which sweep so many times while the method keeps one graph.
    """
    tables = block_context.tables
    best = start_from_blocks(blocks, block_context, wanted, graphs * sweeps_a_graph, generator, cancel)[0]
    parents = tables.members[tables.start[:-1] + best.numbers]
    before = {node: row[row < len(wanted)].tolist() for node, row in enumerate(parents)}
    order = np.array(list(TopologicalSorter(before).static_order()), dtype=np.int64)
    return [method.start(context, generator, order)]


def with_power(context: BlockContext, power: float) -> BlockContext:
    """What chains read, with every weight taken to a power."""
    return context if power == 1.0 else context._replace(tables=heated(context.tables, power))
