"""Who is in whose Markov blanket: parents, children and other parents of the children?

That is all that a variable depends on directly once everything else is known. One pass over the graphs of a sample,
with as many steps as there are pairs within families.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.graph_lists import GraphLists, graphs_together, lists_of
from dagpost.posterior.sources import sample_of

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.sources import GraphSource


def markov_blanket_table(source: GraphSource) -> pd.DataFrame:
    """Probability that one variable is in the Markov blanket of another, for all pairs; the table is symmetric.

    From the graphs of a sample, or of a model's own one. What exogenous columns are to each other is not modelled: nan.

    >>> from dagpost import DagPosterior, datasets
    >>> sample = DagPosterior().fit(datasets.load("coronary")).sample(1000, seed=1)
    >>> table = markov_blanket_table(sample)
    >>> abs(table.loc["Smoking", "Pressure"] - sample.probability("Smoking in mb(Pressure)").value) < 1e-12
    np.True_
    """
    import pandas as pd

    sample = sample_of(source)
    nodes = len(sample.names)
    total = np.zeros((nodes, nodes))
    words = sample.parents.reshape(len(sample), nodes, -1)
    step = graphs_together(*words.shape[1:])
    for start in range(0, len(sample), step):
        masks = np.array(words[start : start + step], dtype=np.uint64, order="C")
        _add_blankets(lists_of(masks)[0], np.array(sample.weights[start : start + step]), total)
    matrix = np.clip(total + total.T, 0.0, 1.0)
    given = np.array([name in sample.exogenous for name in sample.names])
    matrix[given[:, None] & given[None, :] & ~np.eye(nodes, dtype=np.bool_)] = np.nan
    names = pd.Index(sample.names, name="variable")
    return pd.DataFrame(matrix, index=names, columns=pd.Index(sample.names, name="in its blanket"))


@kernel
def _add_blankets(lists: GraphLists, weights: Floats, total: Floats) -> None:
    """Add the weight of each graph to [x, y], x > y: for all pairs within its families, each pair once."""
    nodes = len(total)
    # The graph in which a pair was seen last.
    seen = np.full((nodes, nodes), -1, dtype=np.int64)
    for graph in range(len(weights)):
        for place in range(lists.ordered[graph]):
            node = np.int64(lists.order[graph, place])
            start, stop = lists.starts[graph, node], lists.starts[graph, node + 1]
            for edge in range(start, stop):
                parent = np.int64(lists.members[edge])
                _add_pair(node, parent, graph, weights[graph], seen, total)
                for other in range(start, edge):
                    _add_pair(parent, np.int64(lists.members[other]), graph, weights[graph], seen, total)


@inline_no_refcount
def _add_pair(one: np.int64, other: np.int64, graph: int, weight: float, seen: Integers, total: Floats) -> None:
    high, low = max(one, other), min(one, other)
    if seen[high, low] != graph:
        seen[high, low] = graph
        total[high, low] += weight
