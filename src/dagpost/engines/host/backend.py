"""The exact sums in the memory of this process, on the workers of any engine; the fall-back of every other back end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines.backend import ExactBackend
from dagpost.engines.base import Engine
from dagpost.exact import order, structure
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior, StructureTables
from dagpost.sampling.dags import RankedFamilies, draw_dags
from dagpost.sampling.layers import sample_layers
from dagpost.sampling.orders import draw_orders

#: Tables that take no more than this share of the free memory stay with the model.
KEPT_SHARE = 0.25


class HostBackend(ExactBackend):
    """The sums of exact/, on the workers of an engine."""

    name = "threads"
    in_this_process = True

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def order_fits(self, nodes: int, max_parents: int) -> bool:
        return order.fits(nodes, max_parents, workers=self.engine.workers)

    def require_order(self, nodes: int, max_parents: int) -> None:
        order.require_memory(nodes, max_parents, tables=1, workers=self.engine.workers)

    def order_seconds(self, nodes: int) -> float:
        return order.expected_seconds(nodes, self.engine.workers)

    def keeps_order(self, nodes: int) -> bool:
        return order.table_bytes(nodes) <= KEPT_SHARE * memory.available_bytes()

    def structure_fits(self, nodes: int, max_parents: int) -> bool:
        return structure.memory_needed(nodes, max_parents, self.engine.workers) <= memory.available_bytes()

    def structure_seconds(self, nodes: int, *, measured: bool = False) -> float:
        if measured:
            return structure.measured_seconds(nodes, self.engine)
        return structure.expected_seconds(nodes, self.engine.workers)

    def keeps_structure(self, nodes: int, max_parents: int) -> bool:
        needed = structure.memory_needed(nodes, max_parents, self.engine.workers)
        return needed <= KEPT_SHARE * memory.available_bytes()

    def forward_table(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Forward:
        return order.forward_table(
            log_weights, max_parents, engine=self.engine, reporter=reporter, checkpoint=checkpoint
        )

    def family_probabilities(
        self,
        forward: Any,
        *,
        reporter: Reporter = NO_PROGRESS,
        keep_forward: bool = True,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Floats:
        return order.family_probabilities(
            forward, engine=self.engine, reporter=reporter, keep_forward=keep_forward, checkpoint=checkpoint
        )

    def draw_dags(
        self, forward: Any, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        nodes = forward.layout.nodes
        orders = draw_orders(forward, uniforms[:, :nodes].copy(), engine=self.engine, stage=stage)
        drawn = draw_dags(ranked(), orders.orders, orders.log_alpha, uniforms[:, nodes:], engine=self.engine)
        stage.advance(len(uniforms))
        return drawn

    def draw_units(self, forward: Any) -> int:
        return int(forward.layout.top) + 2

    def on_host(self, forward: Any) -> ForwardTable:
        table: ForwardTable = forward
        return table

    def structure_posterior(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> StructurePosterior:
        return structure.structure_posterior(
            log_weights, max_parents, engine=self.engine, reporter=reporter, checkpoint=checkpoint
        )

    def structure_evidence(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> float:
        return structure.structure_evidence(
            log_weights, max_parents, engine=self.engine, reporter=reporter, checkpoint=checkpoint
        )

    def sample_layers(
        self,
        tables: StructureTables,
        ranked: RankedFamilies,
        count: int,
        *,
        seed: np.random.SeedSequence,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[Masks, Floats]:
        return sample_layers(
            tables, ranked, count, seed=seed, engine=self.engine, reporter=reporter, checkpoint=checkpoint
        )

    def descendant_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        return structure.descendant_sets(tables, node, engine=self.engine, reporter=reporter)

    def ancestor_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        return structure.ancestor_sets(tables, node, engine=self.engine, reporter=reporter)


def backend_of(engine: Engine) -> ExactBackend:
    """The sums of an engine: its own, or those of the host on its workers."""
    return engine.backend() or HostBackend(engine)
