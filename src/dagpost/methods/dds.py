"""DDS: independent orders, and an independent graph in each (He, Tian & Wu 2016): the order-modular posterior.

DDS draws a graph in proportion to the number of orders it fits. `WeightedDDS` is what the methods share that correct
this by weights, so that every graph counts once: that number is counted for every draw
(sampling/linear_extensions.py); with it the probability of each draw is known, and the weights that undo the bias. The
evidence, which says how much of the posterior the draws cover, takes `3^n` terms: it is summed only when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagpost.methods.base import Draws, Method, Wanted

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats, Masks
    from dagpost._tools.progress import Stage
    from dagpost.posterior.exact_workspace import ExactWorkspace
    from dagpost.posterior.workspace import Workspace


class OfOrders(Method):
    """What draws graphs in proportion to the number of orders they fit."""

    needs_orders = True
    edges_at_fit = False
    mixes = True

    def log_mass(self, workspace: Workspace, names: tuple[str, ...]) -> float:
        """The evidence when a graph counts once for every order it fits."""
        return workspace.all_families(self.name).order_log_evidence

    def tables_at_hand(self, workspace: Workspace) -> bool:
        """Whether the sums over all orders are in memory."""
        return workspace.has_forward


@dataclass(frozen=True)
class DDS(OfOrders):
    """Independent draws with a graph counted once for every order it fits."""

    name = "dds"
    summary = "independent graphs, with --modularity order"
    draws = "independent"
    modularity = "order"
    quick_nodes = 24

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Draw orders, and a graph in each."""
        exact = workspace.all_families(self.name)
        parents, log_joint = draw_in_orders(exact, wanted)
        return Draws(parents, log_joint, log_evidence=exact.order_log_evidence)


def draw_in_orders(workspace: ExactWorkspace, wanted: Wanted) -> tuple[Masks, Floats]:
    """Independent pairs of an order and a graph; the orders are not kept."""
    from dagpost.sampling.blocks import draw_in_blocks
    from dagpost.sampling.orders import MOVED_TOGETHER

    forward, backend = workspace.forward(), workspace.backend

    def draw(uniforms: Floats, stage: Stage) -> tuple[Masks, Floats]:
        return backend.draw_dags(forward, lambda: workspace.ranked, uniforms, stage=stage)

    return draw_in_blocks(
        draw,
        wanted.number,
        workspace.nodes,
        MOVED_TOGETHER,
        seed=wanted.seed,
        units=backend.draw_units(forward),
        reporter=workspace.reporter,
        checkpoint=workspace.checkpoint,
    )


class WeightedDDS(OfOrders):
    """Graphs of DDS with the probability that each had to be drawn."""

    draws = "weighted"
    modularity = "structure"

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
