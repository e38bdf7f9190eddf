"""Blocks of work one after the other, where they are asked for: within a block of another engine.

A thread for each call would cost more than what is to be done, and more threads than cores nobody needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dagpost.engines.base import CancelFlag, Engine, Item, Result


class InlineEngine(Engine):
    """Runs blocks in the thread that asks for them, under the flag of the block that it is part of.

    >>> list(InlineEngine().run(lambda item, cancel: item**2, [1, 2, 3]))
    [1, 4, 9]
    """

    workers = 1

    def __init__(self, cancel: CancelFlag | None = None) -> None:
        self._cancel: CancelFlag = np.zeros(1, dtype=np.int64) if cancel is None else cancel

    def run(self, block: Callable[[Item, CancelFlag], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Run `block` on every item."""
        for item in items:
            yield block(item, self._cancel)
