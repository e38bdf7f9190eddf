"""Which graphs say the same: equivalence classes, as completed partially directed graphs.

Two DAGs allow the same distributions exactly when they have the same adjacencies and the same v-structures (Verma &
Pearl 1990), so data alone cannot tell them apart. The class of a DAG is shown as its completed graph, or essential
graph: an edge is directed where every DAG of the class has it that way, undirected elsewhere.

More can be told apart where columns were set from outside, and the user's rules leave fewer graphs in a class (its
shown graph is then an MPDAG). families/essential.py says how that is computed, and what it costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.checks import different_texts, members, texts, truth, whole_number
from dagpost.families.masks import check_row_of_masks, digests_of, equal_digests, integers_of, members_of
from dagpost.posterior.knowledge import Knowledge, knowledge_from, knowledge_of_sample
from dagpost.posterior.sources import sample_of
from dagpost.posterior.summaries.display import MOST_EDGES, edges_text, html_of
from dagpost.posterior.summaries.given import masks_of_graph
from dagpost.posterior.summaries.graphs import distinct_graphs
from dagpost.priors.constraints import Constraints, Edge, edge_pairs

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from dagpost.posterior.sample import DagSample, UnsignedMasks
    from dagpost.posterior.sources import GraphSource


@dataclass(frozen=True, eq=False, repr=False)
class EquivalenceClasses:
    """The equivalence classes that graphs of a sample belong to, most probable first.

    `probabilities` are their shares of the weight of the sample, `graphs` how many distinct DAGs of each were seen.
    Where the posterior probability of a graph is known, the class has certainly at least `lower`, the mass of its DAGs
    that were seen, and at most `upper`, that and whatever mass was not seen at all; nan elsewhere. `sample` has the
    graphs, and `rows` says where one of each class stands.
    """

    names: tuple[str, ...]
    probabilities: Floats
    lower: Floats
    upper: Floats
    graphs: Integers
    sample: DagSample
    rows: Integers
    knowledge: Knowledge

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def patterns(self) -> UnsignedMasks:
        """All completed graphs, as masks (see `essential_graphs`): as much memory as graphs of the sample take."""
        memory.require(
            3 * len(self) * self.sample.parents[0].nbytes,
            f"The completed graphs of {len(self):,} classes over {len(self.names):,} variables",
            "Use graph(place) or table(count) for the most probable ones.",
        )
        return self.first_patterns(len(self))

    def first_patterns(self, count: int) -> UnsignedMasks:
        """The completed graphs of the most probable classes."""
        found = whole_number(count, "count")
        return self.knowledge.patterns(self.sample.parents[self.rows[:found]])

    def __repr__(self) -> str:
        return (
            f"{len(self):,} equivalence class{'' if len(self) == 1 else 'es'} of {int(self.graphs.sum()):,} distinct "
            f"graphs; the most probable has "
            f"{self.probabilities[0]:.4f}: {edges_text(integers_of(self.first_patterns(1)[0]), self.names, MOST_EDGES)}"
        )

    def graph(self, place: int) -> nx.DiGraph[str]:
        """One completed graph, 0 being the most probable; edges have `directed`, an undirected one goes both ways."""
        found = whole_number(place, "place", least=0, most=len(self) - 1)
        return pattern_graph(self.knowledge.patterns(self.sample.parents[self.rows[[found]]])[0], self.names)

    def table(self, count: int = 10) -> pd.DataFrame:
        """The most probable classes: probability, what is certain, number of graphs seen, and the edges."""
        import pandas as pd

        edges = [split_edges(integers_of(row), self.names) for row in self.first_patterns(count)]
        return pd.DataFrame(
            {
                "rank": np.arange(1, len(edges) + 1),
                "probability": self.probabilities[:count],
                "lower": self.lower[:count],
                "upper": self.upper[:count],
                "graphs": self.graphs[:count],
                "directed": [", ".join(f"{a} -> {b}" for a, b in directed) for directed, _ in edges],
                "undirected": [", ".join(f"{a} -- {b}" for a, b in undirected) for _, undirected in edges],
            }
        )

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.table())


def equivalence_classes(source: GraphSource, *, rules: bool = True) -> EquivalenceClasses:
    """Group the graphs of a sample, or of a model's own one, by equivalence class.

    The rules of the model that drew the sample count: two graphs that obey them are of one class if the data cannot
    tell them apart, and an edge is directed where all graphs of the class that obey the rules have it that way. With
    ``rules=False`` they are ignored: then a class is what the data alone tell, the interventional one where columns
    were set from outside.

    >>> from dagpost import DagPosterior, datasets
    >>> classes = equivalence_classes(DagPosterior().fit(datasets.load("coronary")).best(100))
    >>> len(classes), classes.graphs[:3].tolist()
    (18, [12, 14, 3])
    """
    truth(rules, "rules", "equivalence_classes")
    sample = sample_of(source)
    distinct, probabilities, exact = distinct_graphs(sample)
    known = knowledge_of_sample(sample) if rules else knowledge_of_sample(sample).without_rules()
    # Of graphs by the thousand, each of hundreds of columns, only the digests of the completed graphs are kept.
    digests = [digests_of(known.patterns(graphs)) for _, graphs in distinct.some_at_a_time(sample.parents)]
    first, member = equal_digests(np.concatenate(digests))

    def of_classes(values: Floats) -> Floats:
        return np.bincount(member, weights=values, minlength=len(first)).astype(np.float64)

    shares = of_classes(distinct.weights)
    lower = upper = np.full(len(first), np.nan)
    if exact:
        lower = np.minimum(of_classes(probabilities), 1.0)
        upper = np.minimum(lower + max(1.0 - float(probabilities.sum()), 0.0), 1.0)
        # A share of the sample can miss what is certain by a little.
        shares = np.clip(shares, lower, upper)
    falling = np.lexsort((first, -shares))
    return EquivalenceClasses(
        names=sample.names,
        probabilities=shares[falling],
        lower=lower[falling],
        upper=upper[falling],
        graphs=np.bincount(member, minlength=len(first))[falling].astype(np.int64),
        sample=sample,
        rows=distinct.rows[first[falling]],
        knowledge=known,
    )


def essential_graph(
    graph: nx.DiGraph[str] | Iterable[Edge],
    *,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | Mapping[str, Any] | None = None,
    exogenous: str | Iterable[str] = (),
    targets: Iterable[Iterable[str]] = (),
) -> nx.DiGraph[str]:
    """What data can tell of one graph: its essential graph (CPDAG), or with rules its MPDAG.

    Edges have `directed`; an undirected one, whose direction differs between graphs that say the same, goes both ways.

    Parameters
    ----------
    graph
        A directed acyclic networkx graph, or pairs (parent, child) of names.
    required, forbidden, tiers, exogenous
        Rules, as `DagPosterior` takes them. The graph must obey them.
    targets
        Sets of names that are set from outside together in some rows; an empty set stands for rows in which nothing
        is. Without any, rows are only observed.

    >>> chain = [("Rain", "Wet"), ("Wet", "Slippery")]
    >>> essential_graph(chain).edges["Rain", "Wet"]["directed"]
    False
    >>> essential_graph(chain, required=[("Rain", "Wet")]).edges["Wet", "Slippery"]["directed"]
    True
    >>> essential_graph(chain, targets=[[], ["Slippery"]]).edges["Wet", "Slippery"]["directed"]
    True

    References
    ----------
    Meek (1995), Causal inference and causal explanation with background knowledge. UAI 11. Hauser & Bühlmann (2012),
    Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs.
    Journal of Machine Learning Research 13.
    """
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        # Pairs, or "A -> B", as rules are given: checked in the same way.
        graph = list(edge_pairs("graph", graph))
    nodes = graph.nodes if isinstance(graph, nx.Graph) else (name for edge in graph for name in edge)
    names = tuple(dict.fromkeys(nodes))
    masks = masks_of_graph(graph, names)[None, :]
    constraints = Constraints(required, forbidden, tiers, exogenous)
    constraints.refuse_graph(names, masks[0])
    sets = [texts(own, "targets") for own in members(targets, "targets", allowed="a list of lists of names")]
    return pattern_graph(knowledge_from(names, constraints, sets).patterns(masks)[0], names)


def pattern_graph(pattern: UnsignedMasks, names: Sequence[str]) -> nx.DiGraph[str]:
    """A completed graph as a networkx graph: edges have `directed`, and an undirected one goes both ways.

    >>> pattern_graph(np.array([2, 1], dtype=np.uint8), ["A", "B"]).edges(data="directed")
    OutEdgeDataView([('A', 'B', False), ('B', 'A', False)])
    """
    import networkx as nx

    names = different_texts(names, "names", "pattern_graph")
    check_row_of_masks(pattern, len(names))
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    directed, undirected = split_edges(integers_of(pattern), names)
    graph.add_edges_from(directed, directed=True)
    graph.add_edges_from(undirected, directed=False)
    graph.add_edges_from([(second, first) for first, second in undirected], directed=False)
    return graph


def split_edges(pattern: Sequence[int], names: Sequence[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The directed and the undirected edges of a completed graph, as pairs of names."""
    directed, undirected = [], []
    for child, mask in enumerate(pattern):
        for parent in members_of(mask):
            if not pattern[parent] >> child & 1:
                directed.append((names[parent], names[child]))
            elif parent < child:
                undirected.append((names[parent], names[child]))
    return directed, undirected
