"""Tables as text: cells between commas, tabs or semicolons, with the names of the columns in the first line.

Cells are separated by whichever of the three comes first in that order in the first line. A byte order mark, any kind
of line end and empty lines do not matter. Only in a table of one column an empty line may be an empty cell: there it
has to be written as "", and an empty line is refused.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

from dagpost._tools.text import shown
from dagpost.data.files import decoded
from dagpost.errors import InputError


@dataclass(frozen=True)
class CellTable:
    """The cells of a table, and the line of the file on which each row stands."""

    source: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]

    def place(self, row: int) -> str:
        """How a message speaks of a row."""
        return f"{self.source}, line {self.lines[row]}"

    def columns(self) -> dict[str, list[str]]:
        """The columns by name; a row with more or fewer cells than the first line is refused."""
        twice = next((name for name in self.header if self.header.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{self.source}: the first line names the column {shown(twice)} more than once.")
        for at, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise InputError(
                    f"{self.place(at)}: has {len(row)} cell{'s' * (len(row) != 1)}, and the first line "
                    f"{len(self.header)}. Was a comma lost, or the file cut short?"
                )
        return {name: [row[at].strip() for row in self.rows] for at, name in enumerate(self.header)}


def text_of(source: Path) -> str:
    """The text of a file; an empty one is refused."""
    if not source.is_file():
        raise InputError(f"{source}: {'is a folder' if source.is_dir() else 'there is no such file'}.")
    try:
        text = decoded(source.read_bytes(), str(source))
    except OSError as error:
        raise InputError(f"{source}: cannot be read ({error.strerror or error}).") from error
    if not text.strip():
        raise InputError(
            f"{source}: the file is empty. Benchpress leaves such a file where an algorithm ran out of time: give it a "
            "longer 'timeout', or null for none."
        )
    return text


def header_of(text: str) -> list[str]:
    """The cells of the first line that is not empty.

    >>> header_of("graph;weight;edges")
    ['graph', 'weight', 'edges']
    """
    line = _first_line(text)
    return [cell.strip() for cell in next(csv.reader([line], delimiter=_separator(line)))]


def table_of(text: str, source: Path) -> CellTable:
    """All cells below the first line; none of them is ever evaluated."""
    header = header_of(text)
    reader = csv.reader(io.StringIO(text), delimiter=_separator(_first_line(text)), skipinitialspace=True, strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
            elif rows and len(header) == 1:
                raise InputError(
                    f'{source}, line {reader.line_num}: is empty, and {shown(header[0])} is the only column. Write "" '
                    "if the cell is empty, or remove the line."
                )
    except csv.Error as error:
        raise InputError(f"{source}, line {reader.line_num}: is not readable as CSV ({error}).") from error
    return CellTable(source, header, rows[1:], lines[1:])


def number_in(text: str) -> float:
    """The number that a text is; nan where it is none, as with underscores among the digits."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _first_line(text: str) -> str:
    return text.lstrip("\n").split("\n", 1)[0]


def _separator(line: str) -> str:
    return next((letter for letter in ",\t;" if letter in line), ",")
