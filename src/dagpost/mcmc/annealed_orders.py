"""Starts for a probe, from annealed orders (Kirkpatrick, Gelatt & Vecchi 1983).

A walk over orders that is so hot at first that it crosses every valley, and cools until it is the chain of order.py.
The best of a few such orders is where the method starts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.kernels import kernel
from dagpost.families.family_sums import FamilyTables
from dagpost.mcmc import order
from dagpost.mcmc.order import OrderState, shift

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

#: Orders that are annealed for each start.
_WALKS = 4
#: The weight of an order is taken to this power at first, and to the power of 1 in the last fifth of a walk.
_HOTTEST, _COLD_SHARE = 0.01, 0.2
#: Steps of a walk: at least this many for each pair of nodes.
_LEAST_STEPS = 2


def start_from_orders(
    method: ChainMethod,
    context: Any,
    tables: FamilyTables,
    steps_a_graph: float,
    wanted: Integers,
    graphs: float,
    generator: np.random.Generator,
    cancel: Integers,
) -> list[Any]:
    """A state of the method from the best of some annealed orders, the first of which begins as the one `wanted`.

    The walks may take as long as `graphs` kept graphs, each of which takes as long as `steps_a_graph` steps.
    """
    steps = max(int(graphs * steps_a_graph / _WALKS), _LEAST_STEPS * len(wanted) ** 2)
    best, heaviest = wanted, -math.inf
    for walk in range(_WALKS):
        # The first from the order itself, the others from random ones.
        state = order.start(tables, generator, wanted if walk == 0 else None)
        _anneal(tables, state, steps, generator, cancel)
        if state.log_sums.sum() > heaviest:
            best, heaviest = state.order, float(state.log_sums.sum())
    return [method.start(context, generator, best)]


@kernel
def _anneal(
    tables: FamilyTables, state: OrderState, steps: int, generator: np.random.Generator, cancel: Integers
) -> None:
    """Walk over orders, one node at a time, from hot to cold."""
    nodes = len(state.order)
    log_place, log_own, log_other = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    for step in range(steps if nodes > 1 else 0):
        if cancel[0] != 0:
            return
        left = max(0.0, 1.0 - step / (steps * (1.0 - _COLD_SHARE)))
        node = int(generator.random() * nodes)
        shift(tables, state, node, generator, _HOTTEST**left, log_place, log_own, log_other)
