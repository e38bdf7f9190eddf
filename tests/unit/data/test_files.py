"""Tables from CSV and Parquet files: what is read, and what is refused."""

from __future__ import annotations

import builtins
import io
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tools.wording import Said

from dagpost.data import as_table, parquet, read_table
from dagpost.data.recipe import Recipe
from dagpost.errors import DagpostWarning, InputError, ResourceError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = ["no,1,0.5", "yes,2,1.5", "no,3,-2.5", "yes,1,7.25", "no,2,3.5", "yes,3,4.5"]
PLAIN = "\n".join(["rain,size,height", *ROWS]) + "\n"
#: What pyarrow says of a damaged file, which changes with its version.
OF_PARQUET = {r"\((Could not open|Expected to read|.*memory|.*realloc).*\)": "(<reason>)"}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Writes a file and gives its path."""

    def write_file(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_a_plain_csv_is_read(write: Any) -> None:
    table = read_table(write(PLAIN))
    assert table.names == ("rain", "size", "height")
    assert table.levels == (("no", "yes"), (1, 2, 3), None)
    assert table.columns[2].tolist() == [0.5, 1.5, -2.5, 7.25, 3.5, 4.5]
    assert as_table(str(write(PLAIN))).fingerprint() == table.fingerprint()


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        "\ufeff" + PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ";").replace(".", ","),
        PLAIN.replace(",", ", "),
        PLAIN.rstrip("\n"),
        PLAIN + "\n\n",
        "\n" + PLAIN,
        PLAIN.replace("no", '"no"').replace("rain", '"rain"'),
    ],
    ids=[
        "crlf",
        "cr",
        "bom",
        "semicolon",
        "tab",
        "comma decimals",
        "spaces",
        "no end",
        "blank end",
        "blank",
        "quotes",
    ],
)
def test_the_same_table_is_read_from_other_habits_of_writing_csv(write: Any, content: Any) -> None:
    assert read_table(write(content)).fingerprint() == read_table(write(PLAIN)).fingerprint()


def test_names_and_cells_in_quotes_may_hold_anything(write: Any) -> None:
    lines = ['"M. Work, heavy","say ""hi"""', '"a, b","x\ny"', "c,z", '"a, b",z', '"c","x\ny"']
    table = read_table(write("\n".join(lines)))
    assert table.names == ("M. Work, heavy", 'say "hi"')
    assert table.levels == (("a, b", "c"), ("x\ny", "z"))


def test_counts_and_interventions_are_columns_of_the_file(write: Any) -> None:
    path = write("a,b,n,set\n0,1,5,\n1,0,3,a\n0,0,2,a;b\n1,1,9,\n")
    table = read_table(path, counts="n", interventions="set")
    assert table.names == ("a", "b")
    assert table.observations == 19
    assert table.interventions.tolist() == [0, 1, 3, 0]


def test_standard_input_is_read_for_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO(PLAIN.encode())

    monkeypatch.setattr(sys, "stdin", Standard())
    assert read_table("-").rows == 6


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "<NA>", "#N/A"])
def test_usual_marks_of_a_missing_cell_are_missing(write: Any, cell: Any, said: Said) -> None:
    path = write(PLAIN.replace("yes,1,", f"{cell},1,"))
    with said.raises(InputError):
        read_table(path, recipe=Recipe(missing="refuse"))


@pytest.mark.parametrize("cell", ["None", "?", "none", "-"])
def test_other_words_are_levels(write: Any, cell: Any) -> None:
    assert cell in read_table(write(PLAIN.replace("no,", f"{cell},"))).levels[0]


@pytest.mark.parametrize("line", ["no,3", "no,3,-2.5,8", "no", "no,3,-2.5,", 'no,"3,-2.5"'])
def test_a_line_with_too_few_or_too_many_cells_is_named(write: Any, line: Any, said: Said) -> None:
    path = write(PLAIN.replace("no,3,-2.5", line))
    with said.raises(InputError):
        read_table(path)


