"""What each drawn graph contributes to an estimate under the structure-modular posterior, and how far to trust it.

Four ways to weigh `N` independent draws. `p(G)` is the posterior of a graph with each graph counted once, `q(G)` the
probability that one draw is `G`, `pi(G) = 1 - (1 - q(G))^N` the chance that it is drawn at all:

- "counting": every draw the same. For draws from the posterior itself (`q = p`).
- "iw": each distinct graph by `p(G)` (IW-DDS of He, Tian & Wu 2016). If the evidence is known, so is the mass `Delta`
  that the drawn graphs cover, and what the others could change is bounded: the interval is certain.
- "linear-extensions": each draw by `1 / (number of orders the graph fits)`, for draws from the order-modular
  posterior. Needs no evidence.
- "distinct": each distinct graph by `p(G) / pi(G)`, over the sum of these (Hájek 1971). Needs `q`, and `p` up to a
  factor.

Effective samples: as many plain draws would give frequencies as exact, for a statement that has nothing to do with
the weights. That is `(sum w)^2 / sum w^2` over the draws (Kish 1965), repeats sharing the weight of their graph. For
"distinct" it is `(sum p/pi)^2 / sum (1 - pi) (p/pi)^2` over the distinct graphs, which tends to Kish's when every
graph is rare and grows without end as the draws come to cover everything; but at most `N Q / P^2`, where `P` and `Q`
are what the graphs that were not drawn have of `p` and of `q`: with their expectations, `P^2 / (N Q)` bounds the
variance from below (Cauchy and Schwarz).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows

ESTIMATORS = ("counting", "iw", "linear-extensions", "distinct")
#: Those whose weighted means estimate means over all graphs; "iw" sums over the drawn ones.
ESTIMATES_MEANS = tuple(name for name in ESTIMATORS if name != "iw")

# Log of a probability so small that 1 - (1 - q)^N is N q to the last digit, for any N that one draws.
_RARE = -80.0


class Kept(NamedTuple):
    """How many draws are left of how many under a condition, and the probability of it."""

    left: int
    of: int
    share: float


@dataclass(frozen=True, eq=False)
class WeightedSample:
    """Weights for the draws of a sample, repeats sharing the weight of their graph.

    They sum to 1. `covered` is the posterior mass of all drawn graphs together (nan if
    the evidence is not known), `rule` what an interval rests on. The rest is for "iw" and "distinct": `rows` says
    where each distinct graph stands first; `masses`, `stands_for` and `missed` are its `p`, `p / pi` and `1 - pi`;
    `most_left` is the most that the graphs that were not drawn may have of the mass. Masses are up to a common factor
    if the evidence is not known.
    """

    estimator: str
    weights: Floats
    rule: str
    effective_samples: float
    covered: float = math.nan
    rows: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    masses: Floats = field(default_factory=lambda: np.empty(0))
    stands_for: Floats = field(default_factory=lambda: np.empty(0))
    missed: Floats = field(default_factory=lambda: np.empty(0))
    most_left: float = math.nan


def weigh(
    estimator: str,
    parents: NDArray[Any],
    *,
    log_joint: Floats | None = None,
    log_proposal: Floats | None = None,
    log_extensions: Floats | None = None,
    log_evidence: float = math.nan,
    kept: Kept | None = None,
) -> WeightedSample:
    """Weights of independent draws.

    Parameters
    ----------
    estimator
        "counting", "iw", "linear-extensions" or "distinct".
    parents
        One graph a row, one mask a node.
    log_joint, log_proposal, log_extensions
        For each row log p(graph, data), the log probability that one draw is this graph, and the log of the number of
        orders it fits: "iw" needs the first, "linear-extensions" the last, "distinct" the first two.
    log_evidence
        Log of the sum of p(graph, data) over all graphs, where known.
    kept
        Where these are the draws, out of more, in which a condition holds.

    >>> graphs = np.array([[0, 0], [0, 1], [0, 0]], dtype=np.uint8)
    >>> weigh("linear-extensions", graphs, log_extensions=np.log([2.0, 1.0, 2.0])).weights
    array([0.25, 0.5 , 0.25])
    >>> half_and_half = np.log([0.5, 0.5, 0.5])
    >>> weigh("distinct", graphs, log_joint=half_and_half, log_proposal=half_and_half, log_evidence=0.0).covered
    1.0
    """
    draws = len(parents)
    if draws == 0:
        raise InputError("There is no graph to weigh. Draw at least one.")
    if estimator == "counting":
        return WeightedSample(estimator, np.full(draws, 1.0 / draws), "Clopper-Pearson", float(draws))
    if estimator == "linear-extensions":
        logs = _needed(estimator, "log_extensions", log_extensions, draws)
        weights = np.exp(logs.min() - logs)
        weights /= weights.sum()
        return WeightedSample(estimator, weights, "Korn-Graubard", _effective(weights))
    if estimator not in ESTIMATORS:
        raise InputError(
            f"The estimator must be one of {', '.join(map(repr, ESTIMATORS))}. Got {shown(estimator)} instead."
        )
    rows, member = distinct_rows(parents)
    joint = _needed(estimator, "log_joint", log_joint, draws)[rows]
    if estimator == "iw":
        return _by_mass(rows, member, joint, log_evidence)
    proposal = _needed(estimator, "log_proposal", log_proposal, draws)[rows]
    return _by_inclusion(rows, member, joint, proposal, log_evidence, kept or Kept(draws, draws, 1.0))


def evidence_ratio(log_extensions: Floats) -> tuple[float, float]:
    """Log of the structure-modular over the order-modular evidence, and the standard error of the ratio relative to it.

    For draws from the order-modular posterior, whose mean of `1 / (number of orders)` is that ratio.

    >>> ratio, error = evidence_ratio(np.log([2.0, 1.0, 2.0, 1.0]))
    >>> round(math.exp(ratio), 9), round(error, 9)
    (0.75, 0.19245009)
    """
    smallest = float(log_extensions.min())
    weights = np.exp(smallest - log_extensions)
    mean = float(weights.mean())
    spread = float(weights.std(ddof=1)) if len(weights) > 1 else math.inf
    return math.log(mean) - smallest, spread / mean / math.sqrt(len(weights))


def _needed(estimator: str, name: str, values: Floats | None, draws: int) -> Floats:
    if values is None or np.shape(values) != (draws,) or bool(np.isnan(values).any()):
        came = "nothing" if values is None else f"an array of shape {np.shape(values)}"
        if values is not None and np.shape(values) == (draws,):
            came = f"nan for {int(np.isnan(values).sum())} of them"
        raise InputError(
            f"The estimator {estimator!r} needs the {name} of all {draws} graphs. Got {came}. "
            "Use estimator='auto', or a method that knows them."
        )
    return values


def _effective(weights: Floats) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _by_mass(rows: Integers, member: Integers, log_joint: Floats, log_evidence: float) -> WeightedSample:
    masses, covered = _masses(log_joint, log_evidence)
    rule = "covered mass unknown" if math.isnan(covered) else "covered mass"
    weights = _shared(log_joint, member)
    return WeightedSample("iw", weights, rule, _effective(weights), covered, rows, masses)


def _by_inclusion(
    rows: Integers, member: Integers, log_joint: Floats, log_proposal: Floats, log_evidence: float, kept: Kept
) -> WeightedSample:
    known = not math.isnan(log_evidence)
    draws = max(round(len(member) * kept.of / kept.left), 1)
    log_inclusions, missed = _inclusions(log_proposal, draws)
    logs = log_joint - log_inclusions
    scale = log_evidence if known else float(logs.max())
    stands_for = np.exp(logs - scale)
    masses = np.exp(log_joint - scale)
    covered = min(float(masses.sum()), 1.0)
    proposal_left = max(kept.share - float(np.exp(log_proposal).sum()), 0.0)
    left = most_left = 1.0 - covered
    if not known:
        # The ratio of mass to chance among the drawn graphs serves for the others: its mean, and the largest at most.
        ratios = log_joint - log_proposal - scale
        mean = np.logaddexp.reduce(log_joint) - np.logaddexp.reduce(log_proposal) - scale
        left, most_left = proposal_left * math.exp(mean), proposal_left * math.exp(ratios.max())
    least_variance = left**2 / (draws * proposal_left) if proposal_left > 0.0 else 0.0
    variance = max(float((missed * stands_for**2).sum()), least_variance)
    total = float(stands_for.sum())
    return WeightedSample(
        "distinct",
        # Shares do not depend on the evidence, not even in their last digits.
        _shared(logs, member),
        "Korn-Graubard beyond the drawn graphs",
        # Not total^2 / variance: the square may be beyond the largest double.
        total * (total / variance) if variance > 0.0 else math.inf,
        covered if known else math.nan,
        rows,
        masses,
        stands_for,
        missed,
        most_left,
    )


def _masses(log_joint: Floats, log_evidence: float) -> tuple[Floats, float]:
    """The posterior probability of each graph and their sum; up to a factor, and nan, if the evidence is not known."""
    if math.isnan(log_evidence):
        return np.exp(log_joint - log_joint.max()), math.nan
    masses = np.exp(log_joint - log_evidence)
    # Rounding may bring the sum of all graphs a little above 1.
    return masses, min(float(masses.sum()), 1.0)


def _inclusions(log_proposal: Floats, draws: int) -> tuple[Floats, Floats]:
    """Log of the chance that each graph is among the draws, and the chance that it is not."""
    logs = np.minimum(log_proposal, 0.0)
    with np.errstate(divide="ignore"):
        log_missed = draws * np.log1p(-np.exp(logs))
        log_inclusions = np.where(logs < _RARE, logs + math.log(draws), np.log(-np.expm1(log_missed)))
    return log_inclusions, np.exp(log_missed)


def _shared(logs: Floats, member: Integers) -> Floats:
    """The share of each distinct graph by the log of its weight, parted among its repeats."""
    shares = np.exp(logs - logs.max())
    shared: Floats = (shares / shares.sum() / np.bincount(member, minlength=len(logs)))[member]
    return shared
