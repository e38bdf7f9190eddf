"""How often is each edge of a sample compelled, and in which draws?

One pass over the distinct graphs, some at a time (families/essential.py says what is compelled): nothing but sums, and
one flag a graph for each of the pairs that are asked about, is kept of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost.families.masks import edges_of_pairs
from dagpost.features import weighted_matrix

if TYPE_CHECKING:
    from dagpost.posterior.knowledge import Knowledge
    from dagpost.posterior.sample import DagSample


class CompelledShares(NamedTuple):
    """Weights of the graphs in which an edge is compelled by the data, and together with the rules, for all pairs.

    For each pair (parent, child) that was asked about, `by_data_in` says of every distinct graph whether the data
    compel it there, `present_in` whether it is there at all.
    """

    by_data: Floats
    with_rules: Floats
    by_data_in: Flags
    present_in: Flags


def compelled_shares(
    sample: DagSample, known: Knowledge, pairs: Sequence[tuple[int, int]] = (), *, present: bool = False
) -> CompelledShares:
    """What is compelled in the graphs of a sample; `present`: whether it matters in which graphs an edge is at all."""
    nodes, distinct = len(sample.names), sample.distinct
    by_data, with_rules = np.zeros((nodes, nodes)), np.zeros((nodes, nodes))
    by_data_in = np.empty((len(pairs), len(distinct)), dtype=np.bool_)
    present_in = np.empty((len(pairs) if present else 0, len(distinct)), dtype=np.bool_)
    for part, graphs in distinct.some_at_a_time(sample.parents):
        weights, compelled = distinct.weights[part], known.compelled(graphs)
        alone = weighted_matrix("->", compelled.by_data, weights)
        by_data += alone
        # Without rules they are the same.
        same = compelled.with_rules is compelled.by_data
        with_rules += alone if same else weighted_matrix("->", compelled.with_rules, weights)
        by_data_in[:, part] = edges_of_pairs(compelled.by_data, pairs)
        if present:
            present_in[:, part] = edges_of_pairs(graphs, pairs)
    return CompelledShares(by_data, with_rules, by_data_in, present_in)
