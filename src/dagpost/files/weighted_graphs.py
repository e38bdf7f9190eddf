"""Graphs with weights, for programs that average over structures, as CSV that any language reads.

There is one row a graph: `graph` (its rank), `weight` (they sum to 1), `probability` (their sum is what these graphs
hold of the posterior) and `edges`, such as `A->B;C->B`, which is empty for a graph without edges.

`reference.read_answer` takes such files. Some 30 microseconds a graph of ten edges.
"""

from __future__ import annotations

import csv
import io
import os

from dagpost._tools.checks import file_path, kind
from dagpost._tools.text import shown
from dagpost._tools.whole_files import write_text
from dagpost.errors import InputError
from dagpost.families.masks import graph_of_masks
from dagpost.files.graph_rows import ARROW, BETWEEN_EDGES
from dagpost.posterior.summaries.graphs import TopGraphs


def write_graphs(graphs: TopGraphs, path: str | os.PathLike[str]) -> None:
    """Write weighted graphs, such as `top_graphs` gives, as a CSV file.

    It has one row a graph, with the columns graph, weight, probability and edges.
    """
    kind(graphs, "graphs", TopGraphs, "what top_graphs gives", "write_graphs")
    if file_path(path).suffix.lower() != ".csv":
        raise InputError(f"Graphs are kept in .csv files. Got {str(path)!r}: name it so.")
    for name in graphs.names:
        if not name or BETWEEN_EDGES in name or ARROW in name or name != name.strip():
            raise InputError(
                f"The name {shown(name)} cannot stand in a list of edges such as 'A->B;C->B': it has '->' or ';' in "
                "it, a space at an end, or nothing. Rename the column."
            )
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(["graph", "weight", "probability", "edges"])
    rows = zip(graphs.weights.tolist(), graphs.probabilities.tolist(), graphs.parents, strict=True)
    for rank, (weight, probability, parents) in enumerate(rows, start=1):
        pairs = graph_of_masks(parents, graphs.names).edges
        edges = BETWEEN_EDGES.join(f"{parent}{ARROW}{child}" for parent, child in pairs)
        writer.writerow([rank, repr(weight), repr(probability), edges])
    write_text(path, content.getvalue())
