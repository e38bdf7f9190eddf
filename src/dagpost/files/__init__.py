"""Results in the forms that other tools read: tables, labelled arrays, graph files, local scores, chains for ArviZ."""

from __future__ import annotations

from dagpost.files.arviz import to_arviz as to_arviz
from dagpost.files.frames import long_table as long_table
from dagpost.files.frames import matrix_of_long as matrix_of_long
from dagpost.files.frames import to_xarray as to_xarray
from dagpost.files.graph_files import read_json as read_json
from dagpost.files.graph_files import to_dot as to_dot
from dagpost.files.graph_files import write_dot as write_dot
from dagpost.files.graph_files import write_graphml as write_graphml
from dagpost.files.graph_files import write_json as write_json
from dagpost.files.jkl import read_jkl as read_jkl
from dagpost.files.jkl import write_jkl as write_jkl
from dagpost.posterior.summaries.edges import probability_graph

to_networkx = probability_graph
