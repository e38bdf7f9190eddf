"""Partial orders as masks, and the number of linear extensions of those whose diagram is a tree.

Kernels for linear_extensions.py, which explains the method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined
from dagpost.families.graph_lists import first_of


class Poset(NamedTuple):
    """One partial order: the nodes below and above each node, both together, and those next to it in the diagram."""

    below: Masks
    above: Masks
    related: Masks
    neighbours: Masks


class TreeScratch(NamedTuple):
    """For trees: the number of orders by place, a row a node; the nodes as a walk meets them, and from where."""

    places: Floats
    merged: Floats
    walk: Integers
    origin: Integers


@inlined
def only(node: int) -> np.uint64:
    """The set of one node."""
    return np.uint64(1) << np.uint64(node)


@inlined
def fill_poset(closure: Masks, poset: Poset) -> float:
    """Fill in the partial order with like nodes put into rows; returns the number of ways to order the rows."""
    nodes = len(closure)
    below, above, related, neighbours = poset
    for node in range(nodes):
        below[node] = closure[node]
        above[node] = 0
    for node in range(nodes):
        for other in range(nodes):
            if closure[node] & only(other):
                above[other] |= only(node)
    factor = 1.0
    placed = np.uint64(0)
    for node in range(nodes):
        if placed & only(node):
            continue
        row = only(node)
        length = 1
        lower, upper = below[node], above[node]
        for other in range(node + 1, nodes):
            if below[other] == lower and above[other] == upper:
                length += 1
                factor *= length
                below[other] |= row
                row |= only(other)
        placed |= row
        # The nodes of the row that come after each of its nodes have higher numbers.
        if length > 1:
            for other in range(node, nodes):
                if row & only(other):
                    above[other] |= row & ~(only(other) | below[other])
    for node in range(nodes):
        related[node] = below[node] | above[node]
        neighbours[node] = 0
    for node in range(nodes):
        # A node is covered if no other node below this one lies above it.
        rest = below[node]
        while rest:
            other = first_of(rest)
            rest &= rest - np.uint64(1)
            if above[other] & below[node] == 0:
                neighbours[node] |= only(other)
                neighbours[other] |= only(node)
    return factor


@inlined
def reach(start: np.uint64, members: np.uint64, related: Masks, opposite: bool) -> np.uint64:
    """The members that relations (or, if `opposite`, pairs without a relation) join to `start`."""
    reached = start
    fresh = start
    while fresh and reached != members:
        node = first_of(fresh)
        linked = ~related[node] if opposite else related[node]
        fresh |= linked & members & ~reached
        reached |= fresh
        fresh &= ~only(node)
    return reached


@inlined
def count_tree(members: np.uint64, poset: Poset, scratch: TreeScratch, binomials: Floats) -> float:
    """The number of orders of a set whose covering pairs form a tree.

    `places[i, p]`: in how many orders of the branch that hangs on node `i`, with `i`, it has `p` nodes before it.
    """
    places, merged, walk, origin = scratch
    walk[0] = first_of(members)
    origin[walk[0]] = -1
    met = only(walk[0])
    length = 1
    position = 0
    while position < length:
        node = walk[position]
        position += 1
        fresh = poset.neighbours[node] & members & ~met
        met |= fresh
        while fresh:
            other = first_of(fresh)
            fresh &= fresh - np.uint64(1)
            walk[length] = other
            origin[other] = node
            length += 1
    sizes = np.ones(len(origin), dtype=np.int64)
    for node in walk[:length]:
        places[node, 0] = 1.0
    for position in range(length - 1, 0, -1):
        node = walk[position]
        parent = origin[node]
        branch, below = places[node, : sizes[node]], poset.below[parent] & only(node) != 0
        _hang_on(branch, places[parent], sizes[parent], below, merged, binomials)
        sizes[parent] += sizes[node]
    total = 0.0
    for place in range(length):
        total += places[walk[0], place]
    return total


@inlined
def _hang_on(
    branch: Floats,
    trunk: Floats,
    trunk_size: int,
    branch_below: bool,
    merged: Floats,
    binomials: Floats,
) -> None:
    """Bring a branch, by the place of its own node, into what hangs on the node it belongs to."""
    size = len(branch)
    # With `before` nodes of the branch before the node of the trunk: the branch's own node among them, or not.
    if branch_below:
        running = 0.0
        for place in range(size):
            branch[place], running = running, running + branch[place]
        last = running
    else:
        last = 0.0
        running = 0.0
        for place in range(size - 1, -1, -1):
            running += branch[place]
            branch[place] = running
    for place in range(trunk_size + size):
        merged[place] = 0.0
    for before in range(size + 1):
        ways = branch[before] if before < size else last
        if ways == 0.0:
            continue
        for place in range(trunk_size):
            mixed = binomials[place + before, before] * ways
            after = binomials[trunk_size - 1 - place + size - before, size - before]
            merged[place + before] += mixed * after * trunk[place]
    for place in range(trunk_size + size):
        trunk[place] = merged[place]
