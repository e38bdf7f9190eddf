"""What people ask of a posterior over graphs: the best ones, classes, probable edges, distance from a known graph."""

from __future__ import annotations

from dagpost.posterior.summaries.blankets import markov_blanket_table
from dagpost.posterior.summaries.edges import (
    ThresholdGraph,
    adjacency_table,
    edge_entropy,
    orientation_table,
    probability_graph,
    threshold_graph,
)
from dagpost.posterior.summaries.equivalence import (
    EquivalenceClasses,
    equivalence_classes,
    essential_graphs,
    pattern_graph,
)
from dagpost.posterior.summaries.given import graph_of_masks, log_weight_of_graph, masks_of_graph
from dagpost.posterior.summaries.graphs import (
    GraphEntropy,
    GraphStanding,
    TopGraphs,
    graph_entropy,
    graph_standing,
    top_graphs,
)
from dagpost.posterior.summaries.sensitivity import Comparison, compare
from dagpost.posterior.summaries.truth import DistanceDistribution, EdgeRecovery, distance_distribution, edge_recovery

__all__ = [
    "Comparison",
    "DistanceDistribution",
    "EdgeRecovery",
    "EquivalenceClasses",
    "GraphEntropy",
    "GraphStanding",
    "ThresholdGraph",
    "TopGraphs",
    "adjacency_table",
    "compare",
    "distance_distribution",
    "edge_entropy",
    "edge_recovery",
    "equivalence_classes",
    "essential_graphs",
    "graph_entropy",
    "graph_of_masks",
    "graph_standing",
    "log_weight_of_graph",
    "markov_blanket_table",
    "masks_of_graph",
    "orientation_table",
    "pattern_graph",
    "probability_graph",
    "threshold_graph",
    "top_graphs",
]
