"""The cells of one column in one form, whatever library or type they come in.

A column becomes its sorted distinct values and, for every cell, the place of its value among them; -1 where the cell is
missing. What a value is does not depend on its spelling: 56, 56.0, "56" and " 56" are the whole number 56, True and
"true" the truth value, a 32-bit float the shortest decimal number that it stands for. Text is stripped of blanks around
it, and the marks of a missing cell (empty, NA, ...) are missing. Numbers written with a decimal comma are numbers if
all cells of the column agree with that. A categorical column keeps the levels that it declares, in their order.
Everything is one hashing pass in compiled code, linear in the rows. A column comes as a NumPy array or as a narwhals
series, which stands for a series of pandas, polars or pyarrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dagpost.data.categories import categories_of
from dagpost.data.files import MISSING, MISSING_LEVEL, MISSING_TEXT
from dagpost.data.number_words import parsed, parsed_limits
from dagpost.errors import InputError

Kind = Literal["text", "truth", "whole", "decimal", "declared", "dates", "empty"]

_UNSIGNED: tuple[type[np.unsignedinteger[Any]], ...] = (np.uint8, np.uint16, np.uint32)
#: A column with at most this many different numbers is levels (column_kinds.py).
MOST_LEVELS = 10
#: Larger whole numbers are not exact in a float.
_EXACT = 2.0**53


@dataclass(frozen=True)
class Cells:
    """A column as places (-1: missing) among its distinct values, sorted; declared levels keep their own order."""

    kind: Kind
    places: NDArray[np.intp]
    #: Python values; an array for numbers.
    values: Any
    #: Whether the values are in an order, lowest first; None: nobody has said.
    ordered: bool | None = field(default=None, repr=False)
    #: Between which numbers (rows, 2) missing cells lie, infinite where nothing is known; None: nothing is of any.
    bounds: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """True where the value is not known."""
        return self.places < 0

    @property
    def censored(self) -> NDArray[np.bool_]:
        """True where all that is known of a number is that it lies below or above a limit."""
        if self.bounds is None:
            return np.zeros(len(self.places), dtype=bool)
        return self.missing & np.isfinite(self.bounds).any(axis=1)

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """True where nothing is known."""
        return self.missing & ~self.censored

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.kind in ("whole", "decimal")

    def levels(self) -> tuple[object, ...]:
        """The values as levels: str, bool, int or float."""
        return tuple(self.values.tolist() if isinstance(self.values, np.ndarray) else self.values)

    def numbers(self) -> NDArray[np.float64]:
        """The numbers of all cells; NaN where there is none."""
        values = np.append(np.asarray(self.values, dtype=np.float64), np.nan)
        return np.asarray(values[self.places])

    def of_rows(self, rows: NDArray[Any]) -> Cells:
        """The cells of some rows, by a mask or by their positions."""
        return replace(self, places=self.places[rows], bounds=None if self.bounds is None else self.bounds[rows])

    def occurring(self, rows: NDArray[Any]) -> Cells:
        """The cells of some rows, with the values that occur there; declared levels stay."""
        own = self.of_rows(rows)
        if self.kind == "declared":
            return own
        places = own.places
        present = np.zeros(len(self.values) + 1, dtype=bool)
        present[places] = True
        kept = np.flatnonzero(present[:-1])
        moved = np.full(len(self.values) + 1, -1, dtype=np.intp)
        moved[kept] = np.arange(len(kept))
        values = self.values[kept] if isinstance(self.values, np.ndarray) else [self.values[place] for place in kept]
        return replace(own, places=moved[places], values=values)

    def rearranged(self, order: Sequence[int], values: Any) -> Cells:
        """The cells with values in another order: the first of them is the one at `order[0]`, and so on."""
        moved = np.full(len(self.values) + 1, -1, dtype=np.intp)
        moved[list(order)] = np.arange(len(order))
        return replace(self, places=moved[self.places], values=values)


def code_type(largest_arity: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned integer type with room for the codes of that many levels."""
    return next(kind for kind in _UNSIGNED if largest_arity - 1 <= np.iinfo(kind).max)


