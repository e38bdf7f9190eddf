"""What a sampler says, in the one form that is scored: edge probabilities, and the weighted graphs behind them if any.

`answer_of` takes every form that people have (see `score`). Weights are scaled to sum to 1. Nothing is guessed: names
that do not fit, numbers that are not probabilities and graphs with cycles are refused, and the error names the first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import one_of
from dagpost._tools.schema import is_acyclic
from dagpost._tools.spelling import either, setting
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families.masks import UnsignedMasks
from dagpost.features import weighted_matrix
from dagpost.files.graph_rows import check_columns, weights_in
from dagpost.posterior.all_graphs import all_graphs
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sources import is_model
from dagpost.posterior.summaries.graphs import TopGraphs
from dagpost.reference.edge_forms import (
    Place,
    check_names,
    edges_of_array,
    edges_of_frame,
    graph_number,
    numbers,
    row_number,
)
from dagpost.reference.graph_forms import EdgeTexts, cycle_in, masks_of_graphs, reordered

#: What becomes of graphs with directed cycles.
REFUSE, DROP = "refuse", "drop"


@dataclass(frozen=True, eq=False)
class Answer:
    """Edge probabilities in the order of `names` (rows are parents), and the graphs that they come from, if known.

    `parents` are the graphs as rows of parent masks (bit j of entry i: column j is a parent of column i), `weights`
    what each counts (they sum to 1). `paths` are the probabilities of directed paths, where they are known otherwise
    than from the graphs. `dropped` graphs with cycles were left out, which had `dropped_weight` of all weight.
    """

    names: tuple[str, ...]
    edges: Floats
    paths: Floats | None = None
    parents: UnsignedMasks | None = None
    weights: Floats | None = None
    dropped: int = 0
    dropped_weight: float = 0.0

    def __repr__(self) -> str:
        graphs = "edge probabilities" if self.parents is None else f"{len(self.parents):,} weighted graphs"
        return f"Answer: {graphs} over {len(self.names)} columns"


def answer_of(given: Any, names: Sequence[str], *, cyclic: str = REFUSE) -> Answer:
    """Whatever a person has, as an `Answer` about these columns."""
    one_of(cyclic, "cyclic", (REFUSE, DROP), "score")
    names = tuple(names)
    if isinstance(given, Answer):
        check_names(given.names, names)
        if given.names != names:
            raise InputError("This answer was read for a case with another order of columns. Read it again for this.")
        return given
    if isinstance(given, DagSample | TopGraphs):
        check_names(given.names, names)
        return answer_of_masks(reordered(given.parents, given.names, names), given.weights, names, cyclic)
    if is_model(given):
        return _answer_of_model(given, names)
    if hasattr(given, "to_pandas") and getattr(given, "ndim", 2) == 2:
        given = given.to_pandas()
    if hasattr(given, "columns") and hasattr(given, "index"):
        if "edges" in given.columns:
            table = {str(name): list(given[name]) for name in given.columns}
            return answer_of_texts(table, names, row_number, cyclic=cyclic)
        return Answer(names, edges_of_frame(given, names))
    if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], str):
        masks = masks_of_graphs(given[0], names)
        return answer_of_masks(masks, given[1], names, cyclic)
    if hasattr(given, "__array__") and getattr(given, "ndim", 0) == 2:
        return Answer(names, edges_of_array(np.asarray(given), names))
    if isinstance(given, list) or getattr(given, "ndim", 0) == 3:
        return answer_of_masks(masks_of_graphs(given, names), None, names, cyclic)
    raise InputError(
        "An answer is a table or a square array of edge probabilities (parents in the rows), a table with the columns "
        "'from', 'to' and 'probability', a DagSample, a fitted DagPosterior, or (graphs, weights), where graphs are an "
        "array of 0 and 1 of shape (graphs, columns, columns) or a list of networkx DiGraphs or of lists of pairs. "
        f"Got {shown(given)} instead."
    )


def answer_of_masks(
    parents: UnsignedMasks,
    weights: Any,
    names: tuple[str, ...],
    cyclic: str = REFUSE,
    place: Place = graph_number,
) -> Answer:
    """Graphs with their weights (None: all alike) as an answer; those with cycles are refused or left out."""
    count = len(parents)
    if count == 0:
        raise InputError("There is no graph. Give at least one.")
    shares = _weights(np.ones(count) if weights is None else weights, count, place)
    fine = is_acyclic(parents)
    dropped, dropped_weight = 0, 0.0
    if not fine.all():
        dropped, dropped_weight = int((~fine).sum()), float(shares[~fine].sum())
        first = int(np.argmin(fine))
        which = f"{place(first)}: the graph has a directed cycle, {cycle_in(parents[first], names)}. Of the {count:,} "
        which += f"graphs, {dropped:,} {'has' if dropped == 1 else 'have'} cycles ({dropped_weight:.2%} of the weight)."
        if cyclic == REFUSE:
            raise InputError(
                f"{which} A posterior over DAGs has none of them. Leave them out yourself, or with "
                f"{setting('cyclic', DROP)}, which counts them in the result."
            )
        if not shares[fine].sum() > 0.0:
            raise InputError(f"{which} No graph with any weight is left.")
        parents, shares = parents[fine], shares[fine] / shares[fine].sum()
    edges = np.clip(weighted_matrix("->", parents, shares), 0.0, 1.0)
    return Answer(
        names,
        edges,
        parents=parents,
        weights=shares,
        dropped=dropped,
        dropped_weight=dropped_weight,
    )


def answer_of_texts(table: dict[str, list[Any]], names: Sequence[str], place: Place, *, cyclic: str = REFUSE) -> Answer:
    """A table of graphs: `edges` ("A->B;C->D"), and perhaps `weight` (or `probability`)."""
    check_columns(table)
    import pandas as pd

    texts = ["" if not isinstance(text, Collection) and pd.isna(text) else text for text in table["edges"]]
    wrong = next((at for at, text in enumerate(texts) if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(f"{place(wrong)}: edges are text such as 'A->B;C->D'. Got {shown(texts[wrong])} instead.")
    parents = EdgeTexts(names).masks(texts, place)
    counted = weights_in(table)
    weights = None if counted is None else numbers(counted[1], counted[0], place)
    return answer_of_masks(parents, weights, tuple(names), cyclic, place)


def _answer_of_model(model: Any, names: tuple[str, ...]) -> Answer:
    """A model's own answers: exact edges and paths where it has them, and the graphs that it lists or draws."""
    # Which says so if the model was not fitted.
    sample = model.own_sample()
    check_names(sample.names, names)
    listed = all_graphs(model.fitted_)
    found = answer_of(sample if listed is None else listed, names)
    edges, paths = model.edge_probabilities_, model.probability_matrix("~>")
    in_order = [np.array(table.loc[list(names), list(names)], dtype=np.float64) for table in (edges, paths)]
    return replace(found, edges=in_order[0], paths=in_order[1])


def _weights(weights: Any, count: int, place: Place) -> Floats:
    """Finite numbers of at least 0, one a graph, scaled to sum to 1."""
    try:
        found = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The weights must be numbers, one a graph. Got {shown(weights)} instead.") from None
    if found.shape != (count,):
        raise InputError(
            f"There are {count:,} graphs, and weights of shape {found.shape}. Give one number a graph, in their order."
        )
    wrong = np.flatnonzero(~np.isfinite(found) | (found < 0.0))
    if len(wrong):
        at = int(wrong[0])
        logs = either("numpy.exp(logs - logs.max())", "the exponential of each less the largest")
        raise InputError(
            f"{place(at)}: weights must be finite and at least 0. Got {found[at]} instead. Of logarithms, give {logs}."
        )
    largest = found.max()
    if largest == 0.0:
        raise InputError("All weights are 0. Give at least one graph a weight above 0.")
    # The sum of huge weights would not be finite.
    shares: Floats = found / largest
    shares /= shares.sum()
    return shares
