"""Slow, obvious twin of the chain over ordered partitions: every step from every partition, by its definition.

A partition is a tuple of masks, one a part. Its weight is that of all graphs that belong to it, one by one; which those
are is seen by taking nodes without parents away, layer after layer. A move is the list of partitions that it can lead
to, and how likely each is; nothing is worked out from what changes.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
from numpy.typing import NDArray
from tests.naive import graph_chains
from tests.naive import posterior as naive

Partition = tuple[int, ...]
Matrix = NDArray[np.float64]


def members(mask: int) -> list[int]:
    """The nodes of a set."""
    return [node for node in range(mask.bit_length()) if mask >> node & 1]


def all_partitions(nodes: int) -> list[Partition]:
    """Every ordered partition of the nodes: whatever numbers of parts they can be given, without gaps."""
    found = []
    for numbers in product(range(nodes), repeat=nodes):
        if set(numbers) == set(range(max(numbers) + 1)):
            found.append(numbered(numbers))
    return found


def numbered(numbers: tuple[int, ...] | list[int]) -> Partition:
    """The partition in which each node has the number of its part."""
    parts = [0] * (max(numbers) + 1)
    for node, number in enumerate(numbers):
        parts[number] |= 1 << node
    return tuple(parts)


def partition_of(dag: naive.Dag) -> Partition:
    """The layers of a graph: the nodes without parents; those without once these are gone; and so on."""
    left = set(range(len(dag)))
    parts = []
    while left:
        layer = {node for node in left if not dag[node] & naive.mask_of(left)}
        parts.append(naive.mask_of(layer))
        left -= layer
    return tuple(parts)


def possible_partitions(log_weights: naive.Logs, max_parents: int) -> tuple[list[Partition], Matrix]:
    """The partitions that some graph of any weight belongs to, and the log weight of all their graphs."""
    dags, log_joint = graph_chains.possible_dags(log_weights, max_parents)
    homes = [partition_of(dag) for dag in dags]
    states = [partition for partition in all_partitions(len(log_weights)) if partition in homes]
    logs = [
        naive.log_sum(np.array([log for home, log in zip(homes, log_joint, strict=True) if home == partition]))
        for partition in states
    ]
    return states, np.array(logs)


def weights_of_nodes(partition: Partition, by_mask: Matrix) -> Matrix:
    """Log weight of each node's parent sets that the partition allows; `by_mask` has a column for every set."""
    logs = np.full(len(by_mask), -np.inf)
    before, previous = 0, 0
    for part in partition:
        sets = [mask for mask in range(by_mask.shape[1]) if not mask & ~before and (mask & previous or not previous)]
        for node in members(part):
            logs[node] = naive.log_sum(by_mask[node, sets])
        before, previous = before | part, part
    return logs


def split_or_joined(partition: Partition) -> list[Partition]:
    """Every partition that joining two parts in a row, or splitting one in two, makes of this one."""
    found = []
    for place in range(len(partition) - 1):
        found.append((*partition[:place], partition[place] | partition[place + 1], *partition[place + 2 :]))
    for place, part in enumerate(partition):
        for front in naive.all_subsets(tuple(members(part))):
            first = naive.mask_of(front)
            if first not in (0, part):
                found.append((*partition[:place], first, part ^ first, *partition[place + 1 :]))
    return found


def splits_and_joins(states: list[Partition], log_weights: Matrix) -> Matrix:
    """One of the partitions above, each as likely to be proposed."""
    return graph_chains.metropolis_hastings(states, log_weights, lambda state: _uniformly(split_or_joined(state)))


def swapped(partition: Partition, one: int, other: int) -> Partition:
    """Two nodes exchange their parts."""
    both = 1 << one | 1 << other
    return tuple(part ^ both if part & both not in (0, both) else part for part in partition)


def swaps_of_neighbours(states: list[Partition], log_weights: Matrix) -> Matrix:
    """Two parts in a row, then a node of each, change places."""

    def proposals(partition: Partition) -> dict[Partition, float]:
        chances: dict[Partition, float] = {}
        for first, second in pairwise(partition):
            pairs = list(product(members(first), members(second)))
            for one, other in pairs:
                chances[swapped(partition, one, other)] = 1.0 / (len(partition) - 1) / len(pairs)
        return chances

    return graph_chains.metropolis_hastings(states, log_weights, proposals)


def swaps(states: list[Partition], log_weights: Matrix) -> Matrix:
    """Any two nodes change places, which does nothing where they are in one part."""

    def proposals(partition: Partition) -> dict[Partition, float]:
        nodes = sum(partition).bit_length()
        pairs = list(permutations(range(nodes), 2))
        chances: dict[Partition, float] = {}
        for one, other in pairs:
            there = swapped(partition, one, other)
            chances[there] = chances.get(there, 0.0) + 1.0 / len(pairs)
        return chances

    return graph_chains.metropolis_hastings(states, log_weights, proposals)


def places_of(partition: Partition, node: int) -> list[Partition]:
    """The partitions that differ from this one in where one node is: in another part, or anywhere alone."""
    bit = 1 << node
    rest = [part & ~bit for part in partition if part != bit]
    inside = [(*rest[:place], rest[place] | bit, *rest[place + 1 :]) for place in range(len(rest))]
    alone = [(*rest[:place], bit, *rest[place:]) for place in range(len(rest) + 1)]
    return inside + alone


def moves_of_one(states: list[Partition], log_weights: Matrix) -> Matrix:
    """One node, each as likely, goes to any of its places with a probability in proportion to the weight there."""
    place = {partition: number for number, partition in enumerate(states)}
    nodes = sum(states[0]).bit_length()
    transition = np.zeros((len(states), len(states)))
    for here, partition in enumerate(states):
        for node in range(nodes):
            there = [place[found] for found in places_of(partition, node) if found in place]
            weights = np.exp(log_weights[there] - log_weights[there].max())
            transition[here, there] += weights / weights.sum() / nodes
    return transition


def edge_reversals(states: list[Partition], log_weights: naive.Logs, max_parents: int, times: int) -> Matrix:
    """A graph of the partition is drawn, some edges of it are reversed (reversal.py), and its partition taken."""
    dags, log_joint = graph_chains.possible_dags(log_weights, max_parents)
    reversal = graph_chains.new_edge_reversals(dags, log_joint, naive.weights_by_mask(log_weights, max_parents))
    belongs = np.array([[partition_of(dag) == partition for dag in dags] for partition in states])
    drawn = np.where(belongs, np.exp(log_joint - log_joint.max()), 0.0)
    drawn /= drawn.sum(axis=1, keepdims=True)
    return drawn @ np.linalg.matrix_power(reversal, times) @ belongs.T


def _uniformly(found: list[Partition]) -> dict[Partition, float]:
    return dict.fromkeys(found, 1.0 / len(found)) if found else {}