def missing_cells(cells: Any) -> NDArray[np.bool_]:
    """True where a cell is empty or NaN."""
    if isinstance(cells, np.ndarray):
        masked = np.ma.getmaskarray(cells)
        if cells.dtype.kind == "f":
            return np.asarray(masked | np.isnan(np.ma.getdata(cells)), dtype=bool)
        if cells.dtype.kind not in "OmM":
            return np.asarray(masked, dtype=bool)
        import pandas

        return np.asarray(masked | pandas.isna(np.ma.getdata(cells)), dtype=bool)
    if not cells.dtype.is_float():
        if cells.null_count() == 0:
            return np.zeros(len(cells), dtype=bool)
        return np.asarray(cells.is_null().to_numpy(), dtype=bool)
    # Polars and pyarrow tell NaN from null; here both mean that there is no value.
    return np.asarray(cells.is_null().to_numpy() | np.isnan(_floats(cells)), dtype=bool)


def plain_list(cells: Any) -> list[Any]:
    """The cells as Python objects."""
    return list(cells.tolist() if isinstance(cells, np.ndarray) else cells.to_list())


def cells_of(name: str, column: Any, *, as_text: bool = False) -> Cells:
    """A column as `Cells`; `as_text` leaves text as it is and writes numbers and truth values as text.

    >>> cells_of("age", np.array(["56", "43.0", "NA", " 56"]))
    Cells(kind='whole', places=array([ 1,  0, -1,  1]), values=array([43, 56]))
    """
    missing = missing_cells(column)
    if missing.all():
        return Cells("empty", np.full(len(missing), -1, dtype=np.intp), [])
    found = _read(name, column, missing, as_text)
    return _spelled(found) if as_text and found.kind in ("whole", "decimal", "truth") else found


def _read(name: str, column: Any, missing: NDArray[np.bool_], as_text: bool) -> Cells:
    if isinstance(column, np.ndarray):
        return _read_array(name, np.ma.getdata(column), missing, as_text)
    import narwhals as nw

    kind = column.dtype
    if kind in (nw.Categorical, nw.Enum):
        return _declared(name, column, as_text)
    if kind.is_float():
        narrow = kind == nw.Float32
        return _of_floats(name, _floats(column, np.float32 if narrow else np.float64), missing)
    if kind.is_integer() or kind == nw.Boolean:
        # A nullable column of pandas with gaps comes as objects.
        values = column.fill_null(0 if kind.is_integer() else False).to_numpy() if missing.any() else column.to_numpy()
        return _read_array(name, values.astype(bool) if kind == nw.Boolean else values, missing, as_text)
    if kind == nw.Decimal:
        return _of_floats(name, _floats(column.cast(nw.Float64)), missing)
    if kind == nw.String:
        return _of_text(name, column.to_native() if column.implementation.is_pandas() else column.to_numpy(), as_text)
    if kind in (nw.Date, nw.Datetime):
        return _of_dates(column.to_numpy())
    if kind == nw.Object:
        return _of_objects(name, column.to_numpy(), missing, as_text)
    raise _unsupported(name, str(kind))


def _floats(series: Any, kind: Any = np.float64) -> NDArray[Any]:
    values = series.to_numpy()
    if values.dtype.kind == "O":  # a nullable column of pandas that does hold missing cells
        import pandas

        values = np.where(pandas.isna(values), np.nan, values)
    return np.asarray(values, dtype=kind)


def _read_array(name: str, values: NDArray[Any], missing: NDArray[np.bool_], as_text: bool) -> Cells:
    match values.dtype.kind:
        case "b":
            places, found = _factorised(np.ascontiguousarray(values).view(np.uint8))
            truth = Cells("truth", np.where(missing, -1, places), [bool(value) for value in found])
            return _without_unused(truth, missing)
        case "i" | "u":
            places, found = _factorised(np.ascontiguousarray(values))
            return _without_unused(Cells("whole", np.where(missing, -1, places), found), missing)
        case "f":
            return _of_floats(name, values, missing)
        case "U":
            return _of_text(name, _blanked(values, missing), as_text)
        case "M":
            return _of_dates(values)
        case "O":
            return _of_objects(name, values, missing, as_text)
    raise _unsupported(name, str(values.dtype))


