"""Draw the missing levels of each row in turn, given a graph and all other rows.

The parameters are summed out (row_weights.py). The missing levels of a row are drawn jointly, as long as they have few
configurations.

Time: 50 ns for each family and configuration of its missing levels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.log_sums import choose
from dagpost.scores.family_counts import CellParameters, Tally, add_row, count_rows
from dagpost.scores.row_weights import JOINT_CONFIGURATIONS, GapRows, Work, spread_out, weigh


class Round(NamedTuple):
    """All that a round over the rows of a table takes."""

    rows: GapRows
    parameters: CellParameters
    tally: Tally
    work: Work


@kernel
def redraw_rows(
    needed: Integers, table: Round, generator: np.random.Generator, cells: Floats, cancel: Integers
) -> None:
    """Count all rows with their present cells, then draw the incomplete rows in turn."""
    rows, work, codes, arities = table.rows, table.work, table.tally.codes, table.parameters.arities
    incomplete = len(rows.start) - 1
    for row in range(incomplete):
        for gap in range(rows.start[row], rows.start[row + 1]):
            codes[rows.columns[gap], rows.first + row] = np.uint16(cells[rows.cells[gap]])
    count_rows(needed, table.tally)
    for node in range(len(work.seen)):
        work.seen[node] = -1
    blocks = 0
    for row in range(incomplete):
        if cancel[0] != 0:
            return
        first = rows.start[row]
        length = rows.start[row + 1] - first
        configurations = 1.0
        for gap in range(first, first + length):
            configurations *= arities[rows.columns[gap]]
        turn = 0
        if configurations > JOINT_CONFIGURATIONS:
            # Other cells stand together next time.
            turn = min(int(generator.random() * length), length - 1)
        done = 0
        while done < length:
            size, together = 0, 1
            while done < length:
                column = rows.columns[first + (done + turn) % length]
                if size > 0 and together * arities[column] > JOINT_CONFIGURATIONS:
                    break
                work.block[size] = column
                work.place_of[column] = size
                together *= arities[column]
                size += 1
                done += 1
            _draw_levels(rows.first + row, size, together, blocks, table, generator)
            blocks += 1
    for row in range(incomplete):
        for gap in range(rows.start[row], rows.start[row + 1]):
            cells[rows.cells[gap]] = codes[rows.columns[gap], rows.first + row]


@inline_no_refcount
def _draw_levels(
    row: int, size: int, configurations: int, block: int, table: Round, generator: np.random.Generator
) -> None:
    """Draw the levels of a block jointly; `block` tells it from those before it."""
    rows, tally, work, arities = table.rows, table.tally, table.work, table.parameters.arities
    layout, touched = tally.layout, 0
    for place in range(size):
        column = work.block[place]
        for entry in range(layout.starts[column], layout.starts[column + 1]):
            node = layout.lists[entry]
            if work.seen[node] != block and rows.counted[node, row]:
                work.seen[node] = block
                work.touched[touched] = node
                touched += 1
    for configuration in range(configurations):
        work.joint[configuration] = 0.0
    for place in range(touched):
        node = work.touched[place]
        add_row(node, row, -1, tally)
        weigh(node, row, size, table.parameters, tally, work)
        spread_out(size, configurations, arities, work)
    chosen = choose(configurations, generator.random(), work.joint)
    if chosen >= 0:
        for place in range(size):
            arity = arities[work.block[place]]
            tally.codes[work.block[place], row] = np.uint16(chosen % arity)
            chosen //= arity
    for place in range(size):
        work.place_of[work.block[place]] = -1
    for place in range(touched):
        add_row(work.touched[place], row, 1, tally)
