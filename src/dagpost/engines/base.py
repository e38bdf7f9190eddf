"""What an engine is: it runs one function on many independent blocks of work and returns the results in order.

`workers` and `run` are all that an engine must have. Everything else is a hook with a default: override it where the
engine can do better than threads of this process.

| hook | default |
| --- | --- |
| `tasks` | blocks that only return results run on the engine itself |
| `holds` | a block is not moved to a process of its own |
| `backend` | the exact sums stand in the memory of this process and are taken on the engine's workers |
| `sum_cells` | the scores count on the engine's workers |
| `suits` | `engine="auto"` does not choose the engine |
| `from_name`, `from_handle`, `with_threads` | how `engine=` of a model becomes an engine |
| `close` | there is nothing to close |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import shown
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.engines.host.backend import ExactBackend
    from dagpost.scores.cells import CellFunction
    from dagpost.scores.rows import Rows

Item = TypeVar("Item")
Result = TypeVar("Result")

#: One element: not 0 once the work should stop. Kernels look at it between blocks.
CancelFlag = NDArray[np.int64]


class Engine(ABC):
    """Runs blocks of work; derive from it to bring an engine of your own.

    >>> class OneByOne(Engine):
    ...     name, workers = "one-by-one", 1
    ...
    ...     def __init__(self, threads=None): ...
    ...
    ...     def run(self, block, items):
    ...         for item in items:
    ...             yield block(item, np.zeros(1, dtype=np.int64))
    >>> list(OneByOne().run(lambda item, cancel: item**2, [1, 2, 3]))
    [1, 4, 9]
    """

    #: What `engine=` and `--engine` call it, and what chains and replicates say they ran on; exact sums name their
    #: back end.
    name: ClassVar[str] = "threads"
    #: A few words for the command line.
    summary: ClassVar[str] = ""
    #: How many blocks run at the same time.
    workers: int

    @abstractmethod
    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Call `block(item, cancel)` for every item, in any order; yield the results in the order of the items.

        What a caller sums from the results then does not depend on the number of workers, and the caller knows how far
        the work is. Blocks of one call write to shared arrays, each to its own part, and read only what earlier calls
        have finished. On an interrupt, set `cancel[0]`, wait until the running blocks have returned (kernels look at
        the flag several times a second), and raise the interrupt again.
        """

    @property
    def tasks(self) -> Engine:
        """Where blocks run that only return results and write to no array of the caller: chains, replicates, folds."""
        return self

    def holds(self, size: int) -> bool:
        """Whether a block that takes `size` bytes can run in a process of its own, without the other workers."""
        del size
        return False

    def backend(self) -> ExactBackend | None:
        """The engine's own exact sums; None: those of the host, on the workers of this engine."""
        return None

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> NDArray[np.float64] | None:
        """The sums that scores of discrete data are made of, for every set of at most `max_size` columns.

        Row 0 has the sum of each set by its number, the other rows the variants that `cells` asks for
        (scores/cells.py). None: the scores count on the workers of this engine.
        """
        del rows, cells, max_size
        return None

    @classmethod
    def suits(cls, nodes: int) -> bool:
        """Whether `engine="auto"` chooses this engine for a table of `nodes` variables."""
        del nodes
        return False

    @classmethod
    def from_name(cls, threads: int | None) -> Engine:
        """The engine that its name stands for; `threads` is the number of threads of this process, None: all cores."""
        return cls(threads)  # type: ignore[call-arg]

    @classmethod
    def from_handle(cls, handle: Any) -> Engine | None:
        """The engine that works through an object of another library, such as a Dask client; None if it does not."""
        del handle
        return None

    def with_threads(self, threads: int | None) -> Engine:
        """The engine to use when a model that holds this one also names a number of threads; None: it names none."""
        del threads
        return self

    @property
    def closed(self) -> bool:
        """Whether `close` was called; what a model still has to compute then runs on threads."""
        return False

    def close(self) -> None:
        """Release what the engine holds; it is not used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Adapted(Engine):
    """An object that has `workers` and `run`, with the defaults of `Engine` for the rest."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    @property
    def workers(self) -> int:  # type: ignore[override]
        return int(self._engine.workers)

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        results: Iterator[Result] = self._engine.run(block, items)
        return results


def as_engine(engine: Any) -> Engine:
    """An `Engine` as it is; any other object that has `workers` and `run` as one."""
    if isinstance(engine, Engine):
        return engine
    if hasattr(engine, "workers") and callable(getattr(engine, "run", None)):
        return _Adapted(engine)
    raise InputError(f"An engine must have 'workers' and 'run', as ThreadEngine() does. Got {shown(engine)} instead.")