def _without_unused(cells: Cells, missing: NDArray[np.bool_]) -> Cells:
    """What stood in the place of missing cells is not a value."""
    return cells.occurring(np.ones(len(missing), dtype=bool)) if missing.any() else cells


def _factorised(values: Any) -> tuple[NDArray[np.intp], Any]:
    import pandas

    places, distinct = pandas.factorize(values, sort=True)
    return places, np.asarray(distinct)


def _of_floats(name: str, values: NDArray[Any], missing: NDArray[np.bool_]) -> Cells:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise InputError(
            f"Column {name!r} holds {values[row]} in row {row + 1} (the first row is row 1) and "
            f"{int(infinite.sum())} infinite values in all. Values must be finite: drop those rows or "
            "replace the infinities by numbers."
        )
    # Adding 0 makes -0.0 the same as 0.0.
    places, found = _factorised(np.where(missing, np.nan, values + values.dtype.type(0)))
    if found.dtype.itemsize < 8:
        found = found.astype(str)
    return _of_numbers(places, np.asarray(found, dtype=np.float64))


def _of_numbers(places: NDArray[np.intp], values: NDArray[np.float64]) -> Cells:
    """Cells of floats: whole numbers if all of them are."""
    if bool((values == np.floor(values)).all()) and float(np.abs(values).max()) <= _EXACT:
        return Cells("whole", places, values.astype(np.int64))
    return Cells("decimal", places, values)


def _of_dates(values: Any) -> Cells:
    import pandas

    places, found = pandas.factorize(pandas.DatetimeIndex(pandas.to_datetime(values)), sort=True)
    return Cells("dates", places, [date.isoformat().removesuffix("T00:00:00") for date in found])


def _of_text(name: str, values: Any, as_text: bool) -> Cells:
    """Text that may be numbers or truth values; only distinct cells are looked at."""
    import pandas

    raw, found = pandas.factorize(values)
    texts = [_as_value(str(text).strip()) for text in found]
    places, distinct = pandas.factorize(np.array([None if t in MISSING else t for t in texts], dtype=object), sort=True)
    words = [str(word) for word in distinct]
    if not words:
        return Cells("empty", np.full(len(raw), -1, dtype=np.intp), [])
    found_values = None if as_text else parsed(words)
    if found_values is None:
        text = Cells("text", np.append(places, -1)[raw], words)
        numbers = None if as_text else with_limits(text)
        # A few numbers among limits are levels, such as the age groups "<40", "40" and ">40".
        return text if numbers is None or len(numbers.values) <= MOST_LEVELS else numbers
    values_of_words = np.append(places, -1)[raw]
    if isinstance(found_values[0], bool):
        own, levels = _factorised(np.array(found_values, dtype=np.uint8))
        return Cells("truth", np.append(own, -1)[values_of_words], [bool(level) for level in levels])
    if all(isinstance(number, int) for number in found_values):
        big = max(abs(number) for number in found_values) > np.iinfo(np.int64).max
        own, numbers = _factorised(np.array(found_values, dtype=object if big else np.int64))
        return Cells("whole", np.append(own, -1)[values_of_words], numbers)
    floats = np.array(found_values, dtype=np.float64)
    return _of_floats(name, np.append(floats, np.nan)[values_of_words], values_of_words < 0)


def with_limits(cells: Cells) -> Cells | None:
    """Cells of text as numbers, where all are numbers or censored numbers such as "<0.05" and some are; else None.

    >>> with_limits(cells_of("crp", np.array(["0.3", "<0.05", ""]))).bounds.tolist()
    [[-inf, inf], [-inf, 0.05], [-inf, inf]]
    """
    found = parsed_limits(cells.values) if cells.kind in ("text", "declared") and cells.levels() else None
    if found is None or not all(isinstance(value, str) for value in cells.values):
        return None
    numbers = np.array([*(np.nan if own is None else own for own in found.numbers), np.nan])[cells.places]
    bounds = np.array([*found.bounds, (-np.inf, np.inf)])[cells.places]
    if np.isnan(numbers).all():
        return replace(cells, kind="decimal", places=np.full(len(numbers), -1), values=np.empty(0), bounds=bounds)
    return replace(_of_floats("", numbers, np.isnan(numbers)), bounds=bounds)


