"""Which cluster does the work, how much room is on it, and how are tasks handed to it?

Scheduling, transport, spilling to disk and the recomputation of what a dead worker held are Dask's. What is here: a
client for an address, or a local cluster of processes with one thread each where none is given; the memory and disk of
the workers; names for tasks, which the diagnostics page of Dask shows.

What a task needs beside the results of others (the weights, a function) is handed over as the result of a task too,
not scattered: it is then made again when the worker that held it dies.

What Dask says when something is wrong with a cluster speaks of its own parts; troubles.py puts it in words of ours.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from dagpost._version import __version__
from dagpost.engines.dask.failures import LOST, gone, in_plain_words
from dagpost.engines.threads import available_cores
from dagpost.errors import InputError, ResourceError

#: Seconds to wait for a scheduler, and for its first worker.
_PATIENCE_SECONDS = 30
#: Addresses that clients of Dask can reach: a protocol, perhaps, a host and a port; or a scheduler in this process.
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx|ucxx)://)?(?:\[[^\]\s]+\]|[^\s:/]+):\d{1,5}/?|inproc://\S+")
#: How often to try to be greeted by a scheduler that is there.
_GREETINGS = 10
#: Of the memory limit of a worker Dask lets results take so much before it moves them to disk.
_HELD_SHARE = 0.6
#: What workers should have in their environment (for the C library of Linux; others do not look at it).
KEEPING_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}

#: Futures of the tasks that the work under way in this thread has handed over and someone still holds.
_handed_over: ContextVar[WeakSet[Any] | None] = ContextVar("handed_over", default=None)


def load_distributed() -> Any:
    """The library of Dask, or one sentence that says how to get it."""
    try:
        import distributed
    except ImportError:
        raise InputError('The Dask engine needs Dask, which is not installed: pip install "dagpost[dask]"') from None
    return distributed


@dataclass(frozen=True)
class Room:
    """What the workers have in all: threads, bytes of memory for results, bytes of disk for what does not fit there."""

    workers: int
    threads: int
    memory: int
    disk: int
    #: Bytes of memory for results on the worker that has the least.
    smallest: int

    @property
    def threads_per_worker(self) -> int:
        """Tasks that a worker has under way."""
        return -(-self.threads // max(self.workers, 1))

    @property
    def memory_per_thread(self) -> int:
        """Bytes of memory for each thread."""
        return self.memory // max(self.threads, 1)


class _WorkerRoom(NamedTuple):
    """What one worker has, and what it may share with others: the machine and the disk are named."""

    threads: int
    #: 0: none, it may take what the machine has free.
    memory_limit: int
    machine: str
    machine_memory: int
    disk: int
    disk_bytes: int
    #: Of dagpost there.
    version: str = __version__


def local_cluster(workers: int, **options: Any) -> Any:
    """A cluster of so many processes on this machine, one thread each.

    Dask has its processes hand memory back to the system whenever some is free. The kernels here ask for some megabytes
    at a time, again and again, and would take up to twice as long; so they may keep what they have had.
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

    Left to itself, Dask keeps short tasks where their inputs are, on one worker, while the others have nothing to do.
    """

    def __init__(self, threads: dict[str, int]) -> None:
        self._workers = [worker for worker in sorted(threads) for _ in range(threads[worker])]

    def of(self, number: int, count: int) -> str | None:
        """The worker for task `number` of `count`: neighbours go to one worker, and every thread gets as many."""
        return self._workers[number * len(self._workers) // count] if self._workers else None


class Cluster:
    """The workers behind one client, which is closed with it unless it was given.

    Where there is none, so many processes on this machine, every core unless told otherwise.
    """

    def __init__(self, client: Any = None, *, processes: int | None = None) -> None:
        distributed = load_distributed()
        self._own: list[Any] = []
        if client is None:
            local = local_cluster(processes or available_cores())
            self._own = [local]
            # Not the default: what else of Dask is used in this process stays where it is.
            self.client = distributed.Client(local, set_as_default=False)
            self._own = [self.client, local]
        elif isinstance(client, str):
            self.client = _connected(distributed, client)
            self._own = [self.client]
        elif isinstance(client, distributed.Client) and not client.asynchronous:
            if client.status != "running":
                raise InputError(f"The Dask client that was given is {client.status}. Make a new one.")
            self.client = client
        else:
            raise InputError(
                "A Dask engine is made with the address of a scheduler, such as 'tcp://10.0.0.1:8786', with a "
                f"distributed.Client that is not asynchronous, or with nothing. Got {client!r} instead."
            )
        self.address = str(self.client.scheduler.address)
        self._run = uuid4().hex[:8]
        self._numbers = count()
        self._looked_at = False

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
            self.client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
        except (TimeoutError, distributed.TimeoutError):
            raise ResourceError(
                f"The cluster has had no worker for {_PATIENCE_SECONDS} seconds. Start some, for example with "
                f"'dask worker {self.address}', or wait for the batch system."
            ) from None
        except OSError as error:
            raise ResourceError(gone(self.address)) from error
        with self.release_on_error():
            workers = self.client.run(_room_of_worker)
        others = {worker: room.version for worker, room in workers.items() if room.version != __version__}
        if others:
            worker, version = next(iter(others.items()))
            raise InputError(
                f"The worker at {worker} has dagpost {version}, and this process {__version__}. Install the same "
                "version on all machines, and start the workers again."
            )
        self._looked_at = True
        return room_of(list(workers.values()))

    def threads(self) -> int:
        """Threads of all workers together; waits, the first time, for the first worker."""
        self._require_open()
        if not self._looked_at:
            self.room()
        return max(sum(self._threads_of_workers().values()), 1)

    def places(self) -> Places:
        """The workers that there are now, to deal tasks out to."""
        return Places(self._threads_of_workers())

    def _threads_of_workers(self) -> dict[str, int]:
        try:
            return dict(self.client.nthreads())
        except OSError as error:
            raise ResourceError(gone(self.address)) from error

    def _require_open(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise ResourceError(
                f"The Dask client for {self.address} is closed. Ask what needs the cluster before it is closed; or fit "
                "the model again with another engine, or save it before and load it, which goes on with threads."
            )

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, at: str | None = None) -> Any:
        """The future of `function(*arguments)`, futures among the arguments replaced by their results.

        `at` is the worker that should run it, if it is still there when the time comes.
        """
        self._require_open()
        key = f"{name}-{self._run}-{next(self._numbers)}"
        where = {} if at is None else {"workers": [at], "allow_other_workers": True}
        future = self.client.submit(function, *arguments, key=key, pure=False, **where)
        self.remember([future])
        return future

    def remember(self, futures: list[Any]) -> None:
        """Let futures be taken back if what is under way ends in an error."""
        handed_over = _handed_over.get()
        if handed_over is not None:
            handed_over.update(futures)

    def hand_over(self, name: str, value: Any) -> Any:
        """A future of `value` that the cluster can make again."""
        with large_graphs():
            return self.submit(name, _itself, value)

    @contextmanager
    def release_on_error(self) -> Iterator[None]:
        """Take back what was handed over meanwhile if an error or an interrupt ends it; say errors of Dask plainly.

        A task runs as long as someone holds its future, and an interactive session holds the last traceback. What has
        begun runs to its end, some seconds at most. Tasks are let go and not cancelled: to cancel one, the scheduler
        asserts that someone holds the futures of all that depend on it, or breaks off the connection.
        """
        handed_over: WeakSet[Any] = WeakSet()
        token = _handed_over.set(handed_over)
        try:
            yield
        except BaseException as error:
            for future in list(handed_over):
                future.release()
            if handed_over and self.client.status == "running":
                # The client lets go in a thread of its own: wait until it has.
                self.client.sync(_done)
            plain = in_plain_words(error, self.address)
            if plain is not None:
                raise plain from error
            raise
        finally:
            _handed_over.reset(token)

    def finish(self, future: Any) -> None:
        """Wait until a future is done, without fetching its result; raise what its task raised."""
        if future.status == "pending":
            # Not distributed.wait, which asks the default client, and that may be another one or none.
            future.exception()
        if future.status == "cancelled":
            raise ResourceError(LOST)
        if future.status != "finished":
            future.result()


@contextmanager
def large_graphs() -> Iterator[None]:
    """Let Dask take inputs of many megabytes without a warning: that they go to the scheduler is meant."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
        yield


