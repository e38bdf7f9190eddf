"""What the methods share that correct the draws of DDS by weights: every graph then counts once.

DDS draws a graph in proportion to the number of orders it fits. That number is counted for every draw
(sampling/linear_extensions.py); with it the probability of each draw is known, and the weights that undo the bias. The
evidence, which says how much of the posterior the draws cover, takes `3^n` terms: it is summed only when asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost.methods.base import Draws, Method, Wanted
from dagpost.methods.dds import draw_in_orders

if TYPE_CHECKING:
    from dagpost.posterior.workspace import Workspace


class WeightedDDS(Method):
    """Graphs of DDS with the probability that each had to be drawn."""

    draws = "weighted"
    modularity = "structure"
    needs_orders = True
    edges_at_fit = False
    mixes = True

    def log_mass(self, workspace: Workspace, names: tuple[str, ...]) -> float:
        """The evidence when a graph counts once for every order it fits."""
        return workspace.all_families(self.name).order_log_evidence

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Draw graphs in orders and count the orders that each fits."""
        from dagpost.sampling.linear_extensions import log_linear_extensions

        exact = workspace.all_families(self.name)
        parents, log_joint = draw_in_orders(exact, wanted)
        log_extensions = log_linear_extensions(
            parents, engine=exact.engine, reporter=exact.reporter, checkpoint=exact.checkpoint
        )
        log_proposal = log_extensions + log_joint - exact.order_log_evidence
        return Draws(parents, log_joint, log_proposal, log_extensions, exact.affordable_structure_log_evidence)

    def tables_at_hand(self, workspace: Workspace) -> bool:
        """Whether the sums over all orders are in memory."""
        return workspace.has_forward
