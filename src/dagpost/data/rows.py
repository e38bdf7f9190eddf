"""What a row carries beside its cells: how many observations it stands for, and what was set by intervention.

Interventions are masks over the columns, one per row (Cooper & Yoo, UAI 1999); linear in the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either, quoted
from dagpost._tools.text import nearest, shown
from dagpost.data.encoding import plain_list
from dagpost.data.survey_weights import WEIGHTS_REFUSED
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES

#: Words for a row in which nothing was set, beside an empty cell.
_NOTHING = ("none", "observational")


def row_counts(given: Any, rows: int) -> NDArray[np.int64]:
    """The counts as integers, one per row, or an error that names the first row at fault."""
    import pandas

    cells = _entries(given, "counts")
    if len(cells) != rows:
        raise InputError(
            f"{quoted('counts')} has {len(cells)} entries, but the table has {rows} rows: one per row is needed."
        )
    # pandas cannot coerce a cell that is an array.
    plain = [None if isinstance(cell, np.ndarray) else cell for cell in cells]
    numbers = pandas.to_numeric(pandas.Series(plain, dtype=object), errors="coerce").to_numpy(np.float64)
    is_text = np.array([isinstance(cell, (str, bool)) for cell in cells], dtype=bool)
    wrong = is_text | ~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers)))
    if wrong.any():
        row, column = int(wrong.argmax()), either("'counts'", "the column of --counts")
        fractions = wrong & ~is_text & (numbers >= 0) & (numbers < 2**53)
        if fractions.any():
            row = int(fractions.argmax())
            raise InputError(
                f"{column} must hold whole numbers. Got {shown(cells[row])} in row {row + 1} (the first row is row 1). "
                f"If these are weights: {WEIGHTS_REFUSED}"
            )
        raise InputError(
            f"{column} must hold whole numbers of at least 0. Got {shown(cells[row])} in row {row + 1} (the first "
            "row is row 1): correct it, or drop the row."
        )
    if not numbers.any():
        raise InputError(
            f"{quoted('counts')} are 0 in every row, so the table is empty. At least one observation is needed."
        )
    return numbers.astype(np.int64)


def intervention_masks(
    given: Any, names: tuple[str, ...], rows: int, left_out: Mapping[str, str] | None = None
) -> NDArray[np.uint64]:
    """One mask per row of the columns that were set, or an error that names the first row at fault.

    `left_out` says why columns are not among the names.
    """
    entries = _entries(given, "interventions")
    if len(names) > MAX_NODES:
        raise InputError(
            f"{quoted('interventions')} works for up to {MAX_NODES} columns, and this table has {len(names):,}. Choose "
            f"fewer columns ({either('Recipe(columns=[...])', '--columns')}), or leave out the rows with interventions."
        )
    if len(entries) != rows:
        raise InputError(
            f"{quoted('interventions')} has {len(entries)} entries, but the table has {rows} rows: one per row is "
            "needed (None where nothing was set)."
        )
    bits = {name: 1 << position for position, name in enumerate(names)}
    known: dict[object, int] = {}
    masks = np.zeros(rows, dtype=np.uint64)
    for row, entry in enumerate(entries):
        key = entry if entry is None or isinstance(entry, str) else tuple(_target_names(entry, bits))
        if key not in known:
            targets = _target_names(key, bits)
            unknown = [name for name in targets if name not in bits]
            if unknown:
                if unknown[0] in (left_out or {}):
                    raise InputError(
                        f"{quoted('interventions')} names {unknown[0]!r} in row {row + 1} (the first row is row 1), "
                        f"which was left out ({(left_out or {})[unknown[0]]}). Keep it: "
                        f"{either(f'Recipe(keep=[{unknown[0]!r}])', '--keep')}."
                    )
                raise InputError(
                    f"{quoted('interventions')} names {unknown[0]!r} in row {row + 1} (the first row is row 1), which "
                    f"is not a column.{nearest(unknown[0], names)} Several names in one cell are separated "
                    "by ';'."
                )
            known[key] = sum(bits[name] for name in set(targets))
        masks[row] = known[key]
    return masks


def _target_names(entry: Any, bits: dict[str, int]) -> list[str]:
    """The names in one entry: nothing, a word for that, one name (which may itself hold a ";"), or several."""
    if isinstance(entry, str):
        names = [entry] if entry in bits else entry.split(";")
    elif isinstance(entry, Iterable):
        names = [str(name) for name in entry]
    else:
        import pandas

        names = [] if pandas.isna(entry) else [str(entry)]
    targets = [name if name in bits else name.strip() for name in names if name.strip()]
    return [] if len(targets) == 1 and _says_nothing_was_set(targets[0], bits) else targets


def _says_nothing_was_set(word: str, bits: dict[str, int]) -> bool:
    """Whether a word says that nothing was set; a column that is called so keeps its name, however it is written."""
    return word.casefold() in _NOTHING and word.casefold() not in map(str.casefold, bits)


def _entries(given: Any, setting: str) -> list[Any]:
    import narwhals as nw

    if not isinstance(given, Iterable) or isinstance(given, Mapping) or getattr(given, "ndim", 1) != 1:
        allowed = either("the name of a column, or a list with one entry a row", "the name of a column")
        raise refusal(given, setting, None, allowed)
    if hasattr(given, "to_pylist"):  # an array of pyarrow, which narwhals knows only in chunks
        return list(given.to_pylist())
    series = nw.from_native(given, series_only=True, pass_through=True)
    return plain_list(series) if isinstance(series, (nw.Series, np.ndarray)) else list(series)
