"""Rows in parts, counted where they lie, score as the same rows in memory do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.engines.dask import DaskEngine
from dagpost.engines.dask.cells import codes_of, scores_of_parts
from dagpost.engines.dask.counting import distinct_rows_of_parts
from dagpost.errors import InputError
from dagpost.scores import local_scores

ROWS = 3000


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine() as own:
        yield own


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 3, (ROWS, 6))
    codes[:, 1] = (codes[:, 0] + (generator.random(ROWS) < 0.3)) % 3
    # "never" does not occur, and is a level all the same.
    ordered = pd.Categorical.from_codes(codes[:, 1].tolist(), pd.Index(["low", "mid", "high", "never"]))
    return pd.DataFrame(
        {
            "number": codes[:, 0],
            "category": ordered,
            "text": codes[:, 2].astype(str),
            "flag": codes[:, 3] > 0,
            "other": codes[:, 4] + 7,
            "last": np.where(codes[:, 5] > 0, "yes", "no"),
        }
    )


@pytest.fixture
def folder(frame: pd.DataFrame, tmp_path: Path) -> Path:
    for number, begin in enumerate(range(0, ROWS, 250)):
        (tmp_path / f"year={number % 2}").mkdir(exist_ok=True)
        frame.iloc[begin : begin + 250].to_parquet(tmp_path / f"year={number % 2}" / f"part-{number}.parquet")
    return tmp_path


def distinct(frame: pd.DataFrame) -> int:
    return len(frame.drop_duplicates())


@pytest.mark.parametrize("batch", [64, 1 << 18])
def test_distinct_rows_of_a_folder_are_those_of_the_whole_table(
    engine: DaskEngine, frame: pd.DataFrame, folder: Path, batch: int
) -> None:
    table = distinct_rows_of_parts(folder, engine, batch_rows=batch)
    whole = as_table(frame)
    assert table.names == whole.names
    assert table.levels == whole.levels
    assert (table.rows, table.observations) == (distinct(frame), ROWS)
    for score in ("bdeu", "k2", "bic"):
        found = local_scores(table, score, 3, engine=ThreadEngine(1)).values
        expected = local_scores(whole, score, 3, engine=ThreadEngine(1)).values
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-9)


def test_a_list_of_files_and_some_columns_will_do(engine: DaskEngine, frame: pd.DataFrame, folder: Path) -> None:
    files = sorted(folder.rglob("*.parquet"))
    table = distinct_rows_of_parts(files[:1], engine, columns=["text", "number"])
    assert set(table.names) == {"text", "number"}
    assert table.observations == 250


def test_a_dask_dataframe_is_counted_by_its_partitions(engine: DaskEngine, frame: pd.DataFrame) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    table = distinct_rows_of_parts(dataframe.from_pandas(frame, npartitions=5), engine)
    assert (table.rows, table.observations) == (distinct(frame), ROWS)
    assert table.levels == as_table(frame).levels


def test_rows_may_bring_counts_of_their_own(engine: DaskEngine, frame: pd.DataFrame, tmp_path: Path) -> None:
    counted = frame[["number", "text"]].assign(n=np.arange(ROWS) % 5)
    counted[:1000].to_parquet(tmp_path / "a.parquet")
    counted[1000:].to_parquet(tmp_path / "b.parquet")
    table = distinct_rows_of_parts(tmp_path, engine, counts="n")
    assert (table.names, table.rows) == (("number", "text"), 9)
    assert table.observations == counted["n"].sum()


@pytest.mark.parametrize("score", ["bdeu", "bde", "bic"])
def test_counts_for_every_set_of_columns_give_the_scores_of_the_whole_table(
    engine: DaskEngine, frame: pd.DataFrame, folder: Path, score: str
) -> None:
    found = scores_of_parts(folder, engine, score, 3, cells_together=500)
    expected = local_scores(as_table(frame), score, 3, engine=ThreadEngine(1))
    assert (found.names, found.max_parents) == (expected.names, expected.max_parents)
    assert np.allclose(found.values, expected.values, rtol=1e-12, atol=1e-9)


def test_too_many_distinct_rows_are_refused_with_the_way_out(engine: DaskEngine, folder: Path, said: Said) -> None:
    with said.raises(InputError):
        distinct_rows_of_parts(folder, engine, most=100)


def test_more_observations_than_counters_hold_are_refused(engine: DaskEngine, tmp_path: Path, said: Said) -> None:
    pd.DataFrame({"a": [0, 1], "b": [1, 0], "n": [2**31, 2**31]}).to_parquet(tmp_path / "a.parquet")
    table = distinct_rows_of_parts(tmp_path, engine, counts="n")
    with said.raises(InputError):
        local_scores(table, "bdeu", 1, engine=engine)


@pytest.mark.parametrize("count", [distinct_rows_of_parts, scores_of_parts])
def test_missing_cells_are_refused(engine: DaskEngine, tmp_path: Path, count: Any, said: Said) -> None:
    pd.DataFrame({"a": [0.0, np.nan], "b": ["x", "y"]}).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError):
        count(tmp_path, engine)


def test_parts_that_differ_are_refused(engine: DaskEngine, tmp_path: Path, said: Said) -> None:
    pd.DataFrame({"a": [0, 1], "b": [1, 0]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"a": [0, 1], "c": [1, 0]}).to_parquet(tmp_path / "b.parquet")
    with said.raises(InputError):
        distinct_rows_of_parts(tmp_path, engine)
    with pytest.raises(InputError, match=r"different columns"):
        scores_of_parts(tmp_path, engine)


@pytest.mark.parametrize(("first", "second"), [(bool, int), (int, bool), (bool, float), (int, str)])
def test_values_of_different_kinds_in_the_parts_are_refused(
    engine: DaskEngine, tmp_path: Path, first: type, second: type, said: Said
) -> None:
    rows = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]})
    for name, kind in (("a", first), ("b", second)):
        rows.astype({"a": kind}).to_parquet(tmp_path / f"{name}.parquet")
    with said.raises(InputError, {"large_string": "string"}):
        scores_of_parts(tmp_path, engine)
    with said.raises(InputError, {"large_string": "string"}):
        distinct_rows_of_parts(tmp_path, engine)


def test_whole_numbers_may_be_integers_in_one_part_and_floats_in_another(engine: DaskEngine, tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": [0, 1, 1, 2, 0, 1], "b": [1, 0, 1, 1, 0, 0]})
    rows[:3].to_parquet(tmp_path / "a.parquet")
    rows[3:].astype({"a": float}).to_parquet(tmp_path / "b.parquet")
    expected = local_scores(as_table(rows), "bdeu", 1, engine=ThreadEngine(1)).values
    assert np.allclose(scores_of_parts(tmp_path, engine, "bdeu", 1).values, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("count", [distinct_rows_of_parts, scores_of_parts])
def test_values_beyond_the_categories_of_another_part_are_refused(
    engine: DaskEngine, tmp_path: Path, count: Any, said: Said
) -> None:
    import pyarrow
    import pyarrow.parquet

    for name, column in (("a", pyarrow.array(["x", "y"]).dictionary_encode()), ("b", pyarrow.array(["x", "z"]))):
        pyarrow.parquet.write_table(pyarrow.table({"a": column, "b": [0, 1]}), tmp_path / f"{name}.parquet")
    with said.raises(InputError):
        count(tmp_path, engine)


def test_values_that_came_after_the_levels_were_looked_for_are_refused(tmp_path: Path, said: Said) -> None:
    changed = pd.DataFrame({"a": [0, 2], "b": [1, 0], "do": [None, "b"]})
    levels = (0, 1), (0, 1)
    with said.raises(InputError):
        codes_of(changed, ("a", "b"), levels, None, {})
    file = tmp_path / "a.parquet"
    changed.to_parquet(file)
    with said.raises(InputError):
        codes_of(str(file), ("a", "b"), levels, None, {})
    with said.raises(InputError):
        codes_of(str(file), ("a", "b"), levels, "do", {None: 0})


def test_continuous_columns_in_parts_are_refused_as_those_of_a_table(
    engine: DaskEngine, tmp_path: Path, said: Said
) -> None:
    values = np.random.default_rng(3).normal(size=100)
    pd.DataFrame({"a": values, "b": values > 0}).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError):
        scores_of_parts(tmp_path, engine)


@pytest.mark.parametrize("count", [distinct_rows_of_parts, scores_of_parts])
def test_columns_that_are_not_there_are_refused_with_the_nearest_name(
    engine: DaskEngine, frame: pd.DataFrame, folder: Path, count: Any, said: Said
) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    with said.raises(InputError, {r"year=\d/part-\d+": "<part>"}):
        count(folder, engine, columns=["text", "flag", "numbr"])
    with said.raises(InputError, {r"year=\d/part-\d+": "<part>"}):
        count(dataframe.from_pandas(frame, npartitions=2), engine, columns=["text", "flag", "numbr"])
    for others in ({}, {"interventions": "text"}):
        with said.raises(InputError, {r"year=\d/part-\d+": "<part>"}):
            count(folder, engine, columns=[], **others)


def test_parts_with_targets_and_no_other_column_are_refused(engine: DaskEngine, tmp_path: Path, said: Said) -> None:
    pd.DataFrame({"do": [None, None]}, dtype=str).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError):
        scores_of_parts(tmp_path, engine, interventions="do")


@pytest.mark.parametrize(
    "counts",
    [
        [None, 3, 1, 5],
        [2, 3, -1, 5],
        [1.5, 1.5, 1, 1],
        ["2", "3", "1", "1"],
        [True, True, False, True],
    ],
)
def test_counts_that_are_none_are_refused_under_their_name(
    engine: DaskEngine, tmp_path: Path, counts: list[Any], said: Said
) -> None:
    """Even where the sum of the counts of equal rows would be one."""
    pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "n": counts}).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError):
        distinct_rows_of_parts(tmp_path, engine, counts="n")
    with said.raises(InputError):
        distinct_rows_of_parts(tmp_path, engine, counts="m")


def test_counts_may_be_integers_in_one_part_and_floats_in_another(engine: DaskEngine, tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": [0, 1], "b": [1, 0], "n": [2, 3]})
    rows.to_parquet(tmp_path / "a.parquet")
    rows.astype({"n": float}).to_parquet(tmp_path / "b.parquet")
    dataframe = pytest.importorskip("dask.dataframe")
    table = distinct_rows_of_parts(tmp_path, engine, counts="n")
    assert (table.rows, table.observations) == (2, 10)
    in_categories = dataframe.from_pandas(rows.astype({"n": "category"}), npartitions=1)
    assert distinct_rows_of_parts(in_categories, engine, counts="n").observations == 5


def test_levels_that_differ_are_refused(engine: DaskEngine, tmp_path: Path, said: Said) -> None:
    for name, levels in (("a", ["x", "y"]), ("b", ["y", "x"])):
        pd.DataFrame({"v": pd.Categorical(["x", "y"], levels), "w": [0, 1]}).to_parquet(tmp_path / f"{name}.parquet")
    with said.raises(InputError):
        distinct_rows_of_parts(tmp_path, engine)


def test_too_many_levels_or_cells_are_refused(engine: DaskEngine, tmp_path: Path, said: Said) -> None:
    pd.DataFrame({"a": np.arange(70_000), "b": 0}).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError):
        scores_of_parts(tmp_path, engine)
    pd.DataFrame({name: np.arange(5000) for name in "ab"}).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError):
        scores_of_parts(tmp_path, engine)


@pytest.mark.parametrize(
    "source",
    [
        "nowhere",
        ["none.parquet"],
        7,
        [],
    ],
)
def test_what_is_no_table_in_parts_is_refused(engine: DaskEngine, source: Any, said: Said) -> None:
    with said.raises(InputError):
        distinct_rows_of_parts(source, engine)


def test_a_folder_without_parts_or_parts_without_rows_are_refused(
    engine: DaskEngine, tmp_path: Path, said: Said
) -> None:
    with said.raises(InputError):
        distinct_rows_of_parts(tmp_path, engine)
    (tmp_path / "broken.parquet").write_text("no")
    with said.raises(InputError):
        distinct_rows_of_parts(tmp_path, engine)
    pd.DataFrame({"a": [0], "b": [1]})[:0].to_parquet(tmp_path / "broken.parquet")
    for count in (distinct_rows_of_parts, scores_of_parts):
        with said.raises(InputError):
            count(tmp_path, engine)


@pytest.fixture
def set_from_outside(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in which "text", or two columns, were set; in the last column of all rows nothing is left to chance."""
    targets = np.array([None, "text", "number;flag", ""], dtype=object)
    rows = np.random.default_rng(2).choice(4, ROWS, p=[0.5, 0.2, 0.2, 0.1])
    return frame[["number", "category", "text", "flag"]].assign(do=targets[rows])


