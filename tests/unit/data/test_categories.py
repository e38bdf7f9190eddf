"""Levels are the distinct values of a column, however a library lists them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, as_table, read_table
from dagpost.errors import InputError

OTHER = ["x", "y", "y"] * 4


def with_dictionary(listed: list[Any], codes: list[int | None], kind: Any = None, *, ordered: bool = False) -> pa.Table:
    own = pa.DictionaryArray.from_arrays(pa.array(codes, kind or pa.int32()), pa.array(listed), ordered=ordered)
    return pa.table({"a": own, "b": OTHER})


@pytest.mark.parametrize(
    ("listed", "levels"),
    [
        (["p", "q", "p"], ("p", "q")),
        (["p", "p", "q"], ("p", "q")),
        ([1, 2, 1], (1, 2)),
        ([0.0, 1.5, -0.0], (0.0, 1.5)),
        ([True, False, True], (True, False)),
        ([Decimal("1.5"), Decimal("2.5"), Decimal("1.5")], ("1.5", "2.5")),
    ],
)
@pytest.mark.parametrize("ordered", [False, True])
def test_a_value_that_a_dictionary_lists_twice_is_one_level(listed: list[Any], levels: Any, ordered: bool) -> None:
    table = as_table(with_dictionary(listed, [0, 1, 2] * 4, ordered=ordered))
    assert table.levels[0] == levels
    own = [levels.index(str(value) if isinstance(value, Decimal) else value) for value in listed]
    assert table.columns[0].tolist() == own * 4


def test_a_dictionary_of_one_value_listed_twice_is_one_level() -> None:
    assert as_table(with_dictionary(["p", "p"], [0, 1] * 6)).levels[0] == ("p",)


def test_a_repeated_value_does_not_change_the_posterior_and_the_model_loads(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    codes, other = generator.integers(0, 2, (2, 100))
    twice = np.where(codes == 1, 1, 2 * generator.integers(0, 2, 100))
    tables = [
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(own), pa.array(listed)), "b": other})
        for own, listed in ((codes, ["p", "q"]), (twice, ["p", "q", "p"]))
    ]
    right, found = (DagPosterior("bdeu").fit(table) for table in tables)
    np.testing.assert_array_equal(found.edge_probabilities_, right.edge_probabilities_)
    found.save(tmp_path / "model.dagpost")
    again = DagPosterior.load(tmp_path / "model.dagpost")
    np.testing.assert_array_equal(again.edge_probabilities_, right.edge_probabilities_)


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int8(), pa.uint64()])
@pytest.mark.parametrize("listed", [["p", "q", None], ["p", "q"], [1.5, 2.5, float("nan")]])
def test_what_a_dictionary_lists_for_no_value_is_a_gap(listed: list[Any], kind: Any) -> None:
    codes = [0, 1, 2 if len(listed) == 3 else None] * 4
    table = as_table(with_dictionary(listed, codes, kind))
    assert table.levels[0] == tuple(listed[:2])
    assert table.gaps is not None
    assert table.gaps[0].tolist() == [False, False, True] * 4


def test_pieces_of_a_column_may_have_dictionaries_of_their_own() -> None:
    dictionaries: list[list[Any]] = [["p", "q"], ["q", None, "r", "q"], ["p", "q"]]
    codes = [[0, 1, 0, 1], [0, 1, 2, 3], [1, 0, 0, 1]]
    column = pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(pa.array(own), pa.array(listed))
            for own, listed in zip(codes, dictionaries, strict=True)
        ]
    )
    table = as_table(pa.table({"a": column, "b": OTHER}))
    assert table.levels[0] == ("p", "q", "r")
    assert table.gaps is not None
    cells = [None if gap else "pqr"[code] for code, gap in zip(table.columns[0], table.gaps[0], strict=True)]
    assert cells == ["p", "q", "p", "q", "q", None, "r", "q", "q", "p", "p", "q"]


@pytest.mark.parametrize("way", ["pandas", "polars", "parquet"])
def test_a_repeated_value_is_one_level_on_every_way_in(way: str, tmp_path: Path) -> None:
    table = with_dictionary(["q", "p", "q"], [0, 1, 2] * 4)
    if way == "pandas":
        found = as_table(table.to_pandas(types_mapper=pd.ArrowDtype))
    elif way == "polars":
        found = as_table(pl.DataFrame(table))
    else:
        pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
        found = read_table(tmp_path / "x.parquet")
    assert sorted(map(str, found.levels[0] or ())) == ["p", "q"]
    assert np.bincount(found.columns[0]).tolist() in ([8, 4], [4, 8])


def test_categories_that_become_the_same_text_are_one_level() -> None:
    when = pd.Timestamp("2020-01-01")
    column = pd.Categorical.from_codes([0, 1, 2] * 4, pd.Index([when, str(when), "later"], dtype=object))
    assert as_table(pd.DataFrame({"a": column, "b": OTHER})).levels[0] == (str(when), "later")


def test_an_infinite_category_is_refused(said: Said) -> None:
    column = pd.Categorical.from_codes([0, 1] * 6, pd.Index([1.0, np.inf]))
    with said.raises(InputError):
        as_table(pd.DataFrame({"a": column, "b": OTHER}))
