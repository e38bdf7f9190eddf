"""Rows in parts: a folder of Parquet files, a list of such files, or a dask.dataframe, which need not fit into memory.

A part is read where its task runs, some hundred thousand rows at a time. Columns of categories keep their levels, which
must be the same in every part; all other columns are plain values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import quoted
from dagpost._tools.text import nearest, shortened, shown
from dagpost.data.categories import arrow_categories
from dagpost.data.rows import intervention_masks
from dagpost.engines.dask.cluster import Cluster
from dagpost.errors import InputError

#: Rows that are read together.
BATCH_ROWS = 1 << 18
#: Results that are merged by one task.
MERGED_TOGETHER = 8
#: A row number means nothing in a table in parts.
_WHICH_ROW = re.compile(r" in row \d+ \(the first row is row 1\)")


class Parts:
    """The parts of a table, and how to run something on each."""

    def __init__(self, cluster: Cluster, source: Any) -> None:
        self._cluster = cluster
        self._frame = source if hasattr(source, "to_delayed") and hasattr(source, "npartitions") else None
        self._files = [] if self._frame is not None else _files_of(source)

    def map(self, name: str, function: Any, *arguments: Any) -> list[Any]:
        """Futures of `function(part, *arguments)`; a part is what `batches_of` takes."""
        if self._frame is None:
            return [self._cluster.submit(name, function, file, *arguments) for file in self._files]
        from dask.delayed import delayed

        lazily = delayed(function, pure=False)
        tasks = [lazily(part, *arguments) for part in self._frame.to_delayed(optimize_graph=True)]
        futures = list(self._cluster.client.compute(tasks))
        self._cluster.remember(futures)
        return futures

    def merged(self, name: str, function: Any, futures: list[Any], *arguments: Any) -> Any:
        """One future of `function(arguments, *results)` over all results, merged in a tree."""
        while True:
            groups = [futures[begin : begin + MERGED_TOGETHER] for begin in range(0, len(futures), MERGED_TOGETHER)]
            futures = [self._cluster.submit(name, function, arguments, *group) for group in groups]
            if len(futures) == 1:
                return futures[0]


def wanted_columns(columns: Sequence[str] | None, *others: str | None) -> list[str] | None:
    """The columns to read: those asked for, and `others` with a role of their own; None: all there are."""
    if columns is None:
        return None
    if not set(columns) - set(others):
        raise InputError(
            f"'columns' names no column to count: got {shown(list(columns))}. Name some, or leave it out to take all."
        )
    return list(dict.fromkeys([*columns, *(name for name in others if name is not None)]))


def batches_of(part: Any, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[Any]:
    """The rows of a part, as Arrow tables of at most `rows` rows."""
    import pyarrow
    import pyarrow.parquet

    wanted = None if columns is None else list(columns)
    if isinstance(part, str):
        try:
            with pyarrow.parquet.ParquetFile(part) as file:
                require_columns(wanted or (), file.schema_arrow.names, part)
                for batch in file.iter_batches(rows, columns=wanted, use_threads=False):
                    yield pyarrow.Table.from_batches([batch])
        except pyarrow.ArrowException as error:
            raise InputError(f"{part}: is not a readable Parquet file ({str(error).splitlines()[0]})") from error
        return
    require_columns(wanted or (), part.columns, part)
    table = pyarrow.Table.from_pandas(part if wanted is None else part[wanted], preserve_index=False)
    for begin in range(0, table.num_rows, rows):
        yield table.slice(begin, rows)


def require_columns(wanted: Iterable[str], known: Iterable[Any], part: Any) -> None:
    """Refuse names of columns that do not exist: a Parquet reader leaves them out without a word."""
    names = list(known)
    for name in wanted:
        if name not in names:
            suggestion = nearest(str(name), [str(other) for other in names])
            raise InputError(f"{called(part)}there is no column {name!r}.{suggestion}")


def called(part: Any) -> str:
    """How a message begins that continues in lower case: with the part, if it has a name."""
    return f"{part}: " if isinstance(part, str) else "In a part of the table, "


def plain(table: Any, levels: dict[str, list[Any]]) -> Any:
    """The table with plain values for categories, whose levels go to `levels`, and without the row labels of pandas."""
    import pyarrow

    table = table.select([name for name in table.column_names if not name.startswith("__index_level_")])
    for place, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            column = table.column(place)
            found = [level for level in dict.fromkeys(arrow_categories(column)[1]) if level is not None]
            agree_on_levels(levels, {field.name: found})
            table = table.set_column(place, field.name, column.cast(field.type.value_type))
    return table


def with_plain_targets(batch: Any, interventions: str | None) -> Any:
    """A batch whose column of intervention targets, if it has one, is text: parts need not agree on its type."""
    import pyarrow

    if interventions is None:
        return batch
    place = batch.schema.get_field_index(interventions)
    if place < 0:
        raise InputError(f"{quoted('interventions')} names {interventions!r}, which is not a column of every part.")
    try:
        return batch.set_column(place, interventions, batch.column(place).cast(pyarrow.string()))
    except pyarrow.ArrowException:
        kind = batch.schema.field(place).type
        raise InputError(
            f"The column {interventions!r} of intervention targets is of type {kind}. It should hold names of columns, "
            "several in one cell separated by ';', and nothing where nothing was set."
        ) from None


def masks_of_targets(entries: Sequence[str | None], names: tuple[str, ...]) -> NDArray[np.uint64]:
    """The mask of the columns that each entry of a column of intervention targets names."""
    try:
        return intervention_masks(list(entries), names, len(entries))
    except InputError as error:
        raise InputError(_WHICH_ROW.sub("", error.marked)) from None


def agree_on_levels(levels: dict[str, list[Any]], others: dict[str, list[Any]]) -> None:
    """Note the levels of columns of categories; refuse those that differ from the ones noted before."""
    for name, found in others.items():
        if levels.setdefault(name, found) != found:
            raise InputError(
                f"The levels of column {name!r} are {levels[name]!r} in one part and {found!r} in another. Give all "
                "parts the same categories in the same order, or turn the column into plain strings or integers."
            )


def with_categories(frame: Any, levels: dict[str, list[Any]]) -> Any:
    """A frame whose columns with noted levels are categories; refuse values that are not among the levels."""
    import pandas

    for name, known in levels.items():
        others = [value for value in frame[name].unique().tolist() if value not in known]
        if others:
            raise InputError(
                f"Column {name!r} has the levels {shortened([repr(level) for level in known])} in one part, and in "
                f"another it is not a column of categories and holds {others[0]!r}. Give all parts the same categories "
                "in the same order, or turn the column into plain strings or integers."
            )
        frame[name] = pandas.Categorical(frame[name], categories=known)
    return frame


def _files_of(source: Any) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        folder = Path(source)
        if not folder.is_dir():
            raise InputError(f"{folder}: is not a folder. Give a folder of Parquet files, or a list of such files.")
        files = sorted(str(path) for path in folder.rglob("*.parquet"))
        if not files:
            raise InputError(f"{folder}: holds no file whose name ends in '.parquet'.")
        return files
    if isinstance(source, Sequence) and len(source) > 0 and all(isinstance(p, (str, os.PathLike)) for p in source):
        missing = [str(path) for path in source if not Path(path).is_file()]
        if missing:
            raise InputError(f"{missing[0]}: there is no such file.")
        return [str(path) for path in source]
    raise InputError(
        "Rows in parts come as a folder of Parquet files, a list of such files, or a dask.dataframe. Got "
        f"{type(source).__name__} instead."
    )
