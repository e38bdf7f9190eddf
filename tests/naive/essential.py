"""Slow, obvious twins of what is compelled: enumeration of all graphs that say the same, by the definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

from tests.naive.posterior import all_dags
from tests.naive.summaries import Dag, Edge, edges_of, is_acyclic, skeleton, v_structures

Targets = tuple[frozenset[int], ...]


def seen_under(edges: set[Edge], targets: Targets) -> Any:
    """What data say of a graph: adjacencies and v-structures of every graph that interventions leave.

    An intervention cuts the edges into the nodes that it sets (Hauser & Bühlmann 2012, theorem 10 and before).
    """
    left = [{edge for edge in edges if edge[1] not in target} for target in targets or (frozenset(),)]
    return tuple((skeleton(cut), v_structures(cut)) for cut in left)


def set_always(targets: Targets) -> frozenset[int]:
    return frozenset.intersection(*targets) if targets else frozenset()


@cache
def classes_of_all(nodes: int, targets: Targets) -> dict[Any, list[frozenset[Edge]]]:
    """All graphs in which no edge leads to a node that is set in every row, by what data say of them."""
    classes = defaultdict(list)
    for dag in all_dags(nodes):
        edges = edges_of(dag)
        if not any(child in set_always(targets) for _, child in edges):
            classes[seen_under(edges, targets)].append(frozenset(edges))
    return classes


def turned_in_all_ways(edges: set[Edge], targets: Targets) -> list[frozenset[Edge]]:
    """The class of one graph, from all ways to direct its edges."""
    members = []
    for turned in product([False, True], repeat=len(edges)):
        candidate = {edge[::-1] if turn else edge for edge, turn in zip(sorted(edges), turned, strict=True)}
        if is_acyclic(candidate) and seen_under(candidate, targets) == seen_under(edges, targets):
            members.append(frozenset(candidate))
    return members


def compelled(
    dag: Dag,
    targets: Targets = (),
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    *,
    turn: bool = False,
) -> set[Edge]:
    """The edges that all graphs have that say the same and obey the rules.

    An edge into a node that is set in every row is compelled only if a rule is about that very pair.
    """
    required, forbidden = set(required), set(forbidden)
    always = set_always(targets)
    edges = edges_of(dag)
    visible = {edge for edge in edges if edge[1] not in always}
    members = (
        turned_in_all_ways(visible, targets)
        if turn
        else classes_of_all(len(dag), targets)[seen_under(visible, targets)]
    )
    needed = {edge for edge in required if edge[1] not in always}
    obeying = [member for member in members if needed <= member and not forbidden & member]
    invisible = edges - visible
    return set(frozenset.intersection(*obeying)) | {
        edge for edge in invisible if edge in required or edge[::-1] in forbidden
    }


def as_masks(edges: Iterable[Edge], nodes: int) -> Dag:
    masks = [0] * nodes
    for parent, child in edges:
        masks[child] |= 1 << parent
    return tuple(masks)


def shares(
    dags: Sequence[Dag], weights: Sequence[float], targets: Targets = (), **rules: Any
) -> tuple[dict[Edge, float], dict[Edge, float], dict[frozenset[int], float]]:
    """Weight of the graphs in which each edge is compelled by the data, only with the rules, or reversible."""
    by_data: dict[Edge, float] = defaultdict(float)
    by_rules: dict[Edge, float] = defaultdict(float)
    reversible: dict[frozenset[int], float] = defaultdict(float)
    for dag, weight in zip(dags, weights, strict=True):
        told, decided = compelled(dag, targets), compelled(dag, targets, **rules)
        for edge in edges_of(dag):
            if edge in told:
                by_data[edge] += weight
            elif edge in decided:
                by_rules[edge] += weight
            else:
                reversible[frozenset(edge)] += weight
    return by_data, by_rules, reversible
