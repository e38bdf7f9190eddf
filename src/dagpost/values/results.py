"""What is said of values: a probability or a mean with how far to trust it, and a whole distribution."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import printable, readable_level
from dagpost.methods.choice import target_named
from dagpost.posterior.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class ValueEstimate(Estimate):
    """The probability of values in a new row, or the mean of a column there: a float with an interval.

    The value is what the data say of a new row, averaged over graphs and parameters. The interval is where the
    probability (or the mean) itself may lie: graph and parameters are drawn from their posterior, each counts by how
    probable it makes the evidence, and the interval leaves out as much on either side. `rule` says how the value was
    found: "exact" (the sum over all graphs, parameters integrated out), "exact in each graph" (the same over the graphs
    of a sample), or "drawn" (the mean over draws of graph and parameters, in each of which inference is exact; with
    several intervals, or where scores have local models, simulated). `samples` graphs were looked at, and the interval
    rests on draws that are worth `effective_samples` equal ones. Columns in `exogenous` are not modelled and were not
    given: they are averaged over as the table has them.
    """

    #: The question, as text.
    statement: str = field(default="", kw_only=True)
    #: Of a mean: the deviation of the number, and between which limits a new one lies with this confidence.
    sd: float | None = field(default=None, kw_only=True)
    predictive: tuple[float, float] | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        shown = short if self.predictive is not None else "{:.4f}".format
        words = about(self)
        new = ""
        if self.predictive is not None:
            new = f"; a new value {shown(self.predictive[0])} to {shown(self.predictive[1])}"
        return (
            f"{shown(self.value)} ({shown(self.lower)} to {shown(self.upper)}, {100 * self.confidence:.6g}%{new}; "
            f"{self.rule}, {self.samples:,} graphs; {words})"
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        found: dict[str, Any] = dict(super().as_dict())
        if self.predictive is None:
            del found["sd"], found["predictive"]
        else:
            found["predictive"] = [*map(float, self.predictive)]
        return found


def about(estimate: ValueEstimate) -> str:
    """What is counted, and which columns are averaged over as the table has them."""
    averaged = given_columns(estimate.exogenous).removeprefix("given ")
    words = target_named(estimate.modularity).words
    return f"{words}; {averaged} as in the table" if averaged else words


def short(value: float) -> str:
    """A number with four digits that count."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


@dataclass(frozen=True, repr=False)
class ValueDistribution:
    """How a column is distributed in a new row, averaged over graphs and parameters.

    Of a column of levels: `levels` and `probabilities`, each a `ValueEstimate`. Of a column of numbers: `mean`, a
    `ValueEstimate`, with `sd`, `median`, and `lower` and `upper`, between which a new value lies.
    """

    target: str
    statement: str
    confidence: float
    levels: tuple[Any, ...] = ()
    probabilities: tuple[ValueEstimate, ...] = ()
    mean: ValueEstimate | None = None
    sd: float = math.nan
    median: float = math.nan
    lower: float = math.nan
    upper: float = math.nan

    def to_frame(self) -> pd.DataFrame:
        """One row a level: probability and its interval; or one row: mean, its interval, sd, median, new values."""
        import pandas as pd

        if self.mean is None:
            rows = [(float(own), own.lower, own.upper) for own in self.probabilities]
            index = pd.Index(self.levels, name=self.target)
            return pd.DataFrame(rows, columns=["probability", "lower", "upper"], index=index)
        numbers = {
            "mean": float(self.mean),
            "mean_lower": self.mean.lower,
            "mean_upper": self.mean.upper,
            "sd": self.sd,
            "median": self.median,
            "lower": self.lower,
            "upper": self.upper,
        }
        return pd.DataFrame([numbers], index=pd.Index([self.target], name="target"))

    def summary(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        about: dict[str, Any] = {"target": self.target, "statement": self.statement, "confidence": self.confidence}
        if self.mean is None:
            pairs = zip(self.levels, self.probabilities, strict=True)
            return {**about, "levels": [{"level": readable_level(level), **own.as_dict()} for level, own in pairs]}
        return {
            **about,
            "mean": self.mean.as_dict(),
            **{name: getattr(self, name) for name in ("sd", "median", "lower", "upper")},
        }

    @property
    def _lines(self) -> Sequence[tuple[str, str]]:
        percent = f"{100 * self.confidence:.6g}%"
        if self.mean is None:
            return [
                (printable(level), f"{own.value:.4f}  ({own.lower:.4f} to {own.upper:.4f})")
                for level, own in zip(self.levels, self.probabilities, strict=True)
            ]
        return [
            ("mean", f"{short(self.mean.value)}  ({short(self.mean.lower)} to {short(self.mean.upper)})"),
            ("sd", short(self.sd)),
            ("median", short(self.median)),
            (f"a new value, {percent}", f"{short(self.lower)} to {short(self.upper)}"),
        ]

    @property
    def _about(self) -> str:
        own = self.probabilities[0] if self.mean is None else self.mean
        words = about(own)
        percent = f"{100 * self.confidence:.6g}%"
        return f"{percent} intervals over graphs and parameters; {own.rule}, {own.samples:,} graphs; {words}"

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self._lines)
        lines = [f"  {name:{width}}  {text}" for name, text in self._lines]
        return "\n".join([printable(self.statement), *lines, f"({self._about})"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self._lines
        )
        return (
            f"<table><caption>{html.escape(printable(self.statement))}</caption>{rows}</table>"
            f"<small>{html.escape(self._about)}</small>"
        )
