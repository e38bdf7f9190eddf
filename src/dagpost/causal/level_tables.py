"""The parameters of columns of levels in some graphs: probabilities of each level given each configuration of parents.

A configuration has a Dirichlet posterior with the parameters `a + N(x, p)` of prediction/discrete.py: a draw of it, or
its mean. A configuration is made when a question needs it. Those of small families are kept for all questions, up to
some bytes; those of others are made anew (keyed_draws.py makes them the same every time). Configurations that do not
occur in the data have the prior, and are made like others.

Time: some random numbers a cell. Memory: the tables, limited.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount
from dagpost.causal.keyed_draws import log_gamma, restart
from dagpost.prediction.counting import cell_numbers
from dagpost.prediction.discrete import cell_parameters
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.family_lists import families_in
from dagpost.scores import DirichletPrior

#: A family with more cells than this, or that would take the tables beyond their bytes, has no table.
_TABLE_CELLS = 2**12
_TABLE_BYTES = 2**28
_BY_GRAPH = ("graphs", "families", "starts", "draws")


class LevelTables(NamedTuple):
    """Graphs with the parameters of their columns of levels."""

    #: Of every graph and column: the parents, the number of the family, and where its table begins, -1 without one.
    graphs: Masks
    families: NDArray[np.int32]
    starts: Integers
    #: Those that were made so far: others begin with 0.
    tables: Floats
    arities: Integers
    #: By family: the Dirichlet parameter of a cell, and where its counts begin and end.
    parameters: Floats
    begins: Integers
    ends: Integers
    cells: Integers
    counts: Integers
    #: Whether parameters are drawn; the key of all draws, and the number of that of each graph.
    drawn: bool
    seed: np.uint64
    draws: Integers

    def some(self, rows: Integers) -> LevelTables:
        """Some of the graphs, with the same parameters."""
        return self._replace(**{name: np.ascontiguousarray(getattr(self, name)[rows]) for name in _BY_GRAPH})  # type: ignore[arg-type]


def level_tables(
    statistics: DiscreteStatistics,
    prior: DirichletPrior,
    graphs: Masks,
    exogenous: Integers,
    generator: np.random.Generator | None,
    *,
    table_cells: int = _TABLE_CELLS,
    table_bytes: int = _TABLE_BYTES,
) -> LevelTables:
    """The parameters of all columns but the exogenous ones: one draw of them for each graph, or their means."""
    families = families_in(graphs)
    modelled = ~np.isin(families.children, exogenous)
    begins, ends = np.zeros((2, len(modelled)), dtype=np.int64)
    located = statistics.locate(families.children[modelled], families.parents[modelled])
    begins[modelled], ends[modelled] = statistics.starts[located], statistics.starts[located + 1]
    room = cell_numbers(statistics.arities, families.children, families.parents)
    room = np.where(modelled & (room <= table_cells), room, 0.0).astype(np.int64)
    sizes = room if generator is None else room[families.numbers].reshape(-1)
    offsets = np.cumsum(sizes)
    begin = np.where((sizes > 0) & (offsets * 8 <= table_bytes), offsets - sizes, -1)
    return LevelTables(
        graphs,
        families.numbers,
        np.ascontiguousarray(begin[families.numbers] if generator is None else begin.reshape(graphs.shape)),
        np.zeros(int(offsets[begin >= 0].max(initial=0))),
        np.array(statistics.arities, dtype=np.int64),
        cell_parameters(prior, statistics, families.children, families.parents),
        begins,
        ends,
        statistics.cells,
        statistics.counts,
        generator is not None,
        np.uint64(0 if generator is None else generator.integers(2**64, dtype=np.uint64)),
        np.arange(len(graphs)),
    )


@inline_no_refcount
def _find_configuration(own: LevelTables, family: int, first_cell: int) -> int:
    """Where the counts of a configuration are, or would be: that of its first cell."""
    low, high = own.begins[family], own.ends[family]
    while low < high:
        middle = (low + high) // 2
        if own.cells[middle] < first_cell:
            low = middle + 1
        else:
            high = middle
    found: int = low
    return found


@inline_no_refcount
def write_probabilities(
    own: LevelTables, graph: int, node: int, configuration: int, state: Masks, values: Floats, begin: int
) -> None:
    """Write the probabilities of all levels given a configuration, from `begin` on."""
    family, arity = own.families[graph, node], own.arities[node]
    for level in range(arity):
        values[begin + level] = own.parameters[family]
    place = _find_configuration(own, family, configuration * arity)
    while place < own.ends[family] and own.cells[place] < (configuration + 1) * arity:
        values[begin + own.cells[place] - configuration * arity] += own.counts[place]
        place += 1
    if own.drawn:
        restart(state, own.seed, own.draws[graph], node, configuration)
        largest = -math.inf
        for level in range(arity):
            drawn = log_gamma(values[begin + level], state)
            values[begin + level] = drawn
            largest = max(largest, drawn)
        for level in range(arity):
            values[begin + level] = math.exp(values[begin + level] - largest)
    total = 0.0
    for level in range(arity):
        total += values[begin + level]
    for level in range(arity):
        values[begin + level] /= total
