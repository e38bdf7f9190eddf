"""Yes/no statements about a DAG: as objects, as text, over many DAGs at once, and which of them are exact.

Each statement and the function that makes it are in a file of `statements/`; here are only those that the package
itself uses.
"""

from __future__ import annotations

from dagpost.features.disjoint import disjoint_ways as disjoint_ways
from dagpost.features.evaluation import ancestors as ancestors
from dagpost.features.evaluation import evaluate as evaluate
from dagpost.features.evaluation import weighted_matrix as weighted_matrix
from dagpost.features.feature import And as And
from dagpost.features.feature import Feature as Feature
from dagpost.features.feature import Not as Not
from dagpost.features.feature import Or as Or
from dagpost.features.language import Query as Query
from dagpost.features.language import parse as parse
from dagpost.features.language import resolve as resolve
from dagpost.features.projection import ProjectedReach as ProjectedReach
from dagpost.features.projection import ProjectedWays as ProjectedWays
from dagpost.features.projection import projected_conditions as projected_conditions
from dagpost.features.projection import projected_reach as projected_reach
from dagpost.features.projection import projected_ways as projected_ways
from dagpost.features.reductions import OneNodeReach as OneNodeReach
from dagpost.features.reductions import one_node_reach as one_node_reach
from dagpost.features.registry import STATEMENTS as STATEMENTS
from dagpost.features.statements.edge import Edge as Edge
from dagpost.features.statements.edge import edge as edge
from dagpost.features.statements.path import Path as Path
from dagpost.features.statements.path import path as path
