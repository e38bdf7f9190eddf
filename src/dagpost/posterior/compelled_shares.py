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
