"""The graphs of a sample one by one: the most probable ones, and where a given graph stands.

Where the evidence is known and every graph counts once, the posterior probability of a drawn graph is known exactly
(docs/design, "Weights"); elsewhere its share of the weight of the sample stands for it, and the result says which.
Repeats are told apart by sorting (posterior/distinct.py): N log N steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats
from dagpost._tools.checks import number, whole_number
from dagpost.families.masks import graph_of_masks, integers_of, matrices_of_masks, members_of, rows_equal_to
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sources import sample_of
from dagpost.posterior.summaries.display import edges_text, html_of
from dagpost.posterior.summaries.given import masks_of_graph

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from dagpost.posterior.distinct import DistinctGraphs
    from dagpost.posterior.sample import DagSample, UnsignedMasks
    from dagpost.posterior.sources import GraphSource
    from dagpost.posterior.summaries.given import GivenGraph

#: Log weights of equal graphs, added up in another order, differ by less than this part of themselves.
_ROUNDING = 1e-10


# Where one graph stands


@dataclass(frozen=True, repr=False)
class GraphStanding:
    """Where one graph stands among those of a sample.

    `rank` is 1 for the best of the `distinct` graphs in the sample; graphs that are equally good share the better rank.
    It is by `log_joint` where that is known, else by weight, and None where neither is. `frequency` is the share of
    the draws that are this graph, `weight` its share of the weight; `probability` is its exact posterior probability
    (nan where unknown).
    """

    rank: int | None
    distinct: int
    draws: int
    frequency: float
    weight: float
    log_joint: float
    probability: float

    def __repr__(self) -> str:
        place = "not ranked" if self.rank is None else f"rank {self.rank:,}"
        seen = f"drawn {round(self.frequency * self.draws):,} times in {self.draws:,}"
        known = "" if math.isnan(self.probability) else f", posterior probability {self.probability:.3g}"
        return f"{place} among {self.distinct:,} distinct graphs, {seen}{known}"


def graph_standing(source: GraphSource, graph: GivenGraph, log_joint: float = math.nan) -> GraphStanding:
    """The rank, frequency and probability of one graph in a sample, or in a model's own one.

    `log_joint` is log p(graph, data), which is needed only where the graph may not have been drawn.
    """
    sample = sample_of(source)
    row = masks_of_graph(graph, sample.names).astype(sample.parents.dtype)
    hit = rows_equal_to(row, sample.parents)
    seen = int(hit.sum())
    distinct = sample.distinct
    log_joints = sample.log_joint[distinct.rows]
    structural = sample.target == "structure"
    # Weights of graphs that were drawn from different completed tables cannot be compared.
    comparable = sample.method != Augmentation.name
    if seen and comparable:
        log_joint = float(sample.log_joint[int(hit.argmax())])
    weight = float(sample.weights[hit].sum())
    rank = None
    if structural and comparable and not math.isnan(log_joint) and not np.isnan(log_joints).any():
        rounding = _ROUNDING * abs(log_joint) if math.isfinite(log_joint) else 0.0
        rank = 1 + int((log_joints > log_joint + rounding).sum())
    elif seen:
        rank = 1 + int((distinct.weights > weight * (1.0 + _ROUNDING)).sum())
    known = structural and not math.isnan(sample.log_evidence)
    return GraphStanding(
        rank=rank,
        distinct=len(distinct),
        draws=len(sample),
        frequency=seen / len(sample),
        weight=weight,
        log_joint=log_joint,
        probability=math.exp(log_joint - sample.log_evidence) if known else math.nan,
    )


# The best graphs


@dataclass(frozen=True, eq=False, repr=False)
class TopGraphs:
    """The most probable graphs of a sample, best first; iterating over them gives networkx graphs.

    `probabilities` are posterior probabilities if `exact`, else shares of the weight of the sample; `covered` is their
    sum. `weights` are the same numbers scaled to sum to 1, for programs that average over these graphs: 1 - `covered`
    is what such an average leaves out. `parents` has one row of masks a graph.
    """

    names: tuple[str, ...]
    parents: UnsignedMasks
    probabilities: Floats
    log_joint: Floats
    covered: float
    exact: bool

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        what = "of the posterior" if self.exact else "of the weight of the sample"
        return f"The {len(self):,} most probable graphs, with {self.covered:.4f} {what} together"

    def __iter__(self) -> Iterator[nx.DiGraph[str]]:
        return (graph_of_masks(row, self.names) for row in self.parents)

    @property
    def weights(self) -> Floats:
        """The weight of each graph in an average over these: the probabilities, scaled to sum to 1."""
        return np.asarray(self.probabilities / self.probabilities.sum())

    def graph(self, place: int) -> nx.DiGraph[str]:
        """One of them as a networkx graph; 0 is the best."""
        found = whole_number(place, "place", least=0, most=len(self.parents) - 1)
        return graph_of_masks(self.parents[found], self.names)

    def table(self) -> pd.DataFrame:
        """Rank, probability, sum of the probabilities so far, log joint and edges."""
        import pandas as pd

        return pd.DataFrame(
            {
                "rank": np.arange(1, len(self) + 1),
                "probability": self.probabilities,
                "cumulative": np.cumsum(self.probabilities),
                "log_joint": self.log_joint,
                "edges": [edges_text(integers_of(row), self.names) for row in self.parents],
            }
        )

    def adjacency(self) -> NDArray[np.bool_]:
        """Array (graphs, parents, children): whether each edge is there."""
        memory.require(
            len(self) * len(self.names) ** 2,
            f"A matrix for each of {len(self):,} graphs of {len(self.names):,} variables",
            "Ask top_graphs for fewer.",
        )
        return matrices_of_masks(self.parents)

    def edge_table(self) -> pd.DataFrame:
        """One row an edge of a graph: graph (its rank), weight, from, to; a graph without edges has one row of gaps."""
        import pandas as pd

        weights = self.weights.tolist()
        rows: list[tuple[int, float, str | None, str | None]] = []
        for place, row in enumerate(self.parents):
            edges = [(parent, child) for child, mask in enumerate(integers_of(row)) for parent in members_of(mask)]
            rows += [
                (place + 1, weights[place], self.names[parent], self.names[child]) for parent, child in sorted(edges)
            ]
            if not edges:
                rows.append((place + 1, weights[place], None, None))
        return pd.DataFrame(rows, columns=["graph", "weight", "from", "to"])

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.table())


def top_graphs(source: GraphSource, count: int | None = 10, *, coverage: float | None = None) -> TopGraphs:
    """The `count` most probable of the graphs that were drawn (fewer where there are not so many).

    They come from a sample, or from a model's own one; `model.best(count)` finds the best of all graphs. A `count` of
    None stands for all of them. With `coverage`, such as 0.99, no more graphs are given than it takes to hold this
    share of the posterior (of the weight of the sample where the probabilities of graphs are not known). A sample may
    hold less: `covered` says how much there is.

    >>> from dagpost import DagPosterior, datasets
    >>> sample = DagPosterior().fit(datasets.load("coronary")).sample(1000, seed=1)
    >>> top_graphs(sample, 3)
    The 3 most probable graphs, with 0.0760 of the posterior together
    >>> half = top_graphs(sample, None, coverage=0.5)
    >>> half
    The 52 most probable graphs, with 0.5010 of the posterior together
    """
    if count is not None:
        whole_number(count, "count", optional=True)
    if coverage is not None:
        allowed = "a number above 0 and at most 1, or None"
        number(coverage, "coverage", above=0.0, most=1.0, allowed=allowed)
    sample = sample_of(source)
    distinct, probabilities, exact = distinct_graphs(sample)
    # Of hundreds of columns no graph is drawn twice: then the one that fits best comes first.
    best = np.lexsort((-sample.log_joint[distinct.rows], -probabilities))[:count]
    if coverage is not None:
        best = best[: 1 + int(np.searchsorted(np.cumsum(probabilities[best]), coverage * (1.0 - _ROUNDING)))]
    rows = distinct.rows[best]
    return TopGraphs(
        names=sample.names,
        parents=sample.parents[rows],
        probabilities=probabilities[best],
        log_joint=sample.log_joint[rows],
        covered=min(float(probabilities[best].sum()), 1.0),
        exact=exact,
    )


def distinct_graphs(sample: DagSample) -> tuple[DistinctGraphs, Floats, bool]:
    """The distinct graphs, the probability of each, and whether that is exact or its share of the weight."""
    distinct = sample.distinct
    if sample.target != STRUCTURE or math.isnan(sample.log_evidence):
        return distinct, distinct.weights, False
    return distinct, np.exp(sample.log_joint[distinct.rows] - sample.log_evidence), True
