"""Results in the forms that other tools read: tables, labelled arrays, graph files, local scores, chains for ArviZ."""

from __future__ import annotations

from dagpost.files.arviz import to_arviz
from dagpost.files.frames import long_table, matrix_of_long, to_xarray
from dagpost.files.graph_files import read_json, to_dot, write_dot, write_graphml, write_json
from dagpost.files.jkl import read_jkl, write_jkl
from dagpost.posterior.summaries.edges import probability_graph as to_networkx

__all__ = [
    "long_table",
    "matrix_of_long",
    "read_jkl",
    "read_json",
    "to_arviz",
    "to_dot",
    "to_networkx",
    "to_xarray",
    "write_dot",
    "write_graphml",
    "write_jkl",
    "write_json",
]
