"""Tables of more than 64 columns: read, cut, shown and refused."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost.data import Table, as_table, discretise, read_table
from dagpost.data.cut_tables import cut_otherwise
from dagpost.data.recipe import Recipe
from dagpost.errors import DagpostWarning, InputError

_COLUMNS, _ROWS = 300, 60


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Every second column numbers, the others three levels; one is constant, one has a gap."""
    rng = np.random.default_rng(7)
    columns = {
        f"g{place}": rng.normal(size=_ROWS) if place % 2 else rng.permutation(np.arange(_ROWS) % 3)
        for place in range(_COLUMNS)
    }
    frame = pd.DataFrame(columns)
    frame["g200"] = 1
    frame.loc[3, "g251"] = np.nan
    return frame


@pytest.fixture(scope="module")
def cut(frame: pd.DataFrame) -> Table:
    with pytest.warns(DagpostWarning, match="'g200' \\(constant\\)"):
        return discretise(frame)


def test_a_wide_file_is_read_and_cut_as_its_columns_are_alone(frame: pd.DataFrame, cut: Table, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "wide.csv", index=False)
    with pytest.warns(DagpostWarning):
        table = read_table(tmp_path / "wide.csv")
    assert len(table.names) == _COLUMNS - 1
    assert (table.rows, table.gap_count) == (_ROWS, 1)
    for name in ("g1", "g2", "g251", "g299"):
        alone = discretise(frame[[name, "g4"]])
        place = cut.names.index(name)
        assert cut.levels[place] == alone.levels[0]
        assert cut.columns[place].tolist() == alone.columns[0].tolist()


def test_a_recipe_of_many_columns_comes_back_from_its_file(frame: pd.DataFrame, cut: Table, tmp_path: Path) -> None:
    assert cut.recipe is not None
    cut.recipe.save(tmp_path / "recipe.toml")
    again = Recipe.load(tmp_path / "recipe.toml").transform(frame)
    assert again.fingerprint() == cut.fingerprint()


def test_other_bins_are_cut_in_all_columns(cut: Table) -> None:
    assert set(cut_otherwise(cut, 4).arities) == {3, 4}


def test_reading_and_cutting_does_not_take_longer_than_a_second(frame: pd.DataFrame) -> None:
    start = time.process_time()
    with pytest.warns(DagpostWarning):
        discretise(frame)
    assert time.process_time() - start < 1.0


def test_what_is_shown_of_many_columns_is_short_and_names_what_matters(cut: Table) -> None:
    assert cut.recipe is not None
    lines = cut.recipe.lines()
    assert len(lines) == 50
    assert any(line.startswith("g200 ") and "left out" in line for line in lines)
    assert any(line.startswith("g251 ") and "1 gap " in line for line in lines)
    assert lines[-1] == "and 252 more columns: 126 levels, 126 cut"
    assert "and 252 more columns" in cut.recipe._repr_html_()
    shown = repr(cut).split("\n")
    assert len(shown) == 42
    assert shown[21] == "  ... 259 more ..."
    assert cut._repr_html_().count("<tr>") == 41


def test_a_table_of_64_columns_is_shown_whole() -> None:
    table = as_table(np.arange(65 * 4).reshape(4, 65)[:, :64] % 2)
    assert len(repr(table).split("\n")) == 65
    assert table.recipe is not None
    assert len(table.recipe.lines()) == 65


def test_interventions_are_refused_beyond_64_columns(frame: pd.DataFrame, said: Said) -> None:
    targets = ["g0", *[None] * (_ROWS - 1)]
    with said.raises(InputError):
        as_table(frame, interventions=targets)
    few = Recipe(columns=[f"g{place}" for place in range(64)])
    assert as_table(frame, interventions=targets, recipe=few).interventions is not None
