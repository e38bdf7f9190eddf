"""Yes/no statements about a DAG: as objects, as text, over many DAGs at once, and which of them are exact.

Each statement and the function that makes it are in a file of `statements/`; here are only those that the package
itself uses.
"""

from __future__ import annotations

from dagpost.features.evaluation import ancestors, evaluate, weighted_matrix
from dagpost.features.feature import And, Feature, Not, Or
from dagpost.features.language import Query, parse, resolve
from dagpost.features.reductions import OneNodeReach, Term, one_node_reach, parent_conditions
from dagpost.features.registry import STATEMENTS
from dagpost.features.statements.edge import Edge, edge
from dagpost.features.statements.path import Path, path

__all__ = [
    "STATEMENTS",
    "And",
    "Edge",
    "Feature",
    "Not",
    "OneNodeReach",
    "Or",
    "Path",
    "Query",
    "Term",
    "ancestors",
    "edge",
    "evaluate",
    "one_node_reach",
    "parent_conditions",
    "parse",
    "path",
    "resolve",
    "weighted_matrix",
]
