"""Graphs given the state of a chain: every node chooses its parents by itself, inside one set and meeting another.

This holds for orders (inside the predecessors) and for partitions (inside the earlier parts, with a parent in the part
right before). So a graph is drawn node by node, and the probability of an edge given the state is that of one node's
parent sets with it.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.kernels import inline_no_refcount
from dagpost.families.family_sums import FamilyTables, draw_parents, log_sum_meeting
from dagpost.families.graph_lists import place_of_bit


@inline_no_refcount
def draw_graph(
    tables: FamilyTables,
    allowed: Masks,
    to_meet: Masks,
    log_sums: Floats,
    generator: np.random.Generator,
    parents: Masks,
) -> float:
    """Write the parents of every node into `parents`; the log weight of the graph.

    `log_sums[i]` is the log weight of the parent sets of node `i` inside `allowed[i]` that meet `to_meet[i]`.
    """
    log_weight = 0.0
    for node in range(len(parents)):
        position = draw_parents(tables, node, allowed[node], to_meet[node], log_sums[node], generator.random())
        parents[node] = tables.ranked_masks[position]
        log_weight += tables.ranked_logs[position] + tables.heaviest[node]
    return log_weight


@inline_no_refcount
def add_edge_probabilities(
    tables: FamilyTables, allowed: Masks, to_meet: Masks, log_sums: Floats, edges: Floats
) -> None:
    """Add to `edges[j, i]` the probability that node `j` is a parent of node `i`."""
    for node in range(len(allowed)):
        rest = allowed[node]
        while rest != np.uint64(0):
            bit = rest & (~rest + np.uint64(1))
            rest ^= bit
            parent = place_of_bit(bit)
            if to_meet[node] == bit:
                edges[parent, node] += 1.0
                continue
            without = log_sum_meeting(tables, node, allowed[node] & ~bit, to_meet[node] & ~bit)
            edges[parent, node] += -math.expm1(min(without - log_sums[node], 0.0))