def writeable(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy if it may not be written: kernels are compiled for arrays that may."""
    return np.require(array, requirements=["C", "W"])


def no_cancel() -> NDArray[np.int64]:
    """The flag that kernels look at: a task that is given up on a cluster just ends."""
    return np.zeros(1, dtype=np.int64)


def _connected(distributed: Any, address: str) -> Any:
    if _ADDRESS.fullmatch(address) is None:
        page = " (that of its diagnostics page is another one)" if address.startswith("http") else ""
        raise InputError(
            f"{address!r} is no address of a Dask scheduler. Give the one that it prints when it starts, such as "
            f"'tcp://10.0.0.1:8786'{page}."
        )
    try:
        return _greeted(distributed, address)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address!r} ({str(error) or type(error).__name__}). Start one with 'dask "
            "scheduler', which prints its address, or leave the address out for a cluster on this machine."
        ) from None


def _greeted(distributed: Any, address: str) -> Any:
    """A client that the scheduler has greeted, tried again as long as someone speaks in between.

    A client of Dask asserts that the first message to it is the greeting and nothing else. A word to all clients, such
    as that some task of another one was cancelled, may come in the same message.
    """
    for left in reversed(range(_GREETINGS)):
        # Not in one step: a client that fails in its making would be out of reach, and never closed.
        client = distributed.Client.__new__(distributed.Client)
        client._ensure_connected = partial(_connected_in_time, client._ensure_connected)
        try:
            client.__init__(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
            break
        except BaseException as error:
            # One that has failed before it began has not even what it takes to be closed.
            if getattr(client, "status", "newly-created") != "newly-created":
                client.close()
            if not left or not isinstance(error, AssertionError):
                raise
    return client


async def _connected_in_time(connect: Callable[..., Any], timeout: float | None = None) -> None:
    """What `connect` does, in time: Dask waits for ever for the first word of whoever takes its call.

    A little later than it gives up itself where nobody does, since it says more about that.
    """
    await asyncio.wait_for(connect(timeout=timeout), None if timeout is None else timeout + 1)


async def _done() -> None:
    """Nothing, after all that was to be done before."""


def _itself(value: Any) -> Any:
    return value


def room_of(workers: list[_WorkerRoom]) -> Room:
    """What some workers have in all; a disk, or a machine's free memory, that several of them use is counted once."""
    limited = sum(worker.memory_limit for worker in workers)
    machines = {worker.machine: worker.machine_memory for worker in workers if not worker.memory_limit}
    sharing = Counter(worker.machine for worker in workers if not worker.memory_limit)
    least = min(worker.memory_limit or worker.machine_memory // sharing[worker.machine] for worker in workers)
    disks = {(worker.machine, worker.disk): worker.disk_bytes for worker in workers}
    memory = int(_HELD_SHARE * (limited + sum(machines.values())))
    threads = sum(worker.threads for worker in workers)
    return Room(len(workers), threads, memory, sum(disks.values()), int(_HELD_SHARE * least))


def _room_of_worker(dask_worker: Any = None) -> _WorkerRoom:
    import os
    import shutil
    import socket

    from dagpost._tools.memory import available_bytes

    folder = dask_worker.local_directory
    return _WorkerRoom(
        dask_worker.state.nthreads,
        int(dask_worker.memory_manager.memory_limit or 0),
        socket.gethostname(),
        available_bytes(),
        os.stat(folder).st_dev,
        shutil.disk_usage(folder).free,
    )
