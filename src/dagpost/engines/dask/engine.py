"""An engine on a Dask cluster: tables, counting, chains, replicates and folds there, the rest on threads here.

| work | where |
| --- | --- |
| forward and backward tables, all families | blocks.py, order.py: in blocks that stay on the workers |
| orders and graphs drawn from them | sampling.py: the orders where the blocks are, then the graphs on threads here |
| counting for discrete scores | scores.py |
| chains, bootstrap replicates, folds of a cross-validation | tasks.py |
| sums over all graphs, `3^n` terms | on threads here, where graphs are drawn from their tables |

Every result is the same to the last bit as with threads, whatever the number of workers. From 30 variables on, that
holds for the tables and draws but not for the last digits of family probabilities (blocks.py says why).
"""

from __future__ import annotations

import atexit
import pickle
from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from dagpost.engines.base import Engine
from dagpost.engines.dask.cluster import Cluster
from dagpost.engines.dask.connection import load_distributed
from dagpost.engines.threads import ThreadEngine

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats
    from dagpost.engines.dask.tasks import Tasks
    from dagpost.engines.host.backend import ExactBackend
    from dagpost.scores.cells import CellFunction
    from dagpost.scores.rows import Rows


class DaskEngine(ThreadEngine):
    """Tables over all sets of variables in blocks on the workers of a Dask cluster.

    Parameters
    ----------
    client
        A `distributed.Client`, the address of a scheduler, or None: a cluster of processes on this machine, one for
        each core, which ends with the engine (in a script, keep the call under ``if __name__ == "__main__":``, as
        Dask asks for).
    threads
        Threads of this process, for the work that stays here; where no cluster is given, also the number of processes
        of the one that is started. All cores unless told otherwise.
    security
        For an address that begins with ``tls://``: a `distributed.Security` with the certificates. None: those that
        Dask's configuration names.

    Use it in a `with` statement, or call `close`. Dask's own setting ``distributed.comm.timeouts.connect`` says how
    long to wait for a scheduler, and for workers when there are none.

    >>> from dagpost import DagPosterior, datasets
    >>> with DaskEngine() as engine:  # doctest: +SKIP
    ...     model = DagPosterior(engine=engine).fit(datasets.load("coronary"))
    """

    name = "dask"
    summary = "tables, chains and replicates on a Dask cluster"

    _closed = False

    def __init__(self, client: Any = None, *, threads: int | None = None, security: Any = None) -> None:
        super().__init__(threads)
        self._cluster: Cluster | None = Cluster(client, processes=threads, security=security)
        self._address, self._security = self._cluster.address, self._cluster.security

    @classmethod
    def from_name(cls, threads: int | None) -> Engine:
        """The engine on this machine that all models of this process share; one thread inside a task of a worker."""
        return ThreadEngine(1) if _inside_a_task() else shared_engine(threads=threads)

    @classmethod
    def from_handle(cls, handle: Any) -> Engine | None:
        """The engine on the cluster of a Dask client. Unlike the client it can be copied and pickled."""
        return cls(handle) if type(handle).__module__.partition(".")[0] == "distributed" else None

    def with_threads(self, threads: int | None) -> Engine:
        """The same cluster with `threads` threads of this process; None: this engine itself.

        Inside a task of a worker, where a model may arrive through joblib and scikit-learn, it is the one thread of the
        task: if all workers waited for tasks of their own, no worker would be left to run them.
        """
        if self._cluster is None and _inside_a_task():
            return ThreadEngine(1)
        return self if threads is None else _engine_at(self._address, threads, self._security, self._cluster)

    @property
    def cluster(self) -> Cluster:
        """The workers; an engine that came from another process connects to them when they are first needed."""
        if self._cluster is None:
            self._cluster = shared_engine(self._address, security=self._security).cluster
        return self._cluster

    @cached_property
    def tasks(self) -> Tasks:
        """An engine for blocks that only return their results: runs them as tasks of the cluster."""
        from dagpost.engines.dask.tasks import Tasks

        return Tasks(self.cluster)

    def backend(self) -> ExactBackend:
        """The exact sums on the cluster."""
        from dagpost.engines.dask.backend import DaskBackend

        return DaskBackend(self)

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> Floats | None:
        """The sums that scores of discrete data are made of; None where moving the rows takes longer than counting."""
        from dagpost.engines.dask.scores import sum_cells

        with self.cluster.release_on_error():
            return sum_cells(self.cluster, rows, cells, max_size)

    @property
    def dashboard_link(self) -> str | None:
        """Where Dask shows what the cluster is doing; None if its scheduler has no such page."""
        try:
            link = self.cluster.client.dashboard_link
        except KeyError:
            return None
        return None if link is None else str(link)

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Close the client and the cluster if they were made here."""
        self._closed = True
        if self._cluster is not None:
            self._cluster.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> DaskEngine:
        """Copies of a model work on one and the same cluster."""
        return self

    def __reduce__(self) -> tuple[Callable[..., DaskEngine], tuple[str, None, Any]]:
        """In another process: an engine there for the same cluster, as long as it can be reached."""
        return _engine_at, (self._address, None, self._security)

    def __repr__(self) -> str:
        """Which cluster, and how large it is."""
        if self._cluster is None:
            return f"DaskEngine for {self._address}"
        client = self._cluster.client
        if client.status != "running":
            return "DaskEngine (closed)"
        workers = client.nthreads()
        return f"DaskEngine of {len(workers)} workers with {sum(workers.values())} threads"


def shared_engine(address: str | None = None, threads: int | None = None, security: Any = None) -> DaskEngine:
    """The engine of this process for the cluster at an address, or for a cluster of its own; it ends with the process.

    For callers that name an engine and do not hold one: not every model should start a cluster.
    """
    # Other certificates are another cluster as far as this process is concerned.
    key = (address, threads, pickle.dumps(security))
    with _sharing:
        engine = _shared.get(key)
        if engine is None or engine.cluster.client.status != "running":
            engine = _shared[key] = DaskEngine(address, threads=threads, security=security)
            atexit.register(engine.close)
        return engine


_shared: dict[tuple[str | None, int | None, bytes], DaskEngine] = {}
_sharing = Lock()


def _inside_a_task() -> bool:
    distributed = load_distributed()
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _engine_at(address: str, threads: int | None, security: Any, cluster: Cluster | None = None) -> DaskEngine:
    """An engine for a cluster that is there already."""
    engine = DaskEngine.__new__(DaskEngine)
    ThreadEngine.__init__(engine, threads)
    engine._address, engine._security, engine._cluster = address, security, cluster
    return engine
