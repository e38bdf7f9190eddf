"""From named columns of cells to a `Table` and the steps that lead there: deciding anew, or following a recipe.

Columns are decided one by one (column_kinds.py). Then come the gaps of the columns that are used: they stay gaps, or
their rows are dropped, or they get a level of their own, or they are refused (gaps.py). Linear in the cells.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import either, quoted, setting
from dagpost._tools.text import names_in, nearest, shortened
from dagpost.data.column_kinds import is_coded, verdict
from dagpost.data.encoding import Cells, cells_of, code_type
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.frames import ROW_NUMBERS, frame_of, named_cells, no_name
from dagpost.data.gaps import complete_rows, gaps_of, no_observation, refuse_gaps_in_regimes, refuse_set_gaps
from dagpost.data.recipe_steps import Rule, Step, with_indicators
from dagpost.data.rows import intervention_masks, row_counts
from dagpost.data.slices import at_all_times, decided_alike
from dagpost.data.table import Table
from dagpost.data.time_columns import series_and_lag
from dagpost.data.unrolled import Unrolled, Unrolling
from dagpost.errors import InputError
from dagpost.families.parent_lists import MOST_COLUMNS


class Choices(NamedTuple):
    """What a person decided about columns."""

    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    cut: Mapping[str, Rule]
    missing: str
    unseen: str
    exogenous: tuple[str, ...] = ()
    regimes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Columns as they came, without those of counts and interventions, which are kept beside them."""

    columns: Mapping[str, Any]
    rows: int
    counts: NDArray[np.int64] | None = None
    #: One entry a row.
    targets: Any = None
    #: Whether it is a `Table`, whose columns are what they are.
    is_table: bool = False
    time: Unrolling | None = None

    def cells(self, name: str, *, as_text: bool = False) -> Cells:
        """One column."""
        column = self.columns[name]
        return column if isinstance(column, Cells) else cells_of(name, column, as_text=as_text)


class Reading(NamedTuple):
    """A table, the steps that made it, and how many rows were dropped for gaps."""

    table: Table
    steps: tuple[Step, ...]
    dropped: int


def source_of(data: Any, counts: Any, interventions: Any) -> Source:
    """The columns of whatever the user has."""
    if isinstance(data, Table):
        if counts is not None or interventions is not None:
            raise InputError(
                "The data is a Table already, and 'counts' and 'interventions' belong to the making of one: "
                "give them to as_table or read_table, or start again from table.to_pandas()."
            )
        return _source_of_table(data)
    time = None
    if isinstance(data, Unrolled):
        named, rows, time = dict(data.columns), data.rows, data.record
    else:
        names, cells = named_cells(frame_of(data) if isinstance(data, str | os.PathLike) else data)
        named, rows = dict(zip(names, cells, strict=True)), len(cells[0]) if cells else 0
    if rows == 0:
        raise InputError(f"The table is empty: {len(named)} columns and {rows} rows. At least one row is needed.")
    if isinstance(counts, str):
        counts = _taken_out(named, counts, "counts")
    targets = _taken_out(named, interventions, "interventions") if isinstance(interventions, str) else interventions
    return Source(named, rows, None if counts is None else row_counts(counts, rows), targets, time=time)


def _source_of_table(table: Table) -> Source:
    gaps = np.zeros((len(table.names), 1), dtype=bool) if table.gaps is None else table.gaps
    columns = {
        name: Cells("declared", np.where(gap, -1, column.astype(np.intp)), list(levels))
        if levels is not None
        else Cells("decimal", np.where(np.isnan(column), -1, np.arange(len(column))), np.nan_to_num(column))
        for name, column, levels, gap in zip(table.names, table.columns, table.levels, gaps, strict=True)
    }
    masks = table.interventions
    targets = None
    if masks is not None:
        different, place = np.unique(masks, return_inverse=True)
        named = [names_in(int(mask), table.names) for mask in different]
        targets = [named[i] for i in place]
    return Source(columns, table.rows, table.counts, targets, is_table=True, time=table.time)


