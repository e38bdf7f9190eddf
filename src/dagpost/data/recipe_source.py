"""The columns of whatever a user has, before anything is decided about them: what a recipe is applied to.

Columns of counts and of interventions are taken out and kept beside the others. No cell is copied.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import quoted
from dagpost._tools.text import names_in, nearest
from dagpost.data.encoding import Cells, cells_of
from dagpost.data.frames import frame_of, named_cells
from dagpost.data.rows import row_counts
from dagpost.data.table import Table
from dagpost.data.time_columns import series_and_lag
from dagpost.data.unrolled import Unrolled, Unrolling
from dagpost.errors import InputError


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
    #: The names of the columns of counts and of interventions, where they were columns.
    beside: Mapping[str, str] = field(default_factory=dict)

    def cells(self, name: str, *, as_text: bool = False) -> Cells:
        """One column."""
        column = self.columns[name]
        return column if isinstance(column, Cells) else cells_of(name, column, as_text=as_text)


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
    beside = {"counts": counts, "interventions": interventions}
    beside = {what: name for what, name in beside.items() if isinstance(name, str)}
    if isinstance(counts, str):
        counts = _taken_out(named, counts, "counts")
    targets = _taken_out(named, interventions, "interventions") if isinstance(interventions, str) else interventions
    return Source(named, rows, None if counts is None else row_counts(counts, rows), targets, time=time, beside=beside)


def _source_of_table(table: Table) -> Source:
    gaps = np.zeros((len(table.names), 1), dtype=bool) if table.gaps is None else table.gaps
    said = {**dict.fromkeys(table.in_order, True), **dict.fromkeys(table.unordered, False)}
    bounds = table.bounds or (None,) * len(table.names)
    columns = {
        name: Cells("declared", np.where(gap, -1, column.astype(np.intp)), list(levels), said.get(name))
        if levels is not None
        else Cells("decimal", np.where(np.isnan(column), -1, np.arange(len(column))), np.nan_to_num(column), bounds=own)
        for name, column, levels, gap, own in zip(table.names, table.columns, table.levels, gaps, bounds, strict=True)
    }
    masks = table.interventions
    targets = None
    if masks is not None:
        different, place = np.unique(masks, return_inverse=True)
        named = [names_in(int(mask), table.names) for mask in different]
        targets = [named[i] for i in place]
    return Source(columns, table.rows, table.counts, targets, is_table=True, time=table.time, beside=table.beside)


def _taken_out(named: dict[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise InputError(f"{quoted(what)} names the column {name!r}, which is not there.{nearest(name, list(named))}")
    for column in [column for column in named if column != name and series_and_lag(column)[0] == name]:
        del named[column]
    found = named.pop(name)
    return np.array([*found.levels(), None], dtype=object)[found.places] if isinstance(found, Cells) else found
