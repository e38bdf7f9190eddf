"""What is asked: which columns are set to which values, and what of the outcome is looked at.

A cause of levels is set to each of its levels, and two of them are compared; a cause of numbers is set to two numbers,
or to one unit more than its mean and to its mean. What nobody says is filled in: of two levels the second rather than
the first, of more levels in an order the last rather than the first, of others the two that are farthest apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import is_finite
from dagpost._tools.spelling import bare
from dagpost._tools.text import position_of, printable, shortened, shown
from dagpost.causal.mechanisms import World
from dagpost.data.recipe import Recipe
from dagpost.errors import InputError

_TWO = 2


@dataclass(frozen=True)
class Columns:
    """What is known of the columns: names, levels (None: numbers), how cells are read, and the means of numbers."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    recipe: Recipe | None
    means: Floats
    exogenous: tuple[str, ...] = ()

    def levels_of(self, column: int) -> tuple[Any, ...]:
        """The levels of a column; none of a column of numbers."""
        return self.levels[column] or ()

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
        if len(self.levels_of(column)) <= _TWO:
            return True
        if self.recipe is None:
            return False
        step = self.recipe.step(self.names[column])
        return step.cuts is not None or bool(step.in_order)


class Cause(NamedTuple):
    """A column that is set: the values that it is set to, as mechanisms take them and as people write them.

    `compared` are the places of the two values that are compared; None: those that are farthest apart.
    """

    column: int
    values: tuple[float, ...]
    labels: tuple[Any, ...]
    compared: tuple[int, int] | None
    #: One unit more is compared.
    unit: bool = False


class Question(NamedTuple):
    """Causes and outcome. `level` is the level of the outcome that is looked at; None: that which changes most."""

    causes: tuple[Cause, ...]
    outcome: int
    outcome_levels: tuple[Any, ...]
    level: int | None
    note: str = ""

    @property
    def worlds(self) -> list[tuple[tuple[Any, ...], World]]:
        """What is set, with its labels: every value of one cause, or the two settings of several."""
        if len(self.causes) == 1:
            (own,) = self.causes
            return [((label,), {own.column: value}) for value, label in zip(own.values, own.labels, strict=True)]
        sides = [[(own, own.compared[side]) for own in self.causes if own.compared] for side in (0, 1)]
        return [
            (tuple(own.labels[place] for own, place in side), {own.column: own.values[place] for own, place in side})
            for side in sides
        ]

    @property
    def compared(self) -> tuple[int, int] | None:
        """The places among the worlds of the two that are compared."""
        return self.causes[0].compared if len(self.causes) == 1 else (0, 1)

    @property
    def changed(self) -> tuple[int, ...]:
        """The columns that are set to different values."""
        return tuple(own.column for own in self.causes if own.compared is None or own.compared[0] != own.compared[1])


def question_of(columns: Columns, cause: object, outcome: str, do: object, outcome_level: object) -> Question:
    """What a user asks for, checked."""
    wanted = _wanted(cause, do)
    y = position_of(outcome, columns.names)
    if outcome in columns.exogenous:
        raise InputError(
            f"The outcome {outcome!r} is exogenous: it is not modelled, and nothing has an effect on it. Name an "
            f"outcome that is modelled, or take it out of {bare('exogenous')} and fit again."
        )
    for name in wanted:
        if position_of(name, columns.names) == y:
            raise InputError(
                f"Cause and outcome are both {outcome!r}. Setting a variable has its effect on others: name two."
            )
    causes = tuple(_cause(columns, position_of(name, columns.names), own) for name, own in wanted.items())
    if len(causes) > 1:
        _refuse_open(columns, causes)
    question = Question(causes, y, columns.levels_of(y), _level(columns, y, outcome_level))
    if not question.changed:
        raise InputError("Every column is held at one value, so nothing would change. Give one of them two values.")
    return question


def _wanted(cause: object, do: object) -> dict[str, object]:
    """What every cause is set to, by name; None where nobody says."""
    if isinstance(cause, str):
        return {cause: do}
    if do is not None:
        raise InputError(
            "'do' is for one cause. Say what each of several is set to with its name: "
            "{'name': (value, other value), 'other name': (value, other value)}."
        )
    if isinstance(cause, Mapping) and cause and all(isinstance(name, str) for name in cause):
        return dict(cause)
    if isinstance(cause, Sequence) and cause and all(isinstance(name, str) for name in cause):
        if len(set(cause)) < len(cause):
            raise InputError(f"Every cause is named once. Got {shown(cause)} instead.")
        return dict.fromkeys(cause)
    raise InputError(
        "'cause' must be the name of a column, several names, or names with the two values of each: "
        f"{{'name': (value, other value)}}. Got {shown(cause)} instead."
    )