@pytest.fixture
def folder_with_interventions(set_from_outside: pd.DataFrame, tmp_path: Path) -> Path:
    set_from_outside[:1000].to_parquet(tmp_path / "a.parquet")
    # Of one type here and of another there: names, categories, nothing at all.
    set_from_outside[1000:2000].astype({"do": "category"}).to_parquet(tmp_path / "b.parquet")
    set_from_outside[2000:].to_parquet(tmp_path / "c.parquet")
    set_from_outside[:5].assign(do=None)[:0].to_parquet(tmp_path / "d.parquet")
    return tmp_path


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
def test_interventions_in_the_parts_score_as_those_of_the_whole_table(
    engine: DaskEngine, set_from_outside: pd.DataFrame, folder_with_interventions: Path, score: str
) -> None:
    whole = as_table(set_from_outside, interventions="do")
    expected = local_scores(whole, score, 2, engine=ThreadEngine(1))
    observed = local_scores(as_table(set_from_outside.drop(columns="do")), score, 2, engine=ThreadEngine(1))
    assert not np.allclose(observed.values[2], expected.values[2])
    table = distinct_rows_of_parts(folder_with_interventions, engine, interventions="do")
    assert (table.names, table.levels, table.observations) == (whole.names, whole.levels, ROWS)
    found = local_scores(table, score, 2, engine=ThreadEngine(1))
    assert np.allclose(found.values, expected.values, rtol=1e-12, atol=1e-9)
    by_cells = scores_of_parts(folder_with_interventions, engine, score, 2, interventions="do")
    assert by_cells.names == expected.names
    assert np.allclose(by_cells.values, expected.values, rtol=1e-12, atol=1e-9)


