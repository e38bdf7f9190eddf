"""Panels with one row a subject and a column for every series and time, as rows of subject and time.

Which column is what is said by a pattern, such as ``"{series}.{time}"`` or ``"{series}_w{time}"``, or by a mapping from
each series to its columns in the order of time. With a pattern, a column that is named like a series is its first time:
`v1`, `v1.2`, `v1.3` are v1 at the times 1, 2 and 3. All other columns are static.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.checks import different_texts, refusal
from dagpost._tools.spelling import quoted
from dagpost._tools.text import nearest, shortened, shown
from dagpost.data.encoding import Cells, cells_of, missing_cells
from dagpost.errors import InputError

_SERIES, _TIME = "{series}", "{time}"
_ALLOWED = "a pattern such as '{series}.{time}', or a mapping from each series to its columns in the order of time"


class LongPanel(NamedTuple):
    """A panel as rows of subject and time."""

    series: Mapping[str, Cells]
    static: Mapping[str, Cells]
    #: The row of the original that each row comes from, and its time.
    subjects: Integers
    times: Integers


def columns_in_time(wide: Any, names: Sequence[str]) -> dict[str, dict[int, str]]:
    """For each series its columns by their times."""
    if isinstance(wide, str):
        return _by_pattern(wide, names)
    if not isinstance(wide, Mapping) or not wide:
        raise refusal(wide, "wide", "unroll", _ALLOWED)
    found = {str(series): dict(enumerate(different_texts(own, "wide", "unroll"), 1)) for series, own in wide.items()}
    used: dict[str, str] = {}
    for series, own in found.items():
        for column in own.values():
            if column not in names:
                raise InputError(f"'wide' names {column!r} for {series!r}, which is not there.{nearest(column, names)}")
            if column in used:
                raise InputError(f"'wide' names the column {column!r} twice, for {used[column]!r} and {series!r}.")
            used[column] = series
    return found


def _by_pattern(pattern: str, names: Sequence[str]) -> dict[str, dict[int, str]]:
    if pattern.count(_SERIES) != 1 or pattern.count(_TIME) != 1:
        raise refusal(pattern, "wide", "unroll", _ALLOWED)
    written = re.escape(pattern).replace(re.escape(_SERIES), "(?P<series>.+)")
    reader = re.compile(written.replace(re.escape(_TIME), "(?P<time>[0-9]{1,9})"), re.DOTALL)
    found: dict[str, dict[int, str]] = {}
    for name in names:
        if match := reader.fullmatch(name):
            own, time = found.setdefault(match["series"], {}), int(match["time"])
            if time in own:
                raise InputError(f"Columns {own[time]!r} and {name!r} are both {match['series']!r} at time {time}.")
            own[time] = name
    if not found:
        raise InputError(
            f"No column is named as {quoted('wide')} says, {shown(pattern)}: there are "
            f"{shortened([repr(n) for n in names])}."
        )
    first = min(min(own) for own in found.values())
    for series, own in found.items():
        if series in names:
            own[first - 1] = series
    # As the first columns of each series come in the table.
    order = {name: place for place, name in enumerate(names)}
    sorted_by_time = {one: dict(sorted(own.items())) for one, own in found.items()}
    return dict(sorted(sorted_by_time.items(), key=lambda one: order[next(iter(one[1].values()))]))


def long_panel(columns: Mapping[str, Any], wide: Any, subject: str | None) -> LongPanel:
    """The panel of named columns, one row a subject; times at which a subject has no value at all are left out."""
    import pandas

    found = columns_in_time(wide, list(columns))
    clash = [one for one in found if one in columns and one not in found[one].values()]
    if clash:
        raise InputError(f"The series {clash[0]!r} of 'wide' has the name of another column. Name it otherwise.")
    times = sorted({time for own in found.values() for time in own})
    rows = len(next(iter(columns.values())))
    series: dict[str, Any] = {}
    for name, own in found.items():
        pieces = [_as_pandas(columns[own[time]]) if time in own else _nothing(rows) for time in times]
        series[name] = pandas.concat([piece for piece in pieces if len(piece)], ignore_index=True).to_numpy()
    values = {name: cells_of(name, column) for name, column in series.items()}
    there = ~np.logical_and.reduce([cells.gaps for cells in values.values()])
    in_series = {column for own in found.values() for column in own.values()}
    static = {name: column for name, column in columns.items() if name not in in_series and name != subject}
    subjects, moments = np.tile(np.arange(rows), len(times)), np.repeat(np.array(times, dtype=np.int64), rows)
    return LongPanel(
        {name: cells.occurring(there) for name, cells in values.items()},
        {name: cells_of(name, column).of_rows(subjects[there]) for name, column in static.items()},
        subjects[there].astype(np.int64),
        moments[there],
    )


def _as_pandas(column: Any) -> Any:
    """A column of any kind in a form in which columns of several times can be joined."""
    import pandas

    native = column if isinstance(column, np.ndarray) else column.to_pandas()
    if isinstance(native, np.ndarray):
        return pandas.Series(np.ma.getdata(native)).mask(missing_cells(native))
    return native.reset_index(drop=True)


def _nothing(rows: int) -> Any:
    import pandas

    return pandas.Series(np.full(rows, np.nan))
