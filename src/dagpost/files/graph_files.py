"""Graphs as files for other programs: GraphML, DOT and JSON, and JSON read again.

- GraphML goes through networkx and is read by it, Gephi, Cytoscape, yEd and others; edges have `probability`.
- DOT is for drawing with Graphviz. A name is its own identifier where it can be, so that the file reads well.
- JSON keeps names and numbers to the last digit: `{"dagpost": "edges", "format": 1, "names": [...], "edges": [{"from":
  ..., "to": ..., "probability": ...}, ...]}`, where pairs that are not listed have probability 0.
"""

from __future__ import annotations

import io
import json
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.checks import file_path
from dagpost._tools.text import printable
from dagpost._tools.whole_files import replacing, write_text
from dagpost._version import __version__
from dagpost.errors import InputError
from dagpost.files.archive import check_format
from dagpost.files.frames import matrix_of_triples
from dagpost.posterior.directions import Directions, directions_of, directions_of_sample
from dagpost.posterior.pair_direction import FOUND
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sources import edge_table_of, is_model
from dagpost.posterior.summaries.edges import check_probabilities, probability_graph

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from dagpost.posterior.sources import EdgeSource

FORMAT_VERSION = 1
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
                f"The name {name!r} has a character that XML cannot hold, so GraphML cannot either. Rename the "
                "column, or use JSON."
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


# JSON


def write_json(source: EdgeSource, path: str | os.PathLike[str]) -> None:
    """Write a table of probabilities, such as `edge_probabilities_`, or those of a model or sample, as JSON."""
    edges = edge_table_of(source)
    names, matrix = check_probabilities(edges)
    listed = [
        {"from": names[row], "to": names[column], "probability": float(matrix[row, column])}
        for row, column in np.argwhere(matrix > 0.0).tolist()
    ]
    content = {
        "dagpost": "edges",
        "format": FORMAT_VERSION,
        "version": __version__,
        "axes": [_axis(edges.index.name), _axis(edges.columns.name)],
        "names": list(names),
        "edges": listed,
    }
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a table of probabilities that `write_json` wrote."""
    source = file_path(path)
    if not source.is_file():
        raise InputError(f"There is no file {str(source)!r}.")
    try:
        content = json.loads(source.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(source)!r} is not a JSON file, or it was cut short or damaged ({error}).") from error
    if not isinstance(content, dict) or content.get("dagpost") != "edges":
        raise InputError(f"{str(source)!r} does not hold edges written by dagpost. Give a file that write_json wrote.")
    check_format(source, content, FORMAT_VERSION)
    try:
        return _frame_of(content)
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{str(source)!r} is damaged or was changed by hand: {error}") from error


def _frame_of(content: dict[str, Any]) -> pd.DataFrame:
    names, axes = content["names"], content["axes"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError("the names must be a list of different texts.")
    for edge in content["edges"]:
        if isinstance(edge["probability"], bool) or not isinstance(edge["probability"], int | float):
            raise ValueError(f"a probability must be a number, not {edge['probability']!r}.")
    triples = ((edge["from"], edge["to"], edge["probability"]) for edge in content["edges"])
    frame = matrix_of_triples(triples, names)
    rows, columns = (None if axis is None else str(axis) for axis in axes)
    return frame.rename_axis(index=rows, columns=columns)


def _axis(name: object) -> str | None:
    return None if name is None else str(name)
