"""The most probable graphs instead of a sample, weighted by their joint probability (Tian, He & Ram 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagpost.methods.base import Draws, Method, Wanted

if TYPE_CHECKING:
    from dagpost.engines import Engine
    from dagpost.posterior.workspace import Workspace


@dataclass(frozen=True)
class KBest(Method):
    """The list of the best graphs: what it leaves out is unknown but for its weight."""

    name = "kbest"
    summary = "the most probable graphs instead of a sample"
    citation = (
        "Tian, J., He, R., & Ram, L. (2010). Bayesian model averaging using the k-best Bayesian network structures. "
        "Uncertainty in Artificial Intelligence, 26. "
        "https://doi.org/10.48550/arXiv.1203.3520"
    )
    draws = "listed"
    estimator = "iw"
    modularity = "structure"
    needs_orders = True
    edges_at_fit = False
    quick_nodes = 0
    by_components = mixes = True

    def check_room(self, nodes: int, max_parents: int, engine: Engine) -> None:
        """The search is always in the memory of this process, whatever the engine."""
        from dagpost.engines.host.backend import HostBackend

        HostBackend(engine).require_order(nodes, max_parents)

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """The `count` most probable graphs, best first; fewer if there are not that many."""
        exact = workspace.summing(self.name)
        found = exact.best_graphs(wanted.number)
        evidence = exact.affordable_structure_log_evidence
        # Nothing is drawn, so there is no seed.
        return Draws(found.parents, found.log_joint, log_evidence=evidence, about={"seed": None, "tied": found.tied})

    def ran_on(self, workspace: Workspace) -> str:
        """The search runs on threads of this process."""
        return "threads"

    def bytes_of_tables(self, nodes: int, max_parents: int, count: int) -> int:
        """The lattice and the list."""
        from dagpost.exact.kbest import memory_needed

        return memory_needed(nodes, max_parents, count, 1)
