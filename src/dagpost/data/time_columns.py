"""How columns of a table with time are named: `X` is the present value of a series, `X[t-1]` its value a step earlier.

The names alone say which column is which, in a table, a sample of graphs or a file: a column without earlier values
that are columns too is static, the same at all times.

Columns that are one series at several times are treated alike: what is decided for `X` holds for `X[t-1]`.

Choices that name a series hold at all times. What a series is (levels, a number, left out) and where it is cut is
decided by its present values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.spelling import either
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats
    from dagpost.data.encoding import Cells
    from dagpost.data.recipe_reading import Choices
    from dagpost.data.recipe_steps import Step


_EARLIER = re.compile(r"(?P<series>.+)\[t-(?P<lag>[1-9][0-9]{0,3})\]", re.DOTALL)


def earlier(series: str, lag: int) -> str:
    """The column of a series so many steps ago.

    >>> earlier("pressure", 2), earlier("pressure", 0)
    ('pressure[t-2]', 'pressure')
    """
    return f"{series}[t-{lag}]" if lag else series


def series_and_lag(column: str) -> tuple[str, int]:
    """The series of a column, and how many steps ago.

    >>> series_and_lag("pressure[t-2]"), series_and_lag("pressure")
    (('pressure', 2), ('pressure', 0))
    """
    found = _EARLIER.fullmatch(column)
    return (found["series"], int(found["lag"])) if found else (column, 0)


def edge_words(parent: str, child: str, lag: int | None) -> str:
    """An edge between series in words; None for the lag of a static column.

    >>> edge_words("salt", "pressure", 1), edge_words("salt", "pressure", 0), edge_words("sex", "pressure", None)
    ('salt -> pressure at lag 1', 'salt -> pressure now', 'sex -> pressure')
    """
    return f"{parent} -> {child}" + ("" if lag is None else f" at lag {lag}" if lag else " now")


@dataclass(frozen=True)
class TimeColumns:
    """Which of some columns are series at which time, and which are static.

    >>> found = TimeColumns(("a", "b", "a[t-1]", "b[t-1]", "sex"))
    >>> found.series, found.lags, found.static
    (('a', 'b'), 1, ('sex',))
    >>> found.place("b", 1), found.place("b", 2)
    (3, None)
    """

    names: tuple[str, ...]

    @cached_property
    def places(self) -> Mapping[tuple[str, int], int]:
        """The positions of columns by series and lag; static columns are not among them."""
        split = [series_and_lag(name) for name in self.names]
        with_past = {series for series, lag in split if lag}
        return {key: place for place, key in enumerate(split) if key[0] in with_past}

    @cached_property
    def series(self) -> tuple[str, ...]:
        """The series, in the order of their columns."""
        return tuple(dict.fromkeys(series for series, _ in self.places))

    @cached_property
    def static(self) -> tuple[str, ...]:
        """The columns that are the same at all times."""
        return tuple(name for name in self.names if series_and_lag(name)[0] not in self.series)

    @cached_property
    def lags(self) -> int:
        """How many steps back the columns reach; 0 where there is no time."""
        return max((lag for _, lag in self.places), default=0)

    def place(self, series: str, lag: int) -> int | None:
        """The position of a column, if there is one."""
        return self.places.get((series, lag))

    def required(self, what: str) -> TimeColumns:
        """These columns, if there is time in them; else an error that says how to have it."""
        if self.lags:
            return self
        how = either(
            "Fit the model to unroll(table, time=..., subject=..., lags=...), which makes",
            "Fit with --time, --subject and --lags, which make",
        )
        raise InputError(
            f"{what} about series in time, and these columns have no earlier values. {how} columns such as 'X[t-1]'."
        )


def time_columns(names: Sequence[str]) -> TimeColumns:
    """The same for any sequence of names."""
    return TimeColumns(tuple(names))


#: What is true of the values of one time alone.
_OF_ONE_TIME = ("constant", "empty")


def at_all_times(choices: Choices, names: Sequence[str]) -> Choices:
    """The choices with the earlier columns of every series that is named, unless they have one of their own."""

    def widened(given: Sequence[str]) -> tuple[str, ...]:
        return (*given, *(name for name in names if name not in given and series_and_lag(name)[0] in given))

    cut = {name: choices.cut[key] for name in names if (key := _key(name, choices.cut)) is not None}
    order = {name: choices.order[key] for name in names if (key := _key(name, choices.order)) is not None}
    return choices._replace(
        columns=None if choices.columns is None else widened(choices.columns),
        drop=widened(choices.drop),
        keep=widened(choices.keep),
        cut={**choices.cut, **cut},
        order={**choices.order, **order},
        unordered=widened(choices.unordered),
    )


def _key(name: str, known: Mapping[str, Any]) -> str | None:
    return next((key for key in (name, series_and_lag(name)[0]) if key in known), None)


def decided_alike(decided: Sequence[tuple[Step, Cells | None]]) -> list[tuple[Step, Cells | None]]:
    """The same uses of all columns of a series."""
    steps = {step.name: step for step, _ in decided}
    return [(_like(step, steps.get(series_and_lag(step.name)[0]), cells), cells) for step, cells in decided]


def _like(step: Step, present: Step | None, cells: Cells | None) -> Step:
    if present is None or present.name == step.name or present.use == step.use or cells is None:
        return step
    if any(one.why.startswith(_OF_ONE_TIME) for one in (step, present)):
        return step
    if present.use == "number" and not cells.numeric:
        return step
    return replace(step, use=present.use, why=present.why)


def cut_alike(step: Step, numbers: Floats, bounds: Floats | None, steps: Mapping[str, Step]) -> Step | None:
    """The step of an earlier column with the cuts of the present one; None where that leaves all values in one bin."""
    from dagpost.data.recipe_steps import Rule
    from dagpost.errors import InputError

    present = steps.get(series_and_lag(step.name)[0])
    if present is None or present.name == step.name or present.cuts is None or np.isnan(numbers).all():
        return None
    try:
        cut = step.cut(numbers, None, Rule(points=present.cuts), bounds)
    except InputError:
        return None
    return replace(cut, rule=present.rule)
