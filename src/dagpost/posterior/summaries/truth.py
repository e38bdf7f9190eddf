"""How far a posterior is from a given graph, such as the one that made the data.

*Distance* (structural Hamming distance): the number of pairs of variables on which two graphs differ. A missing edge,
an extra edge and a reversed one count 1 each. Between completed graphs (Tsamardinos, Brown & Aliferis 2006) an edge
that is directed in one and undirected in the other counts 1 as well, and DAGs of one equivalence class have distance 0.
Each distinct graph takes n^2 steps at most.

*Recovery*: the edges ranked by their probability against those that are there, as ROC and precision-recall curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.checks import number, truth
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.essential import essential_graphs
from dagpost.families.masks import matrices_of_masks, matrix_of_masks
from dagpost.posterior.sources import sample_of
from dagpost.posterior.summaries.display import html_of
from dagpost.posterior.summaries.edges import check_probabilities
from dagpost.posterior.summaries.given import masks_of_graph

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.sources import EdgeSource, GraphSource
    from dagpost.posterior.summaries.given import GivenGraph


#: Cells of matrices of graphs that are compared together: 16 MB.
_CELLS_AT_A_TIME = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class DistanceDistribution:
    """Posterior distribution of the structural Hamming distance to a given graph.

    `probabilities[d]` is the probability of distance d, from the weights of the sample. `equivalence` says whether
    completed graphs were compared rather than DAGs.
    """

    probabilities: Floats
    equivalence: bool

    @property
    def mean(self) -> float:
        """Expected distance."""
        return float(self.probabilities @ np.arange(len(self.probabilities)))

    def quantile(self, probability: float) -> int:
        """The smallest distance that is not exceeded with at least this probability."""
        number(probability, "probability", "quantile", least=0.0, most=1.0, allowed="a number from 0 to 1")
        reached = np.cumsum(self.probabilities) >= probability - 1e-12
        return int(reached.argmax()) if reached.any() else len(self.probabilities) - 1

    def table(self) -> pd.DataFrame:
        """The distances that occur and their probabilities."""
        import pandas as pd

        distances = np.flatnonzero(self.probabilities)
        return pd.DataFrame({"distance": distances, "probability": self.probabilities[distances]})

    def __repr__(self) -> str:
        between = "completed graphs" if self.equivalence else "DAGs"
        low, high = self.quantile(0.05), self.quantile(0.95)
        return f"structural Hamming distance between {between}: {self.mean:.2f} expected, {low} to {high} with 90%"

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.table())


def distance_distribution(source: GraphSource, graph: GivenGraph, *, equivalence: bool = False) -> DistanceDistribution:
    """Distribution of the structural Hamming distance between the graphs of a sample and a given DAG.

    Parameters
    ----------
    source
        A sample, or a fitted model, which stands for its own sample.
    graph
        A directed networkx graph, pairs `(parent, child)`, or a mapping from each child to its parents.
    equivalence
        Compare completed graphs (equivalence classes) instead of DAGs: what data alone could tell.

    >>> from dagpost import DagPosterior, datasets
    >>> sample = DagPosterior("bdeu").fit(datasets.load("coronary")).best(10)
    >>> distance_distribution(sample, sample[0], equivalence=True)
    structural Hamming distance between completed graphs: 1.77 expected, 0 to 4 with 90%

    References
    ----------
    Tsamardinos, Brown & Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.
    Machine Learning 65.
    """
    truth(equivalence, "equivalence", "distance_distribution")
    sample = sample_of(source)
    given = masks_of_graph(graph, sample.names).astype(sample.parents.dtype)[None, :]
    given = essential_graphs(given) if equivalence else given
    distinct, (matrix,) = sample.distinct, matrices_of_masks(given)

    def distances(part: slice) -> Integers:
        graphs = sample.parents[distinct.rows[part]]
        changed = matrices_of_masks(essential_graphs(graphs) if equivalence else graphs) != matrix
        found: Integers = np.triu(changed | changed.swapaxes(1, 2)).sum(axis=(1, 2))
        return found

    found = np.concatenate(list(over_rows(distances, len(distinct), max(1, _CELLS_AT_A_TIME // matrix.size))))
    return DistanceDistribution(np.bincount(found, weights=distinct.weights).astype(np.float64), equivalence)


@dataclass(frozen=True, eq=False, repr=False)
class EdgeRecovery:
    """How well edge probabilities rank the edges of a given graph above all others.

    `roc` and `precision_recall` have one row for every threshold at which something changes; an edge is drawn where
    its probability is at least the threshold. The counts in `roc` are of true and false edges drawn.
    """

    roc: pd.DataFrame
    precision_recall: pd.DataFrame
    area_under_roc: float
    average_precision: float

    def __repr__(self) -> str:
        return f"area under the ROC curve {self.area_under_roc:.4f}, average precision {self.average_precision:.4f}"

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.roc)


def edge_recovery(source: EdgeSource, graph: GivenGraph) -> EdgeRecovery:
    """ROC and precision-recall curves of edge probabilities, given the true graph.

    `source` is a fitted model, a sample, or a table such as `edge_probabilities_`.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior("bdeu").fit(datasets.load("coronary"))
    >>> edge_recovery(model, model.best(1)[0])
    area under the ROC curve 0.9520, average precision 0.7683
    """
    import pandas as pd
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

    names, matrix = check_probabilities(source)
    masks = masks_of_graph(graph, names)
    between = ~np.eye(len(names), dtype=bool)
    truth = matrix_of_masks(masks)[between]
    if not truth.any():
        raise InputError("The given graph has no edges, so there is nothing to recover. Give the true graph.")
    scores = matrix[between]
    false_rate, true_rate, thresholds = roc_curve(truth, scores, drop_intermediate=False)
    precision, recall, levels = precision_recall_curve(truth, scores)
    present = int(truth.sum())
    roc = pd.DataFrame(
        {
            "threshold": thresholds,
            "false_edges": np.rint(false_rate * (truth.size - present)).astype(np.int64),
            "true_edges": np.rint(true_rate * present).astype(np.int64),
            "false_positive_rate": false_rate,
            "true_positive_rate": true_rate,
        }
    )
    # The curve ends where nothing is drawn.
    curve = pd.DataFrame({"threshold": [*levels, np.inf], "precision": precision, "recall": recall})
    return EdgeRecovery(roc, curve, float(auc(false_rate, true_rate)), float(average_precision_score(truth, scores)))
