"""Small random tables with gaps, whose posterior can be summed over every completion."""

from __future__ import annotations

import numpy as np

from dagpost.data.table import Table


def levels_table(
    seed: int,
    columns: int = 4,
    rows: int = 14,
    gaps: int = 5,
    *,
    most_levels: int = 2,
    completions: int = 4_096,
    counted: bool = False,
    experiments: bool = False,
) -> Table:
    """Codes in which each column follows one before it; at most `gaps` gaps and so many completions.

    `counted` rows stand for one to three observations; in `experiments` some cells were set, which are not gaps.
    """
    rng = np.random.default_rng([seed, columns, rows])
    arities = rng.integers(2, most_levels + 1, size=columns)
    codes = np.zeros((columns, rows), dtype=np.uint8)
    for column in range(columns):
        codes[column] = rng.integers(arities[column], size=rows)
        if column:
            follows = rng.random(rows) < 0.7
            codes[column, follows] = codes[rng.integers(column), follows] % arities[column]
    counts = rng.integers(1, 4, size=rows) if counted else np.ones(rows, dtype=np.int64)
    was_set = rng.random((columns, rows)) < (0.15 if experiments else 0.0)
    holes, left = np.zeros((columns, rows), dtype=bool), float(completions)
    for place in rng.permutation(columns * rows):
        column, row = divmod(int(place), rows)
        # A row is written out as often as it counts, each time with cells of its own.
        ways = float(arities[column]) ** counts[row]
        if was_set[column, row] or ways > left or (holes * counts).sum() + counts[row] > gaps:
            continue
        holes[column, row] = True
        left /= ways
    codes[holes] = 0
    masks = (was_set * (1 << np.arange(columns))[:, None]).sum(axis=0).astype(np.uint64)
    return Table(
        tuple("ABCDEF"[:columns]),
        tuple(codes),
        tuple(tuple(range(arity)) for arity in arities.tolist()),
        counts=counts if counted else None,
        interventions=masks if experiments else None,
        gaps=holes,
    )


def numbers_table(seed: int, columns: int = 4, rows: int = 15, gaps: int = 2) -> Table:
    """Numbers in which each column follows one before it, in units of its own."""
    rng = np.random.default_rng([seed, columns, rows, gaps])
    values = rng.normal(size=(columns, rows))
    for column in range(1, columns):
        values[column] += rng.normal() * values[rng.integers(column)]
    values = values * rng.uniform(0.5, 4.0, size=(columns, 1)) + rng.normal(size=(columns, 1))
    holes = (rng.permutation(columns * rows) < gaps).reshape(columns, rows)
    values[holes] = np.nan
    return Table(tuple("ABCDEF"[:columns]), tuple(values), (None,) * columns, gaps=holes)


def mixed_table(
    seed: int,
    kinds: tuple[int, ...] = (2, 2, 0, 0),
    rows: int = 14,
    *,
    level_gaps: int = 3,
    number_gaps: int = 1,
    counted: bool = False,
    experiments: bool = False,
) -> Table:
    """Columns of so many levels each, 0 for numbers, each of which follows one before it.

    The first gap of a number is in a row that lacks a level too. Numbers differ in mean and in slope between levels.
    """
    rng = np.random.default_rng([seed, rows, *kinds])
    columns: list[np.ndarray] = []
    for place, arity in enumerate(kinds):
        other = columns[rng.integers(place)] if place else np.zeros(rows)
        if arity:
            codes = rng.integers(arity, size=rows)
            follows = (rng.random(rows) < 0.7) & (place > 0)
            columns.append(np.where(follows, other.astype(int) % arity, codes).astype(np.uint8))
        else:
            levels = columns[rng.integers(sum(kind > 0 for kind in kinds[:place]))]
            slope = rng.normal(size=2)[levels % 2]
            columns.append((rng.normal(size=rows) + slope * other + rng.normal() * levels) * rng.uniform(0.5, 4.0))
    counts = rng.integers(1, 4, size=rows) if counted else np.ones(rows, dtype=np.int64)
    was_set = rng.random((len(kinds), rows)) < (0.15 if experiments else 0.0)
    holes, is_number = np.zeros((len(kinds), rows), dtype=bool), np.array(kinds) == 0
    for wanted, own in ((level_gaps, ~is_number), (number_gaps, is_number)):
        free = own[:, None] & ~was_set & (counts == 1)
        places = rng.permutation(np.argwhere(free & (holes.any(axis=0) | (own[0] == (not is_number[0])))))
        places = np.concatenate([places, rng.permutation(np.argwhere(free))])
        for column, row in places.tolist():
            if holes[own].sum() < wanted:
                holes[column, row] = True
    for column, own in zip(columns, holes, strict=True):
        column[own] = np.nan if column.dtype.kind == "f" else 0
    masks = (was_set * (1 << np.arange(len(kinds)))[:, None]).sum(axis=0).astype(np.uint64)
    return Table(
        tuple("ABCDEF"[: len(kinds)]),
        tuple(columns),
        tuple(tuple(range(arity)) if arity else None for arity in kinds),
        counts=counts if counted else None,
        interventions=masks if experiments else None,
        gaps=holes,
    )
