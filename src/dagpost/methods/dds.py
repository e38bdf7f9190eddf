"""DDS: independent orders, and an independent graph in each (He, Tian & Wu 2016): the order-modular posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagpost.methods.base import Draws, Method, Wanted

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats, Masks
    from dagpost.posterior.workspace import ExactWorkspace, Workspace


@dataclass(frozen=True)
class DDS(Method):
    """Independent draws with a graph counted once for every order it fits."""

    name = "dds"
    summary = "independent graphs, with --modularity order"
    draws = "independent"
    modularity = "order"
    needs_orders = True
    edges_at_fit = False
    quick_nodes = 24

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Draw orders, and a graph in each."""
        exact = workspace.all_families(self.name)
        parents, log_joint = draw_in_orders(exact, wanted)
        return Draws(parents, log_joint, log_evidence=exact.order_log_evidence)

    def tables_at_hand(self, workspace: Workspace) -> bool:
        """Whether the sums over all orders are in memory."""
        return workspace.has_forward


def draw_in_orders(workspace: ExactWorkspace, wanted: Wanted) -> tuple[Masks, Floats]:
    """Independent pairs of an order and a graph; the orders are not kept."""
    from dagpost._tools.uniforms import row_blocks, uniform_rows
    from dagpost.sampling.orders import MOVED_TOGETHER

    count = wanted.number
    forward, backend, nodes = workspace.forward(), workspace.backend, workspace.nodes
    parents, log_joint = np.empty((count, nodes), dtype=np.uint64), np.empty(count)
    blocks = row_blocks(count, MOVED_TOGETHER)
    saved = workspace.checkpoint.stage("graphs", blocks, lambda rows: [parents[rows], log_joint[rows]])
    units = backend.draw_units(forward)
    with workspace.reporter.stage("graphs", count * units) as stage:
        for rows in saved.finished:
            stage.advance((rows.stop - rows.start) * units)
        for rows in saved:
            uniforms = uniform_rows(wanted.seed, rows, 2 * nodes)
            parents[rows], log_joint[rows] = backend.draw_dags(forward, lambda: workspace.ranked, uniforms, stage=stage)
    return parents, log_joint
