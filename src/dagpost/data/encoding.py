"""How one column of cells becomes codes with levels, or continuous values.

The rules: a categorical column keeps its levels in their order, also those that do not occur; integers,
strings and booleans have their sorted distinct values as levels; floats are continuous, unless all of them
are whole numbers from 0 to 100 (what scikit-learn's KBinsDiscretizer makes), which count as codes with floats
as levels. Everything is one hashing pass in compiled code, linear in the rows. A column comes as a NumPy
array or as a narwhals series, which stands for a series of pandas, polars or pyarrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dagpost.errors import InputError

#: Codes with their levels, or float64 values with None.
Encoded = tuple[NDArray[Any], tuple[object, ...] | None]

#: Floats that are whole numbers up to this are taken for codes.
LARGEST_CODE = 100

_UNSIGNED: tuple[type[np.unsignedinteger[Any]], ...] = (np.uint8, np.uint16, np.uint32)


def code_type(largest_arity: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned integer type with room for the codes of that many levels."""
    return next(kind for kind in _UNSIGNED if largest_arity - 1 <= np.iinfo(kind).max)


def missing_cells(cells: Any) -> NDArray[np.bool_]:
    """True where a cell is empty or NaN."""
    if isinstance(cells, np.ndarray):
        masked = np.ma.getmaskarray(cells)
        if cells.dtype.kind == "f":
            return np.asarray(masked | np.isnan(np.ma.getdata(cells)), dtype=bool)
        if cells.dtype.kind != "O":
            return masked
        import pandas

        return np.asarray(masked | pandas.isna(np.ma.getdata(cells)), dtype=bool)
    if not cells.dtype.is_float():
        if cells.null_count() == 0:
            return np.zeros(len(cells), dtype=bool)
        return np.asarray(cells.is_null().to_numpy(), dtype=bool)
    # Polars and pyarrow tell NaN from null; here both mean that there is no value.
    return np.asarray(cells.is_null().to_numpy(), dtype=bool) | np.isnan(_floats(cells))


def plain_list(cells: Any) -> list[Any]:
    """The cells as Python objects."""
    return list(cells.tolist() if isinstance(cells, np.ndarray) else cells.to_list())


def encode(name: str, cells: Any) -> Encoded:
    """Codes and levels, or float64 values, of a column without missing cells."""
    if isinstance(cells, np.ndarray):
        return _encode_array(name, np.ma.getdata(cells), str(cells.dtype))
    import narwhals as nw

    kind = cells.dtype
    if kind in (nw.Categorical, nw.Enum):
        return _encode_categorical(name, cells)
    if kind.is_float():
        return _encode_floats(name, _floats(cells))
    if kind.is_integer() or kind == nw.Boolean:
        return _encode_array(name, cells.to_numpy(), str(kind))
    if kind == nw.String:
        native = cells.to_native()
        return _encode_strings(native if cells.implementation.is_pandas() else cells.to_numpy())
    if kind == nw.Object:
        return _encode_objects(name, cells.to_numpy())
    raise _unsupported(name, str(kind))


def _floats(series: Any) -> NDArray[np.float64]:
    values = series.to_numpy()
    if values.dtype.kind == "O":  # a nullable column of pandas that does hold missing cells
        import pandas

        values = np.where(pandas.isna(values), np.nan, values)
    return np.asarray(values, dtype=np.float64)


def _encode_array(name: str, values: NDArray[Any], kind: str) -> Encoded:
    match values.dtype.kind:
        case "b":
            return _with_levels(*_factorised(values.view(np.uint8)), convert=bool)
        case "i" | "u":
            return _with_levels(*_factorised(np.ascontiguousarray(values)))
        case "f":
            return _encode_floats(name, np.asarray(values, dtype=np.float64))
        case "U":
            return _encode_strings(values.astype(object))
        case "O":
            return _encode_objects(name, values)
    raise _unsupported(name, kind)


def _factorised(values: Any) -> tuple[NDArray[np.intp], list[Any]]:
    import pandas

    codes, distinct = pandas.factorize(values, sort=True)
    return codes, list(distinct.tolist())


