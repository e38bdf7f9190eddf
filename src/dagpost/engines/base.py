"""What every engine offers: run one function on many independent blocks and hand back the results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
Result = TypeVar("Result")

#: One element; not 0 once the work is to be given up. Kernels look at it between blocks.
CancelFlag = NDArray[np.int64]


class Engine(Protocol):
    """Runs blocks of work.

    Blocks of one call write to shared arrays, each to its own part, and read only what earlier calls have finished;
    they return what the caller is to sum up.

    `run(block, items)` calls `block(item, cancel)` for every item, in any order and at the same time, and yields the
    results in the order of the items, so that what is summed from them never depends on the number of workers, and the
    caller can tell how far the work has come. An interrupt raises `cancel[0]`, waits until the running
    blocks have returned (kernels look at the flag several times a second), and then goes on as usual.
    """

    @property
    def workers(self) -> int:
        """How many blocks run at the same time."""
        ...

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item; results in the order of the items."""
        ...


def spread_of(engine: Engine) -> Engine:
    """Where blocks may run that only return what they find and write to no array of the caller's.

    An engine that has other processes offers them as `spread`.
    """
    spread: Engine = getattr(engine, "spread", engine)
    return spread


def spread_name(engine: Engine) -> str:
    """What ran blocks that were handed to `spread_of`, for the provenance of what they found."""
    return str(getattr(spread_of(engine), "name", "threads"))
