"""Whatever a user has, as a `Table`: data in memory, or a file.

Everything goes through a `Recipe` (recipe.py), which decides what is done with each column. A thing that cannot be
right is an `InputError`, a thing that was done without being asked for a `DagpostWarning`. Time and memory are linear
in the cells.

The table of whatever a user has, with the kind of columns that is wanted: levels, numbers, or both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either
from dagpost._tools.text import shortened
from dagpost.data.column_kinds import stray_levels
from dagpost.data.cut_tables import cut_numbers, cut_where_asked
from dagpost.data.files import MISSING_LEVEL, source_name
from dagpost.data.frames import frame_of
from dagpost.data.recipe import resolve_recipe, with_recipe
from dagpost.data.regimes import Regimes, reading_regimes, with_indicators
from dagpost.data.suitable import columns_are
from dagpost.data.table import Columns, Table
from dagpost.errors import InputError, warn

if TYPE_CHECKING:
    from dagpost.data.recipe import Recipe


#: Whatever `as_table` takes; the libraries it comes from need not be installed.
TableLike = Any


def as_table(
    data: TableLike,
    *,
    counts: str | Sequence[int] | NDArray[Any] | None = None,
    interventions: str | Iterable[object] | None = None,
    recipe: Recipe | str | os.PathLike[str] | None = None,
) -> Table:
    """Turn data into a `Table`, or say clearly why that cannot be done.

    Parameters
    ----------
    data
        A Table (handed back as it is); a pandas, polars or pyarrow table; a 2-D NumPy array (columns are
        named V0, V1, ...); the path of a CSV or Parquet file.
    counts
        How many observations each row stands for: the name of a column, or one whole number per row.
    interventions
        Which columns were set by intervention in each row: the name of a column whose cells hold a column
        name, several separated by ";", or nothing ("observational" and "none" mean nothing, too); or one entry per row,
        each None, a name, or several names.
    recipe
        What is done with each column: a `Recipe`, fitted or not, or the path of a recipe file. The recipe of the table,
        ``table.recipe``, says what was done.

    >>> import pandas
    >>> frame = pandas.DataFrame({"rain": ["no", "yes", "yes"], "wet": [False, False, True], "n": [5, 1, 4]})
    >>> as_table(frame, counts="n")
    Table of 2 columns and 3 rows that stand for 10 observations
      rain  2 levels: no, yes
      wet   2 levels: False, True
    """
    if isinstance(data, Table) and counts is None and interventions is None and recipe is None:
        return data
    chosen = resolve_recipe(recipe)
    table = checked_table(data, counts, interventions, chosen)
    warn_about(table, decided=not chosen.fitted)
    return table


def checked_table(data: TableLike, counts: Any = None, interventions: Any = None, recipe: Any = None) -> Table:
    """What `as_table` gives, before its warnings."""
    if isinstance(data, Table) and counts is None and interventions is None and recipe is None:
        return data
    chosen = resolve_recipe(recipe)
    if not isinstance(data, str | os.PathLike):
        return chosen.read(data, counts=counts, interventions=interventions)
    frame = frame_of(data)
    try:
        return chosen.read(frame, counts=counts, interventions=interventions)
    except InputError as error:
        raise InputError(f"{source_name(data)}: {error.marked}") from None


def warn_about(table: Table, *, decided: bool = True) -> None:
    """Say what was left out and dropped, and warn of columns that look unintended."""
    from dagpost.data.recipe_words import notice_of_reading

    if table.recipe is not None:
        recipe = table.recipe
        said = notice_of_reading(recipe.steps_, recipe.dropped_rows_, recipe.rows_, decided=decided)
        if said:
            warn(said)
    if decided:
        warn_of_columns(table)


def warn_of_columns(table: Table) -> None:
    """Warn of columns that would be numbers but for a few cells, or look like identifiers."""
    kept = () if table.recipe is None else table.recipe.keep
    kept = (*kept, *_warn_of_stray_cells(table, kept))
    many = [
        name
        for name, levels in zip(table.names, table.levels, strict=True)
        if levels and 2 * len(levels) > table.observations and name not in kept and isinstance(levels[0], str)
    ]
    if many:
        warn(
            f"{columns_are(many, 'has', 'have')} more levels than half of the {table.observations:,} rows. An "
            f"identifier? Then leave it out: {either(f'Recipe(drop={many!r})', '--drop')}."
        )


def _warn_of_stray_cells(table: Table, kept: Sequence[str]) -> list[str]:
    found = []
    for name, column, levels in zip(table.names, table.columns, table.levels, strict=True):
        stray = stray_levels([level for level in levels or () if level != MISSING_LEVEL])
        if name in kept or not stray:
            continue
        found.append(name)
        first = int(np.isin(column, [(levels or ()).index(level) for level in stray]).argmax())
        # Where rows were dropped, those of the table are not those of the data.
        whole = table.recipe is None or not table.recipe.dropped_rows_
        row = f", first in row {first + 1} (the first row is row 1)" if whole else ""
        warn(
            f"Column {name!r} has {len(levels or ())} levels of text, all of them numbers but "
            f"{shortened([repr(level) for level in stray])}{row}. Correct such cells, or leave them empty, and it is "
            f"a column of numbers; or keep it as it is: {either(f'Recipe(keep=[{name!r}])', '--keep')}."
        )
    return found


def read_table(
    path: str | os.PathLike[str],
    *,
    counts: str | Sequence[int] | NDArray[Any] | None = None,
    interventions: str | Iterable[object] | None = None,
    recipe: Recipe | str | os.PathLike[str] | None = None,
) -> Table:
    r"""Read a CSV or Parquet file; "-" reads CSV from standard input.

    `counts`, `interventions` and `recipe` are those of `as_table`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "weather.csv"
    ...     _ = path.write_text("rain,wet,n\nno,no,5\nyes,no,1\nyes,yes,4\n")
    ...     table = read_table(path, counts="n")
    >>> table
    Table of 2 columns and 3 rows that stand for 10 observations
      rain  2 levels: no, yes
      wet   2 levels: no, yes
    """
    if not isinstance(path, (str, os.PathLike)):
        raise refusal(type(path).__name__, "path", "read_table", "a str or a path", "Data in memory goes to as_table.")
    return as_table(path, counts=counts, interventions=interventions, recipe=recipe)


def wanted_table(
    data: TableLike,
    wanted: Columns | None,
    *,
    bins: int | None = None,
    counts: Any = None,
    interventions: Any = None,
    recipe: Any = None,
    regimes: Regimes | None = None,
) -> Table:
    """The table of whatever `as_table` takes: numbers are cut into levels, in so many bins, where levels are wanted.

    Where both are, only what the recipe says is to be cut is; None: columns are as they are. Where a column names the
    `regimes`, indicators take its place.
    """
    if regimes is not None and not isinstance(data, Table):
        recipe = reading_regimes(resolve_recipe(recipe), regimes, counts, interventions)
    table = as_table(data, counts=counts, interventions=interventions, recipe=recipe)
    if regimes is not None:
        table = with_indicators(table, regimes)
    if wanted in ("mixed", "ordered"):
        return cut_where_asked(with_recipe(table))
    if wanted == "discrete":
        return cut_numbers(with_recipe(table), notify=bins is None, bins=bins)
    if wanted == "continuous":
        table = table.with_number_columns()
    return table if table.recipe is None else replace(table, recipe=table.recipe.uncut())
