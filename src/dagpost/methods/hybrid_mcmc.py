"""Chains over graphs that propose from exact edge probabilities (Eaton & Murphy 2007); the moves: mcmc/hybrid.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dagpost._tools.checks import number
from dagpost._tools.schema import ArrayRule, graphs
from dagpost.methods.chain import ChainMethod, StepCost

if TYPE_CHECKING:
    from dagpost.posterior.workspace import Workspace


@dataclass(frozen=True)
class HybridMCMC(ChainMethod):
    """A chain over graphs with exact edges behind it; `DagPosterior(method=HybridMCMC(), modularity="structure")`.

    He, Tian & Wu (2016) run one chain of 190,000 steps and keep 30,000 graphs: `HybridMCMC(chains=1)`.

    Parameters
    ----------
    chains
        How many chains, in pairs from graphs that fit opposite random orders.
    thinning
        Steps from one kept graph to the next.
    burn_in
        Steps before the first kept graph.
    local
        Share of the steps that add, delete or reverse one edge; all others propose a whole new graph.

    >>> HybridMCMC(chains=1)
    HybridMCMC(chains=1, thinning=3, burn_in=100000, local=0.1)
    """

    chains: int = 4
    thinning: int = 3
    burn_in: int = 100_000
    local: float = 0.1

    name = "hybrid-mcmc"
    summary = "chains over graphs with exact edges behind them"
    citation = (
        "Eaton, D., & Murphy, K. (2007). Bayesian structure learning using dynamic programming and MCMC. Uncertainty "
        "in Artificial Intelligence, 23. "
        "https://doi.org/10.48550/arXiv.1206.5247"
    )
    modularity = "structure"
    needs_orders = True
    moves_in = "dagpost.mcmc.hybrid"
    moves = ("add", "delete", "reverse", "global")
    takes_orders = True
    costs = StepCost(2e-6, 0.0, 0.01e-9, 5e-6, 0.0, 0.0)
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {"parents": graphs("chains", "nodes")}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        number(self.local, "local", "HybridMCMC", least=0.0, most=1.0, allowed="a number from 0 to 1")

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """The share of local steps."""
        return (float(self.local),)

    def prepare(self, workspace: Workspace) -> Any:
        """The weights of the families, and the exact edges when a graph counts once for every order it fits."""
        from dagpost.exact.order import edge_probabilities
        from dagpost.mcmc.hybrid import HybridContext, proposal_of

        exact = workspace.all_families(self.name)
        edges = edge_probabilities(exact.order_families(exact.forward()), exact.max_parents)
        return HybridContext(exact.families, *proposal_of(edges))
