"""The distinct rows of a discrete table, laid out for counting.

Equal rows become one row with a weight. Columns that say least stand first, so that few rows are told apart early.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Codes, Counts, Flags, Integers
from dagpost._tools.kernels import kernel
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES

_MOST_CELLS = 2**22
_MOST_OBSERVATIONS = 2**32 - 1
_MOST_LEVELS = 2**16
_UNSEEN = np.uint32(2**32 - 1)


class Rows(NamedTuple):
    """Distinct rows with their weights; columns stand by position, and `order[position]` is the node."""

    codes: Codes
    arities: Integers
    order: Integers
    weights: Counts
    #: Indicators of which at most one is 1 in a row: `t` of them have `t + 1` configurations.
    exclusive: Flags
    #: How many other columns, and how many of these, a set of interest has at most.
    limits: Integers


def check_countable(names: tuple[str, ...], arities: tuple[int, ...], observations: int) -> None:
    """Refuse what does not fit into the counters: more than 65,536 levels or 4,294,967,295 observations."""
    for name, arity in zip(names, arities, strict=True):
        if arity > _MOST_LEVELS:
            raise InputError(
                f"Column {name!r} has {arity:,} levels; discrete scores take at most {_MOST_LEVELS:,}. "
                "Drop the column if it is an identifier, or discretise it."
            )
    if observations > _MOST_OBSERVATIONS:
        raise InputError(
            f"The table stands for {observations:,} observations; discrete scores take at most "
            f"{_MOST_OBSERVATIONS:,}. Scale the counts down."
        )


def distinct_rows(
    codes: NDArray[np.unsignedinteger],
    weights: Integers,
    arities: tuple[int, ...],
    wanted: tuple[int, ...],
    exclusive: Flags | None = None,
    limits: tuple[int, int] | None = None,
) -> Rows:
    """Merge equal rows of `codes` (columns by rows); the `wanted` columns get the top positions."""
    order = _order_of(codes, wanted)
    row_count = codes.shape[1]
    numbers, distinct = np.zeros(row_count, dtype=np.uint32), 1
    for node in order:
        if distinct == row_count:
            break
        numbers, distinct = number_configurations(numbers, codes[node], arities[node], distinct)
    representatives = np.empty(distinct, dtype=np.int64)
    # Written backwards, so that the first of equal rows stays.
    representatives[numbers[::-1]] = np.arange(row_count - 1, -1, -1)
    merged = np.bincount(numbers, weights=weights, minlength=distinct)
    # Column by column, so that no second copy of the whole table is made.
    laid_out = np.empty((len(order), distinct), dtype=np.uint16)
    for position, node in enumerate(order):
        laid_out[position] = codes[node][representatives]
    return Rows(
        codes=laid_out,
        arities=np.array([arities[node] for node in order], dtype=np.int64),
        order=np.array(order, dtype=np.int64),
        weights=merged.astype(np.uint32),
        exclusive=np.zeros(len(order), dtype=np.bool_) if exclusive is None else exclusive[order],
        # One more than parents: the column whose parents they are.
        limits=np.array([len(order)] * 2 if limits is None else [limits[0] + 1, limits[1]], dtype=np.int64),
    )


def _order_of(codes: NDArray[np.unsignedinteger], wanted: tuple[int, ...]) -> list[int]:
    def information(node: int) -> float:
        counts = np.bincount(codes[node])
        share = counts[counts > 0] / codes.shape[1]
        return float(-(share * np.log(share)).sum())

    chosen, columns = set(wanted), range(codes.shape[0])
    if len(columns) > MAX_NODES:
        # Rows of so many columns hardly ever agree, and in this order sets have numbers in a row.
        return sorted(columns, key=lambda node: node in chosen)
    return sorted(columns, key=lambda node: (node in chosen, information(node)))


def number_configurations(
    numbers: Counts, column: NDArray[np.unsignedinteger], arity: int, count: int
) -> tuple[Counts, int]:
    """Number the configurations of the columns so far with one more column, in the order they occur."""
    if count * arity <= _MOST_CELLS:
        result = np.empty_like(numbers)
        seen = np.full(count * arity, _UNSEEN, dtype=np.uint32)
        return result, int(_renumber(numbers, column.astype(np.uint16), arity, seen, result))
    keys = numbers.astype(np.int64) * arity + column
    values, inverse = np.unique(keys, return_inverse=True)
    return inverse.astype(np.uint32), len(values)


@kernel
def _renumber(numbers: Counts, column: Codes, arity: int, seen: Counts, result: Counts) -> np.int64:
    found = np.uint32(0)
    for row in range(numbers.size):
        key = numbers[row] * np.uint64(arity) + column[row]
        if seen[key] == _UNSEEN:
            seen[key] = found
            found += np.uint32(1)
        result[row] = seen[key]
    return np.int64(found)
