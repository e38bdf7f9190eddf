"""Computes the exact posterior of a case: edges, paths, families, evidence and equivalence classes.

Edges, paths, families and the evidence come from sums over all graphs (exact/structure.py), 3^n terms: seconds at 15
columns, minutes at 22. Rounding may move a probability by `error_bound`, which the sums report.

Up to five columns all graphs are listed, and with them all classes. Beyond, classes are found in independent draws from
the exact posterior, and each gets its exact probability from the family weights (classes.py). Those that come up less
than ten times in a million draws are passed over. One of probability 0.00005 does so with a chance of 1e-12, and there
are at most 20,000 that are as probable: the chance that one of these is missing from the list is below 3e-8. Where
draws are dear, beyond 18 columns, and where 100,000 of them have shown no class ten times, there are no more, and the
bound is ten times as high.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from tools.classes import LogWeight, class_weight, pattern_text

from dagpost._tools.arrays import labelled
from dagpost.errors import InputError
from dagpost.families.essential import essential_graphs
from dagpost.families.masks import distinct_rows, members_of
from dagpost.methods.exact_layers import ExactLayers
from dagpost.posterior.all_graphs import all_graphs
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.probabilities import families_listed, known_paths
from dagpost.reference.truth import Truth
from dagpost.scores import LocalScores

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.fitted import Fitted
    from dagpost.reference.case import Case

#: Families are listed until no more than this probability of a node is left.
LEFT_OUT = 1e-6
#: Beyond five columns, classes that are expected in fewer draws than this are not listed ...
LEAST_EXPECTED = 50
#: ... and those that are seen in fewer than this are not looked at: they are less probable.
LEAST_SEEN = 10
MOST_CLASSES = 1_000
MANY_DRAWS, FEW_DRAWS, MANY_COLUMNS = 1_000_000, 100_000, 18


def exact_truth(case: Case) -> Truth:
    """The exact posterior of a case, computed anew."""
    model = case.model(method=ExactLayers()).fit(case.table)
    fitted = model.fitted_
    found, paths = exact_sums(fitted), known_paths(fitted)
    if found is None or paths is None:
        raise InputError(f"The case {case.name!r} is too large for exact edges and paths. Use fewer columns.")
    names, sums = fitted.names, found[1]
    edges = np.clip(fitted.results.edges, 0.0, 1.0)
    classes, bound = _classes(case, fitted)
    return Truth(
        names=names,
        log_evidence=sums.log_evidence,
        error_bound=sums.error_bound,
        edges=labelled(edges, names, "from", "to"),
        paths=labelled(np.clip(paths, 0.0, 1.0), names, "from", "to"),
        families=_listed_families(fitted),
        classes=classes,
        classes_bound=bound,
    )


def _listed_families(fitted: Fitted) -> pd.DataFrame:
    """The most probable families of every node."""
    import pandas as pd

    rows = []
    for node in fitted.names:
        own = families_listed(fitted, node) or []
        probabilities = np.array([probability for _, probability in own]).clip(min=0.0)
        # What is left after each: summed from the smallest, since small differences of sums near 1 are lost.
        after = np.append(np.cumsum(probabilities[::-1])[::-1][1:], 0.0)
        count = int(np.argmax(after <= LEFT_OUT)) + 1
        for (parents, _), probability in zip(own[:count], probabilities.tolist(), strict=False):
            rows.append((node, ";".join(fitted.names[parent] for parent in parents), probability))
    return pd.DataFrame(rows, columns=["node", "parents", "probability"])


def _classes(case: Case, fitted: Fitted) -> tuple[pd.DataFrame, float]:
    """The classes that are listed, and the probability from which on all are."""
    every = all_graphs(fitted)
    if every is not None:
        patterns = essential_graphs(every.parents)
        first, member = distinct_rows(patterns)
        count, mass = np.bincount(member).tolist(), np.bincount(member, weights=every.weights).tolist()
        return _class_table(patterns[first].tolist(), count, mass, fitted.names), 0.0
    draws, seen = FEW_DRAWS, _seen(fitted, FEW_DRAWS)
    if seen and len(fitted.names) <= MANY_COLUMNS:
        draws, seen = MANY_DRAWS, _seen(fitted, MANY_DRAWS)
    log_weight = weights_of(case.local_scores())
    found = [class_weight(pattern, log_weight) for pattern in seen]
    log_evidence = fitted.results.log_evidence
    probabilities = [math.exp(own.log_weight - log_evidence) for own in found]
    table = _class_table(seen, [own.graphs for own in found], probabilities, fitted.names)
    bound = LEAST_EXPECTED / draws
    table = table[table["probability"] >= bound]
    if len(table) > MOST_CLASSES:
        table = table.iloc[:MOST_CLASSES]
        bound = float(table["probability"].iloc[-1])
    return table, bound


def _seen(fitted: Fitted, draws: int) -> list[list[int]]:
    """The classes, as essential graphs, that come up again and again in draws from the posterior."""
    sample = fitted.draw(draws, 0)
    first, member = distinct_rows(sample.parents)
    times = np.bincount(member)
    patterns = essential_graphs(sample.parents[first])
    first, member = distinct_rows(patterns)
    seen: list[list[int]] = patterns[first[np.bincount(member, weights=times) >= LEAST_SEEN]].tolist()
    return seen


def _class_table(
    patterns: list[list[int]], graphs: list[int], probabilities: list[float], names: tuple[str, ...]
) -> pd.DataFrame:
    import pandas as pd

    texts = [pattern_text(pattern, names) for pattern in patterns]
    rows = sorted(zip(texts, graphs, probabilities, strict=True), key=lambda row: (-row[2], row[0]))
    table = pd.DataFrame(rows, columns=["class", "graphs", "probability"])
    # There may be none.
    return table.astype({"class": str, "graphs": np.int64, "probability": np.float64})


def weights_of(scores: LocalScores) -> LogWeight:
    """The log weight of every family by node and mask, from local scores under the uniform prior."""

    @cache
    def log_weight(node: int, parents: int) -> float:
        if parents.bit_count() > scores.max_parents:
            return -math.inf
        return scores.score(node, list(members_of(parents)))

    return log_weight
