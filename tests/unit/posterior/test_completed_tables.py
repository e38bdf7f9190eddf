"""Completed tables and the posterior of each missing cell, against cell-by-cell twins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.completed_tables import completed_rows, draws_of_cells, mean_and_deviation
from tests.tools.wording import Said

from dagpost import InputError, as_table
from dagpost.posterior.completed_tables import (
    Completions,
    completed_tables,
    in_long_form,
    missing_cells,
    places,
    table_with_gaps,
)

LEVELS: tuple[tuple[object, ...], ...] = (("x", "y", "z"), (0, 1), (False, True))


@st.composite
def completions(draw: st.DrawFn, *, continuous: bool = False) -> Completions:
    """Some rows, of which those with gaps stand for one observation each and may be copies of one row."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, kept = draw(st.integers(2, 6)), draw(st.integers(1, 9))
    gaps = generator.random((3, rows)) < 0.4
    gaps[0, 0] = True
    times = np.where(gaps.any(axis=0), generator.integers(1, 4, rows), 1)
    counts = np.repeat(np.where(gaps.any(axis=0), 1, generator.integers(1, 4, rows)), times)
    origin = np.repeat(np.arange(rows), times)
    if continuous:
        columns: Any = [np.where(gap, np.nan, generator.normal(size=rows))[origin] for gap in gaps]
        cells = generator.normal(size=(kept, int(gaps[:, origin].sum()))).astype(np.float32)
    else:
        sizes = [len(own) for own in LEVELS]
        columns = [
            np.where(gap, 0, generator.integers(0, size, rows)).astype(np.uint8)[origin]
            for gap, size in zip(gaps, sizes, strict=True)
        ]
        limits = np.repeat(sizes, gaps[:, origin].sum(axis=1))
        cells = generator.integers(0, limits, (kept, len(limits))).astype(np.uint8)
    table = as_table(np.array([[0, 1, 0], [1, 0, 1]]))
    table = replace(
        table,
        names=("A", "B", "C"),
        columns=tuple(columns),
        levels=(None,) * 3 if continuous else LEVELS,
        counts=counts,
        recipe=None,
        gaps=gaps[:, origin],
        row_numbers=origin,
    )
    return Completions(table, cells)


@given(st.one_of(completions(), completions(continuous=True)), st.data())
@settings(max_examples=40, deadline=None)
def test_completed_tables_have_every_observation_with_its_values(found: Completions, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(found.cells)))
    seed = data.draw(st.none() | st.integers(0, 99))
    tables = completed_tables(found, count, seed)
    assert len(tables) == count
    for table, place in zip(tables, places(len(found.cells), count, seed), strict=True):
        expected = completed_rows(found.table, found.rows.tolist(), found.cells[place].astype(float).tolist())
        assert table.index.to_list() == [row for row, _ in expected]
        values = [[plain(value) for value in row] for row in table.astype(object).to_numpy().tolist()]
        assert values == [row for _, row in expected]


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@given(st.one_of(completions(), completions(continuous=True)))
@settings(max_examples=40, deadline=None)
def test_what_is_said_of_a_missing_cell_is_what_the_completed_tables_have_there(found: Completions) -> None:
    said = missing_cells(found)
    expected = draws_of_cells(found.table, found.rows.tolist(), found.cells.astype(float).tolist())
    assert list(zip(said["row"], said["column"], strict=True)) == sorted(expected)
    for row in said.to_dict("records"):
        draws = expected[row["row"], row["column"]]
        if found.table.levels[0] is None:
            mean, deviation = mean_and_deviation(draws)
            assert row["mean"] == pytest.approx(mean, abs=1e-9)
            assert row["sd"] == pytest.approx(deviation, abs=1e-9)
            assert min(draws) <= row["2.5%"] <= row["50%"] <= row["97.5%"] <= max(draws)
            assert row["50%"] == pytest.approx(float(np.median(draws)), abs=1e-9)
            continue
        levels = LEVELS["ABC".index(row["column"])]
        shares = {level: draws.count(level) / len(draws) for level in levels}
        assert row["probabilities"] == pytest.approx(shares)
        assert row["probability"] == pytest.approx(max(shares.values()))
        assert shares[row["likeliest"]] == pytest.approx(max(shares.values()))


@given(st.integers(1, 300), st.data())
def test_places_are_one_of_each_of_equal_stretches(kept: int, data: st.DataObject) -> None:
    count, seed = data.draw(st.integers(1, kept)), data.draw(st.none() | st.integers(0, 99))
    found = places(kept, count, seed)
    assert len(found) == count
    for stretch, place in enumerate(found):
        assert kept * stretch // count <= place < kept * (stretch + 1) // count


def small(**changes: Any) -> Completions:
    """Three rows, the second one with two gaps and there twice."""
    frame = pd.DataFrame({"a": ["x", "y", "y", "x"], "b": [3, 5, 5, 5]})
    table = as_table(frame, interventions=["b", None, None, None])
    gaps = np.array([[False, True, True, False], [False, True, True, False]])
    columns = tuple(np.where(gap, 0, column).astype(np.uint8) for gap, column in zip(gaps, table.columns, strict=True))
    table = replace(table, columns=columns, gaps=gaps, row_numbers=np.array([0, 1, 1, 2]))
    cells = np.array([[0, 0, 1, 1], [1, 1, 0, 1]], dtype=np.uint8)
    return Completions(table, cells)._replace(**changes)


def test_completed_tables_are_in_the_terms_of_the_user() -> None:
    first, second = completed_tables(small(labels=["p", "q", "r"]), 2)
    assert first.index.to_list() == ["p", "q", "q", "r"]
    assert first["a"].to_list() == ["x", "x", "x", "x"]
    assert second["a"].to_list() == ["x", "y", "y", "x"]
    assert first["a"].cat.categories.to_list() == second["a"].cat.categories.to_list() == ["x", "y"]
    assert first["b"].dtype == np.int64
    assert first["b"].to_list() == [3, 5, 5, 5]
    assert first["interventions"].to_list() == ["b", "", "", ""]


def test_the_long_form_numbers_tables_from_1_and_the_one_with_gaps_is_0() -> None:
    long = in_long_form(small(), 2, original=True)
    assert long.columns.to_list() == [".imp", ".id", "a", "b", "interventions"]
    assert long[".imp"].to_list() == [0] * 4 + [1] * 4 + [2] * 4
    assert long[".id"].to_list() == [0, 1, 1, 2] * 3
    assert long["b"].isna().to_list() == [False, True, True, *[False] * 9]
    assert long["b"].dtype == "Int64"
    assert in_long_form(small(), 2)[".imp"].to_list() == [1] * 4 + [2] * 4
    assert table_with_gaps(small())["a"].isna().to_list() == [False, True, True, False]


def test_columns_of_the_table_keep_their_names_beside_those_of_the_long_form() -> None:
    found = small()
    table = replace(found.table, names=(".imp", ".imp_"))
    long = in_long_form(found._replace(table=table), 1)
    assert long.columns.to_list() == [".imp__", ".id", ".imp", ".imp_", "interventions"]


def test_more_tables_than_were_kept_are_refused(said: Said) -> None:
    with said.raises(InputError):
        completed_tables(small(), 3)
    with said.raises(InputError):
        completed_tables(small(), 0)
    with pytest.raises(InputError, match="'seed'"):
        completed_tables(small(), 1, -1)
