"""Panels unrolled: from rows of (subject, time) to rows of a present time with the values of earlier ones beside it.

A row is used as present where its subject has rows at exactly one step, two steps and so on before it; everything else
is counted and said. Time `rows * log(rows)`, memory linear in the cells of the result.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.checks import different_texts, members, text, truth, whole_number
from dagpost._tools.spelling import either, quoted
from dagpost._tools.text import nearest, shown
from dagpost.data.column_kinds import ROW_NUMBERS
from dagpost.data.encoding import Cells, cells_of
from dagpost.data.files import source_name
from dagpost.data.frames import frame_of, named_cells
from dagpost.data.table import Table
from dagpost.data.time_columns import earlier, series_and_lag
from dagpost.data.time_steps import Clock, clock_of
from dagpost.data.unrolled import Unrolled, Unrolling
from dagpost.data.wide_panels import long_panel
from dagpost.errors import InputError

#: More steps back than anybody has rows for.
_MOST_LAGS = 999


def unroll(
    data: Any,
    *,
    time: str | None = None,
    subject: str | None = None,
    lags: int = 1,
    contemporaneous: bool = True,
    static: Iterable[str] | None = None,
    step: Any = None,
    wide: str | Mapping[str, Sequence[str]] | None = None,
) -> Unrolled:
    """Make the table of present values and of those at earlier times, for networks that go on in time.

    Parameters
    ----------
    data
        Any data frame, a 2-D array, or the path of a file: one row for each subject and time, in any order.
    time
        The column that says when: numbers, dates, or text that ends in a number. None: rows follow each other.
    subject
        The column that says whose row it is. None: all rows are of one subject.
    lags
        How many steps back: with 2, every series `X` has the columns ``X``, ``X[t-1]`` and ``X[t-2]``.
    contemporaneous
        Whether edges among present values are possible. Without them any number of series is exact.
    static
        Columns that do not change with time: they are taken once. None: those that are the same at all times of every
        subject.
    step
        How far apart two times are: a number, or for dates words such as ``"2 weeks"`` or ``"month"``. None: the
        most frequent difference.
    wide
        For tables with one row a subject: how columns are named, as in ``"{series}_w{time}"``, or a mapping from each
        series to its columns in the order of time. Then there is no `time`; all other columns are static.

    A row is used only if its subject has a row exactly one step before, two steps before and so on. What was done is in
    the `report` of the result, which `DagPosterior.fit` takes as it is.

    >>> import pandas
    >>> frame = pandas.DataFrame({"id": [1, 1, 1, 2, 2], "week": [1, 2, 3, 1, 3], "pain": [3, 2, 2, 5, 4]})
    >>> unroll(frame, time="week", subject="id", lags=1)
    Unrolled table of 2 columns and 2 rows
      5 rows of 2 subjects (2 to 3 each) became 2 rows of 1 series at present and at the step before (one step: 1).
      2 rows at the beginning of a subject have too little before them and only serve as earlier values.
      1 row follows a gap in time and was not used as present values.
      1 subject has no usable row.
      No usable row: '2'.
    >>> unroll(frame, time="week", subject="id").to_pandas().to_dict("list")
    {'pain': [2, 2], 'pain[t-1]': [3, 2]}
    """
    lags = whole_number(lags, "lags", "unroll", most=_MOST_LAGS)
    contemporaneous = bool(truth(contemporaneous, "contemporaneous", "unroll"))
    named = None if static is None else _static_names(static)
    try:
        columns = _columns_of(data)
        panel = _wide(columns, wide, time, subject, named, step) if wide is not None else None
        panel = _long(columns, time, subject, named, step) if panel is None else panel
        found = {"found_static": named is None and wide is None, "wide": wide is not None}
        return _unrolled(panel, lags, contemporaneous, time, subject, **found)
    except InputError as error:
        if isinstance(data, str | os.PathLike) and not str(error).startswith(source_name(data)):
            raise InputError(f"{source_name(data)}: {error.marked}") from None
        raise


class _Panel(NamedTuple):
    """Rows of (subject, time), none of which is without either, and what was left out before."""

    series: Mapping[str, Cells]
    static: Mapping[str, Cells]
    subjects: Integers
    clock: Clock
    #: How subjects and times are called, row by row.
    subject_names: Sequence[object]
    time_names: Sequence[object]
    #: Their positions in the original.
    positions: Integers
    rows: int
    filled: int = 0


def _columns_of(data: Any) -> dict[str, Any]:
    if isinstance(data, Table):
        data = data.to_pandas()
    names, cells = named_cells(frame_of(data) if isinstance(data, str | os.PathLike) else data)
    if not cells or not len(cells[0]):
        raise InputError(f"The table is empty: {len(names)} columns and no rows. At least two rows are needed.")
    for name in names:
        series, lag = series_and_lag(name)
        if lag:
            raise InputError(
                f"Column {name!r} is named as {series!r} {lag} step{'' if lag == 1 else 's'} earlier would be. Rename "
                "it; a table that is unrolled already needs no unrolling."
            )
    # Numbers of rows that were saved along are no series.
    return {name: column for name, column in zip(names, cells, strict=True) if name != ROW_NUMBERS}


def _static_names(static: Any) -> tuple[str, ...]:
    listed = members([static] if isinstance(static, str) else static, "static", "unroll", allowed="a list of names")
    return different_texts(listed, "static", "unroll") if listed else ()


def _known(setting: str, name: Any, columns: Mapping[str, Any]) -> str:
    found = text(name, setting, "unroll", allowed="the name of a column")
    if found not in columns:
        raise InputError(
            f"{quoted(setting)} names the column {shown(found)}, which is not there.{nearest(found, list(columns))}"
        )
    return found


def _long(
    columns: dict[str, Any], time: str | None, subject: str | None, static: tuple[str, ...] | None, step: Any
) -> _Panel:
    import pandas

    for setting, name in (("time", time), ("subject", subject), *(("static", name) for name in static or ())):
        if name is not None:
            _known(setting, name, columns)
    if time is not None and subject is not None and time == subject:
        raise InputError(f"{quoted('time')} and {quoted('subject')} name the same column, {time!r}.")
    taken = [name for name in static or () if name in (time, subject)]
    if taken:
        raise InputError(f"{quoted('static')} names {taken[0]!r}, which is the column of times or subjects.")
    read = {name: cells_of(name, column) for name, column in columns.items()}
    rows = len(next(iter(read.values())).places)
    placed = np.ones(rows, dtype=bool)
    for key in (time, subject):
        if key is not None:
            placed &= ~read[key].missing
    positions = np.flatnonzero(placed)
    if not len(positions):
        raise InputError(f"No row has both a time and a subject: {quoted('time')} and {quoted('subject')} are empty.")
    kept = {name: cells.occurring(placed) for name, cells in read.items()}
    owner = kept.pop(subject) if subject is not None else None
    subjects = np.zeros(len(positions), dtype=np.int64) if owner is None else owner.places.astype(np.int64)
    when = kept.pop(time) if time is not None else None
    row_numbers = np.asarray(pandas.Series(subjects).groupby(subjects).cumcount(), dtype=np.int64)
    clock = Clock(row_numbers, 1, "1 row") if when is None else clock_of(str(time), when, subjects, step)
    whose = [""] * len(positions) if owner is None else _texts(owner)
    moments = (clock.ticks + 1).tolist() if when is None else _texts(when)
    names = _constant(kept, subjects) if static is None else static
    filled, found = 0, {}
    for name in names:
        found[name], gaps = _once(name, kept[name], subjects, whose)
        filled += gaps
    series = {name: cells for name, cells in kept.items() if name not in found}
    return _Panel(series, found, subjects, clock, whose, moments, positions, rows, filled)


def _wide(
    columns: dict[str, Any],
    wide: Any,
    time: str | None,
    subject: str | None,
    static: tuple[str, ...] | None,
    step: Any,
) -> _Panel:
    if time is not None:
        raise InputError(
            f"{quoted('time')} is for tables with a row for each time, and with {quoted('wide')} times are in the "
            "names of the columns. Leave one of the two out."
        )
    if subject is not None:
        _known("subject", subject, columns)
    panel = long_panel(columns, wide, subject)
    for name in static or ():
        if name not in panel.static:
            raise InputError(f"{quoted('static')} names {name!r}, which is not a column beside those of the series.")
    chosen = {name: own for name, own in panel.static.items() if static is None or name in static}
    names = _texts(cells_of(subject, columns[subject])) if subject is not None else None
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"Subject {twice!r} has two rows, and with {quoted('wide')} a subject has one.")
    whose = [f"row {row + 1}" if names is None else names[row] for row in panel.subjects.tolist()]
    whole = Cells("whole", np.arange(len(panel.times)), panel.times)
    clock = clock_of("wide", whole, panel.subjects, step)
    times = panel.times.tolist()
    return _Panel(panel.series, chosen, panel.subjects, clock, whose, times, panel.subjects, len(panel.times))


def _texts(cells: Cells) -> list[str]:
    levels = np.array([*map(str, cells.levels()), ""], dtype=object)
    return list(levels[cells.places])


def _constant(columns: Mapping[str, Cells], subjects: Integers) -> tuple[str, ...]:
    """The columns that are the same in all rows of every subject; with rows of one time alone nothing is."""
    if len(np.unique(subjects)) == len(subjects):
        return ()
    return tuple(name for name, cells in columns.items() if _changes(cells, subjects) is None)


def _changes(cells: Cells, subjects: Integers) -> tuple[int, int] | None:
    """Two rows of one subject with different values, if there are any."""
    there = np.flatnonzero(~cells.missing)
    order = there[np.argsort(subjects[there], kind="stable")]
    same = subjects[order][1:] == subjects[order][:-1]
    differs = same & (cells.places[order][1:] != cells.places[order][:-1])
    if not differs.any():
        return None
    first = int(differs.argmax())
    return int(order[first]), int(order[first + 1])


def _once(name: str, cells: Cells, subjects: Integers, whose: Sequence[object]) -> tuple[Cells, int]:
    """A static column with the value of its subject in every row, and how many cells were filled in."""
    if (pair := _changes(cells, subjects)) is not None:
        one, other = (cells.levels()[cells.places[row]] for row in pair)
        of_whom = f" of subject {whose[pair[0]]!r}" if whose[pair[0]] else ""
        raise InputError(
            f"{quoted('static')} names {name!r}, which changes{of_whom}: {one!r}, then {other!r}. Take it out of "
            f"{quoted('static')}, or correct the cells."
        )
    value = np.full(int(subjects.max()) + 1, -1, dtype=np.intp)
    there = ~cells.missing
    value[subjects[there]] = cells.places[there]
    places = value[subjects]
    return replace(cells, places=places), int((cells.missing & (places >= 0)).sum())


def _unrolled(
    panel: _Panel, lags: int, contemporaneous: bool, time: str | None, subject: str | None, **found: bool
) -> Unrolled:
    import pandas

    ticks, subjects = panel.clock.ticks, panel.subjects
    if not panel.series:
        raise InputError("No column changes with time: all are static, so there is nothing to unroll.")
    order = np.lexsort((ticks, subjects))
    _refuse_repeated(panel, order, subject)
    before = _earlier_rows(ticks[order], subjects[order], lags, panel.clock.step)
    usable = (before >= 0).all(axis=0)
    by_subject = pandas.Series(ticks).groupby(subjects)
    first = by_subject.transform("min").to_numpy()[order]
    begins = ~usable & (ticks[order] - lags * panel.clock.step < first)
    lengths, used_by = np.bincount(subjects), np.bincount(subjects[order], weights=usable)
    idle = np.flatnonzero((lengths > 0) & (used_by == 0))
    used = int(usable.sum())
    if not used:
        raise InputError(
            f"No row has rows of its subject at {'the step' if lags == 1 else f'all {lags} steps'} before it (one "
            f"step: {panel.clock.words}; the longest subject has {int(lengths.max())} rows). Ask for fewer "
            f"{quoted('lags')}, or say what a step is: {either('step=...', '--step')}."
        )
    present = order[usable]
    record = Unrolling(
        series=tuple(panel.series),
        static=tuple(panel.static),
        lags=lags,
        contemporaneous=contemporaneous,
        time=time,
        subject=subject,
        step=panel.clock.words,
        rows=panel.rows,
        used=used,
        beginnings=int(begins.sum()),
        gaps=int((~usable & ~begins).sum()),
        subjects=int((lengths > 0).sum()),
        shortest=int(lengths[lengths > 0].min()),
        longest=int(lengths.max()),
        left_out_subjects=len(idle),
        unplaced=panel.rows - len(ticks),
        missing_cells=sum(int(cells.missing.sum()) for cells in panel.series.values()),
        filled_cells=panel.filled,
        was_sorted=bool((by_subject.diff().dropna() > 0).all()),
        **found,
    )
    columns = {
        earlier(name, lag): cells.occurring(present if lag == 0 else order[before[lag - 1][usable]])
        for lag in range(lags + 1)
        for name, cells in panel.series.items()
    }
    columns |= {name: cells.occurring(present) for name, cells in panel.static.items()}
    names_of = {int(subjects[row]): str(panel.subject_names[row]) for row in np.unique(subjects, return_index=True)[1]}
    left_out = tuple(names_of[int(one)] for one in idle) if subject is not None else ()
    return Unrolled(columns, record, left_out, panel.positions[present])


def _earlier_rows(ticks: Integers, subjects: Integers, lags: int, step: int) -> Integers:
    """Of each row the row of its subject one step before, two steps before and so on; -1 where there is none."""
    import pandas

    rows = pandas.MultiIndex.from_arrays([subjects, ticks])
    wanted = (pandas.MultiIndex.from_arrays([subjects, ticks - lag * step]) for lag in range(1, lags + 1))
    return np.array([rows.get_indexer(own) for own in wanted])


def _refuse_repeated(panel: _Panel, order: Integers, subject: str | None) -> None:
    ticks, subjects = panel.clock.ticks[order], panel.subjects[order]
    repeated = (ticks[1:] == ticks[:-1]) & (subjects[1:] == subjects[:-1])
    if not repeated.any():
        return
    rows = sorted(int(order[place]) for place in (repeated.argmax(), repeated.argmax() + 1))
    lines = " and ".join(str(panel.positions[row] + 1) for row in rows)
    when = " and ".join(dict.fromkeys(repr(panel.time_names[row]) for row in rows))
    if subject is None:
        raise InputError(
            f"The time {when} comes twice, in rows {lines} (the first row is row 1). Are these rows of several "
            f"subjects? Then say which column tells them apart: {either('subject=...', '--subject')}."
        )
    raise InputError(
        f"Subject {panel.subject_names[rows[0]]!r} has two rows at the time {when}, rows {lines} (the first row is row "
        "1). A subject has one row for each time: leave one out, or average them."
    )
