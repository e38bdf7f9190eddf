"""What draws the missing cells of a table: where it begins, what it refuses, and that threads do not disturb it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.naive.completion import with_gaps

from dagpost import BIC, BDeu
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.scores.base import Completer
from dagpost.scores.cells import CellFunction
from dagpost.scores.counted import CountedScore

RUNNING = np.zeros(1, dtype=np.int64)


def gappy(rows: int = 200, columns: int = 4) -> Table:
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 3, (rows, columns))
    codes[:3] = np.arange(3)[:, np.newaxis]
    return with_gaps(as_table(codes), generator.random((columns, rows)) < 0.2)


def chain(columns: int = 4) -> np.ndarray:
    families = np.full((columns, 2), columns, dtype=np.int16)
    families[1:, 0] = np.arange(columns - 1)
    return families


def completer_of(table: Table) -> Completer:
    completer = BDeu().completer(table, 2)
    assert completer is not None
    return completer


def test_cells_begin_with_values_that_their_columns_have_as_often_as_they_count() -> None:
    codes = np.array([[0, 0], [1, 1], [2, 0], *[[0, 1]] * 2000])
    gaps = np.zeros((2, len(codes)), dtype=bool)
    gaps[0, 3:] = True
    counts = np.ones(len(codes), dtype=np.int64)
    counts[1] = 8
    cells = completer_of(replace(with_gaps(as_table(codes), gaps), counts=counts)).begin(np.random.default_rng(1))
    shares = np.bincount(cells.astype(int), minlength=3) / 2000
    # Six standard deviations of a share: a false alarm once in 10^8 runs.
    np.testing.assert_allclose(shares, [0.1, 0.8, 0.1], atol=0.06)


def test_a_column_without_any_value_begins_with_all_of_its_levels() -> None:
    table = as_table(np.array([[0, 0], [1, 1]] * 20))
    gaps = np.zeros((2, 40), dtype=bool)
    gaps[0] = True
    assert set(completer_of(with_gaps(table, gaps)).begin(np.random.default_rng(0))) == {0.0, 1.0}


def test_a_row_with_gaps_that_counts_twice_is_refused() -> None:
    table = replace(gappy(), counts=np.full(200, 2))
    with pytest.raises(InputError, match="once each"):
        BDeu().completer(table, 2)


def test_threads_share_a_completer_and_draw_what_they_would_draw_alone() -> None:
    completer, families = completer_of(gappy()), chain()

    def drawn(seed: int) -> np.ndarray:
        generator = np.random.default_rng(seed)
        cells = completer.begin(generator)
        for width in (2, 1, 2):
            completer.redraw(cells, np.ascontiguousarray(families[:, :width]), generator, RUNNING)
        return cells

    alone = [drawn(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(drawn, range(8)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(alone[0], alone[1])


def test_a_round_that_is_called_off_changes_nothing() -> None:
    completer = completer_of(gappy())
    generator = np.random.default_rng(0)
    cells = completer.begin(generator)
    before = cells.copy()
    completer.redraw(cells, chain(), generator, np.ones(1, dtype=np.int64))
    np.testing.assert_array_equal(cells, before)


def test_a_score_of_other_terms_than_those_known_does_not_complete() -> None:
    @dataclass(frozen=True)
    class Squares(CountedScore):
        def terms(
            self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int
        ) -> CellFunction:
            known = BIC().terms(arities, max_size, variants, observations)
            return known._replace(tables=np.arange(known.tables.shape[1], dtype=float)[np.newaxis] ** 2)

    assert Squares().completer(gappy(), 2) is None
