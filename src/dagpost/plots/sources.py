"""What a picture is drawn from: a fitted model, a sample of graphs, or a table of probabilities, read alike.

Each comes with one sentence that says what the numbers are: exact or estimated, from how many graphs, and what is
counted. An entry that is not known (nan) stays so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError
from dagpost.posterior.estimate import MODULARITY_WORDS

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample

    Source: TypeAlias = DagPosterior | DagSample | pd.DataFrame

#: What the numbers of a bootstrap are.
SHARE = "share of replicates"
#: What a greedy search does where the data leave directions open; its replicates agree on them for no other reason.
PICKED = "Directions that the data cannot tell are picked by the search, always the same way."
_AMONG = "Among the most probable graphs only"


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Names, the probability of a relation for every pair (0 on the diagonal), and what these numbers are.

    `sentence` says it in full, `measure` in a word or two, for an axis: shares of a bootstrap are not probabilities.
    """

    names: tuple[str, ...]
    matrix: Floats
    sentence: str
    measure: str


def probabilities_of(source: Any, relation: str = "->") -> Probabilities:
    """The probabilities of a relation in a model, a sample or a table.

    >>> import pandas as pd
    >>> probabilities_of(pd.DataFrame([[0.0, 0.75], [0.25, 0.0]], index=["A", "B"], columns=["A", "B"])).sentence
    'Probabilities as given.'
    """
    if callable(getattr(source, "probability_matrix", None)):
        frame = source.probability_matrix(relation)
        names, matrix = _checked(frame)
        return Probabilities(names, matrix, _sentence(source, relation), _measure(source))
    if not (hasattr(source, "columns") and hasattr(source, "index")):
        raise InputError(
            "A picture is drawn from a fitted DagPosterior, a DagSample or a table (DataFrame) of probabilities with "
            f"parents in the rows. Got {type(source).__name__} instead."
        )
    names, matrix = _checked(source)
    return Probabilities(names, matrix, "Probabilities as given.", "probability")


def interval_words(confidence: float) -> str:
    """What an interval of this confidence is called.

    >>> interval_words(0.95), interval_words(1.0)
    ('95% interval', 'certain bound')
    """
    return "certain bound" if confidence >= 1.0 else f"{100 * confidence:.6g}% interval"


def percent(share: float) -> str:
    """A share of the posterior; one that only looks like none or all says so.

    >>> percent(0.25), percent(0.00001), percent(0.99999)
    ('25.0%', 'under 0.1%', 'over 99.9%')
    """
    if share >= 0.9995:
        return "over 99.9%"
    return "under 0.1%" if 0.0 < share < 0.0005 else f"{100.0 * share:.1f}%"


def _checked(frame: pd.DataFrame) -> tuple[tuple[str, ...], Floats]:
    from dagpost.posterior.summaries.edges import check_probabilities

    if not frame.shape[0]:
        raise InputError("A table of probabilities has at least one variable. Got an empty one.")
    try:
        unknown = np.isnan(np.array(frame, dtype=np.float64))
    except (TypeError, ValueError) as wrong:
        raise InputError(f"A table of probabilities must hold numbers: {wrong}.") from wrong
    names, matrix = check_probabilities(frame.astype(np.float64).fillna(0.0))
    matrix[unknown] = np.nan
    np.fill_diagonal(matrix, 0.0)
    return names, matrix


def _measure(source: Any) -> str:
    target = source.target_ if hasattr(source, "names_") else source.modularity
    return SHARE if target == "bootstrap" else "posterior probability"


def _sentence(source: Any, relation: str) -> str:
    if not hasattr(source, "names_"):
        return _of_sample(source)
    words = MODULARITY_WORDS[source.target_]
    if _is_exact(source, relation):
        return f"Exact ({words})."
    if source._drawn is not None:
        return _of_sample(source._drawn)
    # A model from a file may have no sample yet, and drawing one takes its time.
    if source.target_ == "bootstrap":
        return f"{words.capitalize()}. {PICKED}"
    return f"{_AMONG if source.method_ == 'kbest' else f'Estimated by {source.method_}'} ({words})."


def _of_sample(sample: Any) -> str:
    """How many graphs, and by which method; of chains also whether to trust them. Not everything is an estimate."""
    count, words = f"{len(sample):,} graph{'' if len(sample) == 1 else 's'}", MODULARITY_WORDS[sample.modularity]
    if sample.modularity == "bootstrap":
        replicates = f"{len(sample):,} bootstrap replicate{'' if len(sample) == 1 else 's'}"
        return f"Share of {replicates}, not a posterior probability. {PICKED}"
    if sample.estimator == "given weights":
        return f"Weighted shares of {count} that were picked ({words})."
    if sample.method == "kbest":
        # A slice of a list does not know whether it begins with the best one.
        covered = f", {percent(sample.covered)} of the posterior" if math.isfinite(sample.covered) else ""
        return f"Among {len(sample):,} of the most probable graphs only{covered} ({words})."
    trust = ""
    if sample._from_chains:
        trust = f", {'to be trusted' if sample.diagnostics().trusted else 'not to be trusted yet'}"
    return f"Estimated from {count} by {sample.method}{trust} ({words})."


def _is_exact(model: Any, relation: str) -> bool:
    from dagpost.posterior.answers import exact_paths
    from dagpost.posterior.workspace import ExactWorkspace

    if relation in ("->", "--"):
        return bool(model.exact_)
    known = model._results is not None and isinstance(model._tables, ExactWorkspace) and relation == "~>"
    return known and exact_paths(model._tables, model._results) is not None
