"""An engine of our own: one block after the other, in the thread that asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dagpost import Engine


class OneByOne(Engine):
    """Runs every block where it is called, and counts them."""

    name = "one-by-one"
    summary = "a toy: one block after the other"
    workers = 1
    #: Of all engines of this kind in this process.
    blocks = 0

    def __init__(self, threads: int | None = None) -> None:
        del threads

    def run(self, block: Any, items: Any) -> Iterator[Any]:
        cancel = np.zeros(1, dtype=np.int64)
        for item in items:
            type(self).blocks += 1
            yield block(item, cancel)
