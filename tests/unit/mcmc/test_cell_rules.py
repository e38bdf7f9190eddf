"""Which cells can fill the gaps of a table, compared with a look at each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.examples import examples

from dagpost.data.table import Table
from dagpost.mcmc.cell_rules import CellRules


def can_fill(table: Table, cells: list[float]) -> bool:
    """The same, cell by cell and pair by pair."""
    assert table.gaps is not None
    places = [(column, row) for column, gaps in enumerate(table.gaps) for row in np.flatnonzero(gaps).tolist()]
    for (column, row), cell in zip(places, cells, strict=True):
        levels, bounds, ranks = table.arities[column], table.bounds[column], table.ranks[column]
        if levels and not (cell == int(cell) and 0 <= cell < levels):
            return False
        if bounds is not None and not bounds[row, 0] <= cell <= bounds[row, 1]:
            return False
        for (other, its_row), its in zip(places, cells, strict=True):
            if ranks is not None and other == column and 0 <= ranks[row] < ranks[its_row] and cell > its:
                return False
    return True


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_cells_fill_gaps_as_a_look_at_each_of_them_says(seed: int, rows: int) -> None:
    generator = np.random.default_rng(seed)
    gaps = generator.random((3, rows)) < 0.7
    ranks = generator.integers(-1, 3, rows).astype(np.int32)
    low = generator.choice([-np.inf, -1.0, 0.0], rows)
    bounds = np.stack([low, np.where(generator.random(rows) < 0.5, np.inf, 1.0)], axis=1)
    columns: tuple[Any, ...] = (np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=np.uint8))
    table = Table(
        ("a", "b", "c"),
        columns,
        (None, None, ("x", "y")),
        gaps=gaps,
        bounds=(None, bounds, None),
        ranks=(ranks, None, None),
    )
    numbers = generator.normal(size=(2, int(gaps[:2].sum())))
    if generator.random() < 0.5:
        # In order within the first column, more often than chance would have it.
        own = np.argsort(np.argsort(ranks[gaps[0]], kind="stable"))
        numbers[:, : len(own)] = np.sort(numbers[:, : len(own)], axis=1)[:, own]
    codes = generator.integers(0, 3 if generator.random() < 0.2 else 2, (2, int(gaps[2].sum())))
    cells, rules = np.concatenate([numbers, codes], axis=1), CellRules(table)
    each = [can_fill(table, row) for row in cells.tolist()]
    assert [rules.hold(row) for row in cells] == each
    assert rules.hold(cells) == all(each)
    if all(each):
        # Seven digits are enough: rounding keeps the order.
        assert rules.hold(cells.astype(np.float32))
    assert not rules.hold(np.append(cells[0], 0.0))