def test_interventions_of_a_dask_dataframe_are_counted_too(engine: DaskEngine, set_from_outside: pd.DataFrame) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    parts_of_it = dataframe.from_pandas(set_from_outside, npartitions=4)
    expected = local_scores(as_table(set_from_outside, interventions="do"), "bdeu", 2, engine=ThreadEngine(1)).values
    table = distinct_rows_of_parts(parts_of_it, engine, interventions="do")
    found = local_scores(table, "bdeu", 2, engine=ThreadEngine(1)).values
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-9)
    chosen = ["number", "text", "flag"]
    by_cells = scores_of_parts(parts_of_it, engine, "bdeu", 2, columns=chosen, interventions="do").values
    some = as_table(set_from_outside[[*chosen, "do"]], interventions="do")
    assert np.allclose(by_cells, local_scores(some, "bdeu", 2, engine=ThreadEngine(1)).values, rtol=1e-12, atol=1e-9)


def test_a_column_that_was_set_in_every_row_scores_nothing(engine: DaskEngine, tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": [0, 1, 1, 0, 1] * 4, "b": [1, 0, 1, 1, 0] * 4, "do": ["a", "a", "a;b", "a", "b;a"] * 4})
    rows.to_parquet(tmp_path / "a.parquet")
    expected = local_scores(as_table(rows, interventions="do"), "bdeu", 1, engine=ThreadEngine(1)).values
    found = scores_of_parts(tmp_path, engine, "bdeu", 1, interventions="do").values
    assert (found[0] == 0.0).all()
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("count", [distinct_rows_of_parts, scores_of_parts])
@pytest.mark.parametrize(
    "do",
    [
        ["a", "z"],
        [["a"], ["b"]],
    ],
)
def test_interventions_that_name_no_column_are_refused(
    engine: DaskEngine, tmp_path: Path, count: Any, do: list[Any], said: Said
) -> None:
    pd.DataFrame({"a": [0, 1], "b": [1, 0], "do": do}).to_parquet(tmp_path / "a.parquet")
    with said.raises(InputError, {r"list<\w+: string>": "list<string>"}):
        count(tmp_path, engine, interventions="do")
    with said.raises(InputError, {r"list<\w+: string>": "list<string>"}):
        count(tmp_path, engine, interventions="nowhere")
