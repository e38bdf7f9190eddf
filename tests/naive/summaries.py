"""Slow, obvious twins of the summaries: sets of edges, enumeration, and the definitions word for word."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from tests.naive.posterior import all_dags, subsets_in_order

from dagpost.families.masks import mask_type
from dagpost.posterior.sample import DagSample

Dag = tuple[int, ...]
Edge = tuple[int, int]

NAMES = ("A", "B", "C", "D", "E", "F", "G", "H")
#: Names that break what does not quote them.
ODD_NAMES = (
    'say "x"',
    "<script>alert(1)</script>",
    "new\nline",
    "\\n",
    "back\\",
    "",
    " ",
    "é 日本",
    "a\tb",
    "50%",
    "%20",
    "%",
    "#1",
    "&amp;",
    "node",
    "$x$",
    "-0.5",
    "\r",
    "\u2003wide\u00a0",
    "\\N",
)


def sample_of(
    rows: list[Dag] | list[list[int]],
    weights: NDArray[np.float64] | None = None,
    log_joint: NDArray[np.float64] | None = None,
    names: tuple[str, ...] | None = None,
    **about: Any,
) -> DagSample:
    """A sample of these graphs, by default drawn alike."""
    nodes, count = len(rows[0]), len(rows)
    unknown = np.full(count, np.nan)
    usual = {"target": "structure", "method": "exact-layers", "draws": "independent", "estimator": "counting"}
    return DagSample(
        names=NAMES[:nodes] if names is None else names,
        parents=np.array(rows, dtype=mask_type(nodes)),
        log_joint=unknown if log_joint is None else np.asarray(log_joint),
        log_proposal=unknown,
        log_extensions=unknown,
        weights=np.full(count, 1.0 / count) if weights is None else np.asarray(weights),
        **{**usual, **about},
    )


# Equivalence


def edges_of(dag: Dag) -> set[Edge]:
    """Pairs (parent, child)."""
    return {(parent, child) for child, mask in enumerate(dag) for parent in range(len(dag)) if mask >> parent & 1}


def is_acyclic(edges: set[Edge]) -> bool:
    return nx.is_directed_acyclic_graph(nx.DiGraph(list(edges)))


def skeleton(edges: set[Edge]) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(edge) for edge in edges)


def v_structures(edges: set[Edge]) -> frozenset[tuple[frozenset[int], int]]:
    """All ({a, b}, c) with a -> c <- b and no edge between a and b."""
    joined = skeleton(edges)
    return frozenset(
        (frozenset((a, b)), c)
        for (a, c), (b, d) in combinations(sorted(edges), 2)
        if c == d and frozenset((a, b)) not in joined
    )


def pattern_of_class(members: list[set[Edge]], nodes: int) -> Dag:
    """Masks of a completed graph: an edge is kept in both directions unless every member has it the same way."""
    pattern = [0] * nodes
    for edges in members:
        for parent, child in edges:
            pattern[child] |= 1 << parent
    return tuple(pattern)


@cache
def essential_graph_of_every_dag(nodes: int) -> dict[Dag, Dag]:
    """All graphs of a few nodes, grouped by adjacencies and v-structures."""
    classes = defaultdict(list)
    for dag in all_dags(nodes):
        edges = edges_of(dag)
        classes[skeleton(edges), v_structures(edges)].append(dag)
    return {
        dag: pattern_of_class([edges_of(member) for member in members], nodes)
        for members in classes.values()
        for dag in members
    }


def essential_graph(dag: Dag) -> Dag:
    """The same for one graph of few edges: all ways to orient them are tried."""
    edges = edges_of(dag)
    pairs = sorted(tuple(sorted(pair)) for pair in skeleton(edges))
    members = []
    for turned in product([False, True], repeat=len(pairs)):
        candidate = {(b, a) if turn else (a, b) for (a, b), turn in zip(pairs, turned, strict=True)}
        if v_structures(candidate) == v_structures(edges) and is_acyclic(candidate):
            members.append(candidate)
    return pattern_of_class(members, len(dag))


# Local score files


def read_jkl(path: Path) -> dict[str, dict[frozenset[str], float]]:
    """For each variable the score of each parent set; nothing is checked."""
    lines = iter(path.read_text(encoding="utf-8").splitlines())
    result = {}
    for _ in range(int(next(lines))):
        name, count = next(lines).split()
        rows = [next(lines).split() for _ in range(int(count))]
        result[name] = {frozenset(row[2:]): float(row[0]) for row in rows}
    return result


def jkl_of_weights(names: list[str], log_weights: NDArray[np.float64], max_parents: int) -> dict:
    """What such a file should say, from the definition of the numbering."""
    result = {}
    for node, name in enumerate(names):
        others = [other for other in names if other != name]
        sets = subsets_in_order(len(names) - 1, max_parents)
        result[name] = {
            frozenset(others[member] for member in members): float(weight)
            for members, weight in zip(sets, log_weights[node], strict=True)
            if np.isfinite(weight)
        }
    return result
