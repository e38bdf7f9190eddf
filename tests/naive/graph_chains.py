"""Slow, obvious twins of the chains over graphs: every step from every graph, by its definition.

Graphs are tuples of parent masks; the states are all graphs of a few nodes that have any weight. Whether a graph has a
cycle is asked of networkx, never worked out from descendants. No sum is simplified: a proposal and the way back are
both spelled out, and the acceptance is the ratio of the two times that of the weights (Metropolis-Hastings).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from math import exp

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive

Matrix = NDArray[np.float64]


def graph_of(parents: naive.Dag | list[int]) -> nx.DiGraph:
    """The same graph in networkx."""
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(range(len(parents)))
    graph.add_edges_from(edges_of(parents))
    return graph


def edges_of(parents: naive.Dag | list[int]) -> list[tuple[int, int]]:
    """All edges, as (parent, child)."""
    nodes = range(len(parents))
    return [(parent, child) for parent in nodes for child in nodes if parents[child] >> parent & 1]


def is_acyclic(parents: naive.Dag | list[int]) -> bool:
    """Whether there is no directed cycle."""
    return nx.is_directed_acyclic_graph(graph_of(parents))


def with_family(dag: naive.Dag, node: int, parents: int) -> naive.Dag:
    """The graph in which one node has other parents."""
    return (*dag[:node], parents, *dag[node + 1 :])


# One edge at a time


def neighbours(dag: naive.Dag, max_parents: int) -> dict[str, list[naive.Dag]]:
    """What one added, deleted or reversed edge makes of a graph, by kind: without cycles and too many parents."""
    found: dict[str, list[naive.Dag]] = {"add": [], "delete": [], "reverse": []}
    for parent, child in permutations(range(len(dag)), 2):
        changed = with_family(dag, child, dag[child] ^ (1 << parent))
        if dag[child] >> parent & 1:
            found["delete"].append(changed)
            found["reverse"].append(with_family(changed, parent, changed[parent] | 1 << child))
        else:
            found["add"].append(changed)
    return {
        kind: [
            graph for graph in graphs if is_acyclic(graph) and max(mask.bit_count() for mask in graph) <= max_parents
        ]
        for kind, graphs in found.items()
    }


def local_steps(states: list[naive.Dag], log_weights: Matrix, max_parents: int) -> Matrix:
    """The chain of Madigan & York: every neighbour is as likely to be proposed."""
    around = {dag: [graph for graphs in neighbours(dag, max_parents).values() for graph in graphs] for dag in states}

    def proposals(dag: naive.Dag) -> dict[naive.Dag, float]:
        return dict.fromkeys(around[dag], 1.0 / len(around[dag]))

    return metropolis_hastings(states, log_weights, proposals)


# New edge reversal


def new_edge_reversals(states: list[naive.Dag], log_weights: Matrix, by_mask: Matrix) -> Matrix:
    """The move of Grzegorczyk & Husmeier; two graphs are never joined by more than one edge that is turned round."""

    def proposals(dag: naive.Dag) -> dict[naive.Dag, float]:
        edges = edges_of(dag)
        found: dict[naive.Dag, float] = {}
        for parent, child in edges:
            for graph, chance in turned_round(dag, parent, child, by_mask).items():
                assert graph not in found
                found[graph] = chance / len(edges)
        return found

    return metropolis_hastings(states, log_weights, proposals)


def turned_round(dag: naive.Dag, parent: int, child: int, by_mask: Matrix) -> dict[naive.Dag, float]:
    """The graphs that a new reversal of one edge proposes, and how likely each is."""
    orphaned = with_family(with_family(dag, parent, 0), child, 0)
    result = {}
    for first, first_chance in families_drawn(orphaned, parent, by_mask[parent], must_have=child).items():
        for second, chance in families_drawn(first, child, by_mask[child]).items():
            result[second] = first_chance * chance
    return result


def families_drawn(
    dag: naive.Dag, node: int, log_weights: Matrix, must_have: int | None = None
) -> dict[naive.Dag, float]:
    """Every graph in which one node has parents that it may have, with a probability in proportion to their weight."""
    weights = {}
    for parents, log_weight in enumerate(log_weights):
        graph = with_family(dag, node, parents)
        wanted = must_have is None or parents >> must_have & 1
        if wanted and log_weight > -np.inf and is_acyclic(graph):
            weights[graph] = exp(log_weight)
    total = sum(weights.values())
    return {graph: weight / total for graph, weight in weights.items()}


# Whole graphs


def global_steps(states: list[naive.Dag], log_weights: Matrix, edges: Matrix, floor: float) -> Matrix:
    """The global proposal of Eaton & Murphy: each pair of nodes by itself, every outcome with at least `floor`."""
    chances = {dag: chance_of_proposal(dag, edges, floor) for dag in states}
    return metropolis_hastings(states, log_weights, lambda _: chances)


def chance_of_proposal(dag: naive.Dag, edges: Matrix, floor: float) -> float:
    """The product over all pairs of nodes; what is left of 1 goes to graphs with cycles or without weight."""
    chance = 1.0
    for first, second in combinations(range(len(dag)), 2):
        if dag[second] >> first & 1:
            outcome = edges[first, second]
        elif dag[first] >> second & 1:
            outcome = edges[second, first]
        else:
            outcome = 1.0 - edges[first, second] - edges[second, first]
        chance *= (1.0 - 3.0 * floor) * outcome + floor
    return chance


# Transition matrices


def metropolis_hastings(
    states: list[naive.Dag], log_weights: Matrix, proposals: Callable[[naive.Dag], dict[naive.Dag, float]]
) -> Matrix:
    """Row: from which state; column: to which. What is refused, or has no weight, stays."""
    place = {dag: number for number, dag in enumerate(states)}
    chances = np.zeros((len(states), len(states)))
    for dag in states:
        for graph, chance in proposals(dag).items():
            if graph in place:
                chances[place[dag], place[graph]] = chance
    transition = np.zeros_like(chances)
    for here, there in permutations(range(len(states)), 2):
        if chances[here, there] > 0.0:
            ratio = exp(log_weights[there] - log_weights[here]) * chances[there, here] / chances[here, there]
            transition[here, there] = chances[here, there] * min(1.0, ratio)
    np.fill_diagonal(transition, 1.0 - transition.sum(axis=1))
    return transition


def possible_dags(log_weights: naive.Logs, max_parents: int) -> tuple[list[naive.Dag], Matrix]:
    """The graphs that have any weight, and their log weights."""
    log_joint = naive.log_joint_of_every_dag(log_weights, max_parents)
    dags = naive.all_dags(len(log_weights))
    return [dag for dag, log in zip(dags, log_joint, strict=True) if log > -np.inf], log_joint[log_joint > -np.inf]
