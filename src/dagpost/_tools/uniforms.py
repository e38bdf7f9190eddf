"""Uniform random numbers, one row for each sample, that depend on the seed and the number of the sample alone.

Every block of `SEED_BLOCK` rows has a seed of its own. So the first N rows of 2N are the N rows that a request for N
gives; how many are made at a time, or by which thread, changes nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Samples that share one seed.
SEED_BLOCK = 1024


def row_blocks(count: int, most_rows: int) -> list[slice]:
    """`count` rows, at most `most_rows` (whole blocks of seeds) at a time.

    >>> row_blocks(2500, 2048)
    [slice(0, 2048, None), slice(2048, 2500, None)]
    """
    return [slice(start, min(start + most_rows, count)) for start in range(0, count, most_rows)]


def uniform_rows(seed: np.random.SeedSequence, rows: slice, columns: int) -> NDArray[np.float64]:
    """Some rows of uniform numbers, one block of `row_blocks`."""
    numbers = np.empty((rows.stop - rows.start, columns))
    for begin in range(0, len(numbers), SEED_BLOCK):
        block = (rows.start + begin) // SEED_BLOCK
        child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, block))
        np.random.default_rng(child).random(out=numbers[begin : begin + SEED_BLOCK])
    return numbers
