"""The cells of files: CSV (comma, semicolon or tab between cells), Parquet (parquet.py) and Excel (spreadsheets.py).

A CSV file is text (`decoded`) whose first line names the columns. Before pandas reads the cells, the file is
checked for what pandas would repair silently: bytes that are not text, lines with too few or too many cells,
names that are empty or repeated. Cells that are empty or read NA, N/A, #N/A, n/a, <NA>, NaN, nan, NULL or null are
missing; all else, "None" and "?" included, is a value. With semicolons between the cells, numbers may
have a decimal comma. Memory: a few times the file.

The bytes of a text file as letters: UTF-8, or what spreadsheets write instead, with a notice.

UTF-16 is known by the mark at its beginning. Other bytes that are not UTF-8 are read as Windows-1252, of which Latin-1
is a part as far as printable letters go; the notice names the first such byte, so that a person can check the letter.
A file that is UTF-8 but for a few bytes is damaged, and one with zero bytes, or with control characters where it is not
UTF-8, is not text: these are refused.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import file_path
from dagpost._tools.spelling import either
from dagpost._tools.text import nearest, shown
from dagpost.data.parquet import read_parquet
from dagpost.data.spreadsheets import read_sheet
from dagpost.errors import InputError, warn

if TYPE_CHECKING:
    import pandas


#: The level of cells without a value, where these have one.
MISSING_LEVEL = "(missing)"
#: The level of cells that hold that very text.
MISSING_TEXT = f'"{MISSING_LEVEL}"'
#: What stands for a missing cell in a CSV file. "None" is not among them: it is a common name of a level.
MISSING = ("", "NA", "N/A", "#N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null")

_SEPARATORS = (",", ";", "\t")
_CSV_ENDINGS = (".csv", ".tsv", ".txt")
_PARQUET_ENDINGS = (".parquet", ".pq")
_EXCEL_ENDINGS = (".xlsx",)
_ENDINGS = _CSV_ENDINGS + _PARQUET_ENDINGS + _EXCEL_ENDINGS
_SNIFFED_LINES = 20


def source_name(path: str | os.PathLike[str]) -> str:
    """What messages call the file."""
    return "standard input" if os.fspath(path) == "-" else os.fspath(path)


def read_frame(path: str | os.PathLike[str]) -> Any:
    """The cells of a file as a pandas or pyarrow table; errors name the file."""
    given = os.fspath(path)
    if given == "-":
        return _parse_csv(sys.stdin.buffer.read(), source_name(path))
    if isinstance(given, str) and "\n" in given and not os.path.exists(given):
        remedy = either("pass pandas.read_csv(io.StringIO(text))", "send it to standard input, and name the file -")
        raise InputError(
            f"{shown(given)}: there is no such file. If this is the text of a table, write it to a file, or {remedy}."
        )
    file = file_path(path)
    if not file.exists():
        raise InputError(_not_there(file))
    ending = file.suffix.lower()
    if file.is_dir() or ending not in _ENDINGS:
        raise InputError(
            f"{file}: {'is a folder' if file.is_dir() else f'files ending in {ending!r} are not read'}. Give "
            f"a CSV file ({', '.join(_CSV_ENDINGS)}), a Parquet file ({', '.join(_PARQUET_ENDINGS)}) or an Excel file "
            f"({', '.join(_EXCEL_ENDINGS)}); "
            f"anything else, {either('read with pandas or polars and pass the data frame', 'save as CSV first')}."
        )
    try:
        if ending in _PARQUET_ENDINGS:
            return read_parquet(file)
        if ending in _EXCEL_ENDINGS:
            return read_sheet(file, MISSING)
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error}).") from error
    return _parse_csv(content, str(file))


def _not_there(file: Path) -> str:
    folder = file.parent
    if not os.path.isdir(folder):
        return f"{file}: there is no such file, nor a folder {str(folder)!r} (now in {Path.cwd()})."
    others = sorted(other.name for other in folder.iterdir() if other.suffix in _ENDINGS)
    return f"{file}: there is no such file in {folder.resolve()}.{nearest(file.name, others) if others else ''}"


def _parse_csv(content: bytes, source: str) -> Any:
    import pandas

    text = decoded(content, source)
    if not text.strip():
        raise InputError(f"{source}: the file is empty. A line of names and at least one row are needed.")
    try:
        separator = _separator(text)
        names, body_start, header_lines = _header(text, separator)
        body = text[body_start:]
        _check_ragged(body, separator, len(names), header_lines, source)
        cells = _cells(body, separator, len(names))
    except (csv.Error, pandas.errors.ParserError) as error:
        raise InputError(f"{source}: is not a readable CSV file ({error}). Is a quotation mark left open?") from error
    if _looks_like_data(names):
        warn(
            f"{source}: the first line, taken as the names of the columns, holds only numbers: "
            f"{separator.join(names[:5])}... If it is a row of data, put a line of names above it."
        )
    return cells.set_axis(names, axis=1)


def _cells(body: str, separator: str, width: int) -> pandas.DataFrame:
    import pandas

    return pandas.read_csv(
        io.StringIO(body),
        sep=separator,
        header=None,
        names=list(range(width)),
        index_col=False,
        na_values=list(MISSING),
        keep_default_na=False,
        skipinitialspace=True,
        low_memory=False,
        decimal="," if separator == ";" and re.search(r"\d,\d", body) else ".",
    )


def _separator(text: str) -> str:
    """The separator that splits the first lines into most cells, as many in each line as in the first."""
    lines = [line for line in text[:100_000].split("\n")[:_SNIFFED_LINES] if line.strip()]

    def merit(separator: str) -> tuple[int, int]:
        widths = [len(record) for record in csv.reader(lines, delimiter=separator, skipinitialspace=True)]
        return (sum(width == widths[0] for width in widths) if widths[0] > 1 else 0), widths[0]

    return max(_SEPARATORS, key=merit)


def _header(text: str, separator: str) -> tuple[list[str], int, int]:
    """The names, where the rows begin, and how many lines come before them."""
    stream = io.StringIO(text, newline="")
    lines = 0
    end = 0

    def physical_lines() -> Iterable[str]:
        nonlocal lines, end
        for line in stream:
            lines += 1
            end += len(line)
            yield line

    # Blank lines above the names are passed over, as those between the rows are.
    for record in csv.reader(physical_lines(), delimiter=separator, skipinitialspace=True):
        if record and any(cell.strip() for cell in record):
            return [cell.strip() for cell in record], end, lines
    raise AssertionError("a text that is not blank has a line that is not blank")


def _check_ragged(body: str, separator: str, width: int, header_lines: int, source: str) -> None:
    found = _first_ragged(body, separator, width)
    if found is not None:
        line, cells = found
        raise InputError(
            f"{source}: line {header_lines + line} has {cells} {'cell' if cells == 1 else 'cells'}, but the "
            f"line of names has {width}. Every line needs as many cells, separated by {separator!r}: correct "
            "that line (a cell that holds the separator goes between quotation marks)."
        )


def _first_ragged(body: str, separator: str, width: int) -> tuple[int, int] | None:
    """The first line with another number of cells than `width`, and that number."""
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=separator, skipinitialspace=True)
    begins = 1
    for record in reader:
        if record and len(record) != width:
            return begins, len(record)
        begins = reader.line_num + 1
    return None


def _looks_like_data(names: list[str]) -> bool:
    """Whether all names are numbers, other than the 0, 1, 2, ... of a data frame without names."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return numbers != list(range(len(numbers)))


