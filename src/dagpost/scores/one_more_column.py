"""How the rows of discrete columns are labelled by the columns of a set, and counted with one more column.

Walks over all sets (counting.py) are for tables whose families can all be scored. Where the sets are listed, the rows
keep their labels for the columns that a set shares with the one before it; every further column costs one count, over
the rows or by bits as in counting.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dagpost._tools.kernels import inline_no_refcount
from dagpost.scores.bitmaps import MOST_LABELS, Bitmaps, count_bits
from dagpost.scores.counting import Scratch, label_rows
from dagpost.scores.rows import Rows

#: A word of a bitmap is counted in half the time of a row.
_WORDS_A_ROW = 2


@inline_no_refcount
def count_with(
    level: int, count: Any, position: int, by_bits: bool, rows: Rows, bits: Bitmaps, scratch: Scratch
) -> np.int64:
    """Count the cells of a level with one more column; the occupied ones end up in `scratch.occupied`."""
    arity, spare = rows.arities[position], scratch.labels.shape[0] - 1
    words = count * (arity - 1) * bits.everyone.size
    if by_bits and bits.first[position] >= 0 and words <= _WORDS_A_ROW * rows.weights.size:
        bitmaps, sizes = scratch.bitmaps[level], scratch.sizes[level]
        unused, unused_sizes = scratch.bitmaps[spare], scratch.sizes[spare]
        return count_bits(position, arity, count, bits, bitmaps, sizes, False, unused, unused_sizes, scratch.occupied)
    return label_rows(level, count, position, False, rows, scratch)


@inline_no_refcount
def add_column(
    level: int, count: Any, position: int, by_bits: bool, rows: Rows, bits: Bitmaps, scratch: Scratch
) -> tuple[np.int64, Any]:
    """Labels of the next level, and its bitmaps as long as there are few of them; whether it has these."""
    found = label_rows(level, count, position, True, rows, scratch)
    useful = by_bits and bits.first[position] >= 0 and found <= MOST_LABELS and count * rows.arities[position] <= 4096
    if useful:
        bitmaps, sizes = scratch.bitmaps[level], scratch.sizes[level]
        new_bitmaps, new_sizes = scratch.bitmaps[level + 1], scratch.sizes[level + 1]
        arity = rows.arities[position]
        count_bits(position, arity, count, bits, bitmaps, sizes, True, new_bitmaps, new_sizes, scratch.occupied)
    return found, useful


@inline_no_refcount
def with_column(configurations: float, position: int, indicators: int, rows: Rows) -> float:
    """The configurations of a set that has so many indicators already, with one more column."""
    if rows.exclusive[position]:
        return configurations / (indicators + 1) * (indicators + 2)
    return configurations * float(rows.arities[position])
