"""Counting by bits: which observations have a level is a row of bits, and counting is `and` and the number of ones.

A set of columns has one bitmap for each configuration that occurs. With one more column of `r` levels, the counts of
the larger set take `r - 1` passes over each of these, 64 observations at a time; the last level has what is left. That
beats a pass over the rows as long as there are few configurations, which is so where nearly all sets are: a thousand
rows of four binary columns take 128 words in place of a thousand rows. The cells come out in the order in which
counting.py sweeps them, so both ways give the same sums to the last bit.

Memory: a bit for each observation and level but one of every column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Counts, Integers, Masks
from dagpost._tools.bits import ones_in
from dagpost._tools.kernels import copy_into, inline_no_refcount
from dagpost.scores.rows import Rows

#: Configurations beyond this many are never counted by bits: the rows, of which a word has 64, are as quick then.
MOST_LABELS = 64
#: Columns of more levels than this are counted row by row.
_MOST_LEVELS = 16
_MOST_BYTES = 64 * 2**20
#: Equal rows are one row with a weight; bits are counted one by one. Where rows repeat more often, bits do not pay.
_MOST_REPEATS = 4


class Bitmaps(NamedTuple):
    """`planes[first[p] + c]` marks the observations in which the column at position `p` has the code `c`.

    The last code of each column is left out. `first[p]` is -1 where the column has no bitmaps; `most` is the largest
    number of bitmaps of a column, or 0 where some column has none.
    """

    planes: Masks
    first: Integers
    everyone: Masks
    observations: int
    most: int


def bitmaps_of(rows: Rows) -> Bitmaps:
    """The bitmaps of a table; without any words where they would be too large, or of no use."""
    observations, distinct = int(rows.weights.sum()), rows.weights.size
    few = rows.arities <= _MOST_LEVELS
    own = np.where(few, rows.arities - 1, 0)
    words = -(-observations // 64)
    if observations > _MOST_REPEATS * distinct or int(own.sum()) * words * 8 > _MOST_BYTES:
        nobody = np.zeros(0, dtype=np.uint64)
        return Bitmaps(nobody.reshape(0, 0), np.full(len(few), -1, dtype=np.int64), nobody, observations, 0)
    repeated = np.repeat(np.arange(distinct), rows.weights)
    planes = np.zeros((int(own.sum()), words), dtype=np.uint64)
    first = np.where(few, np.cumsum(own) - own, -1)
    for position in np.flatnonzero(few).tolist():
        codes = rows.codes[position][repeated]
        for code in range(int(own[position])):
            planes[first[position] + code] = _packed(codes == code, words)
    everyone = _packed(np.ones(observations, dtype=np.bool_), words)
    return Bitmaps(planes, first, everyone, observations, int(own.max()) if few.all() else 0)


def _packed(flags: np.ndarray, words: int) -> Masks:
    filled = np.zeros(64 * words, dtype=np.bool_)
    filled[: len(flags)] = flags
    return np.packbits(filled).view(np.uint64)


@inline_no_refcount
def count_bits(
    position: int,
    arity: int,
    label_count: int,
    bits: Bitmaps,
    bitmaps: Masks,
    sizes: Counts,
    keep: bool,
    new_bitmaps: Masks,
    new_sizes: Counts,
    occupied: Counts,
) -> np.int64:
    """Count the cells of the column at `position` for each label; the occupied ones get the new labels 0, 1, 2, ...

    `bitmaps` has those of the labels one after the other; those of the new labels are made only if asked to `keep`
    them.
    """
    words = bits.everyone.size
    first = bits.first[position]
    found = 0
    for label in range(label_count):
        begin = label * words
        # Named first, so that the compiler sees that no index is negative, and makes vectors of the loop.
        own = bitmaps[begin : begin + words]
        left = sizes[label]
        for code in range(arity):
            count = left
            if code + 1 < arity:
                plane = bits.planes[first + code]
                ones = np.uint64(0)
                for word in range(words):
                    ones += ones_in(own[word] & plane[word])
                count = np.uint32(ones)
                left -= count
            occupied[found] = count
            if keep and count > 0:
                new_sizes[found] = count
                _mark(position, code, arity, bits, own, new_bitmaps[found * words : (found + 1) * words])
            found += 1 if count > 0 else 0
    return np.int64(found)


@inline_no_refcount
def _mark(position: int, code: int, arity: int, bits: Bitmaps, own: Masks, result: Masks) -> None:
    """The observations of a label that have this code."""
    first = bits.first[position]
    if code + 1 < arity:
        plane = bits.planes[first + code]
        for word in range(len(result)):
            result[word] = own[word] & plane[word]
        return
    copy_into(result, own)
    for other in range(arity - 1):
        plane = bits.planes[first + other]
        for word in range(len(result)):
            result[word] &= ~plane[word]
