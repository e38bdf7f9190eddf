"""Blocks of work that return all they find (chains, bootstrap replicates, folds) as tasks of a cluster.

`Tasks` is an engine in the sense of engines/base.py with one restriction: a block runs in another process, so what it
writes to arrays of the caller is lost. The function is handed over once, however often it runs, and may hold many
megabytes.
"""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dagpost.engines.base import CancelFlag, Engine, Item, Result
from dagpost.engines.dask.cluster import Cluster, large_graphs, no_cancel
from dagpost.engines.dask.failures import in_plain_words
from dagpost.engines.inline import InlineEngine

#: Tasks that run or wait to be taken, for each thread of the cluster.
_AHEAD = 3


class Tasks(Engine):
    """Runs blocks that only return their results on the threads of a cluster.

    Workers may come late: the number of threads is looked up again every `look_seconds`.
    """

    name = "dask"

    def __init__(self, cluster: Cluster, *, look_seconds: float = 1.0) -> None:
        self._cluster, self._look_seconds = cluster, look_seconds
        self._handed_over: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """How many blocks run at the same time."""
        return self._cluster.threads()

    def holds(self, size: int) -> bool:
        """Whether every thread of the cluster has memory for a block of `size` bytes."""
        return size <= self._cluster.room().memory_per_thread

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item; results in the order of the items."""
        name = getattr(getattr(block, "func", block), "__name__", "work").strip("_").replace("_", "-")
        remaining = iter(items)
        pending: deque[Any] = deque()

        def fill_up(most: int) -> None:
            while len(pending) < most:
                for item in remaining:
                    with large_graphs():
                        pending.append(self._cluster.submit(name, _call, self._hand_over(block), item))
                    break
                else:
                    return

        try:
            most, looked = _AHEAD * self.workers, time.monotonic()
            fill_up(most)
            while pending:
                # A task stays among the pending ones until its result is here: waiting for it may be interrupted.
                result = self._cluster.result(pending[0])
                pending.popleft()
                if time.monotonic() - looked > self._look_seconds:
                    most, looked = _AHEAD * self.workers, time.monotonic()
                fill_up(most)
                yield result
        except (Exception, CancelledError) as error:
            plain = in_plain_words(error, self._cluster.address)
            if plain is None:
                raise
            raise plain from error
        finally:
            if pending:
                self._give_up(block, pending)

    def _hand_over(self, function: Any) -> Any:
        """The future of a function, which is handed over when it is first needed."""
        future = self._handed_over.get(function)
        if future is None:
            future = self._handed_over[function] = self._cluster.hand_over("function", function)
        return future

    def _give_up(self, function: Any, pending: deque[Any]) -> None:
        """Take tasks back, and the function with them. A task that has begun runs to its end."""
        futures = [*pending, *filter(None, [self._handed_over.pop(function, None)])]
        if self._cluster.client.status == "running":
            self._cluster.client.cancel(futures)

    def __reduce__(self) -> tuple[type[InlineEngine], tuple[()]]:
        """On a worker, blocks run where they are: a worker has one task at a time to see to."""
        return InlineEngine, ()


def _call(function: Callable[[Any, CancelFlag], Any], item: Any) -> Any:
    return function(item, no_cancel())
