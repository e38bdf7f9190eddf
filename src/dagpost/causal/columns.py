"""What is known of the columns that effects are about: how values are written, and what is usually compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.text import shortened, shown
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.recipe import Recipe
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.posterior.augmented_workspace import refuse_beyond
from dagpost.scores.latent_images import Images

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
    #: Where columns are images of latent numbers.
    images: Images | None = None
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
        if len(self.known_levels(column)) <= _TWO or self.images is not None:
            return True
        if self.recipe is None:
            return False
        step = self.recipe.step(self.names[column])
        return step.cuts is not None or bool(step.in_order)

    def can_set(self, column: int, code: int) -> bool:
        """Whether a level says what it would do: under latent numbers, only where some row has it."""
        return self.images is None or bool(rows_with(self.images, column, code).any())

    def usual_numbers(self, column: int) -> Cause:
        """What is compared of a column of numbers where nobody says: one unit more, or one standard deviation more."""
        if self.quartiles is not None:
            least, lower, upper, most = (float(number) for number in self.quartiles[column])
            if lower < upper:
                return Cause(column, (upper, lower), (upper, lower), (0, 1), "the upper rather than the lower quartile")
            return Cause(column, (most, least), (most, least), (0, 1), "the largest rather than the smallest value")
        if self.images is None:
            mean = float(self.means[column])
            return Cause(column, (mean + 1.0, mean), (mean + 1.0, mean), (0, 1), "one unit more", unit=True)
        # The middle of the latent numbers, and one deviation above it.
        low, high = (float(number) for number in self.images.number_image(column).of(np.array([0.0, 1.0])))
        return Cause(column, (high, low), (high, low), (0, 1), "one latent standard deviation more than the middle")

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

    def refuse_beyond(self, column: int, *values: float) -> None:
        """Refuse numbers beyond what was seen, where nothing says what they would do."""
        if self.images is not None:
            for value in values:
                refuse_beyond(self.images, column, self.names[column], value)


def rows_with(images: Images, column: int, code: int) -> Flags:
    """The rows that have a level."""
    table = images.table
    there = np.ones(table.rows, dtype=np.bool_) if table.gaps is None else ~table.gaps[column]
    found: Flags = there & (table.columns[column] == code) & (table.weights > 0)
    return found
