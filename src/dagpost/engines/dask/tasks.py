"""Blocks of work that return all they find, such as chains, bootstrap replicates and folds, as tasks of a cluster.

An engine in the sense of engines/interface.py, but for one thing: a block runs in another process, so what it writes to
arrays of the caller is lost. A block is handed over once, however often it is run, and may hold many megabytes.
"""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dagpost.engines.base import CancelFlag, Item, Result
from dagpost.engines.dask.cluster import Cluster, large_graphs, no_cancel
from dagpost.engines.dask.failures import in_plain_words

#: Tasks that are under way or wait to be taken, for each thread of the cluster.
_AHEAD = 3
#: Seconds between two looks at how many threads there are: workers may come late.
_LOOK_SECONDS = 1.0


class Spread:
    """Runs blocks that only return their results on the threads of a cluster."""

    #: Kept in the provenance of what the blocks find.
    name = "dask"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._blocks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @property
    def workers(self) -> int:
        """How many blocks run at the same time."""
        return self._cluster.threads()

    def holds(self, size: int) -> bool:
        """Whether every thread of the cluster has memory for a block of so many bytes."""
        return size <= self._cluster.room().memory_per_thread

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item; results in the order of the items."""
        name = getattr(getattr(block, "func", block), "__name__", "block").strip("_").replace("_", "-")
        remaining = iter(items)
        pending: deque[Any] = deque()

        def fill_up(most: int) -> None:
            while len(pending) < most:
                for item in remaining:
                    with large_graphs():
                        pending.append(self._cluster.submit(name, _call, self._handed_over(block), item))
                    break
                else:
                    return

        try:
            most, looked = _AHEAD * self.workers, time.monotonic()
            fill_up(most)
            while pending:
                # It is pending until it is there: whoever waits for it may be interrupted.
                result = pending[0].result()
                pending.popleft()
                if time.monotonic() - looked > _LOOK_SECONDS:
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

    def _handed_over(self, block: Any) -> Any:
        """The future of a block that is handed over when it is first needed."""
        function = self._blocks.get(block)
        if function is None:
            function = self._blocks[block] = self._cluster.hand_over("block", block)
        return function

    def _give_up(self, block: Any, pending: deque[Any]) -> None:
        """Take tasks back, and the block with them. What runs already runs to its end."""
        futures = [*pending, *filter(None, [self._blocks.pop(block, None)])]
        if self._cluster.client.status == "running":
            self._cluster.client.cancel(futures)

    def __reduce__(self) -> tuple[type[Here], tuple[()]]:
        """On a worker, blocks run where they are: it has one task at a time to see to."""
        return Here, ()


class Here:
    """What a `Spread` is on a worker."""

    workers = 1

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item, one after the other."""
        for item in items:
            yield block(item, no_cancel())


def _call(block: Callable[[Any, CancelFlag], Any], item: Any) -> Any:
    return block(item, no_cancel())
