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
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.discrete import DiscreteFamilies, tabulated_families
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.elimination import choose_orders, eliminate
from dagpost.prediction.family_lists import families_in
from dagpost.prediction.gap_kinds import prepare_discrete
from dagpost.prediction.gap_patterns import numbered
from dagpost.prediction.pattern_sums import sum_over_graphs
from dagpost.prediction.rows import NewRows
from dagpost.prediction.strips import LANES, strip_of
from dagpost.scores import DirichletPrior
from dagpost.values.averaged import cut_graphs, relevant
from dagpost.values.question import refuse_many

#: Entries of tables, times lanes, that are worked on at a time; cells that a drawn table may have.
_TOGETHER, _MOST_CELLS = 2**22, 2**22
_SMALLEST = 1e-300


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
    nodes, lanes = cells.shape
    cut = cut_graphs(graphs, given)
    counts = relevant(cut, known & ~given)
    families = families_in(graphs)
    bits = np.uint64(1) << np.arange(nodes, dtype=np.uint64)
    out = (counts[:, np.newaxis] & bits == 0) | (np.uint64(given) & bits != 0)
    used, numbers = numbered(np.where(out, -1, families.numbers), len(families.children))
    if not len(used):
        return np.zeros((len(graphs), lanes))
    located = statistics.locate(families.children[used], families.parents[used])
    tables = tabulated_families(statistics, prior, located)
    gaps = np.uint64(((1 << nodes) - 1) & ~(known | given))
    members = (families.parents[used] | np.uint64(1) << families.children[used].astype(np.uint64)) & gaps
    arities = np.array(statistics.arities, dtype=np.int64)
    sizes, room = np.ones(len(used)), np.ones(len(used))
    for node, arity in enumerate(arities.tolist()):
        sizes[members >> np.uint64(node) & np.uint64(1) == 1] *= arity
        own = families.parents[used] >> np.uint64(node) & np.uint64(1) == 1
        room[own | (families.children[used] == node)] *= arity
    refuse_many(float(room.max()), _MOST_CELLS)
    result = np.empty((len(graphs), lanes))
    needed = np.where(numbers >= 0, sizes[numbers], 0.0).sum(axis=1) * lanes
    refuse_many(float(needed.max()), 16 * _TOGETHER)
    borders = np.flatnonzero(np.diff(np.floor(np.cumsum(needed) / _TOGETHER), prepend=0.0, append=np.inf))
    start = 0
    for end in [*borders.tolist()]:
        if end > start:
            block = slice(start, end)
            result[block] = _block(tables, numbers[block], members, sizes, cells, int(room.max()), generator)
            start = end
    return result


def _block(
    tables: DiscreteFamilies, numbers: NDArray[np.int32], members: Masks, sizes: Floats, cells: Integers, room: int,
    generator: np.random.Generator,
) -> Floats:  # fmt: skip
    """Some of the draws: every family of each is a table of its own."""
    lanes = cells.shape[1]
    there = numbers >= 0
    parts = np.full(numbers.shape, -1, dtype=np.int32)
    parts[there] = np.arange(int(there.sum()))
    of_draw = numbers[there].astype(np.int64)
    own_members = np.ascontiguousarray(members[of_draw])
    starts = np.concatenate([[0], np.cumsum(sizes[of_draw])]).astype(np.int64)
    orders = np.empty(parts.shape, dtype=np.int8)
    work_room = int(choose_orders(parts, own_members, tables.arities, orders))
    memory.require(8 * lanes * (int(starts[-1]) + work_room), "The sum over open columns", "Give more of the columns.")
    values, scales = np.empty((int(starts[-1]), lanes)), np.empty((len(of_draw), lanes))
    drawn, stamps = np.empty(room), np.full(room, -1)
    _draw_tables(tables, of_draw, own_members, starts, cells, values, scales, drawn, stamps, generator)
    result = np.empty((len(numbers), lanes))
    work = np.empty((max(work_room, 1), lanes))
    eliminate(parts, orders, own_members, starts, tables.arities, values, scales, work, result)
    return result


@kernel
def _draw_tables(
    families: DiscreteFamilies,
    chosen: Integers,
    members: Masks,
    starts: Integers,
    cells: Integers,
    tables: Floats,
    scales: Floats,
    drawn: Floats,
    stamps: Integers,
    generator: np.random.Generator,
) -> None:
    """The drawn probabilities of each chosen family for all levels of its open members, relative to the largest."""
    lanes = cells.shape[1]
    nodes = len(families.arities)
    one = np.uint64(1)
    level_of = np.empty(nodes, dtype=np.int64)
    for number in range(len(chosen)):
        family = chosen[number]
        child = families.children[family]
        arity = families.arities[child]
        for lane in range(lanes):
            scales[number, lane] = 0.0
        for entry in range(starts[number + 1] - starts[number]):
            rest = entry
            for node in range(nodes - 1, -1, -1):
                level_of[node] = -1
                if members[number] >> np.uint64(node) & one:
                    level_of[node] = rest % families.arities[node]
                    rest //= families.arities[node]
            values = tables[starts[number] + entry]
            for lane in range(lanes):
                configuration = 0
                for place in range(families.sizes[family]):
                    parent = families.lists[family, place]
                    code = level_of[parent] if level_of[parent] >= 0 else cells[parent, lane]
                    configuration = configuration * families.arities[parent] + code
                if stamps[configuration] != number:
                    stamps[configuration] = number
                    _draw_row(families, family, arity, configuration, drawn, generator)
                code = level_of[child] if level_of[child] >= 0 else cells[child, lane]
                values[lane] = drawn[configuration * arity + code]
                scales[number, lane] = max(scales[number, lane], values[lane])
        for entry in range(starts[number], starts[number + 1]):
            for lane in range(lanes):
                tables[entry, lane] /= scales[number, lane]
        for lane in range(lanes):
            scales[number, lane] = math.log(scales[number, lane])


@inlined
def _draw_row(
    families: DiscreteFamilies, family: int, arity: int, configuration: int, drawn: Floats,
    generator: np.random.Generator,
) -> None:  # fmt: skip
    """A draw from the Dirichlet distribution of one configuration, in logs: parameters may be tiny."""
    base = configuration * arity
    for level in range(arity):
        drawn[base + level] = families.parameters[family]
    low, high = families.begins[family], families.ends[family]
    while low < high:
        middle = (low + high) // 2
        if families.cells[middle] < base:
            low = middle + 1
        else:
            high = middle
    while low < families.ends[family] and families.cells[low] < base + arity:
        drawn[families.cells[low]] += families.counts[low]
        low += 1
    largest = -math.inf
    for level in range(arity):
        shape = drawn[base + level]
        log = math.log(max(generator.standard_gamma(shape + 1.0), _SMALLEST))
        log += math.log(max(generator.random(), _SMALLEST)) / shape
        drawn[base + level] = log
        largest = max(largest, log)
    total = 0.0
    for level in range(arity):
        drawn[base + level] = math.exp(drawn[base + level] - largest)
        total += drawn[base + level]
    for level in range(arity):
        drawn[base + level] = max(drawn[base + level] / total, _SMALLEST)
