"""Independent graphs from the structure-modular posterior itself, layer by layer (sampling/layers.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagpost.methods.base import Draws, Method, Wanted

if TYPE_CHECKING:
    from dagpost.posterior.workspace import Workspace


@dataclass(frozen=True)
class ExactLayers(Method):
    """Independent draws with every graph counted once: no chain to wait for, no weight to correct."""

    name = "exact-layers"
    summary = "independent graphs, each counted once"
    draws = "independent"
    estimator = "distinct"
    modularity = "structure"
    needs_orders = needs_graphs = True
    by_components = mixes = True

    def log_mass(self, workspace: Workspace, names: tuple[str, ...]) -> float:
        """The evidence when every graph counts once."""
        return workspace.summing(self.name).log_evidence("structure")

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Draw layers from the tables of the sums over all graphs."""
        drawn = workspace.summing(self.name).draw_layers(wanted.number, wanted.seed)
        parents, log_joint, log_evidence = drawn
        return Draws(parents, log_joint, log_joint - log_evidence, log_evidence=log_evidence)

    def ran_on(self, workspace: Workspace) -> str:
        """Small sums stay on threads, whatever the engine."""
        return workspace.structure_engine

    def tables_at_hand(self, workspace: Workspace) -> bool:
        """Whether the sums over all graphs are in memory."""
        return workspace.has_structure

    def bytes_of_tables(self, nodes: int, max_parents: int, count: int) -> int:
        """The tables of the sums over all graphs."""
        from dagpost.exact.structure import memory_needed

        return memory_needed(nodes, max_parents, 1)
