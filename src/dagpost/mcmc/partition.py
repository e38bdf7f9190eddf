"""Partition MCMC: a chain over ordered partitions of the variables (Kuipers & Moffa 2017).

Take the nodes without parents away from a graph, then those that have none left, and so on: these layers are an ordered
partition, and a graph has just one. A node of the first part has no parents; any other has parents in earlier parts
only, at least one of them in the part right before its own. So the weight of all graphs of a partition is a product
over the nodes, each a sum over parent sets. The chain visits partitions in proportion to their weight; from each kept
one a graph is drawn. Every graph counts once: this is the structure-modular posterior, without the bias of orders.

Moves: two parts in a row are joined or one is split in two, all with equal chances (the move of Kuipers & Moffa); two
nodes of different parts change places; one node is taken out and put back, into any part or between any two, with the
probability that the partition then has (it is never rejected); a graph is drawn, some of its edges are turned round
(REV, reversal.py), and its partition is taken. The last move matters most: one edge that turns can shift whole branches
to other parts, which is a long way in small steps. All five are in the paper or in the authors' package BiDAG, which
puts one node back by proposal; here several edges are turned for one drawn graph.

A sum over the sets that meet a part is a difference of two look-ups. Where they are so close that it has to be summed
up set by set, the difference still is an upper bound, which nearly always is enough to refuse. A step takes from ten to
a few hundred look-ups; memory: some numbers a node.

Kuipers & Moffa, "Partition MCMC for inference on acyclic digraphs", Journal of the American Statistical Association 112
(2017).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.families.family_sums import FamilyTables, log_sum_meeting
from dagpost.families.graphs import add_edge_probabilities, draw_graph
from dagpost.mcmc import structure
from dagpost.mcmc.order import is_close
from dagpost.mcmc.partition_moves import REVERSALS, REVERSE, step
from dagpost.mcmc.parts import confine, find_parts, read_parts, room_for, write_parts
from dagpost.mcmc.records import Round

#: How likely a step is of each kind, in the order of partition_moves.py.
CHANCES = (0.05, 0.05, 0.1, 0.2, 0.6)


class PartitionState(NamedTuple):
    """The number of the part of each node, and the log weight of the parent sets that it then may have."""

    part_of: Integers
    log_sums: Floats


#: What chains.py calls it.
State = PartitionState


def start(tables: FamilyTables, generator: np.random.Generator, wanted: Integers | None = None) -> PartitionState:
    """The partition of a graph that fits an order, a random one if none is wanted."""
    nodes = len(tables.candidates)
    state = PartitionState(np.zeros(nodes, dtype=np.int64), np.zeros(nodes))
    _take_partition_of(tables, structure.start(tables, generator, wanted).parents, state)
    return state


@kernel
def _take_partition_of(tables: FamilyTables, parents: Masks, state: PartitionState) -> None:
    """Set a chain down where a graph belongs."""
    work = room_for(len(parents))
    find_parts(parents, work.parts)
    confine(work.parts, work.allowed, work.to_meet)
    for node in range(len(parents)):
        state.log_sums[node] = log_sum_meeting(tables, node, work.allowed[node], work.to_meet[node])
    write_parts(work, state.part_of)


@kernel
def is_possible(tables: FamilyTables, state: PartitionState) -> bool:
    """Whether the weights of a state are those of its partition, and none is zero."""
    nodes = len(state.part_of)
    work = room_for(nodes)
    read_parts(state.part_of, work.parts)
    confine(work.parts, work.allowed, work.to_meet)
    for node in range(nodes):
        log_sum = log_sum_meeting(tables, node, work.allowed[node], work.to_meet[node])
        if log_sum == -math.inf or not is_close(state.log_sums[node], log_sum):
            return False
    return True


@kernel
def advance(
    tables: FamilyTables, state: PartitionState, generator: np.random.Generator, output: Round, cancel: Integers
) -> None:
    """One round."""
    nodes, log_sums = len(state.part_of), state.log_sums
    work = room_for(nodes)
    read_parts(state.part_of, work.parts)
    confine(work.parts, work.allowed, work.to_meet)
    for kept in range(len(output.log_joint)):
        for _ in range(output.thinning if nodes > 1 else 0):
            if cancel[0] != 0:
                return
            chance = generator.random()
            kind = 0
            while kind < REVERSE and chance >= CHANCES[kind]:
                chance -= CHANCES[kind]
                kind += 1
            output.proposed[kind] += REVERSALS if kind == REVERSE else 1
            output.accepted[kind] += step(tables, log_sums, work, kind, generator)
        output.log_joint[kept] = draw_graph(
            tables, work.allowed, work.to_meet, log_sums, generator, output.parents[kept]
        )
        output.log_state[kept] = log_sums.sum() + tables.heaviest.sum()
        add_edge_probabilities(tables, work.allowed, work.to_meet, log_sums, output.edges)
    write_parts(work, state.part_of)
