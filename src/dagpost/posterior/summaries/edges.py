"""What a matrix of edge probabilities says: which edges to draw, how many of them are false, which way they point.

Everything here follows from the marginal probabilities of the edges alone, so it is exact where they are: an expected
number of edges is a sum of probabilities, and since a graph has at most one of the two edges between a pair, the
probability that two variables are adjacent is the sum of both directions. Cost: n^2 numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, labelled
from dagpost._tools.checks import number
from dagpost.errors import InputError
from dagpost.posterior.sources import edge_table_of
from dagpost.posterior.summaries.display import html_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from dagpost.posterior.sources import EdgeSource

#: Probabilities that were added up may be off by this much.
_ROUNDING = 1e-9


def check_probabilities(source: EdgeSource) -> tuple[tuple[str, ...], Floats]:
    """The names and the numbers of a square table of probabilities, parents in the rows, or of a model or sample."""
    edges = edge_table_of(source)
    names = tuple(map(str, edges.index))
    if names != tuple(map(str, edges.columns)) or len(set(names)) < len(names):
        raise InputError(
            "The rows and the columns of a table of probabilities must have the same names in the same order, each "
            f"once. Got {edges.shape[0]} rows and {edges.shape[1]} columns whose names differ or repeat."
        )
    matrix = np.array(edges, dtype=np.float64)
    # Not the other way round: this is true of nan too.
    wrong = ~((matrix >= -_ROUNDING) & (matrix <= 1.0 + _ROUNDING))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"A probability must be between 0 and 1. Got {matrix[row, column]} for {names[row]!r} -> {names[column]!r}."
        )
    np.fill_diagonal(matrix, 0.0)
    return names, np.clip(matrix, 0.0, 1.0)


def probability_graph(source: EdgeSource, threshold: float = 0.0) -> nx.DiGraph[str]:
    """The edges that are more probable than `threshold`, each with its `probability`, between all the variables.

    `source` is a fitted model, a sample, or a table such as `edge_probabilities_`.

    >>> import pandas as pd
    >>> edges = pd.DataFrame([[0.0, 0.75], [0.25, 0.0]], index=["A", "B"], columns=["A", "B"])
    >>> probability_graph(edges, 0.5).edges(data=True)
    OutEdgeDataView([('A', 'B', {'probability': 0.75})])
    """
    import networkx as nx

    names, matrix = check_probabilities(source)
    check_threshold(threshold)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    for row, column in np.argwhere(matrix > threshold).tolist():
        graph.add_edge(names[row], names[column], probability=float(matrix[row, column]))
    return graph


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdGraph:
    """The edges above a threshold, and how many mistakes to expect in drawing just these.

    Under the posterior, `expected_true` of the drawn edges are there, `expected_false` are not, and
    `expected_missed` edges of the graph are not drawn. An edge drawn the wrong way counts as one false and one missed.
    `graph` need not be a DAG: edges that are each probable may form a cycle (`cyclic`), and below a threshold of 0.5
    both directions of one edge may be drawn.
    """

    graph: nx.DiGraph[str]
    threshold: float
    expected_true: float
    expected_false: float
    expected_missed: float
    cyclic: bool

    def __repr__(self) -> str:
        number = self.graph.number_of_edges()
        cycle = "; they form a cycle, so this is no DAG" if self.cyclic else ""
        return (
            f"{number} edge{'' if number == 1 else 's'} above {self.threshold:g}, of which {self.expected_false:.2f} "
            f"are expected to be false and {self.expected_missed:.2f} more to be missed{cycle}"
        )

    def table(self) -> pd.DataFrame:
        """The edges, most probable first."""
        import pandas as pd

        rows = [(parent, child, data["probability"]) for parent, child, data in self.graph.edges(data=True)]
        frame = pd.DataFrame(rows, columns=["from", "to", "probability"])
        return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.table())


def threshold_graph(source: EdgeSource, threshold: float = 0.5) -> ThresholdGraph:
    """The graph of all edges more probable than `threshold`, with the expected number of false and missed edges.

    `source` is a fitted model, a sample, or a table such as `edge_probabilities_`. A threshold of t makes the fewest
    expected mistakes where a false edge counts t / (1 - t) times a missed one.

    >>> import pandas as pd
    >>> edges = pd.DataFrame([[0.0, 0.75], [0.125, 0.0]], index=["A", "B"], columns=["A", "B"])
    >>> threshold_graph(edges)
    1 edge above 0.5, of which 0.25 are expected to be false and 0.12 more to be missed
    """
    import networkx as nx

    edges = edge_table_of(source)
    graph = probability_graph(edges, threshold)
    _, matrix = check_probabilities(edges)
    drawn = matrix > threshold
    return ThresholdGraph(
        graph=graph,
        threshold=float(threshold),
        expected_true=float(matrix[drawn].sum()),
        expected_false=float((1.0 - matrix[drawn]).sum()),
        expected_missed=float(matrix[~drawn].sum()),
        cyclic=not nx.is_directed_acyclic_graph(graph),
    )


def adjacency_table(source: EdgeSource) -> pd.DataFrame:
    """Probability that two variables are joined by an edge, whichever way it points.

    `source` is a fitted model, a sample, or a table such as `edge_probabilities_`.

    >>> import pandas as pd
    >>> edges = pd.DataFrame([[0.0, 0.75], [0.125, 0.0]], index=["A", "B"], columns=["A", "B"])
    >>> float(adjacency_table(edges).loc["B", "A"])
    0.875
    """
    names, matrix = check_probabilities(source)
    return labelled(np.minimum(matrix + matrix.T, 1.0), names)


def orientation_table(source: EdgeSource) -> pd.DataFrame:
    """Probability that an edge points from row to column, given that the two are joined; nan where they never are.

    `source` is a fitted model, a sample, or a table such as `edge_probabilities_`.

    >>> import pandas as pd
    >>> edges = pd.DataFrame([[0.0, 0.75], [0.25, 0.0]], index=["A", "B"], columns=["A", "B"])
    >>> float(orientation_table(edges).loc["A", "B"])
    0.75
    """
    names, matrix = check_probabilities(source)
    joined = matrix + matrix.T
    share = np.full_like(matrix, np.nan)
    np.divide(matrix, joined, out=share, where=joined > 0.0)
    return labelled(share, names)


def check_threshold(threshold: object) -> None:
    """Refuse what no probability can be compared with."""
    number(threshold, "threshold", least=0.0, below=1.0, allowed="a float of at least 0 and below 1")
