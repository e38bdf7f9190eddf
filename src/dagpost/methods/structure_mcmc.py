"""Chains over graphs (Madigan & York 1995), with new edge reversals; the moves are in mcmc/structure.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dagpost._tools.checks import number
from dagpost._tools.schema import ArrayRule, graphs
from dagpost.methods.chain import ChainMethod, StepCost


@dataclass(frozen=True)
class StructureMCMC(ChainMethod):
    """A chain over graphs; `DagPosterior(method=StructureMCMC(chains=8), modularity="structure")`.

    Parameters
    ----------
    chains
        How many chains, in pairs from graphs that fit opposite random orders.
    thinning
        Steps from one kept graph to the next.
    burn_in
        Steps before the first kept graph.
    reversals
        Share of the steps that are new edge reversals (Grzegorczyk & Husmeier 2008); 0 is the chain of Madigan & York.

    >>> StructureMCMC(reversals=0.0)
    StructureMCMC(chains=4, thinning=100, burn_in=100000, reversals=0.0)
    """

    chains: int = 4
    thinning: int = 100
    burn_in: int = 100_000
    reversals: float = 1 / 15

    name = "structure-mcmc"
    summary = "chains over graphs"
    citation = (
        "Madigan, D., & York, J. (1995). Bayesian graphical models for discrete data. International Statistical "
        "Review, 63. "
        "https://doi.org/10.2307/1403615"
    )
    modularity = "structure"
    moves_in = "dagpost.mcmc.structure"
    moves = ("add", "delete", "reverse", "new edge reversal")
    takes_orders = True
    costs = StepCost(0.12e-6, 0.0, 0.01e-9, 5e-6, 0.0, 0.0)
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {"parents": graphs("chains", "nodes")}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        # With new edge reversals alone, no chain would ever leave or reach the graph without edges.
        allowed = "a number from 0 to less than 1"
        number(self.reversals, "reversals", "StructureMCMC", least=0.0, below=1.0, allowed=allowed)

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """The share of new edge reversals."""
        return (float(self.reversals),)
