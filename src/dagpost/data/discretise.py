"""Columns of numbers cut into a few levels each, before a model is fitted: cutting.py has the rules.

The same cuts are made by a `Recipe` on the way from a table to a discrete score; here they are made at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import one_of, texts, whole_number
from dagpost._tools.spelling import setting
from dagpost._tools.text import nearest, shown
from dagpost.data.conversion import TableLike, checked_table, warn_about
from dagpost.data.cutting import LARGEST_BINS, USUAL_BINS, USUAL_STRATEGY, Strategy
from dagpost.data.encoding import is_number
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.table import Table
from dagpost.errors import InputError, warn


def discretise(
    table: TableLike, bins: int = USUAL_BINS, strategy: Strategy = USUAL_STRATEGY, columns: Sequence[str] | None = None
) -> Table:
    """Cut columns of numbers into bins, and name the levels by the cuts.

    Parameters
    ----------
    table
        Anything `as_table` takes.
    bins
        How many bins each column gets. Fewer come out, with a warning, where equal values leave no room for
        them.
    strategy
        "quantile": about as many rows in each bin; "uniform": bins of equal width; "kmeans": bins around the
        centres of one-dimensional clusters.
    columns
        Which columns to cut: all that are not levels unless given. Columns of a few numbers, which are levels, can be
        cut, too, by naming them.

    >>> heights = np.array([[1.52, 0.5], [1.61, 1.5], [1.75, 0.1], [1.80, 0.9], [1.92, 0.3], [1.66, 2.2]])
    >>> discretise(heights, bins=2, strategy="uniform").levels[0]
    ('<1.72', '>=1.72')
    """
    from dagpost.data.cut_tables import cut_columns
    from dagpost.data.recipe import Recipe, with_recipe
    from dagpost.data.recipe_steps import Rule

    bins = whole_number(bins, "bins", "discretise", least=2, most=LARGEST_BINS)
    one_of(strategy, "strategy", get_args(Strategy), "discretise")
    named = [columns] if isinstance(columns, str) else columns
    named = None if named is None else list(texts(named, "columns", "discretise"))
    result = checked_table(table, recipe=None if isinstance(table, Table) or named is None else Recipe(keep=named))
    numbers = {result.names[position]: _numbers(result, position) for position in _chosen(result, named)}
    result = cut_columns(with_recipe(result), numbers, dict.fromkeys(numbers, Rule(None, bins, strategy)))
    for name, levels in zip(result.names, result.levels, strict=True):
        found = len([level for level in levels or () if level != MISSING_LEVEL])
        if name in numbers and found < bins:
            _warn_collapsed(name, numbers[name], found, bins)
    warn_about(result)
    return result


def _chosen(table: Table, columns: list[str] | None) -> list[int]:
    if columns is None:
        return [position for position, levels in enumerate(table.levels) if levels is None]
    for name in columns:
        if name not in table.names:
            raise InputError(f"'columns' names {shown(name)}, which is not a column.{nearest(name, table.names)}")
    return [table.names.index(name) for name in columns]


def _numbers(table: Table, position: int) -> NDArray[np.float64]:
    column, levels = table.columns[position], table.levels[position]
    if levels is None:
        return np.asarray(column, dtype=np.float64)
    for level in levels:
        if not is_number(level):
            raise InputError(
                f"'columns' names {table.names[position]!r}, whose levels are not numbers (one is "
                f"{level!r}). Only columns of numbers can be cut into bins: leave it out."
            )
    numbers = np.array(levels, dtype=np.float64)[column]
    return np.asarray(numbers if table.gaps is None else np.where(table.gaps[position], np.nan, numbers))


def _warn_collapsed(name: str, values: NDArray[np.float64], got: int, asked: int) -> None:
    distinct = len(np.unique(values[~np.isnan(values)]))
    warn(
        f"Column {name!r} falls into {got} {'bin' if got == 1 else 'bins'} instead of {asked}: its "
        f"{distinct} distinct values, some of them frequent, leave no room for more. Ask for "
        f"fewer bins, or use {setting('strategy', 'uniform')}."
    )
