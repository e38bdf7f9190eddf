"""What is known of the columns that effects are about: how values are written, and what is usually compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import shortened, shown
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.errors import InputError

_TWO = 2


class Cause(NamedTuple):
    """A column that is set: the values that it is set to, as mechanisms take them and as people write them.

    `compared` are the places of the two values that are compared; None: those that are farthest apart.
    """

    column: int
    values: tuple[float, ...]
    labels: tuple[Any, ...]
    compared: tuple[int, int] | None
    #: Which are compared, where nobody said it.
    note: str = ""
    #: One unit more is compared: the same wherever it starts.
    unit: bool = False

    @property
    def pair(self) -> tuple[float, float]:
        """The two values that are compared, once that is decided; one unit more is not lost next to a large mean."""
        assert self.compared is not None
        return (1.0, 0.0) if self.unit else (self.values[self.compared[0]], self.values[self.compared[1]])


@dataclass(frozen=True)
class Columns:
    """What is known of the columns: names, levels (None: numbers), how cells are read, and the means of numbers."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    recipe: Recipe | None
    means: Floats
    exogenous: tuple[str, ...] = ()
    #: Where relations may be curved: the smallest value of every column, its quartiles, and the largest: (columns, 4).
    quartiles: Floats | None = None
    #: The rows as they were given; None where they are not kept.
    table: Table | None = None

    def levels_of(self, column: int) -> tuple[Any, ...]:
        """The levels of a column; none of a column of numbers."""
        return self.levels[column] or ()

    def known_levels(self, column: int) -> list[int]:
        """The codes of levels that are usually compared: all but that of cells without a value."""
        return [code for code, level in enumerate(self.levels_of(column)) if level != MISSING_LEVEL]

    def code_of(self, column: int, level: object) -> int:
        """The code of a level, written as in the table, in any type, or as a number where the column was cut."""
        levels, name = self.levels_of(column), self.names[column]
        recipe = Recipe.of_levels(self.names, self.levels) if self.recipe is None else self.recipe
        code = recipe.step(name).code_of(level)
        if code == len(levels):
            raise InputError(
                f"The variable {name!r} has no level {shown(level)}. There are: "
                f"{shortened([repr(known) for known in levels])}."
            )
        return code

    def in_order(self, column: int) -> bool:
        """Whether the levels of a column are in an order: two always are, as are the bins of a number."""
        if len(self.known_levels(column)) <= _TWO:
            return True
        if self.recipe is None:
            return False
        step = self.recipe.step(self.names[column])
        return step.cuts is not None or bool(step.in_order)

    def usual_numbers(self, column: int) -> Cause:
        """What is compared of a column of numbers where nobody says: one unit more, or one standard deviation more."""
        if self.quartiles is not None:
            least, lower, upper, most = (float(number) for number in self.quartiles[column])
            if lower < upper:
                return Cause(column, (upper, lower), (upper, lower), (0, 1), "the upper rather than the lower quartile")
            return Cause(column, (most, least), (most, least), (0, 1), "the largest rather than the smallest value")
        mean = float(self.means[column])
        return Cause(column, (mean + 1.0, mean), (mean + 1.0, mean), (0, 1), "one unit more", unit=True)

    def observed(self, column: int) -> Floats | None:
        """The numbers that rows have in a column; None where the rows are not kept."""
        if self.table is None:
            return None
        there = self.table.weights > 0
        if self.table.gaps is not None:
            there &= ~self.table.gaps[column]
        cells, levels = self.table.columns[column][there], self.table.levels[column]
        numbers: Floats = cells if levels is None else np.array(levels, dtype=np.float64)[cells]
        return numbers

    def beyond(self, column: int, *values: float) -> str:
        """A remark on numbers beyond what was seen, where the model may go anywhere."""
        observed = self.observed(column)
        if observed is None:
            return ""
        least, most = float(observed.min()), float(observed.max())
        outside = [value for value in values if not least <= value <= most]
        if not outside:
            return ""
        return f"no row has {outside[0]:g}, which lies outside {least:g} to {most:g}, so that only the model says it"
