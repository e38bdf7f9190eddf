"""Chains over ordered partitions (Kuipers & Moffa 2017); the moves are in mcmc/partition.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dagpost._tools.schema import ArrayRule, numbers, partition
from dagpost.methods.chain import ChainMethod, StepCost


@dataclass(frozen=True)
class PartitionMCMC(ChainMethod):
    """A chain over ordered partitions; `DagPosterior(method=PartitionMCMC(chains=8), modularity="structure")`.

    Parameters
    ----------
    chains
        How many chains, in pairs from opposite random orders.
    thinning
        Steps from one kept graph to the next.
    burn_in
        Steps before the first kept graph.

    >>> PartitionMCMC(thinning=100)
    PartitionMCMC(chains=4, thinning=100, burn_in=10000)
    """

    chains: int = 4
    thinning: int = 20
    burn_in: int = 10_000

    name = "partition-mcmc"
    summary = "chains over partitions"
    citation = (
        "Kuipers, J., & Moffa, G. (2017). Partition MCMC for inference on acyclic digraphs. Journal of the American "
        "Statistical Association, 112. "
        "https://doi.org/10.1080/01621459.2015.1133426"
    )
    modularity = "structure"
    moves_in = "dagpost.mcmc.partition"
    moves = ("split or join", "swap neighbours", "swap any two", "move one", "new edge reversal")
    takes_orders = True
    gives_edges = True
    costs = StepCost(1.5e-6, 13e-9, 2e-9, 2e-6, 0.8e-6, 15e-9)
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {
        "part_of": partition("chains", "nodes"),
        "log_sums": numbers("chains", "nodes"),
    }