def is_number(level: object) -> bool:
    """Whether a level is a number; truth values are not."""
    return isinstance(level, int | float) and not isinstance(level, bool)


def _blanked(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    objects = values.astype(object)
    objects[missing] = None
    return objects


def _of_objects(name: str, values: NDArray[Any], missing: NDArray[np.bool_], as_text: bool) -> Cells:
    from pandas.api.types import infer_dtype

    there = values[~missing]
    match infer_dtype(there, skipna=False):
        case "string":
            return _of_text(name, _blanked(values, missing), as_text)
        case "boolean":
            return _read_array(name, np.where(missing, False, values).astype(bool), missing, as_text)
        case "integer":
            places, found = _factorised(np.where(missing, there[0], values))
            small = max(abs(int(value)) for value in found) <= np.iinfo(np.int64).max
            return _without_unused(
                Cells("whole", np.where(missing, -1, places), found.astype(np.int64) if small else found), missing
            )
        case "floating" | "mixed-integer-float" | "decimal":
            narrow = all(isinstance(value, np.float32) for value in there)
            return _of_floats(name, np.where(missing, np.nan, values).astype("f4" if narrow else "f8"), missing)
        case "date" | "datetime" | "datetime64":
            return _of_dates(_blanked(values, missing))
    if all(isinstance(value, str | int | float | np.number) and not isinstance(value, bool) for value in there):
        # Numbers and words in one column, as a spreadsheet gives them: what a CSV file of these cells says.
        texts = np.full(len(values), None, dtype=object)
        texts[~missing] = [number_text(value) for value in there]
        return _of_text(name, texts, as_text)
    rows = np.flatnonzero(~missing)
    kinds = [type(value) for value in there]
    other = next((place for place, kind in enumerate(kinds) if kind is not kinds[0]), None)
    if other is None:
        raise _unsupported(name, kinds[0].__name__)
    raise InputError(
        f"Column {name!r} mixes types: {there[0]!r} ({kinds[0].__name__}) in row {rows[0] + 1}, {there[other]!r} "
        f"({kinds[other].__name__}) in row {rows[other] + 1}. A column holds values of one type: convert it, for "
        f"example with data[{name!r}].astype(str)."
    )


def _declared(name: str, series: Any, as_text: bool) -> Cells:
    import narwhals as nw

    found = categories_of(name, series)
    if found is None:
        # Take the levels that occur.
        return _of_text(name, series.cast(nw.String).to_numpy(), as_text)
    kind: Kind = "declared" if (found.places >= 0).any() else "empty"
    # Levels that were declared without an order may be in one nevertheless; nobody has said.
    return Cells(kind, found.places, [_as_value(level) for level in found.levels], found.ordered or None)


def _as_value(level: Any) -> Any:
    """A level that is written as gaps are called, told from the level of gaps."""
    return MISSING_TEXT if level == MISSING_LEVEL else level


def _spelled(cells: Cells) -> Cells:
    """Numbers and truth values as text, sorted as text."""
    texts = [number_text(value) for value in cells.levels()]
    places, distinct = _factorised(np.array(texts, dtype=object))
    return Cells("text", np.append(places, -1)[cells.places], [str(text) for text in distinct])


def number_text(value: object) -> str:
    """A number with as few digits as tell it apart; anything else as its text.

    >>> number_text(61.0), number_text(24.35), number_text(True)
    ('61', '24.35', 'True')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return str(int(value))
    return str(value)


def _unsupported(name: str, kind: str) -> InputError:
    return InputError(
        f"Column {name!r} is of type {kind}. Allowed are categories, strings, integers, booleans and floats: "
        "turn it into one of these (a duration, for example, into its days) or leave the column out."
    )
