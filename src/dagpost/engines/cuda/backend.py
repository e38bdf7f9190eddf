"""The exact sums on a CUDA device; on the host where there are too few nodes to be worth it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints import Tracking
from dagpost.engines.cuda import device, layers, order, structure
from dagpost.engines.cuda.sampling import draw_dags
from dagpost.engines.host.backend import ExactBackend
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior, StructureTables
from dagpost.sampling.dags import RankedFamilies

if TYPE_CHECKING:
    from dagpost.engines.cuda.engine import CudaEngine

#: Seconds for each of the n 2^(n-1) entries of all families, and for each of the 3^n terms, on an H200.
_SECONDS_AN_ENTRY = 1e-10
_SECONDS_A_TERM = 8e-12
#: What a run takes however few terms there are: three of 20 nodes took 0.23 s together.
_SECONDS_A_RUN = 0.05
#: Tables that take no more than this share of the free memory of the device stay with the model.
_KEPT_SHARE = 0.6


class CudaBackend(ExactBackend):
    """The sums of the CUDA engine. It writes no checkpoints of tables: seconds are not worth a file of 137 GB."""

    name = "cuda"
    graphs_here = False

    def __init__(self, engine: CudaEngine) -> None:
        super().__init__(engine)
        self.sizes = engine.sizes

    def order_fits(self, nodes: int, max_parents: int) -> bool:
        return order.fits(nodes, max_parents, self.sizes)

    def require_order(self, nodes: int, max_parents: int) -> None:
        order.require_memory(nodes, max_parents, backward=False, sizes=self.sizes)

    def order_seconds(self, nodes: int) -> float:
        return 1.0 + _SECONDS_AN_ENTRY * nodes * 2.0 ** (nodes - 1)

    def keeps_order(self, nodes: int) -> bool:
        return (8 << nodes) <= _KEPT_SHARE * device.free_bytes()

    def structure_fits(self, nodes: int, max_parents: int) -> bool:
        """The tables of the result come to the host in the end."""
        on_device = structure.memory_needed(nodes, max_parents) <= device.free_bytes()
        return on_device and super().structure_fits(nodes, max_parents)

    def structure_seconds(self, nodes: int) -> float:
        if nodes < structure.FEWEST_NODES:
            return super().structure_seconds(nodes)
        return _SECONDS_A_RUN + _SECONDS_A_TERM * 3.0**nodes

    def forward_table(self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]) -> Forward:
        with device.left_clean():
            return order.forward_table(log_weights, max_parents, self.sizes, _reporter(tracking))

    def family_probabilities(self, forward: Any, *, keep_forward: bool = True, **tracking: Unpack[Tracking]) -> Floats:
        with device.left_clean():
            return order.family_probabilities(forward, reporter=_reporter(tracking), keep_forward=keep_forward)

    def draw_dags(
        self, forward: Any, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        del ranked
        with device.left_clean():
            return draw_dags(forward, np.ascontiguousarray(uniforms), stage=stage)

    def draw_units(self, forward: Any) -> int:
        return int(forward.layout.nodes) + 1

    def on_host(self, forward: Any) -> ForwardTable:
        return order.on_host(forward)

    def structure_posterior(
        self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]
    ) -> StructurePosterior:
        if len(log_weights) < structure.FEWEST_NODES:
            return super().structure_posterior(log_weights, max_parents, **tracking)
        with device.left_clean():
            found = structure.structure_posterior(log_weights, max_parents, self.sizes, _reporter(tracking))
        return replace(found, engine=self.name)

    def structure_evidence(self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]) -> float:
        if len(log_weights) < structure.FEWEST_NODES:
            return super().structure_evidence(log_weights, max_parents, **tracking)
        with device.left_clean():
            return structure.structure_evidence(log_weights, max_parents, self.sizes, _reporter(tracking))

    def sample_layers(
        self,
        tables: StructureTables,
        ranked: RankedFamilies,
        count: int,
        *,
        seed: np.random.SeedSequence,
        **tracking: Unpack[Tracking],
    ) -> tuple[Masks, Floats]:
        if tables.layout.nodes < structure.FEWEST_NODES:
            return super().sample_layers(tables, ranked, count, seed=seed, **tracking)
        with device.left_clean():
            return layers.sample_layers(
                tables, ranked, count, seed=seed, engine=self.engine, sizes=self.sizes, **tracking
            )

    def descendant_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        if tables.layout.nodes < structure.FEWEST_NODES:
            return super().descendant_sets(tables, node, reporter=reporter)
        with device.left_clean():
            return structure.descendant_sets(tables, node, sizes=self.sizes, reporter=reporter)


def _reporter(tracking: Tracking) -> Reporter:
    return tracking.get("reporter", NO_PROGRESS)
