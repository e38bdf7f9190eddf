"""What draws the missing cells of a table: where it begins, what it refuses, and that threads do not disturb it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from tests.naive.completion import with_gaps

from dagpost import BIC, BDeu, BGe
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.scores import table_for
from dagpost.scores.cells import CellFunction
from dagpost.scores.completing import Completer
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


def test_there_is_room_for_what_every_block_of_a_row_may_bring() -> None:
    # Cells of many levels are drawn one by one: a family of three may come by three configurations a row. Rows as many
    # as fill a hash table that has room for one.
    rows, levels = 341, 60
    codes = np.random.default_rng(1).integers(0, levels, (rows, 3))
    codes[:levels] = np.arange(levels)[:, np.newaxis]
    gaps = np.ones((3, rows), dtype=bool)
    gaps[:, 0] = False
    table, families = with_gaps(as_table(codes), gaps), np.array([[3, 3], [3, 3], [0, 1]], dtype=np.int16)
    completer, generator = BDeu(1e6).completer(table, 2), np.random.default_rng(0)
    assert completer is not None
    cells = completer.begin(generator)
    for _ in range(5):
        completer.redraw(cells, families, generator, np.zeros(1, dtype=np.int64))
    assert len(set(cells)) == levels


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


def numbers(rows: int = 60) -> np.ndarray:
    """A column, twice it exactly, and one of its own."""
    generator = np.random.default_rng(8)
    first = generator.standard_normal(rows)
    return np.column_stack([first, 2.0 * first, generator.standard_normal(rows) + 5.0])


def numbers_with_gaps(data: np.ndarray) -> Table:
    return with_gaps(as_table(data), np.random.default_rng(9).random(data.shape[::-1]) < 0.3)


def completed(table: Table, score: BGe, rounds: int = 10) -> np.ndarray:
    completer, generator = score.completer(table, 2), np.random.default_rng(0)
    cells = completer.begin(generator)
    for _ in range(rounds):
        completer.redraw(cells, chain(3), generator, RUNNING)
    return cells


def test_the_settled_prior_is_that_of_the_observed_cells() -> None:
    data = np.array([[1.0, 5.0], [3.0, 9.0], [5.0, 2.0], [7.0, 4.0]])
    gaps = np.array([[False, False, False, True], [False, True, False, False]])
    table = replace(with_gaps(as_table(data), gaps), counts=np.array([3, 1, 1, 1]))
    settled = BGe().settled(table)
    np.testing.assert_allclose(settled.prior_mean, [11 / 5, 21 / 5])
    np.testing.assert_allclose(settled.prior_scale, [np.std([1, 1, 1, 3, 5], ddof=1), np.std([5, 5, 5, 2, 4], ddof=1)])
    assert BGe(prior_mean=1.0, prior_scale=(2.0, 3.0)).settled(table) == BGe(prior_mean=1.0, prior_scale=(2.0, 3.0))
    assert BGe().settled(replace(table, gaps=None)) == BGe()


def test_units_of_numbers_do_not_matter() -> None:
    data, units = numbers(), np.array([1e-90, 1e90, 1e12])
    plain, scaled = numbers_with_gaps(data), numbers_with_gaps(data * units)
    columns, _ = np.nonzero(np.array(plain.gaps))
    np.testing.assert_allclose(completed(scaled, BGe()) / units[columns], completed(plain, BGe()), rtol=1e-6, atol=1e-6)


# The prior mean of the second is on the line of the columns too, so that nothing holds them off it.
@pytest.mark.parametrize(
    "score", [BGe(), BGe(prior_mean=0.0, prior_scale=1e-9)], ids=["prior of the units", "hardly any prior"]
)
def test_columns_that_determine_each_other_are_completed_so(score: BGe) -> None:
    table = numbers_with_gaps(numbers())
    # It starts with numbers that do not fit together, and each round brings them nearer.
    values = table.filled(completed(table, score, rounds=200)).values()
    assert np.isfinite(values).all()
    gaps = np.array(table.gaps)
    off = np.abs(values[:, 1] - 2.0 * values[:, 0])
    # The prior leaves some play, of the size of a deviation divided by the root of the rows, or next to none.
    assert off.max() < (1.5 if score.prior_scale is None else 1e-6)
    assert (off[gaps[0] | gaps[1]] > 0.0).any()


def test_levels_that_are_numbers_become_numbers_where_a_gaussian_score_completes_them() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 1, 2, 3], "b": [0.5, None, 2.5, 1.5, 0.5, 2.5]})
    table = table_for("bge", frame)
    # A column without gaps stays as it is.
    assert table.levels == ((1, 2, 3), None)
    np.testing.assert_array_equal(table.columns[1], [0.5, np.nan, 2.5, 1.5, 0.5, 2.5])
    assert as_table(frame).levels[0] == (1, 2, 3)