def test_lines_are_counted_as_an_editor_counts_them(write: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write('a,b\n\n"x\ny",1\nz,2\nz\n'))


def test_an_open_quotation_mark_is_an_error(write: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write('a,b\n"x,1\ny,2\nz,3\n'))
    with said.raises(InputError):
        read_table(write('a,b\nx,"1\ny,2\nz,3\n'))
    with said.raises(InputError):
        read_table(write('a,b\n"x,1\n' + "y,2\n" * 50_000))


def test_a_number_of_thousands_of_digits_is_text(write: Any) -> None:
    long = "9" * 5000
    table = read_table(write(f"a,b\n{long},1\n2,0\n{long},1\n2,1\n"))
    assert set(table.levels[0]) == {"2", long}


def test_a_binary_file_is_refused(write: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write(b"a,b\n1,\x00\n"))
    with said.raises(InputError):
        read_table(write(b"a,b\n1,2\n\x01\xff,3\n"))
    with said.raises(InputError):
        read_table(write(PLAIN.encode("utf-16") + b"\n"))


@pytest.mark.parametrize(
    ("encoding", "letter"),
    [("cp1252", "\u20ac"), ("latin-1", "\xe4"), ("latin-1", "\x81")],
)
def test_other_encodings_are_read_with_a_notice(write: Any, encoding: str, letter: str, said: Said) -> None:
    text = PLAIN.replace("yes", f"j{letter}")
    with said.warns(DagpostWarning) as caught:
        table = read_table(write(text.encode(encoding)))
    assert len(caught) == 1
    assert repr(letter) in str(caught[0].message)
    assert table.fingerprint() == read_table(write(text)).fingerprint()


def test_utf_16_is_read_with_a_notice(write: Any, said: Said) -> None:
    for encoding in ("utf-16", "utf-16-be"):
        mark = b"" if encoding == "utf-16" else b"\xfe\xff"
        with said.warns(DagpostWarning):
            table = read_table(write(mark + PLAIN.replace("yes", "\u65e5\u672c").encode(encoding)))
        assert table.levels[0] == ("no", "\u65e5\u672c")


def test_damaged_utf_8_is_not_taken_for_another_encoding(write: Any, said: Said) -> None:
    content = PLAIN.replace("yes", "\u65e5\u672c").encode() + b"\xff,3,0.5\n"
    with said.raises(InputError):
        read_table(write(content))


