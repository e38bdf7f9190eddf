"""The distinct graphs of a sample: where each stands, what it weighs, which one every draw is, and what it compels.

Nothing of the graphs themselves is copied: 100,000 graphs of hundreds of columns take gigabytes, and most questions
about distinct graphs need a few of them, or some at a time. How often each edge is compelled takes one pass over them
(families/essential.py says what is compelled): nothing but sums, and one flag a graph for each of the pairs that are
asked about, is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.progress import reporter_of_terminal
from dagpost.families.masks import distinct_rows, edges_of_pairs
from dagpost.features import weighted_matrix

if TYPE_CHECKING:
    from dagpost.posterior.knowledge import Knowledge
    from dagpost.posterior.sample import DagSample


#: About as many words of graphs are copied together: 64 MB.
_WORDS_AT_A_TIME = 1 << 23


@dataclass(frozen=True, eq=False)
class DistinctGraphs:
    """Distinct graphs, those of most weight first: where each was first drawn, and the weight of all its repeats.

    `member` says for every draw which of the distinct graphs it is.
    """

    rows: Integers
    weights: Floats
    member: Integers

    def __len__(self) -> int:
        return len(self.rows)

    def some_at_a_time(self, parents: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The graphs themselves, a part at a time: which ones, and copies of their rows of `parents`."""
        step = max(1, _WORDS_AT_A_TIME // max(1, int(np.prod(parents.shape[1:]))))
        with reporter_of_terminal().stage("distinct graphs", len(self)) as stage:
            for start in range(0, len(self), step):
                part = slice(start, min(start + step, len(self)))
                yield part, parents[self.rows[part]]
                stage.advance(part.stop - part.start)


def distinct_graphs_in(parents: NDArray[Any], weights: Floats) -> DistinctGraphs:
    """The distinct graphs of a sample.

    >>> twice = np.array([[0, 1], [2, 0], [2, 0]], dtype=np.uint8)
    >>> found = distinct_graphs_in(twice, np.array([0.5, 0.375, 0.125]))
    >>> found.rows.tolist(), found.weights.tolist(), found.member.tolist()
    ([0, 1], [0.5, 0.5], [0, 1, 1])
    """
    first, member = distinct_rows(parents)
    total = np.bincount(member, weights=weights, minlength=len(first)).astype(np.float64)
    # Ties go to the graph that was drawn first.
    falling = np.lexsort((first, -total))
    place = np.empty(len(first), dtype=np.int64)
    place[falling] = np.arange(len(first))
    return DistinctGraphs(first[falling], total[falling], place[member])


class CompelledShares(NamedTuple):
    """Weights of the graphs in which an edge is compelled: by the data, with rules, and with the model, for all pairs.

    For each pair (parent, child) that was asked about, `by_data_in` says of every distinct graph whether the data
    compel it there, `present_in` whether it is there at all.
    """

    by_data: Floats
    with_rules: Floats
    with_model: Floats
    by_data_in: Flags
    present_in: Flags


def compelled_shares(
    sample: DagSample, known: Knowledge, pairs: Sequence[tuple[int, int]] = (), *, present: bool = False
) -> CompelledShares:
    """What is compelled in the graphs of a sample; `present`: whether it matters in which graphs an edge is at all."""
    nodes, distinct = len(sample.names), sample.distinct
    by_data, with_rules, with_model = np.zeros((3, nodes, nodes))
    by_data_in = np.empty((len(pairs), len(distinct)), dtype=np.bool_)
    present_in = np.empty((len(pairs) if present else 0, len(distinct)), dtype=np.bool_)
    for part, graphs in distinct.some_at_a_time(sample.parents):
        weights, compelled = distinct.weights[part], known.compelled(graphs)
        alone = ruled = weighted_matrix("->", compelled.by_data, weights)
        by_data += alone
        # Without rules, and where the model has all edges, they are the same.
        if compelled.with_rules is not compelled.by_data:
            ruled = weighted_matrix("->", compelled.with_rules, weights)
        with_rules += ruled
        same = compelled.with_model is compelled.with_rules
        with_model += ruled if same else weighted_matrix("->", compelled.with_model, weights)
        by_data_in[:, part] = edges_of_pairs(compelled.by_data, pairs)
        if present:
            present_in[:, part] = edges_of_pairs(graphs, pairs)
    return CompelledShares(by_data, with_rules, with_model, by_data_in, present_in)


def one_way_at_most(edges: Floats) -> Floats:
    """Probabilities of edges such that both ways of a pair do not exceed 1 together.

    Chains estimate both ways of an edge apart, each given the rest of a graph: together they may exceed 1.
    """
    return edges / np.maximum(edges + edges.T, 1.0)


def compelled_probabilities(
    edges: Floats, frequencies: Floats, found: CompelledShares, known: Knowledge
) -> tuple[Floats, Floats, Floats]:
    """The probabilities that an edge is there and compelled: by the data, with the rules, and with the model.

    `edges` has the probability of each edge; `frequencies` those among the graphs that `found` is about, whose shares
    of compelled ones are taken for shares of that probability.
    """
    seen = frequencies > 0.0
    # An edge that was not drawn although it has a probability: nothing is known but what the rules say.
    ruled = known.settled.astype(np.float64)
    fixed = np.maximum(ruled, known.fixed)
    share_by_data = np.divide(found.by_data, frequencies, out=np.zeros_like(frequencies), where=seen)
    share_ruled = np.clip(np.divide(found.with_rules, frequencies, out=ruled, where=seen), share_by_data, 1.0)
    share_fixed = np.clip(np.divide(found.with_model, frequencies, out=fixed, where=seen), share_ruled, 1.0)
    return edges * np.clip(share_by_data, 0.0, 1.0), edges * share_ruled, edges * share_fixed
