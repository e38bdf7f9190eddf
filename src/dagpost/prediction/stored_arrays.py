"""Arrays as files keep them: the smallest types that hold them, and checked when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Integers


def require(fits: bool, otherwise: str) -> None:
    """Raise a ValueError that says what is wrong, unless all is well."""
    if not fits:
        raise ValueError(otherwise)


def integers_of(arrays: Mapping[str, NDArray[Any]], name: str) -> Integers:
    """Whole numbers in a row."""
    array = arrays[name]
    require(array.ndim == 1 and array.dtype.kind in "ui", f"{name} must be whole numbers in a row")
    return array.astype(np.int64)


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers of at least 0 in the smallest type that holds them."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))
