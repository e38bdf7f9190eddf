"""From named columns of cells to a `Table` and the steps that lead there: deciding anew, or following a recipe.

Columns are decided one by one (column_kinds.py). Then come the gaps of the columns that are used: they stay gaps, or
their rows are dropped, or they get a level of their own, or they are refused (gaps.py). Linear in the cells.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import either, quoted, setting
from dagpost._tools.text import nearest, shortened
from dagpost.data.column_kinds import ROW_NUMBERS, is_coded, verdict
from dagpost.data.encoding import Cells, code_type
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.frames import Source, no_name
from dagpost.data.gaps import complete_rows, gaps_of, no_observation, refuse_gaps_in_regimes, refuse_set_gaps
from dagpost.data.level_order import in_order, words_of_order
from dagpost.data.recipe_steps import Rule, Step, with_indicators
from dagpost.data.rows import intervention_masks
from dagpost.data.table import Table
from dagpost.data.time_columns import at_all_times, decided_alike
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
    order: Mapping[str, tuple[object, ...]] = MappingProxyType({})
    unordered: tuple[str, ...] = ()

    @property
    def decided(self) -> set[str]:
        """The columns that are used whatever they look like."""
        return {*self.keep, *self.cut, *self.regimes, *self.order, *self.unordered}


class Reading(NamedTuple):
    """A table, the steps that made it, and how many rows were dropped for gaps."""

    table: Table
    steps: tuple[Step, ...]
    dropped: int


def decide(source: Source, choices: Choices) -> Reading:
    """Decide what is done with each column, and do it; numbers are not cut yet."""
    choices = _checked(source, choices)
    decided, complete = _settled(_one_by_one(source, choices), source, choices)
    whole = bool(complete.all())
    used = [(step, cells) for step, cells in decided if step.used and cells is not None]
    read = [_read(step, cells if whole else cells.occurring(complete), choices) for step, cells in used]
    finished = {step.name: step for step, _ in read}
    steps = tuple(finished.get(step.name, step) for step, _ in decided)
    if choices.missing == "augment":
        for step, cells in used:
            if step.name in choices.regimes:
                refuse_gaps_in_regimes(step.name, cells.missing)
    unknown = {step.name: _unknown(cells, cells.gaps, choices) for step, cells in used}
    return _assembled(source, steps, read, complete, unknown)


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
    read = [(step, _in_kind(step, source.cells(step.name, as_text=step.as_text))) for step in used]
    incomplete = np.zeros(source.rows, dtype=bool)
    for _, cells in read if choices.missing == "drop" else ():
        incomplete |= cells.gaps
    columns: list[tuple[Step, NDArray[Any]]] = []
    gaps: list[tuple[str, NDArray[np.bool_]]] = []
    unknown: dict[str, _Unknown] = {}
    unlisted: dict[str, Cells] = {}
    for step, cells in read:
        if step.use == "levels" and step.levels is None:
            own = unlisted[step.name] = in_order(step.name, cells, None, unordered=step.ordered is False)
            columns.append((replace(step, gaps=int(cells.missing.sum()), ordered=own.ordered), own.places))
            gaps.append((step.name, cells.missing))
            unknown[step.name] = _unknown(cells, cells.missing, choices)
            continue
        column: NDArray[Any] = cells.numbers() if step.use == "number" else step.codes(cells)
        gap = cells.gaps
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
        columns.append((replace(step, gaps=int(gap.sum()), censored=int(cells.censored.sum())), column))
        gaps.append((step.name, gap))
        unknown[step.name] = _unknown(cells, gap, choices)
    complete = complete_rows(gaps, source.rows, choices.missing, least=1)
    kept = [
        _read(step, unlisted[step.name].occurring(complete), choices)
        if step.name in unlisted
        else (step, _narrow(step, column[complete]))
        for step, column in columns
    ]
    counted = {step.name: step for step, _ in kept}
    done = tuple(counted.get(step.name, step) for step in steps)
    return _assembled(source, done, kept, complete, unknown)


class _Unknown(NamedTuple):
    """The cells of a column whose values are not known, and between which numbers they lie."""

    gaps: NDArray[np.bool_]
    bounds: NDArray[np.float64] | None


def _unknown(cells: Cells, gap: NDArray[np.bool_], choices: Choices) -> _Unknown:
    """Cells that stay without a value: gaps, where they are completed, and censored ones always."""
    return _Unknown(gap | cells.censored if choices.missing == "augment" else cells.censored, cells.bounds)


def _in_kind(step: Step, cells: Cells) -> Cells:
    return step.number_cells(cells) if step.use == "number" else cells


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
        gaps = [(step.name, cells.gaps) for step, cells in used]
        complete = complete_rows(gaps, source.rows, choices.missing, least=2)
        seen = complete if source.counts is None else complete & (source.counts > 0)
        emptied = {
            step.name
            for step, cells in used
            if not complete.all()
            and cells.kind != "declared"
            and step.name not in choices.decided
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
    gap_level = choices.missing == "level"
    use, why = verdict(name, cells, source.counts, keep=name in choices.decided, gap_level=gap_level)
    if source.is_table and not cells.missing.all():
        use, why = ("levels", "levels as given") if cells.kind == "declared" else ("number", "numbers as given")
    if name in choices.cut:
        use = "number"
    elif use != "left out" and (name in choices.order or name in choices.unordered):
        use = "levels"
    elif not source.is_table and name == ROW_NUMBERS and use != "left out" and name not in choices.keep:
        raise no_name(list(source.columns).index(name), len(source.columns))
    if use == "levels" and name not in choices.regimes:
        order, unordered = choices.order.get(name), name in choices.unordered
        cells = in_order(name, cells, order, unordered=unordered, known_scales=not source.is_table)
        why += words_of_order(cells)
    step = Step(name, use, why)
    cells = _in_kind(step, cells)
    ordered = cells.ordered if use == "levels" else None
    return replace(step, gaps=int(cells.gaps.sum()), censored=int(cells.censored.sum()), ordered=ordered), cells


def _checked(source: Source, choices: Choices) -> Choices:
    """The choices, once each is about a column; those about a series hold at all its times."""
    named = {"columns": choices.columns or (), "drop": choices.drop, "keep": choices.keep, "cut": tuple(choices.cut)}
    named["exogenous"], named["regimes"] = choices.exogenous, choices.regimes
    named["order"], named["unordered"] = tuple(choices.order), choices.unordered
    for what, names in named.items():
        for name in names:
            if name not in source.columns:
                raise InputError(
                    f"{quoted(what)} names {name!r}, which is not a column.{nearest(str(name), list(source.columns))}"
                )
    # That the column of regimes is dropped is said in words of its own (regimes.py).
    both = choices.decided.intersection(choices.drop).difference(choices.regimes)
    if both:
        raise InputError(f"Column {min(both)!r} is both dropped and kept or cut. Take it out of one of these.")
    ways = (choices.cut, choices.order, choices.unordered)
    twice = [name for names in ways for name in names if sum(name in way for way in ways) > 1]
    if twice:
        raise InputError(
            f"Column {twice[0]!r} is named in two of {quoted('cut')}, {quoted('order')} and {quoted('unordered')}: it "
            "is cut, or its levels are in an order, or they are in none. Take it out of the others."
        )
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
    unknown: Mapping[str, _Unknown],
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
        beside=source.beside,
        gaps=gaps_of(names, {name: own.gaps[kept] for name, own in unknown.items()}),
        bounds=_bounds_of(names, unknown, kept),
        in_order=tuple(step.name for step, _ in columns if step.ordered),
        unordered=tuple(step.name for step, _ in columns if step.ordered is False),
    )
    refuse_set_gaps(table)
    return Reading(table, steps, int((~kept).sum()))


def _bounds_of(
    names: Sequence[str], unknown: Mapping[str, _Unknown], kept: NDArray[np.bool_]
) -> tuple[NDArray[np.float64] | None, ...]:
    """Between which numbers cells lie, of every column; empty where none is censored."""
    found = {name: own.bounds[kept] for name, own in unknown.items() if own.bounds is not None}
    found = {name: own for name, own in found.items() if np.isfinite(own).any()}
    return tuple(found.get(name) for name in names) if found else ()


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
