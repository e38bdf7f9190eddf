"""Draw the missing cells of each row of levels and numbers in turn, given a graph, regressions and all other rows.

The parameters of columns of levels are summed out (row_weights.py); those of columns of numbers are given, a regression
for each combination of levels (regression_draws.py). The missing levels of a row are drawn jointly, as long as they
have few configurations, with its missing numbers integrated out: a configuration has, beside what it adds to the
Dirichlet scores, the density of the numbers that were observed (missing_numbers.py). The missing numbers come after
them, jointly too.

A combination of levels that no row has gets its regression from the prior when a row might fall into it, and keeps it
for the rest of the round if the row does.

Time: 50 ns for each family and configuration of its missing levels; where numbers are missing too, the square of their
number more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.log_sums import choose
from dagpost.families.considered_sets import Members
from dagpost.scores.family_counts import (
    CellParameters,
    Tally,
    add_row,
    count_rows,
    find_place,
    place_for,
    set_key,
)
from dagpost.scores.missing_numbers import NumberWork, draw_numbers, unexplained, weigh_jointly
from dagpost.scores.regression_draws import Fit, draw_regressions, draw_unseen, list_numbers
from dagpost.scores.row_weights import JOINT_CONFIGURATIONS, GapRows, Work, spread_out, weigh


class Numbers(NamedTuple):
    """The columns of numbers, standardised: `number_of` has the place of each column among them, or -1.

    The gaps of incomplete row `k` are in columns of levels up to `levels_end[k]`, and of numbers from there on.
    """

    number_of: Integers
    levels_end: Integers
    centre: Floats
    unit: Floats


class Round(NamedTuple):
    """All that a round over the rows of a table takes; `sizes` are those of the families of columns of levels."""

    rows: GapRows
    numbers: Numbers
    parameters: CellParameters
    sizes: Integers
    tally: Tally
    fit: Fit
    work: Work
    number_work: NumberWork


@kernel
def redraw_rows(
    families: Members,
    needed: Integers,
    table: Round,
    generator: np.random.Generator,
    cells: Floats,
    cancel: Integers,
) -> None:
    """Count all rows with their present cells and draw regressions, then draw the incomplete rows in turn."""
    rows, numbers, tally, regressions = table.rows, table.numbers, table.tally, table.fit.regressions
    work, number_work, codes = table.work, table.number_work, table.tally.codes
    arities, values, incomplete = table.parameters.arities, number_work.values, len(rows.start) - 1
    for row in range(incomplete):
        for gap in range(rows.start[row], rows.start[row + 1]):
            column, cell = rows.columns[gap], cells[rows.cells[gap]]
            number = numbers.number_of[column]
            if number < 0:
                codes[column, rows.first + row] = np.uint16(cell)
            else:
                values[number, rows.first + row] = (cell - numbers.centre[number]) / numbers.unit[number]
    count_rows(table.sizes, needed, tally)
    for place in range(needed[0]):
        regressions.number_at[place] = -1
    list_numbers(families, numbers.number_of, regressions)
    used = 0
    for node in range(len(families)):
        if numbers.number_of[node] >= 0 and tally.layout.sizes[node] > 0:
            if cancel[0] != 0:
                return
            used += draw_regressions(node, used, values, tally, table.fit, generator)
    for place in range(len(work.seen)):
        work.seen[place] = -1
        number_work.seen[place] = -1
    blocks = 0
    for row in range(incomplete):
        if cancel[0] != 0:
            return
        first, end = rows.start[row], numbers.levels_end[row]
        missing = rows.start[row + 1] - end
        for gap in range(missing):
            number_work.gap_of[numbers.number_of[rows.columns[end + gap]]] = gap
        touched = _touch_numbers(rows.first + row, end, missing, table)
        length = end - first
        configurations = 1.0
        for gap in range(first, end):
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
            used = _draw_levels(rows.first + row, size, together, blocks, missing, touched, used, table, generator)
            blocks += 1
        if missing > 0:
            draw_numbers(rows.first + row, missing, touched, tally, regressions, number_work, generator)
            for gap in range(missing):
                number = numbers.number_of[rows.columns[end + gap]]
                values[number, rows.first + row] = number_work.solution[gap]
                number_work.gap_of[number] = -1
    for row in range(incomplete):
        for gap in range(rows.start[row], rows.start[row + 1]):
            column, place = rows.columns[gap], rows.cells[gap]
            number = numbers.number_of[column]
            if number < 0:
                cells[place] = codes[column, rows.first + row]
            else:
                cells[place] = values[number, rows.first + row] * numbers.unit[number] + numbers.centre[number]


@inline_no_refcount
def _touch_numbers(row: int, end: int, missing: int, table: Round) -> int:
    """List the families that the missing numbers of a row are in; returns how many."""
    rows, layout, work, touched = table.rows, table.tally.layout, table.number_work, 0
    for gap in range(missing):
        column = rows.columns[end + gap]
        for entry in range(layout.starts[column], layout.starts[column + 1]):
            node = layout.lists[entry]
            if work.seen[node] != row and rows.counted[node, row]:
                work.seen[node] = row
                work.touched[touched] = node
                touched += 1
    return touched


@inline_no_refcount
def _draw_levels(
    row: int,
    size: int,
    configurations: int,
    block: int,
    missing: int,
    touched: int,
    used: int,
    table: Round,
    generator: np.random.Generator,
) -> int:
    """Draw the levels of a block jointly, the missing numbers integrated out; returns how many regressions there are.

    `block` tells this block from those before it. Of the families of columns of numbers the first `touched` have
    missing numbers; after them come those that have only levels of the block.
    """
    rows, numbers, parameters, tally, regressions = (
        table.rows,
        table.numbers,
        table.parameters,
        table.tally,
        table.fit.regressions,
    )
    work, number_work, layout = table.work, table.number_work, table.tally.layout
    arities, levels, everyone, joint = parameters.arities, 0, touched, False
    for place in range(size):
        column = work.block[place]
        for entry in range(layout.starts[column], layout.starts[column + 1]):
            node = layout.lists[entry]
            if work.seen[node] == block or not rows.counted[node, row]:
                continue
            work.seen[node] = block
            if numbers.number_of[node] < 0:
                work.touched[levels] = node
                levels += 1
            elif missing > 0 and number_work.seen[node] == row:
                joint = True
            else:
                number_work.touched[everyone] = node
                everyone += 1
    for configuration in range(configurations):
        work.joint[configuration] = 0.0
    for place in range(levels):
        node = work.touched[place]
        add_row(node, row, -1, tally)
        weigh(node, row, size, parameters, tally, work)
        spread_out(size, configurations, arities, work)
    fresh = used
    begin = 0 if joint else touched
    for place in range(begin, everyone):
        node = number_work.touched[place]
        outer = _list_choices(node, place, row, size, table)
        for choice in range(outer):
            if number_work.choices[place, choice] < 0:
                draw_unseen(node, fresh, table.fit, generator)
                number_work.choices[place, choice] = fresh
                fresh += 1
        if place >= touched:
            for choice in range(outer):
                number = number_work.choices[place, choice]
                residual = unexplained(node, number, row, regressions, number_work) / regressions.deviation[number]
                work.own[choice] = -0.5 * residual * residual - math.log(regressions.deviation[number])
            for cell in range(size):
                work.steps[cell] = number_work.steps[place, cell]
            spread_out(size, configurations, arities, work)
    if joint:
        weigh_jointly(row, size, configurations, missing, touched, arities, regressions, work, number_work)
    chosen = choose(configurations, generator.random(), work.joint)
    if chosen >= 0:
        for place in range(size):
            arity = arities[work.block[place]]
            tally.codes[work.block[place], row] = np.uint16(chosen % arity)
            chosen //= arity
    for place in range(size):
        work.place_of[work.block[place]] = -1
    for place in range(levels):
        add_row(work.touched[place], row, 1, tally)
    first = used
    for place in range(begin, everyone):
        choice = 0
        for cell in range(size):
            choice += number_work.steps[place, cell] * tally.codes[work.block[cell], row]
        number = number_work.choices[place, choice]
        if number >= first:
            # Those that stay move to the front: never beyond their own place, for each family has had its own.
            node = number_work.touched[place]
            set_key(node, row, tally)
            regressions.number_at[place_for(node, 1, tally)] = used
            regressions.intercept[used] = regressions.intercept[number]
            regressions.deviation[used] = regressions.deviation[number]
            for member in range(regressions.sizes[node] - 1):
                regressions.coefficients[used, member] = regressions.coefficients[number, member]
            used += 1
    return used


@inline_no_refcount
def _list_choices(node: int, place: int, row: int, size: int, table: Round) -> int:
    """The regressions of a family for each configuration of its levels in the block, -1 for unseen ones; how many."""
    arities, tally, work, number_work = table.parameters.arities, table.tally, table.work, table.number_work
    layout, key = tally.layout, tally.key
    for word in range(layout.words[node, 0]):
        key[word] = 0
    for cell in range(size):
        number_work.steps[place, cell] = 0
    found, outer = 0, 1
    for member in range(layout.sizes[node] - 1):
        column = layout.members[node, member]
        if work.place_of[column] < 0:
            key[layout.word[node, member]] += layout.stride[node, member] * tally.codes[column, row]
            continue
        number_work.steps[place, work.place_of[column]] = outer
        work.missing[found] = member
        work.digits[found] = 0
        outer *= arities[column]
        found += 1
    for choice in range(outer):
        known = find_place(node, 1, tally)
        number_work.choices[place, choice] = -1 if known < 0 else table.fit.regressions.number_at[known]
        for digit in range(found):
            member = work.missing[digit]
            arity = arities[layout.members[node, member]]
            work.digits[digit] += 1
            key[layout.word[node, member]] += layout.stride[node, member]
            if work.digits[digit] < arity:
                break
            work.digits[digit] = 0
            key[layout.word[node, member]] -= layout.stride[node, member] * arity
    return outer
