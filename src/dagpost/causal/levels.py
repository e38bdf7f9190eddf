"""Which level does a user mean? Its code, or an error that lists those that there are."""

from __future__ import annotations

from typing import Any

from dagpost._tools.text import shortened, shown
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.errors import InputError


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
    """The levels of a column; none where it is one of numbers."""
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
