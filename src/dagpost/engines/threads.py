"""Blocks of work on the threads of this process: the kernels are free of the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np

from dagpost._tools.progress import reporter_of_terminal
from dagpost._tools.spelling import either
from dagpost._tools.text import shown
from dagpost.engines.base import CancelFlag, Engine, Item, Result, as_engine
from dagpost.errors import InputError

_POLL_SECONDS = 0.1
_THREADS_NAME = "dagpost"
#: More threads than this, and more than four a core, are a typing error: each thread takes working memory of its own.
_MOST_THREADS, _MOST_PER_CORE = 256, 4


def available_cores() -> int:
    """Cores that this process may use: a container or a batch system may allow fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadEngine(Engine):
    """Runs blocks on `threads` threads; on as many as there are cores if `threads` is None.

    >>> list(ThreadEngine(2).run(lambda item, cancel: item**2, [1, 2, 3]))
    [1, 4, 9]
    """

    name = "threads"
    summary = "threads of this process"

    def __init__(self, threads: int | None = None) -> None:
        cores = available_cores()
        most = max(_MOST_THREADS, _MOST_PER_CORE * cores)
        if threads is not None and (
            isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= most
        ):
            what = either("The 'threads' parameter", "--threads")
            here = f"; there {'is 1 core' if cores == 1 else f'are {cores:,} cores'} here"
            raise InputError(
                f"{what} must be {either('an int', 'a whole number')} of at "
                f"least 1 and at most {most:,}{either(', or None', '')}. Got {shown(threads)} instead{here}."
            )
        self.workers = threads or cores

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item; results in the order of the items.

        At most two blocks per worker run or wait to be taken, which bounds the memory of the results.
        """
        cancel: CancelFlag = np.zeros(1, dtype=np.int64)
        pending: deque[Future[Result]] = deque()
        remaining = iter(items)
        with ThreadPoolExecutor(self.workers, thread_name_prefix=_THREADS_NAME) as pool:

            def submit_one() -> None:
                for item in remaining:
                    pending.append(pool.submit(block, item, cancel))
                    return

            try:
                for _ in range(2 * self.workers):
                    submit_one()
                while pending:
                    result = _wait_interruptibly(pending.popleft())
                    submit_one()
                    yield result
            finally:
                # Also reached on success, when nothing is left to give up.
                cancel[0] = 1
                for future in pending:
                    future.cancel()


def engine_or_threads(engine: object) -> Engine:
    """The engine that was given; None: all cores of this machine."""
    return ThreadEngine() if engine is None else as_engine(engine)


def over_rows(
    work: Callable[[slice], Result], count: int, size: int, *, title: str = "graphs", alone: bool = False
) -> Iterator[Result]:
    """What `work` makes of `count` rows, `size` at a time, in their order, on all cores unless it has to run `alone`.

    What takes long shows a bar on a terminal.

    >>> list(over_rows(lambda rows: rows.stop - rows.start, 10, 4))
    [4, 4, 2]
    """
    parts = [slice(start, min(start + size, count)) for start in range(0, count, size)]
    # A thread of such a pool is one of as many as there are cores already.
    if len(parts) <= 1 or threading.current_thread().name.startswith(_THREADS_NAME):
        yield from map(work, parts)
        return
    with reporter_of_terminal().stage(title, count) as stage:
        results = map(work, parts) if alone else ThreadEngine().run(lambda part, _: work(part), parts)
        for part, result in zip(parts, results, strict=True):
            stage.advance(part.stop - part.start)
            yield result


def _wait_interruptibly(future: Future[Result]) -> Result:
    """Wait in short steps: a thread blocked without a limit does not see Ctrl-C on every system."""
    while not wait([future], timeout=_POLL_SECONDS).done:
        pass
    return future.result()
