"""A number with how far to trust it: the value, an interval, and the rule that the interval rests on.

Such a number is a float with more to say: it compares, rounds, formats and computes as its value does, and what is
computed from it is a plain float. So two of them are equal where their values are, whatever their intervals;
`as_dict()` holds all that there is to compare.

An average over completed tables as an estimate: a probability, or a ratio of two, with an interval.

The interval is that of Student's t at the standard error of the mean, with as many degrees of freedom as the series is
worth: with a few dozen sweeps it is wide. A conditional probability is the ratio of the averages of `P(f, g)` and
`P(g)`, never an average of ratios: a table in which the condition is improbable counts for less. Its error is that of
the residuals `P(f, g) - ratio P(g)` (the delta method).

A share among the graphs of chains, with an interval for as many independent draws as they are worth.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import number
from dagpost._tools.setting_text import given_columns
from dagpost._tools.spelling import either
from dagpost.mcmc.diagnostics import by_chain
from dagpost.mcmc.number_series import averages_of
from dagpost.methods.choice import target_named
from dagpost.scores import Score

#: The rule of a statement that holds in no graph because the model behind a score does not have all edges.
RULED_OUT = "ruled out by the model: numbers do not lead to levels"
#: How the rule of an average over completed tables begins.
AVERAGED = "averaged over"
#: A share that is known no better than this is not known at all.
LARGEST_ERROR = 0.5
_BETWEEN = either("a float between 0 and 1", "a number between 0 and 1")


@dataclass(frozen=True, repr=False, eq=False)
class Estimated(float):
    """A float whose `value` is known as well as the other fields say; `Estimate` and `Expectation` are the kinds."""

    value: float
    lower: float
    upper: float
    confidence: float
    rule: str
    samples: int
    effective_samples: float
    modularity: str
    #: Columns that are not modelled: what is said holds given these.
    exogenous: tuple[str, ...] = field(default=(), kw_only=True)

    def __new__(cls, value: float, *_: Any, **__: Any) -> Self:
        """A float is what it is from the start; the other fields are set by `__init__`."""
        return super().__new__(cls, value)

    def __str__(self) -> str:
        words = "; ".join(filter(None, (target_named(self.modularity).words, given_columns(self.exogenous))))
        if self.rule == "exact":
            return f"{self:.4f} (exact; {words})"
        if self.rule == RULED_OUT:
            return f"{self:.4f} ({self.rule}; {words})"
        value = "unknown" if math.isnan(self) else f"{self:.4f}"
        # No graph was looked at for an average of exact probabilities, whose rule says how many tables it is over.
        graphs = "" if self.rule.startswith(AVERAGED) else f", {self.samples:,} graphs"
        return (
            f"{value} [{self.lower:.4f}, {self.upper:.4f}] ({self.rule}, {100 * self.confidence:.6g}%{graphs}; {words})"
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"

    def given(self, exogenous: tuple[str, ...]) -> Self:
        """The same where these columns are not modelled."""
        return replace(self, exogenous=exogenous) if exogenous else self

    def as_dict(self) -> dict[str, float | int | str | list[str] | None]:
        """The fields as JSON can hold them: what is unknown or without end is None.

        `exogenous` is there where some columns are not modelled.
        """
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "exogenous"}
        return {
            **{
                name: None if isinstance(item, float) and not math.isfinite(item) else item
                for name, item in fields.items()
            },
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
        }


@dataclass(frozen=True, repr=False, eq=False)
class Estimate(Estimated):
    """A probability under a posterior over graphs: a float with an interval.

    `rule` says what the interval means:

    - "exact": computed, not sampled; the interval is a point.
    - "ruled out by the model: ...": 0 in any data, since the model behind the score does not have such edges.
    - "Clopper-Pearson", "Hoeffding": covers the truth with probability at least `confidence`, for independent draws.
    - "Korn-Graubard": Clopper-Pearson at the number of draws that weighted ones are worth, allowing for heavy ones that
      were not seen.
    - "Korn-Graubard beyond the drawn graphs": what the drawn graphs weigh is known exactly; the rule is used for the
      rest only.
    - "effective draws": Clopper-Pearson at the number of independent draws that those of chains are worth, which is
      estimated from the chains and means nothing where they have not found the whole posterior.
    - "averaged over 2,000 completed tables": of a table with gaps, the mean of the exact probabilities given each
      completed table, at its Monte Carlo error, which means nothing where chains have not found the likely tables.
    - "covered mass": certain, from the mass of the drawn graphs alone ("covered mass unknown": it says nothing).
    - "weights as given", "the condition never occurred", "the condition is impossible": nothing is known.

    `samples` graphs, or completed tables, were looked at, worth `effective_samples` independent ones (beyond that
    number where their exact weights say more than counting does). `modularity` says what is counted, `exogenous` which
    columns are not modelled: the probability is conditional on these.

    >>> exact_estimate(0.25, "order")
    0.2500 (exact; each graph counted once for every order it fits)
    >>> estimate = exact_estimate(0.25, "order")
    >>> estimate > 0.2, 1 - estimate, f"{estimate:.0%}"
    (True, 0.75, '25%')
    """


def exact_estimate(value: float, modularity: str) -> Estimate:
    """A probability that was computed, not sampled; rounding error is cut off at 0 and 1."""
    clipped = min(max(value, 0.0), 1.0)
    return Estimate(clipped, clipped, clipped, 1.0, "exact", 0, math.inf, modularity)


def counted_estimate(hits: int, draws: int, confidence: float, modularity: str) -> Estimate:
    """A frequency among independent draws, with the interval of Clopper & Pearson (1934).

    >>> counted_estimate(0, 100, 0.95, "order").upper  # doctest: +ELLIPSIS
    0.0362...
    """
    check_confidence(confidence)
    if draws == 0:
        rule = "the condition never occurred"
        return Estimate(math.nan, 0.0, 1.0, confidence, rule, 0, 0.0, modularity)
    lower, upper = clopper_pearson(hits, draws, confidence)
    return Estimate(hits / draws, lower, upper, confidence, "Clopper-Pearson", draws, float(draws), modularity)


def hoeffding_estimate(hits: int, draws: int, precision: float, confidence: float, modularity: str) -> Estimate:
    """A frequency among as many independent draws as Hoeffding's inequality asks for."""
    value = hits / draws
    return Estimate(
        value,
        max(0.0, value - precision),
        min(1.0, value + precision),
        confidence,
        "Hoeffding",
        draws,
        float(draws),
        modularity,
    )


