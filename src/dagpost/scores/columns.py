"""Some columns of a table, which are scored by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost.data.table import Table
from dagpost.errors import InputError


def part_of(table: Table, columns: Sequence[int]) -> Table:
    """Some columns of a table, with the interventions on them, their gaps, and what is known of these."""
    interventions = table.interventions
    if interventions is not None:
        own = [(interventions >> np.uint64(column) & np.uint64(1)) << np.uint64(k) for k, column in enumerate(columns)]
        interventions = np.bitwise_or.reduce(own)
    gaps = None if table.gaps is None else table.gaps[list(columns)]
    names = tuple(table.names[column] for column in columns)
    return replace(
        table,
        names=names,
        columns=tuple(table.columns[column] for column in columns),
        levels=tuple(table.levels[column] for column in columns),
        interventions=interventions if interventions is not None and interventions.any() else None,
        recipe=None,
        numbers=(),
        gaps=gaps if gaps is not None and gaps.any() else None,
        regimes=tuple(name for name in names if name in table.regimes),
        bounds=tuple(table.bounds[c] if table.levels[c] is None else None for c in columns) if table.bounds else (),
        ranks=tuple(table.ranks[column] for column in columns) if table.ranks else (),
        in_order=tuple(name for name in names if name in table.in_order),
        unordered=tuple(name for name in names if name in table.unordered),
    )


def with_gaps(table: Table) -> Flags:
    """Which columns have gaps."""
    found: Flags = np.zeros(len(table.names), dtype=np.bool_)
    if table.gaps is not None:
        found |= table.gaps.any(axis=1)
    return found


def check_written_out(table: Table) -> None:
    """Refuse a row with gaps that counts more than once: each observation has values of its own there."""
    if table.gaps is not None and (table.weights[table.gaps.any(axis=0)] != 1).any():
        raise InputError("Rows with gaps must count once each. Repeat them as often as they count.")
