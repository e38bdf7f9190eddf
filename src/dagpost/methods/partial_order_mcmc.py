"""Chains over bucket orders (Niinimäki, Parviainen & Koivisto 2011); the moves are in mcmc/partial_order.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dagpost._tools.checks import whole_number
from dagpost._tools.schema import ArrayRule, permutation
from dagpost.methods.chain import ChainMethod, StepCost

if TYPE_CHECKING:
    from dagpost.posterior.workspace import Workspace

LARGEST_BUCKET = 20
#: For each of the `bucket_size 2^bucket_size` sums of a bucket, two of them a step.
_STEP_A_SUM = 4.4e-9


@dataclass(frozen=True)
class PartialOrderMCMC(ChainMethod):
    """A chain over bucket orders; `DagPosterior(method=PartialOrderMCMC(bucket_size=8), modularity="order")`.

    Parameters
    ----------
    bucket_size
        Nodes in a bucket, up to 20. A step costs twice as much with each further one, and leads further.
    chains
        How many chains, in pairs from opposite random orders.
    thinning
        Steps from one kept graph to the next.
    burn_in
        Steps before the first kept graph.

    >>> PartialOrderMCMC(thinning=50, burn_in=10_000)
    PartialOrderMCMC(bucket_size=10, chains=4, thinning=50, burn_in=10000)
    """

    bucket_size: int = 10
    chains: int = 4
    thinning: int = 10
    burn_in: int = 5_000

    name = "partial-order-mcmc"
    summary = "chains over partial orders, with --modularity order"
    citation = (
        "Niinimäki, T., Parviainen, P., & Koivisto, M. (2011). Partial order MCMC for structure discovery in Bayesian "
        "networks. Uncertainty in Artificial Intelligence, 27."
    )
    modularity = "order"
    moves_in = "dagpost.mcmc.partial_order"
    moves = ("swap between neighbours", "swap any two", "redraw a window", "shift one")
    takes_orders = True
    gives_edges = True
    costs = StepCost(0.3e-6, 0.0, 1e-9, 10e-6, 0.8e-6, 4e-9)
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {"order": permutation("chains", "nodes")}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        whole_number(self.bucket_size, "bucket_size", "PartialOrderMCMC", most=LARGEST_BUCKET)

    def can_be_at(self, context: Any, state: Any) -> bool:
        """Whether the weights of a state are those of its place."""
        return bool(self.moves_module.is_possible(context, state, self.bucket_size))

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """The size of the buckets, and with which probability a step is of which kind."""
        import numpy as np

        return self.bucket_size, np.array(self.moves_module.CHANCES)

    def prepare(self, workspace: Workspace) -> Any:
        """The weights of the families, if the sums of the buckets fit into memory."""
        from dagpost.mcmc.partial_order import prepare

        at_once = min(self.chains, workspace.engine.workers)
        return prepare(workspace.families, self.bucket_size, at_once)

    def step_and_graph(self, nodes: int, sets: int) -> tuple[float, float]:
        """The sums of two buckets a step."""
        step, graph = super().step_and_graph(nodes, sets)
        if nodes > self.bucket_size:
            step += _STEP_A_SUM * 2 * (self.bucket_size << self.bucket_size)
        return step, graph
