"""Which cluster does the work, how much room is on it, and how are tasks handed to it?

Scheduling, transport, spilling to disk and the recomputation of what a dead worker held are Dask's. What is here: a
client for an address, or a local cluster of processes with one thread each where none is given; the memory and disk of
the workers; names for tasks, which the diagnostics page of Dask shows.

What a task needs besides the results of others (the weights, a function) is handed over as the result of a task too,
not scattered: it is then made again when the worker that held it dies.

When something is wrong with a cluster, Dask speaks of its own parts; failures.py puts this in plain words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import shown
from dagpost.engines.dask.connection import connected, load_distributed, patience
from dagpost.engines.dask.failures import LOST, gone, in_plain_words, no_worker, not_importable
from dagpost.engines.dask.versions import missing_on, question, refuse_other_versions, run_if_same, versions_here
from dagpost.engines.threads import available_cores
from dagpost.errors import InputError, ResourceError

#: The share of a worker's memory limit that Dask lets results take before it moves them to disk.
_HELD_SHARE = 0.6
#: How often to look, while waiting for a result, whether there still are workers.
_LOOK_SECONDS = 1.0
#: What workers should have in their environment (for the C library of Linux; other systems ignore it).
KEEPING_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}

#: Futures of the tasks that the work in this thread has handed over and that are still held.
_handed_over: ContextVar[WeakSet[Any] | None] = ContextVar("handed_over", default=None)


@dataclass(frozen=True)
class Room:
    """What all workers together have: threads, bytes of memory for results, bytes of disk for what does not fit."""

    workers: int
    threads: int
    memory: int
    disk: int

    @property
    def memory_per_thread(self) -> int:
        """Bytes of memory for each thread."""
        return self.memory // max(self.threads, 1)


class WorkerRoom(NamedTuple):
    """What one worker has; it may share the machine and the disk, which are named, with others."""

    threads: int
    #: 0: no limit, it may take all free memory of the machine.
    memory_limit: int
    machine: str
    machine_memory: int
    disk: int
    disk_bytes: int


def local_cluster(workers: int, **options: Any) -> Any:
    """A cluster of `workers` processes on this machine, one thread each.

    Dask makes its processes return memory to the system whenever some is free. The kernels here ask for some megabytes
    again and again, and would take up to twice as long; so the processes may keep the memory they have.
    """
    import dask

    distributed = load_distributed()
    before_start = {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in KEEPING_MEMORY.items()}
    with dask.config.set(before_start):
        return distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", **options
        )


class Places:
    """The workers, to deal tasks out to.

    Left to itself, Dask keeps short tasks where their inputs are, on one worker, while the others are idle.
    """

    def __init__(self, threads: dict[str, int]) -> None:
        self._workers = [worker for worker in sorted(threads) for _ in range(threads[worker])]

    def of(self, number: int, count: int) -> str | None:
        """The worker for task `number` of `count`: neighbours go to one worker, and all threads get the same number."""
        return self._workers[number * len(self._workers) // count] if self._workers else None


class Cluster:
    """The workers behind one client, which is closed with the cluster unless it was given.

    Where none is given, `processes` processes on this machine; None: one for each core. An address may need `security`,
    which has the certificates.
    """

    def __init__(self, client: Any = None, *, processes: int | None = None, security: Any = None) -> None:
        distributed = load_distributed()
        if security is not None and not isinstance(client, str):
            raise InputError(
                "The 'security' of a Dask engine goes with the address of a scheduler: a client has its own, and a "
                "cluster on this machine needs none."
            )
        self._own: list[Any] = []
        if client is None:
            local = local_cluster(processes or available_cores())
            self._own = [local]
            # Not the default client: other work with Dask in this process is left alone.
            self.client = distributed.Client(local, set_as_default=False)
            self._own = [self.client, local]
        elif isinstance(client, str):
            self.client = connected(client, security)
            self._own = [self.client]
        elif isinstance(client, distributed.Client) and not client.asynchronous:
            if client.status != "running":
                raise InputError(f"The Dask client that was given is {client.status}. Make a new one.")
            self.client = client
        else:
            raise InputError(
                "A Dask engine takes the address of a scheduler, such as 'tcp://10.0.0.1:8786', a distributed.Client "
                f"that is not asynchronous, or nothing. Got {shown(client)} instead."
            )
        self.address = str(self.client.scheduler.address)
        #: The certificates, for engines of other processes; None where none are needed.
        self.security = self.client.security if self.address.startswith("tls://") else None
        self._run = uuid4().hex[:8]
        self._numbers = count()
        #: Workers whose versions are known to be those of this process.
        self._asked: set[str] = set()

    def close(self) -> None:
        """Close what was opened here."""
        parts, self._own = self._own, []
        for part in parts:
            part.close()

    def room(self) -> Room:
        """What the workers have now; waits for the first one."""
        self._require_open()
        distributed = load_distributed()
        try:
            self.client.wait_for_workers(1, timeout=patience())
        except (TimeoutError, distributed.TimeoutError):
            raise ResourceError(no_worker(self.address, patience())) from None
        except OSError as error:
            raise ResourceError(gone(self.address)) from error
        self._threads_of_workers()
        rooms = self._ask(_room_of_worker)
        if not rooms:
            raise ResourceError(no_worker(self.address, patience()))
        return room_of(list(rooms.values()))

    def threads(self) -> int:
        """Threads of all workers together; the first time, waits for the first worker."""
        self._require_open()
        if not self._asked:
            self.room()
        return max(sum(self._threads_of_workers().values()), 1)

    def places(self) -> Places:
        """The workers that there are now, to deal tasks out to."""
        return Places(self._threads_of_workers())

    def _threads_of_workers(self) -> dict[str, int]:
        """The workers that there are now; refuses those of another version."""
        try:
            threads = dict(self.client.nthreads())
        except OSError as error:
            raise ResourceError(gone(self.address)) from error
        others = [worker for worker in threads if worker not in self._asked]
        if others:
            versions = self._ask(question(), others)
            missing = missing_on(versions)
            if missing is not None:
                raise InputError(not_importable(missing, self.address))
            refuse_other_versions(versions)
            self._asked.update(versions)
        return threads

    def _ask(self, function: Callable[..., Any], workers: list[str] | None = None) -> dict[str, Any]:
        """What a function returns on each worker; a worker that is lost meanwhile is left out."""
        with self.release_on_error():
            answers = self.client.run(function, workers=workers, on_error="return")
            for answer in answers.values():
                if isinstance(answer, Exception) and not isinstance(answer, OSError):
                    raise answer
        return {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}

    def _require_open(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise ResourceError(
                f"The Dask client for {self.address} is closed. Ask before you close it; or fit the model again with "
                "another engine; or save the model before you close it, and load it, which works on threads."
            )

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, at: str | None = None) -> Any:
        """The future of `function(*arguments)`, futures among the arguments replaced by their results.

        `at` is the worker that should run it, if that worker is still there when the task is due.
        """
        self._require_open()
        key = f"{name}-{self._run}-{next(self._numbers)}"
        where = {} if at is None else {"workers": [at], "allow_other_workers": True}
        future = self.client.submit(run_if_same, versions_here(), function, *arguments, key=key, pure=False, **where)
        self.remember([future])
        return future

    def remember(self, futures: list[Any]) -> None:
        """Let futures be released if the work of this thread ends in an error."""
        handed_over = _handed_over.get()
        if handed_over is not None:
            handed_over.update(futures)

    def hand_over(self, name: str, value: Any) -> Any:
        """A future of `value` that the cluster can make again."""
        with large_graphs():
            return self.submit(name, _itself, value)

    @contextmanager
    def release_on_error(self) -> Iterator[None]:
        """Release what was handed over inside if an error or an interrupt ends it; put errors of Dask in plain words.

        A task is kept as long as its future is held, and an interactive session holds the last traceback. A task that
        has begun runs to its end, some seconds at most. Tasks are released and not cancelled: to cancel a task, the
        scheduler asserts that the futures of all tasks that depend on it are held, or it closes the connection.
        """
        handed_over: WeakSet[Any] = WeakSet()
        token = _handed_over.set(handed_over)
        try:
            yield
        except BaseException as error:
            for future in list(handed_over):
                future.release()
            if handed_over and self.client.status == "running":
                # The client releases in a thread of its own: wait until it has done so.
                self.client.sync(_done)
            plain = in_plain_words(error, self.address)
            if plain is not None:
                raise plain from error
            raise
        finally:
            _handed_over.reset(token)

    def finish(self, future: Any) -> None:
        """Wait until a future is done, without fetching its result; raise what its task raised."""
        self._wait(future)
        if future.status == "cancelled":
            raise ResourceError(LOST)
        if future.status == "error":
            self._fetch([future])

    def result(self, future: Any) -> Any:
        """What a task found, once it is done."""
        return self.gather([future])[0]

    def gather(self, futures: list[Any]) -> list[Any]:
        """What several tasks found."""
        for future in futures:
            self._wait(future)
            if future.status != "finished":
                break
        return self._fetch(futures)

    def _wait(self, future: Any) -> None:
        # A result that was there is "lost" with its worker until another has made it again.
        if future.status in ("pending", "lost"):
            # Not distributed.wait: it asks the default client, which may be another client or none.
            self.client.sync(self._watched, future.exception)

    def _fetch(self, futures: list[Any]) -> list[Any]:
        found: list[Any] = self.client.sync(self._watched, self.client.gather, futures)
        return found

    def scatter(self, values: list[Any]) -> list[Any]:
        """Futures of values that go to the workers, and are lost with them."""
        try:
            futures: list[Any] = self.client.scatter(values, hash=False, timeout=patience())
        except TimeoutError:
            raise ResourceError(no_worker(self.address, patience())) from None
        return futures

    async def _watched(self, wait: Callable[..., Any], *arguments: Any) -> Any:
        """Wait for the cluster, but not longer than `patience` for one without workers; Dask would wait forever."""
        import asyncio

        waiting = asyncio.ensure_future(wait(*arguments, asynchronous=True))
        last_seen, looking = time.monotonic(), None
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=_LOOK_SECONDS)
                if waiting.done():
                    break
                looking = asyncio.ensure_future(self.client.nthreads(asynchronous=True))
                await asyncio.wait({waiting, looking}, return_when=asyncio.FIRST_COMPLETED)
                # A scheduler that cannot be asked is for the client to find out: it then gives its futures up.
                if looking.done() and (looking.exception() is not None or looking.result()):
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > patience():
                    raise ResourceError(no_worker(self.address, patience()))
            return waiting.result()
        finally:
            waiting.cancel()
            if looking is not None:
                looking.cancel()


@contextmanager
def large_graphs() -> Iterator[None]:
    """Let Dask take inputs of many megabytes without a warning: they go to the scheduler on purpose."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
        yield


