"""Slow, obvious twins of the features: each statement by its definition, on one `networkx.DiGraph`."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from dagpost.features import And, Edge, Feature, Not, Or, Path
from dagpost.features.statements.adjacent import Adjacent
from dagpost.features.statements.custom import Custom
from dagpost.features.statements.d_separation import DSeparated
from dagpost.features.statements.markov_blanket import InMarkovBlanket
from dagpost.features.statements.node_sets import AncestorSet, DescendantSet, ParentSet
from dagpost.features.statements.topological_position import TopologicalPosition
from dagpost.features.statements.v_structure import VStructure

if TYPE_CHECKING:
    from numpy.typing import NDArray

Graph = nx.DiGraph
COMPARE = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def graph_of(masks: NDArray[np.unsignedinteger], names: list[str]) -> Graph:
    """The graph with an edge from `names[j]` to `names[i]` where bit j of mask i is set."""
    graph: Graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for child, mask in zip(names, masks.tolist(), strict=True):
        graph.add_edges_from((names[bit], child) for bit in range(len(names)) if mask >> bit & 1)
    return graph


def random_dags(nodes: int, count: int, density: float, seed: int) -> NDArray[np.uint8]:
    """Parent masks of random DAGs on at most 8 nodes: a random order, then each edge along it by a coin."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((count, nodes), dtype=np.uint8)
    for row in masks:
        order = rng.permutation(nodes)
        for place, child in enumerate(order):
            for parent in order[:place]:
                row[child] |= (rng.random() < density) << parent
    return masks


def holds(feature: Feature, graph: Graph) -> bool:
    """Whether the statement holds in the graph."""
    match feature:
        case And(parts):
            return all(holds(part, graph) for part in parts)
        case Or(parts):
            return any(holds(part, graph) for part in parts)
        case Not(part):
            return not holds(part, graph)
        case Edge(parent, child):
            return graph.has_edge(parent, child)
        case Path(source, target, None):
            return nx.has_path(graph, source, target)
        case Path(source, target, longest):
            lengths = nx.single_source_shortest_path_length(graph, source)
            return target in lengths and lengths[target] <= longest
        case Adjacent(first, second):
            return adjacent(graph, first, second)
        case VStructure(first, collider, second):
            meet = graph.has_edge(first, collider) and graph.has_edge(second, collider)
            return meet and not adjacent(graph, first, second)
        case ParentSet(child, parents):
            return set(graph.predecessors(child)) == parents
        case AncestorSet(node, members):
            return nx.ancestors(graph, node) == members
        case DescendantSet(node, members):
            return nx.descendants(graph, node) == members
        case InMarkovBlanket(member, of):
            return member in markov_blanket(graph, of)
        case DSeparated(first, second, given):
            return all(d_separated(graph, one, other, given) for one in first for other in second)
        case TopologicalPosition(node, comparison, value):
            return COMPARE[comparison](longest_path_to(graph, node), value)
        case Custom(function):
            return function(graph)
    raise TypeError(feature)


def adjacent(graph: Graph, first: str, second: str) -> bool:
    return graph.has_edge(first, second) or graph.has_edge(second, first)


def markov_blanket(graph: Graph, node: str) -> set[str]:
    children = set(graph.successors(node))
    spouses = {parent for child in children for parent in graph.predecessors(child)}
    return (set(graph.predecessors(node)) | children | spouses) - {node}


def longest_path_to(graph: Graph, node: str) -> int:
    return max((1 + longest_path_to(graph, parent) for parent in graph.predecessors(node)), default=0)


def d_separated(graph: Graph, first: str, second: str, given: frozenset[str]) -> bool:
    """Every undirected path is blocked: by a given node on it, or by a collider that nothing opens."""
    paths = nx.all_simple_paths(graph.to_undirected(), first, second)
    return all(blocked(graph, path, given) for path in paths)


def blocked(graph: Graph, path: list[str], given: frozenset[str]) -> bool:
    for (before, middle), (_, after) in pairwise(pairwise(path)):
        if graph.has_edge(before, middle) and graph.has_edge(after, middle):
            if not given & ({middle} | nx.descendants(graph, middle)):
                return True
        elif middle in given:
            return True
    return False