def effective_estimate(
    value: float, worth: float, samples: int, confidence: float, rule: str, modularity: str
) -> Estimate:
    """A share among graphs that are worth as many independent ones as `worth` says (Korn & Graubard 1998)."""
    check_confidence(confidence)
    lower, upper = clopper_pearson(value * worth, worth, confidence) if worth > 0.0 else (0.0, 1.0)
    return Estimate(value, lower, upper, confidence, rule, samples, worth, modularity)


def clopper_pearson(hits: float, draws: float, confidence: float) -> tuple[float, float]:
    """Exact interval of a binomial proportion; numbers that are no whole ones stand for effective draws."""
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    misses = draws - hits
    lower = 0.0 if hits <= 0.0 else float(betaincinv(hits, misses + 1.0, tail))
    upper = 1.0 if misses <= 0.0 else float(betaincinv(hits + 1.0, misses, 1.0 - tail))
    return lower, upper


def hoeffding_draws(precision: float, confidence: float) -> int:
    """How many independent draws bring a frequency within `precision` of the truth with this confidence.

    >>> hoeffding_draws(0.02, 0.95)
    4612
    """
    number(precision, "precision", above=0.0, below=1.0, allowed=_BETWEEN)
    check_confidence(confidence)
    return math.ceil(math.log(2.0 / (1.0 - confidence)) / (2.0 * precision**2))


