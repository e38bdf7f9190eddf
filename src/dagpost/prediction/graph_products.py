"""Sums over graphs of products over nodes, for 64 rows side by side.

Neighbouring graphs share most of their families, so a product is renewed only from the first place on in which a graph
differs from the one before it. Products are of ratios to the largest factor of each node; where they underflow, the
same sum is taken in logs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inlined, kernel
from dagpost.prediction.strips import LANES

#: Addends this many nats below the largest do not change a sum.
_NEGLIGIBLE = -60.0
#: Between two looks at the flag that gives up.
_GRAPHS_AT_A_TIME = 1024


class Paths(NamedTuple):
    """Graphs as rows of column numbers; `changed` is the first place in which a row differs from the one before it."""

    columns: NDArray[np.int32]
    changed: Integers


def paths_of(columns: NDArray[np.int32]) -> Paths:
    """Graphs, one a row; neighbours should share as many of their first columns as may be."""
    differs = columns[1:] != columns[:-1]
    changed = np.where(differs.any(axis=1), differs.argmax(axis=1), columns.shape[1])
    return Paths(np.ascontiguousarray(columns), np.concatenate([[0], changed]))


@kernel
def to_ratios(logs: Floats, nodes: Integers, count: int, ratios: Floats, log_scale: Floats) -> None:
    """Each column relative to the largest of its node, row by row; `log_scale` is the product of the largest."""
    largest = np.full((count, LANES), -math.inf)
    for column in range(len(nodes)):
        if nodes[column] >= 0:
            best = largest[nodes[column]]
            values = logs[column]
            for lane in range(LANES):
                best[lane] = max(best[lane], values[lane])
    for lane in range(LANES):
        log_scale[lane] = 0.0
        for node in range(count):
            log_scale[lane] += largest[node, lane]
    for column in range(len(nodes)):
        values = logs[column]
        for lane in range(LANES):
            best_log = largest[nodes[column], lane] if nodes[column] >= 0 else 0.0
            ratios[column, lane] = math.exp(values[lane] - best_log)


@inlined
def _multiply(ratios: Floats, columns: NDArray[np.int32], changed: int, products: Floats) -> None:
    """Renew the running products of a graph from the first place on in which it differs from the last one."""
    for place in range(changed, len(columns)):
        before = products[place]
        after = products[place + 1]
        column = ratios[columns[place]]
        for lane in range(LANES):
            after[lane] = before[lane] * column[lane]


@kernel
def sum_graphs(
    ratios: Floats, graphs: Paths, weights: Floats, groups: Integers, sums: Floats, cancel: Integers
) -> None:
    """Add the weighted product of each graph to the sum of its group."""
    nodes = graphs.columns.shape[1]
    products = np.ones((nodes + 1, LANES))
    for graph in range(len(weights)):
        if graph % _GRAPHS_AT_A_TIME == 0 and cancel[0] != 0:
            return
        _multiply(ratios, graphs.columns[graph], graphs.changed[graph], products)
        total = sums[groups[graph]]
        product = products[nodes]
        weight = weights[graph]
        for lane in range(LANES):
            total[lane] += weight * product[lane]


@kernel
def sum_groups(ratios: Floats, seconds: Paths, sums: Floats, total: Floats) -> None:
    """Sum the groups, each times the product of what its graphs share."""
    nodes = seconds.columns.shape[1]
    products = np.ones((nodes + 1, LANES))
    for group in range(len(sums)):
        _multiply(ratios, seconds.columns[group], seconds.changed[group], products)
        product = products[nodes]
        for lane in range(LANES):
            total[lane] += sums[group, lane] * product[lane]


@kernel
def log_sum_graphs(
    logs: Floats, graphs: Paths, log_weights: Floats, border: int, shift: int, result: Floats, cancel: Integers
) -> None:
    """The same sum in logs: once for the largest addend, once for all beside it.

    Columns from `border` on are those of the level of the target that is `shift` further on.
    """
    nodes = graphs.columns.shape[1]
    running = np.zeros((nodes + 1, LANES))
    largest = np.full(LANES, -math.inf)
    total = np.zeros(LANES)
    for once_more in range(2):
        for graph in range(len(log_weights)):
            if graph % _GRAPHS_AT_A_TIME == 0 and cancel[0] != 0:
                return
            for place in range(graphs.changed[graph], nodes):
                number = graphs.columns[graph, place]
                column = logs[number + shift if number >= border else number]
                before = running[place]
                after = running[place + 1]
                for lane in range(LANES):
                    after[lane] = before[lane] + column[lane]
            value = running[nodes]
            log_weight = log_weights[graph]
            if once_more == 0:
                for lane in range(LANES):
                    largest[lane] = max(largest[lane], value[lane] + log_weight)
            else:
                for lane in range(LANES):
                    difference = value[lane] + log_weight - largest[lane]
                    if difference > _NEGLIGIBLE:
                        total[lane] += math.exp(difference)
    for lane in range(LANES):
        result[lane] = largest[lane] + math.log(total[lane])
