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
