"""Graphs as files for other programs: GraphML and DOT.

- GraphML goes through networkx and is read by it, Gephi, Cytoscape, yEd and others; edges have `probability`.
- DOT is for drawing with Graphviz. A name is its own identifier where it can be, so that the file reads well.
"""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING, Any

from dagpost._tools.text import printable
from dagpost._tools.whole_files import replacing, write_text
from dagpost.errors import InputError
from dagpost.posterior.directions import Directions, directions_of, directions_of_sample
from dagpost.posterior.pair_direction import FOUND
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sources import is_model
from dagpost.posterior.summaries.edges import probability_graph

if TYPE_CHECKING:
    import networkx as nx

    from dagpost.posterior.sources import EdgeSource

to_networkx = probability_graph
#: What XML 1.0 can hold, whichever way it is written.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# GraphML


def write_graphml(graph: nx.DiGraph[str] | EdgeSource, path: str | os.PathLike[str]) -> None:
    """Write a graph, such as that of `to_networkx`, as GraphML.

    A fitted model or a sample stands for its pairs joined with a probability of at least 1/2, with `direction` as in
    `model.directions()`; where that is open, the edge is there both ways with `directed` false. A table of
    probabilities stands for its edges more probable than 1/2.
    """
    import networkx as nx

    graph = _graph_of(graph)
    for name in graph.nodes:
        if _NOT_IN_XML.search(str(name)):
            raise InputError(
                f"The name {name!r} has a character that XML cannot hold, so GraphML cannot either. Rename the column."
            )
    content = io.BytesIO()
    nx.write_graphml(graph, content)
    with replacing(path) as file:
        file.write(content.getvalue())


# DOT


def to_dot(graph: nx.DiGraph[str] | EdgeSource) -> str:
    r"""A graph in the language of Graphviz; edges show their `probability`, undirected ones have no arrow head.

    A fitted model or a sample stands for its pairs joined with a probability of at least 1/2, with an arrow head where
    `model.directions()` has a direction. A table of probabilities stands for its edges more probable than 1/2.

    >>> import networkx as nx
    >>> graph = nx.DiGraph()
    >>> graph.add_edge("M. Work", 'say "x"', probability=0.75)
    >>> print(to_dot(graph))
    digraph {
      "M. Work";
      "say \"x\"";
      "M. Work" -> "say \"x\"" [label="0.75", probability="0.75", penwidth="2.38"];
    }
    <BLANKLINE>
    """
    graph = _graph_of(graph)
    lines = [f"  {_identifier(name)}{_label_if_needed(name)};" for name in graph.nodes]
    order = {name: place for place, name in enumerate(graph.nodes)}
    for parent, child, data in graph.edges(data=True):
        undirected = data.get("directed") is False
        # An undirected edge is there both ways.
        if undirected and graph.has_edge(child, parent) and order[parent] > order[child]:
            continue
        attributes = {"dir": "none"} if undirected else {}
        probability = data.get("probability")
        if probability is not None:
            attributes["label"] = f"{probability:.2f}"
            attributes["probability"] = repr(float(probability))
            attributes["penwidth"] = f"{0.5 + 2.5 * probability:.2f}"
        listed = ", ".join(f'{key}="{value}"' for key, value in attributes.items())
        lines.append(f"  {_identifier(parent)} -> {_identifier(child)}{f' [{listed}]' if listed else ''};")
    return "\n".join(["digraph {", *lines, "}", ""])


def write_dot(graph: nx.DiGraph[str] | EdgeSource, path: str | os.PathLike[str]) -> None:
    """Write what `to_dot` gives to a file."""
    write_text(path, to_dot(graph))


def _graph_of(source: Any) -> nx.DiGraph[str]:
    """A graph as it is; of a model or a sample, the pairs that are found; of probabilities, what is over 1/2."""
    import networkx as nx

    if isinstance(source, nx.DiGraph):
        return source
    if isinstance(source, nx.Graph):
        raise InputError("The edges of an undirected graph do not say which end is the parent. Give a DiGraph.")
    if isinstance(source, DagSample):
        return _graph_of_pairs(directions_of_sample(source))
    if is_model(source):
        # Which says so if the model was not fitted.
        source.own_sample()
        return _graph_of_pairs(directions_of(source.fitted_))
    return probability_graph(source, FOUND)


def _graph_of_pairs(found: Directions) -> nx.DiGraph[str]:
    """The pairs that are found, with their probability of being joined; what has no direction is there both ways."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(found.names)
    for pair in found.pairs(FOUND):
        source, target = found.names[pair.source], found.names[pair.target]
        directed = pair.word in ("clear", "leaning", "rules", "model")
        about = {"probability": pair.joined, "direction": pair.word, "directed": directed}
        graph.add_edge(source, target, **about)
        if not directed:
            graph.add_edge(target, source, **about)
    return graph


def _identifier(name: str) -> str:
    # Backslashes are doubled before control characters become escapes, so different names stay different.
    return _quoted(printable(str(name).replace("\\", "\\\\")))


def _label_if_needed(name: str) -> str:
    """Graphviz reads backslashes and entities in a label; without one it shows the identifier as a label."""
    shown = printable(name)
    if shown == name and "\\" not in name and "&" not in name:
        return ""
    return f" [label={_quoted(shown.replace('&', '&amp;'))}]"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