def writeable(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy if it is read-only: kernels are compiled for arrays that can be written."""
    return np.require(array, requirements=["C", "W"])


def no_cancel() -> NDArray[np.int64]:
    """The flag that kernels look at, never set: a task on a cluster runs to its end."""
    return np.zeros(1, dtype=np.int64)


async def _done() -> None:
    """Return once the client has done everything it was asked before."""


def _itself(value: Any) -> Any:
    return value


def room_of(workers: list[WorkerRoom]) -> Room:
    """What some workers have together; a disk, or the free memory of a machine, that they share is counted once."""
    limited = sum(worker.memory_limit for worker in workers)
    machines = {worker.machine: worker.machine_memory for worker in workers if not worker.memory_limit}
    disks = {(worker.machine, worker.disk): worker.disk_bytes for worker in workers}
    memory = int(_HELD_SHARE * (limited + sum(machines.values())))
    threads = sum(worker.threads for worker in workers)
    return Room(len(workers), threads, memory, sum(disks.values()))


def _room_of_worker(dask_worker: Any = None) -> WorkerRoom:
    import os
    import shutil
    import socket

    from dagpost._tools.memory import available_bytes

    folder = dask_worker.local_directory
    return WorkerRoom(
        dask_worker.state.nthreads,
        int(dask_worker.memory_manager.memory_limit or 0),
        socket.gethostname(),
        available_bytes(),
        os.stat(folder).st_dev,
        shutil.disk_usage(folder).free,
    )
