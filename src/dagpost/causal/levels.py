"""Which levels of treatment and outcome are meant: checked, with what is left out filled in where only two are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dagpost._tools.text import shortened, shown
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.errors import InputError


def refuse_levels(table: Table, node: int, name: str, value: object) -> None:
    """Refuse a setting that is about levels where the column is one of numbers."""
    if value is not None:
        raise InputError(
            f"'{name}' is about levels, and {table.names[node]!r} is a column of numbers, "
            + (
                "whose effect is that of one unit more. Leave it out; for more units, multiply."
                if name == "do"
                else "of which the mean changes. Leave it out."
            )
        )


def contrast_of(table: Table, x: int, do: object) -> tuple[object, object]:
    """The two levels of the treatment that are meant."""
    _refuse_one_level(table, x)
    if do is None:
        first, second = only_two(table, x, "do", "do=(level, other level)")
        do = (second, first)
    if isinstance(do, str) or not isinstance(do, Sequence) or len(do) != 2:
        raise InputError(
            f"'do' must be two levels of {table.names[x]!r}, such as {levels_of(table, x)[:2]!r}. "
            f"Got {shown(do)} instead."
        )
    codes = code_of(table, x, do[0]), code_of(table, x, do[1])
    if codes[0] == codes[1]:
        raise InputError(
            f"'do' must be two different levels of {table.names[x]!r}. "
            f"Got {shown(do[0])} and {do[1]!r}, which are both "
            f"{levels_of(table, x)[codes[0]]!r}: nothing would change."
        )
    first, second = (levels_of(table, x)[code] for code in codes)
    return first, second


def outcome_of(table: Table, y: int, outcome_level: object) -> object:
    """The level of the outcome that is meant."""
    _refuse_one_level(table, y)
    if outcome_level is None:
        _, outcome_level = only_two(table, y, "outcome_level", "outcome_level=level")
    return levels_of(table, y)[code_of(table, y, outcome_level)]


def _refuse_one_level(table: Table, node: int) -> None:
    if len(levels_of(table, node)) < 2:
        raise InputError(
            f"The variable {table.names[node]!r} has only one level, so there is nothing to change. Choose another."
        )


def only_two(table: Table, node: int, setting: str, example: str) -> tuple[object, ...]:
    """The two levels of a column; where it has others, `setting` must say which are meant."""
    levels = levels_of(table, node)
    if len(levels) != 2:
        raise InputError(
            f"The variable {table.names[node]!r} has {len(levels)} levels, so '{setting}' must say which are meant: "
            f"{example}. There are: {shortened([repr(level) for level in levels])}."
        )
    return levels


def levels_of(table: Table, node: int) -> tuple[Any, ...]:
    """The levels of a column."""
    return table.levels[node] or ()


def code_of(table: Table, node: int, level: object) -> int:
    """The code of a level, written as in the table, in any type, or as a number where the column was cut."""
    levels, recipe = levels_of(table, node), Recipe.of_table(table) if table.recipe is None else table.recipe
    code = recipe.step(table.names[node]).code_of(level)
    if code == len(levels):
        raise InputError(
            f"The variable {table.names[node]!r} has no level {shown(level)}. There are: "
            f"{shortened([repr(known) for known in levels])}."
        )
    return code
