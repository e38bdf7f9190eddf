"""What draws missing levels and numbers: where it begins, that threads do not disturb it, and how near it comes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tests.naive.completion import with_gaps
from tests.unit.scores.test_completion import RUNNING

from dagpost import BDeu, BGe, ConditionalGaussian
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.scores import Score
from dagpost.scores.columns import part_of
from dagpost.scores.completing import Completer

#: Levels, levels from them, numbers from the first, numbers from all.
FAMILIES = np.array([[4, 4, 4], [0, 4, 4], [0, 4, 4], [0, 1, 2]], dtype=np.int16)


def mixed(rows: int = 200, share: float = 0.2, unit: float = 1.0) -> Table:
    """Two columns of levels and two of numbers, which follow each other, with gaps."""
    generator = np.random.default_rng(3)
    first = generator.integers(0, 2, rows)
    second = (first + generator.integers(0, 2, rows)) % 3
    number = generator.standard_normal(rows) + 4.0 * first
    last = (generator.standard_normal(rows) + number * (second - 1)) * unit
    columns = (first.astype(np.uint8), second.astype(np.uint8), number, last)
    table = Table(("a", "b", "x", "y"), columns, ((0, 1), (0, 1, 2), None, None))
    return with_gaps(table, generator.random((4, rows)) < share)


def completer_of(table: Table) -> Completer:
    completer = ConditionalGaussian().completer(table, 3)
    assert completer is not None
    return completer


def drawn(table: Table, seed: int = 0, rounds: int = 3) -> np.ndarray:
    completer, generator = completer_of(table), np.random.default_rng(seed)
    cells = completer.begin(generator)
    for _ in range(rounds):
        completer.redraw(cells, FAMILIES, generator, RUNNING)
    return cells


def test_the_settled_prior_is_that_of_the_observed_numbers() -> None:
    numbers = np.array([1.0, 3.0, 5.0, 7.0])
    table = Table(("a", "x"), (np.array([0, 1, 0, 1], dtype=np.uint8), numbers), ((0, 1), None), np.array([3, 1, 1, 1]))
    table = with_gaps(table, np.array([[False, True, False, False], [False, False, False, True]]))
    settled = ConditionalGaussian().settled(table)
    np.testing.assert_allclose(settled.prior_mean, [11 / 5])
    np.testing.assert_allclose(settled.prior_scale, [np.std([1, 1, 1, 3, 5], ddof=1)])
    chosen = ConditionalGaussian(prior_mean=1.0, prior_scale=(2.0,))
    assert chosen.settled(table) == chosen
    assert ConditionalGaussian().settled(replace(table, gaps=None)) == ConditionalGaussian()


def test_cells_begin_with_values_that_their_columns_have() -> None:
    table = mixed()
    cells, columns = drawn(table, rounds=0), np.nonzero(np.asarray(table.gaps))[0]
    for column in range(4):
        known = table.columns[column][~np.asarray(table.gaps)[column]]
        assert set(cells[columns == column]) <= set(known.astype(float))


def test_a_column_that_was_set_whenever_it_has_a_value_is_drawn_from_these_values() -> None:
    table = mixed()
    masks = np.where(np.asarray(table.gaps)[2], 0, 1 << 2).astype(np.uint64)
    cells, columns = drawn(replace(table, interventions=masks)), np.nonzero(np.asarray(table.gaps))[0]
    assert set(cells[columns == 2]) <= set(table.columns[2][masks > 0])


def test_a_row_with_gaps_that_counts_twice_is_refused() -> None:
    with pytest.raises(InputError, match="once each"):
        ConditionalGaussian().completer(replace(mixed(), counts=np.full(200, 2)), 3)


def test_units_of_numbers_do_not_matter() -> None:
    plain, scaled = mixed(), mixed(unit=1e50)
    units = np.array([1.0, 1.0, 1.0, 1e50])[np.nonzero(np.asarray(plain.gaps))[0]]
    np.testing.assert_allclose(drawn(scaled) / units, drawn(plain), rtol=1e-9, atol=1e-9)


def test_missing_levels_are_seen_in_the_numbers_that_follow_them() -> None:
    table = mixed(400, 0.0)
    gaps = np.zeros((4, 400), dtype=bool)
    gaps[0, ::2] = True
    cells = drawn(with_gaps(table, gaps), rounds=20)
    # Four standard deviations apart: one in fifty is taken for the other.
    assert (cells == table.columns[0][::2]).mean() > 0.9


def test_threads_share_a_completer_and_draw_what_they_would_draw_alone() -> None:
    completer = completer_of(mixed())

    def cells_of(seed: int) -> np.ndarray:
        generator = np.random.default_rng(seed)
        cells = completer.begin(generator)
        for width in (3, 1, 3):
            completer.redraw(cells, np.ascontiguousarray(FAMILIES[:, :width]), generator, RUNNING)
        return cells

    alone = [cells_of(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(cells_of, range(8)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(alone[0], alone[1])


def test_a_round_that_is_called_off_changes_nothing() -> None:
    completer, generator = completer_of(mixed()), np.random.default_rng(0)
    cells = completer.begin(generator)
    before = cells.copy()
    completer.redraw(cells, FAMILIES, generator, np.ones(1, dtype=np.int64))
    np.testing.assert_array_equal(cells, before)
    # And it leaves nothing behind that the next one would stumble over.
    completer.redraw(cells, FAMILIES, generator, RUNNING)
    assert np.isfinite(cells).all()


@pytest.mark.parametrize(("kept", "other"), [([0, 1], BDeu(5.0)), ([2, 3], BGe())], ids=["levels", "numbers"])
def test_a_table_of_one_kind_is_completed_as_by_the_score_of_that_kind(kept: list[int], other: Score) -> None:
    table, families = part_of(mixed(), kept), np.array([[2], [0]], dtype=np.int16)
    found = []
    for score in (ConditionalGaussian(), other):
        completer, generator = score.completer(table, 1), np.random.default_rng(0)
        assert completer is not None
        assert not score.begins_near(table)
        found.append(completer.begin(generator))
        completer.redraw(found[-1], families, generator, RUNNING)
    np.testing.assert_array_equal(*found)
