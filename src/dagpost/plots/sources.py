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
from dagpost._tools.setting_text import given_columns
from dagpost.errors import InputError
from dagpost.posterior.condition_words import given_provenance, given_words
from dagpost.posterior.directions import Directions, directions_of_sample, not_computed, quick_directions
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.probabilities import known_paths
from dagpost.posterior.sample import DagSample
from dagpost.scores import class_of

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.model import DagPosterior

    Source: TypeAlias = DagPosterior | DagSample | pd.DataFrame

_SHARE = "share of replicates"
_DRAW_FIRST = "they need a sample of graphs; call own_sample() on the model first."
_ONLY_A_TABLE = (
    "Directions are not computed: edge probabilities alone do not say which directions the data compel; a model or a "
    "sample would."
)
_AMONG = "Among the most probable graphs only"


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Names, the probability of a relation for every pair (0 on the diagonal), and what these numbers are.

    `sentence` says it in full, `measure` in a word or two, for an axis: shares of replicates are not probabilities.
    `caveat` is what has to be known of numbers that hang on the direction of an edge.
    """

    names: tuple[str, ...]
    matrix: Floats
    sentence: str
    measure: str
    caveat: str = ""

    @property
    def share(self) -> bool:
        """Whether the numbers are shares of replicates."""
        return self.measure == _SHARE

    @property
    def told(self) -> str:
        """The sentence and the caveat, for a picture of single directions."""
        return f"{self.sentence} {self.caveat}".rstrip()


def probabilities_of(source: Any, relation: str = "->") -> Probabilities:
    """The probabilities of a relation in a model, a sample or a table.

    >>> import pandas as pd
    >>> probabilities_of(pd.DataFrame([[0.0, 0.75], [0.25, 0.0]], index=["A", "B"], columns=["A", "B"])).sentence
    'Probabilities as given.'
    """
    if callable(getattr(source, "probability_matrix", None)):
        frame = source.probability_matrix(relation)
        names, matrix = _checked(frame)
        target = source.target_ if hasattr(source, "fitted_") else source.target
        measure, caveat = ("posterior probability", "") if target.posterior else (_SHARE, target.directions)
        return Probabilities(names, matrix, _sentence(source, relation), measure, caveat)
    if not (hasattr(source, "columns") and hasattr(source, "index")):
        raise InputError(
            "A picture is drawn from a fitted DagPosterior, a DagSample or a table (DataFrame) of probabilities with "
            f"parents in the rows. Got {type(source).__name__} instead."
        )
    names, matrix = _checked(source)
    return Probabilities(names, matrix, "Probabilities as given.", "probability")


def averaged_words(fitted: Fitted) -> str:
    """What edges are that chains over completed tables found: averages, and how well they are known."""
    results, tables = fitted.results, class_of(fitted.score).tables
    error = 0.0 if results.edge_errors is None else float(results.edge_errors.max())
    return f"Averaged over {results.tables:,} {tables}, with standard errors of at most {error:.4f}"


def directions_at_hand(source: Any, shown: Probabilities) -> tuple[Directions, str]:
    """What is known of directions in a model, a sample or a table; where they are not computed, why, and what would.

    A picture does not wait for a sample that takes longer than the fit.
    """
    if hasattr(source, "fitted_"):
        fitted = source.fitted_
        found = quick_directions(fitted)
        if not found.computed:
            return found, f"Directions are not computed yet: {_DRAW_FIRST}"
        drawn = f"Directions from {len(fitted.drawn):,} graphs." if fitted.results.exact and fitted.drawn else ""
        return found, f"{drawn} {found.note}".strip()
    if isinstance(source, DagSample):
        found = directions_of_sample(source)
        return found, found.note
    # An unknown probability is not guessed: a pair is joined at least as often as the direction that is known.
    return not_computed(shown.names, np.nan_to_num(shown.matrix, nan=0.0)), _ONLY_A_TABLE


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


def _sentence(source: Any, relation: str) -> str:
    if not hasattr(source, "fitted_"):
        return _of_sample(source)
    fitted = source.fitted_
    words = fitted.target.words
    under = given_words(given_provenance(fitted.condition))
    words = "; ".join(filter(None, (words, given_columns(fitted.exogenous), under)))
    if _is_exact(relation, fitted):
        return f"Exact ({words})."
    if fitted.results.tables and relation in ("->", "--", "~>"):
        trust = "to be trusted" if fitted.own_sample().diagnostics().trusted else "not to be trusted yet"
        return f"{averaged_words(fitted)}, {trust} ({words})."
    if fitted.drawn is not None:
        return _of_sample(fitted.drawn)
    # A model from a file may have no sample yet, and drawing one takes its time.
    if not fitted.target.posterior:
        return f"{words[:1].upper()}{words[1:]}."
    how = _AMONG if fitted.method.draws == "listed" else f"Estimated by {fitted.method.name}"
    return f"{how} ({words})."


def _is_exact(relation: str, fitted: Fitted) -> bool:
    if relation in ("->", "--"):
        return fitted.results.exact
    paths = known_paths(fitted) if relation == "~>" and not fitted.completes else None
    return paths is not None and not np.isnan(paths).any()


def _of_sample(sample: DagSample) -> str:
    """How many graphs, and by which method; of chains also whether to trust them. Not everything is an estimate."""
    count, given = f"{len(sample):,} graph{'' if len(sample) == 1 else 's'}", given_columns(sample.exogenous)
    words = "; ".join(filter(None, (sample.target.words, given, given_words(sample.provenance))))
    if not sample.target.posterior:
        replicates = f"{len(sample):,} {sample.method} replicate{'' if len(sample) == 1 else 's'}"
        return f"Share of {replicates}, not a posterior probability{given and f'; {given}'}."
    if sample.estimator == "given weights":
        return f"Weighted shares of {count} that were picked ({words})."
    if sample.listed:
        # A slice of a list does not know whether it begins with the best one.
        covered = f", {percent(sample.covered)} of the posterior" if math.isfinite(sample.covered) else ""
        return f"Among {len(sample):,} of the most probable graphs only{covered} ({words})."
    trust = ""
    if sample.from_chains:
        trust = f", {'to be trusted' if sample.diagnostics().trusted else 'not to be trusted yet'}"
    return f"Estimated from {count} by {sample.method}{trust} ({words})."