_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: What hardly any text holds; tabs, line ends and form feeds are not among them.
_CONTROL = r"\x00-\x08\x0b\x0e-\x1f\x7f"
_REPLACED = "\ufffd"
_WINDOWS, _LATIN = ("cp1252", "Windows-1252 (Latin-1)"), ("latin-1", "Latin-1")
_UNUSED_IN_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def decoded(content: bytes, source: str) -> str:
    """The text of a file, with plain line ends; what is not text is an error that names the source and the line."""
    try:
        text = content.decode("utf-16" if content[:2] in _UTF_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in _UTF_16:
            raise InputError(f"{source}: begins as UTF-16, but is not ({error.reason}). {_remedy()}") from None
        text = _in_one_byte_letters(content, error.start, source)
    else:
        _refuse_binary(text, "\0", source)
        if content[:2] in _UTF_16:
            warn(f"{source}: is in UTF-16 and was read as such. Other programs may want UTF-8.")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _in_one_byte_letters(content: bytes, wrong: int, source: str) -> str:
    """The text where each byte is a letter; `wrong` is where the first byte stands that is not UTF-8."""
    line = content.count(b"\n", 0, wrong) + 1
    place = f"byte 0x{content[wrong]:02x} in line {line}"
    as_far = content.decode("utf-8", "replace")
    bad = as_far.count(_REPLACED)
    if len(as_far) - bad - sum(map(str.isascii, as_far)) > bad:
        raise InputError(
            f"{source}: is text in UTF-8 except for {bad} {'place' if bad == 1 else 'places'} (the first: {place}). "
            f"It may be damaged, or joined from files in different encodings. {_remedy()}"
        )
    # Windows-1252 has no letters for five bytes.
    encoding, words = _WINDOWS if not _UNUSED_IN_WINDOWS.search(content) else _LATIN
    text = content.decode(encoding)
    _refuse_binary(text, _CONTROL, source)
    warn(
        f"{source}: is not text in UTF-8 ({place}); it was read as {words}, in which that byte is "
        f"{bytes([content[wrong]]).decode(encoding)!r}. If letters look wrong, save the file as UTF-8."
    )
    return text


def _refuse_binary(text: str, letters: str, source: str) -> None:
    """Refuse a text that holds letters of a class that no text holds."""
    found = re.search(f"[{letters}]", text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        what = "a zero byte" if found[0] == "\0" else f"the control character {found[0]!r}"
        raise InputError(f"{source}: is a binary file, not text ({what} in line {line}). {_remedy()}")


def _remedy() -> str:
    other = either(
        "read other formats with pandas or polars and pass the data frame", "save other formats as CSV first"
    )
    return f"Give a text file in UTF-8 (in a spreadsheet: 'CSV UTF-8'); {other}."
