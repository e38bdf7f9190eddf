"""The mean of a column of numbers beside levels when columns are set: a sum over all levels behind it.

Given all levels `d` behind it, the mean of a number is linear in those of its parents, with the regression that the
combination of its discrete parents has (regression_tables.py); so the mean of the outcome is

    E(y | do(W)) = sum over d of P(d | do(W)) m_y(d),

where `m_y` is one more factor of the sum (factors.py), over the discrete parents of all numbers behind the outcome.
Exogenous numbers have the means of their combination of exogenous levels. Every parameter occurs at most once in a
product, as it does among levels.

A mediator of numbers is drawn anew given the columns that the cause does not act on. Everything is linear in it, so
that only its mean given these matters: the sum, over the levels between cause and mediator, of its mean given all
levels. Given the levels that the cause does not act on, the numbers that it does not act on are independent of all
other levels, so that their means may take their place.

Time: for each graph and combination of exogenous levels, the combinations of levels in `m_y` times the edges between
numbers, and the sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.causal.combinations import Combinations, tell_apart
from dagpost.causal.discrete import (
    STAGES,
    Asked,
    acted_on,
    choose_levels,
    relevant_columns,
    set_columns,
    sum_columns,
)
from dagpost.causal.factors import COUNT, Factors, begin, has_room, new_factor, value_at
from dagpost.causal.level_tables import LevelTables
from dagpost.causal.regression_tables import Regression, RegressionTables, write_regression


class AskedMean(NamedTuple):
    """One question about a column of numbers, with what it asks of levels; -1, or nan, stands for none.

    `levels` has the cause and the mediator if they are levels, the others are of numbers: `set_to` has the number that
    each column is set to; the regression of the outcome sees `seen_by_outcome` of the cause, what is behind the
    mediator `seen_by_mediator`.
    """

    levels: Asked
    outcome: int
    set_to: Floats
    cause: int = -1
    seen_by_outcome: float = math.nan
    mediator: int = -1
    seen_by_mediator: float = math.nan


@kernel
def answer_means(
    levels: LevelTables,
    numbers: RegressionTables,
    above: Masks,
    orders: Integers,
    rows: Integers,
    exogenous: np.uint64,
    exogenous_numbers: np.uint64,
    asked: AskedMean,
    combinations: Combinations,
    factors: Factors,
    regression: Regression,
    first: int,
    work: Floats,
    result: Floats,
) -> int:
    """Answer for graph after graph; returns the first place that is left because the work space is too small."""
    one, none = np.uint64(1), np.uint64(0)
    set_to = np.empty(len(levels.arities), dtype=np.int64)
    at = np.empty(len(levels.arities), dtype=np.int64)
    means = np.empty(numbers.number_parents.shape[1])
    coefficients = np.empty(numbers.number_parents.shape[1] + 1)
    set_numbers = none
    for number in range(len(means)):
        if not np.isnan(asked.set_to[number]):
            set_numbers |= one << np.uint64(number)
    fixed = set_columns(asked.levels.set_to) | exogenous
    fixed_numbers = set_numbers | exogenous_numbers
    level_mediator = one << np.uint64(asked.levels.mediator) if asked.levels.mediator >= 0 else none
    mediator = one << np.uint64(asked.mediator) if asked.mediator >= 0 else none
    outcome = one << np.uint64(asked.outcome)
    for place in range(first, len(rows)):
        graph = rows[place]
        # What the mean of the mediator, or the distribution of its levels, rests on.
        wanted = level_mediator
        before_mediator = numbers_behind(numbers, graph, mediator, fixed_numbers)
        wanted |= levels_of_numbers(numbers, graph, before_mediator & ~fixed_numbers)
        between, behind = acted_on(levels, above, graph, wanted, asked.levels.cause, fixed)
        # The numbers behind the outcome, and the levels that their regressions are told apart by.
        used = numbers_behind(numbers, graph, outcome, fixed_numbers | mediator)
        split = levels_of_numbers(numbers, graph, used & ~fixed_numbers & ~mediator)
        if used & mediator:
            split |= behind
        relevant = relevant_columns(levels, graph, split, fixed, asked.levels.mediator, behind)
        result[place] = 0.0
        count = tell_apart(combinations, relevant & exogenous & ~set_columns(asked.levels.set_to))
        for number in range(count):
            choose_levels(asked.levels, combinations, combinations.examples[number], exogenous, set_to)
            begin(factors)
            of_mediator = -1
            for stage in range(STAGES):
                members, kept, seen, target = relevant & ~fixed & ~level_mediator, none, -1, asked.outcome
                scope, needed, together = split & ~fixed, used, False
                if stage == 0:
                    if not (level_mediator & relevant) and not (mediator & used):
                        continue
                    members, kept, seen = between, ~between | level_mediator, asked.levels.seen_by_mediator
                    scope, needed, target = wanted & ~fixed, before_mediator, asked.mediator
                    together = asked.mediator >= 0
                if stage > 0 or asked.mediator >= 0:
                    for column in range(len(at)):
                        at[column] = set_to[column]
                    if seen >= 0:
                        at[asked.levels.cause] = seen
                    for column in range(len(means)):
                        means[column] = asked.set_to[column]
                        if np.isnan(means[column]) and exogenous_numbers >> np.uint64(column) & one:
                            means[column] = combinations.sums[number, column]
                    if stage == 0 and asked.cause >= 0:
                        means[asked.cause] = asked.seen_by_mediator
                    if not write_means(
                        numbers, levels.arities, graph, orders, asked, target, scope, needed, fixed_numbers,
                        of_mediator, at, means, coefficients, regression, factors, work,
                    ):  # fmt: skip
                        return place
                if not sum_columns(levels, graph, asked.levels, members, kept, seen, together, set_to, factors, work):
                    return place
                if together:
                    of_mediator = factors.tally[COUNT] - 1
                    factors.alive[of_mediator] = False
            result[place] += combinations.totals[number] * value_at(levels, -1, 0, factors, work)
    return len(rows)


@inline_no_refcount
def numbers_behind(own: RegressionTables, graph: int, wanted: np.uint64, fixed: np.uint64) -> np.uint64:
    """Some columns of numbers and their ancestors among numbers, where columns that are fixed have none."""
    one, found, todo = np.uint64(1), np.uint64(0), wanted
    while todo:
        for node in range(own.number_parents.shape[1]):
            bit = one << np.uint64(node)
            if todo & bit:
                todo &= ~bit
                found |= bit
                if not fixed & bit:
                    todo |= own.number_parents[graph, node] & ~found
    return found


@inline_no_refcount
def levels_of_numbers(own: RegressionTables, graph: int, numbers: np.uint64) -> np.uint64:
    """The discrete parents of some columns of numbers."""
    found = np.uint64(0)
    for node in range(own.level_parents.shape[1]):
        if numbers >> np.uint64(node) & np.uint64(1):
            found |= own.level_parents[graph, node]
    return found


@inline_no_refcount
def write_means(
    own: RegressionTables,
    arities: Integers,
    graph: int,
    orders: Integers,
    asked: AskedMean,
    target: int,
    scope: np.uint64,
    needed: np.uint64,
    fixed: np.uint64,
    of_mediator: int,
    at: Integers,
    means: Floats,
    coefficients: Floats,
    regression: Regression,
    factors: Factors,
    work: Floats,
) -> bool:
    """The mean of a column of numbers for all levels of the columns in `scope`, as a factor; whether there was room.

    `at` has the levels of all other columns that matter, `means` the numbers that are fixed; `of_mediator` is the
    factor with the mean of the mediator, -1 without one.
    """
    one, entries = np.uint64(1), 1.0
    for column in range(len(arities)):
        if scope >> np.uint64(column) & one:
            entries *= arities[column]
            at[column] = 0
    if not has_room(factors, entries, work):
        return False
    factor = new_factor(factors, arities, scope)
    for entry in range(int(entries)):
        for rank in range(orders.shape[1]):
            node = orders[graph, rank]
            if needed >> np.uint64(node) & one and not fixed >> np.uint64(node) & one:
                if of_mediator >= 0 and node == asked.mediator:
                    spot = factors.begins[of_mediator]
                    for column in range(len(arities)):
                        if factors.strides[of_mediator, column] > 0:
                            spot += factors.strides[of_mediator, column] * at[column]
                    means[node] = work[spot]
                else:
                    means[node] = _mean_at(own, graph, asked, node, target, at, means, coefficients, regression)
        work[factors.begins[factor] + entry] = means[target]
        column = len(arities) - 1
        while column >= 0:
            if scope >> np.uint64(column) & one:
                at[column] += 1
                if at[column] < arities[column]:
                    break
                at[column] = 0
            column -= 1
    return True


@inline_no_refcount
def _mean_at(
    own: RegressionTables,
    graph: int,
    asked: AskedMean,
    node: int,
    target: int,
    at: Integers,
    means: Floats,
    coefficients: Floats,
    regression: Regression,
) -> float:
    """The mean of a column of numbers, given the levels and the means of its parents."""
    one, combination, width = np.uint64(1), 0, 1
    sees = node == target and node == asked.outcome
    for column in range(len(at)):
        if own.level_parents[graph, node] >> np.uint64(column) & one:
            level = at[column]
            if sees and column == asked.levels.cause and asked.levels.seen_by_outcome >= 0:
                level = asked.levels.seen_by_outcome
            combination = combination * own.arities[column] + level
    for column in range(own.number_parents.shape[1]):
        if own.number_parents[graph, node] >> np.uint64(column) & one:
            width += 1
    start = own.starts[graph, node]
    if start < 0:
        write_regression(own, graph, node, combination, regression, coefficients, 0)
    else:
        for place in range(width):
            coefficients[place] = own.tables[start + combination * width + place]
    place, mean = 0, coefficients[0]
    for column in range(own.number_parents.shape[1]):
        if own.number_parents[graph, node] >> np.uint64(column) & one:
            place += 1
            value = means[column]
            if sees and column == asked.cause and not np.isnan(asked.seen_by_outcome):
                value = asked.seen_by_outcome
            mean += coefficients[place] * value
    found: float = mean
    return found
