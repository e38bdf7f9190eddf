"""The exact sums, the counting and whatever returns its results on a Dask cluster; the rest on threads of this process.

| work | where |
| --- | --- |
| forward and backward tables, all families | blocks.py, order.py: spread over the workers |
| orders and graphs drawn from them | drawing.py: the orders where the blocks are, then the graphs on threads here |
| counting for discrete scores | scoring.py |
| rows in parts, larger than memory | counting.py, cells.py |
| chains, bootstrap replicates, folds of a cross-validation | spread.py |
| sums over all graphs, `3^n` terms | structure.py: on the cluster, from where the tables come here in the end |

Every result is the same to the last bit as with threads, whatever the number of workers (blocks.py says where, from 30
variables on, that means the tables and draws but not the last digits of family probabilities).
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines.dask.cluster import Cluster, load_distributed
from dagpost.engines.threads import ThreadEngine

if TYPE_CHECKING:
    import numpy as np

    from dagpost._tools.arrays import Floats, Masks
    from dagpost.engines.dask.order import SpreadForward
    from dagpost.engines.dask.tasks import Spread
    from dagpost.engines.host.backend import ExactBackend, HostBackend
    from dagpost.exact.order import ForwardTable
    from dagpost.exact.structure import StructurePosterior, StructureTables
    from dagpost.sampling.dags import RankedFamilies
    from dagpost.scores.cells import CellFunction
    from dagpost.scores.rows import Rows

#: Seconds for each of the n 2^(n-1) entries of all families on one thread, and for each task.
_SECONDS_AN_ENTRY = 20e-9
_SECONDS_A_TASK = 2e-3
_KEPT_SHARE = 0.25


class DaskEngine(ThreadEngine):
    """Tables over all sets of variables spread over the workers of a Dask cluster.

    Parameters
    ----------
    client
        A `distributed.Client`, the address of a scheduler, or None: a cluster of processes on this machine, one for
        each core, which ends with the engine (in a script, keep the call under ``if __name__ == "__main__":``, as
        Dask asks for).
    threads
        Threads of this process, for the work that stays here, and, where no cluster is given, the processes of the one
        that is started; all cores unless told otherwise.

    Use it in a `with` statement, or call `close`.

    >>> from dagpost import DagPosterior, datasets
    >>> with DaskEngine() as engine:  # doctest: +SKIP
    ...     model = DagPosterior(engine=engine).fit(datasets.load("coronary"))
    """

    def __init__(self, client: Any = None, *, threads: int | None = None) -> None:
        super().__init__(threads)
        self._cluster: Cluster | None = Cluster(client, processes=threads)
        self._address = self._cluster.address

    @property
    def cluster(self) -> Cluster:
        """The workers; an engine that came from another process reaches for them when they are first needed."""
        if self._cluster is None:
            self._cluster = shared_engine(self._address).cluster
        return self._cluster

    def with_threads(self, threads: int | None) -> DaskEngine:
        """The same cluster with so many threads of this process; this very engine if none are named."""
        return self if threads is None else _engine_at(self._address, threads, self._cluster)

    @cached_property
    def sums(self) -> ExactBackend:
        """The sums of sums.py on the cluster."""
        return DaskBackend(self)

    @cached_property
    def spread(self) -> Spread:
        """An engine for blocks that only return their results: runs them as tasks of the cluster."""
        from dagpost.engines.dask.tasks import Spread

        return Spread(self.cluster)

    @property
    def dashboard_link(self) -> str:
        """Where Dask shows what the cluster is doing."""
        return str(self.cluster.client.dashboard_link)

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> Floats | None:
        """The sums that scores of discrete data are made of; None where it is not worth the way."""
        from dagpost.engines.dask.scores import sum_cells

        with self.cluster.release_on_error():
            return sum_cells(self.cluster, rows, cells, max_size)

    def close(self) -> None:
        """Close the client and the cluster, as far as they were made here."""
        if self._cluster is not None:
            self._cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> DaskEngine:
        """Copies of a model work on one and the same cluster."""
        return self

    def __reduce__(self) -> tuple[Callable[..., DaskEngine], tuple[str, None]]:
        """In another process: an engine there for the same cluster, as long as that can be reached."""
        return _engine_at, (self._address, None)

    def __repr__(self) -> str:
        """Which cluster, and how large it is."""
        if self._cluster is None:
            return f"DaskEngine for {self._address}"
        client = self._cluster.client
        if client.status != "running":
            return "DaskEngine (closed)"
        workers = client.nthreads()
        return f"DaskEngine of {len(workers)} workers with {sum(workers.values())} threads"


def shared_engine(address: str | None = None, threads: int | None = None) -> DaskEngine:
    """The engine of this process for the cluster at an address, or for one of its own; ends with the process.

    For those who name an engine and do not hold one: every model starting a cluster would be many.
    """
    with _sharing:
        engine = _shared.get((address, threads))
        if engine is None or engine.cluster.client.status != "running":
            engine = _shared[address, threads] = DaskEngine(address, threads=threads)
            atexit.register(engine.close)
        return engine


_shared: dict[tuple[str | None, int | None], DaskEngine] = {}
_sharing = Lock()


def engine_for(setting: Any, threads: int | None) -> ThreadEngine:
    """What ``engine="dask"``, or a `DaskEngine`, means here, with so many threads of this process.

    Inside a task of a worker, where a model may come by joblib and scikit-learn, that is the one thread of the task: if
    all workers waited for tasks of theirs, there would be none left to run them.
    """
    if (isinstance(setting, str) or setting._cluster is None) and _inside_a_task():
        return ThreadEngine(1)
    return shared_engine(threads=threads) if isinstance(setting, str) else setting.with_threads(threads)


def _inside_a_task() -> bool:
    distributed = load_distributed()
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _engine_at(address: str, threads: int | None, cluster: Cluster | None = None) -> DaskEngine:
    """An engine for a cluster that is there."""
    engine = DaskEngine.__new__(DaskEngine)
    ThreadEngine.__init__(engine, threads)
    engine._address, engine._cluster = address, cluster
    return engine


class DaskBackend:
    """`ExactBackend` on a cluster: engines/dask/order.py, drawing.py and structure.py."""

    name = "dask"

    def __init__(self, engine: DaskEngine) -> None:
        self.engine = engine

    @property
    def cluster(self) -> Cluster:
        return self.engine.cluster

    def order_fits(self, nodes: int, max_parents: int) -> bool:
        from dagpost.engines.dask import order

        return order.fits(nodes, max_parents, self.cluster.room())

    def require_order(self, nodes: int, max_parents: int) -> None:
        from dagpost.engines.dask import order

        order.require_room(nodes, max_parents, self.cluster.room(), tables=1)

    def order_seconds(self, nodes: int) -> float:
        from dagpost.engines.dask.blocks import gathering_top

        entries = _SECONDS_AN_ENTRY * nodes * 2.0 ** (nodes - 1) / self.cluster.threads()
        return entries + _SECONDS_A_TASK * 2.0 ** gathering_top(nodes, 1)

    def keeps_order(self, nodes: int) -> bool:
        return (8 << nodes) <= _KEPT_SHARE * self.cluster.room().memory

    def structure_fits(self, nodes: int, max_parents: int) -> bool:
        return self._host.structure_fits(nodes, max_parents)

    def structure_seconds(self, nodes: int, *, measured: bool = False) -> float:
        from dagpost.engines.dask import structure
        from dagpost.exact.structure import expected_seconds

        if not structure.is_worth_it(self.engine, nodes):
            return self._host.structure_seconds(nodes, measured=measured)
        return expected_seconds(nodes, min(self.cluster.threads(), structure.most_cores(nodes)))

    def keeps_structure(self, nodes: int, max_parents: int) -> bool:
        return self._host.keeps_structure(nodes, max_parents)

    def forward_table(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> SpreadForward:
        from dagpost.engines.dask import order

        with self.cluster.release_on_error():
            return order.forward_table(self.cluster, log_weights, max_parents, reporter=reporter, checkpoint=checkpoint)

    def family_probabilities(
        self,
        forward: SpreadForward,
        *,
        reporter: Reporter = NO_PROGRESS,
        keep_forward: bool = True,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Floats:
        from dagpost.engines.dask import order

        with self.cluster.release_on_error():
            return order.family_probabilities(
                self.cluster, forward, reporter=reporter, keep_forward=keep_forward, checkpoint=checkpoint
            )

    def draw_dags(
        self, forward: SpreadForward, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        from dagpost.engines.dask.sampling import draw_orders
        from dagpost.sampling.dags import draw_dags

        nodes = forward.layout.nodes
        with self.cluster.release_on_error():
            orders = draw_orders(self.cluster, forward, uniforms[:, :nodes], stage=stage)
        drawn = draw_dags(ranked(), orders.orders, orders.log_alpha, uniforms[:, nodes:], engine=self.engine)
        stage.advance(len(uniforms))
        return drawn

    def draw_units(self, forward: SpreadForward) -> int:
        return forward.layout.top + 2

    def on_host(self, forward: SpreadForward) -> ForwardTable:
        from dagpost.engines.dask.order import on_host

        with self.cluster.release_on_error():
            return on_host(forward)

    def structure_posterior(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> StructurePosterior:
        from dagpost.engines.dask import structure

        if not structure.is_worth_it(self.engine, len(log_weights), max_parents):
            return self._host.structure_posterior(log_weights, max_parents, reporter=reporter, checkpoint=checkpoint)
        with self.cluster.release_on_error():
            found = structure.structure_posterior(
                self.engine, log_weights, max_parents, reporter=reporter, checkpoint=checkpoint
            )
        return replace(found, engine=self.name)

    def structure_evidence(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> float:
        from dagpost.engines.dask import structure

        if not structure.is_worth_it(self.engine, len(log_weights), max_parents, evidence_only=True):
            return self._host.structure_evidence(log_weights, max_parents, reporter=reporter, checkpoint=checkpoint)
        with self.cluster.release_on_error():
            return structure.structure_evidence(
                self.engine, log_weights, max_parents, reporter=reporter, checkpoint=checkpoint
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
        return self._host.sample_layers(tables, ranked, count, seed=seed, reporter=reporter, checkpoint=checkpoint)

    def descendant_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        return self._host.descendant_sets(tables, node, reporter=reporter)

    def ancestor_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        return self._host.ancestor_sets(tables, node, reporter=reporter)

    @cached_property
    def _host(self) -> HostBackend:
        from dagpost.engines.host.backend import HostBackend

        return HostBackend(self.engine)