def _with_levels(codes: NDArray[Any], levels: Sequence[Any], convert: type | None = None) -> Encoded:
    kept = tuple(convert(level) if convert else _plain_level(level) for level in levels)
    return np.ascontiguousarray(codes, dtype=code_type(len(kept))), kept


def _plain_level(level: Any) -> object:
    """Levels are kept as str, bool, int or float, so that a model file can hold them; others as text."""
    if isinstance(level, np.generic):
        level = level.item()
    return level if isinstance(level, (str, bool, int, float)) else str(level)


def _encode_strings(values: Any) -> Encoded:
    return _with_levels(*_factorised(values))


def _encode_floats(name: str, values: NDArray[np.float64]) -> Encoded:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise InputError(
            f"Column {name!r} holds {values[row]} in row {row + 1} (the first row is row 1) and "
            f"{int(infinite.sum())} infinite values in all. Values must be finite: drop those rows or "
            "replace the infinities by numbers."
        )
    if values.min() >= 0 and values.max() <= LARGEST_CODE and bool((values == np.floor(values)).all()):
        return _with_levels(*_factorised(values.astype(np.int64)), convert=float)
    # Adding 0 copies (the user's array stays the user's) and makes -0.0 the same as 0.0.
    return np.ascontiguousarray(values + 0.0), None


def _encode_objects(name: str, values: NDArray[Any]) -> Encoded:
    from pandas.api.types import infer_dtype

    match infer_dtype(values, skipna=False):
        case "string":
            return _encode_strings(values)
        case "boolean":
            return _encode_array(name, values.astype(bool), "bool")
        case "integer":
            return _with_levels(*_factorised(values))
        case "floating" | "mixed-integer-float":
            return _encode_floats(name, values.astype(np.float64))
    kinds = [type(value) for value in values]
    other = next((row for row, kind in enumerate(kinds) if kind is not kinds[0]), None)
    if other is None:
        raise _unsupported(name, kinds[0].__name__)
    raise InputError(
        f"Column {name!r} mixes types: {values[0]!r} ({kinds[0].__name__}) in row 1, {values[other]!r} "
        f"({kinds[other].__name__}) in row {other + 1}. A column holds values of one type: convert it, for "
        f"example with data[{name!r}].astype(str)."
    )


def _encode_categorical(name: str, series: Any) -> Encoded:
    import narwhals as nw

    native = series.to_native()
    levels: Sequence[Any]
    if series.implementation.is_pandas_like():
        codes, levels = native.cat.codes.to_numpy(), native.cat.categories.tolist()
    elif series.implementation.is_pyarrow():
        chunks = native.unify_dictionaries().chunks
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
        levels = chunks[0].dictionary.to_pylist()
    elif series.dtype == nw.Enum:
        codes, levels = native.to_physical().to_numpy(), series.dtype.categories
    else:
        # A Categorical of polars fixes no list of levels (all such columns share one): take those that occur.
        return _encode_strings(series.cast(nw.String).to_numpy())
    if any(level is None for level in levels):
        raise InputError(f"Column {name!r} has a missing value among its levels {levels!r}: give that level a name.")
    return _with_levels(codes, levels)


def _unsupported(name: str, kind: str) -> InputError:
    return InputError(
        f"Column {name!r} is of type {kind}. Allowed are categories, strings, integers, booleans and floats: "
        "turn it into one of these (a date, for example, into its year or month; a decimal into a float) or "
        "leave the column out."
    )


def interval_names(edges: NDArray[np.float64], closed: Literal["left", "right"]) -> tuple[str, ...]:
    """Intervals between the edges, written with as few digits, from 4 on, as tell the edges apart.

    >>> interval_names(np.array([0.0, 1.5, 3.0]), closed="left")
    ('[0, 1.5)', '[1.5, 3]')
    """
    for digits in range(4, 18):
        texts = [f"{edge + 0.0:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            break
    last = len(texts) - 2
    return tuple(
        f"{'[' if closed == 'left' or i == 0 else '('}{texts[i]}, "
        f"{texts[i + 1]}{']' if closed == 'right' or i == last else ')'}"
        for i in range(last + 1)
    )
