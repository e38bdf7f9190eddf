"""How far is an answer from the exact posterior? Distances of edges, paths, families and classes, in one call.

- *Edges and paths* (pair_distances.py): absolute differences over all ordered pairs, summed as He, Tian & Wu (2016) do,
  their mean and maximum; calibration and divergence of the edges; what they are worth in independent draws.
- *Families and classes* (variations.py): total variation between distributions over parent sets and over classes.

Time: 100,000 graphs of 20 columns, all different, take 0.5 s; an edge matrix 2 ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import refusal
from dagpost.features import weighted_matrix
from dagpost.posterior.distinct import distinct_graphs_in
from dagpost.reference.answer import REFUSE, Answer, answer_of
from dagpost.reference.case import Case
from dagpost.reference.cases import load
from dagpost.reference.distances import Distances
from dagpost.reference.pair_distances import calibration, divergence, draws_worth, pair_distance
from dagpost.reference.truth import Truth
from dagpost.reference.variations import class_distance, family_distance

if TYPE_CHECKING:
    import pandas as pd


def score(answer: Any, case: Case | Truth | str, *, cyclic: str = REFUSE) -> Distances:
    """How far weighted graphs or edge probabilities are from the exact posterior of a case.

    Parameters
    ----------
    answer
        One of: a DataFrame of edge probabilities with parents in the rows and children in the columns, matched by name;
        such a matrix as an array, in the order of `case.names`; a DataFrame with the columns `from`, `to` and
        `probability` (or `strength` and `direction`), where pairs without a row have probability 0; a `DagSample`; what
        `top_graphs` gives; a fitted `DagPosterior`; `(graphs, weights)`, with graphs as an array of 0 and 1 of shape
        (graphs, columns, columns), parents in the rows, or as a list of such matrices, of networkx DiGraphs or of lists
        of pairs (parent, child), and weights of any scale (None: all alike); what `read_answer` returns.
    case
        A case, the name of one, or a `Truth`.
    cyclic
        What becomes of graphs with directed cycles: "refuse" makes them an error; "drop" leaves them out and counts
        them in the result.

    >>> from dagpost import reference
    >>> case = reference.load("coronary")
    >>> score(case.truth.edges, case).edges.sad
    0.0
    """
    truth, name = _truth_of(case)
    found = answer_of(answer, truth.names, cyclic=cyclic)
    return distances(found, truth, name)


def distances(answer: Answer, truth: Truth, case: str = "") -> Distances:
    """The distances of an answer that is in order."""
    names = tuple(truth.names)
    exact = _matrix(truth.edges, names)
    edges = pair_distance(exact, answer.edges, names)
    paths, families, classes = answer.paths, None, None
    if answer.parents is not None and answer.weights is not None:
        # Chains stay where they are for long, so that there are fewer graphs to look at.
        distinct = distinct_graphs_in(answer.parents, answer.weights)
        graphs, weights = answer.parents[distinct.rows], distinct.weights
        paths = np.clip(weighted_matrix("~>", graphs, weights), 0.0, 1.0) if paths is None else paths
        families = family_distance(truth.families, graphs, weights, names)
        # Where no class has any probability worth mention, none is listed, and nothing can be said.
        classes = class_distance(truth.classes, graphs, weights, names) if len(truth.classes) else None
    return Distances(
        case=case,
        columns=len(names),
        graphs=None if answer.parents is None else len(answer.parents),
        edges=edges,
        paths=None if paths is None else pair_distance(_matrix(truth.paths, names), paths, names),
        families=families,
        classes=classes,
        calibration=calibration(exact, answer.edges),
        divergence=divergence(exact, answer.edges, names),
        worth=draws_worth(exact, edges.sad),
        dropped=answer.dropped,
        dropped_weight=answer.dropped_weight,
    )


def _truth_of(case: Any) -> tuple[Truth, str]:
    if isinstance(case, str):
        case = load(case)
    if isinstance(case, Case):
        return case.truth, case.name
    if isinstance(case, Truth):
        return case, ""
    raise refusal(case, "case", "score", "a Case, the name of one, or a Truth")


def columns_of(case: Case | Truth | str) -> tuple[str, ...]:
    """The names of the columns of a case, in the order of all matrices."""
    return tuple(_truth_of(case)[0].names)


def _matrix(table: pd.DataFrame, names: tuple[str, ...]) -> Floats:
    return np.array(table.loc[list(names), list(names)], dtype=np.float64)
