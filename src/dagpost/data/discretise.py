"""Continuous columns to a few levels each, by scikit-learn's KBinsDiscretizer, one column at a time.

A bin holds its lower edge and not its upper one, except the last, which holds both; its name says so, such
as "[4.3, 5.5)". Edges are found from all rows (no subsampling) and nothing is random, so the result depends
on the data alone. Rows with counts weigh as many observations as they stand for. Time: a sort of each column;
k-means takes some tens of passes.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import one_of, whole_number
from dagpost._tools.spelling import setting
from dagpost._tools.text import nearest
from dagpost.data.conversion import TableLike, checked_table, warn_about
from dagpost.data.encoding import code_type, interval_names
from dagpost.data.table import Table
from dagpost.errors import InputError, warn

Strategy = Literal["quantile", "uniform", "kmeans"]

_LARGEST_BINS = 256


def discretise(
    table: TableLike, bins: int = 3, strategy: Strategy = "quantile", columns: Sequence[str] | None = None
) -> Table:
    """Cut the continuous columns of a table into bins, and name the levels by their edges.

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
        Which columns to cut: all continuous ones unless given. Columns of integers can be cut, too, by naming
        them.

    >>> heights = np.array([[1.52, 0.5], [1.61, 1.5], [1.75, 0.1], [1.80, 0.9], [1.93, 0.3], [1.66, 2.2]])
    >>> discretise(heights, bins=2, strategy="uniform").levels[0]
    ('[1.52, 1.725)', '[1.725, 1.93]')
    """
    bins = whole_number(bins, "bins", "discretise", least=2, most=_LARGEST_BINS)
    one_of(strategy, "strategy", get_args(Strategy), "discretise")
    data = checked_table(table)
    new_columns = list(data.columns)
    new_levels = list(data.levels)
    for position in _chosen(data, columns):
        values = _numbers(data, position)
        codes, edges = _binned(values, data.counts, bins, strategy)
        if len(edges) <= bins and edges[0] != edges[-1]:
            _warn_collapsed(data.names[position], values, len(edges) - 1, bins)
        new_columns[position] = codes.astype(code_type(len(edges) - 1))
        new_levels[position] = interval_names(edges, closed="left")
    result = replace(data, columns=tuple(new_columns), levels=tuple(new_levels))
    warn_about(result)
    return result


def _chosen(table: Table, columns: Sequence[str] | None) -> list[int]:
    if columns is None:
        return [position for position, levels in enumerate(table.levels) if levels is None]
    named = [columns] if isinstance(columns, str) else list(columns)
    for name in named:
        if name not in table.names:
            raise InputError(f"'columns' names {name!r}, which is not a column.{nearest(str(name), table.names)}")
    return [table.names.index(name) for name in named]


def _numbers(table: Table, position: int) -> NDArray[np.float64]:
    column, levels = table.columns[position], table.levels[position]
    if levels is None:
        return np.asarray(column, dtype=np.float64)
    for level in levels:
        if isinstance(level, bool) or not isinstance(level, (int, float)):
            raise InputError(
                f"'columns' names {table.names[position]!r}, whose levels are not numbers (one is "
                f"{level!r}). Only columns of numbers can be cut into bins: leave it out."
            )
    return np.asarray(np.array(levels, dtype=np.float64)[column])


def _binned(
    values: NDArray[np.float64], counts: NDArray[np.int64] | None, bins: int, strategy: Strategy
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The bin of every value, and the edges of the bins."""
    from sklearn.preprocessing import KBinsDiscretizer

    seen = values if counts is None else values[counts > 0]
    weights = None if counts is None or strategy == "uniform" else counts[counts > 0]
    distinct = len(np.unique(seen))
    if distinct == 1:
        return np.zeros(len(values), dtype=np.int64), np.array([seen[0], seen[0]])
    # scikit-learn drops bins narrower than 1e-8; scaled to a range near 1, by a power of 2 and so without
    # rounding, that is a relative width.
    exponent = int(np.frexp(seen.max() - seen.min())[1])
    settings: dict[str, Any] = {}
    if "quantile_method" in inspect.signature(KBinsDiscretizer).parameters:
        settings["quantile_method"] = "averaged_inverted_cdf"
    binner = KBinsDiscretizer(
        n_bins=min(bins, distinct) if strategy == "kmeans" else bins,
        encode="ordinal",
        strategy=strategy,
        subsample=None,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of bins that vanish: ours names the column
        binner.fit(np.ldexp(seen, -exponent)[:, None], sample_weight=weights)
        codes = binner.transform(np.ldexp(values, -exponent)[:, None])[:, 0]
    return codes, np.ldexp(binner.bin_edges_[0], exponent)


def _warn_collapsed(name: str, values: NDArray[np.float64], got: int, asked: int) -> None:
    warn(
        f"Column {name!r} falls into {got} {'bin' if got == 1 else 'bins'} instead of {asked}: its "
        f"{len(np.unique(values))} distinct values, some of them frequent, leave no room for more. Ask for "
        f"fewer bins, or use {setting('strategy', 'uniform')}."
    )
