"""Tables from data in memory: what comes out, and what is refused."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.tools.wording import Said

from dagpost.data import Table, as_table
from dagpost.data.recipe import Recipe
from dagpost.errors import DagpostWarning, InputError, collected_warnings

COLOURS = ["red", "green", "red", "blue", "green", "red", "blue", "red"]
SIZES = [3, 1, 3, 2, 1, 1, 2, 3]
FLAGS = [True, False, True, True, False, False, True, True]
HEIGHTS = [1.5, 2.25, -0.5, 1e3, 0.25, 7.5, 3.125, -2.0]
MIXED = {"colour": COLOURS, "size": SIZES, "flag": FLAGS, "height": HEIGHTS}


def eight_rows(**columns: object) -> pd.DataFrame:
    """A harmless table with the columns under test added."""
    return pd.DataFrame({"colour": COLOURS, "flag": FLAGS, **columns})


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_library_gives_the_same_columns(library: Any) -> None:
    table = as_table(library(MIXED))
    assert table.names == ("colour", "size", "flag", "height")
    assert table.levels == (("blue", "green", "red"), (1, 2, 3), (False, True), None)
    assert [type(level) for level in table.levels[2]] == [bool, bool]
    assert [column.dtype for column in table.columns] == [np.uint8, np.uint8, np.uint8, np.float64]
    assert table.columns[0].tolist() == [2, 1, 2, 0, 1, 2, 0, 2]
    assert table.columns[3].tolist() == HEIGHTS
    assert table.arities == (3, 3, 2, 0)
    assert (table.rows, table.observations) == (8, 8)
    assert table.fingerprint() == as_table(pd.DataFrame(MIXED)).fingerprint()


def test_object_and_nullable_columns_of_pandas_mean_the_same_as_plain_ones() -> None:
    plain = as_table(pd.DataFrame(MIXED))
    nullable = as_table(pd.DataFrame(MIXED).convert_dtypes())
    objects = as_table(pd.DataFrame(MIXED).astype(object))
    arrow = as_table(pd.DataFrame(MIXED).convert_dtypes(dtype_backend="pyarrow"))
    assert plain.fingerprint() == nullable.fingerprint() == objects.fingerprint() == arrow.fingerprint()


def test_a_numpy_array_of_integers_is_discrete_and_columns_are_numbered() -> None:
    array = np.array([[5, 0], [7, 1], [5, 1], [7, 0]])
    table = as_table(array)
    assert table.names == ("V0", "V1")
    assert table.levels == ((5, 7), (0, 1))
    assert table.discrete
    assert table.continuous, "levels that are numbers serve as values, too"
    assert as_table(array % 5 == 0).levels[0] == (False, True)
    for spelled in (array.astype(str), array.astype(object), array.astype(float)):
        assert as_table(spelled).fingerprint() == table.fingerprint()


def test_a_numpy_array_of_floats_is_continuous_and_copied() -> None:
    array = np.array([[0.5, 1.5], [2.5, -1.0], [0.0, 4.0]])
    table = as_table(array)
    assert table.continuous
    assert table.levels == (None, None)
    array[0, 0] = 99.0
    assert table.values()[0, 0] == 0.5
    assert table.values().shape == (3, 2)
    assert table.values().flags.c_contiguous


def test_a_categorical_keeps_its_levels_in_order_also_those_that_do_not_occur() -> None:
    codes = pd.Categorical(["lo", "hi"] * 4, categories=["lo", "middle", "hi"])
    expected = as_table(eight_rows(level=codes))
    assert expected.levels[2] == ("lo", "middle", "hi")
    assert expected.columns[2].tolist() == [0, 2] * 4
    ordered = as_table(eight_rows(level=pd.Categorical(codes, ordered=True)))
    assert ordered.levels[2] == ("lo", "middle", "hi")
    assert (expected.in_order, ordered.in_order) == ((), ("level",))
    enum = pl.Series(["lo", "hi"] * 4, dtype=pl.Enum(["lo", "middle", "hi"]))
    places, levels = pa.array([0, 2] * 4), pa.array(["lo", "middle", "hi"])
    dictionary = pa.DictionaryArray.from_arrays(places, levels)
    in_order = pa.DictionaryArray.from_arrays(places, levels, ordered=True)
    for other, same in (
        (pl.DataFrame({"colour": COLOURS, "flag": FLAGS, "level": enum}), ordered),
        (pa.table({"colour": COLOURS, "flag": FLAGS, "level": dictionary}), expected),
        (pa.table({"colour": COLOURS, "flag": FLAGS, "level": in_order}), ordered),
    ):
        assert as_table(other).fingerprint() == same.fingerprint()


def test_chunks_with_different_dictionaries_are_brought_together() -> None:
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    table = as_table(pa.table({"x": pa.chunked_array(chunks * 2), "y": [0, 1] * 4}))
    decoded = [table.levels[0][code] for code in table.columns[0]]
    assert decoded == ["a", "b", "c", "b"] * 2


def test_a_polars_categorical_has_the_levels_that_occur_in_it() -> None:
    frame = pl.DataFrame({"x": ["b", "a"] * 4, "y": ["u", "v"] * 4}).with_columns(pl.all().cast(pl.Categorical))
    assert as_table(frame).levels == (("a", "b"), ("u", "v"))


def test_intervals_of_pandas_cut_become_their_text() -> None:
    table = as_table(eight_rows(band=pd.cut(HEIGHTS, [-5, 0, 2, 2000])))
    assert table.levels[2] == ("(-5, 0]", "(0, 2]", "(2, 2000]")


def test_codes_have_the_smallest_type_that_fits() -> None:
    rows = 4 * 300
    frame = pd.DataFrame({"many": np.arange(rows) % 300, "few": np.arange(rows) % 256}).astype("category")
    table = as_table(frame)
    assert [column.dtype for column in table.columns] == [np.uint16, np.uint8]
    codes = table.codes()
    assert codes.dtype == np.uint16
    assert codes.shape == (2, rows)
    assert codes.flags.c_contiguous


def test_floats_that_are_whole_numbers_are_those_numbers() -> None:
    table = as_table(eight_rows(bin=[0.0, 2.0, 1.0, 0.0, 2.0, 1.0, 1.0, 0.0]))
    assert table.levels[2] == (0, 1, 2)
    assert [type(level) for level in table.levels[2]] == [int] * 3
    assert table.columns[2].tolist() == [0, 2, 1, 0, 2, 1, 1, 0]


def test_levels_that_are_numbers_still_serve_as_values() -> None:
    table = as_table(pd.DataFrame({"age": [30.0, 40.0, 30.0, 50.0, 40.0, 50.0], "x": HEIGHTS[:6]}))
    assert table.continuous
    assert table.values()[:, 0].tolist() == [30.0, 40.0, 30.0, 50.0, 40.0, 50.0]


@pytest.mark.parametrize("values", [[0.0, 500.0] * 4, [-1.0, 1.0] * 4, [0.5, 1.0] * 4])
def test_few_numbers_that_repeat_are_levels(values: Any) -> None:
    assert as_table(eight_rows(x=values)).levels[2] == (values[0], values[1])


def test_fractions_that_do_not_repeat_and_many_numbers_are_numbers() -> None:
    assert as_table(eight_rows(x=HEIGHTS)).levels[2] is None
    assert as_table(pd.DataFrame({"x": [*range(11)] * 3, "y": ["a", "b", "c"] * 11})).levels[0] is None
    assert as_table(pd.DataFrame({"x": [*range(10)] * 3, "y": ["a", "b", "c"] * 10})).levels[0] == tuple(range(10))


def test_codes_of_a_continuous_column_are_refused_with_the_call_that_discretises(said: Said) -> None:
    with said.raises(InputError):
        as_table(pd.DataFrame(MIXED)).codes()


def test_values_of_a_discrete_column_are_refused_with_the_way_to_convert(said: Said) -> None:
    with said.raises(InputError):
        as_table(pd.DataFrame(MIXED)).values()


def test_counts_come_from_a_column_or_an_array() -> None:
    frame = eight_rows(n=[1, 0, 2, 3, 0, 5, 1, 1])
    named = as_table(frame, counts="n")
    given = as_table(frame[["colour", "flag"]], counts=[1, 0, 2, 3, 0, 5, 1, 1])
    assert named.names == ("colour", "flag")
    assert (named.rows, named.observations) == (8, 13)
    assert named.counts.dtype == np.int64
    assert named.fingerprint() == given.fingerprint()
    for series in (
        frame["n"],
        frame["n"].to_numpy(float),
        pl.Series(frame["n"].tolist()),
        pa.array(frame["n"]),
    ):
        assert as_table(frame[["colour", "flag"]], counts=series).counts.tolist() == named.counts.tolist()


@pytest.mark.parametrize("bad", [-1, 1.5, "x", None, float("inf"), True])
def test_a_count_that_is_no_whole_number_is_an_error_that_names_the_row(bad: Any, said: Said) -> None:
    frame = eight_rows(n=pd.Series([1, 1, bad, 1, 1, 1, 1, 1], dtype=object))
    with said.raises(InputError):
        as_table(frame, counts="n")


def test_counts_of_the_wrong_length_or_all_zero_are_errors() -> None:
    with pytest.raises(InputError, match=r"3 entries.*8 rows"):
        as_table(eight_rows(), counts=[1, 2, 3])
    with pytest.raises(InputError, match="empty"):
        as_table(eight_rows(), counts=[0] * 8)


def test_a_counts_column_that_is_not_there_is_an_error_with_a_suggestion(said: Said) -> None:
    with said.raises(InputError):
        as_table(eight_rows(), counts="colours")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_interventions_come_from_a_column_of_names(library: Any) -> None:
    targets = [None, "colour", "", "flag", "colour; flag", None, None, "flag"]
    table = as_table(library({"colour": COLOURS, "flag": FLAGS, "set": targets}), interventions="set")
    assert table.names == ("colour", "flag")
    assert table.interventions.dtype == np.uint64
    assert table.interventions.tolist() == [0, 1, 0, 2, 3, 0, 0, 2]


@pytest.mark.parametrize("word", ["none", "None", "observational", "Observational", " NONE ", "", ["none"]])
def test_there_are_words_for_rows_in_which_nothing_was_set(word: Any) -> None:
    assert as_table(eight_rows(), interventions=["flag", *[word] * 7]).interventions.tolist() == [2] + [0] * 7


def test_a_column_keeps_its_name_though_it_is_a_word_for_nothing(said: Said) -> None:
    frame = eight_rows().rename(columns={"flag": "none"})
    entries = ["none", "observational", "colour"] + [None] * 5
    assert as_table(frame, interventions=entries).interventions.tolist() == [2, 0, 1] + [0] * 5
    with said.raises(InputError):
        as_table(frame, interventions=["NONE"] + [None] * 7)
    with said.raises(InputError):
        as_table(eight_rows(), interventions=["flag;none"] + [None] * 7)


def test_interventions_come_from_a_sequence_with_one_entry_per_row() -> None:
    targets = [None, "colour", (), ["flag"], {"flag", "colour"}, float("nan"), None, "flag"]
    table = as_table(eight_rows(), interventions=targets)
    assert table.interventions.tolist() == [0, 1, 0, 2, 3, 0, 0, 2]
    assert as_table(eight_rows(), interventions=[None] * 8).interventions is None


def test_a_name_that_holds_a_semicolon_is_still_one_target() -> None:
    frame = pd.DataFrame({"a;b": FLAGS, "c": COLOURS})
    assert as_table(frame, interventions=["a;b"] + [None] * 7).interventions.tolist() == [1] + [0] * 7


def test_an_unknown_intervention_target_is_an_error_that_names_the_row(said: Said) -> None:
    with said.raises(InputError):
        as_table(eight_rows(), interventions=[None, "color"] + [None] * 6)
    with pytest.raises(InputError, match=r"1 entries.*8 rows"):
        as_table(eight_rows(), interventions=[None])


def test_missing_values_are_counted_per_column_with_a_remedy(said: Said) -> None:
    frame = eight_rows(x=[1.5, None, 2.5, None, 1.0, 2.0, 3.0, 4.0], y=["a", "b", None, "a", "b", "a", "b", "a"])
    frame = pd.concat([frame, frame], ignore_index=True)
    arrow = pa.Table.from_pandas(frame)
    for data in (frame, pl.from_arrow(arrow), arrow):
        with said.raises(InputError):
            as_table(data, recipe=Recipe(missing="refuse"))
        with said.warns(DagpostWarning):
            assert as_table(data, recipe=Recipe(missing="drop")).rows == 10


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None] * 4, dtype="Int64"),
        pd.array([1.5, None] * 4, dtype="Float64"),
        pd.array([True, None] * 4, dtype="boolean"),
        pd.Categorical(["a", None] * 4),
        pd.Series([1, None] * 4, dtype=object),
        pd.Series(["a", None] * 4, dtype=object),
    ],
)
def test_missing_values_are_found_in_every_type_of_column(column: Any, said: Said) -> None:
    with said.raises(InputError):
        as_table(eight_rows(x=column), recipe=Recipe(missing="refuse", keep=["x"]))


def test_nan_is_missing_in_arrays_and_in_polars_and_a_mask_is_too(said: Said) -> None:
    refuse = Recipe(missing="refuse")
    with said.raises(InputError):
        as_table(np.array([[0.5, 1.5], [2.5, np.nan], [1.5, 2.5]]), recipe=refuse)
    with said.raises(InputError):
        as_table(pl.DataFrame({"x": [float("nan"), 1.0, 2.0], "y": ["a", "b", "a"]}), recipe=refuse)
    with said.raises(InputError):
        as_table(np.ma.masked_equal(np.array([[7, 1], [2, 1], [3, 0]]), 7), recipe=refuse)


def test_infinity_is_an_error_that_names_column_and_row(said: Said) -> None:
    with said.raises(InputError):
        as_table(eight_rows(x=[1.5, 2.5, -np.inf, 1, 2, 3, 4, 5]))


def test_a_constant_column_is_left_out_with_a_notice_unless_it_is_kept(said: Said) -> None:
    frame = eight_rows(x=["same"] * 8)
    with said.warns(DagpostWarning):
        assert as_table(frame).names == ("colour", "flag")
    assert as_table(frame, recipe=Recipe(keep=["x"])).levels[2] == ("same",)


def test_a_column_that_is_constant_in_all_observations_counts_as_constant(said: Said) -> None:
    with said.raises(InputError):
        as_table(eight_rows(), counts=[5, 0, 5, 0, 0, 0, 0, 0])


def test_more_levels_than_half_the_rows_are_kept_with_a_warning(said: Said) -> None:
    with said.warns(DagpostWarning):
        as_table(eight_rows(town=list("abcdefgh")))


@pytest.mark.parametrize("data", [pd.DataFrame(), pd.DataFrame({"a": [], "b": []}), np.empty((0, 3))])
def test_an_empty_table_is_an_error(data: Any) -> None:
    with pytest.raises(InputError, match="empty"):
        as_table(data)


def test_one_column_is_an_error(said: Said) -> None:
    with said.raises(InputError):
        as_table(pd.DataFrame({"a": [1, 2]}))
    with said.raises(InputError):
        as_table(pd.DataFrame({"a": [1, 2], "n": [3, 4]}), counts="n")


def test_more_than_1024_columns_are_an_error(said: Said) -> None:
    wide = np.arange(1025 * 4).reshape(4, 1025) % 2
    assert len(as_table(wide[:, :1024]).names) == 1024
    with said.raises(InputError):
        as_table(wide)


def test_repeated_names_are_an_error(said: Said) -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with said.raises(InputError):
        as_table(frame)
    with said.raises(InputError):
        as_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))


@pytest.mark.parametrize("name", ["", "  ", None, float("nan")])
def test_an_empty_name_is_an_error(name: str, said: Said) -> None:
    with said.raises(InputError):
        as_table(pd.DataFrame([[1, 2]], columns=["a", name]))


def test_names_that_are_numbers_become_text() -> None:
    assert as_table(pd.DataFrame(np.array([[0, 1], [1, 0], [0, 0], [1, 1]]))).names == ("0", "1")


@pytest.mark.parametrize(
    "column", [pd.period_range("2020-01", periods=8, freq="M"), pd.to_timedelta(range(8), "D"), [b"a", b"b"] * 4]
)
def test_columns_of_other_types_are_refused_with_a_remedy(column: Any, said: Said) -> None:
    with said.raises(InputError):
        as_table(eight_rows(x=column))


@pytest.mark.parametrize("array", [np.ones((2, 2), dtype=complex), np.ones((2, 2), dtype="datetime64[D]")])
def test_arrays_of_other_types_are_refused(array: Any, said: Said) -> None:
    with said.raises(InputError):
        as_table(array)


def test_mixed_types_in_a_column_are_an_error_that_names_the_row(said: Said) -> None:
    column = pd.Series(["a", "b", True, "a", "b", "a", "b", "a"], dtype=object)
    with said.raises(InputError):
        as_table(eight_rows(x=column))


def test_numbers_and_words_in_a_column_are_read_as_a_file_of_them_is(tmp_path: Any) -> None:
    frame = eight_rows(
        x=pd.Series([5, 7.0, "n.k.", np.int64(5), None, "7", 7, 2.5], dtype=object),
        y=pd.Series([5, "7", 5, 7.0, "5", 5, np.nan, 7], dtype=object),
    )
    recipe = Recipe(missing="level", keep=["x"])
    table = as_table(frame, recipe=recipe)
    assert table.levels[2:] == (("2.5", "5", "7", "n.k.", "(missing)"), (5, 7, "(missing)"))
    assert table.columns[2].tolist() == [1, 2, 3, 1, 4, 2, 2, 0]
    plain = frame.map(lambda cell: "" if pd.isna(cell) else str(cell).removesuffix(".0"))
    plain.to_csv(tmp_path / "mixed.csv", index=False)
    assert as_table(tmp_path / "mixed.csv", recipe=recipe).fingerprint() == table.fingerprint()


@pytest.mark.parametrize("data", [[1, 2], 5, {"a": [1]}, pd.Series([1, 2]), None, pl.LazyFrame({"a": [1]})])
def test_what_is_no_table_is_refused_by_its_type(data: Any, said: Said) -> None:
    with said.raises(InputError):
        as_table(data)


def test_a_lazy_frame_is_refused_with_the_call_that_collects_it() -> None:
    with pytest.raises(InputError, match=r"collect\(\)"):
        as_table(pl.LazyFrame({"a": [1], "b": [2]}))


@pytest.mark.parametrize("shape", [(4,), (2, 2, 2)])
def test_an_array_must_have_two_dimensions(shape: Any) -> None:
    with pytest.raises(InputError, match="2 dimensions"):
        as_table(np.zeros(shape))


def test_a_table_is_handed_back_and_takes_no_counts_afterwards(said: Said) -> None:
    table = as_table(eight_rows())
    assert as_table(table) is table
    with said.raises(InputError):
        as_table(table, counts=[1] * 8)


def test_the_fingerprint_tells_tables_apart() -> None:
    tables = [
        as_table(eight_rows()),
        as_table(eight_rows().rename(columns={"flag": "Flag"})),
        as_table(eight_rows().iloc[::-1]),
        as_table(eight_rows(flag=[1, 0, 1, 1, 0, 0, 1, 1])),
        as_table(eight_rows(colour=pd.Categorical(COLOURS, ["red", "green", "blue"]))),
        as_table(eight_rows(), counts=[1, 1, 1, 1, 1, 1, 1, 2]),
        as_table(eight_rows(), interventions=["flag"] + [None] * 7),
    ]
    assert len({table.fingerprint() for table in tables}) == len(tables)
    assert as_table(eight_rows(), counts=[1] * 8).fingerprint() == tables[0].fingerprint()


def test_a_table_goes_to_pandas_and_back() -> None:
    targets = [None, "colour", None, "flag", "colour;flag", None, None, "flag"]
    table = as_table(eight_rows(height=HEIGHTS), counts=list(range(1, 9)), interventions=targets)
    frame = table.to_pandas()
    assert list(frame.columns) == ["colour", "flag", "height", "counts", "interventions"]
    back = as_table(frame, counts="counts", interventions="interventions")
    assert back.fingerprint() == table.fingerprint()


def test_the_repr_is_readable() -> None:
    text = repr(as_table(pd.DataFrame({**MIXED, "many": range(8)}), counts=[5] * 8))
    assert text.splitlines() == [
        "Table of 5 columns and 8 rows that stand for 40 observations",
        "  colour  3 levels: blue, green, red",
        "  size    3 levels: 1, 2, 3",
        "  flag    2 levels: False, True",
        "  height  8 levels: -2.0, -0.5, 0.25, 1.5, 2.25, 3.125, 7.5, 1000.0",
        "  many    8 levels: 0, 1, 2, 3, 4, 5, 6, 7",
    ]


def test_names_and_levels_are_escaped_in_html() -> None:
    frame = pd.DataFrame({"<b>": ["<i>", "&"] * 4, "y": FLAGS})
    page = as_table(frame)._repr_html_()
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;" in page


def test_a_narwhals_frame_is_a_table_too() -> None:
    frame = nw.from_native(eight_rows())
    assert isinstance(as_table(frame), Table)


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("missing", ["augment", "level", "drop"])
def test_cells_that_read_as_gaps_are_called_are_told_from_gaps(declared: bool, missing: Any) -> None:
    cells = pd.Series(["u", "(missing)", None, "v"] * 5)
    frame = pd.DataFrame({"x": cells.astype("category") if declared else cells, "y": ["p", "q", "q", "p", "q"] * 4})
    with collected_warnings():
        table = as_table(frame, recipe=Recipe(missing=missing))
    values = [(table.levels[0] or ())[code] for code in table.columns[0]]
    gap = {"augment": '"(missing)"', "level": "(missing)"}.get(missing)
    expected = ["u", '"(missing)"', gap, "v"] * 5
    assert values == [value for value in expected if value is not None]
    assert table.gap_count == (5 if missing == "augment" else 0)
    assert table.recipe is not None
    # New rows say it in the words of the data.
    again = table.recipe.read(frame.iloc[[0, 1, 3]])
    levels = table.levels[0] or ()
    assert again.columns[0].tolist() == [levels.index(level) for level in ("u", '"(missing)"', "v")]


def test_rows_in_which_a_model_calls_gaps_by_their_level_are_read_back() -> None:
    frame = pd.DataFrame({"x": ["u", None, "v", "v"] * 5, "y": ["p", "q", "q", "p", "q"] * 4})
    table = as_table(frame, recipe=Recipe(missing="level"))
    assert table.levels[0] == ("u", "v", "(missing)")
    assert table.recipe is not None
    assert table.recipe.step("x").code_of("(missing)") == 2
    assert table.recipe.read(table.to_pandas()).columns[0].tolist() == table.columns[0].tolist()


@pytest.mark.parametrize("value", ["yes", 5, 2.5, True])
def test_one_value_and_gaps_are_two_levels_where_gaps_are_a_level(value: Any, said: Said) -> None:
    cells = pd.Series([value, None, value] * 8, dtype=object)
    frame = pd.DataFrame({"x": cells, "y": ["p", "q"] * 12, "z": ["u"] * 23 + ["v"]})
    table = as_table(frame, recipe=Recipe(missing="level"))
    assert table.names == ("x", "y", "z")
    assert table.levels[0] == (value, "(missing)")
    assert table.columns[0].tolist() == [0, 1, 0] * 8
    with said.warns(DagpostWarning):
        assert as_table(frame).names == ("y", "z")
    # A gap that stands for no observation is not a level.
    counts = [1, 0, 1] * 8
    with said.warns(DagpostWarning):
        assert as_table(frame, counts=counts, recipe=Recipe(missing="level")).names == ("y", "z")