@pytest.fixture
def write_sheets(tmp_path: Path) -> Any:
    """Writes a spreadsheet, one list of rows a sheet, and gives its path; names that end in "!" are hidden."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed (dagpost[excel])")

    def write_book(sheets: dict[str, list[list[Any]]]) -> Path:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name.rstrip("!"))
            sheet.sheet_state = "hidden" if name.endswith("!") else "visible"
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / "book.xlsx")
        return tmp_path / "book.xlsx"

    return write_book


SPLIT = [row.split(",") for row in ROWS]
CELLS: list[list[Any]] = [
    ["rain", "size", "height"],
    *([rain, int(size), float(height)] for rain, size, height in SPLIT),
]


def test_a_spreadsheet_is_the_table_that_its_csv_file_is(write: Any, write_sheets: Any) -> None:
    expected = read_table(write(PLAIN)).fingerprint()
    assert read_table(write_sheets({"data": CELLS})).fingerprint() == expected
    blank = [[None, None, None, None], *[[*row, None] for row in CELLS[:3]], [None] * 4, *CELLS[3:]]
    assert read_table(write_sheets({"notes!": [["x"]], "data": blank})).fingerprint() == expected


def test_the_first_of_several_sheets_is_read_with_a_notice(write_sheets: Any, said: Said) -> None:
    with said.warns(DagpostWarning):
        table = read_table(write_sheets({"data": CELLS, "more": [["a"], [1]]}))
    assert table.names == ("rain", "size", "height")


def test_a_bad_spreadsheet_is_an_error_that_names_it(write: Any, write_sheets: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write(b"no zip file", "book.xlsx"))
    with said.raises(InputError):
        read_table(write_sheets({"data": []}))
    with said.raises(InputError):
        read_table(write_sheets({"data": [["a", None], [1, 2], [2, 3]]}))
    with said.raises(InputError):
        read_table(write_sheets({"data": [["a", "a"], [1, 2], [2, 3]]}))


def test_without_openpyxl_a_spreadsheet_is_an_error_that_says_what_to_install(
    write: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with said.raises(InputError):
        read_table(write(b"", "book.xlsx"))


def test_an_empty_file_is_refused_and_so_is_one_without_rows(write: Any, said: Said) -> None:
    for content in ("", "\n \n"):
        with said.raises(InputError):
            read_table(write(content))
    for content in ("a,b\n", "a,b", "a,b\n\n\n"):
        with said.raises(InputError):
            read_table(write(content))


def test_empty_and_repeated_names_are_errors_that_name_the_file(write: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write(",a,b\nx,1,2\nx,2,3\ny,1,3\n"))
    with said.raises(InputError):
        read_table(write("a,,b\n0,1,2\n1,2,3\n"))
    with said.raises(InputError):
        read_table(write("a,b,a\n0,1,2\n1,2,3\n"))


def test_row_numbers_that_were_saved_without_a_name_are_left_out(write: Any, said: Said) -> None:
    with said.warns(DagpostWarning):
        assert read_table(write(",a,b\n0,1,2\n1,2,3\n2,1,3\n3,2,2\n")).names == ("a", "b")


def test_one_column_is_refused_with_the_separators_that_are_known(write: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write("a b\n1 2\n3 4\n"))


def test_infinity_in_a_file_is_refused(write: Any, said: Said) -> None:
    with said.raises(InputError):
        read_table(write(PLAIN.replace("1.5", "inf")))


def test_a_first_line_of_numbers_is_suspected_to_be_data(write: Any, said: Said) -> None:
    with said.warns(DagpostWarning):
        read_table(write("3,1\n0,1\n1,0\n0,0\n1,1\n"))
    assert read_table(write("0,1\n0,1\n1,0\n0,0\n1,1\n")).names == ("0", "1")


def test_a_file_that_is_not_there_is_an_error_with_a_suggestion(write: Any, tmp_path: Path, said: Said) -> None:
    write(PLAIN)
    with said.raises(InputError):
        read_table(tmp_path / "tabel.csv")
    for text in (PLAIN, PLAIN * 100):
        with said.raises(InputError):
            read_table(text)
    with said.raises(InputError):
        read_table(tmp_path / "nowhere" / "table.csv")
    with said.raises(InputError):
        read_table("coronary")


def test_a_folder_or_another_ending_is_refused(write: Any, tmp_path: Path, said: Said) -> None:
    with said.raises(InputError):
        read_table(tmp_path)
    with said.raises(InputError):
        read_table(write(PLAIN, "table.xls"))


def test_read_table_takes_paths_only(said: Said) -> None:
    with said.raises(InputError):
        read_table(pd.DataFrame())


def test_parquet_keeps_the_levels_of_categories(tmp_path: Path) -> None:
    category = pd.Categorical(["lo", "hi"] * 4, ["lo", "middle", "hi"])
    columns = {"level": category, "x": np.arange(8) / 3, "s": ["a", "b"] * 4}
    frame = pd.DataFrame(columns, index=list("abcdefgh"))
    frame.to_parquet(tmp_path / "table.parquet")
    table = read_table(tmp_path / "table.parquet")
    assert table.fingerprint() == as_table(frame).fingerprint()
    assert table.levels[0] == ("lo", "middle", "hi")


def test_parquet_written_by_polars_is_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2] * 4, "b": ["x", "y"] * 4, "n": [3] * 8})
    frame.write_parquet(tmp_path / "table.pq")
    assert read_table(tmp_path / "table.pq", counts="n").fingerprint() == as_table(frame, counts="n").fingerprint()


def test_only_the_row_labels_of_pandas_are_left_out_of_parquet(tmp_path: Path) -> None:
    columns = {"a": [1, 2] * 4, "__index_level_of_care": ["x", "y"] * 4, "__index_level_0__": [5] * 8}
    pl.DataFrame(columns).write_parquet(tmp_path / "table.pq")
    assert read_table(tmp_path / "table.pq").names == ("a", "__index_level_of_care")


def test_parquet_is_read_while_another_error_is_handled(tmp_path: Path) -> None:
    pd.DataFrame({"A": [0, 1], "B": [1, 0]}).to_parquet(tmp_path / "table.parquet")
    try:
        raise KeyError("another")
    except KeyError:
        assert read_table(tmp_path / "table.parquet").rows == 2


def test_a_broken_parquet_file_is_refused(write: Any, said: Said) -> None:
    with said.raises(InputError, OF_PARQUET):
        read_table(write(b"PAR1 but no more", "table.parquet"))


@pytest.mark.parametrize(
    "program",
    [
        "import os; os.abort()",
        "import sys; sys.stderr.write('a wrong byte'); sys.exit(3)",
        "import sys; sys.stdout.write('no stream')",
        "import sys; sys.exit(9)",
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass",
    ],
)
def test_a_reader_of_parquet_that_crashes_or_hangs_is_an_error_of_ours(
    write: Any, tmp_path: Path, program: str, said: Said
) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (dagpost[parquet])")
    pytest.importorskip("resource", reason="signals and limits are of POSIX")
    (tmp_path / "reader.py").write_text(program)
    with said.raises(InputError, OF_PARQUET):
        parquet._read_apart(write(b"PAR1", "table.parquet"), str(tmp_path / "reader.py"))


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit the address space of a process")
def test_a_parquet_file_that_unpacks_to_more_than_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (dagpost[parquet])")
    pytest.importorskip("resource", reason="limits are of POSIX")
    pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
    zeros = pyarrow.table({"a": np.zeros(1_000_000)})
    with pyarrow_parquet.ParquetWriter(tmp_path / "zeros.parquet", zeros.schema) as writer:
        for _ in range(100):
            writer.write_table(zeros)
    assert (tmp_path / "zeros.parquet").stat().st_size < 1_000_000
    # Room for the libraries, and for nothing else.
    monkeypatch.setattr(parquet, "available_bytes", lambda: -1_500_000_000)
    with said.raises(InputError, OF_PARQUET):
        read_table(tmp_path / "zeros.parquet")


def test_a_spreadsheet_that_unpacks_to_more_than_the_memory_is_refused(
    write_sheets: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setattr("dagpost._tools.memory.available_bytes", lambda: 10_000)
    with said.raises(ResourceError):
        read_table(write_sheets({"data": CELLS}))


def test_without_pyarrow_parquet_is_refused_with_the_command_that_installs_it(
    write: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    original = builtins.__import__

    def without_pyarrow(name: str, *arguments: Any, **settings: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *arguments, **settings)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with said.raises(InputError):
        read_table(write(b"PAR1", "table.parquet"))


def test_a_file_of_many_codes_is_read(write: Any) -> None:
    codes = np.random.default_rng(1).integers(0, 5, (500, 20))
    lines = [",".join(f"V{column}" for column in range(20)), *(",".join(map(str, row)) for row in codes.tolist())]
    table = read_table(write("\n".join(lines).encode()))
    assert (len(table.names), table.rows) == (20, 500)
    assert table.discrete
    assert (codes == table.codes().T).all()


def test_the_papers_files_are_read(shared_data: Path) -> None:
    table = read_table(shared_data / "paper" / "child_m500.csv")
    assert (len(table.names), table.rows) == (20, 500)
    assert table.discrete
