"""Which levels does a column of categories have, and which cell holds which, whatever library it comes from?

A level is a value. A dictionary of Arrow may list a value twice, list one that stands for no value, or differ from
piece to piece of a column: what is listed twice is one level, and levels are in the order in which they are first
listed. Linear in the cells and in what is listed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost.errors import InputError


class Categories(NamedTuple):
    """The place of every cell (-1: no value) among the levels, and whether these were declared to be in an order."""

    places: NDArray[np.intp]
    levels: list[object]
    ordered: bool


def categories_of(name: str, series: Any) -> Categories | None:
    """The categories of a narwhals series; None where its type fixes no list of levels."""
    import narwhals as nw

    native = series.to_native()
    if series.implementation.is_pyarrow():
        return _distinct(name, *arrow_categories(native), native.type.ordered)
    if series.implementation.is_pandas_like() and hasattr(native, "cat"):
        return _distinct(name, native.cat.codes.to_numpy(), native.cat.categories.tolist(), native.cat.ordered)
    if series.implementation.is_pandas_like():
        # Categories of Arrow in a data frame of pandas.
        return _distinct(name, *arrow_categories(native.array.__arrow_array__()), native.dtype.pyarrow_dtype.ordered)
    if series.dtype == nw.Enum:
        return _distinct(name, native.to_physical().cast(int).fill_null(-1).to_numpy(), series.dtype.categories, True)
    # All columns of polars that are Categorical share one list of levels.
    return None


def arrow_categories(column: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """The codes (-1: no value) and the dictionaries of all pieces of a chunked array, one after the other."""
    import pyarrow

    codes: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)]
    levels: list[Any] = []
    for piece in column.chunks:
        own = piece.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy()
        codes.append(np.where(own < 0, -1, own + len(levels)))
        levels += piece.dictionary.to_pylist()
    return np.concatenate(codes), levels


def _distinct(name: str, codes: Any, listed: Sequence[Any], ordered: bool) -> Categories:
    """Categories whose levels are different values, and none of which stands for no value."""
    places: dict[tuple[bool, object], int] = {}
    moved = []
    for level in map(_plain_level, listed):
        absent = level is None or (isinstance(level, float) and math.isnan(level))
        if isinstance(level, float) and math.isinf(level):
            raise InputError(f"Column {name!r} has {level} among its levels {[*listed]!r}: give that level a name.")
        # True is 1 to Python, but another level.
        moved.append(-1 if absent else places.setdefault((isinstance(level, bool), level), len(places)))
    found = np.array([*moved, -1], dtype=np.intp)[np.asarray(codes, dtype=np.intp)]
    return Categories(found, [level for _, level in places], bool(ordered))


def _plain_level(level: Any) -> object:
    """Levels are kept as str, bool, int or float, so that a model file can hold them; others as text."""
    if isinstance(level, np.generic):
        level = level.item()
    return level if level is None or isinstance(level, (str, bool, int, float)) else str(level)
