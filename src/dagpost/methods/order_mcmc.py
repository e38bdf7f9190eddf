"""Chains over orders (Friedman & Koller 2003); the moves are in mcmc/order.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dagpost._tools.schema import ArrayRule, numbers, permutation
from dagpost.methods.chain import ChainMethod, StepCost


@dataclass(frozen=True)
class OrderMCMC(ChainMethod):
    """A chain over orders; `DagPosterior(method=OrderMCMC(chains=8), modularity="order")`.

    Parameters
    ----------
    chains
        How many chains, in pairs from opposite random orders.
    thinning
        Steps from one kept graph to the next.
    burn_in
        Steps before the first kept graph.

    >>> OrderMCMC(thinning=100)
    OrderMCMC(chains=4, thinning=100, burn_in=20000)
    """

    chains: int = 4
    thinning: int = 20
    burn_in: int = 20_000

    name = "order-mcmc"
    summary = "chains over orders, with --modularity order"
    citation = (
        "Friedman, N., & Koller, D. (2003). Being Bayesian about network structure. Machine Learning, 50. "
        "https://doi.org/10.1023/A:1020249912095"
    )
    modularity = "order"
    moves_in = "dagpost.mcmc.order"
    moves = ("swap neighbours", "swap any two", "shift one")
    takes_orders = True
    gives_edges = True
    costs = StepCost(0.05e-6, 3.5e-9, 0.4e-9, 2e-6, 0.8e-6, 4e-9)
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {
        "order": permutation("chains", "nodes"),
        "log_sums": numbers("chains", "nodes"),
    }
