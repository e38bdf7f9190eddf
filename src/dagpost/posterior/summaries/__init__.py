"""What people ask of a posterior over graphs: the best ones, classes, probable edges, the standing of a known graph."""

from __future__ import annotations

from dagpost.families.essential import essential_graphs as essential_graphs
from dagpost.families.masks import graph_of_masks as graph_of_masks
from dagpost.posterior.summaries.blankets import markov_blanket_table as markov_blanket_table
from dagpost.posterior.summaries.edges import ThresholdGraph as ThresholdGraph
from dagpost.posterior.summaries.edges import adjacency_table as adjacency_table
from dagpost.posterior.summaries.edges import orientation_table as orientation_table
from dagpost.posterior.summaries.edges import probability_graph as probability_graph
from dagpost.posterior.summaries.edges import threshold_graph as threshold_graph
from dagpost.posterior.summaries.equivalence import EquivalenceClasses as EquivalenceClasses
from dagpost.posterior.summaries.equivalence import equivalence_classes as equivalence_classes
from dagpost.posterior.summaries.equivalence import essential_graph as essential_graph
from dagpost.posterior.summaries.equivalence import pattern_graph as pattern_graph
from dagpost.posterior.summaries.given import masks_of_graph as masks_of_graph
from dagpost.posterior.summaries.graphs import GraphStanding as GraphStanding
from dagpost.posterior.summaries.graphs import TopGraphs as TopGraphs
from dagpost.posterior.summaries.graphs import graph_standing as graph_standing
from dagpost.posterior.summaries.graphs import top_graphs as top_graphs
