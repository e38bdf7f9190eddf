"""How probable is each lane of levels, in graphs with their parameters? Variable elimination.

With the parameters integrated out, the probability of some cells in one graph is what it is under the posterior means
of the parameters: each occurs at most once in a product, and those of different nodes are independent given the graph.
So the average over graphs is exact (`exact_logs`; gap_patterns.py and elimination.py have what graphs share). How far
to trust it is seen from draws of graph and parameters (`drawn_logs`): of each graph only the ancestors of the columns
that are asked about or given count, and of their tables only the configurations that are looked at are drawn.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.causal.factors import WORK, Factors, add_family, begin, larger_work, room_for, sum_out, value_at
from dagpost.causal.level_tables import LevelTables, level_tables
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.gap_kinds import prepare_discrete
from dagpost.prediction.pattern_sums import sum_over_graphs
from dagpost.prediction.rows import NewRows
from dagpost.prediction.strips import LANES, strip_of
from dagpost.scores import DirichletPrior
from dagpost.values.graphs import cut_graphs, relevant


def exact_logs(
    statistics: DiscreteStatistics, prior: DirichletPrior, graphs: Masks, weights: Floats, cells: Integers, known: int,
    given: int,
) -> Floats:  # fmt: skip
    """Log of the sum over graphs of weight times p(lane | graph, data).

    Nodes in `known` have a cell, those in `given` are set from outside.
    """
    nodes, count = cells.shape
    gaps = ((1 << nodes) - 1) & ~(known | given)
    ready = prepare_discrete(statistics, prior, graphs, weights)(gaps, given)
    rows = NewRows(
        cells.astype(np.int32), np.full(count, given, dtype=np.uint64), np.zeros(cells.shape, dtype=np.bool_)
    )
    cancel = np.zeros(1, dtype=np.int64)
    result = np.empty(count)
    for start in range(0, count, LANES):
        width = min(LANES, count - start)
        logs = ready.fill(*strip_of(rows, start), width, cancel)[0]
        result[start : start + width] = sum_over_graphs(ready.pattern, logs, cancel)[:width]
    return result


def drawn_logs(
    statistics: DiscreteStatistics, prior: DirichletPrior, graphs: Masks, cells: Integers, known: int, given: int,
    generator: np.random.Generator,
) -> Floats:  # fmt: skip
    """Log p(lane | graph, parameters), with one draw of the parameters of each graph: (graphs, lanes)."""
    members = relevant(cut_graphs(graphs, given), known & ~given) & ~np.uint64(given)
    every, nodes = int(np.bitwise_or.reduce(members)), range(len(cells))
    left_out = np.array([node for node in nodes if not every >> node & 1], dtype=np.int64)
    tables = level_tables(statistics, prior, graphs, left_out, generator)
    levels = np.where([[known >> node & 1] for node in nodes], cells, -1)
    factors, work, result = room_for(len(nodes)), np.empty(WORK), np.empty((len(graphs), cells.shape[1]))
    done = 0
    while (done := _fill_logs(tables, members, levels, factors, done, work, result)) < len(graphs):
        work = larger_work(factors)
    return result


@kernel
def _fill_logs(
    tables: LevelTables, members: Masks, levels: Integers, factors: Factors, first: int, work: Floats, result: Floats
) -> int:
    """Sum in graph after graph; returns the first that is left because the work space is too small."""
    nodes, lanes = levels.shape
    seen = np.empty(nodes, dtype=np.int64)
    for graph in range(first, len(members)):
        for lane in range(lanes):
            for node in range(nodes):
                seen[node] = levels[node, lane]
            begin(factors)
            for node in range(nodes):
                matters = members[graph] >> np.uint64(node) & np.uint64(1)
                if matters and not add_family(tables, graph, node, seen, factors, work):
                    return graph
            if not sum_out(tables, np.uint64(0), factors, work):
                return graph
            result[graph, lane] = math.log(value_at(tables, 0, 0, factors, work)) + factors.log_scale[0]
    return len(members)
