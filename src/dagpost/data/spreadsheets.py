"""The cells of an Excel file (.xlsx), read by pandas with openpyxl: the first sheet that is not hidden.

The first row that is not blank names the columns. Cells are what Excel shows as values, the results of formulas
included; those that mean "missing" in a CSV file mean it here. Rows that are blank, and columns that have neither a
name nor a cell, are passed over.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagpost._tools import memory
from dagpost._tools.spelling import either
from dagpost._tools.text import shortened
from dagpost.errors import DagpostError, InputError, warn

if TYPE_CHECKING:
    import pandas

#: Memory for every byte of the XML in a file: a cell takes 20 bytes there and some hundred in memory.
_BYTES_A_BYTE = 20


def read_sheet(file: Path, missing: Sequence[str]) -> pandas.DataFrame:
    """The cells of a spreadsheet, `missing` being the texts that stand for missing cells."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise InputError(
            f"{file}: Excel files are read with openpyxl, which is not installed: "
            'pip install "dagpost[excel]"; or save the sheet as CSV.'
        ) from None
    cells, sheets = _first_sheet(file, missing)
    if len(sheets) > 1:
        other = either("pandas.read_excel(path, sheet_name=...) reads another", "save another as a file of its own")
        listed = shortened([repr(name) for name in sheets])
        warn(f"{file}: has {len(sheets)} sheets ({listed}); the first, {sheets[0]!r}, was read; {other}.")
    filled = cells.dropna(how="all")
    if filled.empty:
        raise InputError(f"{file}: the sheet {sheets[0]!r} is empty. A row of names and at least one row are needed.")
    names = [str(value).strip() for value in filled.iloc[0].fillna("")]
    rows = filled.iloc[1:].set_axis(range(len(names)), axis=1)
    used = [place for place, name in enumerate(names) if name or bool(rows[place].notna().any())]
    return rows[used].infer_objects().set_axis([names[place] for place in used], axis=1).reset_index(drop=True)


def _first_sheet(file: Path, missing: Sequence[str]) -> tuple[pandas.DataFrame, list[str]]:
    """All cells of the first sheet, without names, and the names of all sheets that are not hidden."""
    import pandas

    try:
        _require_memory(file)
        with warnings.catch_warnings():
            # Of styles and checks of input that openpyxl does not know; they do not change a cell.
            warnings.simplefilter("ignore", UserWarning)
            with pandas.ExcelFile(file, engine="openpyxl") as book:
                shown = [str(sheet.title) for sheet in book.book.worksheets if sheet.sheet_state == "visible"]
                if not shown:
                    raise InputError(f"{file}: has no sheet that is not hidden.")
                cells = pandas.read_excel(
                    book, sheet_name=shown[0], header=None, na_values=list(missing), keep_default_na=False
                )
                return cells, shown
    except (DagpostError, PermissionError):
        raise
    except Exception as error:
        # A file that is not what it says ends openpyxl, which believes it, in an error of any kind.
        raise InputError(
            f"{file}: is not a readable Excel file ({error}). Is it protected by a password, or of an older format? "
            "Open it and save it as .xlsx or CSV."
        ) from error


def _require_memory(file: Path) -> None:
    """Refuse a small file that would unpack to more than there is room for."""
    with zipfile.ZipFile(file) as packed:
        unpacked = sum(part.file_size for part in packed.infolist() if part.filename.endswith(".xml"))
    memory.require(_BYTES_A_BYTE * unpacked, f"Reading {file}", "Save the sheet as CSV.")
