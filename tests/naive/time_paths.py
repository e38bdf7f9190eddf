"""Slow twin of features/statements/path_in_time.py: the template is written out, slice by slice, as one large graph."""

from __future__ import annotations

import re

import networkx as nx


def repeated(template: nx.DiGraph[str], slices: int) -> nx.DiGraph[tuple[str, int]]:
    """The template in that many slices; a node is a series with its slice, or a static column with slice -1."""
    names = list(template.nodes)
    series = {found[1] for name in names if (found := re.fullmatch(r"(.+)\[t-\d+\]", name))}
    graph: nx.DiGraph[tuple[str, int]] = nx.DiGraph()
    for now in range(slices):
        for parent, child in template.edges:
            found = re.fullmatch(r"(.+)\[t-(\d+)\]", parent)
            base, lag = (found[1], int(found[2])) if found else (parent, 0)
            if base not in series:
                graph.add_edge((base, -1), (child, now))
            elif now - lag >= 0:
                graph.add_edge((base, now - lag), (child, now))
    return graph


def influences(template: nx.DiGraph[str], source: str, target: str, steps: int) -> bool:
    """Whether a path leads from the source, at most so many steps ago, to the target in the last slice."""
    graph = repeated(template, steps + 1)
    end = (target, steps)
    if end not in graph:
        return False
    starts = [(source, -1), *((source, steps - ago) for ago in range(steps + 1))]
    return any(start in graph and start != end and nx.has_path(graph, start, end) for start in starts)
