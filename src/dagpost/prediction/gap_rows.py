"""Rows with gaps: which of them can be predicted at all, and those whose gaps have few completions.

The probability of the observed cells of a row is the sum, over all ways to fill its gaps, of that of the whole row; and
averaging over graphs is linear, so that a few completions are predicted as rows of their own and added up. Rows have
many completions in common, and each is predicted once. Rows whose completions are many are summed graph by graph
(gap_patterns.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.text import shortened
from dagpost.errors import warn
from dagpost.families.masks import distinct_rows
from dagpost.prediction.rows import NewRows

#: Completions that are predicted together.
_TOGETHER = 2**18


class PatternRows(NamedTuple):
    """Rows in which the same columns are missing, and the same were set."""

    gaps: int
    given: int
    rows: Integers


def gap_masks(rows: NewRows) -> Masks:
    """Bit i of the mask of a row is set where column i has no value."""
    masks = np.zeros(rows.gaps.shape[1], dtype=np.uint64)
    for node in np.flatnonzero(rows.gaps.any(axis=1)):
        masks |= rows.gaps[node].astype(np.uint64) << np.uint64(node)
    return masks


def without_prediction(rows: NewRows, masks: Masks, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """The rows in which a column has no value that is exogenous, or was set: nothing says what it might be."""
    lacking = masks & rows.interventions
    without: NDArray[np.bool_] = lacking != 0
    # Rows without any cell stand for rows that could not be made; who made them has said so.
    told = without & ~rows.gaps.all(axis=0)
    if told.any():
        columns = [
            f"{name!r} ({int(found.sum()):,})"
            for node, name in enumerate(names)
            if (found := told & (lacking >> np.uint64(node) & np.uint64(1) == 1)).any()
        ]
        warn(
            f"{int(told.sum()):,} of {len(masks):,} rows, the first in row {int(told.argmax()) + 1} (the first row is "
            f"row 1), have no value in {shortened(columns)}: exogenous or set in these rows, so that nothing says what "
            "it might be. They get no prediction (nan)."
        )
    return without


def patterns_in(masks: Masks, given: Masks, chosen: Integers) -> list[PatternRows]:
    """Some rows by what is missing and what was set."""
    both = np.column_stack([masks[chosen], given[chosen]])
    distinct, member = np.unique(both, axis=0, return_inverse=True)
    order = np.argsort(member.reshape(-1), kind="stable")
    borders = np.cumsum(np.bincount(member.reshape(-1), minlength=len(distinct)))[:-1]
    pieces = np.split(chosen[order], borders) if len(distinct) else []
    return [PatternRows(int(pair[0]), int(pair[1]), own) for pair, own in zip(distinct, pieces, strict=True)]


class Completions(NamedTuple):
    """Complete rows, each once, and which of them the rows that are asked about are the sums of."""

    rows: NewRows
    owners: Integers
    #: Where the completions of each owner begin in `members`, which says which row each is.
    begins: Integers
    members: Integers

    def added_up(self, log_totals: Floats) -> Floats:
        """The logs of the sums of all owners, from those of the rows, as (levels, owners)."""
        result: Floats = np.logaddexp.reduceat(log_totals[:, self.members], self.begins, axis=1)
        return result


def few_completions(
    rows: NewRows, patterns: list[PatternRows], arities: tuple[int, ...], few: int
) -> tuple[Iterator[Completions], list[PatternRows]]:
    """The rows whose gaps have few completions, batch by batch, and the patterns that are left."""
    if not any(arities):
        return iter(()), patterns
    sizes = [_completions(pattern, arities) * len(pattern.rows) for pattern in patterns]
    chosen = [pattern for pattern, size in zip(patterns, sizes, strict=True) if size <= few]
    others = [pattern for pattern, size in zip(patterns, sizes, strict=True) if size > few]
    return _batches(rows, chosen, arities), others


def _completions(pattern: PatternRows, arities: tuple[int, ...]) -> float:
    missing = [float(arity) for node, arity in enumerate(arities) if pattern.gaps >> node & 1]
    return float(np.prod(missing))


def _batches(rows: NewRows, patterns: list[PatternRows], arities: tuple[int, ...]) -> Iterator[Completions]:
    batch: list[PatternRows] = []
    size = 0.0
    for pattern in patterns:
        size += _completions(pattern, arities) * len(pattern.rows)
        batch.append(pattern)
        if size > _TOGETHER:
            yield _completed(rows, batch, arities)
            batch, size = [], 0.0
    if batch:
        yield _completed(rows, batch, arities)


def _completed(rows: NewRows, patterns: list[PatternRows], arities: tuple[int, ...]) -> Completions:
    cells, counts = [], []
    for pattern in patterns:
        missing = [node for node in range(len(arities)) if pattern.gaps >> node & 1]
        choices = [arities[node] for node in missing]
        levels = np.indices(choices).reshape(len(missing), math.prod(choices))
        own = np.repeat(rows.cells[:, pattern.rows], levels.shape[1], axis=1)
        own[missing] = np.tile(levels, len(pattern.rows))
        cells.append(own)
        counts.append(np.full(len(pattern.rows), levels.shape[1]))
    owners, sizes = np.concatenate([pattern.rows for pattern in patterns]), np.concatenate(counts)
    all_cells = np.concatenate(cells, axis=1)
    masks = np.repeat(rows.interventions[owners], sizes)
    words = np.ascontiguousarray(masks).view(np.int32).reshape(-1, 2)
    first, member = distinct_rows(np.column_stack([all_cells.T, words]))
    chosen = np.ascontiguousarray(all_cells[:, first])
    distinct = NewRows(chosen, masks[first], np.zeros(chosen.shape, dtype=np.bool_))
    return Completions(distinct, owners, np.cumsum(sizes) - sizes, member)
