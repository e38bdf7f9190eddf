"""Completed tables and what is known of missing cells, cell by cell in plain Python."""

from __future__ import annotations

import math
from typing import Any

from dagpost.data.table import Table


def completed_rows(table: Table, rows: list[int], cells: list[float]) -> list[tuple[int, list[Any]]]:
    """The row of the user's table and the values of each observation, sorted by that row."""
    assert table.gaps is not None
    left = iter(cells)
    drawn = {
        (column, row): next(left)
        for column in range(len(table.names))
        for row in range(table.rows)
        if table.gaps[column, row]
    }
    found = []
    for row in range(table.rows):
        values = []
        for column, levels in enumerate(table.levels):
            cell = drawn.get((column, row), table.columns[column][row])
            values.append(float(cell) if levels is None else levels[int(cell)])
        found += [(rows[row], values)] * int(table.weights[row])
    return sorted(found, key=lambda entry: entry[0])


def draws_of_cells(table: Table, rows: list[int], completions: list[list[float]]) -> dict[tuple[int, str], list[Any]]:
    """All draws of each missing cell, by row of the user's table and column."""
    assert table.gaps is not None
    found: dict[tuple[int, str], list[Any]] = {}
    for cells in completions:
        left = iter(cells)
        for column, name in enumerate(table.names):
            for row in range(table.rows):
                if table.gaps[column, row]:
                    cell, levels = next(left), table.levels[column]
                    found.setdefault((rows[row], name), []).append(cell if levels is None else levels[int(cell)])
    return found


def mean_and_deviation(draws: list[float]) -> tuple[float, float]:
    """The mean of some numbers, and how far they lie from it."""
    mean = math.fsum(draws) / len(draws)
    return mean, math.sqrt(math.fsum((draw - mean) ** 2 for draw in draws) / len(draws))