def error_near_one_half(draws: float) -> float:
    """Half the width of a 95% interval for a share near one half, of a number of independent draws.

    >>> error_near_one_half(10_000)
    0.01
    """
    return min(1.0 / math.sqrt(draws), LARGEST_ERROR)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is not a probability between 0 and 1."""
    number(confidence, "confidence", above=0.0, below=1.0, allowed=_BETWEEN)


#: What tables are called, unless a score has another name for them.
COMPLETED = Score.tables


def averaged_estimate(
    series: Floats, confidence: float, modularity: str, tables: int, called: str = COMPLETED
) -> Estimate:
    """The estimate from a probability given each of as many completed tables, as (chains, sweeps).

    >>> series = np.random.default_rng(1).beta(2.0, 2.0, size=(4, 250))
    >>> averaged_estimate(series, 0.95, "structure", 1000)
    0.5115 [0.4975, 0.5255] (averaged over 1,000 completed tables, 95%; each graph counted once)
    """
    found = averages_of(series[:, :, None])
    worth = float(np.nan_to_num(found.effective[0], nan=float(tables)))
    return _estimate(float(found.means[0]), float(found.errors[0]), worth, confidence, modularity, tables, called)


def summed_estimate(
    value: float,
    series: Floats,
    worth: float,
    confidence: float,
    modularity: str,
    tables: int,
    called: str = COMPLETED,
) -> Estimate:
    """The estimate where an average over all tables is known and `series` shows, for some, how much they differ.

    `worth`: how many independent tables all of them are worth.
    """
    spread = float(averages_of(series[:, :, None]).spreads[0])
    return _estimate(value, spread / math.sqrt(worth), worth, confidence, modularity, tables, called)


def ratio_estimate(
    both: Floats, condition: Floats, confidence: float, modularity: str, tables: int, called: str = COMPLETED
) -> Estimate:
    """The estimate of a conditional probability, from `P(f, g)` and `P(g)` given each completed table.

    >>> condition = np.random.default_rng(1).beta(2.0, 2.0, size=(4, 250))
    >>> ratio_estimate(0.25 * condition, condition, 0.95, "structure", 1000)
    0.2500 [0.2500, 0.2500] (averaged over 1,000 completed tables, 95%; each graph counted once)
    """
    weight = float(condition.mean())
    value = float(both.mean()) / weight
    found = averages_of(((both - value * condition) / weight)[:, :, None])
    # A condition that holds in a few tables only leaves no more than these.
    heavy = float(condition.sum() ** 2 / (condition**2).sum())
    worth = min(float(np.nan_to_num(found.effective[0], nan=heavy)), heavy)
    return _estimate(value, float(found.errors[0]), worth, confidence, modularity, tables, called)


def _estimate(
    value: float, error: float, worth: float, confidence: float, modularity: str, tables: int, called: str
) -> Estimate:
    from scipy.special import stdtrit

    clipped = min(max(value, 0.0), 1.0)
    reach = float(stdtrit(max(worth - 1.0, 1.0), 0.5 + confidence / 2.0)) * error
    rule = f"{AVERAGED} {tables:,} {called if tables != 1 else called.replace('tables', 'table')}"
    lower, upper = max(clipped - reach, 0.0), min(clipped + reach, 1.0)
    return Estimate(clipped, lower, upper, confidence, rule, tables, worth, modularity)


def chain_estimate(
    hit: NDArray[np.bool_],
    condition: NDArray[np.bool_] | None,
    lengths: Sequence[int],
    confidence: float,
    modularity: str,
    usual_share: float,
) -> Estimate:
    """The frequency of a statement among graphs of chains, with an interval for what they are worth.

    The worth is that of the statement itself (its own autocorrelation, and how far the chains are apart). A statement
    that always or never holds has none: then the chains are taken to be worth `usual_share` of their graphs.
    """
    given = np.ones(len(hit), dtype=bool) if condition is None else condition
    draws = int(given.sum())
    if draws == 0:
        return Estimate(math.nan, 0.0, 1.0, confidence, "the condition never occurred", 0, 0.0, modularity)
    value = float((hit & given).sum()) / draws
    # The share is a ratio of two means; the residuals are what its error hangs on (the delta method).
    series = by_chain(np.where(given, hit - value, 0.0), lengths)
    size, variance = float(averages_of(series[:, :, None]).effective[0]), float(series.var())
    if math.isnan(size):
        worth = usual_share * draws
    else:
        worth = value * (1.0 - value) * (draws / len(hit)) ** 2 / (variance / size)
    return effective_estimate(value, min(worth, float(draws)), len(hit), confidence, "effective draws", modularity)
