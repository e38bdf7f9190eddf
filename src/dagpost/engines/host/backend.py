"""The exact sums over all orders and graphs: which there are, and how they are taken in the memory of this process.

An engine that runs blocks of Python and Numba code needs no back end: its sums are those of `HostBackend`. An engine
that keeps tables elsewhere, on a device or on a cluster, brings a class that derives from `ExactBackend` and overrides
what it does itself; the rest is taken here, on its workers. Callers never know which it is: a forward table goes back
to the back end that made it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Unpack, cast

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints import Tracking
from dagpost.engines.base import Engine
from dagpost.engines.inline import InlineEngine
from dagpost.engines.threads import ThreadEngine
from dagpost.exact import order, structure
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior, StructureTables
from dagpost.sampling.dags import RankedFamilies, draw_dags
from dagpost.sampling.layers import sample_layers
from dagpost.sampling.orders import draw_orders

#: Tables that take no more than this share of the free memory stay with the model.
KEPT_SHARE = 0.25
#: Sums over all graphs of at most this many nodes, some 20 ms on one core, do not use threads.
FEW_NODES = 14


class ExactBackend:
    """All that is computed from the weights of the families in tables over all sets of nodes.

    Every default is the algorithm of exact/ or sampling/, on the workers of an engine.
    """

    #: Kept in the provenance of what comes from these sums.
    name: ClassVar[str]
    #: Whether the sums over all graphs are taken in the memory of this process.
    graphs_here: ClassVar[bool] = True

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def order_fits(self, nodes: int, max_parents: int) -> bool:
        """Whether the table of the sums over all orders fits into memory now."""
        return order.fits(nodes, max_parents, workers=self.engine.workers)

    def require_order(self, nodes: int, max_parents: int) -> None:
        """Refuse, with the figures, a table that does not fit."""
        order.require_memory(nodes, max_parents, tables=1, workers=self.engine.workers)

    def order_seconds(self, nodes: int) -> float:
        """Roughly how long all families take when a graph counts once for every order."""
        return order.expected_seconds(nodes, self.engine.workers)

    def keeps_order(self, nodes: int) -> bool:
        """Whether a forward table is small enough to stay with the model."""
        return order.table_bytes(nodes) <= KEPT_SHARE * memory.available_bytes()

    def structure_fits(self, nodes: int, max_parents: int) -> bool:
        """Whether the tables of the sums over all graphs fit into memory now."""
        return structure.memory_needed(nodes, max_parents, self.engine.workers) <= memory.available_bytes()

    def structure_seconds(self, nodes: int) -> float:
        """Roughly how long the posterior takes when every graph counts once."""
        return structure.expected_seconds(nodes, self.engine.workers)

    def keeps_structure(self, nodes: int, max_parents: int) -> bool:
        """Whether the tables of a posterior are small enough to stay with the model."""
        needed = structure.memory_needed(nodes, max_parents, self.engine.workers)
        return needed <= KEPT_SHARE * memory.available_bytes()

    def forward_table(self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]) -> Forward:
        """Sums over all orders of every set of nodes (exact/order.py)."""
        return order.forward_table(log_weights, max_parents, engine=self.engine, **tracking)

    def family_probabilities(self, forward: Any, *, keep_forward: bool = True, **tracking: Unpack[Tracking]) -> Floats:
        """Posterior probability of every family when a graph counts once for every order (exact/order.py)."""
        return order.family_probabilities(forward, engine=self.engine, keep_forward=keep_forward, **tracking)

    def draw_dags(
        self, forward: Any, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        """One graph for each row of numbers (sampling/): parent masks, and the log weight of each graph.

        Counts every graph on `stage` as often as `draw_units` says.
        """
        nodes = forward.layout.nodes
        orders = draw_orders(forward, uniforms[:, :nodes].copy(), engine=self.engine, stage=stage)
        drawn = draw_dags(ranked(), orders.orders, orders.log_alpha, uniforms[:, nodes:], engine=self.engine)
        stage.advance(len(uniforms))
        return drawn

    def draw_units(self, forward: Any) -> int:
        """How often `draw_dags` counts a graph."""
        return int(forward.layout.top) + 2

    def on_host(self, forward: Any) -> ForwardTable:
        """A forward table as the algorithms of the host take it."""
        return cast(ForwardTable, forward)

    def structure_posterior(
        self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]
    ) -> StructurePosterior:
        """Evidence, families and paths when every graph counts once (exact/structure.py)."""
        return structure.structure_posterior(log_weights, max_parents, engine=self.engine, **tracking)

    def structure_evidence(self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]) -> float:
        """Log evidence when every graph counts once."""
        return structure.structure_evidence(log_weights, max_parents, engine=self.engine, **tracking)

    def sample_layers(
        self,
        tables: StructureTables,
        ranked: RankedFamilies,
        count: int,
        *,
        seed: np.random.SeedSequence,
        **tracking: Unpack[Tracking],
    ) -> tuple[Masks, Floats]:
        """Independent graphs when every graph counts once (sampling/layers.py)."""
        return sample_layers(tables, ranked, count, seed=seed, engine=self.engine, **tracking)

    def descendant_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        """The probability of every set of descendants of a node when every graph counts once."""
        return structure.descendant_sets(tables, node, engine=self.engine, reporter=reporter)

    def ancestor_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        """The probability of every set of ancestors of a node when every graph counts once."""
        return structure.ancestor_sets(tables, node, engine=self.engine, reporter=reporter)


class HostBackend(ExactBackend):
    """The sums with their tables in the memory of this process."""

    name = "threads"

    def structure_posterior(
        self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]
    ) -> StructurePosterior:
        """Evidence, families and paths when every graph counts once (exact/structure.py)."""
        engine = self._engine_for(len(log_weights))
        return structure.structure_posterior(log_weights, max_parents, engine=engine, **tracking)

    def structure_evidence(self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]) -> float:
        """Log evidence when every graph counts once."""
        engine = self._engine_for(len(log_weights))
        return structure.structure_evidence(log_weights, max_parents, engine=engine, **tracking)

    def _engine_for(self, nodes: int) -> Engine:
        """What sums over so many nodes run on: of few, starting threads takes longer than the sums."""
        return InlineEngine() if nodes <= FEW_NODES and type(self.engine) is ThreadEngine else self.engine


def backend_of(engine: Engine) -> ExactBackend:
    """The sums of an engine: its own, or those of the host on its workers."""
    return engine.backend() or HostBackend(engine)
