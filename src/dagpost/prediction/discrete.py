"""How probable is the level of a node in a new row, given the levels of its parents and all rows of training?

With `N(x, p)` rows of training in which the node had level `x` and its parents configuration `p`, and the parameters
integrated out,

    p(x | p) = (a + N(x, p)) / (r a + N(p)),

for a node of `r` levels, where `a` is the parameter of a cell under the prior that the score stands for
(scores/parameter_priors.py).

A level that training does not know has `N(x, p) = 0`, as a known level that did not occur would have. A configuration
with a level that training does not know has `N(p) = 0`: every level of the node, known or not, has probability `1/r`.
(The known levels alone sum to 1; one that is not known is an extra.)

Time: one look-up a cell, in a table of all cells of the family if it is small, else in its sorted counts.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.data.table import Table
from dagpost.prediction.counting import cell_numbers
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.strips import LANES, Fill, Wanted, parent_lists
from dagpost.scores import DirichletPrior

#: A family with more cells than this, or that would take the tables beyond their bytes, is looked up in its counts.
_TABLE_CELLS = 2**12
_TABLE_BYTES = 2**27


def cell_parameters(
    prior: DirichletPrior, columns: Table | DiscreteStatistics, children: Integers, parents: Masks
) -> Floats:
    """The Dirichlet parameter of one cell of each family."""
    cells = cell_numbers(columns.arities, children, parents)
    if columns.regimes:
        # At most one indicator is 1 in a row: `t` of them have `t + 1` configurations, not `2^t`.
        bits = np.uint64(1) << np.arange(len(columns.names), dtype=np.uint64)
        indicators = np.bitwise_count(parents & np.bitwise_or.reduce(bits[columns.exclusive])).astype(np.float64)
        cells = cells / 2.0**indicators * (indicators + 1.0)
    return prior.of_cells(cells)


class DiscreteFamilies(NamedTuple):
    """What all rows share: `lists` and `sizes` are the parents; `table_starts` is -1 where there is no table."""

    children: Integers
    lists: NDArray[np.int64]
    sizes: Integers
    levels: Integers
    parameters: Floats
    begins: Integers
    ends: Integers
    table_starts: Integers
    tables: Floats
    arities: Integers
    cells: Integers
    counts: Integers

    def chosen(self, numbers: Integers) -> DiscreteFamilies:
        """Some of the families, each as often as it is named."""
        by_family = ("children", "lists", "sizes", "levels", "parameters", "begins", "ends", "table_starts")
        return self._replace(**{name: np.ascontiguousarray(getattr(self, name)[numbers]) for name in by_family})


def discrete_filler(statistics: DiscreteStatistics, prior: DirichletPrior, wanted: Wanted, target: int) -> Fill:
    """Look the families up and tabulate the small ones, once for all rows."""
    real = wanted.children >= 0
    distinct = np.zeros(len(wanted.children), dtype=np.int64)
    distinct[real] = statistics.locate(wanted.children[real], wanted.parents[real])
    used, column = np.unique(distinct, return_inverse=True)
    families = tabulated_families(statistics, prior, used)
    columns = families.chosen(column)._replace(children=wanted.children, levels=wanted.levels)
    return partial(fill_discrete, columns, target)


def tabulated_families(statistics: DiscreteStatistics, prior: DirichletPrior, used: Integers) -> DiscreteFamilies:
    """Some of the families that were counted, with tables of the small ones."""
    children, parents = statistics.children[used], statistics.parents[used]
    arities = statistics.arities
    lists, sizes = parent_lists(parents, len(arities))
    # A level more, for those that are not known, and a place more, for configurations with such a level.
    room = (
        cell_numbers(arities, children, parents) / np.array(arities)[children] * (np.array(arities)[children] + 1) + 1
    )
    fits = (room <= _TABLE_CELLS) & (np.cumsum(np.where(room <= _TABLE_CELLS, room, 0)) * 8 <= _TABLE_BYTES)
    room = np.where(fits, room, 0).astype(np.int64)
    ends = np.cumsum(room)
    families = DiscreteFamilies(
        children,
        lists,
        sizes,
        np.full(len(used), -1),
        cell_parameters(prior, statistics, children, parents),
        statistics.starts[used],
        statistics.starts[used + 1],
        np.where(fits, ends - room, -1),
        np.empty(int(ends[-1])),
        np.array(arities, dtype=np.int64),
        statistics.cells,
        statistics.counts,
    )
    _fill_tables(families)
    return families


@kernel
def _fill_tables(family: DiscreteFamilies) -> None:
    """The log probabilities of all cells of the families that have a table."""
    for number in range(len(family.children)):
        start = family.table_starts[number]
        if start < 0:
            continue
        arity = family.arities[family.children[number]]
        parameter = family.parameters[number]
        width = arity + 1
        configurations = 1
        for place in range(family.sizes[number]):
            configurations *= family.arities[family.lists[number, place]]
        for cell in range(configurations * width + 1):
            family.tables[start + cell] = -math.log(arity)
        cell = family.begins[number]
        while cell < family.ends[number]:
            configuration = family.cells[cell] // arity
            after = cell
            pooled = 0
            while after < family.ends[number] and family.cells[after] // arity == configuration:
                pooled += family.counts[after]
                after += 1
            base = start + configuration * width
            for level in range(width):
                family.tables[base + level] = _log_share(parameter, arity, 0, pooled)
            while cell < after:
                level = family.cells[cell] % arity
                family.tables[base + level] = _log_share(parameter, arity, family.counts[cell], pooled)
                cell += 1


@inlined
def _log_share(parameter: float, arity: int, count: int, pooled: int) -> float:
    return math.log((parameter + count) / (parameter * arity + pooled))


@kernel
def fill_discrete(
    columns: DiscreteFamilies, target: int, cells: NDArray[np.int32], interventions: Masks, result: Floats
) -> None:
    """The log probability of each column in 64 rows: 0 where its node was set."""
    configuration = np.empty(LANES, dtype=np.int64)
    for column in range(len(columns.children)):
        child = columns.children[column]
        values = result[column]
        if child < 0:
            for lane in range(LANES):
                values[lane] = 0.0
            continue
        level = columns.levels[column]
        for lane in range(LANES):
            configuration[lane] = 0
        configurations = 1
        for place in range(columns.sizes[column]):
            parent = columns.lists[column, place]
            arity = columns.arities[parent]
            configurations *= arity
            codes = cells[parent]
            for lane in range(LANES):
                code = level if parent == target else np.int64(codes[lane])
                # Unknown is below 0, and stays below 0 when more digits follow.
                configuration[lane] = -1 if code >= arity else configuration[lane] * arity + code
        codes = cells[child]
        for lane in range(LANES):
            code = level if child == target else np.int64(codes[lane])
            if interventions[lane] >> np.uint64(child) & np.uint64(1):
                values[lane] = 0.0
            else:
                values[lane] = log_probability(columns, column, configurations, configuration[lane], code)


@inlined
def log_probability(
    columns: DiscreteFamilies, column: int, configurations: int, configuration: int, code: Any
) -> float:
    """The log probability of a level given one of the configurations of the parents; below 0 is one not known."""
    arity = columns.arities[columns.children[column]]
    start = columns.table_starts[column]
    if start >= 0:
        place = configurations if configuration < 0 else configuration
        within = 0 if configuration < 0 else code
        found: float = columns.tables[start + place * (arity + 1) + within]
        return found
    if configuration < 0:
        return -math.log(arity)
    return _looked_up(columns, column, arity, configuration, code)


@inlined
def _looked_up(columns: DiscreteFamilies, column: int, arity: int, configuration: int, code: Any) -> float:
    """The log probability of a cell, from the counts of its configuration, which stand together."""
    low, high = columns.begins[column], columns.ends[column]
    while low < high:
        middle = (low + high) // 2
        if columns.cells[middle] < configuration * arity:
            low = middle + 1
        else:
            high = middle
    count = 0
    pooled = 0
    while low < columns.ends[column] and columns.cells[low] // arity == configuration:
        pooled += columns.counts[low]
        if columns.cells[low] == configuration * arity + code:
            count = columns.counts[low]
        low += 1
    return _log_share(columns.parameters[column], arity, count, pooled)
