"""Draws of the graphs that an answer rests on, and which of their columns matter to it."""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost.causal.averages import shared_out
from dagpost.causal.graphs import Weighted
from dagpost.features import ancestors


def chosen_graphs(part: Weighted, draws: int, generator: np.random.Generator) -> Masks:
    """Graphs by their weights (systematic resampling), as many as the weight of the part asks for, at least one."""
    count = max(round(draws * float(part.weights.sum())), 1)
    return np.repeat(part.graphs, shared_out([part.weights], count, generator)[0], axis=0)


def cut_graphs(graphs: Masks, set_nodes: int) -> Masks:
    """The graphs without the edges into columns that are set, or given from outside."""
    cut = graphs.copy()
    cut[:, [node for node in range(graphs.shape[1]) if set_nodes >> node & 1]] = 0
    return cut


def relevant(cut: Masks, wanted: int) -> Masks:
    """By graph, the wanted nodes and their ancestors: the sum over all others is 1."""
    above = ancestors(cut)
    found = np.full(len(cut), wanted, dtype=np.uint64)
    for node in range(cut.shape[1]):
        if wanted >> node & 1:
            found |= above[:, node]
    return found
