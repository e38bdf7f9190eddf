"""Rounds over latent numbers: they can be repeated, keep every order, and free numbers that lie next to each other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import latent as naive

from dagpost import LatentGaussian
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.scores.latent_completion import LatentCompleter

RUNNING = np.zeros(1, dtype=np.int64)
SCORE = LatentGaussian()


def completer_of(table: Table) -> LatentCompleter:
    return LatentCompleter(SCORE.coefficient_prior(), table)


def copies(rows: int = 60) -> Table:
    """Three levels and the same three levels again, the last one in one row only; two levels; and numbers."""
    generator = np.random.default_rng(1)
    first = (generator.standard_normal(rows) > 0).astype(int)
    first[0] = 2
    other = first.copy()
    numbers = first + 0.1 * generator.standard_normal(rows)
    return SCORE.modelled(as_table(np.column_stack([first, other, generator.integers(0, 2, rows), numbers])))


#: 0 -> 1, 0 -> 3 <- 1, and 2 alone.
FAMILIES = np.array([[4, 4], [0, 4], [4, 4], [0, 1]], dtype=np.int16)


def test_cells_to_start_from_keep_ranks_and_bounds_and_differ_between_chains() -> None:
    table = copies()
    bounds = np.column_stack([np.full(60, 1.5), np.full(60, np.inf)])
    assert table.gaps is not None
    gaps = table.gaps.copy()
    gaps[3, :5] = True
    censored = Table(
        table.names, table.columns, table.levels, gaps=gaps, bounds=(None,) * 3 + (bounds,), ranks=table.ranks
    )
    completer, generator = completer_of(censored), np.random.default_rng(2)
    first, second = completer.begin(generator), completer.begin(generator)
    for cells in (first, second):
        assert naive.agrees(censored, censored.filled(cells).values())
    assert abs(first[:60].mean() - second[:60].mean()) > 1e-3
    assert abs(np.log(first[:60].std() / second[:60].std())) > 1e-3


def test_rounds_are_repeated_bit_for_bit_from_the_cells_and_the_generator() -> None:
    table = copies()
    completer = completer_of(table)
    cells, generator = completer.begin(np.random.default_rng(3)), np.random.default_rng(4)
    for _ in range(3):
        completer.redraw(cells, FAMILIES, generator, RUNNING)
    kept, state = cells.copy(), generator.bit_generator.state
    for _ in range(3):
        completer.redraw(cells, FAMILIES, generator, RUNNING)
    resumed = np.random.default_rng()
    resumed.bit_generator.state = state
    fresh = completer_of(table)
    for _ in range(3):
        fresh.redraw(kept, FAMILIES, resumed, RUNNING)
    assert kept.tobytes() == cells.tobytes()


def test_the_order_of_levels_holds_where_columns_repeat_each_other() -> None:
    table = copies()
    completer, generator = completer_of(table), np.random.default_rng(5)
    cells = completer.begin(generator)
    for _ in range(300):
        completer.redraw(cells, FAMILIES, generator, RUNNING)
    assert naive.agrees(table, table.filled(cells).values())
    assert np.abs(cells).max() < 1e3


@pytest.mark.parametrize("place", [0.0, 1.0, -3.0])
def test_levels_squeezed_onto_neighbouring_doubles_come_apart(place: float) -> None:
    table = copies()
    completer, generator = completer_of(table), np.random.default_rng(6)
    cells = completer.begin(generator)
    steps = [place]
    for _ in range(2):
        steps.append(float(np.nextafter(steps[-1], np.inf)))
    cells[:60] = np.array(steps)[table.ranks[0]]
    for _ in range(50):
        completer.redraw(cells, FAMILIES, generator, RUNNING)
    assert naive.agrees(table, table.filled(cells).values())
    levels = [cells[:60][table.ranks[0] == rank] for rank in range(3)]
    assert levels[1].max() - levels[0].min() > 0.1
    assert len(np.unique(levels[0])) == len(levels[0])


def test_a_round_that_is_cancelled_leaves_the_cells() -> None:
    table = copies()
    completer, generator = completer_of(table), np.random.default_rng(7)
    cells = completer.begin(generator)
    before = cells.copy()
    completer.redraw(cells, FAMILIES, generator, np.ones(1, dtype=np.int64))
    assert cells == pytest.approx(before, rel=1e-15)
