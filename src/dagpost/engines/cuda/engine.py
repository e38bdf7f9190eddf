"""The exact sums on a CUDA device; everything else on the threads of the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines.cuda import device
from dagpost.engines.threads import ThreadEngine

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats, Masks
    from dagpost._tools.progress import Stage
    from dagpost.engines.cuda.order import DeviceForward
    from dagpost.engines.host.backend import ExactBackend, HostBackend
    from dagpost.exact.order import ForwardTable
    from dagpost.exact.structure import StructurePosterior, StructureTables
    from dagpost.sampling.dags import RankedFamilies
    from dagpost.scores.cells import CellFunction
    from dagpost.scores.rows import Rows

#: Seconds for each of the n 2^(n-1) entries of all families, and for each of the 3^n terms, on an H200.
_SECONDS_AN_ENTRY = 1e-10
_SECONDS_A_TERM = 8e-12
_KEPT_SHARE = 0.6
#: How many parents matters little to the memory of a table.
_USUAL_PARENTS = 5


def device_suits(nodes: int) -> bool:
    """Whether to take the device unasked: it is there, and has room for the tables of so many variables."""
    if not device.device_is_present():
        return False
    from dagpost.engines.cuda import order

    return order.fits(nodes, _USUAL_PARENTS)


class CudaEngine(ThreadEngine):
    """Tables over all sets of variables on the current CUDA device, all other work on `threads` threads.

    Raises `DeviceError` where there is no CuPy or no device.
    """

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        device.load_cupy()

    @cached_property
    def sums(self) -> ExactBackend:
        """The sums of sums.py on the device."""
        return CudaBackend(self)

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> Floats | None:
        """The sums that scores take over the cells of every set of columns, where the device is the place for them."""
        from dagpost.engines.cuda.scores import sum_cells

        with device.left_clean():
            return sum_cells(rows, cells, max_size)


class CudaBackend:
    """`ExactBackend` on a device: engines/cuda/order.py, sampling.py and structure.py."""

    name = "cuda"

    def __init__(self, engine: ThreadEngine) -> None:
        self.engine = engine

    def order_fits(self, nodes: int, max_parents: int) -> bool:
        from dagpost.engines.cuda import order

        return order.fits(nodes, max_parents)

    def require_order(self, nodes: int, max_parents: int) -> None:
        from dagpost.engines.cuda import order

        order.require_memory(nodes, max_parents, backward=False)

    def order_seconds(self, nodes: int) -> float:
        return 1.0 + _SECONDS_AN_ENTRY * nodes * 2.0 ** (nodes - 1)

    def keeps_order(self, nodes: int) -> bool:
        return (8 << nodes) <= _KEPT_SHARE * device.free_bytes()

    def structure_fits(self, nodes: int, max_parents: int) -> bool:
        from dagpost.engines.cuda import structure

        on_host = self._host.structure_fits(nodes, max_parents)
        return on_host and structure.memory_needed(nodes, max_parents) <= device.free_bytes()

    def structure_seconds(self, nodes: int, *, measured: bool = False) -> float:
        del measured
        return 1.0 + _SECONDS_A_TERM * 3.0**nodes

    def keeps_structure(self, nodes: int, max_parents: int) -> bool:
        return self._host.keeps_structure(nodes, max_parents)

    def forward_table(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> DeviceForward:
        from dagpost.engines.cuda import order

        del checkpoint  # Seconds are not worth a file of 137 GB.
        with device.left_clean():
            return order.forward_table(log_weights, max_parents, reporter=reporter)

    def family_probabilities(
        self,
        forward: DeviceForward,
        *,
        reporter: Reporter = NO_PROGRESS,
        keep_forward: bool = True,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Floats:
        from dagpost.engines.cuda import order

        del checkpoint
        with device.left_clean():
            return order.family_probabilities(forward, reporter=reporter, keep_forward=keep_forward)

    def draw_dags(
        self, forward: DeviceForward, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        from dagpost.engines.cuda.sampling import draw_dags

        del ranked
        with device.left_clean():
            return draw_dags(forward, np.ascontiguousarray(uniforms), stage=stage)

    def draw_units(self, forward: DeviceForward) -> int:
        return forward.layout.nodes + 1

    def on_host(self, forward: DeviceForward) -> ForwardTable:
        from dagpost.engines.cuda.order import on_host

        return on_host(forward)

    def structure_posterior(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> StructurePosterior:
        from dagpost.engines.cuda import structure

        if len(log_weights) < structure.FEWEST_NODES:
            return self._host.structure_posterior(log_weights, max_parents, reporter=reporter, checkpoint=checkpoint)
        del checkpoint
        with device.left_clean():
            return replace(structure.structure_posterior(log_weights, max_parents, reporter=reporter), engine=self.name)

    def structure_evidence(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> float:
        from dagpost.engines.cuda import structure

        if len(log_weights) < structure.FEWEST_NODES:
            return self._host.structure_evidence(log_weights, max_parents, reporter=reporter, checkpoint=checkpoint)
        del checkpoint
        with device.left_clean():
            return structure.structure_evidence(log_weights, max_parents, reporter=reporter)

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
        from dagpost.engines.cuda import layers, structure

        if tables.layout.nodes < structure.FEWEST_NODES:
            return self._host.sample_layers(tables, ranked, count, seed=seed, reporter=reporter, checkpoint=checkpoint)
        with device.left_clean():
            return layers.sample_layers(
                tables, ranked, count, seed=seed, engine=self.engine, reporter=reporter, checkpoint=checkpoint
            )

    def descendant_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        from dagpost.engines.cuda import structure

        if tables.layout.nodes < structure.FEWEST_NODES:
            return self._host.descendant_sets(tables, node, reporter=reporter)
        with device.left_clean():
            return structure.descendant_sets(tables, node, reporter=reporter)

    def ancestor_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        return self._host.ancestor_sets(tables, node, reporter=reporter)

    @cached_property
    def _host(self) -> HostBackend:
        from dagpost.engines.host.backend import HostBackend

        return HostBackend(self.engine)
