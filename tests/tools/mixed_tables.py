"""Random tables with columns of levels and of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from dagpost.data.table import Table


def mixed_table(
    arities: tuple[int, ...], rows: int, seed: int, *, extra: bool = False, gaps: float = 0.0, **more: Any
) -> Table:
    """Related columns, of so many levels or, for 0, of numbers; `extra`: with counts and interventions.

    With `gaps`, that share of the cells has no value; then there are no counts.
    """
    generator = np.random.default_rng(seed)
    nodes = len(arities)
    values = generator.normal(size=(rows, nodes))
    values[:, 1:] += values[:, :-1] * generator.normal(size=nodes - 1)
    columns: list[np.ndarray] = []
    for place, arity in enumerate(arities):
        if arity:
            columns.append(np.clip(np.floor(values[:, place]) + arity // 2, 0, arity - 1).astype(np.uint8))
        else:
            unit, mean = (
                generator.choice([0.0, 0.01, 1.0, 300.0], p=[0.05, 0.25, 0.5, 0.2]),
                generator.choice([0.0, 5.0]),
            )
            columns.append(values[:, place] * unit + mean)
    if extra:
        if not gaps:
            more["counts"] = generator.integers(0, 4, rows) + (np.arange(rows) == 0)
        more["interventions"] = generator.integers(0, 1 << nodes, rows, dtype=np.uint64)
        more["interventions"] &= generator.integers(0, 1 << nodes, rows, dtype=np.uint64)
    if gaps:
        missing = generator.random((nodes, rows)) < gaps
        for column, own in zip(columns, missing, strict=True):
            column[own] = np.nan if column.dtype.kind == "f" else 0
        more["gaps"] = missing
    levels = tuple(tuple(range(arity)) if arity else None for arity in arities)
    return Table(tuple(f"v{node}" for node in range(nodes)), tuple(columns), levels, **more)


@st.composite
def mixed_tables(draw: st.DrawFn, largest: int = 5) -> Table:
    """Tables of any kinds of columns, with rows that count and were intervened on, or not."""
    arities = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 3, 7]), min_size=1, max_size=largest))
    seed, rows = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 30))
    return mixed_table(tuple(arities), rows, seed, extra=draw(st.booleans()))
