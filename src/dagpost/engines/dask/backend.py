"""The exact sums over orders on a Dask cluster; those over all graphs are taken on the threads of this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Stage
from dagpost.checkpoints import Tracking
from dagpost.engines.dask import order
from dagpost.engines.dask.blocks import USUAL_CUT, Cut, gathering_top
from dagpost.engines.dask.cluster import Cluster
from dagpost.engines.dask.sampling import draw_orders
from dagpost.engines.host.backend import KEPT_SHARE, ExactBackend
from dagpost.exact.order import Forward, ForwardTable
from dagpost.sampling.dags import RankedFamilies, draw_dags

if TYPE_CHECKING:
    from dagpost.engines.dask.engine import DaskEngine

#: Seconds for each of the n 2^(n-1) entries of all families on one thread, and for each task.
_SECONDS_AN_ENTRY = 20e-9
_SECONDS_A_TASK = 2e-3


class DaskBackend(ExactBackend):
    """The sums of the Dask engine; `cut` says into which blocks tables over all sets are cut."""

    name = "dask"

    def __init__(self, engine: DaskEngine, cut: Cut = USUAL_CUT) -> None:
        super().__init__(engine)
        self._dask, self._cut = engine, cut

    @property
    def cluster(self) -> Cluster:
        """The workers."""
        return self._dask.cluster

    def order_fits(self, nodes: int, max_parents: int) -> bool:
        return order.fits(nodes, max_parents, self.cluster.room())

    def require_order(self, nodes: int, max_parents: int) -> None:
        order.require_room(nodes, max_parents, self.cluster.room(), tables=1)

    def order_seconds(self, nodes: int) -> float:
        entries = _SECONDS_AN_ENTRY * nodes * 2.0 ** (nodes - 1) / self.cluster.threads()
        return entries + _SECONDS_A_TASK * 2.0 ** gathering_top(nodes, 1)

    def keeps_order(self, nodes: int) -> bool:
        return (8 << nodes) <= KEPT_SHARE * self.cluster.room().memory

    def forward_table(self, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]) -> Forward:
        with self.cluster.release_on_error():
            return order.forward_table(self.cluster, log_weights, max_parents, cut=self._cut, **tracking)

    def family_probabilities(self, forward: Any, *, keep_forward: bool = True, **tracking: Unpack[Tracking]) -> Floats:
        with self.cluster.release_on_error():
            return order.family_probabilities(
                self.cluster, forward, cut=self._cut, keep_forward=keep_forward, **tracking
            )

    def draw_dags(
        self, forward: Any, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        nodes = forward.layout.nodes
        with self.cluster.release_on_error():
            orders = draw_orders(self.cluster, forward, uniforms[:, :nodes], stage=stage)
        drawn = draw_dags(ranked(), orders.orders, orders.log_alpha, uniforms[:, nodes:], engine=self.engine)
        stage.advance(len(uniforms))
        return drawn

    def on_host(self, forward: Any) -> ForwardTable:
        with self.cluster.release_on_error():
            return order.on_host(self.cluster, forward)
