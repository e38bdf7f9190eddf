"""Which rows occur in a table that is larger than memory, and how often? Its distinct rows, with their counts.

A task for each part groups its rows, batch after batch, and the results are merged in a tree. Discrete tables have far
fewer distinct rows than rows; with their counts these are a `Table` like any other, which scores, methods and
predictions take as it is. Memory of a task: a batch of rows and the distinct rows of the parts below it. Where there
are too many distinct rows, see cells.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost.engines.dask.parts import (
    BATCH_ROWS,
    Parts,
    agree_on_levels,
    batches_of,
    called,
    masks_of_targets,
    plain,
    require_columns,
    wanted_columns,
    with_categories,
    with_plain_targets,
)
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.engines.dask.engine import DaskEngine

#: Distinct rows that one machine takes; with more, count for every set of columns (cells.py).
MOST_DISTINCT = 5_000_000
_COUNT = "\0count"
#: From here on, counts that come as floating-point numbers are not exact.
_MOST_COUNTED = 2**53


def distinct_rows_of_parts(
    source: Any,
    engine: DaskEngine,
    *,
    columns: Sequence[str] | None = None,
    counts: str | None = None,
    interventions: str | None = None,
    most: int = MOST_DISTINCT,
    batch_rows: int = BATCH_ROWS,
) -> Table:
    """The distinct rows of a table in parts, with counts.

    Parameters
    ----------
    source
        A folder of Parquet files (searched with its subfolders), a list of such files, or a dask.dataframe. The workers
        must be able to read the files under the same names.
    columns
        The columns to take; all unless given.
    counts
        The name of a column that says how many observations a row stands for: whole numbers of at least 0.
    interventions
        The name of a column that says which variable was set from outside in a row, as for `as_table`: names, several
        in one cell separated by ";", and nothing where nothing was set.
    most
        More distinct rows than this are an error.
    batch_rows
        Rows that a task reads together.
    """
    from dagpost.data import as_table

    wanted = wanted_columns(columns, counts, interventions)
    parts = Parts(engine.cluster, source)
    with engine.cluster.release_on_error():
        grouped = parts.map("distinct-rows", _group_part, wanted, counts, interventions, most, batch_rows)
        levels, table = engine.cluster.result(parts.merged("merge-rows", _merge, grouped, most))
    if table is None or table.num_rows == 0:
        raise InputError("The table is empty: its parts have no rows. At least one row is needed.")
    frame = with_categories(table.to_pandas(), levels)
    if interventions is not None:
        names = tuple(name for name in frame.columns if name not in (_COUNT, interventions))
        masks_of_targets(table.column(interventions).unique().to_pylist(), names)
    return as_table(frame, counts=_COUNT, interventions=interventions)


def _group_part(
    part: Any, columns: list[str] | None, counts: str | None, interventions: str | None, most: int, batch_rows: int
) -> tuple[dict[str, Any], Any]:
    """Distinct rows of one part, with counts in a column of their own, and the levels of columns of categories."""
    import pyarrow

    levels: dict[str, list[Any]] = {}
    found = None
    for batch in batches_of(part, columns, batch_rows):
        rows = plain(with_plain_targets(batch, interventions), levels)
        if counts is None:
            own = rows.group_by(rows.column_names, use_threads=False).aggregate([([], "count_all")])
            own = own.rename_columns([*rows.column_names, _COUNT])
        else:
            levels.pop(counts, None)
            own = _regrouped(_with_counts(rows, counts, part))
        refuse_missing(own, part, but=interventions)
        found = own if found is None else _regrouped(pyarrow.concat_tables([found, own]))
        _refuse_many(found, most)
    return levels, found


def _merge(limits: tuple[int], *results: tuple[dict[str, Any], Any]) -> tuple[dict[str, Any], Any]:
    import pyarrow

    levels: dict[str, list[Any]] = {}
    for own, _ in results:
        agree_on_levels(levels, own)
    tables = [table for _, table in results if table is not None]
    for table in tables[1:]:
        if table.schema.remove_metadata() != tables[0].schema.remove_metadata():
            raise InputError(
                f"The parts have different columns: {_described(tables[0])} in one, {_described(table)} in another."
            )
    if not tables:
        return levels, None
    if len(tables) == 1:
        return levels, tables[0]
    # In one piece: Arrow warns about the alignment of what came over the network.
    whole = pyarrow.concat_tables([table.replace_schema_metadata(None) for table in tables]).combine_chunks()
    merged = _regrouped(whole)
    _refuse_many(merged, *limits)
    return levels, merged


def _with_counts(rows: Any, counts: str, part: Any) -> Any:
    """The rows with their counts as 64-bit integers in the column `_COUNT`; checked before any of them are summed."""
    import pyarrow

    require_columns([counts], rows.column_names, part)
    place = rows.column_names.index(counts)
    column = rows.column(place)
    numbers = column.to_pandas().to_numpy() if _is_number(column.type) else np.full(rows.num_rows, np.nan)
    wrong = ~((numbers >= 0) & (numbers < _MOST_COUNTED) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise InputError(
            f"{called(part)}column {counts!r} must hold counts, whole numbers of at least 0. Got "
            f"{column[int(wrong.argmax())].as_py()!r}: correct it, or drop the row."
        )
    return rows.set_column(place, _COUNT, pyarrow.array(numbers.astype(np.int64)))


def _is_number(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind))


def _regrouped(table: Any) -> Any:
    names = [name for name in table.column_names if name != _COUNT]
    summed = table.group_by(names, use_threads=False).aggregate([(_COUNT, "sum")])
    return summed.rename_columns([_COUNT if name == f"{_COUNT}_sum" else name for name in summed.column_names])


def refuse_missing(table: Any, part: Any, *, but: str | None = None) -> None:
    """Refuse cells without a value, except in the column `but`: a count cannot decide what they stand for."""
    import pyarrow
    import pyarrow.compute

    for name in table.column_names:
        if name == but:
            continue
        column = table.column(name)
        empty = column.is_null(nan_is_null=pyarrow.types.is_floating(column.type))
        if pyarrow.compute.any(empty).as_py():
            raise InputError(
                f"{called(part)}column {name!r} has missing cells. Drop those rows, or fill them in, before they are "
                "counted."
            )


def _refuse_many(table: Any, most: int) -> None:
    if table.num_rows > most:
        raise InputError(
            f"There are more than {most:,} distinct rows. Score the columns with "
            "dagpost.engines.dask.cells.scores_of_parts, which counts for each set of columns (and takes rows without "
            "counts of their own); or take fewer columns, or discretise to fewer levels."
        )


def _described(table: Any) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in table.schema if field.name != _COUNT)
