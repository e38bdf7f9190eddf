"""Checks of the numbers that score objects take."""

from __future__ import annotations

import math
from numbers import Integral, Real

from dagpost.errors import InputError

#: Far outside of what makes sense, and well inside of what arithmetic can carry through every table.
SMALLEST = 1e-100
LARGEST = 1e100


def positive(owner: str, name: str, value: object) -> float:
    """`value` as a float, or an error that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, Real) or not SMALLEST <= float(value) <= LARGEST:
        raise InputError(
            f"The '{name}' parameter of {owner} must be a float in [{SMALLEST:g}, {LARGEST:g}]. Got {value!r} instead."
        )
    return float(value)


def finite(owner: str, name: str, value: object) -> float:
    """`value` as a float that is neither infinite nor NaN, or an error that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"The '{name}' parameter of {owner} must be made of finite floats. Got {value!r} instead.")
    return float(value)


def parent_limit(owner: str, value: object) -> int:
    """`max_parents` as an int, or an error."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) <= 12:
        raise InputError(f"The 'max_parents' parameter of {owner} must be an int in [0, 12]. Got {value!r} instead.")
    return int(value)
