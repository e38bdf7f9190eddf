"""Yes/no statements about a DAG: as objects, as text, over many DAGs at once, and which of them are exact."""

from __future__ import annotations

from dagpost.features.constructors import (
    adjacent,
    ancestor_set,
    custom,
    d_separated,
    descendant_set,
    edge,
    in_markov_blanket,
    parent_set,
    path,
    topological_position,
    v_structure,
)
from dagpost.features.evaluate import ancestors, evaluate, weighted_matrix
from dagpost.features.language import Query, parse, resolve
from dagpost.features.predicates import Feature
from dagpost.features.reductions import (
    OneNodeReach,
    ParentConditions,
    Term,
    one_node_reach,
    parent_conditions,
)

__all__ = [
    "Feature",
    "OneNodeReach",
    "ParentConditions",
    "Query",
    "Term",
    "adjacent",
    "ancestor_set",
    "ancestors",
    "custom",
    "d_separated",
    "descendant_set",
    "edge",
    "evaluate",
    "in_markov_blanket",
    "one_node_reach",
    "parent_conditions",
    "parent_set",
    "parse",
    "path",
    "resolve",
    "topological_position",
    "v_structure",
    "weighted_matrix",
]