def _taken_out(named: dict[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise InputError(f"{quoted(what)} names the column {name!r}, which is not there.{nearest(name, list(named))}")
    for column in [column for column in named if column != name and series_and_lag(column)[0] == name]:
        del named[column]
    found = named.pop(name)
    return np.array([*found.levels(), None], dtype=object)[found.places] if isinstance(found, Cells) else found


def decide(source: Source, choices: Choices) -> Reading:
    """Decide what is done with each column, and do it; numbers are not cut yet."""
    choices = _checked(source, choices)
    decided, complete = _settled(_one_by_one(source, choices), source, choices)
    whole = bool(complete.all())
    used = [(step, cells) for step, cells in decided if step.used and cells is not None]
    read = [_read(step, cells if whole else cells.occurring(complete), choices) for step, cells in used]
    finished = {step.name: step for step, _ in read}
    steps = tuple(finished.get(step.name, step) for step, _ in decided)
    gaps = {step.name: cells.missing for step, cells in used} if choices.missing == "augment" else {}
    for name in set(choices.regimes) & gaps.keys():
        refuse_gaps_in_regimes(name, gaps[name])
    return _assembled(source, steps, read, complete, gaps)


def describe(source: Source, choices: Choices) -> tuple[tuple[Step, ...], int]:
    """What would be done with each column, and how many rows would be dropped.

    A column may be unreadable: it is left out. Rows may be too few, columns too many.
    """
    choices = _checked(source, choices)
    decided = _one_by_one(source, choices, unreadable_left_out=True)
    complete = np.ones(source.rows, dtype=bool)
    # With too few rows without gaps, levels are those of all rows.
    with contextlib.suppress(InputError):
        decided, complete = _settled(decided, source, choices)
    steps = tuple(
        step if cells is None or not step.used else _read(step, cells.occurring(complete), choices)[0]
        for step, cells in decided
    )
    return steps, int((~complete).sum())


def follow(source: Source, steps: Sequence[Step], choices: Choices) -> Reading:
    """Do with the columns of a source what steps say; numbers are not cut yet.

    Where a step does not say what the levels are, they are those of the source.
    """
    used = [step for step in steps if step.used or step.use == "regimes"]
    absent = [repr(step.name) for step in used if step.name not in source.columns]
    if absent:
        raise InputError(
            f"The table lacks {'columns' if len(absent) > 1 else 'the column'} {shortened(absent)} of the recipe. "
            "Every column that the recipe uses is needed, under the same name."
        )
    read = [(step, source.cells(step.name, as_text=step.as_text)) for step in used]
    incomplete = np.zeros(source.rows, dtype=bool)
    for _, cells in read if choices.missing == "drop" else ():
        incomplete |= cells.missing
    columns: list[tuple[Step, NDArray[Any]]] = []
    gaps: list[tuple[str, NDArray[np.bool_]]] = []
    unlisted: dict[str, Cells] = {}
    for step, cells in read:
        if step.use == "levels" and step.levels is None:
            unlisted[step.name] = cells
            columns.append((replace(step, gaps=int(cells.missing.sum())), cells.places))
            gaps.append((step.name, cells.missing))
            continue
        column: NDArray[Any] = step.numbers(cells) if step.use == "number" else step.codes(cells)
        gap = cells.missing
        if step.use != "number":
            unseen = column == len(step.levels or ())
            # What stands in a row that is dropped anyway does not matter.
            if choices.unseen == "error":
                _refuse_unseen(step, cells, unseen & ~incomplete)
            gap = gap | (unseen & ~incomplete)
            column = np.where(gap | unseen, max(step.missing_code, 0), column)
        uncut = step.use == "number" and step.cuts is None
        if choices.missing == "level" and gap.any() and step.missing_code < 0 and not uncut:
            raise InputError(
                f"Column {step.name!r} has no value in row {int(gap.argmax()) + 1} (the first row is row 1), and had "
                f"one in every row when the recipe was made. Drop such rows: {setting('missing', 'drop')}."
            )
        if choices.missing == "augment" and step.use == "regimes":
            refuse_gaps_in_regimes(step.name, gap)
        columns.append((replace(step, gaps=int(gap.sum())), column))
        gaps.append((step.name, gap))
    complete = complete_rows(gaps, source.rows, choices.missing, least=1)
    kept = [
        _read(step, unlisted[step.name].occurring(complete), choices)
        if step.name in unlisted
        else (step, _narrow(step, column[complete]))
        for step, column in columns
    ]
    counted = {step.name: step for step, _ in kept}
    done = tuple(counted.get(step.name, step) for step in steps)
    return _assembled(source, done, kept, complete, dict(gaps) if choices.missing == "augment" else {})


def _refuse_unseen(step: Step, cells: Cells, unseen: NDArray[np.bool_]) -> None:
    if unseen.any():
        row = int(unseen.argmax())
        value = cells.levels()[cells.places[row]]
        raise InputError(
            f"Column {step.name!r} holds {value!r} in row {row + 1} (the first row is row 1), which is not a level of "
            f"the recipe: there are {shortened([repr(level) for level in step.levels or ()])}. Drop such rows, or take "
            f"such cells as missing: {setting('unseen', 'missing')}."
        )


def _one_by_one(
    source: Source, choices: Choices, *, unreadable_left_out: bool = False
) -> list[tuple[Step, Cells | None]]:
    """What each column is; in a table that is coded throughout, as far as it is used, all are levels."""
    decided: list[tuple[Step, Cells | None]] = []
    for name in source.columns:
        try:
            decided.append(_decided(name, source, choices))
        except InputError as error:
            if not unreadable_left_out:
                raise
            decided.append((Step(name, "left out", f"cannot be read: {error}"), None))
    if source.time is not None:
        decided = decided_alike(decided)
    used = [cells for step, cells in decided if step.used and cells is not None]
    if not used or not is_coded(used):
        return decided
    return [
        (replace(step, use="levels") if step.use == "number" and step.name not in choices.cut else step, cells)
        for step, cells in decided
    ]


def _settled(
    decided: list[tuple[Step, Cells | None]], source: Source, choices: Choices
) -> tuple[list[tuple[Step, Cells | None]], NDArray[np.bool_]]:
    """The rows that stay, and the columns, without those that are constant in these rows."""
    while True:
        used = [(step, cells) for step, cells in decided if step.used and cells is not None]
        gaps = [(step.name, cells.missing) for step, cells in used]
        complete = complete_rows(gaps, source.rows, choices.missing, least=2)
        seen = complete if source.counts is None else complete & (source.counts > 0)
        emptied = {
            step.name
            for step, cells in used
            if not complete.all()
            and cells.kind != "declared"
            and step.name not in {*choices.keep, *choices.cut, *choices.regimes}
            and len(np.unique(cells.places[seen])) < 2
        }
        if not emptied:
            return decided, complete
        constant = "constant: one value in the complete rows"
        decided = [
            (replace(step, use="left out", why=constant) if step.name in emptied else step, cells)
            for step, cells in decided
        ]


def _decided(name: str, source: Source, choices: Choices) -> tuple[Step, Cells | None]:
    if name in choices.drop:
        return Step(name, "left out", "dropped as asked"), None
    if choices.columns is not None and name not in (*choices.columns, *choices.regimes):
        return Step(name, "left out", "not among the columns asked for"), None
    cells = source.cells(name)
    use, why = verdict(name, cells, source.counts, keep=name in (*choices.keep, *choices.cut, *choices.regimes))
    if source.is_table and not cells.missing.all():
        use, why = ("levels", "levels as given") if cells.kind == "declared" else ("number", "numbers as given")
    if name in choices.cut:
        use = "number"
        Step(name, use, why).numbers(cells)
    elif not source.is_table and name == ROW_NUMBERS and use != "left out" and name not in choices.keep:
        raise no_name(list(source.columns).index(name), len(source.columns))
    return Step(name, use, why, gaps=int(cells.missing.sum())), cells


def _checked(source: Source, choices: Choices) -> Choices:
    """The choices, once each is about a column; those about a series hold at all its times."""
    named = {"columns": choices.columns or (), "drop": choices.drop, "keep": choices.keep, "cut": tuple(choices.cut)}
    named["exogenous"], named["regimes"] = choices.exogenous, choices.regimes
    for what, names in named.items():
        for name in names:
            if name not in source.columns:
                raise InputError(
                    f"{quoted(what)} names {name!r}, which is not a column.{nearest(str(name), list(source.columns))}"
                )
    both = [name for name in (*choices.keep, *choices.cut) if name in choices.drop]
    if both:
        raise InputError(f"Column {both[0]!r} is both dropped and kept or cut. Take it out of one of these.")
    return choices if source.time is None else at_all_times(choices, list(source.columns))


def _read(step: Step, cells: Cells, choices: Choices) -> tuple[Step, NDArray[Any]]:
    if step.use == "number":
        return step, step.numbers(cells)
    levels, gap = cells.levels(), cells.missing
    if choices.missing == "level" and gap.any():
        levels = (*levels, MISSING_LEVEL)
    step = replace(step, levels=levels)
    return step, _narrow(step, np.where(gap, max(step.missing_code, 0), cells.places))


def _narrow(step: Step, column: NDArray[Any]) -> NDArray[Any]:
    """The column of a table: float64, or codes of the smallest type that fits."""
    if step.use == "number":
        return np.ascontiguousarray(column, dtype=np.float64)
    return np.ascontiguousarray(column, dtype=code_type(len(step.levels or ())))


def _assembled(
    source: Source,
    steps: tuple[Step, ...],
    columns: list[tuple[Step, NDArray[Any]]],
    kept: NDArray[np.bool_],
    gaps: Mapping[str, NDArray[np.bool_]],
) -> Reading:
    columns, regimes = with_indicators(columns)
    names = tuple(step.name for step, _ in columns)
    left_out = {step.name: step.why for step in steps if not step.used}
    _check_number(names, left_out, source.rows)
    masks = None if source.targets is None else intervention_masks(source.targets, names, source.rows, left_out)
    whole = bool(kept.all())
    counts = source.counts if source.counts is None or whole else source.counts[kept]
    if counts is not None and not counts.any():
        raise no_observation()
    if masks is not None and not whole:
        masks = masks[kept]
    table = Table(
        names=names,
        columns=tuple(column for _, column in columns),
        levels=tuple(None if step.use == "number" else step.levels for step, _ in columns),
        counts=counts,
        interventions=masks if masks is not None and masks.any() else None,
        regimes=regimes,
        time=source.time,
        gaps=gaps_of(names, gaps),
    )
    refuse_set_gaps(table)
    return Reading(table, steps, int((~kept).sum()))


def _check_number(names: tuple[str, ...], left_out: Mapping[str, str], rows: int) -> None:
    if len(names) < 2 and left_out:
        reasons = shortened([f"{name!r} ({why})" for name, why in left_out.items()])
        few = f"only one column, {names[0]!r}, is" if names else "no column is"
        samples = f" (n_samples={rows})" if rows < 2 else ""
        raise InputError(
            f"Of {len(names) + len(left_out)} columns {few} left, and a structure needs at least 2. Left out{samples}: "
            f"{reasons}. Keep what you need: {either('Recipe(keep=[...])', '--keep')}."
        )
    if len(names) < 2:
        raise InputError(
            f"The table has only one column{f', {names[0]!r}' if names else ''}: a structure needs at least "
            f"2, not {len(names)} feature(s). (In a text file, columns are separated by commas, semicolons or tabs.)"
        )
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"The table has {len(names):,} columns; at most {MOST_COLUMNS:,} are possible. Choose the columns of "
            f"interest: {either('Recipe(columns=[...]) with', '--columns and')} at most {MOST_COLUMNS:,} names."
        )