def _refuse_open(columns: Columns, causes: tuple[Cause, ...]) -> None:
    for own in causes:
        if own.compared is None:
            name = columns.names[own.column]
            raise InputError(
                f"The variable {name!r} has {len(own.labels)} levels in no order, so that two must be named where "
                f"several columns are set: {{{name!r}: (level, other level)}}. There are: "
                f"{shortened([repr(level) for level in own.labels])}."
            )


def _cause(columns: Columns, x: int, do: object) -> Cause:
    return _cause_of_levels(columns, x, do) if columns.levels[x] is not None else _cause_of_numbers(columns, x, do)


def _cause_of_levels(columns: Columns, x: int, do: object) -> Cause:
    levels = columns.levels_of(x)
    _refuse_one_level(columns, x)
    codes, last = tuple(map(float, range(len(levels)))), len(levels) - 1
    if do is None:
        return Cause(x, codes, levels, (last, 0) if columns.in_order(x) else None)
    first, second = _two(do, columns.names[x], f"two levels, such as {levels[:2]!r}")
    places = columns.code_of(x, first), columns.code_of(x, second)
    if places[0] == places[1] and first is not second:
        raise InputError(
            f"'do' must be two different levels of {columns.names[x]!r}. Got {shown(first)} and {second!r}, which are "
            f"both {levels[places[0]]!r}: nothing would change."
        )
    return Cause(x, codes, levels, places)


def _cause_of_numbers(columns: Columns, x: int, do: object) -> Cause:
    name = columns.names[x]
    if do is None:
        mean = float(columns.means[x])
        return Cause(x, (mean + 1.0, mean), (mean + 1.0, mean), (0, 1), unit=True)
    first, second = _two(do, name, "two numbers, such as (30, 25), or left out: one unit more")
    for value in (first, second):
        if not is_finite(value):
            raise InputError(
                f"'do' must be two numbers, as {name!r} is a column of numbers. Got {shown(value)} instead."
            )
    numbers = float(first), float(second)  # type: ignore[arg-type]
    if numbers[0] == numbers[1] and first is not second:
        raise InputError(f"'do' must be two different values of {name!r}. Got {first!r} twice: nothing would change.")
    return Cause(x, numbers, numbers, (0, 1) if numbers[0] != numbers[1] else (0, 0))


def _two(do: object, name: str, allowed: str) -> tuple[object, object]:
    """The two values of a cause; one value alone is held, which only several causes make sense of."""
    if isinstance(do, Sequence) and not isinstance(do, str) and len(do) == _TWO:
        return do[0], do[1]
    if isinstance(do, str) or is_finite(do) or isinstance(do, bool | np.generic):
        return do, do
    raise InputError(f"'do' must be {allowed}, of {name!r}. Got {shown(do)} instead.")


def _level(columns: Columns, y: int, outcome_level: object) -> int | None:
    """The level of the outcome; of numbers the only thing there is, their mean."""
    if columns.levels[y] is None:
        if outcome_level is not None:
            raise InputError(
                f"'outcome_level' is about levels, and {columns.names[y]!r} is a column of numbers, of which the mean "
                "changes. Leave it out."
            )
        return 0
    _refuse_one_level(columns, y)
    if outcome_level is not None:
        return columns.code_of(y, outcome_level)
    return len(columns.levels_of(y)) - 1 if columns.in_order(y) else None


def _refuse_one_level(columns: Columns, column: int) -> None:
    if len(columns.levels_of(column)) < _TWO:
        raise InputError(
            f"The variable {columns.names[column]!r} has only one level, so there is nothing to change. Choose another."
        )


def decided(question: Question, expected: Floats, names: Sequence[str]) -> Question:
    """The question with what was left open filled in, given the expected outcome in every world (worlds, levels)."""
    places, level = question.compared, question.level
    notes = []
    if places is None:
        spans = expected.max(axis=0) - expected.min(axis=0)
        level = int(spans.argmax()) if level is None else level
        places = int(expected[:, level].argmax()), int(expected[:, level].argmin())
        # All alike: the last rather than the first.
        places = places if places[0] != places[1] else (len(expected) - 1, 0)
        (own,) = question.causes
        notes.append(
            f"{printable(names[own.column])} has {len(own.labels)} levels in no order: compared are the two that are "
            "farthest apart in the expected outcome."
        )
        question = question._replace(causes=(own._replace(compared=places),))
    if question.level is None:
        changes = np.abs(expected[places[0]] - expected[places[1]])
        level = int(changes.argmax()) if level is None else level
        notes.append(
            f"{printable(names[question.outcome])} has {len(question.outcome_levels)} levels in no order: shown is the "
            "one whose probability changes most."
        )
    return question._replace(level=level, note=" ".join(notes))
