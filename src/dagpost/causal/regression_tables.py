"""The parameters of columns of numbers beside levels: a regression for each combination of levels of discrete parents.

The coefficients of a combination have the posterior of the score (prediction/mixed_statistics.py; scores/bge.py), given
the rows of that combination; a combination that does not occur has the prior. A draw of them, or their means: as in
prediction/parameter_draws.py. Tables of small families are made once for all questions, up to some bytes; the
regression of any other combination is made when a question needs it, the same every time (keyed_draws.py).

Time: one Cholesky factor of the size of the family for each combination. Memory: the tables, limited.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.causal.keyed_draws import log_gamma, normal, restart
from dagpost.families.masks import distinct_rows
from dagpost.prediction.gaussian import factorise
from dagpost.prediction.mixed import posterior_of_groups
from dagpost.prediction.mixed_statistics import MixedStatistics, compressed
from dagpost.scores import ConditionalGaussianPrior

#: A family with more combinations than this, or that would take the tables beyond their bytes, has no table.
_TABLE_COMBINATIONS = 2**10
_TABLE_BYTES = 2**28
_BY_GRAPH = ("level_parents", "number_parents", "families", "starts", "draws")


class RegressionTables(NamedTuple):
    """Graphs with the parameters of their columns of numbers; levels and numbers are counted apart."""

    #: Of every graph and column of numbers: the parents of both kinds, the number of its discrete parents' set, and
    #: where its table begins, -1 without one.
    level_parents: Masks
    number_parents: Masks
    families: NDArray[np.int32]
    starts: Integers
    #: By combination the intercept and the coefficients, those of the first parent first.
    tables: Floats
    arities: Integers
    #: By set of discrete parents: where its combinations begin and end; group 0 has no rows, the others follow.
    begins: Integers
    ends: Integers
    configurations: Integers
    means: Floats
    matrices: Floats
    weights: Floats
    degrees: Floats
    floors: Floats
    drawn: bool
    seed: np.uint64
    draws: Integers

    def some(self, rows: Integers) -> RegressionTables:
        """Some of the graphs, with the same parameters."""
        return self._replace(**{name: np.ascontiguousarray(getattr(self, name)[rows]) for name in _BY_GRAPH})  # type: ignore[arg-type]


def regression_tables(
    statistics: MixedStatistics,
    prior: ConditionalGaussianPrior,
    graphs: Masks,
    arities: Integers,
    exogenous: Integers,
    generator: np.random.Generator | None,
    *,
    table_combinations: int = _TABLE_COMBINATIONS,
    table_bytes: int = _TABLE_BYTES,
) -> RegressionTables:
    """The parameters of all columns of numbers but the exogenous ones: a draw of them for each graph, or their means.

    `arities` are those of the columns of levels; `exogenous` are places among all columns.
    """
    numbers, levels = statistics.number_columns, statistics.level_columns
    own = np.ascontiguousarray(graphs[:, numbers])
    level_parents, number_parents = compressed(own, levels), compressed(own, numbers)
    nodes = np.broadcast_to(np.arange(len(numbers)), own.shape).reshape(-1)
    modelled = ~np.isin(numbers, exogenous)[nodes]
    pairs = np.column_stack([nodes.astype(np.uint64), level_parents.reshape(-1), number_parents.reshape(-1)])
    first, member = distinct_rows(pairs)
    sets = np.zeros(len(first), dtype=np.int64)
    known = modelled[first]
    sets[known] = statistics.locate_sets(
        statistics.run_of[nodes[first[known]]], level_parents.reshape(-1)[first[known]]
    )
    combinations = np.ones(len(first))
    for place, arity in enumerate(arities.tolist()):
        combinations[pairs[first, 1] >> np.uint64(place) & np.uint64(1) == 1] *= arity
    room = combinations * (np.bitwise_count(pairs[first, 2]) + 1.0)
    room = np.where(known & (combinations <= table_combinations), room, 0.0).astype(np.int64)
    sizes = room if generator is None else room[member]
    offsets = np.cumsum(sizes)
    begin = np.where((sizes > 0) & (offsets * 8 <= table_bytes), offsets - sizes, -1)
    posterior = posterior_of_groups(statistics, prior)
    result = RegressionTables(
        level_parents,
        number_parents,
        member.reshape(own.shape).astype(np.int32),
        np.ascontiguousarray((begin[member] if generator is None else begin).reshape(own.shape)),
        np.empty(int(offsets[begin >= 0].max(initial=0))),
        arities,
        statistics.starts[sets],
        statistics.starts[sets + 1],
        statistics.configurations,
        posterior.means,
        posterior.matrices,
        posterior.weights,
        posterior.degrees,
        posterior.floors,
        generator is not None,
        np.uint64(0 if generator is None else generator.integers(2**64, dtype=np.uint64)),
        np.arange(len(graphs)),
    )
    _fill(result, np.zeros(len(first), dtype=np.bool_))
    return result


class Regression(NamedTuple):
    """Room for the regression of one combination: the columns in it, and the Cholesky factor of their matrix."""

    members: Integers
    cholesky: Floats
    state: Masks


def room_for_regression(numbers: int) -> Regression:
    """Of a table with so many columns of numbers."""
    return Regression(
        np.zeros(numbers + 1, dtype=np.int64), np.zeros((numbers + 1, numbers + 1)), np.zeros(1, dtype=np.uint64)
    )


@kernel
def _fill(own: RegressionTables, filled: NDArray[np.bool_]) -> None:
    """Make all tables; those of means are shared by all graphs with the family."""
    graphs, numbers = own.number_parents.shape
    regression = Regression(
        np.zeros(numbers + 1, dtype=np.int64), np.zeros((numbers + 1, numbers + 1)), np.zeros(1, dtype=np.uint64)
    )
    for graph in range(graphs):
        for node in range(numbers):
            start, family = own.starts[graph, node], own.families[graph, node]
            if start < 0 or (filled[family] and not own.drawn):
                continue
            filled[family] = True
            combinations, width = 1, 1
            for column in range(len(own.arities)):
                if own.level_parents[graph, node] >> np.uint64(column) & np.uint64(1):
                    combinations *= own.arities[column]
            for column in range(numbers):
                if own.number_parents[graph, node] >> np.uint64(column) & np.uint64(1):
                    width += 1
            for combination in range(combinations):
                write_regression(own, graph, node, combination, regression, own.tables, start + combination * width)


@inline_no_refcount
def write_regression(
    own: RegressionTables,
    graph: int,
    node: int,
    combination: int,
    regression: Regression,
    values: Floats,
    begin: int,
) -> None:
    """Write intercept and coefficients of a column of numbers in one combination of levels, from `begin` on."""
    family, size = own.families[graph, node], 0
    members, cholesky, state = regression.members, regression.cholesky, regression.state
    for column in range(own.number_parents.shape[1]):
        if own.number_parents[graph, node] >> np.uint64(column) & np.uint64(1):
            members[size] = column
            size += 1
    members[size] = node
    low, high = own.begins[family], own.ends[family]
    while low < high:
        middle = (low + high) // 2
        if own.configurations[middle] < combination:
            low = middle + 1
        else:
            high = middle
    group = low + 1 if low < own.ends[family] and own.configurations[low] == combination else 0
    factorise(own.matrices[group], members[: size + 1], own.floors, cholesky)
    spread, intercept = 0.0, own.means[group, node]
    if own.drawn:
        restart(state, own.seed, own.draws[graph], node, combination)
        half = math.exp(log_gamma((own.degrees[group] + size + 1.0) / 2.0, state))
        spread = cholesky[size, size] / math.sqrt(2.0 * half)
        intercept += spread / math.sqrt(own.weights[group]) * normal(state)
    for place in range(size - 1, -1, -1):
        value = cholesky[size, place]
        if own.drawn:
            value += spread * normal(state)
        for later in range(place + 1, size):
            value -= cholesky[later, place] * values[begin + 1 + later]
        value /= cholesky[place, place]
        values[begin + 1 + place] = value
        intercept -= value * own.means[group, members[place]]
    values[begin] = intercept
