"""The terms that a score of discrete data sums over the occupied cells of a contingency table.

Dirichlet scores sum `log Gamma(a + N) - log Gamma(a)`, BIC sums `N log N`. Counts repeat, so the terms are
tabulated for each parameter `a` that can occur, up to a count that keeps all tables within 16 MB; few cells
have larger counts, and those terms are worked out on the spot.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Counts, Floats
from dagpost._tools.kernels import inline_no_refcount, kernel

_TABLE_BYTES = 16 * 2**20
_MOST_TABULATED = 2048
_MOST_PRODUCTS = 2**14


class CellFunction(NamedTuple):
    """The terms summed over occupied cells: row `t` of `tables` holds them for counts 0, 1, 2, ...

    With `products` (BDeu) a set takes the row of its number of configurations, the parameter being `strength
    / configurations`. Else row 0 belongs to `A` and the rows after it, if there are any, to the variants of
    `B`. `penalties[variant]` times the number of configurations is added to `B`. `entropy` asks for `N log
    N`.
    """

    tables: Floats
    parameters: Floats
    products: Floats
    penalties: Floats
    strength: float
    entropy: bool


def fixed_terms(pseudocount: float, variants: list[int], observations: int) -> CellFunction:
    """Dirichlet terms whose parameter does not depend on the set; `variants` are numbers of levels of the node.

    The parents' cells pool those of the node's levels, so `B` has the parameter `pseudocount * levels`.
    """
    values = np.array([pseudocount, *(pseudocount * levels for levels in variants)])
    tables = _tabulate(values, False, observations)
    return CellFunction(tables, values, np.empty(0), np.zeros(len(variants)), 0.0, False)


def shared_terms(
    strength: float, arities: tuple[int, ...], max_size: int, observations: int, most_tabulated: int = _MOST_TABULATED
) -> CellFunction:
    """Dirichlet terms whose parameter is `strength` shared out evenly among the configurations of the set.

    Terms of counts above `most_tabulated` are not kept in tables.
    """
    products = _products(arities, max_size)
    parameters = strength / products
    tables = _tabulate(parameters, False, min(observations, most_tabulated))
    return CellFunction(tables, parameters, products, np.zeros(1), strength, False)


def with_indicators(cells: CellFunction, indicators: int, observations: int) -> CellFunction:
    """The same terms where sets may also hold indicators of which at most one is 1 in a row.

    `t` of them multiply the configurations of the other columns, which `cells` is for, by `t + 1`.
    """
    if cells.products.size == 0 or indicators == 0:
        return cells
    factors = np.arange(1.0, indicators + 2.0)
    products = np.unique(np.multiply.outer(cells.products, factors))[:_MOST_PRODUCTS]
    parameters = cells.strength / products
    tables = _tabulate(parameters, False, min(observations, cells.tables.shape[1] - 1))
    return cells._replace(tables=tables, parameters=parameters, products=products)


def entropy_terms(penalties: list[float], observations: int) -> CellFunction:
    """`N log N`, with a penalty for each configuration of the parents."""
    parameters = np.ones(1)
    tables = _tabulate(parameters, True, observations)
    return CellFunction(tables, parameters, np.empty(0), np.array(penalties), 0.0, True)


def _products(arities: tuple[int, ...], max_size: int) -> Floats:
    """The numbers of configurations that sets of at most `max_size` columns can have, ascending.

    With many different arities there are too many to tabulate; those of the larger sets are then left out.
    """
    factors, repeats = np.unique(np.array(arities, dtype=np.float64), return_counts=True)
    by_size = [np.empty(0)] * max_size
    by_size.insert(0, np.ones(1))
    for factor, repeat in zip(factors, repeats, strict=True):
        for size in range(max_size, 0, -1):
            taken = [by_size[size - used] * factor**used for used in range(min(size, repeat) + 1)]
            by_size[size] = np.unique(np.concatenate(taken))[: 2 * _MOST_PRODUCTS]
    products = by_size[0]
    for size in range(1, max_size + 1):
        joined = np.union1d(products, by_size[size])
        if joined.size > _MOST_PRODUCTS:
            break
        products = joined
    return products


def _tabulate(parameters: Floats, entropy: bool, largest_count: int) -> Floats:
    room = _TABLE_BYTES // (8 * parameters.size)
    tables = np.empty((parameters.size, min(largest_count, _MOST_TABULATED, room) + 1))
    _fill_tables(parameters, entropy, tables)
    return tables


@kernel
def _fill_tables(parameters: Floats, entropy: bool, tables: Floats) -> None:
    for row in range(tables.shape[0]):
        total = 0.0
        lost = 0.0
        tables[row, 0] = 0.0
        for count in range(1, tables.shape[1]):
            if entropy:
                total = count * math.log(count)
            else:
                # Compensated, so that long tables keep their last digits.
                term = math.log(parameters[row] + (count - 1)) - lost
                new_total = total + term
                lost = (new_total - total) - term
                total = new_total
            tables[row, count] = total


@inline_no_refcount
def log_rising(parameter: float, count: float) -> float:
    """`log Gamma(parameter + count) - log Gamma(parameter)`, without cancellation for large parameters."""
    if parameter < 16.0:
        return math.lgamma(parameter + count) - math.lgamma(parameter)
    upper = parameter + count
    correction = _stirling(upper) - _stirling(parameter)
    return (parameter - 0.5) * math.log1p(count / parameter) + count * (math.log(upper) - 1.0) + correction


@inline_no_refcount
def _stirling(value: float) -> float:
    """The Stirling series of `log Gamma`; its next term is below 2e-14 from 16 on."""
    inverse = 1.0 / value
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680))))


@inline_no_refcount
def row_of(configurations: float, cells: CellFunction) -> int:
    """The row of `A` for a set with this many configurations; -1 where none was tabulated."""
    products = cells.products
    if products.size == 0:
        return 0
    low = 0
    high = products.size
    while low < high:
        middle = (low + high) // 2
        if products[middle] < configurations:
            low = middle + 1
        else:
            high = middle
    if low < products.size and products[low] == configurations:
        return low
    return -1


@inline_no_refcount
def parameter_of(configurations: float, cells: CellFunction) -> float:
    """The parameter of `A` for a set with this many configurations."""
    parameter: float = cells.parameters[0]
    if cells.products.size > 0:
        parameter = cells.strength / configurations
    return parameter


@inline_no_refcount
def has_own_rows(cells: CellFunction) -> bool:
    """Whether the variants of `B` sum other terms than `A` does."""
    return bool(cells.products.size == 0 and cells.tables.shape[0] > 1)


@inline_no_refcount
def sum_terms(counts: Counts, length: np.int64, row: int, parameter: float, cells: CellFunction) -> float:
    """The sum of the terms of the first `length` counts."""
    total = 0.0
    tabulated = np.uint32(cells.tables.shape[1] if row >= 0 else 0)
    table = cells.tables[max(row, 0)]
    for place in range(length):
        count = counts[place]
        if count < tabulated:
            total += table[count]
        elif cells.entropy:
            total += count * math.log(count)
        else:
            total += log_rising(parameter, np.float64(count))
    return total
