"""How columns of a table with time are named: `X` is the present value of a series, `X[t-1]` its value a step earlier.

The names alone say which column is which, in a table, a sample of graphs or a file: a column without earlier values
that are columns too is static, the same at all times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dagpost._tools.spelling import either
from dagpost.errors import InputError

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
