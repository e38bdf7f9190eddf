"""New rows in the terms of the training table: raw rows pass through the recipe of the model.

Columns are matched by name, whatever their order; those of an array by their position among the columns of the training
table. Columns that the recipe leaves out, and columns that it does not know, may be there or not. Numbers fall between
the cuts of the recipe, and levels are matched by value: 56, 56.0 and "56" are one level. Time and memory are linear in
the cells.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.checks import kind, one_of
from dagpost._tools.spelling import setting
from dagpost._tools.text import nearest, position_of, shortened
from dagpost.data.encoding import Cells
from dagpost.data.frames import Source, frame_of, source_of
from dagpost.data.number_words import limit_text
from dagpost.data.recipe import Recipe
from dagpost.data.recipe_steps import Step
from dagpost.data.regimes import with_indicator_cells
from dagpost.data.rows import intervention_masks
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.local.models import LocalModels
from dagpost.prediction.statistics import Statistics, check_statistics

Unseen = Literal["error", "missing", "prior"]
Gaps = NDArray[np.bool_]

#: Squares of larger values, divided by a small variance, would overflow.
_LARGEST_VALUE = 1e100
#: Levels that are not known are left to the prior, as an advice, if no more than this share of the rows has one.
_FEW = 0.1


class NewRows(NamedTuple):
    """Rows as (columns, rows): codes, where one past the last level stands for a level that is not known, or values.

    Codes are whole numbers where all columns have levels, and floats beside columns of numbers.
    Bit i of a mask in `interventions` is set where column i was set from outside in that row. `gaps`, as (columns,
    rows), says where there is no value; what stands there has no meaning.
    """

    cells: NDArray[np.int32] | Floats
    interventions: Masks
    gaps: Gaps

    def chosen(self, rows: Integers) -> NewRows:
        """Some of the rows."""
        cells: Any = np.ascontiguousarray(self.cells[:, rows])
        return NewRows(cells, self.interventions[rows], self.gaps[:, rows])


def encode_rows(
    data: Any,
    statistics: Statistics | Table | LocalModels,
    *,
    unseen: Unseen | None = None,
    target: str | None = None,
    recipe: Recipe | None = None,
    interventions: Any = None,
) -> NewRows:
    """Bring new rows into the terms of the table that was counted.

    Parameters
    ----------
    statistics
        What was counted, or the table itself, whose columns and levels the rows are to have.
    data
        Whatever `as_table` takes. All columns of the training table that are variables must be there, by name and in
        any order; the columns of an array are all columns of the training table in their order.
    unseen
        What to do about a level that the training table does not know: "error"; "prior", which lets prediction go by
        the prior of the parameters; "missing", which takes it as a gap. As the recipe says unless given.
    target
        The column that is to be predicted: it may be missing, wholly or in some rows, and what it holds is not
        looked at.
    recipe
        What was done with the columns of the training table. Without one, rows are levels and numbers as they are.
    interventions
        Which columns were set from outside in each row, as for `as_table`.

    The rows of a `Table` keep its interventions. Its counts are not looked at: there is one answer a row. `NewRows` are
    handed back as they are.
    """
    if isinstance(data, NewRows):
        return data
    names = statistics.names if isinstance(statistics, Table | LocalModels) else check_statistics(statistics).names
    if unseen is not None:
        one_of(unseen, "unseen", ("error", "prior", "missing"))
    if target is not None:
        position_of(target, names)
    chosen = _plain_recipe(statistics) if recipe is None else kind(recipe, "recipe", Recipe, "a fitted Recipe")
    how = chosen.unseen if unseen is None else unseen
    source, masks = _source(data, chosen, interventions)
    source = with_indicator_cells(source, chosen)
    _check_columns(list(source.columns), names, target, chosen)
    discrete = [levels is not None for levels in statistics.levels]
    cells: Any = np.zeros((len(names), source.rows), dtype=np.int32 if all(discrete) else np.float64)
    gaps = np.zeros(cells.shape, dtype=np.bool_)
    for node, name in enumerate(names):
        if name != target:
            column, gaps[node] = _encoded(chosen.step(name), source, how, discrete=discrete[node])
            cells[node] = np.where(gaps[node], 0, column)
    if masks is None:
        masks = _masks(source, names, chosen)
    if chosen.missing == "refuse":
        _refuse_gaps(gaps, names)
    return NewRows(cells, masks, gaps)


def _plain_recipe(statistics: Statistics | Table | LocalModels) -> Recipe:
    """The recipe of a table of which only what was counted is known."""
    return Recipe.of_levels(statistics.names, statistics.levels)


def _source(data: Any, recipe: Recipe, interventions: Any) -> tuple[Source, Masks | None]:
    """The columns by name; the interventions of a table, which are masks already, in the order of the variables."""
    if isinstance(data, str | os.PathLike):
        data = frame_of(data)
    masks = None
    if isinstance(data, Table) and data.interventions is not None and interventions is None:
        masks, data = _moved_masks(data, recipe), replace(data, interventions=None)
    if isinstance(data, np.ndarray) and data.ndim == 2:
        source = source_of(_of_width(data, len(recipe.steps_)), None, interventions)
        original = [step.name for step in recipe.steps_]
        return replace(source, columns=dict(zip(original, source.columns.values(), strict=True))), masks
    return source_of(data, None, interventions), masks


def _of_width(data: Any, width: int) -> Any:
    if data.shape[1] != width:
        raise InputError(
            f"X has {data.shape[1]} features, but DagPosterior is expecting {width} features as input: all columns of "
            "the training table, in their order."
        )
    return data


def _moved_masks(table: Table, recipe: Recipe) -> Masks:
    names = [step.name for step in recipe.steps_ if step.used]
    assert table.interventions is not None
    masks = np.zeros(table.rows, dtype=np.uint64)
    for bit, name in enumerate(table.names):
        if name in names:
            masks |= (table.interventions >> np.uint64(bit) & np.uint64(1)) << np.uint64(names.index(name))
    return masks


def _masks(source: Source, names: tuple[str, ...], recipe: Recipe) -> Masks:
    if source.targets is None:
        return np.zeros(source.rows, dtype=np.uint64)
    left_out = {step.name: step.why for step in recipe.steps_ if not step.used}
    return intervention_masks(source.targets, names, source.rows, left_out)


def _check_columns(found: Sequence[str], names: tuple[str, ...], target: str | None, recipe: Recipe) -> None:
    # Indicators come from the column that names the regimes.
    column_of = {own.name: step.name for step in recipe.steps_ for own in step.indicators}
    absent = (name for name in names if name not in found and name != target)
    missing = list(dict.fromkeys(column_of.get(name, name) for name in absent))
    if missing:
        hint = nearest(missing[0], found) if found else ""
        raise InputError(
            f"The new rows lack {'columns' if len(missing) > 1 else 'the column'} "
            f"{shortened([repr(name) for name in missing])} of the training table. Every variable is needed, under the "
            f"same name.{hint}"
        )


def _encoded(step: Step, source: Source, unseen: str, *, discrete: bool) -> tuple[NDArray[Any], Gaps]:
    """Codes or values of one column, and where there are none."""
    cells = source.cells(step.name, as_text=discrete and step.as_text)
    if not discrete:
        return _values(step, cells), cells.missing
    levels = step.levels or ()
    codes = step.codes(cells)
    unknown = codes == len(levels)
    if unknown.any() and unseen == "error":
        raise _not_known(step, cells, unknown)
    if unseen == "missing":
        codes = np.where(unknown, -1, codes)
    codes = np.where(codes < 0, step.missing_code, codes)
    return codes, codes < 0


def _values(step: Step, cells: Cells) -> Floats:
    own = step.number_cells(cells)
    if own.bounds is not None and own.censored.any():
        row = int(own.censored.argmax())
        raise InputError(
            f"Column {step.name!r} holds {limit_text(*own.bounds[row].tolist())!r} in row {row + 1} (the first row is "
            "row 1), and a prediction from it needs the number. Write the number, or leave the cell empty."
        )
    values = own.numbers()
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if largest > _LARGEST_VALUE:
        raise InputError(f"Column {step.name!r} holds a value of size {largest:g}; squares of such values overflow.")
    return values


def _not_known(step: Step, cells: Cells, unknown: NDArray[np.bool_]) -> InputError:
    """The error for levels that training does not know; it advises only what helps."""
    row, count = int(unknown.argmax()), int(unknown.sum())
    value = cells.levels()[cells.places[row]]
    many = count > max(1.0, _FEW * len(unknown))
    more = "" if count == 1 else f"; {count:,} of {len(unknown):,} rows hold such values"
    if many:
        remedy = "Is it the same column, in the same units and words? Then correct the values."
    else:
        remedy = f"Correct it, drop such rows, or leave them to the prior: {setting('unseen', 'prior')}."
    return InputError(
        f"Column {step.name!r} holds {value!r} in row {row + 1} (the first row is row 1), which is not a level of the "
        f"training table: there are {shortened([repr(level) for level in step.levels or ()])}{more}. {remedy}"
    )


def _refuse_gaps(gaps: Gaps, names: tuple[str, ...]) -> None:
    """Refuse rows in which some column has no value."""
    incomplete: Gaps = np.asarray(gaps.any(axis=0))
    if incomplete.any():
        counts = zip(names, gaps.sum(axis=1).tolist(), strict=True)
        raise InputError(
            f"{int(incomplete.sum()):,} of {len(incomplete):,} rows have missing values, the first in row "
            f"{int(incomplete.argmax()) + 1} (the first row is row 1), in "
            f"{shortened([f'{name!r} ({count:,})' for name, count in counts if count])}, and the recipe refuses them. "
            "Only the column that is predicted may have them: drop these rows or fill them in."
        )
