"""What users give as the settings of a recipe, checked and in one form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast, get_args

import numpy as np

from dagpost._tools.checks import one_of, refusal, whole_number
from dagpost.data.cutting import LARGEST_BINS, Strategy
from dagpost.data.encoding import number_text
from dagpost.data.recipe_steps import Rule
from dagpost.errors import InputError


def names_of(setting: str, names: Any) -> tuple[str, ...]:
    """The columns that a setting names, one or several."""
    if isinstance(names, str):
        return (names,)
    listed = isinstance(names, Sequence) or (isinstance(names, np.ndarray) and names.ndim == 1)
    if not listed or not all(isinstance(name, str) for name in names):
        raise refusal(names, setting, "Recipe", "a list of names of columns")
    return tuple(str(name) for name in names)


def rule_of(name: object, cut: Any) -> Rule:
    """How a column is cut, from what the user gave for it."""
    if isinstance(cut, Sequence) and not isinstance(cut, str) and len(cut) == 2 and isinstance(cut[1], str):
        bins = whole_number(cut[0], "bins", "Recipe", least=2, most=LARGEST_BINS)
        return Rule(None, bins, cast("Strategy", one_of(cut[1], "strategy", get_args(Strategy), "Recipe")))
    points = list(cut) if isinstance(cut, Sequence | np.ndarray) and not isinstance(cut, str) else [cut]
    numbers = [isinstance(p, int | float | np.number) and not isinstance(p, bool) and math.isfinite(p) for p in points]
    if not points or not all(numbers) or any(a >= b for a, b in pairwise(points)):
        allowed = f"numbers in increasing order, or bins with a strategy such as (4, 'quantile'), for column {name!r}"
        raise refusal(cut, "cut", "Recipe", allowed)
    return Rule(tuple(float(point) for point in points))


def orders_of(given: Any) -> dict[str, tuple[object, ...]]:
    """The levels of columns from the lowest to the highest, by name."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise refusal(given, "order", "Recipe", "a mapping from names of columns to their levels, the lowest first")
    return {str(name): _order_of(name, levels) for name, levels in given.items()}


def _order_of(name: object, levels: Any) -> tuple[object, ...]:
    listed = isinstance(levels, Sequence | np.ndarray) and not isinstance(levels, str)
    own = [level.item() if isinstance(level, np.generic) else level for level in (levels if listed else ())]
    if len(own) < 2 or not all(isinstance(level, str | bool | int | float) for level in own):
        allowed = f"a list of two or more levels of column {name!r}, the lowest first"
        raise refusal(levels, "order", "Recipe", allowed)
    texts = [number_text(level) for level in own]
    if twice := [level for level, text in zip(own, texts, strict=True) if texts.count(text) > 1]:
        raise InputError(f"The order of column {name!r} names the level {twice[0]!r} twice. Name each level once.")
    return tuple(own)


def plain(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return value
