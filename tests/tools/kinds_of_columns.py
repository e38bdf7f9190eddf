"""Random tables with columns of every kind that the additive score tells apart, related to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from dagpost.data.files import MISSING_LEVEL
from dagpost.data.table import Table

#: What a column may be, and into how many levels it is cut, where it is.
KINDS = {
    "number": 0,
    "rounded": 0,
    "mostly zero": 0,
    "constant number": 0,
    "nominal": 4,
    "ordered": 5,
    "declared": 4,
    "codes": 4,
    "binary": 2,
    "with a level for gaps": 5,
    "constant level": 1,
}
Column = tuple[NDArray[Any], tuple[object, ...] | None]


def column_of(kind: str, values: NDArray[np.float64]) -> Column:
    """A column that follows some numbers, and its levels; those that are far out need not occur."""
    if kind == "number":
        return values * 300.0 + 7.0, None
    if kind == "rounded":
        return np.round(values * 2.0), None
    if kind == "mostly zero":
        return np.maximum(values - 0.3, 0.0), None
    if kind == "constant number":
        return np.full(len(values), 7.0), None
    count = KINDS[kind]
    codes = np.clip(np.floor(values * 1.3) + count // 2, 0, count - 1).astype(np.uint8)
    if kind == "with a level for gaps":
        return codes, (*range(count - 1), MISSING_LEVEL)
    numeric = kind in ("ordered", "codes")
    return codes, tuple(level if numeric else f"{kind} {'dbacefgh'[level]}" for level in range(count))


def table_of_kinds(kinds: tuple[str, ...], rows: int, seed: int, *, extra: bool = False, **more: Any) -> Table:
    """A table whose columns follow the one before by a line and a curve; `extra`: counts, some 0, and interventions."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(len(kinds), rows))
    for place in range(1, len(kinds)):
        line, curve = generator.normal(size=2)
        values[place] += line * values[place - 1] + curve * 0.5 * values[place - 1] ** 2
    made = [column_of(kind, own) for kind, own in zip(kinds, values, strict=True)]
    names = tuple(f"v{place}" for place in range(len(kinds)))
    if extra:
        more["counts"] = generator.integers(0, 4, rows) + (np.arange(rows) == 0)
        masks = generator.integers(0, 1 << len(kinds), (2, rows), dtype=np.uint64)
        more["interventions"] = masks[0] & masks[1]
    return Table(
        names,
        tuple(column for column, _ in made),
        tuple(levels for _, levels in made),
        in_order=tuple(name for name, kind in zip(names, kinds, strict=True) if kind == "declared"),
        unordered=tuple(name for name, kind in zip(names, kinds, strict=True) if kind == "codes"),
        **more,
    )


@st.composite
def tables_of_kinds(draw: st.DrawFn, largest: int = 4, rows: int = 30) -> Table:
    """Tables of any kinds of columns, with rows that count and were intervened on, or not."""
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=largest))
    seed, count = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, rows))
    return table_of_kinds(tuple(kinds), count, seed, extra=draw(st.booleans()))
