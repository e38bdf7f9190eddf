"""What is asked: which columns are set to which values, and what of the outcome is looked at.

A cause of levels is set to each of its levels, and two of them are compared; a cause of numbers is set to two numbers,
or to one unit more than its mean and to its mean. What nobody says is filled in: of two levels the second rather than
the first, of more levels in an order the last rather than the first, of others the two that are farthest apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import LARGEST, is_finite
from dagpost._tools.spelling import bare, either
from dagpost._tools.text import position_of, printable, shortened, shown
from dagpost.causal.columns import Cause, Columns
from dagpost.causal.mechanisms import World
from dagpost.errors import InputError

_TWO = 2
#: Probabilities and means of the same rows differ by no more than this.
_ROUNDING = 1e-12
#: What is compared of levels in no order, where nobody says.
_OPEN = "the two levels whose expected outcomes are farthest apart"


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
        if self.single:
            (own,) = self.causes
            return [((label,), {own.column: value}) for value, label in zip(own.values, own.labels, strict=True)]
        sides = [[(own, own.compared[side]) for own in self.causes if own.compared] for side in (0, 1)]
        return [
            (tuple(own.labels[place] for own, place in side), {own.column: own.values[place] for own, place in side})
            for side in sides
        ]

    @property
    def single(self) -> bool:
        """Whether one column is set."""
        return len(self.causes) == 1

    @property
    def width(self) -> int:
        """How many numbers say what is seen of the outcome: one for each level, or its mean."""
        return max(len(self.outcome_levels), 1)

    @property
    def pair(self) -> tuple[int, int, tuple[float, float], int]:
        """Of one cause, once all is decided: cause, outcome, the two values, and the level that is looked at."""
        own = self.causes[0]
        assert self.level is not None
        return own.column, self.outcome, own.pair, self.level

    @property
    def steps(self) -> World:
        """By how much every column that is set changes, once all is decided."""
        return {own.column: own.pair[0] - own.pair[1] for own in self.causes}

    @property
    def compared(self) -> tuple[int, int] | None:
        """The places among the worlds of the two that are compared."""
        return self.causes[0].compared if self.single else (0, 1)

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
    level = _level(columns, y, outcome_level)
    question = Question(causes, y, columns.levels_of(y), level, _level_note(columns, y, outcome_level))
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
                f"The variable {name!r} has {len(own.labels)} levels in no order, so two must be named where "
                f"several columns are set: {{{name!r}: (level, other level)}}. There are: "
                f"{shortened([repr(level) for level in own.labels])}."
            )


def _cause(columns: Columns, x: int, do: object) -> Cause:
    return _cause_of_levels(columns, x, do) if columns.levels[x] is not None else _cause_of_numbers(columns, x, do)


def _cause_of_levels(columns: Columns, x: int, do: object) -> Cause:
    levels, name = columns.levels_of(x), columns.names[x]
    _refuse_one_level(columns, x)
    codes = tuple(map(float, range(len(levels))))
    if do is None:
        known = columns.known_levels(x)
        in_order = columns.in_order(x)
        note = "" if len(known) <= _TWO else _OPEN if not in_order else "the last level rather than the first"
        return Cause(x, codes, levels, (known[-1], known[0]) if in_order and len(known) > 1 else None, note)
    pair, held = _values(do, name, f"two levels, such as {levels[:2]!r}")
    first, second = (columns.code_of(x, level) for level in pair)
    if first == second and not held:
        raise InputError(
            f"'do' must be two different levels of {name!r}. Got {shown(pair[0])} and {shown(pair[1])}, which are both "
            f"{levels[first]!r}: nothing would change."
        )
    return Cause(x, codes, levels, (first, second))


def _cause_of_numbers(columns: Columns, x: int, do: object) -> Cause:
    name = columns.names[x]
    if do is None:
        return columns.usual_numbers(x)
    pair, held = _values(do, name, "two numbers, such as (30, 25), or left out")
    for value in pair:
        if not is_finite(value):
            raise InputError(
                f"'do' must be two numbers, as {name!r} is a column of numbers. Got {shown(value)} instead."
            )
    first, second = (float(value) for value in pair)
    if max(abs(first), abs(second)) > LARGEST:
        raise InputError(
            f"Nothing can be calculated with {max(first, second, key=abs):g} for {name!r}. Write numbers between "
            f"{-LARGEST:g} and {LARGEST:g}."
        )
    if first == second and not held:
        raise InputError(f"'do' must be two different values of {name!r}. Got {first!r} twice: nothing would change.")
    beyond = columns.beyond(x, first, second)
    return Cause(x, (first, second), (first, second), (0, 0) if held else (0, 1), beyond)


def _values(do: object, name: str, allowed: str) -> tuple[tuple[Any, Any], bool]:
    """The two values of a cause, and whether it is one value, at which the column is held."""
    if isinstance(do, Sequence) and not isinstance(do, str) and len(do) == _TWO:
        return (do[0], do[1]), False
    if isinstance(do, str | bool | int | float | np.generic):
        return (do, do), True
    raise InputError(f"'do' must be {allowed}, of {name!r}. Got {shown(do)} instead.")


def _level(columns: Columns, y: int, outcome_level: object) -> int | None:
    """The level of the outcome; of numbers the only thing there is, their mean."""
    if columns.levels[y] is None:
        if outcome_level is not None:
            option = either("'outcome_level'", "--level")
            raise InputError(
                f"{option} is about levels, and {columns.names[y]!r} is a column of numbers, of which the mean "
                "changes. Leave it out."
            )
        return 0
    _refuse_one_level(columns, y)
    if outcome_level is not None:
        return columns.code_of(y, outcome_level)
    return columns.known_levels(y)[-1] if columns.in_order(y) else None


def _level_note(columns: Columns, y: int, outcome_level: object) -> str:
    chosen = outcome_level is None and len(columns.known_levels(y)) > _TWO and columns.in_order(y)
    return f"Of {printable(columns.names[y])}: the last level." if chosen else ""


def _refuse_one_level(columns: Columns, column: int) -> None:
    if len(columns.levels_of(column)) < _TWO:
        raise InputError(
            f"The variable {columns.names[column]!r} has only one level, so there is nothing to change. Choose another."
        )


def decided(question: Question, expected: Floats, names: Sequence[str]) -> Question:
    """The question with what was left open filled in, given the expected outcome in every world (worlds, levels)."""
    places, level = question.compared, question.level
    if places is None:
        level = int(np.ptp(expected, axis=0).argmax()) if level is None else level
        places = int(expected[:, level].argmax()), int(expected[:, level].argmin())
        # All alike, up to rounding: the last rather than the first.
        places = places if np.ptp(expected[:, level]) > _ROUNDING else (len(expected) - 1, 0)
        (own,) = question.causes
        question = question._replace(causes=(own._replace(compared=places),))
    notes = [f"Of {printable(names[own.column])}: {own.note}." for own in question.causes if own.note]
    if question.level is None:
        level = int(np.abs(expected[places[0]] - expected[places[1]]).argmax()) if level is None else level
        notes.append(f"Of {printable(names[question.outcome])}: the level whose probability changes most.")
    return question._replace(level=level, note=" ".join([*notes, question.note]).strip())
