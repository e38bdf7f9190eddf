"""Cells without a value: they stay gaps on every way that a table goes, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import gaps as naive

from dagpost.data import as_table
from dagpost.data.cut_tables import cut_numbers
from dagpost.data.gaps import without_gaps, written_out
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.scores.columns import part_of

ROWS = 12
LEVELS = ["oak", "middle", "ash"]
CELLS = {
    "word": st.sampled_from(LEVELS),
    "truth": st.booleans(),
    "kind": st.sampled_from(LEVELS),
    "number": st.floats(-50, 50, width=32),
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Four columns of levels, truth values, categories and numbers, with any gaps but in the first two rows."""
    first = {"word": ["oak", "ash"], "truth": [True, False], "kind": ["ash", "oak"], "number": [0.5, 2.25]}
    columns: dict[str, Any] = {}
    for name, cells in CELLS.items():
        found = first[name] + draw(st.lists(st.none() | cells, min_size=ROWS - 2, max_size=ROWS - 2))
        columns[name] = pd.Categorical(found, categories=LEVELS) if name == "kind" else found
    return pd.DataFrame(columns)


COUNTS = st.lists(st.integers(0, 3), min_size=ROWS, max_size=ROWS).filter(any)
KEPT = Recipe(keep=list(CELLS), cut={"number": (3, "quantile")})


@given(frame=frames(), counts=COUNTS)
@settings(max_examples=25, deadline=None)
def test_gaps_are_where_cells_have_no_value_and_levels_are_those_that_occur(
    frame: pd.DataFrame, counts: list[int]
) -> None:
    table = as_table(frame, counts=counts, recipe=KEPT)
    expected = frame.isna().to_numpy().T
    assert table.rows == ROWS
    assert (table.gaps is None) == (not expected.any())
    if table.gaps is not None:
        assert (table.gaps == expected).all()
    assert table.levels[0] == tuple(sorted({cell for cell in frame["word"] if isinstance(cell, str)}))
    for place, column in enumerate(table.columns):
        gap = expected[place]
        assert np.isnan(column[gap]).all() if table.levels[place] is None else (column[gap] == 0).all()


@given(frame=frames(), counts=COUNTS)
@settings(max_examples=25, deadline=None)
def test_a_table_with_gaps_comes_back_from_a_data_frame_and_through_a_recipe(
    frame: pd.DataFrame, counts: list[int]
) -> None:
    table = as_table(frame, counts=counts, recipe=KEPT)
    again = as_table(table.to_pandas(), counts="counts", recipe=KEPT)
    assert naive.cells(again) == naive.cells(table)
    assert again.fingerprint() == table.fingerprint()
    other = Recipe(bins=2).read(table)
    assert naive.cells(other) == naive.cells(table)
    part = Recipe(columns=["truth", "number"]).read(table)
    assert [row for row, count in zip(naive.cells(part), counts, strict=True) if count] == [
        row for row, count in zip(naive.cells(part_of(table, [1, 3])), counts, strict=True) if count
    ]


@given(frame=frames())
@settings(max_examples=25, deadline=None)
def test_numbers_are_cut_by_those_that_are_there(frame: pd.DataFrame) -> None:
    cut = cut_numbers(as_table(frame, recipe=KEPT))
    there = frame.dropna(subset=["number"])
    alone = cut_numbers(as_table(there, recipe=KEPT))
    assert cut.levels[3] == alone.levels[3]
    assert [row[3] for row in naive.cells(cut) if row[3] is not None] == [row[3] for row in naive.cells(alone)]
    assert cut.recipe is not None
    assert cut.recipe.transform(frame).fingerprint() == cut.fingerprint()


@given(frame=frames(), counts=COUNTS, data=st.data())
@settings(max_examples=25, deadline=None)
def test_rows_with_gaps_are_written_out_as_often_as_they_count(
    frame: pd.DataFrame, counts: list[int], data: st.DataObject
) -> None:
    table = cut_numbers(as_table(frame, counts=counts, recipe=KEPT))
    masks = np.array(data.draw(st.lists(st.integers(0, 15), min_size=ROWS, max_size=ROWS)), dtype=np.uint64)
    table = replace(table, interventions=masks)
    done = written_out(table)
    if table.gaps is None:
        assert done is table
        return
    assert done.observations == table.observations
    assert naive.written_out(done) == naive.written_out(table)
    assert done.rows == len(naive.written_out(table))


@given(frame=frames())
@settings(max_examples=25, deadline=None)
def test_another_treatment_of_a_table_is_that_of_its_cells(frame: pd.DataFrame) -> None:
    table = cut_numbers(as_table(frame, recipe=KEPT))
    level = without_gaps(table, "level")
    assert level.gaps is None
    rows = [tuple("(missing)" if cell is None else cell for cell in row) for row in naive.cells(table)]
    assert naive.cells(level) == rows
    dropped = without_gaps(table, "drop")
    assert dropped.gaps is None
    assert naive.cells(dropped) == [row for row in naive.cells(table) if None not in row]


@given(frame=frames(), data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_completed_table_has_the_cells_that_it_was_completed_with(frame: pd.DataFrame, data: st.DataObject) -> None:
    table: Table = cut_numbers(as_table(frame, recipe=KEPT))
    arities = [] if table.gaps is None else [table.arities[column] for column in np.nonzero(table.gaps)[0]]
    cells = np.array([data.draw(st.integers(0, arity - 1)) for arity in arities], dtype=np.float64)
    filled = table.filled(cells)
    assert filled.gaps is None
    if table.gaps is not None:
        assert filled.codes()[table.gaps].tolist() == cells.tolist()
        assert (filled.codes()[~table.gaps] == np.stack(table.columns)[~table.gaps]).all()
