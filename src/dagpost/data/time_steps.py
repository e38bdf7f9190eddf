"""Times as whole numbers of ticks, and how many ticks one step has.

Times are numbers, dates, dates with a time of day, ordered categories (their positions), or text that ends in a number,
such as "week 3". The step is the most frequent difference between one row of a subject and the next. Dates that fall on
the same day of every month, or on the last, are counted in months, which differ in length. A step that is given in
words ("2 weeks") also says how finely times are read: two times of one day are one day.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.checks import is_finite, refusal
from dagpost._tools.text import shown
from dagpost.data.encoding import Cells, number_text
from dagpost.errors import InputError

#: The ticks of times with fractions, in the smallest difference between two of them.
_FINE = 1_000_000
#: Differences below this share of the largest time are rounding errors.
_ROUNDING = 1e-11
_UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_WORDS = re.compile(r"\s*(?P<count>[1-9][0-9]{0,5})?\s*(?P<unit>[a-z]+?)s?\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>[0-9]{1,15})", re.DOTALL)
_ALLOWED = "a positive number, or for dates words such as '2 weeks' or 'month'"


class Clock(NamedTuple):
    """The time of every row in ticks, the ticks of a step, and the step in words."""

    ticks: Integers
    step: int
    words: str


def clock_of(name: str, cells: Cells, subjects: Integers, step: Any) -> Clock:
    """Read the times of rows, of which none is missing; `step` is None where it is to be found from them."""
    if cells.kind in ("dates", "text") and (dates := _dates(cells)) is not None:
        return _clock_of_dates(dates[cells.places], subjects, step)
    numbers = _numbers(name, cells)
    if step is not None and not (is_finite(step) and float(step) > 0.0):
        raise refusal(step, "step", "unroll", _ALLOWED, f"The times in {name!r} are numbers.")
    if numbers.dtype.kind == "i" and (step is None or float(step).is_integer()):
        found = _usual_step(numbers, subjects) if step is None else int(step)
        return Clock(numbers, found, f"{found:,}")
    tick = _tick(numbers, step)
    ticks = np.round(numbers / tick).astype(np.int64)
    found = _usual_step(ticks, subjects) if step is None else max(1, round(float(step) / tick))
    return Clock(ticks, found, number_text(float(f"{found * tick:.6g}")))


def _numbers(name: str, cells: Cells) -> Any:
    """The times of all rows as whole numbers, or as numbers with fractions."""
    if cells.kind == "whole" and cells.values.dtype.kind == "i":
        return cells.values[cells.places]
    if cells.kind == "decimal":
        return cells.numbers()
    if cells.kind == "declared":
        return cells.places.astype(np.int64)
    split = [_NUMBERED.fullmatch(str(value)) for value in cells.values] if cells.kind == "text" else [None]
    if None in split or len({found["before"] for found in split if found}) > 1:
        raise InputError(
            f"The times in {name!r} must be numbers or dates such as 2026-11-15. Got {shown(cells.levels()[0])}. "
            "Number the times, or declare them as ordered categories."
        )
    return np.array([int(found["number"]) for found in split if found], dtype=np.int64)[cells.places]


def _dates(cells: Cells) -> Any:
    """The distinct values as dates, if all of them are."""
    import pandas

    if cells.kind == "text" and not all(re.match(r"\d{1,4}[-/.]", str(value)) for value in cells.values):
        return None
    for layout in ("ISO8601", "%d.%m.%Y", "%d.%m.%Y %H:%M"):
        try:
            read = pandas.DatetimeIndex(pandas.to_datetime(cells.values, format=layout, utc=True))
            return read.tz_localize(None).to_numpy().astype("datetime64[us]")
        except (ValueError, OverflowError):
            continue
    return None


def _clock_of_dates(dates: Any, subjects: Integers, step: Any) -> Clock:
    if isinstance(step, str):
        return _read_in_units(dates, step)
    if step is not None:
        try:
            given = int(np.timedelta64(step).astype("timedelta64[us]").astype(np.int64))
        except (ValueError, TypeError):
            given = 0
        if isinstance(step, int | float) or given <= 0:
            raise refusal(step, "step", "unroll", _ALLOWED, "The times are dates.")
        return Clock(dates.astype(np.int64), given, _duration(given))
    days, months = dates.astype("datetime64[D]"), dates.astype("datetime64[M]")
    if bool((days == dates).all()):
        in_month = (days - months).astype(np.int64)
        last = (months + 1).astype("datetime64[D]") - days == np.timedelta64(1, "D")
        if bool((in_month == in_month[0]).all()) or bool(last.all()):
            found = _usual_step(months.astype(np.int64), subjects)
            return Clock(months.astype(np.int64), found, _times(found, "month"))
    found = _usual_step(dates.astype(np.int64), subjects)
    return Clock(dates.astype(np.int64), found, _duration(found))


def _read_in_units(dates: Any, step: str) -> Clock:
    found = _WORDS.fullmatch(step)
    unit = found["unit"].lower() if found else ""
    if found is None or unit not in {**_UNITS, **_MONTHS}:
        raise refusal(step, "step", "unroll", _ALLOWED, f"Units are {', '.join([*_UNITS, *_MONTHS])}.")
    count = int(found["count"] or 1)
    if unit in _MONTHS:
        ticks = dates.astype("datetime64[M]").astype(np.int64) // _MONTHS[unit]
    else:
        # The epoch was a Thursday; weeks begin on Mondays.
        seconds = dates.astype("datetime64[s]").astype(np.int64) + (3 * 86_400 if unit == "week" else 0)
        ticks = seconds // _UNITS[unit]
    return Clock(ticks, count, _times(count, unit))


def _usual_step(ticks: Integers, subjects: Integers) -> int:
    """The most frequent difference between one row of a subject and the next; the smallest of several."""
    order = np.lexsort((ticks, subjects))
    forward = np.diff(ticks[order])[subjects[order][1:] == subjects[order][:-1]]
    different, counts = np.unique(forward[forward > 0], return_counts=True)
    if not len(different):
        raise InputError(
            "No subject has rows at two times, so there is nothing earlier to look back to. Check which columns 'time' "
            "and 'subject' name."
        )
    return int(different[counts.argmax()])


def _tick(numbers: Any, step: Any) -> float:
    """A millionth of the smallest difference between two times, or of the step."""
    apart = np.diff(np.unique(numbers))
    apart = apart[apart > _ROUNDING * max(float(np.abs(numbers).max()), 1e-300)]
    smallest = float(apart.min()) if len(apart) else 1.0
    # Times that lie that far apart do not fit into whole numbers: nobody measures so.
    coarse = float(np.abs(numbers).max()) / 2.0**60
    return max((smallest if step is None else min(smallest, float(step))) / _FINE, coarse)


def _duration(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, 1_000_000)
    if rest:
        return f"{microseconds / 1e6:g} seconds"
    unit = next(unit for unit in ("day", "hour", "minute", "second") if seconds % _UNITS[unit] == 0)
    return _times(seconds // _UNITS[unit], unit)


def _times(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
