"""Graphs as chains hold them, one mask of parents a node, and the new edge reversal move (REV).

An ordinary step of a chain over graphs turns one edge round and leaves all other parents as they are; where the two
nodes then fit badly, it is rejected. Grzegorczyk & Husmeier (2008) give both nodes new parents at once. An edge i -> j
is chosen, i and j lose all parents, then i draws its parents among the sets with j that close no cycle, and j among
all sets that close no cycle. With E edges before and E' after, the move is accepted with probability

    min(1, E / E' * Z*_i / Z_i * Z_j / Z*_j)

`Z*_i` is the weight of the sets with j that i may have while both are orphans, `Z*_j` the same with i and j exchanged.
`Z_j` is the weight of all sets that j may have once i is its child, `Z_i` of those that i had to choose from where j is
its child. In both cases that is every set without descendants of the two orphans: all but E' is known before anything
is drawn, and most moves are rejected that early.

Descendants: n^2 operations on masks for all nodes, n times the length of the longest path for one. A move needs the
descendants of two nodes, six sums of families and, unless it is rejected, two draws.

Grzegorczyk & Husmeier, "Improving the structure MCMC sampler for Bayesian networks by introducing a new edge reversal
move", Machine Learning 71 (2008).
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost._tools.kernels import inline_no_refcount
from dagpost.families.family_sums import FamilyTables, bits_of, draw_parents, log_sum_inside, log_sum_meeting
from dagpost.families.graph_lists import first_of, place_of_bit


@inline_no_refcount
def all_nodes(nodes: int) -> np.uint64:
    """The set of all nodes, of which there is at least one."""
    return ~np.uint64(0) >> np.uint64(64 - nodes)


@inline_no_refcount
def count_members(masks: Masks) -> int:
    """Number of members of all sets together: of edges, if they are the parents of nodes."""
    count = 0
    for node in range(len(masks)):
        count += bits_of(masks[node])
    return count


@inline_no_refcount
def nth_member(masks: Masks, number: int) -> tuple[int, np.uint64]:
    """Which set holds the member with this number, counted through all sets, and the member as a bit."""
    node = 0
    here = bits_of(masks[0])
    while number >= here:
        number -= here
        node += 1
        here = bits_of(masks[node])
    rest = masks[node]
    for _ in range(number):
        rest &= rest - np.uint64(1)
    return node, rest & (~rest + np.uint64(1))


@inline_no_refcount
def find_descendants(parents: Masks, descendants: Masks) -> None:
    """Write the proper descendants of every node into `descendants` (Warshall's algorithm, a row of bits at a time)."""
    nodes = len(parents)
    for node in range(nodes):
        descendants[node] = np.uint64(0)
    for node in range(nodes):
        bit = np.uint64(1) << np.uint64(node)
        rest = parents[node]
        while rest != np.uint64(0):
            descendants[first_of(rest)] |= bit
            rest &= rest - np.uint64(1)
    for middle in range(nodes):
        below = descendants[middle]
        if below != np.uint64(0):
            for node in range(nodes):
                reached = (descendants[node] >> np.uint64(middle)) & np.uint64(1)
                # All bits if `middle` is below `node`, else none: without a branch the loop runs in vectors.
                descendants[node] |= below & (~reached + np.uint64(1))


@inline_no_refcount
def with_descendants(parents: Masks, node: int) -> np.uint64:
    """One node and its descendants."""
    found = np.uint64(1) << np.uint64(node)
    before = np.uint64(0)
    while found != before:
        before = found
        for other in range(len(parents)):
            if parents[other] & found != np.uint64(0):
                found |= np.uint64(1) << np.uint64(other)
    return found


@inline_no_refcount
def is_acyclic(parents: Masks) -> bool:
    """Whether the graph has no directed cycle: nodes without parents are taken away until none is left."""
    left = all_nodes(len(parents))
    before = np.uint64(0)
    while left != before:
        before = left
        for node in range(len(parents)):
            if parents[node] & left == np.uint64(0):
                left &= ~(np.uint64(1) << np.uint64(node))
    return left == np.uint64(0)


@inline_no_refcount
def reverse_edge(tables: FamilyTables, parents: Masks, generator: np.random.Generator) -> bool:
    """Turn one edge round and draw all parents of its two nodes anew; False if rejected, and `parents` is as before.

    `parents` is a graph of positive weight. A graph without edges stays as it is.
    """
    edges = count_members(parents)
    if edges == 0:
        return False
    child, parent_bit = nth_member(parents, int(generator.random() * edges))
    parent = place_of_bit(parent_bit)
    child_bit = np.uint64(1) << np.uint64(child)
    old_child, old_parent = parents[child], parents[parent]
    parents[child] = parents[parent] = np.uint64(0)
    everyone = all_nodes(len(parents))
    outside_parent = everyone & ~with_descendants(parents, parent)
    outside_child = everyone & ~with_descendants(parents, child)
    outside_both = outside_parent & outside_child
    log_turned = log_sum_meeting(tables, parent, outside_parent, child_bit)
    log_child = log_sum_inside(tables, child, outside_both)
    log_turned_back = log_sum_meeting(tables, child, outside_child, parent_bit)
    log_parent = log_sum_inside(tables, parent, outside_both)
    others = edges - bits_of(old_child) - bits_of(old_parent)
    # The sums around the present graph can be zero as well: families that hardly ever matter are not in all of them.
    possible = min(log_turned, log_child, log_turned_back, log_parent) > -math.inf
    if possible:
        log_ratio = log_turned - log_parent + log_child - log_turned_back
        # With more edges than this after the move, it is rejected.
        most_edges = edges * math.exp(min(log_ratio, 700.0)) / (1.0 - generator.random())
        if others + 1 < most_edges:
            new_parent = draw_parents(tables, parent, outside_parent, child_bit, log_turned, generator.random())
            new_child = draw_parents(tables, child, outside_both, np.uint64(0), log_child, generator.random())
            if new_parent >= 0 and new_child >= 0:
                parents[parent] = tables.ranked_masks[new_parent]
                parents[child] = tables.ranked_masks[new_child]
                if others + bits_of(parents[parent]) + bits_of(parents[child]) < most_edges:
                    return True
    parents[child], parents[parent] = old_child, old_parent
    return False
