"""Blocks of work that return all they find, such as chains and bootstrap replicates, as tasks of a cluster.

An engine in the sense of engines/interface.py, but for one thing: a block runs in another process, so what it writes to
arrays of the caller is lost. A block is handed over once, however often it is run, and may hold many megabytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dagpost.engines.dask.cluster import Cluster, large_graphs, no_cancel
from dagpost.engines.interface import CancelFlag, Item, Result

#: Tasks that are under way or wait to be taken, for each thread of the cluster.
_AHEAD = 3


class Spread:
    """Runs blocks that only return their results on the threads of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._blocks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @property
    def workers(self) -> int:
        """How many blocks run at the same time."""
        return self._cluster.threads()

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item; results in the order of the items."""
        function = self._blocks.get(block)
        if function is None:
            function = self._blocks[block] = self._cluster.hand_over("block", block)
        name = getattr(block, "__name__", "block").strip("_").replace("_", "-")
        remaining = iter(items)
        pending: deque[Any] = deque()

        def submit_one() -> None:
            for item in remaining:
                with large_graphs():
                    pending.append(self._cluster.submit(name, _call, function, item))
                return

        try:
            for _ in range(_AHEAD * self.workers):
                submit_one()
            while pending:
                result = pending.popleft().result()
                submit_one()
                yield result
        finally:
            # Reached on success as well, when nothing is left to give up. What runs already runs to its end.
            if pending:
                self._cluster.client.cancel(list(pending))

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
